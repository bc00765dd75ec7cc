"""Experiments: from one run to a decision with confidence. See `sweep`."""

from headrace.experiment.design import Experiment, Point, Precision, read, varied
from headrace.experiment.rounds import run, sweep
from headrace.experiment.table import Table

__all__ = ["Experiment", "Point", "Precision", "Table", "read", "run", "sweep", "varied"]
