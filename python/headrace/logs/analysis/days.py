"""Statistics by day, and of all times taken."""

from typing import Any

import polars as pl

Json = dict[str, Any]

QUANTILES = (0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99)


def daily(table: pl.LazyFrame, kept: pl.Expr) -> list[Json]:
    """Return each day's operations, bytes, and how many transfers are kept for the fit."""
    done = pl.col("outcome") == "done"
    moves = pl.col("op").is_in(["get", "put"]) & done
    counts = {name: ((pl.col("op") == op) & done).sum() for name, op in (("puts", "put"), ("gets", "get"))}
    staged = pl.col("stage_s").is_not_null() & done
    whole = table.group_by(day=pl.col("time").dt.date()).agg(
        **counts,
        staged=staged.sum(),
        staged_bytes=pl.col("bytes").filter(staged).sum(),
        migrated=((pl.col("op") == "migrate") & done).sum(),
        migrated_bytes=pl.col("bytes").filter((pl.col("op") == "migrate") & done).sum(),
        sessions=((pl.col("op") == "session") & done).sum(),
        failed=(pl.col("outcome") == "failed").sum(),
        bytes=pl.col("bytes").filter(moves).sum(),
        mean_s=pl.col("seconds").filter(moves | ((pl.col("op") == "session") & done)).mean(),
        kept=kept.sum(),
        kept_bytes=pl.col("bytes").filter(kept).sum(),
    )
    rows = whole.sort("day").collect().iter_rows(named=True)
    return [row | {"day": row["day"].isoformat()} for row in rows if row["day"]]


def durations(table: pl.LazyFrame) -> list[Json]:
    """Return mean, spread and quantiles of the times that each kind of operation took."""
    kinds = {"put": "put", "get": "get", "migration": "migrate", "session": "session"}
    of: dict[str, pl.Expr] = {name: pl.when(pl.col("op") == op).then("seconds") for name, op in kinds.items()}
    of |= {"staging": pl.col("stage_s"), "request to completion": pl.when(pl.col("op") != "session").then("total_s")}
    parts = {"mount": "mount_s", "position": "position_s", "transfer": "transfer_s"}
    of |= {name: _of_sessions(pl.col(column)) for name, column in parts.items()}
    done = table.filter(pl.col("outcome") == "done")
    order = ("put", "get", "staging", "migration", "session", *parts, "request to completion")
    taken = ((name, done.select(taken=of[name]).drop_nulls().collect()["taken"]) for name in order)
    return [_spread(name, values) for name, values in taken if values.len()]


def _of_sessions(taken: pl.Expr) -> pl.Expr:
    """Return times of sessions alone where these have them: those of their files are part of them."""
    is_session = pl.col("op") == "session"
    return pl.when(is_session | ~(is_session & taken.is_not_null()).any()).then(taken)


def _spread(name: str, values: pl.Series) -> Json:
    told: Json = {"what": name, "count": values.len(), "mean_s": values.mean(), "sd_s": values.std()}
    values = values.sort()  # Once, not for each quantile.
    told |= {"min_s": values[0], "max_s": values[-1]}
    return told | {f"p{share * 100:g}_s": values.quantile(share, "linear") for share in QUANTILES}
