"""The best design under constraints: all designs are tried, or those that Optuna chooses."""

import hashlib
import itertools
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import ScenarioError
from headrace.arguments import whole
from headrace.charts.data import Named, Spot
from headrace.errors import refusal
from headrace.experiment import design, search
from headrace.experiment.columns import Column, column, ending
from headrace.experiment.design import Experiment, Point, Value, short
from headrace.experiment.engines import Engine
from headrace.experiment.objective import Objective, implied, measuring, objective, one_or_more, promised
from headrace.experiment.rounds import Watch, run, telling
from headrace.experiment.store import Store
from headrace.experiment.table import Table
from headrace.report import Chart, Medium, Report
from headrace.report import Table as Columns
from headrace.scenario import Scenario, load
from headrace.shown import InNotebook, written
from headrace.stopped import Interrupted

if TYPE_CHECKING:
    import polars
    from altair.typing import ChartType

Json = dict[str, Any]

# What a design is among all, the best first, with the mark of a chart.
SHAPES = {
    "best": "circle",
    "Pareto-optimal": "circle",
    "not shown to be worse": "diamond",
    "meets the constraints": "square",
    "dominated": "square",
    "": "square",
    "breaks a constraint": "cross",
}
# Designs by one goal are drawn of at most this many.
MOST_DESIGNS = 20


@dataclass(frozen=True)
class Trial:
    """A design that was tried."""

    point: Point
    values: dict[str, tuple[float, float | None]]
    """Values of objectives and constraints, with half-widths of their intervals."""
    passed: tuple[str, ...]
    """The constraints that it breaks; `failed` among them where it could not be run."""
    unsure: tuple[str, ...] = ()
    """The constraints whose bound lies within the interval of what was found."""
    reason: str | None = None
    """Why it could not be run."""
    error: ScenarioError | None = None
    """The mistake, where it is one."""
    unsettled: str | None = None
    """A component that was not yet in steady state: longer runs may be slower."""


@dataclass(frozen=True)
class Optimum(InNotebook):
    """The best designs (Pareto-optimal where there are several goals), and all that were tried."""

    goals: tuple[tuple[Objective, bool], ...]
    """Each with whether more is better."""
    constraints: tuple[Objective, ...]
    trials: tuple[Trial, ...]
    designs: int
    """Number of designs, tried or not."""

    @cached_property
    def front(self) -> list[Trial]:
        """The Pareto-optimal designs by the first goal: of those within the constraints none is better in every goal.

        Only designs that surely keep within the constraints; where none surely does, those that may.
        """
        possible = [trial for trial in self.trials if not trial.passed]
        fit = [trial for trial in possible if not trial.unsure] or possible
        best = [one for one in fit if not any(self._beats(other, one) for other in fit)]
        unique = {trial.point.key: trial for trial in best}
        return self._by_goal(unique.values())

    def report(self, file: str | Path | None = None, *, title: str = "best designs") -> Report:
        """Return the report of the search; with `file`, write it as one HTML page: whole, or not at all."""
        several = len(self.goals) > 1 and bool(self.front)
        best = Columns(*self.best_rows, heading="Pareto-optimal designs", on=Medium.ALL if several else ~Medium.PAGE)
        tried = Columns(*self.rows, heading="All designs that were run", on=Medium.PAGE)
        return written(Report(title, self.answer, self._asked, blocks=[self._chart(), best, tried]), file)

    @property
    def _asked(self) -> str:
        """The goals and constraints."""
        goals = [f"{'maximise' if more else 'minimise'} {goal.bare}" for goal, more in self.goals]
        within = f", subject to {' and '.join(one.text for one in self.constraints)}" if self.constraints else ""
        return f"optimisation: {', '.join(goals)}{within}"

    @property
    def best_rows(self) -> tuple[list[str], list[list[str]]]:
        """The front as columns and rows; where no design is within the constraints, all, the closest first."""
        return self._designs(self.front or self.closest)

    @property
    def rows(self) -> tuple[list[str], list[list[str]]]:
        """All designs that ran as columns and rows, the best first, then by the first goal."""
        order = list(SHAPES)
        ran = sorted(self._by_goal(self.closest), key=lambda trial: order.index(self._standing(trial)))
        columns, table = self._designs(ran)
        return [*columns, "design"], [[*row, self._standing(trial)] for row, trial in zip(table, ran, strict=True)]

    def _by_goal(self, trials: Iterable[Trial]) -> list[Trial]:
        return sorted(trials, key=lambda trial: self._scores(trial)[0])

    def _standing(self, trial: Trial) -> str:
        """Return what a design is among all."""
        several = len(self.goals) > 1
        if any(trial.point.key == best.point.key for best in self.front):
            return "Pareto-optimal" if several else "best"
        if trial.passed:
            return "breaks a constraint"
        if trial.point.key in self._rivals:
            return "not shown to be worse"
        return "dominated" if several else "meets the constraints" if self.constraints else ""

    def _designs(self, shown: list[Trial]) -> tuple[list[str], list[list[str]]]:
        places = list(shown[0].point.values) if shown else []
        columns = [self._column(one, shown) for one in (*(goal for goal, _ in self.goals), *self.constraints)]
        table = [
            [*(str(trial.point.values[place]) for place in places), *(_cell(of, trial) for of in columns)]
            for trial in shown
        ]
        return [*(short(place, places) for place in places), *(of.title for of in columns)], table

    @staticmethod
    def _column(asked: Objective, trials: Iterable[Trial]) -> Column:
        return column(asked, [trial.values for trial in trials])

    def _chart(self) -> Chart:
        """Return the designs by two of what was asked for, or by the only goal."""
        if len(self.goals) > 1:
            return Chart(self._draw_front, "designs", heading="All designs, by the first two goals")
        if self.constraints:
            title = "All designs, by the goal and the first constraint"
            return Chart(self._draw_front, "designs", heading=title, on=Medium.PAGE)
        return Chart(self._draw_ranked, "designs", heading="Designs by the goal", on=Medium.PAGE)

    def _draw_front(self) -> "ChartType":
        """Draw all designs by the first two goals; of a single goal, by itself and the first constraint."""
        from headrace.charts import decisions

        first, second = [*(goal for goal, _ in self.goals), *self.constraints][:2]
        x, y = (self._column(asked, self.trials) for asked in (first, second))
        spots = [
            Spot(
                x.of(trial.values[first.text][0]),
                y.of(trial.values[second.text][0]),
                self._standing(trial),
                f"{trial.point}: {x.title} {_cell(x, trial)}, {y.title} {_cell(y, trial)}",
            )
            for trial in self.trials
            if trial.values
        ]
        bound = None if second.bound is None else y.of(second.bound)
        return decisions.spots(spots, x.title, y.title, SHAPES, bound=bound)

    def _draw_ranked(self) -> "ChartType":
        """Draw the designs by their only goal, the best on top."""
        from headrace.charts import decisions

        [(goal, _)] = self.goals
        known = [trial for trial in self.trials if trial.values]
        of = self._column(goal, known)
        named = [
            Named(
                ending(str(trial.point)),
                of.of(middle),
                of.of(half or 0.0),
                f"{trial.point}: {of.title} {_cell(of, trial)}",
            )
            for trial in self._by_goal(known)[:MOST_DESIGNS]
            for middle, half in [trial.values[goal.text]]
        ]
        return decisions.named(named, of.title, look="values")

    def _scores(self, trial: Trial) -> list[float]:
        return [trial.values[goal.text][0] * (-1 if more else 1) for goal, more in self.goals]

    def _beats(self, one: Trial, other: Trial) -> bool:
        a, b = self._scores(one), self._scores(other)
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    @cached_property
    def _rivals(self) -> set[str]:
        """The keys of designs within the constraints that are worse by no more than chance explains."""
        best = {one.point.key for one in self.front}
        fit = [one for one in self._run if not one.passed and not one.unsure and one.point.key not in best]
        return {one.point.key for one in fit if not any(self._surely_beats(other, one) for other in self.front)}

    def _surely_beats(self, one: Trial, other: Trial) -> bool:
        """Return true if a design beats another by more than both intervals together, in every goal that has any."""
        pairs = [(one.values[goal.text], other.values[goal.text]) for goal, _ in self.goals]
        apart = [(abs(a - b), math.hypot(of_a or 0.0, of_b or 0.0)) for (a, of_a), (b, of_b) in pairs]
        return self._beats(one, other) and all(by > chance or chance == 0 for by, chance in apart)

    @property
    def answer(self) -> str:
        """The best design, or how many there are to choose from, and how many were tried."""
        if not self.front:
            broken = self._broken()
            said = f"No design meets the constraints{f': {broken}' if broken else ''}."
            return f"{said}{self._nearest()} {self._tried}."
        best = self.front[0]
        found = _found_of(best, [goal for goal, _ in self.goals])
        if best.unsure:
            unsure = [one for one in self.constraints if one.text in best.unsure]
            within = " and ".join(best.unsure)
            told = ", ".join(dict.fromkeys((found, _found_of(best, unsure))))
            said = f"No design is shown to keep within {within}. The best that may do so is {best.point}: {told}. "
            said += "Add replications."
        elif len(self.goals) == 1 and len(self.front) > 1:
            said = f"{len(self.front)} designs are equally good; the first is {best.point}: {found}."
        elif len(self.goals) == 1:
            # Where what varies is what is minimised, it is said once.
            said = f"Best is {best.point}." if found == str(best.point) else f"Best is {best.point}: {found}."
        else:
            optimal = f"{len(self.front)} of {len(self._run)} designs are Pareto-optimal"
            said = f"{optimal}; the first is {best.point}: {found}."
        unsettled = best.unsettled and f"{best.unsettled} was not yet in steady state: longer runs may be slower."
        return " ".join(filter(None, (said, self._beside(best), self._open(best), unsettled, f"{self._tried}.")))

    def _beside(self, best: Trial) -> str:
        """Say how many designs may be as good."""
        if best.unsure or not self._rivals:
            return ""
        others = "1 other is" if len(self._rivals) == 1 else f"{len(self._rivals)} others are"
        return f"{others} not shown to be worse: more replications may tell."

    def _open(self, best: Trial) -> str:
        """Say of which designs that could be the answer it is not known whether they keep within the constraints."""
        if best.unsure:
            return ""
        better = [trial for trial in self.trials if not trial.passed and trial.unsure and self._beats(trial, best)]
        if not better:
            return ""
        first = min(better, key=lambda trial: self._scores(trial)[0])
        named = f"{first.point} keeps within {' and '.join(first.unsure)}"
        return f"It would be better, but whether {named} is not known: add replications."

    def _broken(self) -> str:
        counts = Counter(one for trial in self._run for one in trial.passed)
        many = len(self._run)
        return ", ".join(
            f"all {count} violate `{one}`" if count == many > 1 else f"{count} of {many} violate `{one}`"
            for one, count in counts.items()
        )

    @property
    def closest(self) -> list[Trial]:
        """All designs that ran, the one that breaks its constraints by the least first."""
        known = [trial for trial in self._run if trial.values]
        return sorted(
            known,
            key=lambda trial: max((_falls_behind(trial), *(_breach(one, trial) for one in self.constraints))),
        )

    def _nearest(self) -> str:
        if not self.closest:
            return ""
        nearest = self.closest[0]
        told = ", ".join(filter(None, (str(nearest.point), _found_of(nearest, self.constraints))))
        return f" Closest: {told}."

    @property
    def _run(self) -> list[Trial]:
        """The designs that could be run."""
        return [trial for trial in self.trials if trial.reason is None]

    @property
    def _tried(self) -> str:
        run, reason = len(self._run), next((trial.reason for trial in self.trials if trial.reason), None)
        if run >= self.designs:
            return f"All {self.designs:,} designs tried"
        said = f"{run:,} of {self.designs:,} designs tried ({float(f'{run / self.designs:.2g}') * 100:.3g} %)"
        return f"{said}; {len(self.trials) - run:,} cannot be run ({reason})" if reason else said

    @property
    def frame(self) -> "polars.DataFrame":
        """All designs: the values, what was found, whether they are on the front, and what they break."""
        import polars

        front = {trial.point.key for trial in self.front}
        rows = [
            dict(trial.point.values)
            | {text: found[0] for text, found in trial.values.items()}
            | {f"{text} ±": found[1] for text, found in trial.values.items()}
            | {"front": trial.point.key in front, "breaks": ", ".join(trial.passed)}
            | {"unsure": ", ".join(trial.unsure)}
            for trial in self.trials
        ]
        return polars.DataFrame(rows, infer_schema_length=None, strict=False)

    def __repr__(self) -> str:
        return f"<Optimum: {self.answer}>"


def optimise(
    scenario: Scenario | str | Path,
    vary: Mapping[str, Any],
    *,
    minimise: str | Sequence[str] = (),
    maximise: str | Sequence[str] = (),
    subject_to: str | Sequence[str] = (),
    trials: int = 50,
    replications: int = 3,
    budget: int = 24,
    engine: Engine | None = None,
    store: str | Path | None = None,
    watch: Watch | None = None,
) -> Optimum:
    """Find the designs that minimise and maximise what is asked, within constraints such as `p99(reads) < 20 ms`.

    Goals and constraints are numbers of a run (`mean(users)`; `price(system)`, `power(system)` and `rack_units(system)`
    are sums over the devices, where their files have them), or formulas of the scenario's fields: `system.tds.disks`,
    `300 * disks + 2000`, a field named in full or by as much of its end as is unique. Without `subject_to`, the
    constraints are the `objectives` of the scenario, if it has any.

    `vary` as for a sweep: what is tried are its values. Where there are no more than `trials` designs, all are tried;
    else Optuna chooses as many that can be run, one goal by TPE, several by NSGA-II, always from the same seed. A
    design whose constraints its
    intervals do not decide gets more replications, `budget` at most. A design that loses more than a thousandth of the
    requests of a stream breaks a constraint too, unless one of yours is about such losses, and so does one that cannot
    keep up with its load. With `store` runs are kept,
    and Optuna's study as `optuna.log` in the same folder: the same call goes on from there. All designs have the same
    random numbers, which
    may favour the best of many by chance: run it with another seed. Ctrl-C raises `Interrupted` with the result of the
    designs tried so far.
    """
    whole(trials=trials, replications=replications, budget=budget)
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    if not vary:
        raise refusal(loaded.file, "nothing varies", "give at least one field with its values")
    sides = ((one_or_more(minimise), False), (one_or_more(maximise), True))
    goals = tuple((objective(text, bounded=False, fields=True), more) for texts, more in sides for text in texts)
    if not goals:
        raise refusal(loaded.file, "nothing is minimised or maximised", "say `--minimise 'p99(reads)'`, for example")
    kept = one_or_more(subject_to) or promised(loaded, ">=")
    constraints = tuple(objective(text, bounded=True, fields=True) for text in kept)
    loaded = measuring(loaded, [*(goal for goal, _ in goals), *constraints])
    levels = design.levels(loaded.file, vary)
    designs = math.prod(map(len, levels.values()))
    bench = _Bench(loaded, tuple(vary), goals, constraints, designs, replications, budget, engine, store, watch)
    try:
        if designs <= trials:
            for row in itertools.product(*levels.values()):
                bench.attempt(Point(dict(zip(levels, row, strict=True))))
        else:
            bench.prepare()
            more = [one for _, one in goals]
            question = bench.question(levels)
            search.search(levels, more, trials, bench.answer, question=question, store=store)
    except KeyboardInterrupt:
        raise Interrupted(bench.so_far()) from None
    failures = [trial.error for trial in bench.tried.values() if trial.error is not None]
    if len(failures) == len(bench.tried):
        raise failures[0]
    return bench.optimum()


# What a design breaks at which requests come faster than they are answered: response times grow with the run.
KEEPING_UP = "keeping up with the load"


@dataclass
class _Bench:
    """Tries designs, each once."""

    scenario: Scenario
    places: tuple[str, ...]
    goals: tuple[tuple[Objective, bool], ...]
    constraints: tuple[Objective, ...]
    designs: int
    """Number of designs, tried or not."""
    replications: int
    budget: int
    engine: Engine | None
    store: str | Path | None
    watch: Watch | None
    tried: dict[str, Trial] = field(default_factory=dict)

    def optimum(self) -> Optimum:
        return Optimum(self.goals, self.constraints, tuple(self.tried.values()), self.designs)

    def so_far(self) -> Optimum | None:
        """Return the best of the designs tried so far; nothing before the first."""
        return self.optimum() if self.tried else None

    def prepare(self) -> None:
        """Make the store, and refuse one that holds something else, before a study is kept there."""
        if self.store is not None:
            Store(self.store, Experiment(self.scenario, (), places=self.places)).compact()

    def question(self, levels: Mapping[str, Sequence[Value]]) -> str:
        """Return the name of the study: what is asked, and a digest of what varies."""
        asked = ", ".join(f"{'maximise' if more else 'minimise'} {goal.text}" for goal, more in self.goals)
        within = f" subject to {', '.join(one.text for one in self.constraints)}" if self.constraints else ""
        digest = hashlib.sha256(json.dumps([levels, self.replications, self.budget]).encode()).hexdigest()
        return f"{asked}{within} ({digest[:8]})"

    def attempt(self, point: Point) -> Trial:
        """Run a design, with more replications while its intervals do not decide on a constraint."""
        many = self.replications
        while point.key not in self.tried:
            trial = self._trial(point, many)
            if not trial.unsure or many >= self.budget:
                self.tried[point.key] = trial
            many = min(2 * many, self.budget)
        return self.tried[point.key]

    def answer(self, point: Point) -> search.Answer:
        trial = self.attempt(point)
        goals = [trial.values[goal.text][0] for goal, _ in self.goals] if trial.values else None
        breaches = {one.text: _breach(one, trial) for one in self.constraints}
        if self.constraints:
            breaches[KEEPING_UP] = _falls_behind(trial)
        return search.Answer(goals, breaches)

    def _trial(self, point: Point, many: int) -> Trial:
        experiment = Experiment(self.scenario, (point,), many, places=self.places)
        try:
            watch = telling(self.watch, lambda _: self.so_far())
            table = run(experiment, engine=self.engine, store=self.store, watch=watch)
            return self._judged(table, point)
        except ScenarioError as error:
            if any(trial.values for trial in self.tried.values()) or not _is_of(error, self.goals, self.constraints):
                return Trial(point, {}, ("failed",), reason=str(json.loads(error.problems)[0]["message"]), error=error)
            raise

    def _judged(self, table: Table, point: Point) -> Trial:
        if (reason := table.reason(point)) is not None:
            return Trial(point, {}, ("failed",), reason=reason)
        values = {
            asked.text: self._found(table, point, asked)
            for asked in (*(goal for goal, _ in self.goals), *self.constraints)
        }
        verdicts = {one.text: one.holds(*values[one.text]) for one in self.constraints}
        broken = tuple(text for text, holds in verdicts.items() if holds is False)
        beside = implied(table.metrics, (*(goal for goal, _ in self.goals), *self.constraints))
        broken += tuple(one.text for one in beside if one.holds(*self._found(table, point, one)) is False)
        if self.constraints and table.is_overloaded(point):
            broken += (KEEPING_UP,)
        unsure = tuple(text for text, holds in verdicts.items() if holds is None)
        return Trial(point, values, broken, unsure, unsettled=table.unsettled(point))

    def _found(self, table: Table, point: Point, asked: Objective) -> tuple[float, float | None]:
        if asked.fields is not None:
            return asked.of_fields(self.scenario.with_(point.values).filled()), 0.0
        found = table.mean(point, asked.metric(table.metrics))
        if found is None:
            raise refusal(
                self.scenario.file, f"{point}: no run has a `{asked.text}`: nothing was answered", "run longer"
            )
        return found


def _is_of(error: ScenarioError, goals: Sequence[tuple[Objective, bool]], constraints: Sequence[Objective]) -> bool:
    """Return true if an error is in the objectives, not in a design."""
    return json.loads(error.problems)[0]["file"] in {one.text for one in (*(goal for goal, _ in goals), *constraints)}


def _found_of(trial: Trial, asked: Sequence[Objective]) -> str:
    """Return what was found of a design, with units: `p99(readers) = 51.7 ± 3.0 ms`."""
    known = [one for one in asked if one.text in trial.values]
    return ", ".join(f"{one.bare} = {one.told(*trial.values[one.text])}" for one in known)


def _cell(of: Column, trial: Trial) -> str:
    return of.cell(*trial.values[of.asked.text])


def _breach(one: Objective, trial: Trial) -> float:
    """Return by how much a constraint is broken, as a share of its bound; negative where it is kept."""
    assert one.bound is not None
    if one.text not in trial.values:
        return 1e9
    beyond = (one.bound - trial.values[one.text][0]) * (1 if one.above else -1)
    return beyond / (abs(one.bound) or 1.0)


def _falls_behind(trial: Trial) -> float:
    """Return a breach where a design falls behind its load: what it is compared with are shares of bounds."""
    return 1.0 if KEEPING_UP in trial.passed else 0.0


def as_json(found: Optimum) -> Json:
    """Return an optimum as `--json` prints it."""

    def told(trial: Trial) -> Json:
        return {"values": dict(trial.point.values), "found": trial.values, "breaks": list(trial.passed)} | {
            "unsure": list(trial.unsure)
        }

    return {
        "answer": found.answer,
        "designs": found.designs,
        "front": [told(trial) for trial in found.front],
        "trials": [told(trial) for trial in found.trials],
    }
