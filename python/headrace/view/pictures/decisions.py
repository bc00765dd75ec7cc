"""The pictures of decisions: differences, values that were tried, designs by two goals, effects."""

import altair

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison
from headrace.experiment.objective import Objective, asked_for
from headrace.experiment.optimise import Optimum
from headrace.experiment.sensitivity import Sensitivity
from headrace.times import MS
from headrace.view.pictures.chart import INK, SERIES, Drawing, colours, styled
from headrace.view.tables.decisions import VERDICTS, column, unit_of_effects, with_unit
from headrace.view.tables.experiment import metric_title

# The metrics of a comparison that are drawn: shares of A are comparable with each other.
KINDS = {"Pareto-optimal": "circle", "dominated": "square", "breaks a constraint": "cross"}
DRAWN = (".mean_ms", ".p99_ms", ".requests_per_s", ".utilisation")


def differences(found: Comparison) -> Drawing:
    """Draw by how much B differs from A, in percent of A, each with its interval."""
    drawn = [one for one in found.differences if one.metric.endswith(DRAWN) and one.percent]
    rows = [
        {
            "name": metric_title(one.metric).removesuffix(", ms"),
            "x": middle,
            "low": middle - half,
            "high": middle + half,
        }
        for one in drawn
        for middle, half in [one.percent or (0.0, 0.0)]
    ]
    data = altair.Chart(altair.InlineData(values=rows))
    name = altair.Y("name:N", title=None, sort=None, axis=altair.Axis(labelLimit=220))
    title = "difference of B from A, %"
    span = data.mark_rule(color=SERIES["simulated"], strokeWidth=3).encode(
        x=altair.X("low:Q", title=title), x2="high:Q", y=name
    )
    point = data.mark_point(color=SERIES["simulated"], filled=True, size=60).encode(
        x=altair.X("x:Q", title=title), y=name
    )
    none = altair.Chart(altair.InlineData(values=[{"x": 0}])).mark_rule(color=INK, strokeDash=[3, 3]).encode(x="x:Q")
    return styled((none + span + point).properties(width=420, height=24 * max(len(rows), 2)), sized=False)


def tried(found: Capacity, goal: Objective) -> Drawing:
    """Draw what was found at each value that was tried, with its interval, and the bound."""
    words, of = VERDICTS, column(goal, [probe.found for probe in found.probes])
    rows = [
        {"x": probe.number, "y": middle, "low": middle - half, "high": middle + half, "what": words[probe.meets]}
        for probe in found.probes
        if goal.text in probe.found
        for middle, half in [map(of.of, probe.found[goal.text])]
    ]
    data = altair.Chart(altair.InlineData(values=rows))
    probe = found.probes[0]
    path = with_unit(found.path, probe.value, probe.number)
    x = altair.X("x:Q", title=path, scale=altair.Scale(zero=False), axis=altair.Axis(format="~s"))
    title = of.title
    y = altair.Y("y:Q", title=title, scale=altair.Scale(zero=False))
    names = [name for name in words.values() if any(row["what"] == name for row in rows)]
    span = data.mark_rule(color=INK, opacity=0.5).encode(x=x, y=altair.Y("low:Q", title=title), y2="high:Q")
    shape = altair.Shape("what:N", legend=None, scale=altair.Scale(domain=names, range=["circle", "cross", "square"]))
    point = data.mark_point(filled=True, size=60).encode(x=x, y=y, color=colours(names), shape=shape)
    bound = altair.Chart(altair.InlineData(values=[{"y": of.of(goal.bound or 0.0)}])).mark_rule(
        color=INK, strokeDash=[4, 3]
    )
    return styled(span + bound.encode(y="y:Q") + point)


def effects(found: Sensitivity) -> Drawing:
    """Draw how much each place matters, with its interval, the largest on top."""
    by_size = sorted(found.effects, key=lambda effect: -effect.effect[0])
    of = unit_of_effects(found)
    rows = [
        {"name": one.place, "x": middle, "low": middle - half, "high": middle + half}
        for one in by_size
        for middle, half in [map(of.of, one.effect) if of else one.effect]
    ]
    data = altair.Chart(altair.InlineData(values=rows))
    name = altair.Y("name:N", title=None, sort=None, axis=altair.Axis(labelLimit=220))
    title = (
        f"effect over its range on {metric_title(found.metric, of or MS)}"
        if found.method == "morris"
        else f"share of the variance of {asked_for(found.metric)}"
    )
    bar = data.mark_bar(color=SERIES["simulated"], opacity=0.8, height=14).encode(
        x=altair.X("x:Q", title=title), y=name
    )
    span = data.mark_rule(color=INK).encode(x=altair.X("low:Q", title=title), x2="high:Q", y=name)
    return styled((bar + span).properties(width=420, height=28 * max(len(rows), 2)), sized=False)


def front(found: Optimum) -> Drawing:
    """Draw all designs by their first two goals, the Pareto-optimal ones in the first colour."""
    (first, _), (second, _) = found.goals[:2]
    best = {trial.point.key for trial in found.front}
    by_first, by_second = (column(goal, [trial.values for trial in found.trials]) for goal in (first, second))
    rows = [
        {
            "x": by_first.of(trial.values[first.text][0]),
            "y": by_second.of(trial.values[second.text][0]),
            "what": "Pareto-optimal"
            if trial.point.key in best
            else "breaks a constraint"
            if trial.passed
            else "dominated",
        }
        for trial in found.trials
        if trial.values
    ]
    chart = altair.Chart(altair.InlineData(values=rows)).mark_point(filled=True, size=60)
    names = [name for name in KINDS if any(row["what"] == name for row in rows)]
    shape = altair.Shape("what:N", legend=None, scale=altair.Scale(domain=names, range=[KINDS[name] for name in names]))
    near = altair.Scale(zero=False)
    x, y = altair.X("x:Q", title=by_first.title, scale=near), altair.Y("y:Q", title=by_second.title, scale=near)
    return styled(chart.encode(x=x, y=y, color=colours(names), shape=shape))
