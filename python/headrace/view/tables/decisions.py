"""What decisions rest on, as tables: differences, values that were tried, the best designs, effects."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison, Difference
from headrace.experiment.design import short
from headrace.experiment.objective import Objective
from headrace.experiment.optimise import Optimum, Trial
from headrace.experiment.sensitivity import Sensitivity
from headrace.times import Unit, interval, unit
from headrace.view.tables.experiment import is_time, metric_title, scale_of
from headrace.view.words import aligned

HEADINGS = {"morris": ("effect over its range", "std. deviation"), "sobol": ("total share", "share by itself")}
VERDICTS = {True: "meets", False: "fails", None: "undecided"}


@dataclass(frozen=True)
class Column:
    """How the values of an objective are written in a column and on an axis."""

    asked: Objective
    unit: Unit

    @property
    def title(self) -> str:
        """Its heading: `p99(reads), ms`."""
        return f"{self.asked.bare}, {self.unit.name}" if self.asked.is_time else self.asked.bare

    def cell(self, middle: float, half: float | None) -> str:
        """Write a value with its interval."""
        return self.unit.interval(middle, half) if self.asked.is_time else interval(middle, half)

    def of(self, value: float) -> float:
        """Return a value as the axis counts."""
        return self.unit.of(value) if self.asked.is_time else value


def column(asked: Objective, found: Iterable[Mapping[str, tuple[float, float | None]]]) -> Column:
    """Return how an objective's values are written: those found, by the text that asks for them, and its bound."""
    values = [one[asked.text][0] for one in found if asked.text in one]
    return Column(asked, unit([*values, asked.bound]))


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


# A difference is none where both ends of its interval are nearer to nothing than this share of A.
NONE_WITHIN = 0.0005


def _difference(one: Difference) -> list[str]:
    of = unit([one.a, one.b])
    scale = scale_of(one.metric, of)
    end, least = abs(one.difference) + one.half_width, NONE_WITHIN * abs(one.a)
    nothing = not one.shown and end <= least
    return [
        metric_title(one.metric, of),
        "yes" if one.shown else "no" if nothing else "not shown",
        aligned(one.a * scale),
        aligned(one.b * scale),
        "none" if nothing else interval(one.difference * scale, one.half_width * scale),
        "—" if not one.percent else "within 0.05 %" if nothing else f"{interval(*one.percent)} %",
    ]


def loads(found: Capacity) -> tuple[list[str], list[list[str]]]:
    """Return the values that were tried, in order."""
    columns = {goal.text: column(goal, [probe.found for probe in found.probes]) for goal in found.goals}
    table = [
        [
            str(probe.value),
            VERDICTS[probe.meets] + (f": {probe.why.partition(': ')[0]}" if probe.why else ""),
            *(of.cell(*probe.found[text]) if text in probe.found else "—" for text, of in columns.items()),
            f"{probe.busiest[0]} {probe.busiest[1]:.0%}" if probe.busiest else "",
        ]
        for probe in sorted(found.probes, key=lambda probe: probe.number)
    ]
    return [
        found.path,
        "goals" if len(found.goals) > 1 else "goal",
        *(of.title for of in columns.values()),
        "bottleneck",
    ], table


def front(found: Optimum) -> tuple[list[str], list[list[str]]]:
    """Return the table of the front; where no design is within the constraints, of all, the closest first."""
    return _designs(found, found.front or found.closest)


def tried(found: Optimum) -> tuple[list[str], list[list[str]]]:
    """Return the table of all designs that ran, and what each of them is: the best first, then by the first goal."""
    goal, more = found.goals[0]
    by_goal = sorted(found.closest, key=lambda trial: trial.values[goal.text][0] * (-1 if more else 1))
    ran = sorted(by_goal, key=lambda trial: ORDER.index(standing(found, trial)))
    columns, table = _designs(found, ran)
    return [*columns, "design"], [[*row, standing(found, trial)] for row, trial in zip(table, ran, strict=True)]


# What a design is, by whether there are several goals; the best come first.
ORDER = ("best", "Pareto-optimal", "meets the constraints", "dominated", "", "breaks a constraint")


def standing(found: Optimum, trial: Trial) -> str:
    """Say what a design is among all."""
    several = len(found.goals) > 1
    if any(trial.point.key == best.point.key for best in found.front):
        return "Pareto-optimal" if several else "best"
    if trial.passed:
        return "breaks a constraint"
    return "dominated" if several else "meets the constraints" if found.constraints else ""


def _designs(found: Optimum, shown: list[Trial]) -> tuple[list[str], list[list[str]]]:
    places = list(shown[0].point.values) if shown else []
    every = [*(goal for goal, _ in found.goals), *found.constraints]
    columns = [column(one, [trial.values for trial in shown]) for one in every]
    table = [
        [
            *(str(trial.point.values[place]) for place in places),
            *(of.cell(*trial.values[of.asked.text]) for of in columns),
        ]
        for trial in shown
    ]
    return [*(short(place, places) for place in places), *(of.title for of in columns)], table


def effects(found: Sensitivity) -> tuple[list[str], list[list[str]]]:
    """Return the table of effects, the largest first."""
    by_size = sorted(found.effects, key=lambda effect: -effect.effect[0])
    of = unit_of_effects(found)
    write = of.interval if of else interval
    table = [[one.place, write(*one.effect), write(*one.alone)] for one in by_size]
    named = f", {of.name}" if of else ""
    return ["", *(f"{heading}{named}" for heading in HEADINGS[found.method])], table


def unit_of_effects(found: Sensitivity) -> Unit | None:
    """Return the unit of effects; none where they are no times."""
    is_of_times = found.method == "morris" and is_time(found.metric)
    return unit(one.effect[0] for one in found.effects) if is_of_times else None
