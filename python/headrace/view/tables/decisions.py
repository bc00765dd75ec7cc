"""What decisions rest on, as tables: differences, values that were tried, the best designs, effects."""

import re
from collections.abc import Mapping

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison, Difference
from headrace.experiment.design import short
from headrace.experiment.objective import Objective
from headrace.experiment.optimise import Optimum
from headrace.experiment.sensitivity import Sensitivity
from headrace.experiment.table import interval
from headrace.view.tables.experiment import metric_title
from headrace.view.words import number

HEADINGS = {"morris": ("effect over its range", "std. deviation"), "sobol": ("total share", "share by itself")}
VERDICTS = {True: "meets", False: "fails", None: "undecided"}


def titled(asked: Objective) -> str:
    """Return a metric with its unit, as columns and axes have it: `p99(reads), ms`."""
    return f"{asked.bare},{asked.unit}" if asked.unit else asked.bare


def with_unit(path: str, value: object, number: float) -> str:
    """Return a field with the unit of its values, where the numbers on an axis are in it: `rate, /s`."""
    written = re.fullmatch(r"([\d.,e+-]+)\s*(\D.*)", str(value))
    same = written and float(written[1].replace(",", "")) == number
    return f"{path}, {written[2]}" if written and same else path


def differences(found: Comparison, *, every: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return the table of differences: mean responses and rates, or every metric."""
    chosen: Mapping[str, bool] = {
        one.metric: every or one.metric.endswith((".mean_ms", ".p99_ms", "_per_s", ".utilisation"))
        for one in found.differences
    }
    table = [_difference(one) for one in found.differences if chosen[one.metric]]
    return ["", "differs", "A", "B", "difference", "in percent"], table


def _difference(one: Difference) -> list[str]:
    title, scale = metric_title(one.metric), 1.0
    if title.endswith("bytes/s"):
        title, scale = f"{title.removesuffix('bytes/s')}MB/s", 1e-6
    return [
        title,
        "yes" if one.shown else "not shown",
        number(one.a * scale),
        number(one.b * scale),
        interval(one.difference * scale, one.half_width * scale),
        f"{interval(*one.percent)} %" if one.percent else "—",
    ]


def loads(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """Return the values that were tried, in order."""
    table = [
        [
            str(probe.value),
            VERDICTS[probe.meets] + (f": {probe.why.partition(': ')[0]}" if probe.why else ""),
            *(interval(*probe.found[text]) if text in probe.found else "—" for text in found.until),
            f"{probe.busiest[0]} {probe.busiest[1]:.0%}" if probe.busiest else "",
        ]
        for probe in sorted(found.probes, key=lambda probe: probe.number)
    ]
    return [found.path, "goals" if len(found.goals) > 1 else "goal", *map(titled, found.goals), "bottleneck"], table


def front(found: Optimum) -> tuple[list[str], list[list[str]]]:
    """Return the table of the front; where no design is within the constraints, of all, the closest first."""
    shown = found.front or found.closest
    places = list(shown[0].point.values) if shown else []
    every = [*(goal for goal, _ in found.goals), *found.constraints]
    asked = [one.text for one in every]
    units = [titled(one) for one in every]
    table = [
        [*(str(trial.point.values[place]) for place in places), *(interval(*trial.values[text]) for text in asked)]
        for trial in shown
    ]
    return [*(short(place, places) for place in places), *units], table


def effects(found: Sensitivity) -> tuple[list[str], list[list[str]]]:
    """Return the table of effects, the largest first."""
    by_size = sorted(found.effects, key=lambda effect: -effect.effect[0])
    table = [[one.place, interval(*one.effect), interval(*one.alone)] for one in by_size]
    unit = ", ms" if found.method == "morris" and found.metric.endswith("_ms") else ""
    return ["", *(f"{heading}{unit}" for heading in HEADINGS[found.method])], table
