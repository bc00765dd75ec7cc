"""The drives behind recalls: how many there were, and for how long each recall held one, by its request and its end.

A log seldom says when a recall got its drive. If recalls are served in the order of their requests by c drives, the
n-th gets one when it is asked for, or when n - c recalls have ended, whichever is later. With too few drives, some
recalls would hold theirs for no time; with too many, waits for a drive count as time with it, and these times vary
more. So c is the number with which they vary least (Park, Kim and Willemain, Computers & Industrial Engineering 61,
2011), of those with which nearly all recalls hold a drive for some time.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.logs.analysis.concurrency import Sweep
from headrace.logs.reading import Log
from headrace.logs.rows import KEYS

Floats = NDArray[np.float64]

FEWEST, MOST = 30, 200_000  # Fewer recalls tell nothing of their order; of more, these are looked at.
TRIED = 64  # Numbers of drives that are tried: each up to this one, and further apart beyond.
# With the right number, at most this share of recalls holds a drive for less than this part of the median time. Of
# exponential times, 1.4 % are as short.
SHORT_SHARE, SHORT = 0.02, 0.02
# With the right number, recalls that find most drives taken hold theirs as long as those that find most of them free.
# Simulated in order of arrival (lognormal, exponential and Pareto times, 1 to 16 drives, 30 to 95 % busy), they took at
# most 1.28 times as long, with 1.26 where a cartridge is unloaded before the next is fetched; cartridge by cartridge,
# 1.4 times and more.
IN_ORDER = 1.35

IS_RECALL = pl.col("op").is_in(["get", "stage"]) & (pl.col("outcome") == "done") & pl.col("stage_s").is_not_null()
# A recall whose line says when the drive began with it: later than it was asked for, or alone.
AT_DRIVE = (pl.col("op") == "stage") & (
    (pl.col("requested") < pl.col("time")) | (pl.col("requested").is_null() & pl.col("seconds").is_null())
).fill_null(False)


@dataclass(frozen=True)
class Drives:
    """The drives of a log, as far as it tells."""

    count: int | None
    """How many; none where recalls wait in another order than that of their requests."""
    how: str
    """How they were counted, in words; empty where they were not."""
    held: pl.DataFrame | None
    """`bytes` of each recall, and for how many `seconds` it held its drive; none where that is not known."""


def drives(log: Log) -> Drives | None:
    """Return the drives behind the recalls of a log; `None` where it has no times of any."""
    rows = log.rows.scan()
    named = pl.col("drive").drop_nulls().n_unique()
    many, begun, names = rows.select(IS_RECALL.sum(), begun=(IS_RECALL & AT_DRIVE).any(), named=named).collect().row(0)
    if not many:
        return None
    if begun:
        return Drives(_capped(_at_once(log, "time"), names), "recalls that were at a drive at once", _held(rows))
    if many < FEWEST:
        return Drives(_capped(_at_once(log, "asked"), names), "recalls in progress at once", None)
    return _in_order(log, names)


def _capped(count: int, names: int) -> int:
    """Return a number of drives, or that of the names of drives in the log, if it has some, and fewer."""
    return min(count, names or count)


def _at_once(log: Log, begin: str) -> int:
    """Return how many recalls went on at once at most, from `begin`, a key of `KEYS`."""
    narrow = [KEYS[begin].alias("time"), pl.col("stage_s").alias("seconds")]
    sweep = Sweep(log.rows.scan().filter(IS_RECALL).select(narrow))
    for batch in log.rows.in_order(begin, ["time", "requested", "op", "outcome", "stage_s"]):
        sweep.add(batch.filter(IS_RECALL).select(narrow))
    found = sweep.found()
    return found["most"] if found else 1


def _held(rows: pl.LazyFrame) -> pl.DataFrame:
    return rows.filter(IS_RECALL).select("bytes", seconds="stage_s").drop_nulls().collect()


def _in_order(log: Log, names: int) -> Drives:
    """Return the drives that serve recalls in the order of their requests."""
    asked = KEYS["asked"].to_physical() / 1e6
    recalls = log.rows.scan().filter(IS_RECALL).select("bytes", asked=asked, seconds="stage_s").sort("asked")
    found = recalls.head(MOST).collect()
    begin = found["asked"].to_numpy()
    end = begin + found["seconds"].to_numpy()
    most = _at_once(log, "asked")
    count = fewest_varying(begin, end, _capped(most, names))
    times = held(begin, end, count)
    if not _is_in_order(begin, end, times, count):
        return Drives(None, "", None)
    how = (
        "the number with which recalls, served in the order of their requests, hold a drive for the least varying times"
    )
    return Drives(count, how, pl.DataFrame({"bytes": found["bytes"], "seconds": times}).drop_nulls())


def held(begin: Floats, end: Floats, count: int) -> Floats:
    """Return for how long each of these recalls, in the order of their requests, holds one of `count` drives, in s."""
    ends, got = np.sort(end), begin.copy()
    got[count:] = np.maximum(begin[count:], ends[: max(len(begin) - count, 0)])
    return np.asarray(end - got)


def fewest_varying(begin: Floats, end: Floats, most: int) -> int:
    """Return the number of drives, up to `most`, with which the times that recalls hold them vary least."""
    tried = [*range(1, min(most, TRIED) + 1)]
    while tried[-1] * 1.05 < most and most > TRIED:
        tried.append(int(tried[-1] * 1.05) + 1)
    spreads = {}
    for count in tried:
        times = held(begin, end, count)
        if np.mean(times < SHORT * np.median(times)) <= SHORT_SHARE and np.median(times) > 0:
            spreads[count] = float(np.std(times))
    return min(spreads, key=lambda count: spreads[count]) if spreads else most


def _is_in_order(begin: Floats, end: Floats, times: Floats, count: int) -> bool:
    """Return true unless recalls that find most of the drives taken hold theirs longer than those that do not."""
    met = np.arange(len(begin)) - np.searchsorted(np.sort(end), begin, side="right")
    free, taken = times[met < count / 2], times[(met >= count / 2) & (met < count)]
    return bool(min(len(free), len(taken)) < FEWEST or taken.mean() <= IN_ORDER * free.mean())
