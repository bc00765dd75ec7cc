"""The best design under constraints: Optuna searches, headrace answers each question with replications."""

import itertools
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import ScenarioError
from headrace.experiment import design
from headrace.experiment.design import Experiment, Point, Value
from headrace.experiment.engines import Engine
from headrace.experiment.objective import Objective, objective
from headrace.experiment.rounds import Interrupted, Watch, run
from headrace.experiment.table import Table, interval
from headrace.mistakes import refusal
from headrace.scenario import Scenario, load

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """A design that was tried."""

    point: Point
    values: dict[str, tuple[float, float | None]]
    """What is minimised, maximised or bounded, with half-widths."""
    passed: tuple[str, ...]
    """The constraints that it breaks; `failed` among them where it could not be run."""
    reason: str | None = None
    """Why it could not."""
    error: ScenarioError | None = None
    """The mistake, where it is one."""


@dataclass(frozen=True)
class Optimum:
    """The designs that no other beats in every respect, and all that were tried."""

    goals: tuple[tuple[Objective, bool], ...]
    """Each with whether more is better."""
    constraints: tuple[Objective, ...]
    trials: tuple[Trial, ...]

    @cached_property
    def front(self) -> list[Trial]:
        """The designs within the constraints that none beats in every respect, by the first goal."""
        fit = [trial for trial in self.trials if not trial.passed]
        best = [one for one in fit if not any(self._beats(other, one) for other in fit)]
        unique = {trial.point.key: trial for trial in best}
        return sorted(unique.values(), key=lambda trial: self._scores(trial)[0])

    def _unsure(self, trial: Trial) -> list[str]:
        """Return the constraints whose bound lies within the interval of what was found."""
        found = [(one, *trial.values[one.text]) for one in self.constraints]
        return [
            one.text for one, middle, half in found if one.bound is not None and abs(middle - one.bound) <= (half or 0)
        ]

    def _scores(self, trial: Trial) -> list[float]:
        return [trial.values[goal.text][0] * (-1 if more else 1) for goal, more in self.goals]

    def _beats(self, one: Trial, other: Trial) -> bool:
        a, b = self._scores(one), self._scores(other)
        return all(x <= y for x, y in zip(a, b, strict=True)) and a != b

    @property
    def answer(self) -> str:
        """The best design, or how many there are to choose from."""
        tried = f"{len(self.trials)} designs tried"
        if not self.front:
            counts = Counter(one for trial in self.trials for one in trial.passed)
            broken = ", ".join(f"`{one}` breaks with {count}" for one, count in counts.items() if one != "failed")
            reason = next((trial.reason for trial in self.trials if trial.reason), None)
            failed = f"{counts['failed']} failed ({reason})" if counts["failed"] else ""
            return f"No design keeps within the constraints: {'; '.join(filter(None, (broken, failed)))}; {tried}."
        best = self.front[0]
        unsure = self._unsure(best)
        tried += f"; whether it keeps within {' and '.join(unsure)} is not sure" if unsure else ""
        found = ", ".join(f"{goal.text} {interval(*best.values[goal.text])}" for goal, _ in self.goals)
        if len(self.goals) == 1:
            return f"Best is {best.point}: {found}; {tried}."
        many = f"{len(self.front)} designs are beaten by none in every respect"
        return f"{many}; the first is {best.point}: {found}; {tried}."

    @property
    def frame(self) -> "polars.DataFrame":
        """All designs: the values, what was found, whether they are on the front, and what they break."""
        import polars  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

        front = {trial.point.key for trial in self.front}
        rows = [
            dict(trial.point.values)
            | {text: found[0] for text, found in trial.values.items()}
            | {f"{text} ±": found[1] for text, found in trial.values.items()}
            | {"front": trial.point.key in front, "breaks": ", ".join(trial.passed)}
            for trial in self.trials
        ]
        return polars.DataFrame(rows, infer_schema_length=None, strict=False)

    def __repr__(self) -> str:
        return f"<Optimum: {self.answer}>"


def optimise(
    scenario: Scenario | str | Path,
    vary: Mapping[str, Any],
    *,
    minimise: Sequence[str] = (),
    maximise: Sequence[str] = (),
    subject_to: Sequence[str] = (),
    trials: int = 50,
    replications: int = 3,
    engine: Engine | None = None,
    store: str | Path | None = None,
    watch: Watch | None = None,
) -> Optimum:
    """Seek the designs that minimise and maximise what is asked, within constraints such as `p99(reads) < 20 ms`.

    `vary` as for a sweep: what is tried are its values. Where there are no more than `trials` designs, all are tried;
    else one goal is sought by TPE, several by NSGA-II (both Optuna's, always from the same seed). `price(system)`,
    `power(system)` and `rack_units(system)` are sums over the devices, where their files have them. Every design meets
    the same luck: the best of many owes a little of it to that, and is worth a run with another seed. Ctrl-C raises
    `Interrupted` with what the designs tried until then tell.
    """
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    sides = ((minimise, False), (maximise, True))
    goals = tuple((objective(text, bounded=False), more) for texts, more in sides for text in texts)
    if not goals:
        raise refusal(loaded.file, "nothing is minimised or maximised", "say `--minimise 'p99(reads)'`, for example")
    constraints = tuple(objective(text, bounded=True) for text in subject_to)
    levels = design.levels(loaded.file, vary)
    tried: dict[str, Trial] = {}

    def attempt(point: Point) -> Trial:
        if point.key not in tried:
            experiment = Experiment(loaded, (point,), replications, places=tuple(vary))
            try:
                table = run(experiment, engine=engine, store=store, watch=watch)
            except ScenarioError as error:
                tried[point.key] = Trial(point, {}, ("failed",), str(json.loads(error.problems)[0]["message"]), error)
            else:
                tried[point.key] = _trial(table, point, goals, constraints)
        return tried[point.key]

    try:
        if math.prod(map(len, levels.values())) <= trials:
            for row in itertools.product(*levels.values()):
                attempt(Point(dict(zip(levels, row, strict=True))))
        else:
            _search(levels, goals, constraints, trials, attempt)
    except KeyboardInterrupt:
        raise Interrupted(Optimum(goals, constraints, tuple(tried.values())) if tried else None) from None
    failures = [trial.error for trial in tried.values() if trial.error is not None]
    if len(failures) == len(tried):
        raise failures[0]
    return Optimum(goals, constraints, tuple(tried.values()))


def _search(
    levels: Mapping[str, Sequence[Value]],
    goals: Sequence[tuple[Objective, bool]],
    constraints: Sequence[Objective],
    trials: int,
    attempt: Callable[[Point], Trial],
) -> None:
    """Have Optuna choose what to try."""
    try:
        import optuna  # noqa: PLC0415 - it is an extra, and takes long to load
    except ImportError:
        raise refusal("optuna", "Optuna is not installed", "pip install 'headrace[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = (
        optuna.samplers.TPESampler(seed=1)
        if len(goals) == 1
        else optuna.samplers.NSGAIISampler(seed=1, population_size=min(20, max(trials // 3, 4)))
    )
    search = optuna.create_study(sampler=sampler, directions=["maximize" if more else "minimize" for _, more in goals])
    for _ in range(trials):
        asked = search.ask()
        chosen = {place: values[asked.suggest_int(place, 0, len(values) - 1)] for place, values in levels.items()}
        trial = attempt(Point(chosen))
        for one, breach in zip(constraints, _breaches(trial, constraints), strict=True):
            asked.set_constraint(one.text, breach)
        found = [trial.values[goal.text][0] for goal, _ in goals if goal.text in trial.values]
        if len(found) == len(goals):
            search.tell(asked, found)
        else:
            search.tell(asked, state=optuna.trial.TrialState.FAIL)


def _breaches(trial: Trial, constraints: Sequence[Objective]) -> list[float]:
    """Return by how much each constraint is broken, as a share of its bound; less than nought where it is kept."""
    found = []
    for one in constraints:
        assert one.bound is not None
        if one.text not in trial.values:
            found.append(1e9)
            continue
        beyond = (one.bound - trial.values[one.text][0]) * (1 if one.above else -1)
        found.append(beyond / (abs(one.bound) or 1.0))
    return found


def _trial(
    table: Table, point: Point, goals: Sequence[tuple[Objective, bool]], constraints: Sequence[Objective]
) -> Trial:
    if table.reason(point) is not None:
        return Trial(point, {}, ("failed",), table.reason(point))
    values = {}
    for asked in (*(goal for goal, _ in goals), *constraints):
        found = table.mean(point, asked.metric(table.metrics))
        assert found is not None
        values[asked.text] = found
    # `p99(reads) < 20 ms` is what is to hold: here the bound is kept where it is passed.
    passed = tuple(one.text for one in constraints if not one.passes(values[one.text][0]))
    return Trial(point, values, passed)


def as_json(found: Optimum) -> Json:
    """Return an optimum as `--json` prints it."""

    def told(trial: Trial) -> Json:
        return {"values": dict(trial.point.values), "found": trial.values, "breaks": list(trial.passed)}

    return {
        "answer": found.answer,
        "front": [told(trial) for trial in found.front],
        "trials": [told(trial) for trial in found.trials],
    }
