"""Fit what data sheets do not say of a disk to a measured trace: overheads, rates, settling, seeks; speed and phase.

The first half of the trace is fitted, the second judges. First the spindle's speed is sought, and where tracks really
begin (`survey`), how the drive reads ahead, and what requests answered by its cache reveal (`cached`). Then, where
the trace keeps the platter's phase, single requests are fitted; elsewhere the distributions of reads and of writes,
after a read and after a write, since there the rotational wait of a single request is a lottery.
"""

import copy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import trace
from headrace.devices import cached, catalogue, device_file, fitted, quantities, survey, validation
from headrace.devices.parameters import Parameter, bounds, parameters_of, with_values
from headrace.measurement.points import Tell
from headrace.report import Report
from headrace.reports import validation as reports
from headrace.shown import written

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]

# Number of quantiles compared for each class of requests.
QUANTILES = 60


def calibrate(device: str, file: str | Path, *, beside: str | Path = ".", tell: Tell | None = None) -> Json:
    """Fit a device to a measured trace; return its numbers, parameters with their uncertainty, both halves' judgement.

    Raises `ScenarioError` where the device or the trace cannot be used.
    """
    tell = tell or (lambda _: None)
    numbers = _complete(catalogue.numbers(device, beside))
    with _halves(Path(file)) as (first, second):
        tell("looking for the platter's phase")
        given = numbers
        numbers, keeps = survey.phased(numbers, first)
        tell("fitting")
        told = survey.changes(given, numbers) + cached.fit_read_ahead(numbers, first)
        told += cached.fit_rates(numbers, first)
        known = {row["parameter"] for row in told}
        parameters = [p for p in parameters_of(numbers, keeps_phase=keeps) if p.name not in known]
        best, found, spread = _fit_single(numbers, parameters, first) if keeps else _fit(numbers, parameters, first)
        told += [
            fitted.row(p.name, p.start, float(value), float(error))
            for p, value, error in zip(parameters, found, spread, strict=True)
        ]
        tell("judging")
        clocks = ("simulated", "measured") if keeps else ("simulated",)
        judged = {
            half: {clock: validation.of(best, part, clock=clock) | {"device": device} for clock in clocks}
            for half, part in (("fitted", first), ("judged", second))
        }
    overall = judged["judged"]["simulated"]["overall"]
    best["validation"] = (
        f"fitted to the first half of {Path(file).name}; on its second half {overall['n']} requests, mean "
        f"{overall['mean_error_percent']:+.2f} %, demerit {overall['demerit_percent']:.2f} % of the mean"
    )
    return {"device": device, "numbers": best, "parameters": told, "keeps_phase": keeps, **judged}


@contextmanager
def _halves(file: Path) -> Iterator[tuple[Path, Path]]:
    """Give the two halves of a trace as files of their own."""
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        whole = Path(folder) / "whole.csv"
        trace.convert(file, whole)
        header, *lines = whole.read_text(encoding="utf-8").splitlines(keepends=True)
        halves = Path(folder) / "first.csv", Path(folder) / "second.csv"
        middle = len(lines) // 2
        for half, part in zip(halves, (lines[:middle], lines[middle:]), strict=True):
            half.write_text(header + "".join(part), encoding="utf-8")
        yield halves


def _complete(numbers: Json) -> Json:
    """Return the numbers with all that is fitted written out."""
    numbers = copy.deepcopy(numbers)
    interface = numbers.setdefault("interface", {})
    overhead = quantities.time_of(quantities.in_ms(numbers["overhead"]))
    for kind in ("read_hit", "read_miss", "write_hit", "write_miss"):
        interface.setdefault(kind, {"after_read": overhead, "after_write": overhead})
    return numbers


def _fit(numbers: Json, parameters: list[Parameter], file: Path) -> tuple[Json, Any, Any]:
    """Fit distributions: the quantiles of each class of requests, by least squares."""
    import numpy as np
    from scipy import optimize

    clock = validation.clock_for(numbers, file)
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES

    steps = np.array([p.step for p in parameters])
    start = np.array([p.start for p in parameters])

    def value(scaled: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Return parameters from what the search moves: steps from the start, counted from `ZERO`."""
        return start + steps * (scaled - ZERO)

    def residuals(scaled: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        replayed = validation.Replayed(
            with_values(numbers, parameters, value(scaled)), file, clock, validation.pooled()
        )
        parts = []
        for which in _classes(replayed):
            apart = np.quantile(replayed.simulated[:, which], shares) - np.quantile(replayed.measured[which], shares)
            parts.append(apart * (which.mean() / QUANTILES) ** 0.5)
            parts.append([replayed.errors[:, which].mean() * which.mean() ** 0.5])
        # What the trace does not determine stays where it was.
        parts.append((scaled - ZERO) * PRIOR)
        return np.concatenate(parts)

    low, high = ((np.array(bound) - start) / steps + ZERO for bound in bounds(parameters))
    scaled = np.clip(np.full(len(start), ZERO), low + 1e-6, high)
    for shrink in (2.0, 0.5, 0.1):
        found = optimize.least_squares(
            residuals, scaled, bounds=(low, high), loss="soft_l1", f_scale=0.02, diff_step=shrink / ZERO, max_nfev=12
        )
        scaled = found.x
    values = value(scaled)
    return with_values(numbers, parameters, values), values, _spread(found.jac, found.fun) * steps


# What a step away from where a parameter began costs, in ms.
PRIOR = 0.003

# Where the search begins; far from nought, since its steps are shares of where it is.
ZERO = 1000.0


def _classes(replayed: validation.Replayed) -> "Iterator[np.ndarray[Any, Any]]":
    """Give reads and writes, after a read and after a write, small and large, as far as there are enough of each."""
    import numpy as np

    large = replayed.bytes > np.median(replayed.bytes)
    for write in (False, True):
        for after in (False, True):
            for size in (False, True):
                which = (replayed.write == write) & (replayed.after_write == after) & (large == size)
                if which.sum() >= QUANTILES:
                    yield which


def _spread(jacobian: "np.ndarray[Any, Any]", residuals: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return standard errors from the curvature of the fit; large if the trace does not determine the value."""
    import numpy as np

    freedom = max(len(residuals) - jacobian.shape[1], 1)
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * (residuals @ residuals) / freedom
    return np.asarray(np.sqrt(np.clip(np.diag(covariance), 0, None)))


def _fit_single(numbers: Json, parameters: list[Parameter], file: Path) -> tuple[Json, Any, Any]:
    """Fit single requests: as few turns off as may be, and the rest as near as may be.

    Each is issued the trace's think time after its predecessor's simulated completion: completions lock to the platter,
    so an error is of its own request, and neither the speed's last digit nor a jump of the clock spoils the rest.
    """
    import numpy as np

    def apart(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        replayed = validation.Replayed(with_values(numbers, parameters, values), file, "simulated", [0.5])
        return np.asarray(np.minimum(np.abs(replayed.errors[0]), replayed.turn_ms / 4))

    values = np.array([p.start for p in parameters])
    steps = np.array([p.step for p in parameters]) * 4
    low, high = map(np.array, bounds(parameters))
    best = apart(values).mean()
    for _ in range(ROUNDS):
        moved = False
        for at in range(len(values)):
            for sign in (1, -1):
                tried = values.copy()
                tried[at] = np.clip(values[at] + sign * steps[at], low[at], high[at])
                if (reached := apart(tried).mean()) < best:
                    values, best, moved = tried, reached, True
                    break
        steps = steps if moved else steps / 2
    spread = [_untold(apart, values, at, parameter) for at, parameter in enumerate(parameters)]
    return with_values(numbers, parameters, values), values, np.array(spread)


# So often all parameters are tried in turn; steps halve where none brings anything.
ROUNDS = 40


def _untold(
    apart: "Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]",
    values: "np.ndarray[Any, Any]",
    at: int,
    parameter: Parameter,
) -> float:
    """Return how far a parameter may be moved before requests tell: until they are off by a standard error more."""
    best = apart(values)

    def untold(sign: int, room: float) -> float:
        step = parameter.step / 16
        while step < room:
            tried = values.copy()
            tried[at] += sign * step
            worse = apart(tried) - best
            if worse.mean() > worse.std() / len(worse) ** 0.5 > 0:
                break
            step *= 2
        return min(step, room)

    rooms = {-1: values[at] - parameter.least, 1: parameter.most - values[at]}
    # Where it stands at its bound it can move one way only.
    reached = [untold(sign, float(room)) for sign, room in rooms.items() if room > 0]
    return sum(reached) / len(reached)


def file_text(found: Json) -> str:
    """Return the fitted device as the text of a device file, what was fitted told above it."""
    remarks = [
        f"{found['device']}, fitted by `headrace calibrate disk`: each parameter as it was, is, ± standard error"
    ]
    for parameter, was, now, error in map(fitted.words, found["parameters"]):
        remarks.append(f"  {parameter}: {was} → {now}{'' if error == '—' else f' ± {error}'}")
    return device_file.text(found["numbers"], remarks)


def report(found: Json, file: str | Path | None = None) -> Report:
    """Return the report of what the fit reached; with `file`, write it as one HTML page: whole, or not at all."""
    return written(reports.calibration(found, file_text(found)), file)
