"""Concurrency: number of operations in progress over time."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.logs import table

Json = dict[str, Any]

BINS = 240


def ends_of(rows: pl.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when each operation began and ended, in seconds since the first; rows are sorted by time."""
    first = rows["time"].min()
    whole = rows.select(
        begin=(pl.col("time") - first).dt.total_microseconds() / 1e6,
        end=(table.ended() - first).dt.total_microseconds() / 1e6,
    )
    return whole["begin"].to_numpy(), whole["end"].to_numpy()


def alone(rows: pl.DataFrame) -> pl.Series:
    """Return which operations met no other from their beginning to their end; rows are sorted by time."""
    begin, end = ends_of(rows)
    latest = np.concatenate([[-np.inf], np.maximum.accumulate(end)[:-1]])
    following = np.concatenate([begin[1:], [np.inf]])
    return pl.Series((latest <= begin) & (following >= end))


def concurrency(rows: pl.DataFrame) -> Json | None:
    """Return how many operations went on at once: the most, the mean, shares of time, and over time.

    `rows` are sorted by time. None where nothing took any time.
    """
    if rows.is_empty():
        return None
    begin, end = ends_of(rows)
    span = float(end.max() - begin.min())
    if span <= 0:
        return None
    at = np.concatenate([begin, end])
    step = np.concatenate([np.ones(len(begin)), -np.ones(len(end))])
    order = np.lexsort((step, at))  # At one instant what ends does so first.
    at, level = at[order], np.cumsum(step[order])
    level = np.maximum(level, 0)  # What takes no time ends before it begins.
    lasting = np.diff(at, append=at[-1])
    most = int(level.max())
    shares = np.bincount(level.astype(np.int64), weights=lasting, minlength=most + 1) / span
    met = np.searchsorted(begin, begin, side="right") - np.searchsorted(np.sort(end), begin, side="right")
    return {
        "operations": len(rows),
        "most": most,
        "began_at_most": int((met >= most).sum()),
        "mean": float((end - begin).sum() / span),
        "span_s": span,
        "share_of_time": [[at, float(share)] for at, share in enumerate(shares)],
        "over_time": _over_time(at, level, span),
    }


def _over_time(at: NDArray[np.float64], level: NDArray[np.float64], span: float) -> list[list[float]]:
    """Return the most at once in each of equal intervals, by the interval's end."""
    edges = np.linspace(0, span, BINS + 1)
    first = np.searchsorted(at, edges, side="right") - 1  # What went on when the interval began.
    found = []
    for number in range(BINS):
        within = level[max(first[number], 0) : max(first[number + 1], first[number]) + 1]
        found.append([float(edges[number + 1]), float(within.max())])
    return found
