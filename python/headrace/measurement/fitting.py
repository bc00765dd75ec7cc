"""Fits named fields of a scenario to a measurement, by least squares within bounds.

Residuals are ln(simulated / measured), of the rate and of the mean latency of each load. All simulations of a load have
the same seed, so that they differ by the parameters alone. The search moves parameters between 0 and 1, on a log scale
where both bounds are above zero. What the measurement does not determine keeps its prior: the value that the scenario
has, anywhere within the bounds.
"""

import json
import math
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.devices import fitted as rows
from headrace.errors import refusal
from headrace.measurement import comparison, loads, posterior
from headrace.measurement.loads import Load
from headrace.measurement.parameter import Parameter, in_unit, parameter, place_of
from headrace.measurement.points import Measurement, Tell
from headrace.measurement.posterior import Fit, Known
from headrace.measurement.problem import FITTED, Problem, independent
from headrace.quantities import counted, size
from headrace.report import Report
from headrace.reports import comparison as reports
from headrace.scenario import Scenario
from headrace.shown import written

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

Json = dict[str, Any]

FOLDS = 5
FOLD_STEPS = 6
# Two parameters whose errors go together so closely cannot be told apart: an error of one is made up for by the other.
TOO_CLOSE = 0.95
# A parameter takes part in what the measurement leaves open with at least this share of its direction.
TAKES_PART = 0.3
APART = "fix one, or measure under loads that depend on one alone"
# A parameter is not known where its standard error is more than this share of its range.
TOO_WIDE = 0.25
# Of one operation, simulated latencies that are off by more on average, under this share of the loads in one direction,
# have a cause that no parameter stands for.
SYSTEMATIC, MOST_LOADS = 0.1, 0.75
AT_BOUND = 1e-2
# At a bound, squares of errors are smaller than where the search began if these are this many times as large.
BETTER = 1.05


def _determined(problem: Problem, chosen: list[int]) -> Fit:
    """Fit the parameters that the measurement determines: without the least determined one, until all are."""
    import numpy as np

    prior = _start(problem.parameters)
    places, free = prior, list(range(len(prior)))
    together: list[str] | None = None
    while free:
        places = problem.fitted(places, chosen, free)
        covariance, variance, reach = problem.spread(places, chosen, free)
        together = _together(problem.parameters, covariance) if together is None else together
        errors = np.sqrt(np.diag(covariance))
        widest = int(errors.argmax())
        if errors[widest] <= TOO_WIDE or _is_drawn_to_a_bound(problem, chosen, (places, prior), free[widest]):
            together = together or _close(problem.parameters, free, covariance)
            return Fit(places, free, covariance, variance, reach, together)
        places[free[widest]] = prior[free[widest]]
        del free[widest]
    return Fit(prior, free, *problem.spread(prior, chosen, free), together or [])


def _is_drawn_to_a_bound(problem: Problem, chosen: list[int], ends: "tuple[Array, Array]", at: int) -> bool:
    """Return true if a parameter ends at a bound and fits better there than where it began.

    What is far from all bounds leaves errors so large that nothing seems to be determined.
    """
    places, prior = ends
    if AT_BOUND <= places[at] <= 1 - AT_BOUND:
        return False
    began = places.copy()
    began[at] = prior[at]
    return problem.squares(began, chosen) > BETTER * problem.squares(places, chosen)


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
    problem = _of_settled(Problem(scenario, name, parameters, of, requests, measures, tell or (lambda _: None)))
    every = list(range(len(problem.of)))
    best = _determined(problem, every)
    known = posterior.known(problem, every, best)
    told = [_row(one, known[at]) for at, one in enumerate(parameters)]
    warnings = []
    if fewer := len(of) - len(problem.of):
        warnings.append(f"fitted without the {counted(fewer, 'load')} under which the scenario had not settled")
    warnings += [*best.together, *_warnings(problem, best, known)]
    judged = None
    if cross_validate:
        problem.doing = "cross-validating"
        judged = _cross_validated(problem, best)
    if judged is None and cross_validate:
        warnings.append("too few loads to fit some and judge on the others: how it predicts is not known")
    values = {row["parameter"]: row["is"] for row in told}
    fitted = scenario.with_(values | {"uncertain": {}})
    compared = comparison.compare(fitted, found, stream=name, requests=requests)
    return {
        "parameters": told,
        "warnings": [*warnings, *compared["remarks"]],
        "fitted": compared,
        "cross_validated": judged,
        "scenario": fitted.filled() | {"uncertain": _uncertain(parameters, known)},
    }


def _of_settled(problem: Problem) -> Problem:
    """Return the problem without loads under which the scenario does not settle, unless too few are left to fit.

    There the simulation is of a beginning, such as of a cache that fills, and the measurement is not. Raises
    `ScenarioError` where it settles under none.
    """
    ran = problem.ran(_start(problem.parameters))
    settled = [load for load, one in zip(problem.of, ran, strict=True) if all(op["settled"] for op in one.values())]
    if not settled:
        message = (
            f"nothing can be fitted: the scenario settles under none of the loads in {problem.requests:,} requests"
        )
        help_ = "simulate more (`--requests`), or give drives the state in which they were measured (`written`)"
        raise refusal("measurement", message, help_)
    enough = sum(len(load.measured) for load in settled) * independent(problem.measures) >= len(problem.parameters)
    return replace(problem, of=settled, simulated={}) if enough and len(settled) < len(problem.of) else problem


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
    problem = Problem(scenario, loads.stream_of(scenario, None), parameters, of, requests, measures)
    places, every = _start(parameters), list(range(len(parameters)))
    covariance, _, _ = problem.spread(places, list(range(len(of))), every)
    wide = [one for one, variance in zip(parameters, covariance.diagonal(), strict=True) if variance > TOO_WIDE**2]
    apart = _together(parameters, covariance) or _close(parameters, every, covariance)
    return apart + [_says_little(one) for one in wide]


def _refuse_too_few(parameters: list[Parameter], of: list[Load], measures: tuple[str, ...]) -> None:
    if not parameters:
        raise refusal("--vary", "nothing varies", "say what is fitted: --vary system.drive.service=50 us..500 us")
    each = independent(measures)
    told = sum(len(load.measured) for load in of) * each
    if told < len(parameters):
        what = "operation" if each == 1 else "number"
        message = f"{counted(told, f'measured {what}')} cannot tell {len(parameters)} parameters"
        raise refusal("--vary", message, "measure under more loads, or fit fewer parameters")


def _start(parameters: list[Parameter]) -> "Array":
    import numpy as np

    return np.array([_begins(one) for one in parameters])


def _begins(one: Parameter) -> float:
    """Return where the search begins: at what the scenario has, where that is a quantity within the bounds."""
    at = place_of(one)
    return 0.5 if at is None else at


def _row(one: Parameter, known: Known) -> Json:
    """Return a parameter with its standard error and its 95 % interval; one that is not determined as it was."""
    was_kept = not known.determined and place_of(one) is not None
    now = one.was if was_kept else one.written(known.place)
    interval = [one.written(end) for end in known.interval]
    row = rows.row(one.path, one.was, now, one.slope(known.place) * known.error)
    return row | {"unit": one.unit, "interval": interval, "determined": known.determined}


def _uncertain(parameters: list[Parameter], known: dict[int, Known]) -> dict[str, str]:
    """Return the intervals as `uncertain` has them; what is known to the last digit written has none."""

    def span(one: Parameter, ends: tuple[float, float]) -> str:
        return "..".join(str(one.written(end)) for end in ends)

    told: dict[str, str] = {}
    for at, of in known.items():
        one = parameters[at]
        others = [
            f"{span(one, ends)} with {parameters[other].path}"
            for other, ends in of.follows.items()
            if parameters[other].path in told
        ]
        if others or one.written(of.own[0]) != one.written(of.own[1]):
            told[one.path] = " and ".join([span(one, _own_interval(one, of)), *others])
    return told


def _own_interval(one: Parameter, of: Known) -> tuple[float, float]:
    """Return the own interval of a parameter, at least as wide as the last digit that is written."""
    low, high, wider = *of.own, 1e-7
    while one.written(low) == one.written(high) and (low, high) != (0.0, 1.0):
        low, high, wider = max(of.place - wider, 0.0), min(of.place + wider, 1.0), 4 * wider
    return low, high


def _close(parameters: list[Parameter], free: list[int], covariance: "Array") -> list[str]:
    """Return which of the fitted parameters make up for each other's errors, two by two."""
    import numpy as np

    errors = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(errors, errors)
    return [
        f"the measurement cannot tell {parameters[free[i]].path} and {parameters[free[j]].path} apart "
        f"(correlation {correlation[i, j]:+.2f}): {APART}"
        for i, j in combinations(range(len(free)), 2)
        if abs(correlation[i, j]) > TOO_CLOSE
    ]


def _together(parameters: list[Parameter], covariance: "Array") -> list[str]:
    """Return which parameters the measurement cannot tell apart: a change of some is made up for by the others."""
    import numpy as np

    variances, directions = np.linalg.eigh(covariance)
    said = []
    for variance, direction in zip(variances, directions.T, strict=True):
        part = [one.path for one, share in zip(parameters, direction, strict=True) if abs(share) >= TAKES_PART]
        if variance > TOO_WIDE**2 and len(part) > 1:
            said.append(f"the measurement cannot tell {', '.join(part[:-1])} and {part[-1]} apart: {APART}")
    return said


def _says_little(one: Parameter) -> str:
    return f"the measurement hardly determines {one.path}: its standard error spans much of its range"


def _warnings(problem: Problem, fit: Fit, known: dict[int, Known]) -> list[str]:
    warnings = []
    for at, (one, place) in enumerate(zip(problem.parameters, fit.places, strict=True)):
        if at not in fit.free:
            begins = _prior_of(one)
            low, high = (one.written(end) for end in known[at].interval)
            warnings.append(
                f"{_says_little(one)}, so it keeps {begins}, {one.written(place)}, with {low}..{high} as interval"
            )
        elif place < AT_BOUND or place > 1 - AT_BOUND:
            warnings.append(
                f"{one.path} ends at its bound, {one.written(round(place))}: widen it, or something is missing"
            )
    return warnings + _systematic(problem, fit)


def _prior_of(one: Parameter) -> str:
    """Return where the search begins, in words."""
    if place_of(one) is not None:
        return "its value in the scenario"
    return "the middle of its bounds" + ("" if one.was is None else f" (the scenario has {one.was}, outside of them)")


def _systematic(problem: Problem, fit: Fit) -> list[str]:
    """Return which operation is simulated too slowly or too fast under most loads, so that something is missing."""
    errors: dict[str, list[float]] = {}
    for load, ran in zip(problem.of, problem.ran(fit.places), strict=True):
        for op, measured in load.measured.items():
            if ran[op]["settled"]:
                errors.setdefault(op, []).append(math.log(ran[op]["mean_ms"] / measured["mean_ms"]))
    warnings = []
    for op, logs in errors.items():
        mean = sum(logs) / len(logs)
        alike = sum(error * mean > 0 for error in logs)
        if alike >= max(MOST_LOADS * len(logs), 2) and abs(mean) > SYSTEMATIC:
            side = "high" if mean > 0 else "low"
            warnings.append(
                f"under {alike} of {len(logs)} loads the simulated latency of {op}s is too {side}, by "
                f"{100 * abs(math.expm1(mean)):.0f} % on average: the scenario lacks something that no parameter makes "
                "up for, and intervals do not say how much"
            )
    return warnings


def _cross_validated(problem: Problem, best: Fit) -> Json | None:
    """Fit without each share of the loads in turn, and judge on it; None where too few remain to fit."""
    many = len(problem.of)
    folds = [list(range(many))[at::FOLDS] for at in range(min(FOLDS, many))]
    if many - max(map(len, folds)) < len(best.free) or many < 2 or not best.free:
        return None
    errors = []
    for fold in folds:
        rest = [at for at in range(many) if at not in fold]
        ran = problem.ran(_without_others(problem, rest, best))
        errors += [row for at in fold for row in comparison.rows_of(problem.of[at], ran[at])]
    return {"folds": len(folds)} | (comparison.summary(errors) or {})


def _without_others(problem: Problem, rest: list[int], best: Fit) -> "Array":
    """Fit to the rest of the loads. What they do not determine begins at its prior: where it ended, other loads say."""
    covariance, _, _ = problem.spread(best.places, rest, best.free)
    start = _start(problem.parameters)
    for at, variance in zip(best.free, covariance.diagonal(), strict=True):
        if variance <= TOO_WIDE**2:
            start[at] = best.places[at]
    if not problem.is_possible(start):
        start = best.places
    return problem.fitted(start, rest, best.free, FOLD_STEPS)


def file_text(found: Json) -> str:
    """Return the fitted scenario as the text of its file, with what was fitted above it."""
    from headrace.devices import device_file

    remarks = ["fitted by `headrace calibrate scenario`: each parameter as it was, is, ± standard error"]
    for row in found["parameters"]:
        error = in_unit(row["unit"], float(f"{row['standard_error']:.2g}"))
        remarks.append(f"  {row['parameter']}: {row['was']} → {row['is']} ± {error}")
    remarks.append(f"  fitted to {_range(reports.settled(found['fitted']['rows']))}; beyond that, it extrapolates")
    return device_file.text(json.loads(json.dumps(found["scenario"])), remarks)


def _range(rows: list[Json]) -> str:
    """Return what loads were fitted to: `reads of 4 KiB to 1 MiB, 1 to 64 in flight`."""
    ops = " and ".join(f"{op}s" for op in ("read", "write") if any(row["op"] == op for row in rows))
    sizes = sorted({row["block_bytes"] for row in rows})
    depths = sorted({row["iodepth"] * row["numjobs"] for row in rows if not row["open"]})
    of_size = size(sizes[0]) if len(sizes) == 1 else f"{size(sizes[0])} to {size(sizes[-1])}"
    flight = [f"{' to '.join(dict.fromkeys(map(str, (depths[0], depths[-1]))))} in flight"] if depths else []
    own = ["at their own rate"] if any(row["open"] for row in rows) else []
    return f"{ops} of {of_size}, {' and '.join(flight + own)}"


def report(found: Json, file: str | Path | None = None, *, title: str) -> Report:
    """Return the report of what the fit reached; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.fit(found, title, file_text(found)), file)
