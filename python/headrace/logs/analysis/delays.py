"""Residual delays: how much longer transfers took than latency and rate say, by size."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Json = dict[str, Any]


def delays(rows: pl.DataFrame, fit: Json, block: int) -> list[Json]:
    """Return mean and 99th percentile of the delay for successive `block` transfers by size.

    The last block counts if it is at least half full.
    """
    by_size = rows.select("bytes", "seconds").sort("bytes", maintain_order=True)
    size, taken = by_size["bytes"].to_numpy(), by_size["seconds"].to_numpy()
    starts = [at for at in range(0, len(size), block) if 2 * len(size[at : at + block]) >= block]
    return [_block(size[at : at + block], taken[at : at + block], fit) for at in starts]


def _block(size: NDArray[np.int64], taken: NDArray[np.float64], fit: Json) -> Json:
    ideal = fit["latency_s"]["value"] + size * fit["slope_s_per_byte"]["value"]
    delay = taken - ideal
    return {
        "transfers": len(size),
        "mean_bytes": float(size.mean()),
        "ideal_s": float(ideal.mean()),
        "mean_s": float(delay.mean()),
        "p99_s": float(np.quantile(delay, 0.99)),
    }
