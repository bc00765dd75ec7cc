"""Pictures of a scenario beside a measurement: bandwidth by load."""

from typing import Any

import altair

from headrace.view.pictures.chart import Drawing, curves, log_scale, whole

Json = dict[str, Any]
RATE = "bandwidth_bytes_per_s"


def rates(rows: list[Json]) -> dict[str, Drawing]:
    """Draw measured and simulated bandwidth of each load, of reads and of writes."""
    return {f"Bandwidth of {op}s, load by load": _one(of) for op in ("read", "write") if (of := _of(rows, op))}


def _of(rows: list[Json], op: str) -> list[Json]:
    return [row for row in rows if row["op"] == op]


def _one(rows: list[Json]) -> Drawing:
    ordered = sorted(rows, key=lambda row: float(row["measured"][RATE]))
    lines = {
        which: [[at + 1, row[which][RATE] / 1e6] for at, row in enumerate(ordered)]
        for which in ("measured", "simulated")
    }
    scale = log_scale(y for line in lines.values() for _, y in line)
    x = altair.X("x:Q", title="load, in order of measured bandwidth", axis=whole(range(1, len(ordered) + 1)))
    return curves(lines, x, altair.Y("y:Q", title="bandwidth, MB/s", scale=scale))
