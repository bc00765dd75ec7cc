"""Parameters of a scenario that are fitted to loads: residuals, derivatives, least squares within bounds.

Residuals are ln(simulated / measured). All simulations of a load have the same seed, so that they differ by the
parameters alone. Parameters move between 0 and 1, on a log scale where both bounds are above zero.
"""

import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace._core import ScenarioError
from headrace.errors import refusal
from headrace.measurement import loads
from headrace.measurement.loads import Load
from headrace.measurement.parameter import Parameter
from headrace.measurement.points import Tell
from headrace.scenario import Scenario

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Json = dict[str, Any]

FITTED = ("iops", "mean_ms")
# The step of a derivative, as a share of the range of a parameter; small ones drown in what a simulation draws.
STEP = 0.01
MOST_STEPS = 20
# ln(simulated / measured) of values that cannot stand together: further off than any that can.
IMPOSSIBLE = 10.0
# The relative error of a measured number, where there are as many parameters as numbers, so that nothing says how well
# they are met: a minute of fio repeats itself so closely on most drives. An estimate.
ASSUMED_ERROR = 0.02


@dataclass
class Problem:
    """Parameters, loads, and how far off the scenario is for given values."""

    scenario: Scenario
    stream: str
    parameters: list[Parameter]
    of: list[Load]
    requests: int
    measures: tuple[str, ...] = FITTED
    tell: Tell = lambda _: None
    doing: str = "fitting"
    simulated: dict[tuple[float, ...], list[dict[str, Json]] | ScenarioError] = field(default_factory=dict)
    """What was simulated already, by places; the error of values that cannot stand together."""

    def with_values(self, places: "Array") -> Scenario:
        """Return the scenario with the values at these places."""
        values = {one.path: one.written(at) for one, at in zip(self.parameters, places, strict=True)}
        return self.scenario.with_(values)

    def ran(self, places: "Array") -> list[dict[str, Json]]:
        """Return what is simulated under each load; raise `ScenarioError` if these values cannot stand together."""
        found = self._tried(places)
        if not isinstance(found, ScenarioError):
            return found
        first = json.loads(found.problems)[0]
        tried = ", ".join(f"{one.path}={one.written(at)}" for one, at in zip(self.parameters, places, strict=True))
        help_ = "give `--vary` bounds between which all values can stand together"
        raise refusal("--vary", f"with {tried}: {first['message']}", help_)

    def is_possible(self, places: "Array") -> bool:
        """Return true if these values can stand together."""
        return not isinstance(self._tried(places), ScenarioError)

    def _tried(self, places: "Array") -> list[dict[str, Json]] | ScenarioError:
        """Simulate each set of values once."""
        key = tuple(float(at) for at in places)
        if key not in self.simulated:
            self.tell(f"{self.doing}: {len(self.simulated)} sets of values simulated under {len(self.of)} loads")
            self.simulated[key] = self._simulate(places)
        return self.simulated[key]

    def _simulate(self, places: "Array") -> list[dict[str, Json]] | ScenarioError:
        try:
            document = self.with_values(places).filled()
            return loads.all_of(document, self.scenario.file, self.stream, self.of, self.requests)
        except ScenarioError as error:
            if not self.simulated:  # The values of the scenario itself did not work either.
                raise
            return error

    def residuals(self, places: "Array", chosen: list[int]) -> "Array":
        """Return ln(simulated / measured) of each measure under the chosen loads; values far off if they cannot be."""
        import numpy as np

        many = sum(len(self.of[at].measured) for at in chosen) * len(self.measures)
        if not self.is_possible(places):
            return np.full(many, IMPOSSIBLE)
        ran = self.ran(places)
        return np.array([
            math.log(ran[at][op][name] / measured[name])
            for at in chosen
            for op, measured in self.of[at].measured.items()
            for name in self.measures
        ])  # fmt: skip

    def jacobian(self, places: "Array", chosen: list[int], free: list[int]) -> "Array":
        """Return derivatives by the free parameters: differences to both sides, as far as bounds and values allow."""
        import numpy as np

        columns = []
        for at in free:
            ends = [places.copy(), places.copy()]
            ends[0][at], ends[1][at] = max(places[at] - STEP, 0.0), min(places[at] + STEP, 1.0)
            ends = [end if self.is_possible(end) else places for end in ends]
            below, above = (self.residuals(end, chosen) for end in ends)
            columns.append((above - below) / max(ends[1][at] - ends[0][at], STEP))
        return np.stack(columns, axis=1)

    def fitted(self, start: "Array", chosen: list[int], free: list[int], steps: int = MOST_STEPS) -> "Array":
        """Return the places at which the chosen loads are met best; those of parameters that are not free stay.

        A step to values that cannot stand together is taken back, and a shorter one tried.
        """
        import numpy as np
        from scipy import optimize

        inside = start.copy()
        inside[free] = np.clip(start[free], 0.01, 0.99)
        self.ran(inside)

        def all_of(moved: "Array") -> "Array":
            places = start.copy()
            places[free] = moved
            return places

        found = optimize.least_squares(
            lambda moved: self.residuals(all_of(moved), chosen),
            inside[free],
            jac=lambda moved: self.jacobian(all_of(moved), chosen, free),
            bounds=(0.0, 1.0), max_nfev=steps, xtol=1e-4, ftol=1e-5,
        )  # fmt: skip
        return all_of(found.x)

    def squares(self, places: "Array", chosen: list[int]) -> float:
        """Return the sum of the squares of residuals."""
        return float((self.residuals(places, chosen) ** 2).sum())

    def spread(self, places: "Array", chosen: list[int], free: list[int]) -> "tuple[Array, float, float]":
        """Return the covariance of the free parameters' places, the variance of a number, and how far intervals reach.

        The variance is the sum of the squares of residuals for each independent number beyond the parameters.
        """
        import numpy as np
        from scipy import stats

        numbers = sum(len(self.of[at].measured) for at in chosen) * independent(self.measures)
        if freedom := max(numbers - len(free), 0):
            variance, reach = self.squares(places, chosen) / freedom, float(stats.t.ppf(0.975, freedom))
        else:
            variance, reach = ASSUMED_ERROR**2 * self._repeats(chosen), 1.96
        variance = max(variance, 1e-8)
        if not free:
            return np.zeros((0, 0)), variance, reach
        jacobian = self.jacobian(places, chosen, free)
        # A prior as wide as the ranges keeps what is not told at all finite.
        information = jacobian.T @ jacobian / variance + np.eye(len(free))
        return np.linalg.inv(information), variance, reach

    def _repeats(self, chosen: list[int]) -> float:
        """Return how often residuals tell a number: the rate and the mean of a closed loop are the same one twice.

        At a rate of its own, a load has that rate in the simulation too, which tells nothing.
        """
        each = independent(self.measures)
        of = [(len(self.of[at].measured), each if self.of[at].is_open else len(self.measures)) for at in chosen]
        return sum(many * told for many, told in of) / (each * sum(many for many, _ in of))


def independent(measures: tuple[str, ...]) -> int:
    """Return how many numbers a load tells of an operation: rate and mean of a closed loop are one (Little's law)."""
    return len(set(measures) - set(FITTED)) + (not set(FITTED).isdisjoint(measures))
