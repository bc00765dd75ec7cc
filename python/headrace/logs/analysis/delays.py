"""Residual delays: how much longer transfers took than latency and rate say, by size."""

from typing import Any

import polars as pl

Json = dict[str, Any]


def delays(rows: pl.DataFrame, fit: Json, block: int) -> list[Json]:
    """Return mean and 99th percentile of the delay for successive `block` transfers by size.

    The last block counts if it is at least half full.
    """
    ideal = fit["latency_s"]["value"] + pl.col("bytes") * fit["slope_s_per_byte"]["value"]
    order = rows.with_columns(delay=pl.col("seconds") - ideal).sort("bytes", maintain_order=True)
    parts = order.with_columns(part=pl.int_range(pl.len()) // block).filter(pl.len().over("part") * 2 >= block)
    found = parts.group_by("part", maintain_order=True).agg(
        transfers=pl.len(),
        mean_bytes=pl.col("bytes").mean(),
        ideal_s=ideal.mean(),
        mean_s=pl.col("delay").mean(),
        p99_s=pl.col("delay").quantile(0.99, "linear"),
    )
    return found.drop("part").to_dicts()
