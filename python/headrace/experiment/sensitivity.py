"""Which parameter matters: Morris's elementary effects, or Sobol's shares of the variance, by SALib."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.arguments import whole
from headrace.charts.data import Named
from headrace.errors import refusal
from headrace.experiment import design
from headrace.experiment.columns import ending, is_time, metric_title
from headrace.experiment.design import Experiment, Point
from headrace.experiment.engines import Engine
from headrace.experiment.objective import asked_for, measuring, objective
from headrace.experiment.rounds import Watch, run, telling
from headrace.experiment.table import half_width
from headrace.quantities import MS, Unit, format_time, interval, unit
from headrace.report import Chart, Report
from headrace.report import Table as Columns
from headrace.scenario import Scenario, load
from headrace.shown import InNotebook, written
from headrace.stopped import Interrupted

if TYPE_CHECKING:
    import numpy as np
    from altair.typing import ChartType

Json = dict[str, Any]
HEADINGS = {"morris": ("effect over its range", "std. deviation"), "sobol": ("total share", "share by itself")}


@dataclass(frozen=True)
class Effect:
    """Sensitivity index of a parameter, with the half-width of its 95 % interval."""

    place: str
    effect: tuple[float, float]
    """Morris: the mean size of a step over the whole range. Sobol: the share of the variance it takes part in."""
    alone: tuple[float, float | None]
    """Morris: how much that differs from place to place. Sobol: the share of the variance that is its alone."""


@dataclass(frozen=True)
class Sensitivity(InNotebook):
    """The fields that were varied, by how much each affects a metric."""

    metric: str
    method: str
    runs: int
    effects: tuple[Effect, ...]
    unsettled: int = 0
    """In how many runs a component was not yet in steady state."""

    @property
    def answer(self) -> str:
        """Parameters that matter most, and those whose effect is within noise."""
        by_size = self._by_size
        first, metric = by_size[0], asked_for(self.metric)
        nothing = [effect.place for effect in by_size if effect.effect[0] <= effect.effect[1]]
        if first.place in nothing:
            return f"No field has a significant effect on {metric} ({self.method}, {self.runs} runs)."
        write = format_time if self.metric.endswith("_ms") else interval
        effect = (
            f"a share of {interval(*first.effect)} of the variance"
            if self.method == "sobol"
            else f"changes by {write(*first.effect)} over its range"
        )
        said = f"{first.place} matters most for {metric}: {effect}"
        said += f"; no effect shown: {', '.join(nothing)}" if nothing else ""
        said = f"{said} ({self.method}, {self.runs} runs)."
        warned = (
            f" In {self.unsettled} of them a component was not yet in steady state: longer runs may show other effects."
        )
        return said + warned * bool(self.unsettled)

    def report(self, file: str | Path | None = None, *, title: str = "sensitivity") -> Report:
        """Return the report of the effects; with `file`, write it as one HTML page: whole, or not at all."""
        done = f"sensitivity of {asked_for(self.metric)}, method of {self.method.capitalize()}"
        chart = Chart(self._draw, "effects", heading="How much each range matters, with 95 % intervals")
        return written(Report(title, self.answer, done, blocks=[chart, Columns(*self.rows, heading="Effects")]), file)

    @property
    def rows(self) -> tuple[list[str], list[list[str]]]:
        """The effects as columns and rows, the largest first."""
        write = self._unit.interval if self._unit else interval
        named = f", {self._unit.name}" if self._unit else ""
        columns = ["", *(f"{heading}{named}" for heading in HEADINGS[self.method])]
        return columns, [[one.place, write(*one.effect), write(*one.alone)] for one in self._by_size]

    @property
    def _by_size(self) -> list[Effect]:
        return sorted(self.effects, key=lambda effect: -effect.effect[0])

    @property
    def _unit(self) -> Unit | None:
        """The unit of effects; none where they are no times."""
        is_of_times = self.method == "morris" and is_time(self.metric)
        return unit(one.effect[0] for one in self.effects) if is_of_times else None

    def _draw(self) -> "ChartType":
        from headrace.charts import decisions

        of = self._unit
        title = (
            f"effect over its range on {metric_title(self.metric, of or MS)}"
            if self.method == "morris"
            else f"share of the variance of {asked_for(self.metric)}"
        )
        effects = [
            Named(ending(one.place), middle, half, f"{one.place}: {interval(middle, half)}")
            for one in self._by_size
            for middle, half in [map(of.of, one.effect) if of else one.effect]
        ]
        return decisions.named(effects, title, look="effects")

    def __repr__(self) -> str:
        return f"<Sensitivity: {self.answer}>"


def sensitivity(
    scenario: Scenario | str | Path,
    vary: Mapping[str, Any],
    metric: str,
    *,
    method: str = "morris",
    samples: int = 16,
    replications: int = 1,
    engine: Engine | None = None,
    store: str | Path | None = None,
    watch: Watch | None = None,
) -> Sensitivity:
    """Return how much each range of `vary` matters for a metric such as `mean(users)`.

    `morris` walks `samples` ways through all ranges, one step at a time: (places + 1) runs each. `sobol` splits the
    variance, with (places + 2) runs a sample, and needs hundreds of samples. All points have the same random
    numbers; only the values vary. More `replications` leave less of what is seen to chance.
    """
    import numpy as np

    whole(samples=samples)
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    if not vary:
        raise refusal(loaded.file, "nothing varies", "give at least one field with its values")
    asked = objective(metric, bounded=False)
    loaded = measuring(loaded, [asked])
    problem = {"num_vars": len(vary), "names": list(vary), "bounds": [[0.0, 1.0]] * len(vary)}
    levels = list(design.levels(loaded.file, vary).values())
    for place, values in zip(vary, levels, strict=True):
        if len(values) < 2:
            raise refusal(loaded.file, f"`{place}` has one value, and no effect", "give it two or more, or a range")
    drawn = _samples(method, problem, samples, loaded.file)
    # Each share of a range stands for the nearest of its values; what is analysed is where that lies.
    at = np.rint(drawn * [len(values) - 1 for values in levels]).astype(int)
    shares = at / [len(values) - 1 for values in levels]
    points = [Point({place: values[i] for place, values, i in zip(vary, levels, row, strict=True)}) for row in at]
    unique = tuple({point.key: point for point in points}.values())
    try:
        # Effects follow from all points together: of some of them there is nothing to say.
        told = telling(watch, lambda _: None)
        table = run(
            Experiment(loaded, unique, replications, places=tuple(vary)), engine=engine, store=store, watch=told
        )
    except Interrupted:
        raise Interrupted(None) from None
    for point, reason in table.failed:
        raise refusal(loaded.file, f"at {point}: {reason}", "narrow the ranges: every point must run")
    name = asked.metric(table.metrics)
    means = {point.key: mean[0] for point in unique if (mean := table.mean(point, name))}
    found = np.array([means[point.key] for point in points])
    unsettled = sum(table.unsettled(point) is not None for point in unique)
    return Sensitivity(name, method, len(unique), _effects(method, problem, shares, found), unsettled)


def _samples(method: str, problem: Json, samples: int, file: str) -> "np.ndarray[Any, Any]":
    try:
        from SALib.sample import morris, sobol
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
    if method == "morris":
        return tuple(_morris(problem["names"], shares, values))
    from SALib.analyze import sobol

    if values.std() == 0:
        return tuple(Effect(place, (0.0, 0.0), (0.0, 0.0)) for place in problem["names"])
    found = sobol.analyze(problem, values, calc_second_order=False, seed=1)
    columns = (found[name] for name in ("ST", "ST_conf", "S1", "S1_conf"))
    return tuple(
        Effect(place, (float(total), float(total_half)), (float(first), float(first_half)))
        for place, total, total_half, first, first_half in zip(problem["names"], *columns, strict=True)
    )


def _morris(names: list[str], shares: "np.ndarray[Any, Any]", values: "np.ndarray[Any, Any]") -> Iterator[Effect]:
    """Give the elementary effects: along each way one place steps at a time, and the effect is by the step it took.

    SALib's own analysis divides by the step that was drawn, which values that are whole, or listed, do not take.
    """
    import numpy as np

    ways = len(names) + 1
    for at, name in enumerate(names):
        steps = np.diff(shares[:, at])
        # The step from the end of one trajectory to the beginning of the next says nothing.
        mine = (steps != 0) & (np.arange(1, len(shares)) % ways != 0)
        effects = np.diff(values)[mine] / steps[mine]
        sizes = [float(size) for size in abs(effects)]
        yield Effect(name, (float(np.mean(sizes)), half_width(sizes) or 0.0), (float(np.std(effects)), None))


def as_json(found: Sensitivity) -> Json:
    """Return it as `--json` prints it."""
    return {"answer": found.answer, "metric": found.metric, "method": found.method, "runs": found.runs} | {
        "effects": [vars(effect) for effect in found.effects]
    }
