"""What decisions rest on, as tables: differences, values that were tried, the best designs, effects."""

from collections.abc import Mapping

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison, Difference
from headrace.experiment.design import short
from headrace.experiment.objective import TIMES, Objective
from headrace.experiment.optimise import Optimum
from headrace.experiment.sensitivity import Sensitivity
from headrace.experiment.table import interval
from headrace.view.tables.experiment import metric_title
from headrace.view.words import number

HEADINGS = {"morris": ("effect over its range", "std. deviation"), "sobol": ("total share", "share by itself")}
VERDICTS = {True: "meets", False: "fails", None: "undecided"}


def titled(asked: Objective) -> str:
    """Return a metric with its unit, as columns and axes have it: `p99(reads), ms`."""
    metric = asked.text.partition(">")[0].partition("<")[0].strip()
    return f"{metric}, ms" if asked.what in TIMES else metric


def differences(found: Comparison, *, every: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return the table of differences: mean responses and rates, or every metric."""
    chosen: Mapping[str, bool] = {
        one.metric: every or one.metric.endswith((".mean_ms", ".p99_ms", "_per_s", ".utilisation"))
        for one in found.differences
    }
    table = [_difference(one) for one in found.differences if chosen[one.metric]]
    return ["", "A", "B", "difference", "in percent", "differs"], table


def _difference(one: Difference) -> list[str]:
    title, scale = metric_title(one.metric), 1.0
    if title.endswith("bytes/s"):
        title, scale = f"{title.removesuffix('bytes/s')}MB/s", 1e-6
    return [
        title,
        number(one.a * scale),
        number(one.b * scale),
        interval(one.difference * scale, one.half_width * scale),
        f"{interval(*one.percent)} %" if one.percent else "—",
        "yes" if one.shown else "not shown",
    ]


def loads(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """Return the values that were tried, in order."""
    table = [
        [
            str(probe.value),
            *(interval(*probe.found[text]) if text in probe.found else "—" for text in found.until),
            f"{probe.busiest[0]} {probe.busiest[1]:.0%}" if probe.busiest else "",
            VERDICTS[probe.meets] + (f": {probe.why.partition(': ')[0]}" if probe.why else ""),
        ]
        for probe in sorted(found.probes, key=lambda probe: probe.number)
    ]
    return [found.path, *found.until, "bottleneck", ""], table


def front(found: Optimum) -> tuple[list[str], list[list[str]]]:
    """Return the table of the front."""
    places = list(found.front[0].point.values) if found.front else []
    asked = [goal.text for goal, _ in found.goals] + [one.text for one in found.constraints]
    units = [titled(goal) for goal, _ in found.goals]
    table = [
        [*(str(trial.point.values[place]) for place in places), *(interval(*trial.values[text]) for text in asked)]
        for trial in found.front
    ]
    return [*(short(place, places) for place in places), *units, *asked[len(units) :]], table


def effects(found: Sensitivity) -> tuple[list[str], list[list[str]]]:
    """Return the table of effects, the largest first."""
    by_size = sorted(found.effects, key=lambda effect: -effect.effect[0])
    table = [[one.place, interval(*one.effect), interval(*one.alone)] for one in by_size]
    return ["", *HEADINGS[found.method]], table
