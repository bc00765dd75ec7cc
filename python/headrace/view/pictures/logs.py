"""The pictures of a log: days, how much went on at once, the lower envelope, delays, the tape's times."""

from typing import Any

import altair

from headrace import times
from headrace.view.pictures.chart import SERIES, Drawing, colours, curves, log_scale, one_line, styled

Json = dict[str, Any]

IN_DECIMAL = altair.Axis(
    labelExpr="datum.value >= 1e9 ? datum.value / 1e9 + ' GB' : datum.value >= 1e6 ? datum.value / 1e6 + ' MB' : "
    "datum.value >= 1e3 ? datum.value / 1e3 + ' kB' : datum.value + ' B'",
    labelOverlap="greedy",
    labelSeparation=8,
)
PLAIN = altair.Axis(labelOverlap="greedy", labelSeparation=6, format="~g")


def drawn(found: Json) -> dict[str, Drawing]:
    """Return the pictures that there is something for, by their titles."""
    made = {"By day": days(found)}
    for kind, title in (("transfers", "Transfers at once"), ("sessions", "Drives busy at once")):
        if found[kind]:
            made[title] = at_once(found[kind])
    for op, fit in found["fits"].items():
        made[f"The fastest {op}s, and the line through them"] = envelope(fit)
    for op, blocks in found["delays"].items():
        if len(blocks) > 1:
            made[f"Delay of {op}s beyond latency and rate"] = delays(blocks)
    if found["staging"]:
        made["How long the tape takes"] = tape(found["staging"])
    return made


def days(found: Json) -> Drawing:
    """Draw each day's operations as stacked bars."""
    kinds = [kind for kind in ("puts", "gets", "sessions") if any(day[kind] for day in found["days"])] or ["failed"]
    rows = [{"day": day["day"], "what": kind, "y": day[kind]} for day in found["days"] for kind in kinds]
    labels = altair.Axis(labelAngle=-90, labelOverlap="greedy")
    bars = altair.Chart(altair.InlineData(values=rows)).mark_bar()
    x, y = (
        altair.X("day:O", title=None, axis=labels),
        altair.Y("y:Q", title="operations", axis=altair.Axis(format=",d", tickMinStep=1)),
    )
    return styled(bars.encode(x=x, y=y, color=colours(kinds)))


def at_once(of: Json) -> Drawing:
    """Draw the most that went on at once, over time."""
    day = 86400.0 if of["span_s"] > 2 * 86400 else 3600.0
    x = altair.X("x:Q", title="time, days" if day == 86400.0 else "time, hours")
    points = [(end / day, most) for end, most in of["over_time"]]
    y = altair.Y("y:Q", title="most at once", axis=altair.Axis(tickMinStep=1))
    return one_line(points, x, y, steps=True)


def envelope(fit: Json) -> Drawing:
    """Draw the fastest of each stratum by size, and the line."""
    points = [(size, taken) for size, taken in fit["points"] if size > 0 and taken > 0]
    latency, slope = fit["latency_s"]["value"], fit["slope_s_per_byte"]["value"]
    line = [(size, latency + slope * size) for size in _between(points) if latency + slope * size > 0]
    x = altair.X("x:Q", title="size", scale=log_scale(size for size, _ in points), axis=IN_DECIMAL)
    unit = times.unit(taken * 1e3 for _, taken in points + line)
    points, line = (_in(unit, curve) for curve in (points, line))
    scale = log_scale(taken for _, taken in points + line)
    y = altair.Y("y:Q", title=f"time taken, {unit.name}", scale=scale, axis=PLAIN)
    rows = [{"what": "measured", "x": a, "y": b} for a, b in points]
    names = ["measured", "theory"]
    dots = altair.Chart(altair.InlineData(values=rows)).mark_point(filled=True, size=22, clip=True)
    drawn = altair.Chart(altair.InlineData(values=[{"what": "theory", "x": a, "y": b} for a, b in line])).mark_line(
        clip=True
    )
    colour = altair.Color(
        "what:N",
        scale=altair.Scale(domain=names, range=[SERIES[name] for name in names]),
        legend=altair.Legend(
            labelExpr="datum.label == 'theory' ? 'the line' : 'fastest of each stratum'", symbolOpacity=1
        ),
    )
    return styled(dots.encode(x=x, y=y, color=colour) + drawn.encode(x=x, y=y, color=colour))


def _in(unit: times.Unit, points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x, unit.of(seconds * 1e3)) for x, seconds in points]


def _between(points: list[tuple[float, float]], count: int = 100) -> list[float]:
    """Return sizes at equal ratios from the smallest to the largest."""
    low, high = (min(points)[0], max(points)[0]) if points else (1.0, 2.0)
    return [low * (high / low) ** (at / (count - 1)) for at in range(count)]


def delays(blocks: list[Json]) -> Drawing:
    """Draw the mean and the 99th percentile of the delay by size."""
    of = {
        "mean": [(one["mean_bytes"], one["mean_s"]) for one in blocks],
        "p99": [(one["mean_bytes"], one["p99_s"]) for one in blocks],
    }
    unit = times.unit(one["p99_s"] * 1e3 for one in blocks)
    known = {
        name: _in(unit, [(size, delay) for size, delay in points if size > 0 and delay > 0])
        for name, points in of.items()
    }
    every = [point for points in known.values() for point in points]
    x = altair.X("x:Q", title="mean size of a block", scale=log_scale(size for size, _ in every), axis=IN_DECIMAL)
    y = altair.Y("y:Q", title=f"delay, {unit.name}", scale=log_scale(delay for _, delay in every), axis=PLAIN)
    return curves(known, x, y)


def tape(of: Json) -> Drawing:
    """Draw the cdf of the tape's times, and those of the laws that are judged."""
    shown = {law.replace("exponentials", "exp.").replace("exponential", "exp."): at for law, at in of["cdf"].items()}
    unit = times.unit(points[-1][0] * 1e3 for points in shown.values())
    drawn = {law: [(unit.of(x * 1e3), share) for x, share in points] for law, points in shown.items()}
    scale = log_scale(x for points in drawn.values() for x, _ in points)
    x = altair.X("x:Q", title=f"staging time, {unit.name}", scale=scale, axis=PLAIN)
    return curves(drawn, x, altair.Y("y:Q", title="share of stagings", axis=altair.Axis(format="%")))
