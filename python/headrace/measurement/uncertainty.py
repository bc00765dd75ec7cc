"""How far predictions vary with values that are known only approximately: those under `uncertain` of a scenario."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from headrace._core import ScenarioError
from headrace.errors import refusal
from headrace.measurement import loads
from headrace.measurement.loads import Load
from headrace.measurement.parameter import Parameter, parameter, place_of
from headrace.scenario import Scenario

Json = dict[str, Any]

# Number of draws of all uncertain values together. The width of a band is known to a sixth with it.
DRAWS = 16
# Values that cannot stand together, such as a mean above the longest, are left out of what is drawn, up to this many.
MOST_REFUSED = 8

Band = dict[str, tuple[float, float] | None]


def bands(scenario: Scenario, stream: str, of: list[Load], requests: int) -> list[dict[str, Band]] | None:
    """Return the 95 % interval of each prediction, by load, operation and measure; none if no value is uncertain.

    Uncertain values are drawn normally about the values of the scenario, to each side as far as their intervals reach;
    one that follows another moves with it. Errors of the model that no value stands for are not in the bands.
    """
    told = scenario.filled().get("uncertain", {})
    if not told:
        return None
    uncertain = [_read(path, span, scenario) for path, span in told.items()]
    drawn = [loads.all_of(document, scenario.file, stream, of, requests) for document in _possible(scenario, uncertain)]
    return [{op: _band([draw[at][op] for draw in drawn]) for op in load.measured} for at, load in enumerate(of)]


def _possible(scenario: Scenario, uncertain: list["_Uncertain"]) -> list[Json]:
    """Return the documents of all draws whose values can stand together; raise `ScenarioError` if few can."""
    found, refused = [], []
    for values in _draws(uncertain):
        try:
            drawn = scenario.with_(values)
            drawn.check()
            found.append(drawn.filled())
        except ScenarioError as error:
            refused.append(error)
    if len(refused) > MOST_REFUSED:
        raise refused[0]
    return found


@dataclass
class _Uncertain:
    """A value with its interval, as places from 0 to 1 in it."""

    parameter: Parameter
    place: float
    """Where the value of the scenario lies."""
    follows: dict[str, tuple[float, float]]
    """By path of another: where it is at both ends of the other's interval."""


def _read(path: str, told: str, scenario: Scenario) -> _Uncertain:
    """Read `LOW..HIGH and LOW..HIGH with PATH`."""
    own, *others = told.split(" and ")
    one = parameter(f"{path}={own}", scenario)
    if one.was is not None and place_of(one) is None:
        said = f"`uncertain`: {one.path} is {one.was}, which is not from {one.written(0.0)} to {one.written(1.0)}"
        raise refusal(scenario.file, said, "give an interval that contains the value")
    follows = {}
    for part in others:
        span, _, other = part.partition(" with ")
        numbers = [one.number(end) for end in span.split("..")]
        if one.logarithmic and min(numbers) <= 0:
            raise refusal(scenario.file, f"`uncertain`: {path} is {span} with {other}", "give ends above zero")
        low, high = map(one.place, numbers)
        follows[other.strip()] = (low, high)
    place = place_of(one)
    return _Uncertain(one, 0.5 if place is None else place, follows)


def _draws(uncertain: list[_Uncertain]) -> Iterator[Json]:
    """Give values of all parameters, evenly spread over their distributions; always the same ones."""
    from scipy.special import ndtri
    from scipy.stats import qmc

    for shares in qmc.Sobol(len(uncertain), rng=1).random(DRAWS):
        places: dict[str, float] = {}
        middles = {one.parameter.path: one.place for one in uncertain}
        for one, normal in zip(uncertain, ndtri(shares), strict=True):
            own = min(max(_beside(one.place, (0.0, 1.0), float(normal) / 2), 0.0), 1.0)
            moved = (
                _beside(one.place, ends, _way(places[other], middles[other])) - one.place
                for other, ends in one.follows.items()
            )
            ends = [0.0, 1.0, *(end for pair in one.follows.values() for end in pair)]
            places[one.parameter.path] = min(max(own + sum(moved), min(ends)), max(ends))
        yield {one.parameter.path: one.parameter.written(places[one.parameter.path]) for one in uncertain}


def _way(place: float, middle: float) -> float:
    """Return how far a place is from the middle to the end at 0, as a negative share, or to that at 1."""
    room = 1 - middle if place > middle else middle
    return (place - middle) / room if room > 0 else 0.0


def _beside(middle: float, ends: tuple[float, float], way: float) -> float:
    """Return the place that is this share of the way from the middle to the upper or, below 0, to the lower end."""
    return middle + (ends[1] - middle) * way if way > 0 else middle + (middle - ends[0]) * way


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
