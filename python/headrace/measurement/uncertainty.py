"""How far predictions vary with values that are known only approximately: those under `uncertain` of a scenario."""

import math
from collections.abc import Iterator
from typing import Any

from headrace.errors import refusal
from headrace.measurement import loads
from headrace.measurement.loads import Load
from headrace.measurement.parameter import Parameter, parameter, place_of
from headrace.scenario import Scenario

Json = dict[str, Any]

# Number of draws of all uncertain values together. The width of a band is known to a sixth with it.
DRAWS = 16

Band = dict[str, tuple[float, float] | None]


def bands(scenario: Scenario, stream: str, of: list[Load], requests: int) -> list[dict[str, Band]] | None:
    """Return the 95 % interval of each prediction, by load, operation and measure; none if no value is uncertain.

    Uncertain values are drawn independently, normally about the middle of their intervals (of their logarithms, if they
    are above zero), so a value of the scenario that lies to one side has a band that does, too.
    Errors of the model that no value stands for are not in the bands.
    """
    uncertain = [parameter(f"{path}={span}", scenario) for path, span in scenario.filled().get("uncertain", {}).items()]
    if not uncertain:
        return None
    for one in uncertain:
        if one.was is not None and place_of(one) is None:
            told = f"`uncertain`: {one.path} is {one.was}, which is not from {one.written(0.0)} to {one.written(1.0)}"
            raise refusal(scenario.file, told, "give an interval that contains the value")
    drawn = [
        loads.all_of(scenario.with_(values).filled(), scenario.file, stream, of, requests)
        for values in _draws(uncertain)
    ]
    return [{op: _band([draw[at][op] for draw in drawn]) for op in load.measured} for at, load in enumerate(of)]


def _draws(uncertain: list[Parameter]) -> Iterator[Json]:
    """Give values of all parameters, evenly spread over their distributions; always the same ones."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    for shares in qmc.Sobol(len(uncertain), rng=1).random(DRAWS):
        places = 0.5 + ndtri(shares) / 4
        yield {one.path: one.written(min(max(float(at), 0.0), 1.0)) for one, at in zip(uncertain, places, strict=True)}


def _band(ran: list[Json]) -> Band:
    return {name: _interval([one[name] for one in ran]) for name in loads.MEASURES}


def _interval(values: list[float]) -> tuple[float, float] | None:
    """Return the interval of a lognormal quantity."""
    if min(values) <= 0:
        return None
    logs = [math.log(value) for value in values]
    middle = sum(logs) / len(logs)
    spread = math.sqrt(sum((one - middle) ** 2 for one in logs) / (len(logs) - 1))
    return math.exp(middle - 1.96 * spread), math.exp(middle + 1.96 * spread)
