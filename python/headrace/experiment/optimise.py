"""The best design under constraints: Optuna searches, headrace answers each question with replications."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.experiment import formula
from headrace.experiment.design import Experiment, Point, Value, short
from headrace.experiment.engines import Engine
from headrace.experiment.objective import Objective, objective
from headrace.experiment.rounds import Watch, run
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
            return f"No design keeps within the constraints; {tried}."
        best = self.front[0]
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

    `vary` as for a sweep; from a range any value may be taken. `price(system)`, `power(system)` and
    `rack_units(system)` are sums over the devices, where their files have them. One goal is sought by TPE, several by
    NSGA-II (both Optuna's, always from the same seed). Every design meets the same luck.
    """
    import optuna  # noqa: PLC0415 - it is an extra, and takes long to load

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    goals = tuple(
        (objective(text, bounded=False), more)
        for texts, more in ((minimise, False), (maximise, True))
        for text in texts
    )
    if not goals:
        raise refusal(loaded.file, "nothing is minimised or maximised", "say `--minimise 'p99(reads)'`, for example")
    constraints = tuple(objective(text, bounded=True) for text in subject_to)
    sampler = (
        optuna.samplers.TPESampler(seed=1)
        if len(goals) == 1
        else optuna.samplers.NSGAIISampler(seed=1, population_size=min(20, max(trials // 3, 4)))
    )
    search = optuna.create_study(sampler=sampler, directions=["maximize" if more else "minimize" for _, more in goals])
    tried = []
    for _ in range(trials):
        asked = search.ask()
        point = Point({place: _suggested(asked, place, axis) for place, axis in vary.items()})
        experiment = Experiment(loaded, (point,), replications, places=tuple(vary))
        trial = _trial(run(experiment, engine=engine, store=store, watch=watch), point, goals, constraints)
        tried.append(trial)
        for one, breach in zip(constraints, _breaches(trial, constraints), strict=True):
            asked.set_constraint(one.text, breach)
        values = [trial.values[goal.text][0] for goal, _ in goals if goal.text in trial.values]
        if len(values) == len(goals):
            search.tell(asked, values)
        else:
            search.tell(asked, state=optuna.trial.TrialState.FAIL)
    return Optimum(goals, constraints, tuple(tried))


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
        return Trial(point, {}, ("failed",))
    values = {}
    for asked in (*(goal for goal, _ in goals), *constraints):
        found = table.mean(point, asked.metric(table.metrics))
        assert found is not None
        values[asked.text] = found
    # `p99(reads) < 20 ms` is what is to hold: here the bound is kept where it is passed.
    passed = tuple(one.text for one in constraints if not one.passes(values[one.text][0]))
    return Trial(point, values, passed)


def _suggested(trial: Any, place: str, axis: Any) -> Value:
    if not isinstance(axis, Mapping):
        chosen: Value = trial.suggest_categorical(place, list(axis))
        return chosen
    first, last = axis["from"], axis["to"]
    log = axis.get("scale") == "log"
    if isinstance(first, int) and isinstance(last, int):
        whole: int = trial.suggest_int(place, first, last, log=log)
        return whole
    return formula.between(first, last, [trial.suggest_float(place, 0.0, 1.0)], log=log)[0]


def rows(found: Optimum) -> tuple[list[str], list[list[str]]]:
    """Return the table of the front."""
    places = list(found.front[0].point.values) if found.front else []
    asked = [goal.text for goal, _ in found.goals] + [one.text for one in found.constraints]
    table = [
        [*(str(trial.point.values[place]) for place in places), *(interval(*trial.values[text]) for text in asked)]
        for trial in found.front
    ]
    return [*(short(place, places) for place in places), *asked], table


def as_json(found: Optimum) -> Json:
    """Return an optimum as `--json` prints it."""

    def told(trial: Trial) -> Json:
        return {"values": dict(trial.point.values), "found": trial.values, "breaks": list(trial.passed)}

    return {
        "answer": found.answer,
        "front": [told(trial) for trial in found.front],
        "trials": [told(trial) for trial in found.trials],
    }
