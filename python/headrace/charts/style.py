"""What all charts have in common: one look in Altair, and SVG whose colours follow the page it stands in."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, log, log2, log10
from typing import Any

import altair
import vl_convert
from altair.typing import ChartType

from headrace import address_space, quantities
from headrace.charts.data import Axis, Points

# A picture is drawn for a telephone, where its letters are no smaller than nine pixels; wider panels enlarge it.
WIDTH, HEIGHT = 390, 195
# The name of a quantile, written upwards: how wide and how long it is at most.
NAME_WIDTH, NAME_LENGTH = 15, 66
MOST_LABELS = 8
# Names stand in columns, or beside each other where their letters, and four for the gap of each, fit.
LEGEND_COLUMNS, LEGEND_LETTERS = 3, 60
# Longer names have a column less.
LONG_NAME = 18
DASHES = [[1, 0], [6, 4], [2, 2]]
# The largest unit of which a size is a whole number, binary or decimal as it was meant.
SIZES = {
    "TiB": 1 << 40, "TB": 10**12, "GiB": 1 << 30, "GB": 10**9, "MiB": 1 << 20, "MB": 10**6, "KiB": 1 << 10, "kB": 1000,
}  # fmt: skip
IN_BYTES = "".join(
    f"datum.value && datum.value % {many} == 0 ? datum.value / {many} + ' {unit}' : " for unit, many in SIZES.items()
)
IN_BYTES += "datum.value < 1000 ? datum.value + ' B' : format(datum.value, '.4~s') + 'B'"

# Placeholders that stand in a chart where a page's own colours go: see `svg`.
INK, FAINT, PANEL = "#010203", "#040506", "#070809"
SERIES = {
    "simulated": "#0a0b01",
    "theory": "#0a0b02",
    "measured": "#0a0b03",
    "more": "#0a0b04",
    "fifth": "#0a0b05",
    "sixth": "#0a0b06",
}
# Words whose colours mean the same on every page.
VERDICTS = {"meets": SERIES["measured"], "fails": SERIES["fifth"], "undecided": SERIES["sixth"]}
VARIABLES = {INK: "var(--ink)", FAINT: "var(--faint)", PANEL: "var(--panel)"} | {
    colour: f"var(--{name})" for name, colour in SERIES.items()
}
# The same colours where there is no page to follow.
ALONE = {
    INK: "#222222",
    FAINT: "#cccccc",
    PANEL: "#ffffff",
    SERIES["simulated"]: "#2563eb",
    SERIES["theory"]: "#d97706",
    SERIES["measured"]: "#059669",
    SERIES["more"]: "#9333ea",
    SERIES["fifth"]: "#db2777",
    SERIES["sixth"]: "#64748b",
}
# A point, bar or cell of a drawing, with its description; and a number in it.
MARK = re.compile(r'(<path aria-label=")([^"]*)("[^>]*aria-roledescription="(?:point|circle|bar|rect mark)"[^>]*)/>')
FRACTION = re.compile(r"\d+\.\d{3,}(e-?\d+)?")

Drawing = Any  # Altair does not say what its charts become.


def styled(chart: Drawing, *, sized: bool = True) -> ChartType:
    """Give a chart the look of all: the page's colours, one size unless it has its own. Return it."""
    if sized:
        chart.width, chart.height = WIDTH, HEIGHT
    chart.config = altair.Config(
        background="transparent", font="sans-serif", view=altair.ViewConfig(stroke=None),
        axis=altair.AxisConfig(
            labelColor=INK, titleColor=INK, gridColor=FAINT, domainColor=FAINT, tickColor=FAINT,
            labelFontSize=11.5, titleFontSize=11.5, titleFontWeight="normal", gridOpacity=0.5,
            labelFlush=False, labelSeparation=6, titlePadding=8,
        ),
        legend=altair.LegendConfig(
            labelColor=INK, titleColor=INK, labelFontSize=11.5, titleFontWeight="normal", orient="top",
        ),
    )  # fmt: skip
    styled: ChartType = chart
    return styled


def colours(names: list[str], *, field: str = "what", title: str | None = None) -> altair.Color:
    """Return the colours that tell these names apart."""
    own = SERIES | VERDICTS | {PUBLISHED: INK}
    # A colour that belongs to one of the names is no other's.
    taken = {own[name] for name in names if name in own}
    left = itertools.cycle([colour for colour in SERIES.values() if colour not in taken] or SERIES.values())
    known = [own.get(name) or next(left) for name in names]
    scale = altair.Scale(domain=names, range=known)
    if len(names) == 1 and title is None:  # What one curve shows, the title says.
        return altair.Color(f"{field}:N", scale=scale, legend=None)
    most = LEGEND_COLUMNS if max(map(len, names), default=0) <= LONG_NAME else LEGEND_COLUMNS - 1
    columns = len(names) if sum(map(len, names)) <= LEGEND_LETTERS - 4 * len(names) else most
    legend = altair.Legend(title=title, symbolOpacity=1, columns=columns, labelLimit=WIDTH // most)
    return altair.Color(f"{field}:N", scale=scale, legend=legend)


class Rows(altair.InlineData):
    """The data of a chart, checked when it is drawn: Altair would copy and check all of it at each step before."""

    _class_is_valid_at_instantiation = False

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        super().__init__(values=list(rows))

    def __deepcopy__(self, _: object) -> "Rows":
        return self


# Points that a paper prints are as dark as its letters.
PUBLISHED = "published"
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


def shapes(names: list[str], *, field: str) -> altair.Shape:
    """Return the shapes of points that tell these names apart without colour."""
    known = [SHAPES[at % len(SHAPES)] for at in range(len(names))]
    return altair.Shape(f"{field}:N", legend=None, scale=altair.Scale(domain=names, range=known))


def log_scale(values: Iterable[float], base: float = 10) -> altair.Scale:
    """Return a log axis for values above zero; where all are one, it reaches from half of it to its double."""
    known = [value for value in values if value > 0] or [1.0]
    ends = [min(known), max(known)]
    ends = ends if ends[0] < ends[1] else [ends[0] / 2, ends[1] * 2]
    return altair.Scale(type="log", base=base, nice=False, domain=ends)


def log_ticks(values: Iterable[float]) -> dict[str, Any]:
    """Return ticks of a log axis, as an argument of `Axis`: powers of ten, with twice and five times as much if few.

    An axis too short for two of them has the ticks that Vega gives it.
    """
    begin, end = log_scale(values).to_dict()["domain"]
    tens = range(floor(log10(begin)), ceil(log10(end)) + 1)
    steps = (1, 2, 5) if len(tens) <= FEW_TENS else (1,)
    ticks = [step * 10.0**ten for ten in tens for step in steps if begin <= step * 10.0**ten <= end]
    return {"values": ticks[:: ceil(len(ticks) / MOST_TICKS)]} if len(ticks) >= LEAST_TICKS else {}


def whole(values: Iterable[float], **style: Any) -> altair.Axis:
    """Return an axis of whole numbers: at most eight labels, each at a value that occurs; other values as they are."""
    known = sorted(set(values))
    if any(value != int(value) for value in known):
        return altair.Axis(**style)
    step = -(-len(known) // MOST_LABELS) or 1
    return altair.Axis(values=known[::step], format=",d", **style)


def cdfs(
    of: Mapping[str, Points],
    marks: Mapping[float, float] | None = None,
    aims: Sequence[tuple[float, float, str]] = (),
) -> ChartType:
    """Draw cdfs of response times over each other.

    `marks` are quantiles to be marked: share, ms; `aims` are objectives, above whose corner curves should pass: ms,
    share, and what they are called.
    """
    unit = quantities.unit(ms for curve in of.values() for ms, _ in curve[-1:])
    of = {what: [(unit.of(ms), share) for ms, share in curve if ms > 0] for what, curve in of.items()}
    times = [*(time for curve in of.values() for time, _ in curve), *(unit.of(ms) for ms, *_ in aims)]
    scale = log_scale(times)
    axis = altair.Axis(**APART, **log_ticks(times))
    x = altair.X("x:Q", title=f"response time, {unit.name}", scale=scale, axis=axis)
    y = altair.Y("y:Q", title="share of requests", axis=altair.Axis(format="%"), scale=altair.Scale(domain=[0, 1]))
    drawn = _curves(of, x, y, list(of))
    named = {share: unit.of(ms) for share, ms in (marks or {}).items()}
    drawn = _marked(named, x, scale.domain) + drawn if marks else drawn
    return styled(altair.layer(drawn, *(_aimed(unit.of(ms), share, name, x) for ms, share, name in aims)))


def _aimed(time: float, share: float, name: str, x: altair.X) -> Drawing:
    """Draw the corner of an objective with its name: the curve is to pass above it."""
    data = altair.Chart(Rows([{"x": time, "share": share, "name": name}]))
    y = altair.Y("share:Q", title="share of requests")
    corner = data.mark_point(color=INK, shape="triangle-up", size=60, filled=True).encode(x=x, y=y)
    style: Any = {"dx": -8, "dy": 12, "align": "right", "fontSize": 11}
    around = data.mark_text(color=PANEL, stroke=PANEL, strokeWidth=4, strokeJoin="round", opacity=0.8, **style)
    texts = [mark.encode(x=x, y=y, text="name:N") for mark in (around, data.mark_text(color=INK, **style))]
    return altair.layer(corner, *texts)


def _marked(marks: Mapping[float, float], x: altair.X, ends: Any) -> Drawing:
    """Draw a line from the curve to the name of each quantile; names that would touch stand above each other."""
    rows: list[dict[str, Any]] = []
    for share, time in sorted(marks.items()):
        at = log(time / ends[0]) / log(ends[1] / ends[0]) * WIDTH
        touches = bool(rows) and at - rows[-1]["at"] < NAME_WIDTH
        floor = rows[-1]["floor"] + NAME_LENGTH / HEIGHT if touches else 0.0
        name = f"p{share * 100:g} {f'{time:,.0f}' if time >= 1000 else f'{time:.3g}'}"
        rows.append({"name": name, "x": time, "share": share, "floor": floor, "at": at})
    data = altair.Chart(Rows(rows))
    floor = altair.Y("floor:Q", title="share of requests")
    line = data.mark_rule(color=INK, strokeDash=[2, 3], opacity=0.6).encode(x=x, y=floor, y2="share:Q")
    name = data.mark_text(color=INK, dx=4, dy=3, align="left", baseline="top", fontSize=11, angle=270)
    return line + name.encode(x=x, y=floor, text="name:N")


def lines(
    of: Mapping[str, Points], x: Axis, y: Axis, *, points: Mapping[str, Points], steps: bool = False
) -> ChartType:
    """Draw curves over each other, with different colours and dashes; with `steps`, as stairs; and `points` alone."""
    all_points = [point for curve in (*of.values(), *points.values()) for point in curve]
    across, up = ([point[at] for point in all_points] for at in (0, 1))
    axes = altair.X("x:Q", **_axis(x, across)), altair.Y("y:Q", **_axis(y, up))
    names = list(dict.fromkeys([*of, *points]))
    drawn = [_curves(of, *axes, names, steps=steps)] if of else []
    return styled(altair.layer(*drawn, *([_points(points, *axes, names)] if points else [])))


def _points(of: Mapping[str, Points], x: altair.X, y: altair.Y, names: list[str]) -> Drawing:
    # Many points make a cloud, whose density shows only through small ones.
    rows = [
        {"what": what, "x": a, "y": b, "size": SMALL_POINT if len(points) > FEW_POINTS else LARGE_POINT}
        for what, points in of.items()
        for a, b in points
    ]
    chart = altair.Chart(Rows(rows)).mark_point(filled=True, opacity=0.8)
    size = altair.Size("size:Q", scale=None, legend=None)
    return chart.encode(x=x, y=y, color=colours(names), size=size, shape=shapes(names, field="what"))


FEW_POINTS = 100
SMALL_POINT, LARGE_POINT = 5, 40


def _axis(of: Axis, values: list[float]) -> dict[str, Any]:
    """Return an axis as the arguments of an Altair channel."""
    channel: dict[str, Any] = {"title": of.title}
    if of.form == "whole":
        channel["axis"] = whole(values)
    elif of.form or of.log:
        ticks = _powers_of_two(values) if of.log == 2 else log_ticks(values) if of.log else {}
        channel["axis"] = altair.Axis(**(LABELS[of.form] if of.form else {}), **ticks)
    if of.log:
        channel["scale"] = log_scale(values, of.log)
    elif of.ends:
        channel["scale"] = altair.Scale(domain=of.ends)
    elif of.tight:
        channel["scale"] = altair.Scale(zero=False, nice=False)
    return channel


def _powers_of_two(values: list[float]) -> dict[str, Any]:
    """Return ticks at powers of two, at some of them where there are many; none where an axis is too short for two."""
    begin, end = log_scale(values).to_dict()["domain"]
    powers = range(ceil(log2(begin)), floor(log2(end)) + 1)
    if len(powers) < LEAST_TICKS:
        return {}
    return {"values": [2.0**power for power in powers[:: ceil(len(powers) / MOST_TICKS)]]}


LEAST_TICKS, MOST_TICKS = 2, 12
# Of so few powers of ten, what lies between two is marked as well.
FEW_TENS = 4


APART: dict[str, Any] = {"labelOverlap": "greedy", "labelSeparation": 6}
LABELS: dict[str, dict[str, Any]] = {
    "percent": {"format": "%"},
    "bytes": APART | {"labelExpr": IN_BYTES, "labelSeparation": 8},
    "short": {"format": "~s"},
    "counts": {"tickMinStep": 1},
    "few": {"tickCount": 6},
    "apart": APART | {"format": ",~f"},
}


def _curves(of: Mapping[str, Points], x: altair.X, y: altair.Y, names: list[str], *, steps: bool = False) -> Drawing:
    """Draw curves of these `names`, and others: dashes, shapes and colours of the same names have one legend."""
    rows = [{"what": what, "x": a, "y": b} for what, curve in of.items() for a, b in curve]
    dashes = altair.StrokeDash(
        "what:N", legend=None, scale=altair.Scale(domain=names, range=[_dashes(at) for at in range(len(names))])
    )
    shape: dict[str, Any] = {"interpolate": "step-after"} if steps else {}
    chart = altair.Chart(Rows(rows)).mark_line(clip=True, **shape)
    return chart.encode(x=x, y=y, color=colours(names), strokeDash=dashes)


def _dashes(at: int) -> list[int]:
    """Return the dashes of a curve: those of a colour that comes again differ."""
    return DASHES[(at + at // len(SERIES)) % len(DASHES)]


def spec(chart: ChartType) -> dict[str, Any]:
    """Return a chart as Vega-Lite reads it, unchecked: Altair has checked its parts as they were made."""
    found: dict[str, Any] = chart.to_dict(validate=False)
    return found


def svg(chart: ChartType) -> str:
    """Return a chart as SVG, in the colours of the page it stands in (`--ink`, `--simulated` …).

    Raises `OSError` where `ulimit -v` leaves too little address space for that.
    """
    address_space.check()
    drawn = MARK.sub(_with_tooltip, str(vl_convert.vegalite_to_svg(spec(chart))))
    for placeholder, colour in VARIABLES.items():
        drawn = drawn.replace(placeholder, colour)
    return drawn


def _with_tooltip(mark: re.Match[str]) -> str:
    """Give a point or a bar its description as a tooltip, which needs no script."""
    said = FRACTION.sub(lambda number: f"{float(number[0]):.4g}", mark[2])
    return f"{mark[1]}{said}{mark[3]}><title>{said}</title></path>"


def alone(chart: ChartType) -> ChartType:
    """Return a chart in colours of its own, on a ground of its own, for where there is no page to follow."""
    drawn = chart.to_json()
    for placeholder, colour in ALONE.items():
        drawn = drawn.replace(placeholder, colour)
    coloured: ChartType = altair.Chart.from_json(drawn)
    coloured.config.background = ALONE[PANEL]
    return coloured
