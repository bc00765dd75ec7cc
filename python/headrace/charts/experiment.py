"""The charts of an experiment, chosen by how many places vary."""

from collections.abc import Sequence
from typing import Any

import altair
from altair.typing import ChartType

from headrace.charts.data import OVERLOADED, Place
from headrace.charts.style import FAINT, IN_BYTES, INK, SERIES, Drawing, Rows, colours, shapes, styled, whole
from headrace.experiment.design import short
from headrace.experiment.formula import quantity
from headrace.quantities import interval

Row = dict[str, Any]

# Powers of (bytes, seconds): what an axis is in, how many of it make one, and what its labels say.
UNITS: dict[tuple[int, int], tuple[str, float, str | None]] = {
    (0, 0): ("", 1.0, None),
    (0, 1): (", ms", 1e3, None),
    (1, 0): ("", 1.0, IN_BYTES),
    (1, -1): (", MB/s", 1e-6, None),
    (0, -1): (", 1/s", 1.0, None),
}
# An axis whose ends are further apart than this has equal ratios; sizes mostly double from one value to the next.
WIDE, WIDE_OF_SIZES = 30, 2
# Values that differ by less than this share of the largest are drawn above zero.
SMALL = 0.1
FACET_WIDTH, FACET_HEIGHT = 185, 130


def draw(points: Sequence[Place], places: list[str], title: str) -> ChartType:
    """Draw a metric over the places that vary: a line with its intervals, a heat map, or small multiples."""
    rows = [_row(point, places) for point in points if point.mean and not point.failed]
    if len(places) == 1:
        return styled(_lines(rows, places, title, None))
    if len(places) == 2:
        failed = [_failed(point, places) for point in points if point.failed]
        given = [list(dict.fromkeys(str(point.values.get(place, "")) for point in points)) for place in places]
        return styled(_heat_map(rows, failed, places, given))
    order = list(dict.fromkeys(row["facet"] for row in rows))
    few = _lines(rows, places, title, places[1]).properties(width=FACET_WIDTH, height=FACET_HEIGHT)
    facet = altair.Facet(
        "facet:N",
        title=", ".join(short(place, places) for place in places[2:]),
        sort=order,
        header=altair.Header(labelColor=INK, titleColor=INK, labelFontSize=12, titleFontSize=12),
    )
    return styled(few.facet(facet, columns=2), sized=False)


def _row(point: Place, places: list[str]) -> Row:
    assert point.mean
    middle, half = point.mean[0], point.mean[1] or 0.0
    values = {f"place{at}": str(point.values.get(place, "")) for at, place in enumerate(places[:2])}
    values["facet"] = ", ".join(str(point.values.get(place, "")) for place in places[2:])
    return values | {
        "x": _number(point.values.get(places[0], "")),
        "y": middle,
        # No metric is below zero, however wide the interval of few replications.
        "low": max(middle - half, min(middle, 0.0)),
        "high": middle + half,
        "said": f"{point.said}: {interval(middle, half)}",
        "label": interval(middle, half).partition(" ± ")[0],
    }


def _failed(point: Place, places: list[str]) -> Row:
    """Return the cell of a point that failed or is overloaded: the word, and why under the pointer."""
    values = {f"place{at}": str(point.values.get(place, "")) for at, place in enumerate(places)}
    return values | {
        "why": f"{point.said}: {point.failed}",
        "label": OVERLOADED if point.failed == OVERLOADED else "failed",
    }


def _number(value: object) -> float | None:
    try:
        read = quantity(value)
    except ValueError:
        return None
    return read.number * UNITS.get(read.powers, ("", 1.0, None))[1]


def _axis(rows: list[Row], place: str, places: list[str]) -> altair.X:
    """Return the axis of the first place: in numbers where its values are, else one after another."""
    title = short(place, places)
    numbers = [row["x"] for row in rows]
    if not rows or None in numbers:
        return altair.X("place0:N", title=title, sort=None)
    unit, _, labels = UNITS[quantity(rows[0]["place0"]).powers]
    scale = altair.Scale(zero=False)
    if _is_wide(numbers, WIDE_OF_SIZES if labels else WIDE):
        scale = altair.Scale(type="log", base=2 if labels else 10, nice=False)
    axis = whole(numbers, labelExpr=labels, labelFlush=True, labelOverlap="greedy") if labels else whole(numbers)
    return altair.X("x:Q", title=title + unit, scale=scale, axis=axis)


def _lines(rows: list[Row], places: list[str], title: str, by: str | None) -> Drawing:
    """Draw lines with their points and bands for their intervals, one line for each value of the place `by`."""
    data = altair.Chart(Rows(_above_zero(rows)))
    scale = _scale(rows)
    x, y = _axis(rows, places[0], places), altair.Y("y:Q", title=title, scale=scale)
    band = data.mark_area(opacity=0.25).encode(x=x, y=altair.Y("low:Q", title=title, scale=scale), y2="high:Q")
    line = data.mark_line(strokeWidth=2).encode(x=x, y=y)
    point = data.mark_point(filled=True, size=30, opacity=1).encode(x=x, y=y, description="said:N")
    if by is None:
        one = altair.value(SERIES["simulated"])
        return band.encode(color=one) + line.encode(color=one) + point.encode(color=one)
    names = list(dict.fromkeys(row["place1"] for row in sorted(rows, key=_in_order)))
    colour = colours(names, field="place1", title=short(by, places))
    shape = shapes(names, field="place1")
    return band.encode(color=colour) + line.encode(color=colour) + point.encode(color=colour, shape=shape)


def _in_order(row: Row) -> tuple[bool, float]:
    """Numbers come by size, other values in the order in which they were given."""
    number = _number(row["place1"])
    return number is None, number or 0.0


def _scale(rows: list[Row]) -> altair.Scale:
    """Return the axis of a metric: around its values, of equal ratios where they are far apart."""
    values = [row["y"] for row in rows]
    if _is_wide(values):
        return altair.Scale(type="log", nice=False)
    if not rows:
        return altair.Scale(zero=False)
    if min(row["low"] for row in rows) == max(row["high"] for row in rows):
        return altair.Scale(domain=sorted((0.9 * values[0], 1.1 * values[0])) if values[0] else [0, 1])
    # Differences that are small would fill a picture that begins at the smallest value.
    least, most = min(row["low"] for row in rows), max(row["high"] for row in rows)
    return altair.Scale(zero=most - least < SMALL * most)


def _is_wide(values: list[float], wide: float = WIDE) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) > wide


def _above_zero(rows: list[Row]) -> list[Row]:
    """Return the rows for their axis: where it has equal ratios, no interval reaches below a tenth of its middle."""
    if not _is_wide([row["y"] for row in rows]):
        return rows
    return [row | {"low": max(row["low"], row["y"] / 10)} for row in rows]


def _heat_map(rows: list[Row], failed: list[Row], places: list[str], order: list[list[str]]) -> Drawing:
    """Draw a cell for each pair of values, in the `order` in which these were given."""
    data = altair.Chart(Rows(rows))
    across = altair.X("place0:N", title=short(places[0], places), sort=order[0], axis=altair.Axis(labelAngle=0))
    down = altair.Y("place1:N", title=short(places[1], places), sort=order[1])
    strength = altair.Opacity("y:Q", scale=altair.Scale(range=[0.08, 0.55]), legend=None)
    label = data.mark_text(fontSize=12, color=INK).encode(x=across, y=down, text="label:N")
    cell = data.mark_rect(color=SERIES["simulated"]).encode(x=across, y=down, opacity=strength, description="said:N")
    drawn = cell + label
    if not failed:
        return drawn
    over = altair.Chart(Rows(failed))
    box = over.mark_rect(fill="none", stroke=FAINT, strokeDash=[3, 3], strokeWidth=1).encode(x=across, y=down)
    word = over.mark_text(fontSize=11, fontStyle="italic", color=INK).encode(
        x=across, y=down, text="label:N", description="why:N"
    )
    return drawn + box + word
