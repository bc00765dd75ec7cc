"""The pictures of an experiment, chosen by how many places vary."""

from typing import Any

import altair

from headrace.experiment.design import Point, Value, short
from headrace.experiment.formula import quantity
from headrace.experiment.table import Table
from headrace.view.pictures.chart import DASHES, FAINT, IN_BINARY, INK, SERIES, Drawing, colours, styled, whole
from headrace.view.tables.experiment import is_time, metric_title, unit_of

Json = dict[str, Any]

# Powers of (bytes, seconds): what an axis is in, how many of it make one, and what its labels say.
UNITS: dict[tuple[int, int], tuple[str, float, str | None]] = {
    (0, 0): ("", 1.0, None),
    (0, 1): (", ms", 1e3, None),
    (1, 0): ("", 1.0, IN_BINARY),
    (1, -1): (", MB/s", 1e-6, None),
    (0, -1): (", 1/s", 1.0, None),
}
# An axis whose ends are further apart than this has equal ratios.
WIDE = 30


def of(table: Table, metric: str) -> Drawing:
    """Draw a metric over the places that vary: a line with its intervals, a heat map, or small multiples."""
    places = list(table.experiment.places)
    unit = unit_of(table, metric)
    title, scale = metric_title(metric, unit), unit.ms if is_time(metric) else 1.0
    every = [_row(table, point, metric, places) for point in table.experiment.points]
    rows = [row | {name: row[name] / scale for name in ("y", "low", "high")} for row in every if row is not None]
    if len(places) == 1:
        return styled(_lines(rows, places, title, None))
    if len(places) == 2:
        failed = [_failed(table, point, places) for point in table.experiment.points if table.reason(point) is not None]
        return styled(_heat_map(rows, failed, places))
    order = list(dict.fromkeys(row["facet"] for row in rows))
    few = _lines(rows, places, title, places[1]).properties(width=260, height=180)
    facet = altair.Facet(
        "facet:N",
        title=", ".join(short(place, places) for place in places[2:]),
        sort=order,
        header=altair.Header(labelColor=INK, titleColor=INK),
    )
    return styled(few.facet(facet, columns=4), sized=False)


def _row(table: Table, point: Point, metric: str, places: list[str]) -> Json | None:
    found = table.mean(point, metric)
    if found is None or table.reason(point) is not None:
        return None
    middle, half = found[0], found[1] or 0.0
    values = {f"place{at}": str(point.values.get(place, "")) for at, place in enumerate(places[:2])}
    values["facet"] = ", ".join(str(point.values.get(place, "")) for place in places[2:])
    number = _number(point.values.get(places[0], ""))
    return values | {"x": number, "y": middle, "low": middle - half, "high": middle + half}


def _failed(table: Table, point: Point, places: list[str]) -> Json:
    """Return the cell of a point that failed: the word, and why where the pointer rests on it."""
    values = {f"place{at}": str(point.values.get(place, "")) for at, place in enumerate(places)}
    return values | {"why": f"{point}: {table.reason(point)}", "label": "failed"}


def _number(value: Value) -> float | None:
    try:
        read = quantity(value)
    except ValueError:
        return None
    return read.number * UNITS.get(read.powers, ("", 1.0, None))[1]


def _axis(rows: list[Json], place: str, places: list[str]) -> altair.X:
    """Return the axis of the first place: in numbers where its values are, else one after another."""
    title = short(place, places)
    numbers = [row["x"] for row in rows]
    if not rows or None in numbers:
        return altair.X("place0:N", title=title, sort=None)
    unit, _, labels = UNITS[quantity(rows[0]["place0"]).powers]
    wide = min(numbers) > 0 and max(numbers) / min(numbers) > WIDE
    scale = altair.Scale(type="log", base=2 if labels else 10, nice=False) if wide else altair.Scale(zero=False)
    axis = altair.Axis(labelExpr=labels) if labels else whole(numbers)
    return altair.X("x:Q", title=title + unit, scale=scale, axis=axis)


def _lines(rows: list[Json], places: list[str], title: str, by: str | None) -> Drawing:
    """Draw lines with bands for their intervals, one line for each value of the place `by`."""
    data = altair.Chart(altair.InlineData(values=rows))
    x, y = _axis(rows, places[0], places), altair.Y("y:Q", title=title, scale=altair.Scale(zero=False))
    band = altair.Y("low:Q", title=title, scale=altair.Scale(zero=False))
    if by is None:
        line = data.mark_line(color=SERIES["simulated"], point=altair.OverlayMarkDef(color=SERIES["simulated"]))
        return data.mark_area(opacity=0.25, color=SERIES["simulated"]).encode(x=x, y=band, y2="high:Q") + line.encode(
            x=x, y=y
        )
    names = list(dict.fromkeys(row["place1"] for row in rows))
    colour = colours(names, field="place1", title=short(by, places))
    dashes = [DASHES[at % 3] for at in range(len(names))]
    dash = altair.StrokeDash("place1:N", legend=None, scale=altair.Scale(domain=names, range=dashes))
    return data.mark_area(opacity=0.25).encode(x=x, y=band, y2="high:Q", color=colour) + data.mark_line().encode(
        x=x, y=y, color=colour, strokeDash=dash
    )


def _heat_map(rows: list[Json], failed: list[Json], places: list[str]) -> Drawing:
    data = altair.Chart(altair.InlineData(values=rows))
    order = {at: list(dict.fromkeys(row[f"place{at}"] for row in [*rows, *failed])) for at in (0, 1)}
    across = altair.X("place0:N", title=short(places[0], places), sort=order[0], axis=altair.Axis(labelAngle=0))
    down = altair.Y("place1:N", title=short(places[1], places), sort=order[1])
    strength = altair.Opacity("y:Q", scale=altair.Scale(range=[0.08, 0.75]), legend=None)
    label = data.mark_text(fontSize=12, color=INK).encode(x=across, y=down, text=altair.Text("y:Q", format=".4~g"))
    drawn = data.mark_rect(color=SERIES["simulated"]).encode(x=across, y=down, opacity=strength) + label
    if not failed:
        return drawn
    over = altair.Chart(altair.InlineData(values=failed))
    box = over.mark_rect(fill="none", stroke=FAINT, strokeDash=[3, 3], strokeWidth=1).encode(x=across, y=down)
    word = over.mark_text(fontSize=11, fontStyle="italic", color=INK).encode(
        x=across, y=down, text="label:N", description="why:N"
    )
    return drawn + box + word
