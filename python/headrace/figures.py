"""The pictures of a report, as Altair charts and as SVG whose colours follow the page it stands in."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair
import vl_convert

from headrace.results import Results

Json = dict[str, Any]

WIDTH, HEIGHT = 400, 230
DASHES = [[1, 0], [6, 4], [2, 2]]
IN_BINARY = (
    "datum.value >= 1048576 ? datum.value / 1048576 + ' MiB' : "
    "datum.value >= 1024 ? datum.value / 1024 + ' KiB' : datum.value + ' B'"
)

# Placeholders that stand in a chart where a page's own colours go: see `svg`.
INK, FAINT = "#010203", "#040506"
SERIES = {"simulated": "#0a0b01", "theory": "#0a0b02", "measured": "#0a0b03", "more": "#0a0b04"}
VARIABLES = {INK: "var(--ink)", FAINT: "var(--faint)"} | {colour: f"var(--{name})" for name, colour in SERIES.items()}
# The same colours where there is no page to follow.
ALONE = {
    INK: "#222222",
    FAINT: "#cccccc",
    SERIES["simulated"]: "#2563eb",
    SERIES["theory"]: "#d97706",
    SERIES["measured"]: "#059669",
    SERIES["more"]: "#9333ea",
}

Drawing = Any  # Altair does not say what its charts become.
Points = Sequence[Sequence[float]]


def styled(chart: Drawing, *, sized: bool = True) -> Drawing:
    """Return a chart as all of them look: the page's colours, one size unless it has its own."""
    chart = chart.properties(width=WIDTH, height=HEIGHT) if sized else chart
    return (
        chart.configure(background="transparent", font="sans-serif")
        .configure_axis(
            labelColor=INK, titleColor=INK, gridColor=FAINT, domainColor=FAINT, tickColor=FAINT,
            labelFontSize=12, titleFontSize=12, titleFontWeight="normal", gridOpacity=0.5,
        )
        .configure_legend(labelColor=INK, titleColor=INK, labelFontSize=12, orient="top", title=None)
        .configure_view(stroke=None)
    )  # fmt: skip


def colours(names: list[str], *, field: str = "what", title: str | None = None) -> altair.Color:
    """Return the colours that tell these names apart."""
    palette = list(SERIES.values())
    known = [SERIES.get(name, palette[at % len(palette)]) for at, name in enumerate(names)]
    scale = altair.Scale(domain=names, range=known)
    return altair.Color(f"{field}:N", scale=scale, legend=altair.Legend(title=title, symbolOpacity=1))


def response_cdf(results: Results, stream: int) -> Drawing:
    """Draw the cdf of a stream's response time, with theory and measurement over it where there are any."""
    data, theory = results.data["streams"][stream], results.data["theory"][stream]
    curves = {"simulated": data["cdf"], "theory": theory["cdf"]}
    if data["measured"]:
        curves["measured"] = data["measured"]["all"]["measured_cdf"]
    return _cdfs({what: curve[::4] for what, curve in curves.items() if curve})


def _cdfs(curves: Mapping[str, Points]) -> Drawing:
    narrow = altair.Axis(labelOverlap="greedy", labelSeparation=6)
    x = altair.X("x:Q", title="response time, ms", scale=altair.Scale(type="log", nice=False), axis=narrow)
    y = altair.Y("y:Q", title="share of requests", axis=altair.Axis(format="%"))
    return _curves({what: [(ms, share) for ms, share in curve if ms > 0] for what, curve in curves.items()}, x, y)


def _curves(curves: Mapping[str, Points], x: altair.X, y: altair.Y) -> Drawing:
    """Draw curves over each other, told apart by colour and by dashes."""
    rows = [{"what": what, "x": a, "y": b} for what, curve in curves.items() for a, b in curve]
    names = list(curves)
    dashes = altair.StrokeDash(
        "what:N", legend=None, scale=altair.Scale(domain=names, range=[DASHES[at % 3] for at in range(len(names))])
    )
    chart = altair.Chart(altair.InlineData(values=rows)).mark_line(clip=True)
    return styled(chart.encode(x=x, y=y, color=colours(names), strokeDash=dashes))


def response_series(results: Results) -> Drawing:
    """Draw the mean response of each stream over simulated time."""
    streams = [stream["name"] for stream in results.data["streams"]]
    rows = [
        {"what": name, "s": point["time_s"], "ms": mean}
        for point in results.data["series"]
        for name, mean, answered in zip(streams, point["mean_ms"], point["answered"], strict=True)
        if answered
    ]
    return _lines(rows, "ms", "mean response, ms", streams)


def utilisation_series(results: Results) -> Drawing:
    """Draw the utilisation of components over simulated time, the busiest of what is alike."""
    groups = [component["group"] for component in results.data["components"]]
    has_queue = {component["group"] for component in results.data["components"] if component["utilisation"] is not None}
    named = {group: f"busiest {group}" if groups.count(group) > 1 else group for group in groups}
    rows = []
    for point in results.data["series"]:
        for group in dict.fromkeys(groups):
            if group in has_queue:
                used = [u for name, u in zip(groups, point["utilisation"], strict=True) if name == group]
                rows.append({"what": named[group], "s": point["time_s"], "u": max(used)})
    names = [named[group] for group in dict.fromkeys(groups) if group in has_queue]
    return _lines(rows, "u", "utilisation", names, percent=True)


def _lines(rows: list[dict[str, Any]], field: str, title: str, names: list[str], *, percent: bool = False) -> Drawing:
    axis = altair.Axis(format="%") if percent else altair.Axis()
    scale = altair.Scale(domain=[0, 1]) if percent else altair.Scale(zero=True)
    return styled(
        altair.Chart(altair.InlineData(values=rows))
        .mark_line()
        .encode(
            x=altair.X("s:Q", title="simulated time, s"),
            y=altair.Y(f"{field}:Q", title=title, axis=axis, scale=scale),
            color=colours(names),
        )
    )


def _one_line(points: Points, x: altair.X, y: altair.Y, *, steps: bool = False) -> Drawing:
    rows = [{"x": a, "y": b} for a, b in points]
    chart = altair.Chart(altair.InlineData(values=rows)).mark_line(
        color=SERIES["simulated"], interpolate="step-after" if steps else "linear"
    )
    return styled(chart.encode(x=x, y=y))


def two_cdfs(simulated: Points, measured: Points) -> Drawing:
    """Draw the cdfs of simulated and measured response times over each other."""
    return _cdfs({"simulated": simulated, "measured": measured})


def trace_rate(info: Json) -> Drawing:
    """Draw how many requests a second come, over time."""
    x, y = altair.X("x:Q", title="time, s"), altair.Y("y:Q", title="requests a second")
    return _one_line(info["arrivals"]["over_time"], x, y)


def trace_sizes(info: Json) -> Drawing:
    """Draw the cdf of the requests' sizes."""
    axis = altair.Axis(labelExpr=IN_BINARY)
    x = altair.X("x:Q", title="size", scale=altair.Scale(type="log", base=2, nice=False), axis=axis)
    y = altair.Y("y:Q", title="share of requests", axis=altair.Axis(format="%"), scale=altair.Scale(domain=[0, 1]))
    return _one_line([(info["sizes"]["least"], 0.0), *info["sizes"]["cdf"]], x, y, steps=True)


def trace_popularity(info: Json) -> Drawing:
    """Draw which share of the requests goes to the most popular regions."""
    x = altair.X("x:Q", title="most popular regions", axis=altair.Axis(format="%"))
    y = altair.Y("y:Q", title="share of requests", axis=altair.Axis(format="%"), scale=altair.Scale(domain=[0, 1]))
    return _one_line([(0.0, 0.0), *info["places"]["popularity"], (1.0, 1.0)], x, y)


def device_rates(device: Json) -> Drawing:
    """Draw a device's media rate by place."""
    x = altair.X("x:Q", title="place, share of the capacity from the outside", axis=altair.Axis(format="%"))
    y = altair.Y("y:Q", title="media rate, MB/s", scale=altair.Scale(zero=True))
    return _one_line(device["zone_rates"], x, y)


def device_seeks(device: Json) -> Drawing:
    """Draw a device's seek times by distance, of reads and of writes."""
    curves = {"reads": device["seek_read"], "writes": device["seek_write"]}
    x = altair.X("x:Q", title="distance, cylinders", axis=altair.Axis(format="~s"))
    return _curves(curves, x, altair.Y("y:Q", title="seek time, ms"))


def svg(chart: Drawing, colours: dict[str, str] | None = None) -> str:
    """Return a chart as SVG: by default in the colours of the page it stands in (`--ink`, `--simulated` …)."""
    drawn = str(vl_convert.vegalite_to_svg(chart.to_dict()))
    for placeholder, colour in (VARIABLES if colours is None else colours).items():
        drawn = drawn.replace(placeholder, colour)
    return drawn


FIGURES: dict[str, Callable[[Results], Drawing]] = {
    "response_series": response_series,
    "utilisation_series": utilisation_series,
}


def export(results: Results, folder: str | Path) -> list[Path]:
    """Write every figure of the results into a folder, as SVG and as PNG; return the files."""
    charts = {name: draw(results) for name, draw in FIGURES.items()}
    charts |= {
        f"response_cdf_{stream['name']}": response_cdf(results, at)
        for at, stream in enumerate(results.data["streams"])
        if stream["cdf"]
    }
    return save(charts, folder)


def save(charts: Mapping[str, Drawing], folder: str | Path) -> list[Path]:
    """Write charts into a folder, each by its name as SVG and as PNG; return the files."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, chart in charts.items():
        drawn = svg(chart, ALONE)
        (folder / f"{name}.svg").write_text(drawn, encoding="utf-8")
        (folder / f"{name}.png").write_bytes(vl_convert.svg_to_png(drawn, scale=2))
        written += [folder / f"{name}.svg", folder / f"{name}.png"]
    return written
