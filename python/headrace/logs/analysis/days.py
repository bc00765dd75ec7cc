"""Statistics by day, and of all times taken."""

from typing import Any

import polars as pl

Json = dict[str, Any]

QUANTILES = (0.01, 0.05, 0.1, 0.5, 0.9, 0.95, 0.99)


def daily(table: pl.DataFrame, kept: pl.DataFrame) -> list[Json]:
    """Return each day's operations, bytes, and how many transfers the filters kept."""
    day = pl.col("time").dt.date().alias("day")
    done = pl.col("outcome") == "done"
    moves = pl.col("op").is_in(["get", "put"]) & done
    counts = {name: ((pl.col("op") == op) & done).sum() for name, op in (("puts", "put"), ("gets", "get"))}
    whole = table.group_by(day).agg(
        **counts,
        staged=pl.col("stage_s").is_not_null().sum(),
        sessions=(pl.col("op") == "session").sum(),
        failed=(pl.col("outcome") == "failed").sum(),
        bytes=pl.col("bytes").filter(moves).sum(),
        mean_s=pl.col("seconds").filter(moves | (pl.col("op") == "session")).mean(),
    )
    left = kept.group_by(day).agg(kept=pl.len(), kept_bytes=pl.col("bytes").sum())
    joined = whole.join(left, on="day", how="left").with_columns(pl.col("kept", "kept_bytes").fill_null(0))
    return [row | {"day": row["day"].isoformat()} for row in joined.sort("day").iter_rows(named=True) if row["day"]]


def durations(table: pl.DataFrame) -> list[Json]:
    """Return mean, spread and quantiles of the times that each kind of operation took."""
    done = table.filter(pl.col("outcome") == "done")
    of = {
        "put": done.filter(pl.col("op") == "put")["seconds"],
        "get": done.filter(pl.col("op") == "get")["seconds"],
        "staging": done["stage_s"],
        "migration": done.filter(pl.col("op") == "migrate")["seconds"],
        "session": done.filter(pl.col("op") == "session")["seconds"],
        "request to completion": done["total_s"],
    }
    return [_spread(name, values.drop_nulls()) for name, values in of.items() if values.drop_nulls().len()]


def _spread(name: str, values: pl.Series) -> Json:
    told: Json = {"what": name, "count": values.len(), "mean_s": values.mean(), "sd_s": values.std()}
    told |= {"min_s": values.min(), "max_s": values.max()}
    return told | {f"p{share * 100:g}_s": values.quantile(share, "linear") for share in QUANTILES}
