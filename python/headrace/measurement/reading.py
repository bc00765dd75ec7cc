"""A measurement from a file: headrace's own, or a result of fio."""

from pathlib import Path

from headrace.measurement import fio, points
from headrace.measurement.points import Measurement

HEAD = 1 << 16  # Bytes in which a file says what it is.


def load(file: str | Path) -> Measurement:
    """Read a measurement that `headrace import` or `headrace measure` wrote, JSON or Parquet, or a JSON result of fio.

    Raises `ScenarioError` where the file is none, or a point lacks what every point has.
    """
    path = Path(file)
    return fio.measurement([path]) if _is_of_fio(path) else points.read(path)


def is_one(path: Path) -> bool:
    """Return true for the file of a measurement."""
    return path.suffix == ".parquet" or _has(path, f'"{points.KIND}"') or _is_of_fio(path)


def _is_of_fio(path: Path) -> bool:
    """Return true for a result of fio, which may have notes above its JSON."""
    return path.suffix != ".parquet" and _has(path, '"fio version"')


def _has(path: Path, text: str) -> bool:
    """Return true if a text stands in the first part of a file."""
    try:
        with path.open("rb") as opened:
            return text.encode() in opened.read(HEAD)
    except OSError:
        return False
