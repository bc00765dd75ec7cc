"""What a fit leaves uncertain: how far off each parameter may be, and which parameters move together.

A parameter that the measurement determines has the interval of least squares. One that it does not determine keeps its
prior, as far as the measurement allows: the others are fitted again at both of its ends, so that what they make up for
is not taken for error of a prediction.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.measurement.problem import Problem

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

# Parameters whose errors go together less closely than this are taken as independent.
LEAST_CORRELATED = 0.3
# How often the way from a value to the end of its prior is halved, where the measurement excludes that end.
HALVINGS = 4
# Steps of a fit that begins near its end.
END_STEPS = 4


@dataclass
class Fit:
    """Where the parameters end, between their bounds as 0 and 1, and how they were determined."""

    places: "Array"
    free: list[int]
    """The parameters that the measurement determines. The others are where they began."""
    covariance: "Array"
    """Of the places of the free parameters, where the others are where they are."""
    variance: float
    """The sum of the squares of residuals for each independent number beyond the parameters."""
    reach: float
    """By how many standard errors a 95 % interval reaches to each side: of Student's t."""
    together: list[str]
    """What the measurement cannot tell apart, in words."""


@dataclass
class Known:
    """What is known of the place of a parameter."""

    place: float
    error: float
    """Its standard error."""
    interval: tuple[float, float]
    """Its 95 % interval."""
    own: tuple[float, float]
    """Its 95 % interval where those that it follows are where they are."""
    determined: bool
    follows: dict[int, tuple[float, float]] = field(default_factory=dict)
    """By parameter that it follows: where it is at the ends of the own interval of the other."""


def known(problem: Problem, chosen: list[int], fit: Fit) -> dict[int, Known]:
    """Return what is known of each parameter, by its number; none follows one that comes later."""
    kept = [at for at in range(len(fit.places)) if at not in fit.free]
    ends = {at: tuple(_refitted(problem, chosen, fit, at, bound) for bound in (0.0, 1.0)) for at in kept}
    found = {at: _prior(float(fit.places[at]), *(float(end[at]) for end in ends[at])) for at in kept}
    for nth, at in enumerate(fit.free):
        found[at] = _fitted(fit, nth, ends, found)
    return found


def _refitted(problem: Problem, chosen: list[int], fit: Fit, at: int, bound: float) -> "Array":
    """Return all places, fitted again with a parameter as near to its bound as the measurement allows.

    If it seems to allow none of the way, the whole prior is kept: then the fits did not get as near as the first one.
    """
    most = problem.squares(fit.places, chosen) + fit.reach**2 * fit.variance

    def moved(share: float) -> "Array":
        places = fit.places.copy()
        places[at] += (bound - places[at]) * share
        return problem.fitted(places, chosen, fit.free, END_STEPS) if fit.free else places

    allowed: Array | None = None
    share, step = 1.0, 1.0
    for _ in range(HALVINGS + 1):
        places, step = moved(share), step / 2
        if problem.squares(places, chosen) <= most:
            allowed = places
            if share == 1.0:
                break
            share += step
        else:
            share -= step
    return moved(1.0) if allowed is None else allowed


def _prior(place: float, low: float, high: float) -> Known:
    return Known(place, (high - low) / 4, (low, high), (low, high), determined=False)


def _fitted(fit: Fit, nth: int, ends: "dict[int, tuple[Array, ...]]", found: dict[int, Known]) -> Known:
    """Return what is known of a fitted parameter: of others before it, and of itself beside them."""
    import numpy as np

    at, errors = fit.free[nth], np.sqrt(np.diag(fit.covariance))
    place, of = float(fit.places[at]), fit.covariance
    beside = [j for j in range(nth) if abs(of[nth, j]) >= LEAST_CORRELATED * errors[nth] * errors[j]]
    slopes = np.linalg.solve(of[np.ix_(beside, beside)], of[beside, nth]) if beside else np.zeros(0)
    own_error = float(np.sqrt(max(of[nth, nth] - of[nth, beside] @ slopes, 0.0)))
    follows = {
        fit.free[j]: _within(place + float(slope) * (end - found[fit.free[j]].place) for end in found[fit.free[j]].own)
        for j, slope in zip(beside, slopes, strict=True)
    }
    squares = [(fit.reach * float(errors[nth])) ** 2] * 2
    for kept, moved in ends.items():
        ways = [float(end[at]) - place for end in moved]
        squares = [squares[0] + min(*ways, 0.0) ** 2, squares[1] + max(*ways, 0.0) ** 2]
        before = [fit.free[j] for j in beside]
        others = [float(slopes @ (end[before] - fit.places[before])) for end in moved]
        follows[kept] = _within(place + way - other for way, other in zip(ways, others, strict=True))
    interval = (place - squares[0] ** 0.5, place + squares[1] ** 0.5)
    own = (place - fit.reach * own_error, place + fit.reach * own_error)
    error = (interval[1] - interval[0]) / (2 * fit.reach)
    return Known(place, error, _within(interval), _within(own), determined=True, follows=follows)


def _within(ends: Iterable[float]) -> tuple[float, float]:
    """Return two places within the bounds."""
    low, high = (min(max(end, 0.0), 1.0) for end in ends)
    return low, high
