"""Filters applied before a fit, one after another, each with the number of rows removed."""

from dataclasses import dataclass

import polars as pl

OUTLIER_BYTES, OUTLIER_S = 10**9, 1000.0  # A smaller file that took longer is an outlier, by the paper's rule.
FTP_LOWEST_S, FTP_BELOW_S = 0.499, 10.0


@dataclass(frozen=True)
class Removed:
    """Rows and bytes that one filter removed and left."""

    rule: str
    removed: int
    removed_bytes: int
    left: int
    left_bytes: int


def passed(table: pl.DataFrame, rules: dict[str, pl.Expr]) -> tuple[pl.DataFrame, list[Removed]]:
    """Return the rows that every rule keeps, and what each removed; a rule is true where a row is removed."""
    return table.filter(kept(rules)), removed(table.lazy(), rules)


def kept(rules: dict[str, pl.Expr]) -> pl.Expr:
    """Return true for rows that every rule keeps."""
    return ~pl.any_horizontal(*(wrong.fill_null(True) for wrong in rules.values()))


def removed(table: pl.LazyFrame, rules: dict[str, pl.Expr]) -> list[Removed]:
    """Return what each rule removed of the rows that those before it left."""
    names = list(rules)
    left = [kept({one: rules[one] for one in names[: count + 1]}) for count in range(len(names))]
    rows = table.select(pl.len(), *(one.sum().alias(str(at)) for at, one in enumerate(left)))
    sizes = table.select(
        pl.col("bytes").sum(), *(pl.col("bytes").filter(one).sum().alias(str(at)) for at, one in enumerate(left))
    )
    steps = list(zip(rows.collect().row(0), sizes.collect().row(0), strict=True))
    return [
        Removed(name, before[0] - after[0], before[1] - after[1], *after)
        for name, before, after in zip(names, steps, steps[1:], strict=False)
    ]


def of_transfers(*, rounded: bool) -> dict[str, pl.Expr]:
    """Return the rules by which transfers are chosen whose time is known well enough for a fit.

    `rounded` says that FTP's times are among them: whole seconds, and 0.499 for all below one.
    """
    taken = pl.col("seconds")
    rules = {
        "neither get nor put": ~pl.col("op").is_in(["get", "put"]),
        "not done": pl.col("outcome") != "done",
        "no size or no time taken": pl.col("bytes").is_null() | taken.is_null(),
        "read from tape, and its time may contain that": pl.col("staged").fill_null(False)
        & pl.col("stage_s").is_null(),
    }
    if rounded:
        rules["rounded by FTP: 0.499 s, or whole seconds below 10"] = rounded_by_ftp(taken)
    return rules | {"0 s taken": taken == 0}


def rounded_by_ftp(taken: pl.Expr) -> pl.Expr:
    """Tell which times taken are those that FTP's daemon logs, in s: 0.499, or whole seconds below 10."""
    whole = (taken == taken.round()) & (taken < FTP_BELOW_S) & (taken > 0)
    return ((taken - FTP_LOWEST_S).abs() < 1e-9) | whole


def of_delays(largest: int | None) -> dict[str, pl.Expr]:
    """Return the rules by which outliers are left out of residual delays."""
    slow = (pl.col("bytes") < OUTLIER_BYTES) & (pl.col("seconds") > OUTLIER_S)
    rules = {"below 1 GB, and longer than 1,000 s": slow}
    return rules if largest is None else {"over the maximum size": pl.col("bytes") > largest} | rules
