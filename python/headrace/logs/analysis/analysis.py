"""All that a log says of its archive, put together: what `headrace logs analyse` prints."""

from collections import Counter
from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.logs.analysis import filters
from headrace.logs.analysis.concurrency import BEGIN, END, Sweep, alone
from headrace.logs.analysis.days import daily, durations
from headrace.logs.analysis.delays import delays
from headrace.logs.analysis.envelope import envelope, fit
from headrace.logs.analysis.staging import staging
from headrace.logs.analysis.users import users
from headrace.logs.reading import Log

Json = dict[str, Any]

STRATA = {"put": 100, "get": 25}  # The paper's.
BLOCKS = {"put": 1000, "get": 200}
SHORT_S = 30.0  # No shorter session of a cartridge reads anything: load and position alone take longer.
DEFERRED_S = 400.0  # Dismounts are deferred for minutes: a short session this soon after another met one in progress.
AGAIN_S = (60, 300, 900, 1800, 3600)


def analyse(
    log: Log,
    *,
    strata: dict[str, int] | None = None,
    blocks: dict[str, int] | None = None,
    fit_up_to: int | None = None,
    break_s: float | None = None,
) -> Json:
    """Return what a log says of its archive, as docs/guides/logs.md describes it.

    `strata` and `blocks` are numbers of transfers, for `put` and `get`; `fit_up_to` leaves larger files (bytes) out of
    the fit; `break_s` is the break between two branches of the tape's time.
    """
    strata, blocks = strata or STRATA, blocks or BLOCKS
    rows, rules = log.rows.scan(), filters.of_transfers(rounded=log.rounded)
    days, taken, staged = daily(rows, filters.kept(rules)), durations(rows), staging(_stagings(log), break_s)
    together, kept = _transfers(log, filters.kept(rules))
    slow = filters.of_delays(log.largest)
    fits, delayed = {}, {}
    for op in ("put", "get"):
        of_op = kept.pop(op)  # A log may be long: what is done with is not held.
        if found := _fit(of_op, strata[op], fit_up_to):
            fits[op] = found
            delayed[op] = delays(of_op.filter(filters.kept(slow)), found, blocks[op])
    outliers = filters.removed(rows.filter(filters.kept(rules)), slow)
    first, last = rows.select(pl.col("time").min(), pl.col("time").max().alias("last")).collect().row(0)
    return {
        "files": [{"name": name, "format": form} for name, form in log.formats.items()],
        "lines": log.rows.height,
        "from": _iso(first),
        "to": _iso(last),
        "skipped": log.skipped,
        "odd": [asdict(odd) for odd in log.odd],
        "rules": log.rules,
        "days": days,
        "durations": taken,
        "users": users(rows),
        "filters": [asdict(one) for one in filters.removed(rows, rules)],
        "outliers": [asdict(one) for one in outliers],
        "transfers": together,
        "sessions": _sessions(log),
        "fits": fits,
        "delays": delayed,
        "staging": staged,
    }


def _iso(time: Any) -> str | None:
    return None if time is None else str(time.isoformat())


def _transfers(log: Log, kept: pl.Expr) -> tuple[Json | None, dict[str, pl.DataFrame]]:
    """Return how many gets and puts went on at once, and those kept, by kind, with `alone`: each met no other."""
    timed = pl.col("op").is_in(["get", "put"]) & pl.col("seconds").is_not_null()
    done = pl.col("outcome") == "done"
    sweep = Sweep(log.rows.scan().filter(timed, done))
    of = {op: [pl.DataFrame(schema=TRANSFERS)] for op in ("put", "get")}
    batches = log.rows.in_order("time", ["time", "op", "bytes", "seconds", "outcome", "staged", "stage_s"])
    for batch in alone(batch.filter(timed) for batch in batches):
        sweep.add(batch.filter(done))
        for op, some in of.items():
            some.append(batch.filter(kept & (pl.col("op") == op)).select(TRANSFERS.names()))
    return sweep.found(), {op: pl.concat(some, rechunk=True) for op, some in of.items()}


TRANSFERS = pl.Schema({"bytes": pl.Int64, "seconds": pl.Float64, "alone": pl.Boolean})


def _stagings(log: Log) -> NDArray[np.float64]:
    """Return how long the tape took for each file that was staged, in the order of time."""
    batches = log.rows.in_order("time", ["time", "op", "stage_s", "seconds", "outcome"])
    timed = pl.col("stage_s").is_not_null() & (pl.col("seconds").is_not_null() | (pl.col("op") == "stage"))
    chosen = (pl.col("outcome") == "done") & timed
    return np.concatenate([np.zeros(0), *(batch.filter(chosen)["stage_s"].to_numpy() for batch in batches)])


def _fit(rows: pl.DataFrame, stratum: int, up_to: int | None) -> Json | None:
    """Return the line through the lower envelope, and beside it that through all transfers that met no other."""
    rows = rows if up_to is None else rows.filter(pl.col("bytes") <= up_to)
    fastest = envelope(rows, stratum)
    found = fit(fastest)
    if found is None:
        return None
    free = rows.filter("alone")
    found |= {"stratum": stratum, "transfers": rows.height, "points": fastest.to_numpy().tolist()}
    return found | {"alone_transfers": free.height, "alone": fit(free)}


def _sessions(log: Log) -> Json | None:
    """Return what sessions of cartridges say of drives."""
    chosen = (pl.col("op") == "session") & (pl.col("outcome") == "done") & pl.col("seconds").is_not_null()
    rows = log.rows.scan().filter(chosen)
    sweep, counts = Sweep(rows), Counter[str]()
    latest = pl.DataFrame(schema=["file", "time", "seconds"])
    for batch in log.rows.in_order("time", ["time", "op", "file", "seconds", "outcome"]):
        sessions = batch.filter(chosen).select(pl.col("file").hash(), "time", "seconds")
        sweep.add(sessions)
        both = pl.concat([latest, sessions], how="vertical_relaxed").with_columns(since=SINCE)
        counts.update(
            both[latest.height :]
            .select(one.sum().alias(name) for name, one in (COUNTED | AGAIN).items())
            .row(0, named=True)
        )
        latest = both.group_by("file", maintain_order=True).last().select(latest.columns)
    if (found := sweep.found()) is None:
        return None
    span, taken = rows.select((BEGIN.max() - BEGIN.min()) / 1e6, pl.col("seconds").sum()).collect().row(0)
    return found | {
        "cartridges": latest.height,
        "per_hour": found["operations"] / (span / 3600) if span else None,
        "offered": taken / span if span else None,
        **{name: counts[name] for name in COUNTED},
        "again_within": [[limit, counts[str(limit)]] for limit in AGAIN_S],
    }


# Seconds since the end of the cartridge's session before, where there is one.
SINCE = (BEGIN - END.shift(1).over("file")) / 1e6
_IS_SHORT = pl.col("seconds") <= SHORT_S
COUNTED = {
    "short": _IS_SHORT,
    "short_after_another": _IS_SHORT & (pl.col("since") <= DEFERRED_S),
    "overlapping": pl.col("since") < 0,
}
AGAIN = {str(limit): pl.col("since") <= limit for limit in AGAIN_S}
