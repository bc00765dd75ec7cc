"""A measurement from a file: headrace's own, or a result of fio."""

from pathlib import Path

from headrace.errors import HEAD, OF_FIO, OF_HEADRACE
from headrace.measurement import fio, points
from headrace.measurement.points import Measurement


def load(file: str | Path) -> Measurement:
    """Read a measurement that `headrace import` or `headrace measure` wrote, JSON or Parquet, or a JSON result of fio.

    Raises `ScenarioError` where the file is none, or a point lacks what every point has.
    """
    path = Path(file)
    return fio.measurement([path]) if OF_FIO in _head(path) else points.read(path)


def is_one(path: Path) -> bool:
    """Return true for the file of a measurement."""
    head = _head(path)
    return path.suffix == ".parquet" or OF_FIO in head or OF_HEADRACE in head


def _head(path: Path) -> str:
    """Return the first part of a file as text.

    It is empty if the file is a pipe, which can be read only once, or cannot be read.
    """
    try:
        if path.suffix == ".parquet" or not path.is_file():
            return ""
        with path.open("rb") as opened:
            return opened.read(HEAD).decode(errors="replace")
    except (OSError, ValueError):  # A name with a NUL byte is a `ValueError`.
        return ""
