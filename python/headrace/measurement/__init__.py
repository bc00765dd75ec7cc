"""Measurements of real systems: read from what fio wrote, taken on this machine, held against scenarios."""

from headrace.measurement.points import COLUMNS, Measurement, load

__all__ = ["COLUMNS", "Measurement", "load"]
