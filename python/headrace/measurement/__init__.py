"""Measurements of real systems: read from what fio wrote, taken on this machine, compared with scenarios."""

from headrace.measurement.points import COLUMNS, Measurement
from headrace.measurement.reading import load

__all__ = ["COLUMNS", "Measurement", "load"]
