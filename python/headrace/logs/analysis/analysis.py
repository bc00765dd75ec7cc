"""All that a log says of its archive, put together: what `headrace logs analyse` prints."""

from dataclasses import asdict
from typing import Any

import polars as pl

from headrace.logs.analysis import filters
from headrace.logs.analysis.concurrency import alone, concurrency
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
    table = _with_alone(log.table)
    kept, told = filters.passed(table, filters.of_transfers(rounded=log.rounded))
    lasting = table.filter((pl.col("outcome") == "done") & pl.col("seconds").is_not_null())
    fits = {op: _fit(kept.filter(pl.col("op") == op), strata[op], fit_up_to) for op in ("put", "get")}
    known = {op: found for op, found in fits.items() if found}
    delayed, outliers = filters.passed(kept, filters.of_delays(log.largest))
    return {
        "files": [{"name": name, "format": form} for name, form in log.formats.items()],
        "lines": table.height,
        "from": _iso(table["time"].min()),
        "to": _iso(table["time"].max()),
        "skipped": log.skipped,
        "odd": [asdict(odd) for odd in log.odd],
        "rules": log.rules,
        "days": daily(table, kept),
        "durations": durations(table),
        "filters": [asdict(one) for one in told],
        "outliers": [asdict(one) for one in outliers],
        "transfers": concurrency(lasting.filter(pl.col("op").is_in(["get", "put"]))),
        "sessions": _sessions(lasting.filter(pl.col("op") == "session")),
        "fits": known,
        "delays": {op: delays(delayed.filter(pl.col("op") == op), found, blocks[op]) for op, found in known.items()},
        "staging": staging(lasting.filter(pl.col("stage_s").is_not_null())["stage_s"].to_numpy(), break_s),
    }


def _iso(time: Any) -> str | None:
    return None if time is None else str(time.isoformat())


def _with_alone(table: pl.DataFrame) -> pl.DataFrame:
    """Add whether a transfer met no other transfer, of either kind, kept or not."""
    numbered = table.with_row_index("row")
    moved = numbered.filter(pl.col("op").is_in(["get", "put"]) & pl.col("seconds").is_not_null())
    if moved.is_empty():
        return numbered.with_columns(alone=pl.lit(False))
    free = moved.filter(alone(moved))["row"]
    return numbered.with_columns(alone=pl.col("row").is_in(free.implode()))


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
    ends = (pl.col("time") + pl.duration(microseconds=(pl.col("seconds") * 1e6).cast(pl.Int64))).shift(1)
    since = (pl.col("time") - ends).over("file").dt.total_microseconds() / 1e6
    gaps = rows.with_columns(since=since)
    short = gaps.filter(pl.col("seconds") <= SHORT_S)
    return found | {
        "cartridges": rows["file"].n_unique(),
        "per_hour": rows.height / (_span(rows) / 3600) if _span(rows) else None,
        "offered": float(rows["seconds"].sum()) / _span(rows) if _span(rows) else None,
        "short": short.height,
        "short_after_another": short.filter(pl.col("since") <= DEFERRED_S).height,
        "overlapping": gaps.filter(pl.col("since") < 0).height,
        "again_within": [[limit, gaps.filter(pl.col("since") <= limit).height] for limit in AGAIN_S],
    }


def _span(rows: pl.DataFrame) -> float:
    """Return the time from the first beginning to the last."""
    times = rows["time"]
    return float((times.max() - times.min()).total_seconds())  # type: ignore[operator, union-attr]
