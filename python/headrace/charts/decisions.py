"""The charts of decisions: values beside their names, and points by two numbers."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import altair
from altair.typing import ChartType

from headrace.charts.data import Named, Spot
from headrace.charts.style import INK, SERIES, Drawing, Rows, colours, styled

# A chart beside names: its width, how many characters they have, the height of a row.
BESIDE_NAMES, LONGEST_NAME, ROW_HEIGHT = 255, 32, 22
# Axes whose ends are further apart than this have equal ratios.
WIDE = 4
# Ticks of an axis.
FEW = 6


def named(values: Sequence[Named], title: str, *, look: Literal["differences", "effects", "values"]) -> ChartType:
    """Draw values with their intervals beside their names, in their order: as points from zero or not, or as bars."""
    rows = [
        {
            "name": one.name,
            "x": one.middle,
            "low": one.middle - one.half,
            "high": one.middle + one.half,
            "said": one.said,
        }
        for one in values
    ]
    data = altair.Chart(Rows(rows))
    name = altair.Y("name:N", title=None, sort=None, axis=altair.Axis(labelLimit=0))
    scale: dict[str, Any] = {"scale": altair.Scale(zero=False)} if look == "values" else {}
    x, low = (altair.X(f"{end}:Q", title=title, axis=altair.Axis(tickCount=FEW), **scale) for end in ("x", "low"))
    drawn = _bars(data, x, low, name) if look == "effects" else _points(data, x, low, name)
    if look == "differences":
        zero = altair.Chart(Rows([{"x": 0}])).mark_rule(color=INK, strokeDash=[3, 3])
        drawn = zero.encode(x="x:Q") + drawn
    return styled(drawn.properties(width=BESIDE_NAMES, height=ROW_HEIGHT * max(len(rows), 2)), sized=False)


def _bars(data: Drawing, x: altair.X, low: altair.X, name: altair.Y) -> Drawing:
    bar = data.mark_bar(color=SERIES["simulated"], opacity=0.8, height=14)
    return bar.encode(x=x, y=name, description="said:N") + data.mark_rule(color=INK).encode(x=low, x2="high:Q", y=name)


def _points(data: Drawing, x: altair.X, low: altair.X, name: altair.Y) -> Drawing:
    span = data.mark_rule(color=SERIES["simulated"], strokeWidth=3).encode(x=low, x2="high:Q", y=name)
    point = data.mark_point(color=SERIES["simulated"], filled=True, size=60)
    return span + point.encode(x=x, y=name, description="said:N")


def spots(
    points: Sequence[Spot], x: str, y: str, shapes: Mapping[str, str], *, bound: float | None, sizes: bool = False
) -> ChartType:
    """Draw points with their intervals, with different colours and `shapes`, and the bound of `y`.

    Points are drawn by two titles; with `sizes` the numbers of `x` are short (`10k`).
    """
    rows = [vars(one) | {"low": max(one.y - one.half, one.y / 10), "high": one.y + one.half} for one in points]
    data = altair.Chart(Rows(rows))
    across = altair.Axis(format="~s", tickCount=FEW) if sizes else altair.Axis(tickCount=FEW)
    up = altair.Axis(labelExpr="format(datum.value, ',.6~g')", tickCount=FEW)
    at_x = altair.X("x:Q", title=x, scale=_near([one.x for one in points]), axis=across)
    scale = _near([*(one.y for one in points), *([] if bound is None else [bound])])
    at_y, low = (altair.Y(f"{end}:Q", title=y, scale=scale, axis=up) for end in ("y", "low"))
    names = [name for name in shapes if any(one.what == name for one in points)]
    of_shape = altair.Scale(domain=names, range=[shapes[name] for name in names])
    drawn = data.mark_point(filled=True, size=60).encode(
        x=at_x,
        y=at_y,
        color=colours(names),
        shape=altair.Shape("what:N", legend=None, scale=of_shape),
        description="said:N",
    )
    if any(one.half for one in points):
        drawn = data.mark_rule(color=INK, opacity=0.5).encode(x=at_x, y=low, y2="high:Q") + drawn
    if bound is None:
        return styled(drawn)
    line = altair.Chart(Rows([{"y": bound}])).mark_rule(color=INK, strokeDash=[4, 3])
    return styled(line.encode(y=altair.Y("y:Q", title=y, scale=scale, axis=up)) + drawn)


def _near(values: list[float]) -> altair.Scale:
    """Return an axis around values: of equal ratios where they are far apart, so that the near ones stay apart."""
    if min(values, default=0) > 0 and max(values) / min(values) > WIDE:
        return altair.Scale(type="log", nice=False, padding=8)
    return altair.Scale(zero=False)
