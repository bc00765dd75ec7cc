"""Which parameter matters: Morris's elementary effects, or Sobol's shares of the variance, by SALib."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.experiment.design import Experiment, Point, at_share
from headrace.experiment.engines import Engine
from headrace.experiment.objective import objective
from headrace.experiment.rounds import Watch, run
from headrace.experiment.table import interval
from headrace.mistakes import refusal
from headrace.scenario import Scenario, load

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]


@dataclass(frozen=True)
class Effect:
    """How much a place matters, with the half-width of its 95 % interval."""

    place: str
    effect: tuple[float, float]
    """Morris: the mean size of a step over the whole range. Sobol: the share of the variance it takes part in."""
    alone: tuple[float, float | None]
    """Morris: how much that differs from place to place. Sobol: the share of the variance that is its alone."""


@dataclass(frozen=True)
class Sensitivity:
    """Places by how much they matter for a metric."""

    metric: str
    method: str
    runs: int
    effects: tuple[Effect, ...]

    @property
    def answer(self) -> str:
        """What matters most, and what cannot be told from nothing."""
        by_size = sorted(self.effects, key=lambda effect: -effect.effect[0])
        unit = "" if self.method == "sobol" else " over its range"
        first = by_size[0]
        said = f"{first.place} matters most for {self.metric}: {interval(*first.effect)}{unit}"
        nothing = [effect.place for effect in by_size[1:] if effect.effect[0] <= effect.effect[1]]
        said += f"; of {', '.join(nothing)} no effect is shown" if nothing else ""
        return f"{said} ({self.method}, {self.runs} runs)."

    def __repr__(self) -> str:
        return f"<Sensitivity: {self.answer}>"


def sensitivity(
    scenario: Scenario | str | Path,
    vary: Mapping[str, Any],
    metric: str,
    *,
    method: str = "morris",
    samples: int = 16,
    engine: Engine | None = None,
    store: str | Path | None = None,
    watch: Watch | None = None,
) -> Sensitivity:
    """Return how much each range of `vary` matters for a metric such as `mean(users)`.

    `morris` walks `samples` ways through all ranges, one step at a time: (places + 1) runs each. `sobol` splits the
    variance, with (places + 2) runs a sample, and wants hundreds of samples. Every run meets the same luck.
    """
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    asked = objective(metric, bounded=False)
    problem = {"num_vars": len(vary), "names": list(vary), "bounds": [[0.0, 1.0]] * len(vary)}
    shares = _samples(method, problem, samples, loaded.file)
    points = [
        Point({place: at_share(axis, float(share)) for (place, axis), share in zip(vary.items(), row, strict=True)})
        for row in shares
    ]
    unique = tuple({point.key: point for point in points}.values())
    table = run(Experiment(loaded, unique, 1, places=tuple(vary)), engine=engine, store=store, watch=watch)
    for point, reason in table.failed:
        raise refusal(loaded.file, f"at {point}: {reason}", "narrow the ranges: every point must run")
    name = asked.metric(table.metrics)
    import numpy as np  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    means = {point.key: mean[0] for point in unique if (mean := table.mean(point, name))}
    values = np.array([means[point.key] for point in points])
    return Sensitivity(name, method, len(unique), _effects(method, problem, shares, values))


def _samples(method: str, problem: Json, samples: int, file: str) -> "np.ndarray[Any, Any]":
    try:
        from SALib.sample import morris, sobol  # noqa: PLC0415 - it is an extra
    except ImportError:
        raise refusal("SALib", "SALib is not installed", "pip install 'headrace[search]'") from None
    if method == "morris":
        drawn: np.ndarray[Any, Any] = morris.sample(problem, samples, seed=1)
    elif method == "sobol":
        drawn = sobol.sample(problem, _power_of_two(samples), calc_second_order=False, seed=1)
    else:
        raise refusal(file, f"there is no method `{method}`", "there are morris and sobol")
    return drawn


def _power_of_two(samples: int) -> int:
    """Return the next power of two: Sobol's sequence is even only then."""
    return 1 << (max(samples, 2) - 1).bit_length()


def _effects(
    method: str, problem: Json, shares: "np.ndarray[Any, Any]", values: "np.ndarray[Any, Any]"
) -> tuple[Effect, ...]:
    from SALib.analyze import morris, sobol  # noqa: PLC0415

    if method == "morris":
        found = morris.analyze(problem, shares, values, seed=1)
        return tuple(
            Effect(place, (float(mean), float(half)), (float(spread), None))
            for place, mean, half, spread in zip(
                problem["names"], found["mu_star"], found["mu_star_conf"], found["sigma"], strict=True
            )
        )
    found = sobol.analyze(problem, values, calc_second_order=False, seed=1)
    return tuple(
        Effect(place, (float(total), float(total_half)), (float(first), float(first_half)))
        for place, total, total_half, first, first_half in zip(
            problem["names"], found["ST"], found["ST_conf"], found["S1"], found["S1_conf"], strict=True
        )
    )


HEADINGS = {"morris": ("effect over its range", "differs by"), "sobol": ("share it takes part in", "share of its own")}


def rows(found: Sensitivity) -> tuple[list[str], list[list[str]]]:
    """Return the table of effects, the largest first."""
    by_size = sorted(found.effects, key=lambda effect: -effect.effect[0])
    table = [[one.place, interval(*one.effect), interval(*one.alone)] for one in by_size]
    return ["", *HEADINGS[found.method]], table


def as_json(found: Sensitivity) -> Json:
    """Return it as `--json` prints it."""
    return {"answer": found.answer, "metric": found.metric, "method": found.method, "runs": found.runs} | {
        "effects": [vars(effect) for effect in found.effects]
    }
