"""The charts of logs that are no curves: days, and the lower envelope."""

from typing import Any

import altair
from altair.typing import ChartType

from headrace import quantities
from headrace.charts.style import APART, LABELS, SERIES, Rows, colours, log_scale, log_ticks, styled

Json = dict[str, Any]

MOST = 1000  # Points drawn: more lie on each other.


def days(of: list[Json]) -> ChartType:
    """Draw each day's operations as stacked bars."""
    kinds = [kind for kind in ("puts", "gets", "sessions") if any(day[kind] for day in of)] or ["failed"]
    rows = [{"day": day["day"], "what": kind, "y": day[kind]} for day in of for kind in kinds]
    labels = altair.Axis(labelAngle=-90, labelOverlap="greedy")
    bars = altair.Chart(Rows(rows)).mark_bar()
    x, y = (
        altair.X("day:O", title=None, axis=labels),
        altair.Y("y:Q", title="operations", axis=altair.Axis(format=",d", tickMinStep=1)),
    )
    return styled(bars.encode(x=x, y=y, color=colours(kinds)))


def envelope(fit: Json) -> ChartType:
    """Draw the fastest of each stratum by size, and the line."""
    points = [(size, taken) for size, taken in fit["points"] if size > 0 and taken > 0]
    points = points[:: -(-len(points) // MOST) or 1]
    latency, slope = fit["latency_s"]["value"], fit["slope_s_per_byte"]["value"]
    line = [(size, latency + slope * size) for size in _between(points) if latency + slope * size > 0]
    sizes = [size for size, _ in points]
    axis = altair.Axis(**LABELS["bytes"], **log_ticks(sizes))
    x = altair.X("x:Q", title="size", scale=log_scale(sizes), axis=axis)
    unit = quantities.unit(taken * 1e3 for _, taken in points + line)
    points, line = (_in(unit, curve) for curve in (points, line))
    times = [taken for _, taken in points + line]
    axis = altair.Axis(format="~g", **APART, **log_ticks(times))
    y = altair.Y("y:Q", title=f"time taken, {unit.name}", scale=log_scale(times), axis=axis)
    rows = [{"what": "measured", "x": a, "y": b} for a, b in points]
    names = ["measured", "theory"]
    dots = altair.Chart(Rows(rows)).mark_point(filled=True, size=22, clip=True)
    drawn = altair.Chart(Rows([{"what": "theory", "x": a, "y": b} for a, b in line])).mark_line(clip=True)
    colour = altair.Color(
        "what:N",
        scale=altair.Scale(domain=names, range=[SERIES[name] for name in names]),
        legend=altair.Legend(
            title=None, labelExpr="datum.label == 'theory' ? 'the line' : 'fastest of each stratum'", symbolOpacity=1
        ),
    )
    return styled(dots.encode(x=x, y=y, color=colour) + drawn.encode(x=x, y=y, color=colour))


def _in(unit: quantities.Unit, points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x, unit.of(seconds * 1e3)) for x, seconds in points]


def _between(points: list[tuple[float, float]], count: int = 100) -> list[float]:
    """Return sizes at equal ratios from the smallest to the largest."""
    low, high = (min(points)[0], max(points)[0]) if points else (1.0, 2.0)
    return [low * (high / low) ** (at / (count - 1)) for at in range(count)]
