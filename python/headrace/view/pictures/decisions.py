"""The pictures of decisions: differences, values that were tried, designs by two goals, effects."""

from typing import Any

import altair

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison
from headrace.experiment.objective import Objective, asked_for
from headrace.experiment.optimise import Optimum, Trial
from headrace.experiment.sensitivity import Sensitivity
from headrace.times import MS, interval
from headrace.view.pictures.chart import INK, SERIES, Drawing, colours, styled
from headrace.view.tables.decisions import VERDICTS, Column, column, standing, unit_of_effects, with_unit
from headrace.view.tables.experiment import metric_name, metric_title

# What designs are on a drawing.
KINDS = {
    "Pareto-optimal": "circle",
    "best": "circle",
    "dominated": "square",
    "meets the constraints": "square",
    "breaks a constraint": "cross",
}
# A drawing beside names: its width, how many characters they have, the height of a row.
BESIDE_NAMES, LONGEST_NAME, ROW_HEIGHT = 255, 32, 22
# Axes whose ends are further apart than this have equal ratios.
WIDE = 4
# Designs by one goal are drawn of at most this many.
MOST_DESIGNS = 20
# The metrics of a comparison that are drawn: shares of A are comparable with each other.
DRAWN = (".mean_ms", ".p99_ms", ".requests_per_s", ".utilisation")


def differences(found: Comparison) -> Drawing:
    """Draw by how much B differs from A, in percent of A, each with its interval."""
    rows: list[dict[str, Any]] = [
        {
            "name": _name(one.metric),
            "x": middle,
            "low": middle - half,
            "high": middle + half,
            "said": f"{metric_name(one.metric)}: {interval(middle, half)} %",
        }
        for one in found.differences
        if one.metric.endswith(DRAWN) and one.percent
        for middle, half in [one.percent]
    ]
    data = altair.Chart(altair.InlineData(values=rows))
    name = altair.Y("name:N", title=None, sort=None, axis=altair.Axis(labelLimit=0))
    axis = altair.Axis(tickCount=6)
    title = "difference of B from A, %"
    span = data.mark_rule(color=SERIES["simulated"], strokeWidth=3).encode(
        x=altair.X("low:Q", title=title, axis=axis), x2="high:Q", y=name
    )
    point = data.mark_point(color=SERIES["simulated"], filled=True, size=60).encode(
        x=altair.X("x:Q", title=title, axis=axis), y=name, description="said:N"
    )
    none = altair.Chart(altair.InlineData(values=[{"x": 0}])).mark_rule(color=INK, strokeDash=[3, 3]).encode(x="x:Q")
    height = ROW_HEIGHT * max(len(rows), 2)
    return styled((none + span + point).properties(width=BESIDE_NAMES, height=height), sized=False)


def _name(metric: str) -> str:
    """Return the name of a metric, short enough to stand beside a drawing: of a long one its end says what it is."""
    of, _, what = metric_name(metric).rpartition(": ")
    room = LONGEST_NAME - len(what)
    return f"{of if len(of) <= room else of[: room - 1] + '…'}: {what}"


def tried(found: Capacity, goal: Objective) -> Drawing:
    """Draw what was found at each value that was tried, with its interval, and the bound."""
    words, of = VERDICTS, column(goal, [probe.found for probe in found.probes])
    bound = of.of(goal.bound or 0.0)
    rows: list[dict[str, Any]] = [
        {
            "x": probe.number,
            "y": middle,
            "low": max(middle - half, middle / 10),
            "high": middle + half,
            "what": words[probe.meets],
            "said": f"{probe.value}: {interval(middle, half)}, {words[probe.meets]}",
        }
        for probe in found.probes
        if goal.text in probe.found
        for middle, half in [map(of.of, probe.found[goal.text])]
    ]
    data = altair.Chart(altair.InlineData(values=rows))
    probe = found.probes[0]
    path = with_unit(found.path, probe.value, probe.number)
    x = altair.X("x:Q", title=path, scale=_near([row["x"] for row in rows]), axis=altair.Axis(format="~s", tickCount=6))
    near = _near([bound, *(row["y"] for row in rows)])
    y = altair.Y("y:Q", title=of.title, scale=near, axis=altair.Axis(format=",~g", tickCount=6))
    names = [name for name in words.values() if any(row["what"] == name for row in rows)]
    span = data.mark_rule(color=INK, opacity=0.5).encode(x=x, y=altair.Y("low:Q", title=of.title), y2="high:Q")
    shape = altair.Shape("what:N", legend=None, scale=altair.Scale(domain=names, range=["circle", "cross", "square"]))
    point = data.mark_point(filled=True, size=60).encode(
        x=x, y=y, color=colours(names), shape=shape, description="said:N"
    )
    line = altair.Chart(altair.InlineData(values=[{"y": bound}])).mark_rule(color=INK, strokeDash=[4, 3])
    return styled(span + line.encode(y="y:Q") + point)


def _near(values: list[float]) -> altair.Scale:
    """Return an axis around values: of equal ratios where they are far apart, so that the near ones stay apart."""
    if min(values, default=0) > 0 and max(values) / min(values) > WIDE:
        return altair.Scale(type="log", nice=False, padding=8)
    return altair.Scale(zero=False)


def effects(found: Sensitivity) -> Drawing:
    """Draw how much each place matters, with its interval, the largest on top."""
    by_size = sorted(found.effects, key=lambda effect: -effect.effect[0])
    of = unit_of_effects(found)
    rows: list[dict[str, Any]] = [
        {
            "name": one.place if len(one.place) <= LONGEST_NAME else f"…{one.place[1 - LONGEST_NAME :]}",
            "x": middle,
            "low": middle - half,
            "high": middle + half,
            "said": f"{one.place}: {interval(middle, half)}",
        }
        for one in by_size
        for middle, half in [map(of.of, one.effect) if of else one.effect]
    ]
    data = altair.Chart(altair.InlineData(values=rows))
    name = altair.Y("name:N", title=None, sort=None, axis=altair.Axis(labelLimit=0))
    title = (
        f"effect over its range on {metric_title(found.metric, of or MS)}"
        if found.method == "morris"
        else f"share of the variance of {asked_for(found.metric)}"
    )
    bar = data.mark_bar(color=SERIES["simulated"], opacity=0.8, height=14).encode(
        x=altair.X("x:Q", title=title, axis=altair.Axis(tickCount=6)), y=name, description="said:N"
    )
    span = data.mark_rule(color=INK).encode(x=altair.X("low:Q", title=title), x2="high:Q", y=name)
    height = ROW_HEIGHT * max(len(rows), 2)
    return styled((bar + span).properties(width=BESIDE_NAMES, height=height), sized=False)


def front(found: Optimum) -> Drawing:
    """Draw all designs by two of their values, the Pareto-optimal ones in the first colour.

    These are the first two goals; of a single goal, itself and the first constraint with its bound.
    """
    goals = [goal for goal, _ in found.goals]
    first, second = [*goals, *found.constraints][:2]
    by = [column(goal, [trial.values for trial in found.trials]) for goal in (first, second)]
    rows: list[dict[str, Any]] = [
        {
            "x": by[0].of(trial.values[first.text][0]),
            "y": by[1].of(trial.values[second.text][0]),
            "what": standing(found, trial),
            "said": f"{trial.point}: {by[0].title} {_of(by[0], trial)}, {by[1].title} {_of(by[1], trial)}",
        }
        for trial in found.trials
        if trial.values
    ]
    chart = altair.Chart(altair.InlineData(values=rows)).mark_point(filled=True, size=60)
    names = [name for name in KINDS if any(row["what"] == name for row in rows)]
    shape = altair.Shape("what:N", legend=None, scale=altair.Scale(domain=names, range=[KINDS[name] for name in names]))
    x, y = (
        field(f"{name}:Q", title=of.title, scale=_near([row[name] for row in rows]), axis=altair.Axis(tickCount=6))
        for field, name, of in ((altair.X, "x", by[0]), (altair.Y, "y", by[1]))
    )
    drawn = chart.encode(x=x, y=y, color=colours(names), shape=shape, description="said:N")
    if second.bound is None:
        return styled(drawn)
    bound = altair.Chart(altair.InlineData(values=[{"y": by[1].of(second.bound)}]))
    return styled(bound.mark_rule(color=INK, strokeDash=[4, 3]).encode(y="y:Q") + drawn)


def _of(of: Column, trial: Trial) -> str:
    return of.cell(*trial.values[of.asked.text])


def ranked(found: Optimum) -> Drawing:
    """Draw the designs by their only goal, with its interval, the best on top."""
    [(goal, more)] = found.goals
    known = [trial for trial in found.trials if trial.values]
    of = column(goal, [trial.values for trial in known])
    by_goal = sorted(known, key=lambda trial: trial.values[goal.text][0] * (-1 if more else 1))[:MOST_DESIGNS]
    rows: list[dict[str, Any]] = [
        {
            "name": f"{'…' if len(str(trial.point)) > LONGEST_NAME else ''}{str(trial.point)[1 - LONGEST_NAME :]}",
            "x": middle,
            "low": middle - half,
            "high": middle + half,
            "said": f"{trial.point}: {of.title} {_of(of, trial)}",
        }
        for trial in by_goal
        for middle, half in [(of.of(trial.values[goal.text][0]), of.of(trial.values[goal.text][1] or 0.0))]
    ]
    data = altair.Chart(altair.InlineData(values=rows))
    name = altair.Y("name:N", title=None, sort=None, axis=altair.Axis(labelLimit=0))
    x, low = (
        altair.X(f"{field}:Q", title=of.title, scale=altair.Scale(zero=False), axis=altair.Axis(tickCount=6))
        for field in ("x", "low")
    )
    point = data.mark_point(color=SERIES["simulated"], filled=True, size=60).encode(x=x, y=name, description="said:N")
    span = data.mark_rule(color=SERIES["simulated"], strokeWidth=3).encode(x=low, x2="high:Q", y=name)
    height = ROW_HEIGHT * max(len(rows), 2)
    return styled((span + point).properties(width=BESIDE_NAMES, height=height), sized=False)
