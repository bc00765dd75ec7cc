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

from headrace.logs.analysis.concurrency import most_at_once
from headrace.logs.reading import Log
from headrace.logs.rows import KEYS

Floats = NDArray[np.float64]

FEWEST, MOST = 30, 200_000  # Fewer recalls tell nothing of their order; of more, these are looked at.
TRIED = 64  # Numbers of drives that are tried: each up to this one, and further apart beyond.
# With the right number, at most this share of recalls hold a drive for less than half of that quantile of recalls that
# met no other, which do not wait. Where few met no other, for less than this part of the median time: of exponential
# times, 1.4 % are as short.
SHORT_SHARE, SHORT = 0.02, 0.02
# With the right number, recalls that find most drives taken hold theirs as long as those that find most of them free.
# The ratio of both means was at most 1.28 in simulations of recalls in the order of their requests (lognormal,
# exponential and Pareto times, 1 to 16 drives, 30 to 95 % busy), also where drives unload after each; it was at least
# 1.4 where a mounted cartridge serves all that wait for it.
IN_ORDER = 1.35
DEVIATIONS = 4  # Standard errors of a difference that is more than chance explains.

IS_RECALL = (
    pl.col("op").is_in(["get", "stage"]) & (pl.col("outcome") == "done") & (pl.col("stage_s") > 0).fill_null(False)
)
# For how long a recall has a drive, from when it has one. Where a log names the drive of a get, that one sends it too.
HELD = pl.col("stage_s") + pl.when((pl.col("op") == "get") & pl.col("drive").is_not_null()).then(
    pl.col("seconds").fill_null(0)
).otherwise(0)  # fmt: skip
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
    """`bytes` of each recall, and for how many `seconds` a drive worked for it; none where that is not known."""
    after_s: float = 0.0
    """For how long a drive is not free for the next recall after one: it rewinds and unloads."""


def drives(log: Log) -> Drives | None:
    """Return the drives behind the recalls of a log; `None` where it has no times of any."""
    rows = log.rows.scan()
    named = pl.col("drive").drop_nulls().n_unique()
    many, begun, names = rows.select(IS_RECALL.sum(), begun=(IS_RECALL & AT_DRIVE).any(), named=named).collect().row(0)
    if not many:
        return None
    if begun:
        count = _capped(_at_once(log, "time"), names)
        worked = rows.filter(IS_RECALL).select("bytes", seconds=HELD).drop_nulls().collect()
        _, begin, end = _recalls(log)
        return Drives(count, "recalls that were at a drive at once", worked, _after(begin, end, count))
    most = _capped(_at_once(log, "asked"), names)
    return Drives(most, "recalls in progress at once", None) if many < FEWEST else _in_order(log, most)


def _capped(count: int, names: int) -> int:
    """Return a number of drives, or that of the names of drives in the log, if it has some, and fewer."""
    return min(count, names or count)


def _at_once(log: Log, begin: str) -> int:
    """Return how many recalls had a drive, or waited for one, at once at most, from `begin`, a key of `KEYS`."""
    return most_at_once(log.rows, begin, HELD, IS_RECALL)


def _recalls(log: Log) -> tuple[pl.DataFrame, Floats, Floats]:
    """Return recalls in the order of their requests, with when they were asked for and ended, in s."""
    asked = KEYS["asked"].to_physical() / 1e6
    ended = HELD + pl.when(AT_DRIVE).then(pl.col("time").to_physical() / 1e6).otherwise(asked)
    recalls = log.rows.scan().filter(IS_RECALL).select("bytes", asked=asked, ended=ended).sort("asked", "ended")
    found = recalls.head(MOST).collect()
    return found, found["asked"].to_numpy(), found["ended"].to_numpy()


def _in_order(log: Log, most: int) -> Drives:
    """Return the drives, up to `most`, that serve recalls in the order of their requests."""
    found, begin, end = _recalls(log)
    count = fewest_varying(begin, end, most)
    times = held(begin, end, count)
    if not _is_in_order(begin, end, times, count):
        return Drives(None, "", None)
    how = (
        "the number with which recalls, served in the order of their requests, hold a drive for the least varying times"
    )
    after, worked = _after(begin, end, count), pl.DataFrame({"bytes": found["bytes"], "seconds": times})
    at_once = _met(begin, end) < count / 2
    return Drives(count, how, (worked.filter(at_once) if after else worked).drop_nulls(), after)


def _after(begin: Floats, end: Floats, count: int) -> float:
    """Return for how long drives are not free after a recall, s: by how much those that waited hold a drive longer.

    The others are those that find most drives free, of which one has been so for some time. 0 where chance explains it,
    or where recalls are not served in the order of their requests.
    """
    times = held(begin, end, count)
    waited, others = times[times < end - begin], times[_met(begin, end) < count / 2]
    if min(len(waited), len(others)) < FEWEST or not _is_in_order(begin, end, times, count):
        return 0.0
    longer = float(waited.mean() - others.mean())
    error = float(np.hypot(waited.std() / np.sqrt(len(waited)), others.std() / np.sqrt(len(others))))
    return longer if longer > DEVIATIONS * error else 0.0


def held(begin: Floats, end: Floats, count: int) -> Floats:
    """Return for how long each of these recalls, in the order of their requests, holds one of `count` drives, in s."""
    ends, got = np.sort(end), begin.copy()
    got[count:] = np.maximum(begin[count:], ends[: max(len(begin) - count, 0)])
    return np.asarray(end - got)


def fewest_varying(begin: Floats, end: Floats, most: int) -> int:
    """Return the number of drives, up to `most`, with which the times that recalls hold them vary least."""
    alone = (end - begin)[_met(begin, end) == 0]
    shortest = np.quantile(alone, SHORT_SHARE) / 2 if len(alone) >= FEWEST else None
    tried = [*range(1, min(most, TRIED) + 1)]
    while tried[-1] * 1.05 < most and most > TRIED:
        tried.append(int(tried[-1] * 1.05) + 1)
    spreads = {}
    for count in tried:
        times = held(begin, end, count)
        least = SHORT * np.median(times) if shortest is None else shortest
        if np.mean(times < least) <= SHORT_SHARE and np.median(times) > 0:
            spreads[count] = float(np.std(times))
    return min(spreads, key=lambda count: spreads[count]) if spreads else most


def _met(begin: Floats, end: Floats) -> NDArray[np.int64]:
    """Return how many others each recall, in the order of their requests, meets that have not ended."""
    return np.arange(len(begin)) - np.searchsorted(np.sort(end), begin, side="right")


def _is_in_order(begin: Floats, end: Floats, times: Floats, count: int) -> bool:
    """Return true unless recalls that find most of the drives taken hold theirs longer than those that do not."""
    met = _met(begin, end)
    free, taken = times[met < count / 2], times[(met >= count / 2) & (met < count)]
    return bool(min(len(free), len(taken)) < FEWEST or taken.mean() <= IN_ORDER * free.mean())
