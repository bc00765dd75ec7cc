"""Experiments: from one run to a decision with confidence. See `sweep`."""

from headrace.experiment.design import Experiment, Point, read, varied
from headrace.experiment.precision import Precision, run_until_precise
from headrace.experiment.rounds import Standing, run, sweep
from headrace.experiment.table import Table
from headrace.stopped import Interrupted

__all__ = [
    "Experiment",
    "Interrupted",
    "Point",
    "Precision",
    "Standing",
    "Table",
    "read",
    "run",
    "run_until_precise",
    "sweep",
    "varied",
]
