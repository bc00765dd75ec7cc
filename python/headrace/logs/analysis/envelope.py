"""Latency and rate from the lower envelope: the fastest transfer of each stratum of sizes, and a line through these."""

import math
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

Json = dict[str, Any]
Floats = NDArray[np.float64]

FEWEST = 3  # A line through fewer points has no error.
LEAST_R2 = 0.5  # A line that explains less of the spread than this says nothing of latency and rate.


def envelope(rows: pl.DataFrame, stratum: int) -> pl.DataFrame:
    """Return the fastest transfer of each stratum, sorted by size; the last counts if at least half full."""
    by_size = rows.select("bytes", "seconds").sort("bytes", "seconds")
    size, taken = by_size["bytes"].to_numpy(), by_size["seconds"].to_numpy()
    starts = [at for at in range(0, len(size), stratum) if 2 * len(size[at : at + stratum]) >= stratum]
    fastest = np.array([at + int(taken[at : at + stratum].argmin()) for at in starts], dtype=np.int64)
    return pl.DataFrame({"bytes": size[fastest], "seconds": taken[fastest]})


def fit(points: pl.DataFrame) -> Json | None:
    """Return the ordinary least-squares line of seconds on bytes with its full table.

    None with fewer than three points or a single size: there is no line through these.
    """
    x, y = points["bytes"].to_numpy().astype(np.float64), points["seconds"].to_numpy()
    if len(x) < FEWEST or x.min() == x.max():
        return None
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    latency = float(y.mean() - slope * x.mean())
    residual = float(((y - latency - slope * x) ** 2).sum())
    total, free = float(((y - y.mean()) ** 2).sum()), len(x) - 2
    s = math.sqrt(residual / free)
    errors = s * math.sqrt(1 / len(x) + x.mean() ** 2 / spread), s / math.sqrt(spread)
    found = _table(residual, total, free) | {"s": s, "observations": len(x)}
    found["latency_s"] = _coefficient(latency, errors[0], free)
    found["slope_s_per_byte"] = _coefficient(slope, errors[1], free)
    found["rate_bytes_per_s"] = _rate(found["slope_s_per_byte"])
    return found


def says_rate(fit: Json) -> bool:
    """Return true if a line explains at least half of the spread."""
    return bool(fit["r2"] >= LEAST_R2)


def _table(residual: float, total: float, free: int) -> Json:
    """Return the analysis of variance."""
    explained = max(total - residual, 0.0)
    r2 = explained / total if total else 0.0
    f = explained / (residual / free) if residual else math.inf
    return {
        "multiple_r": math.sqrt(r2),
        "r2": r2,
        "adjusted_r2": 1 - (1 - r2) * (free + 1) / free,
        "df_regression": 1,
        "df_residual": free,
        "ss_regression": explained,
        "ss_residual": residual,
        "ss_total": total,
        "ms_residual": residual / free,
        "f": _finite(f),
        "p": float(stats.f.sf(f, 1, free)),
    }


def _coefficient(value: float, error: float, free: int) -> Json:
    t = value / error if error else math.inf
    half = float(stats.t.ppf(0.975, free)) * error
    p = float(2 * stats.t.sf(abs(t), free))
    return {"value": value, "error": error, "t": _finite(t), "p": p, "from": value - half, "to": value + half}


def _rate(slope: Json) -> Json | None:
    """Return bytes per second, the reciprocal of a slope; None where larger files are no slower."""
    if slope["value"] <= 0:
        return None
    return {
        "value": 1 / slope["value"],
        "from": 1 / slope["to"],
        "to": 1 / slope["from"] if slope["from"] > 0 else None,
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
