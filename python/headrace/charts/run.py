"""The pictures of a run: response times, and what happened over simulated time."""

from collections import Counter
from typing import Any

import altair
from altair.typing import ChartType

from headrace.charts.style import INK, PANEL, SERIES, WIDTH, Drawing, Rows, cdfs, colours, styled
from headrace.quantities import Unit, unit

Json = dict[str, Any]

# The quantiles that the picture of a distribution marks.
MARKED = (0.5, 0.9, 0.99)
# The heights of a pool's level and of its purges below.
LEVEL_HEIGHT, PURGES_HEIGHT = 125, 40
# A picture shows at most this many components over time, the busiest ones.
MOST_CURVES = 6
# Of more streams than this, as many as of components: those with the longest responses.
MOST_STREAMS = 20
# Those that are never busier than this share of the busiest lie on the axis, and are left out.
LEAST_USED = 0.03


def response_cdf(found: Json, stream: int) -> ChartType:
    """Draw the cdf of a stream's response time, with theory and measurement over it where there are any."""
    told, theory = found["streams"][stream], found["theory"][stream]
    curves = {"simulated": told["cdf"], "theory": theory["cdf"]}
    if told["measured"]:
        curves["measured"] = told["measured"]["all"]["measured_cdf"]
    quantiles = {quantile["share"]: quantile["ms"] for quantile in told["response"]["quantiles_ms"]}
    marks = {share: quantiles[share] for share in MARKED if quantiles.get(share, 0) > 0}
    whole = [one for one in found["objectives"] if one["of"] == told["name"]]
    aims = [(one["within_ms"], one["asked"], one["objective"]) for one in whole]
    return cdfs({what: curve[::4] for what, curve in curves.items() if curve}, marks, aims)


def response_series(found: Json) -> ChartType:
    """Draw the mean response of each stream over simulated time."""
    return _times(found, "mean_ms", "mean response time")


def p99_series(found: Json) -> ChartType:
    """Draw the p99 of the response of each stream over simulated time."""
    return _times(found, "p99_ms", "p99 of the response time")


def _times(found: Json, field: str, title: str) -> ChartType:
    shown = _slowest(found["streams"])
    streams = [found["streams"][at]["name"] for at in shown]
    rows = [
        {"what": name, "s": _at(found, point["time_s"]), "ms": point[field][at]}
        for point in found["series"]
        for name, at in zip(streams, shown, strict=True)
        if point["completed"][at]
    ]
    of = unit(row["ms"] for row in rows)
    rows = [row | {"time": of.of(row["ms"])} for row in rows]
    return styled(_with_instants(found, _lines(found, rows, "time", f"{title}, {of.name}", streams)))


def _slowest(streams: list[Json]) -> list[int]:
    """Return the places of all streams, or of many those with the longest mean response."""
    if len(streams) <= MOST_STREAMS:
        return list(range(len(streams)))
    slowest = sorted(range(len(streams)), key=lambda at: streams[at]["response"]["mean_ms"], reverse=True)
    return sorted(slowest[:MOST_CURVES])


def in_time_series(found: Json) -> ChartType:
    """Draw the share of requests in time over simulated time, for each objective; dashed, the share asked for."""
    objectives = found["objectives"]
    names = [f"{objective['name']}: {objective['objective']}" for objective in objectives]
    rows = [
        {"what": name, "s": _at(found, point["time_s"]), "share": share}
        for point in found["series"]
        for name, share in zip(names, point["in_time"], strict=True)
        if share is not None
    ]
    asked = altair.Chart(Rows([{"share": objective["asked"]} for objective in objectives]))
    rules = asked.mark_rule(color=INK, strokeDash=[2, 3]).encode(y="share:Q")
    lines = _lines(found, rows, "share", "share in time", names, percent=True)
    return styled(_with_instants(found, altair.layer(lines, rules)))


def utilisation_series(found: Json) -> ChartType:
    """Draw the utilisation of the busiest components over simulated time; of a group of copies, the maximum."""
    groups = [component["group"] for component in found["components"]]
    has_queue = {component["group"] for component in found["components"] if component["utilisation"] is not None}
    members = Counter(groups)
    named = {group: f"{group} (max)" if number > 1 else group for group, number in members.items()}
    rows = []
    most: dict[str, float] = {}
    for point in found["series"]:
        used: dict[str, float] = {}
        for group, u in zip(groups, point["utilisation"], strict=True):
            if group in has_queue:
                used[named[group]] = max(u, used.get(named[group], 0.0))
        rows += [{"what": name, "s": _at(found, point["time_s"]), "u": u} for name, u in used.items()]
        most |= {name: max(u, most.get(name, 0.0)) for name, u in used.items()}
    busiest = sorted(most, key=most.__getitem__, reverse=True)
    shown = [name for name in busiest if most[name] >= LEAST_USED * most[busiest[0]]][:MOST_CURVES]
    rows = [row for row in rows if row["what"] in shown]
    names = [name for name in named.values() if name in shown]
    return styled(_with_instants(found, _lines(found, rows, "u", "utilisation", names, percent=True)))


def level(found: Json, pool: str) -> ChartType:
    """Draw the level of a disk pool over simulated time."""
    return styled(_level(found, pool))


def level_and_purges(found: Json, pool: str, width: float, title: str) -> ChartType:
    """Draw the level of a disk pool over simulated time, above its purges in bins of a width."""
    return styled(_above(_level(found, pool, labelled=False), _purged(found, width, title)), sized=False)


def _above(level: Drawing, purges: Drawing) -> Drawing:
    return altair.vconcat(level.properties(height=LEVEL_HEIGHT), purges, spacing=8).resolve_scale(x="shared")


def _level(found: Json, path: str, *, labelled: bool = True) -> Drawing:
    rows = [
        {"what": path, "s": _at(found, point["time_s"]), "fill": point["fill"][path]}
        for point in found["series"]
        if path in point["fill"]
    ]
    lines = _lines(found, rows, "fill", "share in use", [path], percent=True, labelled=labelled)
    return _with_instants(found, lines).properties(width=WIDTH)


def _purged(found: Json, width: float, title: str) -> Drawing:
    """Draw how many purges there were in each bin; those of a segment lie in that of its middle."""
    counts: dict[int, int] = {}
    before = 0.0
    for point in found["series"]:
        end = _at(found, point["time_s"])
        at, before = int((before + end) / 2 / width), end
        counts[at] = counts.get(at, 0) + _purges(point)
    rows = [
        {"from": at * width, "to": (at + 1) * width, "purges": count, "none": 0}
        for at, count in counts.items()
        if count
    ]
    axis = altair.Axis(tickCount=6, labelOverlap="greedy", labelSeparation=6)
    x = altair.X("from:Q", title=f"simulated time, {_clock(found).name}", axis=axis)
    y = altair.Y("purges:Q", title="purges", axis=altair.Axis(tickMinStep=1, tickCount=3, format="d"))
    bars = altair.Chart(Rows(rows)).mark_bar(color=SERIES["simulated"], opacity=0.8, binSpacing=2)
    said = altair.Description("said:N")
    told = bars.transform_calculate(said=f"datum.purges + ' {title}'").encode(
        x=x, x2="to:Q", y=y, y2="none:Q", description=said
    )
    return told.properties(width=WIDTH, height=PURGES_HEIGHT)


def _purges(point: Json) -> int:
    return sum(count for key, count in point["marked"].items() if key.endswith(".purges"))


def _clock(found: Json) -> Unit:
    """Return the unit of simulated time on axes."""
    return unit(point["time_s"] * 1e3 for point in found["series"][-1:])


def _at(found: Json, seconds: float) -> float:
    return _clock(found).of(seconds * 1e3)


def drives(found: Json, at: int) -> ChartType:
    """Draw the mean number of drives in use over simulated time, of a tape library."""
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
    found: Json,
    rows: list[Json],
    field: str,
    title: str,
    names: list[str],
    *,
    percent: bool = False,
    labelled: bool = True,
) -> Drawing:
    """Draw lines over simulated time; not `labelled` where that is done below."""
    axis = altair.Axis(format="%") if percent else altair.Axis()
    scale = altair.Scale(domain=[0, 1]) if percent else altair.Scale(zero=True)
    apart = altair.Axis(tickCount=6, labelOverlap="greedy", labelSeparation=6, labels=labelled, ticks=labelled)
    return (
        altair.Chart(Rows(rows))
        .mark_line()
        .encode(
            x=altair.X("s:Q", title=f"simulated time, {_clock(found).name}" if labelled else None, axis=apart),
            y=altair.Y(f"{field}:Q", title=title, axis=axis, scale=scale),
            color=colours(names),
        )
    )


def _with_instants(found: Json, chart: Drawing) -> Drawing:
    """Draw the instants of faults over a chart, each with what happened."""
    instants = [
        {"s": _at(found, phase["from_s"]), "happened": "\n".join(phase["after"])}
        for phase in found["phases"]
        if phase["after"]
    ]
    if not instants:
        return chart
    over = altair.Chart(Rows(instants))
    lines = over.mark_rule(color=INK, strokeDash=[3, 3]).encode(x="s:Q")
    # Twice: under the curve in the colour of the panel around the letters, so that no line of the grid crosses them.
    style: Any = {"angle": 270, "lineBreak": "\n", "align": "right", "baseline": "bottom", "dy": -3, "fontSize": 11}
    around = over.mark_text(color=PANEL, stroke=PANEL, strokeWidth=4, strokeJoin="round", opacity=0.8, **style)
    both = around, over.mark_text(color=INK, **style)
    under, letters = (mark.encode(x="s:Q", y=altair.value(4), text="happened:N") for mark in both)
    return altair.layer(under, chart, lines, letters)
