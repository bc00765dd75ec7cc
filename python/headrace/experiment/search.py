"""Optuna chooses which designs are tried: one goal by TPE, several by NSGA-II. Its study can be kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.errors import refusal
from headrace.experiment.design import Point, Value

# What Optuna writes beside the records of a store: its own format, which `optuna-dashboard FOLDER/optuna.log` draws.
STUDY = "optuna.log"
# Optuna may ask for a design again; that costs nothing, but must end.
ASKED_PER_DESIGN = 10


@dataclass(frozen=True)
class Answer:
    """Values of a design that are passed to Optuna."""

    goals: list[float] | None
    """None for a design that could not be run."""
    breaches: Mapping[str, float]
    """By how much each constraint is broken, as a share of its bound; at most 0 where it is kept."""


def search(
    levels: Mapping[str, Sequence[Value]],
    more: Sequence[bool],
    trials: int,
    attempt: Callable[[Point], Answer],
    *,
    question: str,
    store: str | Path | None,
) -> None:
    """Have `attempt` called with designs until it has run `trials` different ones.

    `more` says of each goal whether more is better. With `store` the study goes on from what is kept there under the
    name `question`.
    """
    study = _study(len(more), more, trials, question, store)
    # Trials in progress when a process was killed have no answer, and do not count.
    known = [_chosen(trial.params, levels) for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]
    seen = {point.key for point in known if attempt(point).goals is not None}
    for _ in range(ASKED_PER_DESIGN * trials):
        if len(seen) >= trials:
            return
        asked = study.ask()
        point = _chosen({place: asked.suggest_int(place, 0, len(of) - 1) for place, of in levels.items()}, levels)
        answer = attempt(point)
        if answer.goals is not None:
            seen.add(point.key)
        for place, value in point.values.items():
            asked.set_user_attr(place, value)
        _tell(study, asked, answer)


def _chosen(places: Mapping[str, Any], levels: Mapping[str, Sequence[Value]]) -> Point:
    return Point({place: of[places[place]] for place, of in levels.items()})


def _tell(study: Any, asked: Any, answer: Answer) -> None:
    import optuna

    for name, breach in answer.breaches.items():
        asked.set_constraint(name, breach)
    if answer.goals is None:
        study.tell(asked, state=optuna.trial.TrialState.FAIL)
    else:
        study.tell(asked, answer.goals)


def _study(goals: int, more: Sequence[bool], trials: int, question: str, store: str | Path | None) -> Any:
    try:
        import optuna
        from optuna.storages import JournalStorage
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        raise refusal("optuna", "Optuna is not installed", "pip install 'headrace[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = None
    if store is not None:
        storage = JournalStorage(JournalFileBackend(str(Path(store) / STUDY)))
    study = optuna.create_study(
        storage=storage,
        study_name=question if store is not None else None,
        load_if_exists=True,
        directions=["maximize" if one else "minimize" for one in more],
    )
    # A study that goes on must not draw again what it has drawn.
    seed = 1 + len(study.get_trials(deepcopy=False))
    study.sampler = (
        optuna.samplers.TPESampler(seed=seed)
        if goals == 1
        else optuna.samplers.NSGAIISampler(seed=seed, population_size=min(20, max(trials // 3, 4)))
    )
    return study
