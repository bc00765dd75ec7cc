"""The fitted value of a device's parameter, and how it is printed."""

import math
from typing import Any

Json = dict[str, Any]


def row(parameter: str, was: Any, now: Any, error: float | None = None) -> Json:
    """Return what was found of a parameter, as `calibrate --json` prints it; numbers as floats, settings as words."""
    return {"parameter": parameter, "was": was, "is": now, "standard_error": error}


COLUMNS = ["parameter", "was", "is", "standard error"]


def words(row: Json) -> tuple[str, str, str, str]:
    """Return the parameter, what it was, what it is, and its standard error, as words.

    >>> words(row("settle, ms", 0.65, 0.4512, 0.031)), words(row("read_ahead", "always", "track"))
    (('settle, ms', '0.650', '0.451', '0.031'), ('read_ahead', 'always', 'track', '—'))
    """
    error = row["standard_error"]
    was, now = (_shown(row[key], error) for key in ("was", "is"))
    return row["parameter"], was, now, "—" if error is None else f"{error:.2g}"


def _shown(value: Any, error: float | None) -> str:
    """Return a number rounded to the digits that its error supports, a word as it is."""
    if value is None:
        return "—"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.{max(1 - math.floor(math.log10(error)), 2)}f}" if error else f"{value:.4g}"
