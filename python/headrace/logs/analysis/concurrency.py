"""Concurrency: number of operations in progress over time."""

from collections import Counter
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Json = dict[str, Any]

BINS = 240
BLOCK = 1 << 19  # Beginnings that are counted at once.
Floats = NDArray[np.float64]


def ends_of(rows: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return when each operation began and ended, in seconds since the first; rows are sorted by time."""
    since = rows["time"].to_physical().to_numpy()
    since = since - since[0]  # In microseconds.
    taken = np.floor(rows["seconds"].fill_null(0).to_numpy() * 1e6 + 0.5).astype(np.int64)
    taken += since
    return since / 1e6, taken / 1e6


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
    taken = float((end - begin).sum())
    end = np.sort(end)
    span = float(end[-1] - begin[0])
    if span <= 0:
        return None
    most, met_most = _most(begin, end)
    edges = np.linspace(0, span, BINS + 1)
    shares, peaks = _levels(begin, end, edges, most)
    return {
        "operations": len(rows),
        "most": most,
        "began_at_most": met_most,
        "mean": taken / span,
        "span_s": span,
        "share_of_time": [[at, float(share)] for at, share in enumerate(shares / span)],
        "over_time": [[float(edge), float(peak)] for edge, peak in zip(edges[1:], peaks, strict=True)],
    }


def _most(begin: Floats, end: Floats) -> tuple[int, int]:
    """Return the most operations at once, and how many began when that many went on; both times are sorted."""
    counts: Counter[int] = Counter()
    for at in range(0, len(begin), BLOCK):
        block = begin[at : at + BLOCK]
        met = np.searchsorted(begin, block, side="right") - np.searchsorted(end, block, side="right")
        counts.update(dict(zip(*(one.tolist() for one in np.unique(met, return_counts=True)), strict=True)))
    most = max(counts)
    return most, counts[most]


def _levels(begin: Floats, end: Floats, edges: Floats, most: int) -> tuple[Floats, Floats]:
    """Return for how long each number of operations went on, and the most in each interval; both times are sorted."""
    cuts = np.unique(np.concatenate([edges, begin[::BLOCK]]))
    begun, ended = (np.searchsorted(times, cuts, side="right") for times in (begin, end))
    within = np.searchsorted(edges, cuts, side="right") - 1
    lasting, peaks = np.zeros(most + 1), np.zeros(len(edges) - 1)
    for one in range(len(cuts) - 1):
        ups, downs = begin[begun[one] : begun[one + 1]], end[ended[one] : ended[one + 1]]
        at = np.concatenate([ups, downs])
        step = np.concatenate([np.ones(len(ups), np.int64), np.full(len(downs), -1)])
        order = np.lexsort((step, at))  # At one instant what ends does so first.
        level = np.concatenate([[0], np.cumsum(step[order])]) + begun[one] - ended[one]
        level = np.maximum(level, 0)  # What takes no time ends before it begins.
        since = np.diff(np.concatenate([[cuts[one]], at[order], [cuts[one + 1]]]))
        lasting += np.bincount(level, weights=since, minlength=most + 1)
        peaks[within[one]] = max(peaks[within[one]], level.max())
    return lasting, peaks
