"""What each user of an archive did, and how long that took."""

from typing import Any

import polars as pl

Json = dict[str, Any]

NOBODY = "(not named)"
MOST_USERS = 20  # Those with the most bytes, of more with the most operations; the others are counted together.


def users(table: pl.LazyFrame) -> list[Json]:
    """Return the operations, bytes and times of each user, those who moved most first; none where all are of one.

    `response_s` is the time from the request to its answer where the log has that, else the time taken, of all but the
    way to tape; of files that came from tape, `staging_s` is the time that the tape took.
    """
    is_named = pl.col("user").fill_null("") != ""
    of_user = table.filter(pl.col("outcome") == "done", pl.col("op") != "session").with_columns(
        user=pl.when(is_named).then("user").otherwise(pl.lit(NOBODY)),
        response=pl.when(pl.col("op") != "migrate").then(pl.coalesce("total_s", "seconds", "stage_s")),
    )
    moves = pl.col("op").is_in(["get", "put"])
    moved = of_user.group_by("user").agg(moved=pl.col("bytes").filter(moves).sum(), many=pl.len())
    order = moved.sort("moved", "many", "user", descending=[True, True, False]).collect()["user"].to_list()
    if len(order) < 2:
        return []
    shown = order[:MOST_USERS]
    found = of_user.group_by(pl.when(pl.col("user").is_in(shown)).then("user")).agg(_columns(moves)).collect()
    rows = sorted(found.iter_rows(named=True), key=lambda row: shown.index(row["user"]) if row["user"] else MOST_USERS)
    others = len(order) - len(shown)
    return [row | {"users": 1 if row["user"] else others} for row in rows]


def _columns(moves: pl.Expr) -> list[pl.Expr]:
    counts = [(pl.col("op") == op).sum().alias(f"{op}s") for op in ("put", "get")]
    staged = pl.col("stage_s")
    times = {"response": pl.col("response"), "staging": staged}
    spread = [
        one
        for name, of in times.items()
        for one in (of.mean().alias(f"{name}_mean_s"), of.quantile(0.95, "linear").alias(f"{name}_p95_s"))
    ]
    return [*counts, staged.is_not_null().sum().alias("staged"), pl.col("bytes").filter(moves).sum(), *spread]
