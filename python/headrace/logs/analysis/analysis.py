"""All that a log says of its archive, put together: what `headrace logs analyse` prints."""

from dataclasses import asdict
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from headrace.logs.analysis import filters
from headrace.logs.analysis.concurrency import alone, concurrency, ends_of
from headrace.logs.analysis.days import daily, durations
from headrace.logs.analysis.delays import delays
from headrace.logs.analysis.envelope import envelope, fit
from headrace.logs.analysis.staging import staging
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
    moved = _transfers(log)
    together = concurrency(moved.select("time", "seconds").filter(moved["outcome"] == "done"))
    kept = moved.filter(filters.kept(rules)).select("op", "bytes", "seconds", "alone")
    del moved  # A log may be long.
    fits = {op: _fit(kept.filter(pl.col("op") == op), strata[op], fit_up_to) for op in ("put", "get")}
    known = {op: found for op, found in fits.items() if found}
    slow = filters.of_delays(log.largest)
    delayed = {
        op: delays(kept.filter((pl.col("op") == op) & filters.kept(slow)), found, blocks[op])
        for op, found in known.items()
    }
    outliers = filters.removed(kept.lazy(), slow)
    del kept
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
        "filters": [asdict(one) for one in filters.removed(rows, rules)],
        "outliers": [asdict(one) for one in outliers],
        "transfers": together,
        "sessions": _sessions(_lasting_sessions(log)),
        "fits": known,
        "delays": delayed,
        "staging": staged,
    }


def _iso(time: Any) -> str | None:
    return None if time is None else str(time.isoformat())


def _transfers(log: Log) -> pl.DataFrame:
    """Return gets and puts with a time taken, by time, and whether each met no other, kept or not."""
    batches = log.rows.in_order("time", ["time", "op", "bytes", "seconds", "outcome"])
    chosen = pl.col("op").is_in(["get", "put"]) & pl.col("seconds").is_not_null()
    narrow = (
        batch.filter(chosen).with_columns(pl.col("op").cast(OPS), pl.col("outcome").cast(OUTCOMES)) for batch in batches
    )
    moved = pl.concat([pl.DataFrame(schema=TRANSFERS), *narrow])
    return moved.with_columns(alone(moved).alias("alone") if moved.height else pl.lit(False).alias("alone"))


# One byte for each word: a long log has many.
OPS, OUTCOMES = pl.Enum(["get", "put"]), pl.Enum(["done", "failed", "len failure", "other"])
TRANSFERS: Json = {
    "time": pl.Datetime("us"), "op": OPS, "bytes": pl.Int64, "seconds": pl.Float64, "outcome": OUTCOMES,
}  # fmt: skip


def _lasting_sessions(log: Log) -> pl.DataFrame:
    """Return sessions with a time taken, by time; numbers stand for the names of cartridges."""
    batches = log.rows.in_order("time", ["time", "op", "file", "seconds", "outcome"])
    chosen = (pl.col("op") == "session") & (pl.col("outcome") == "done") & pl.col("seconds").is_not_null()
    lasting = (batch.filter(chosen).select("time", pl.col("file").hash(), "seconds") for batch in batches)
    return pl.concat(
        [pl.DataFrame(schema={"time": pl.Datetime("us"), "file": pl.UInt64, "seconds": pl.Float64}), *lasting]
    )


def _stagings(log: Log) -> NDArray[np.float64]:
    """Return how long the tape took for each file that was staged, in the order of time."""
    batches = log.rows.in_order("time", ["time", "stage_s", "seconds", "outcome"])
    chosen = (pl.col("outcome") == "done") & pl.col("seconds").is_not_null() & pl.col("stage_s").is_not_null()
    return np.concatenate([np.zeros(0), *(batch.filter(chosen)["stage_s"].to_numpy() for batch in batches)])


def _fit(rows: pl.DataFrame, stratum: int, up_to: int | None) -> Json | None:
    """Return the line through the lower envelope, and beside it that through all transfers that met no other."""
    rows = rows if up_to is None else rows.filter(pl.col("bytes") <= up_to)
    found = fit(envelope(rows, stratum))
    if found is None:
        return None
    free = rows.filter("alone")
    beside = fit(free.select("bytes", "seconds"))
    return found | {"stratum": stratum, "transfers": rows.height, "alone_transfers": free.height, "alone": beside}


def _sessions(rows: pl.DataFrame) -> Json | None:
    """Return what sessions of cartridges say of drives."""
    found = concurrency(rows)
    if found is None:
        return None
    since = _since(rows)
    short = rows["seconds"].to_numpy() <= SHORT_S
    return found | {
        "cartridges": rows["file"].n_unique(),
        "per_hour": rows.height / (_span(rows) / 3600) if _span(rows) else None,
        "offered": float(rows["seconds"].sum()) / _span(rows) if _span(rows) else None,
        "short": int(short.sum()),
        "short_after_another": int((short & (since <= DEFERRED_S)).sum()),
        "overlapping": int((since < 0).sum()),
        "again_within": [[limit, int((since <= limit).sum())] for limit in AGAIN_S],
    }


def _since(rows: pl.DataFrame) -> NDArray[np.float64]:
    """Return the seconds since the end of the cartridge's session before; infinite where there is none."""
    begin, end = ends_of(rows)
    file = rows["file"].to_numpy()
    order = np.argsort(file, kind="stable")
    same = file[order][1:] == file[order][:-1]
    since = np.full(len(rows), np.inf)
    since[order[1:][same]] = (begin[order][1:] - end[order][:-1])[same]
    return since


def _span(rows: pl.DataFrame) -> float:
    """Return the time from the first beginning to the last."""
    times = rows["time"]
    return float((times.max() - times.min()).total_seconds())  # type: ignore[operator, union-attr]
