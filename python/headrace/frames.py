"""Units of the columns of frames. Names of times, rates and sizes end in their unit."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars

ENDS = {
    "bytes_per_s": "B/s",
    "per_s": "1/s",
    "bytes": "B",
    "bytes_per_visit": "B",
    "ns": "ns",
    "ms": "ms",
    "s": "s",
    "percent": "%",
    "share": "share",
    "ratio": "share",
    "utilisation": "share",
}


def units(frame: "polars.DataFrame") -> dict[str, str]:
    """Return the unit of each column of a frame of headrace that has one; that of an interval is that of its metric.

    >>> import polars
    >>> units(polars.DataFrame({"users.mean_ms": [1.5], "users.mean_ms ±": [0.1], "name": ["users"], "runs": [5]}))
    {'users.mean_ms': 'ms', 'users.mean_ms ±': 'ms'}
    """
    found = {name: _unit(name.removesuffix(" ±").rpartition(".")[2]) for name in frame.columns}
    return {name: unit for name, unit in found.items() if unit}


def _unit(name: str) -> str | None:
    """Return the unit of a name by its longest end that has one: `requests_per_s` is 1/s, not s."""
    ends = sorted(ENDS, key=len, reverse=True)
    return next((ENDS[end] for end in ends if name == end or name.endswith(f"_{end}")), None)
