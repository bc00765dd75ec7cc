"""Concurrency: number of operations in progress over time."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.logs.rows import KEYS, Rows

Json = dict[str, Any]

BINS = 240
Floats = NDArray[np.float64]
BEGIN = pl.col("time").to_physical()
END = BEGIN + (pl.col("seconds").fill_null(0) * 1e6 + 0.5).floor().cast(pl.Int64)


def ends_of(rows: pl.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return when each operation began and ended, in microseconds on the clock of the log."""
    return rows.select(BEGIN).to_series().to_numpy(), rows.select(END).to_series().to_numpy()


def alone(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Add to operations by time `alone`: whether each met no other from its beginning to its end."""
    latest, held = np.iinfo(np.int64).min, None
    for batch in batches:
        rows = batch if held is None else pl.concat([held, batch], rechunk=True)
        begin, end = ends_of(rows)
        before = np.maximum.accumulate(np.concatenate([[latest], end[:-1]]))
        held = rows.tail(1)  # What begins next decides on the last.
        yield rows[:-1].with_columns(alone=pl.Series((before[:-1] <= begin[:-1]) & (begin[1:] >= end[:-1])))
        latest = before[-1]
    if held is not None:
        yield held.with_columns(alone=int(latest) <= BEGIN)


class Sweep:
    """Passes through the beginnings and ends of operations, which come in batches sorted by time.

    `rows` are all of them, of which the first beginning and the last end are asked.
    """

    def __init__(self, rows: pl.LazyFrame) -> None:
        first, last = rows.select(BEGIN.min(), END.max().alias("last")).collect().row(0)
        self.first, self.span = first or 0, (last or 0) - (first or 0)
        self.edges = np.linspace(0, self.span, BINS + 1)
        # Ends, beginnings and edges ahead, in µs since the first beginning; at one instant what ends does so first.
        self.ahead = [np.zeros(0), np.zeros(0), self.edges[1:]]
        self.now, self.level, self.count, self.taken = 0.0, 0, 0, 0
        self.lasting, self.peaks, self.began = np.zeros(1), np.zeros(BINS), Counter[int]()

    def add(self, rows: pl.DataFrame) -> None:
        """Take in the next operations, and pass what is before the last beginning."""
        if rows.is_empty():
            return
        begin, end = ends_of(rows)
        self.count, self.taken = self.count + len(begin), self.taken + int((end - begin).sum())
        ends, begins, edges = self.ahead
        self.ahead = [np.append(ends, end - self.first), np.append(begins, begin - self.first), edges]
        self._pass(float(begin[-1] - self.first))

    def _pass(self, until: float) -> None:
        passed = [ahead[ahead < until] for ahead in self.ahead]
        self.ahead = [ahead[ahead >= until] for ahead in self.ahead]
        at, step = np.concatenate(passed), np.repeat([-1, 1, 0], [len(one) for one in passed])
        if not len(at):
            return
        order = np.argsort(at, kind="stable")
        at, step = at[order], step[order]
        # What takes no time ends before it begins.
        level = np.maximum(self.level + np.cumsum(step), 0)
        since, levels = np.diff(at, prepend=self.now), np.concatenate([[self.level], level[:-1]])
        lasting = np.bincount(levels, since, minlength=len(self.lasting)).astype(np.float64, copy=False)
        lasting[: len(self.lasting)] += self.lasting
        self.now, self.level, self.lasting = at[-1], int(self.level + step.sum()), lasting
        # A level counts for the interval that ends with its event, and an edge begins the next one.
        within = np.searchsorted(self.edges, at) - (step != 0)
        np.maximum.at(self.peaks, within.clip(0, BINS - 1), level)
        met = level[np.searchsorted(at, at[step > 0], side="right") - 1]
        self.began.update(dict(zip(*(one.tolist() for one in np.unique(met, return_counts=True)), strict=True)))

    def found(self) -> Json | None:
        """Return how many operations went on at once: the most, the mean, shares of time, and over time.

        None where nothing took any time.
        """
        if self.span <= 0:
            return None
        self._pass(np.inf)
        most = max(self.began)
        return {
            "operations": self.count,
            "most": most,
            "began_at_most": self.began[most],
            "mean": self.taken / self.span,
            "span_s": self.span / 1e6,
            "share_of_time": [[at, share] for at, share in enumerate((self.lasting / self.span).tolist())],
            "over_time": np.column_stack([self.edges[1:] / 1e6, self.peaks]).tolist(),
        }


def most_at_once(rows: Rows, begin: str, seconds: pl.Expr, of: pl.Expr) -> int:
    """Return how many operations went on at once at most, 1 at least: those of which `of` is true.

    Each lasts for these `seconds` from `begin`, a key of `KEYS`.
    """
    narrow = [KEYS[begin].alias("time"), seconds.alias("seconds")]
    needed = dict.fromkeys(name for one in (*narrow, of) for name in one.meta.root_names())
    sweep = Sweep(rows.scan().filter(of).select(narrow))
    for batch in rows.in_order(begin, list(needed)):
        sweep.add(batch.filter(of).select(narrow))
    found = sweep.found()
    return max(found["most"], 1) if found else 1
