"""Fits named fields of a scenario to a measurement, by least squares within bounds.

Residuals are ln(simulated / measured), of the rate and of the mean latency of each load. All simulations of a load have
the same seed, so that they differ by the parameters alone. The search moves parameters between 0 and 1, on a log scale
where both bounds are above zero.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.devices import fitted as rows
from headrace.errors import refusal
from headrace.measurement import comparison, loads
from headrace.measurement.loads import Load
from headrace.measurement.points import Measurement, Tell
from headrace.report import Report
from headrace.reports import comparison as reports
from headrace.scenario import Scenario
from headrace.shown import written

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Json = dict[str, Any]

# What a quantity can be, with the unit in which it is written back.
KINDS = {"time": "ns", "size": "B", "data rate": "B/s", "frequency": "/s"}
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
AT_BOUND = 1e-3


@dataclass(frozen=True)
class FittedParameter:
    """A field of the scenario that is fitted, with its bounds as numbers in `unit`."""

    path: str
    low: float
    high: float
    unit: str
    was: Any = None

    @property
    def logarithmic(self) -> bool:
        """True if the search steps by ratios."""
        return self.low > 0

    def value(self, at: float) -> float:
        """Return the value at a place from 0 to 1 between the bounds."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** at)
        return self.low + (self.high - self.low) * at

    def place(self, value: float) -> float:
        """Return where a value lies between the bounds, from 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def slope(self, at: float) -> float:
        """Return by how much the value changes with the place."""
        return self.value(at) * math.log(self.high / self.low) if self.logarithmic else self.high - self.low

    def written(self, at: float) -> Any:
        """Return the value as the scenario has it."""
        value = self.value(at)
        if not self.unit:
            return float(f"{value:.8g}")
        return f"{round(value)} {self.unit}" if self.unit in {"ns", "B"} else f"{value:.8g} {self.unit}"


def parameter(given: str, scenario: Scenario) -> FittedParameter:
    """Return what `PATH=LOW..HIGH` says, such as `system.drive.service=50 us..500 us`."""
    path, equals, span = (part.strip() for part in given.partition("="))
    low, dots, high = (part.strip() for part in span.partition(".."))
    if not (path and equals and dots and low and high):
        raise refusal(given, f"`{given}` is not PATH=LOW..HIGH", "write it as system.drive.service=50 us..500 us")
    ends = _ends(given, low, high)
    if not ends[0] < ends[1]:
        raise refusal(given, f"`{given}`: {low} is not below {high}", "give the smaller bound first")
    was = _value_at(scenario.filled(), path)
    if isinstance(was, int) and not isinstance(was, bool):
        told = f"`{path}` is a whole number; least squares needs one that can change a little"
        raise refusal(given, told, f"try values one by one: headrace validate with {path} set, or headrace optimise")
    return FittedParameter(path, *ends, was=was)


def _ends(given: str, low: str, high: str) -> tuple[float, float, str]:
    for kind, unit in ({"": ""} | KINDS).items():
        try:
            ends = [_core.quantity(kind, text) if kind else float(text) for text in (low, high)]
        except ValueError:
            continue
        if all(math.isfinite(end) for end in ends):
            return ends[0], ends[1], unit
    told = f"`{given}`: `{low}` and `{high}` are not two quantities of one kind"
    raise refusal(given, told, "give both with a unit: times, sizes, data rates, frequencies; or as plain numbers")


def _value_at(document: Any, path: str) -> Any:
    """Return what stands in a document, or None: what has a default may be absent, and `--set` can go deeper."""
    for step in path.split("."):
        if not isinstance(document, Mapping) or step not in document:
            return None
        document = document[step]
    return None if isinstance(document, Mapping) else document


@dataclass
class _Problem:
    """Parameters, loads, and how far off the scenario is for given values."""

    scenario: Scenario
    stream: str
    parameters: list[FittedParameter]
    of: list[Load]
    requests: int
    measures: tuple[str, ...] = FITTED
    known: dict[tuple[float, ...], list[dict[str, Json]]] = field(default_factory=dict)

    def with_values(self, places: "Array") -> Scenario:
        values = {one.path: one.written(at) for one, at in zip(self.parameters, places, strict=True)}
        return self.scenario.with_(values)

    def ran(self, places: "Array") -> list[dict[str, Json]]:
        """Return what is simulated under each load; each set of values is simulated once."""
        key = tuple(float(at) for at in places)
        if key not in self.known:
            document = self.with_values(places).filled()
            self.known[key] = comparison.all_of(document, self.scenario.file, self.stream, self.of, self.requests)
        return self.known[key]

    def residuals(self, places: "Array", chosen: list[int]) -> "Array":
        import numpy as np  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

        ran = self.ran(places)
        return np.array([
            math.log(ran[at][op][name] / measured[name])
            for at in chosen
            for op, measured in self.of[at].measured.items()
            for name in self.measures
        ])  # fmt: skip

    def jacobian(self, places: "Array", chosen: list[int]) -> "Array":
        """Return derivatives by differences to both sides, as far as the bounds allow."""
        import numpy as np  # noqa: PLC0415

        columns = []
        for at in range(len(places)):
            ends = [places.copy(), places.copy()]
            ends[0][at], ends[1][at] = max(places[at] - STEP, 0.0), min(places[at] + STEP, 1.0)
            below, above = (self.residuals(end, chosen) for end in ends)
            columns.append((above - below) / (ends[1][at] - ends[0][at]))
        return np.stack(columns, axis=1)

    def fitted(self, start: "Array", chosen: list[int], steps: int = MOST_STEPS) -> "Array":
        """Return the places at which the chosen loads are met best."""
        import numpy as np  # noqa: PLC0415
        from scipy import optimize  # noqa: PLC0415

        found = optimize.least_squares(
            self.residuals, np.clip(start, 0.01, 0.99), jac=self.jacobian, args=(chosen,), bounds=(0.0, 1.0),
            max_nfev=steps, xtol=1e-4, ftol=1e-5,
        )  # fmt: skip
        return np.asarray(found.x)


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
    The search begins at what the scenario has, or halfway between the bounds. Raises `ScenarioError` where a field does
    not exist, or there are fewer loads than fields.
    """
    tell = tell or (lambda _: None)
    name = loads.stream_of(scenario, stream)
    of, remarks = loads.loads_of(found)
    parameters = [parameter(given, scenario) for given in vary]
    _refuse_too_few(parameters, of, measures)
    problem = _Problem(scenario, name, parameters, of, requests, measures)
    every = list(range(len(of)))
    tell("fitting")
    best = problem.fitted(_start(parameters), every)
    told, warnings = _known(problem, best, every)
    judged = None
    if cross_validate:
        tell("cross-validating")
        judged = _cross_validated(problem, best)
    if judged is None and cross_validate:
        warnings.append("too few loads to fit some and judge on the others: how it predicts is not known")
    fitted = problem.with_values(best)
    return {
        "parameters": told,
        "warnings": [*warnings, *remarks],
        "fitted": comparison.compare(fitted, found, stream=name, requests=requests),
        "cross_validated": judged,
        "scenario": fitted.filled(),
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
    return _known(problem, _start(parameters), list(range(len(of))))[1]


def _refuse_too_few(parameters: list[FittedParameter], of: list[Load], measures: tuple[str, ...]) -> None:
    if not parameters:
        raise refusal("--vary", "nothing varies", "say what is fitted: --vary system.drive.service=50 us..500 us")
    # The rate and the mean latency of a closed loop are one number (Little's law).
    each = len(set(measures) - set(FITTED)) + (not set(FITTED).isdisjoint(measures))
    told = sum(len(load.measured) for load in of) * each
    if told < len(parameters):
        what = "operations" if each == 1 else "numbers"
        message = f"{told} measured {what} cannot tell {len(parameters)} parameters"
        raise refusal("--vary", message, "measure under more loads, or fit fewer parameters")


def _start(parameters: list[FittedParameter]) -> "Array":
    import numpy as np  # noqa: PLC0415

    return np.array([_begins(one) for one in parameters])


def _begins(one: FittedParameter) -> float:
    """Return where the search begins: at what the scenario has, where that is a quantity within the bounds."""
    if one.was is None:
        return 0.5
    try:
        value = _ends("", str(one.was), str(one.was))[0]
    except _core.ScenarioError:
        return 0.5
    return min(max(one.place(value), 0.0), 1.0) if value > 0 or not one.logarithmic else 0.5


def _known(problem: _Problem, best: "Array", chosen: list[int]) -> tuple[list[Json], list[str]]:
    """Return each parameter with its standard error, and which the measurement cannot determine."""
    import numpy as np  # noqa: PLC0415

    residuals, jacobian = problem.residuals(best, chosen), problem.jacobian(best, chosen)
    freedom = max(len(residuals) - len(best), 1)
    # A prior as wide as the ranges keeps what is not told at all finite.
    information = jacobian.T @ jacobian / max(float(residuals @ residuals) / freedom, 1e-8) + np.eye(len(best))
    covariance = np.linalg.inv(information)
    spread = np.sqrt(np.diag(covariance))
    told = [
        rows.row(one.path, one.was, one.written(at))
        | {"standard_error": one.slope(at) * float(error), "unit": one.unit}
        for one, at, error in zip(problem.parameters, best, spread, strict=True)
    ]
    return told, _warnings(problem.parameters, best, spread, covariance / np.outer(spread, spread))


def _warnings(parameters: list[FittedParameter], best: "Array", spread: "Array", correlation: "Array") -> list[str]:
    warnings = []
    for (i, one), (j, other) in combinations(enumerate(parameters), 2):
        if abs(correlation[i, j]) > TOO_CLOSE:
            warnings.append(
                f"the measurement cannot tell {one.path} and {other.path} apart "
                f"(correlation {correlation[i, j]:+.2f}): fix one, or measure under loads that depend on one alone"
            )
    for one, at, error in zip(parameters, best, spread, strict=True):
        if error > TOO_WIDE:
            warnings.append(f"the measurement says little of {one.path}: its standard error spans much of its range")
        elif at < AT_BOUND or at > 1 - AT_BOUND:
            warnings.append(
                f"{one.path} ends at its bound, {one.written(round(at))}: widen it, or something is missing"
            )
    return warnings


def _cross_validated(problem: _Problem, best: "Array") -> Json | None:
    """Fit without each share of the loads in turn, and judge on it; None where too few remain to fit."""
    many = len(problem.of)
    folds = [list(range(many))[at::FOLDS] for at in range(min(FOLDS, many))]
    if many - max(map(len, folds)) < len(problem.parameters) or many < 2:
        return None
    errors = []
    for fold in folds:
        rest = [at for at in range(many) if at not in fold]
        places = problem.fitted(best, rest, FOLD_STEPS)
        ran = problem.ran(places)
        errors += [row for at in fold for row in comparison.rows_of(problem.of[at], ran[at])]
    return {"folds": len(folds)} | (comparison.summary(errors) or {})


def file_text(found: Json) -> str:
    """Return the fitted scenario as the text of its file, with what was fitted above it."""
    from headrace.devices import device_file  # noqa: PLC0415

    remarks = ["fitted by `headrace calibrate scenario`: each parameter as it was, is, ± standard error"]
    for row in found["parameters"]:
        error = f"{row['standard_error']:.2g}{' ' + row['unit'] if row['unit'] else ''}"
        remarks.append(f"  {row['parameter']}: {row['was']} → {row['is']} ± {error}")
    return device_file.text(json.loads(json.dumps(found["scenario"])), remarks)


def report(found: Json, file: str | Path | None = None, *, title: str) -> Report:
    """Return the report of what the fit reached; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.fit(found, title, file_text(found)), file)
