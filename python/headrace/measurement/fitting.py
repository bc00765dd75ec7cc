"""Fits named fields of a scenario to a measurement, by least squares within bounds.

Residuals are ln(simulated / measured), of the rate and of the mean latency of each load. All simulations of a load have
the same seed, so that they differ by the parameters alone. The search moves parameters between 0 and 1, on a log scale
where both bounds are above zero. What the measurement does not determine keeps its prior: the value that the scenario
has, anywhere within the bounds.
"""

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.devices import fitted as rows
from headrace.errors import refusal
from headrace.measurement import comparison, loads
from headrace.measurement.loads import Load
from headrace.measurement.parameter import Parameter, parameter, place_of
from headrace.measurement.points import Measurement, Tell
from headrace.report import Report
from headrace.reports import comparison as reports
from headrace.scenario import Scenario
from headrace.shown import written

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Json = dict[str, Any]

FITTED = ("iops", "mean_ms")
# The step of a derivative, as a share of the range of a parameter; small ones drown in what a simulation draws.
STEP = 0.01
MOST_STEPS = 20
FOLDS = 5
FOLD_STEPS = 6
# Two parameters that go together so closely cannot be told apart: an error of one is made up for by the other.
TOO_CLOSE = 0.95
# A parameter is not known where its standard error is more than this share of its range.
TOO_WIDE = 0.25
# The bounds of a prior are its 95 % interval, so its standard error is this share of its range.
PRIOR_ERROR = 0.25
AT_BOUND = 1e-2
# At a bound, squares of errors are smaller than where the search began if these are this many times as large.
BETTER = 1.05


@dataclass
class _Problem:
    """Parameters, loads, and how far off the scenario is for given values."""

    scenario: Scenario
    stream: str
    parameters: list[Parameter]
    of: list[Load]
    requests: int
    measures: tuple[str, ...] = FITTED
    tell: Tell = lambda _: None
    doing: str = "fitting"
    known: dict[tuple[float, ...], list[dict[str, Json]]] = field(default_factory=dict)

    def with_values(self, places: "Array") -> Scenario:
        values = {one.path: one.written(at) for one, at in zip(self.parameters, places, strict=True)}
        return self.scenario.with_(values)

    def ran(self, places: "Array") -> list[dict[str, Json]]:
        """Return what is simulated under each load; each set of values is simulated once."""
        key = tuple(float(at) for at in places)
        if key not in self.known:
            self.tell(f"{self.doing}: {len(self.known)} sets of values simulated under {len(self.of)} loads")
            document = self.with_values(places).filled()
            self.known[key] = loads.all_of(document, self.scenario.file, self.stream, self.of, self.requests)
        return self.known[key]

    def residuals(self, places: "Array", chosen: list[int]) -> "Array":
        import numpy as np

        ran = self.ran(places)
        return np.array([
            math.log(ran[at][op][name] / measured[name])
            for at in chosen
            for op, measured in self.of[at].measured.items()
            for name in self.measures
        ])  # fmt: skip

    def jacobian(self, places: "Array", chosen: list[int], free: list[int]) -> "Array":
        """Return derivatives by the free parameters: differences to both sides, as far as the bounds allow."""
        import numpy as np

        columns = []
        for at in free:
            ends = [places.copy(), places.copy()]
            ends[0][at], ends[1][at] = max(places[at] - STEP, 0.0), min(places[at] + STEP, 1.0)
            below, above = (self.residuals(end, chosen) for end in ends)
            columns.append((above - below) / (ends[1][at] - ends[0][at]))
        return np.stack(columns, axis=1)

    def fitted(self, start: "Array", chosen: list[int], free: list[int], steps: int = MOST_STEPS) -> "Array":
        """Return the places at which the chosen loads are met best; those of parameters that are not free stay."""
        import numpy as np
        from scipy import optimize

        def all_of(moved: "Array") -> "Array":
            places = start.copy()
            places[free] = moved
            return places

        found = optimize.least_squares(
            lambda moved: self.residuals(all_of(moved), chosen),
            np.clip(start[free], 0.01, 0.99),
            jac=lambda moved: self.jacobian(all_of(moved), chosen, free),
            bounds=(0.0, 1.0), max_nfev=steps, xtol=1e-4, ftol=1e-5,
        )  # fmt: skip
        return all_of(found.x)

    def spread(self, places: "Array", chosen: list[int], free: list[int]) -> "tuple[Array, Array]":
        """Return the standard errors of the free parameters' places, and the correlations of these errors."""
        import numpy as np

        residuals, jacobian = self.residuals(places, chosen), self.jacobian(places, chosen, free)
        freedom = max(len(residuals) - len(free), 1)
        # A prior as wide as the ranges keeps what is not told at all finite.
        information = jacobian.T @ jacobian / max(float(residuals @ residuals) / freedom, 1e-8) + np.eye(len(free))
        covariance = np.linalg.inv(information)
        errors = np.sqrt(np.diag(covariance))
        return errors, covariance / np.outer(errors, errors)


@dataclass
class _Fit:
    """Where the parameters end, and what is known of each."""

    places: "Array"
    free: list[int]
    """The parameters that the measurement determines. The others are where they began."""
    errors: "Array"
    """The standard errors of their places."""
    alike: list[str]
    """Pairs that the measurement cannot tell apart, in words."""


def _determined(problem: _Problem, chosen: list[int]) -> _Fit:
    """Fit the parameters that the measurement determines: without the least determined one, until all are."""
    prior = _start(problem.parameters)
    places, free = prior, list(range(len(prior)))
    alike: list[str] | None = None
    while free:
        places = problem.fitted(places, chosen, free)
        errors, correlation = problem.spread(places, chosen, free)
        alike = _alike(problem.parameters, correlation) if alike is None else alike
        widest = int(errors.argmax())
        if errors[widest] <= TOO_WIDE or _is_drawn_to_a_bound(problem, chosen, (places, prior), free[widest]):
            return _Fit(places, free, errors, alike)
        places[free[widest]] = prior[free[widest]]
        del free[widest]
    return _Fit(prior, free, prior[:0], alike or [])


def _is_drawn_to_a_bound(problem: _Problem, chosen: list[int], ends: "tuple[Array, Array]", at: int) -> bool:
    """Return true if a parameter ends at a bound and fits better there than where it began.

    What is far from all bounds leaves errors so large that nothing seems to be determined.
    """
    places, prior = ends
    if AT_BOUND <= places[at] <= 1 - AT_BOUND:
        return False
    began = places.copy()
    began[at] = prior[at]
    squares = [float((problem.residuals(one, chosen) ** 2).sum()) for one in (began, places)]
    return squares[0] > BETTER * squares[1]


def fit(
    scenario: Scenario,
    found: Measurement,
    vary: list[str],
    *,
    stream: str | None = None,
    requests: int = loads.REQUESTS,
    measures: tuple[str, ...] = FITTED,
    cross_validate: bool = True,
    tell: Tell | None = None,
) -> Json:
    """Fit fields of a scenario, each `PATH=LOW..HIGH`, to a measurement; return them as docs/results.md describes it.

    `measures` are those of `loads.MEASURES` that are fitted, which the measurement must have at every load. Without
    `cross_validate` that part is null.
    The search begins at what the scenario or its device has, or halfway between the bounds if that lies outside. Raises
    `ScenarioError` where a field does not exist, or there are fewer loads than fields.
    """
    name = loads.stream_of(scenario, stream)
    of, _ = loads.loads_of(found)
    parameters = [parameter(given, scenario) for given in vary]
    if twice := [path for path, many in Counter(one.path for one in parameters).items() if many > 1]:
        raise refusal("--vary", f"`{twice[0]}` is given twice", "give each field once, with its bounds")
    _refuse_too_few(parameters, of, measures)
    problem = _Problem(scenario, name, parameters, of, requests, measures, tell or (lambda _: None))
    every = list(range(len(of)))
    best = _determined(problem, every)
    told, warnings = _rows(problem, best), [*best.alike, *_warnings(problem, best)]
    judged = None
    if cross_validate:
        problem.doing = "cross-validating"
        judged = _cross_validated(problem, best)
    if judged is None and cross_validate:
        warnings.append("too few loads to fit some and judge on the others: how it predicts is not known")
    values = {row["parameter"]: row["is"] for row in told}
    fitted = scenario.with_(values | {"uncertain": {}})
    # What is known to the last digit written has no interval.
    wide = (row for row in told if row["interval"][0] != row["interval"][1])
    uncertain = {row["parameter"]: f"{row['interval'][0]}..{row['interval'][1]}" for row in wide}
    compared = comparison.compare(fitted, found, stream=name, requests=requests)
    return {
        "parameters": told,
        "warnings": [*warnings, *compared["remarks"]],
        "fitted": compared,
        "cross_validated": judged,
        "scenario": fitted.filled() | {"uncertain": uncertain},
    }


def told_apart(
    scenario: Scenario,
    found: Measurement,
    vary: list[str],
    *,
    requests: int = loads.REQUESTS,
    measures: tuple[str, ...] = FITTED,
) -> list[str]:
    """Return which fields, each `PATH=LOW..HIGH`, a measurement cannot determine; nothing is fitted."""
    of, _ = loads.loads_of(found)
    parameters = [parameter(given, scenario) for given in vary]
    problem = _Problem(scenario, loads.stream_of(scenario, None), parameters, of, requests, measures)
    places, every = _start(parameters), list(range(len(parameters)))
    errors, correlation = problem.spread(places, list(range(len(of))), every)
    known = [one for one, error in zip(parameters, errors, strict=True) if error <= TOO_WIDE]
    return _alike(parameters, correlation) + [_says_little(one) for one in parameters if one not in known]


def _refuse_too_few(parameters: list[Parameter], of: list[Load], measures: tuple[str, ...]) -> None:
    if not parameters:
        raise refusal("--vary", "nothing varies", "say what is fitted: --vary system.drive.service=50 us..500 us")
    # The rate and the mean latency of a closed loop are one number (Little's law).
    each = len(set(measures) - set(FITTED)) + (not set(FITTED).isdisjoint(measures))
    told = sum(len(load.measured) for load in of) * each
    if told < len(parameters):
        what = "operations" if each == 1 else "numbers"
        message = f"{told} measured {what} cannot tell {len(parameters)} parameters"
        raise refusal("--vary", message, "measure under more loads, or fit fewer parameters")


def _start(parameters: list[Parameter]) -> "Array":
    import numpy as np

    return np.array([_begins(one) for one in parameters])


def _begins(one: Parameter) -> float:
    """Return where the search begins: at what the scenario has, where that is a quantity within the bounds."""
    at = place_of(one)
    return 0.5 if at is None else at


def _rows(problem: _Problem, fit: _Fit) -> list[Json]:
    """Return each parameter with its standard error and its 95 % interval."""
    errors = dict(zip(fit.free, map(float, fit.errors), strict=True))
    pairs = enumerate(zip(problem.parameters, map(float, fit.places), strict=True))
    return [_row(one, place, errors.get(at)) for at, (one, place) in pairs]


def _row(one: Parameter, place: float, error: float | None) -> Json:
    """Return a parameter; one without an error keeps its prior, with the bounds as interval."""
    if error is None:
        now, error, ends = one.written(place) if place_of(one) is None else one.was, PRIOR_ERROR, (0.0, 1.0)
        return _told(one, now, one.slope(place) * error, ends) | {"determined": False}
    ends = (max(place - 2 * error, 0.0), min(place + 2 * error, 1.0))
    return _told(one, one.written(place), one.slope(place) * error, ends) | {"determined": True}


def _told(one: Parameter, now: Any, error: float, ends: tuple[float, float]) -> Json:
    interval = [one.written(end) for end in ends]
    return rows.row(one.path, one.was, now, error) | {"unit": one.unit, "interval": interval}


def _alike(parameters: list[Parameter], correlation: "Array") -> list[str]:
    return [
        f"the measurement cannot tell {one.path} and {other.path} apart "
        f"(correlation {correlation[i, j]:+.2f}): fix one, or measure under loads that depend on one alone"
        for (i, one), (j, other) in combinations(enumerate(parameters), 2)
        if abs(correlation[i, j]) > TOO_CLOSE
    ]


def _says_little(one: Parameter) -> str:
    return f"the measurement hardly determines {one.path}: its standard error spans much of its range"


def _warnings(problem: _Problem, fit: _Fit) -> list[str]:
    warnings = []
    for at, (one, place) in enumerate(zip(problem.parameters, fit.places, strict=True)):
        if at not in fit.free:
            begins = "the middle of its bounds" if place_of(one) is None else "its value in the scenario"
            warnings.append(
                f"{_says_little(one)}, so it keeps {begins}, {one.written(place)}, with its bounds as interval"
            )
        elif place < AT_BOUND or place > 1 - AT_BOUND:
            warnings.append(
                f"{one.path} ends at its bound, {one.written(round(place))}: widen it, or something is missing"
            )
    return warnings


def _cross_validated(problem: _Problem, best: _Fit) -> Json | None:
    """Fit without each share of the loads in turn, and judge on it; None where too few remain to fit."""
    many = len(problem.of)
    folds = [list(range(many))[at::FOLDS] for at in range(min(FOLDS, many))]
    if many - max(map(len, folds)) < len(best.free) or many < 2 or not best.free:
        return None
    errors = []
    for fold in folds:
        rest = [at for at in range(many) if at not in fold]
        places = problem.fitted(best.places, rest, best.free, FOLD_STEPS)
        ran = problem.ran(places)
        errors += [row for at in fold for row in comparison.rows_of(problem.of[at], ran[at])]
    return {"folds": len(folds)} | (comparison.summary(errors) or {})


def file_text(found: Json) -> str:
    """Return the fitted scenario as the text of its file, with what was fitted above it."""
    from headrace.devices import device_file

    remarks = ["fitted by `headrace calibrate scenario`: each parameter as it was, is, ± standard error"]
    for row in found["parameters"]:
        error = f"{row['standard_error']:.2g}{' ' + row['unit'] if row['unit'] else ''}"
        remarks.append(f"  {row['parameter']}: {row['was']} → {row['is']} ± {error}")
    return device_file.text(json.loads(json.dumps(found["scenario"])), remarks)


def report(found: Json, file: str | Path | None = None, *, title: str) -> Report:
    """Return the report of what the fit reached; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.fit(found, title, file_text(found)), file)
