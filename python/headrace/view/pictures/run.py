"""The pictures of a run: response times, and what happened over simulated time."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import altair

from headrace.times import Unit, unit
from headrace.view.pictures.chart import INK, PANEL, Drawing, cdfs, colours, save, styled

Json = dict[str, Any]

# The quantiles that the picture of a distribution marks.
MARKED = (0.5, 0.9, 0.99)
# A picture shows at most this many components over time, the busiest ones.
MOST_CURVES = 6


def response_cdf(found: Json, stream: int) -> Drawing:
    """Draw the cdf of a stream's response time, with theory and measurement over it where there are any."""
    told, theory = found["streams"][stream], found["theory"][stream]
    curves = {"simulated": told["cdf"], "theory": theory["cdf"]}
    if told["measured"]:
        curves["measured"] = told["measured"]["all"]["measured_cdf"]
    quantiles = {quantile["share"]: quantile["ms"] for quantile in told["response"]["quantiles_ms"]}
    marks = {share: quantiles[share] for share in MARKED if quantiles.get(share, 0) > 0}
    return cdfs({what: curve[::4] for what, curve in curves.items() if curve}, marks)


def response_series(found: Json) -> Drawing:
    """Draw the mean response of each stream over simulated time."""
    streams = [stream["name"] for stream in found["streams"]]
    rows = [
        {"what": name, "s": _at(found, point["time_s"]), "ms": mean}
        for point in found["series"]
        for name, mean, answered in zip(streams, point["mean_ms"], point["answered"], strict=True)
        if answered
    ]
    of = unit(row["ms"] for row in rows)
    rows = [row | {"time": of.of(row["ms"])} for row in rows]
    return styled(_with_instants(found, _lines(found, rows, "time", f"mean response time, {of.name}", streams)))


def utilisation_series(found: Json) -> Drawing:
    """Draw the utilisation of the busiest components over simulated time; of a group of copies, the maximum."""
    groups = [component["group"] for component in found["components"]]
    has_queue = {component["group"] for component in found["components"] if component["utilisation"] is not None}
    named = {group: f"{group} (max)" if groups.count(group) > 1 else group for group in groups}
    rows = []
    for point in found["series"]:
        for group in dict.fromkeys(groups):
            if group in has_queue:
                used = [u for name, u in zip(groups, point["utilisation"], strict=True) if name == group]
                rows.append({"what": named[group], "s": _at(found, point["time_s"]), "u": max(used)})
    busiest = sorted(
        dict.fromkeys(row["what"] for row in rows),
        key=lambda name: -max(row["u"] for row in rows if row["what"] == name),
    )
    shown = busiest[:MOST_CURVES]
    rows = [row for row in rows if row["what"] in shown]
    names = [named[group] for group in dict.fromkeys(groups) if named[group] in shown]
    return styled(_with_instants(found, _lines(found, rows, "u", "utilisation", names, percent=True)))


def fill_series(found: Json) -> list[tuple[str, Drawing]]:
    """Draw the level of each disk pool over simulated time, with its purges: each with its title."""
    return [
        (
            f"Level of {pool['path']} over time" + (" (circles: purges)" if any(map(_purges, found["series"])) else ""),
            _fill(found, pool),
        )
        for pool in found["components"]
        if pool["kind"] == "disk_pool"
    ]


def _fill(found: Json, pool: Json) -> Drawing:
    path = pool["path"]
    rows = [
        {"what": path, "s": _at(found, point["time_s"]), "fill": point["fill"][path], "purges": _purges(point)}
        for point in found["series"]
        if path in point["fill"]
    ]
    chart = _lines(found, rows, "fill", "share of the pool in use", [path], percent=True)
    purged = altair.Chart(altair.InlineData(values=[row for row in rows if row["purges"]]))
    circles = purged.mark_point(color=INK, size=40).encode(x="s:Q", y="fill:Q")
    return styled(_with_instants(found, altair.layer(chart, circles)))


def _purges(point: Json) -> int:
    """Return how many purges there were in a segment."""
    return sum(count for key, count in point["marked"].items() if key.endswith(".purges"))


def _clock(found: Json) -> Unit:
    """Return the unit of simulated time on axes."""
    return unit(point["time_s"] * 1e3 for point in found["series"][-1:])


def _at(found: Json, seconds: float) -> float:
    return _clock(found).of(seconds * 1e3)


def drives_series(found: Json) -> list[tuple[str, Drawing]]:
    """Draw the mean number of drives in use over simulated time, of each tape library: each with its title."""
    libraries = [(at, one) for at, one in enumerate(found["components"]) if one["kind"] == "tape_library"]
    return [(f"Drives of {one['path']} in use, mean of each segment", _drives(found, at)) for at, one in libraries]


def _drives(found: Json, at: int) -> Drawing:
    library = found["components"][at]
    rows = [
        {
            "what": library["path"],
            "s": _at(found, point["time_s"]),
            "drives": point["utilisation"][at] * library["servers"],
        }
        for point in found["series"]
    ]
    return styled(_with_instants(found, _lines(found, rows, "drives", "drives in use", [library["path"]])))


def _lines(
    found: Json, rows: list[Json], field: str, title: str, names: list[str], *, percent: bool = False
) -> Drawing:
    axis = altair.Axis(format="%") if percent else altair.Axis()
    scale = altair.Scale(domain=[0, 1]) if percent else altair.Scale(zero=True)
    apart = altair.Axis(tickCount=6, labelOverlap="greedy", labelSeparation=6)
    return (
        altair.Chart(altair.InlineData(values=rows))
        .mark_line()
        .encode(
            x=altair.X("s:Q", title=f"simulated time, {_clock(found).name}", axis=apart),
            y=altair.Y(f"{field}:Q", title=title, axis=axis, scale=scale),
            color=colours(names),
        )
    )


def _with_instants(found: Json, chart: Drawing) -> Drawing:
    """Draw the instants of faults over a chart, each with what happened."""
    instants = [
        {"s": _at(found, phase["from_s"]), "happened": "; ".join(phase["after"])}
        for phase in found["phases"]
        if phase["after"]
    ]
    if not instants:
        return chart
    over = altair.Chart(altair.InlineData(values=instants))
    lines = over.mark_rule(color=INK, strokeDash=[3, 3]).encode(x="s:Q")
    # Twice: in the colour of the panel around the letters, so that a curve behind them does not hide them.
    style: Any = {"angle": 270, "align": "right", "baseline": "bottom", "dy": -3, "fontSize": 10}
    around = over.mark_text(color=PANEL, stroke=PANEL, strokeWidth=4, strokeJoin="round", opacity=0.8, **style)
    both = around, over.mark_text(color=INK, **style)
    texts = [mark.encode(x="s:Q", y=altair.value(4), text="happened:N") for mark in both]
    return altair.layer(chart, lines, *texts)


FIGURES: dict[str, Callable[[Json], Drawing]] = {
    "response_series": response_series,
    "utilisation_series": utilisation_series,
}


def export(found: Json, folder: str | Path) -> list[Path]:
    """Write every figure of the results into a folder, as SVG and as PNG; return the files."""
    charts = {name: draw(found) for name, draw in FIGURES.items()}
    charts |= {
        f"response_cdf_{stream['name']}": response_cdf(found, at)
        for at, stream in enumerate(found["streams"])
        if stream["cdf"]
    }
    return save(charts, folder)
