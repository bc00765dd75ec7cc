"""Fit what data sheets do not say of a disk to a measured trace: overheads, rates, settling, seeks; speed and phase.

The first half of the trace is fitted, the second judges. First the spindle's speed is sought, and where tracks really
begin (`survey`), how the drive reads ahead, and what is told by requests that its cache answers (`cached`). Then, where
the trace keeps the platter's phase, single requests are fitted; elsewhere the distributions of reads and of writes,
after a read and after a write, since there the rotational wait of a single request is a lottery.
"""

import copy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import cached, device_file, devices, fitted, survey, trace, validation

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]
Tell = Callable[[str], object]

# So many quantiles of each class of requests are held against each other.
QUANTILES = 60


@dataclass(frozen=True)
class Parameter:
    """A number of a device that is fitted: how it is put in, where the fit begins, how far it may go."""

    name: str
    put: Callable[[Json, float], None]
    start: float
    step: float
    least: float
    most: float


def calibrate(device: str, file: str | Path, *, beside: str | Path = ".", tell: Tell | None = None) -> Json:
    """Fit a device to a measured trace; return its numbers, parameters with their uncertainty, both halves' judgement.

    Raises `ScenarioError` where the device or the trace cannot be used.
    """
    tell = tell or (lambda _: None)
    numbers = _complete(devices.numbers(device, beside))
    with _halves(Path(file)) as (first, second):
        tell("looking for the platter's phase")
        given = numbers
        numbers, keeps = survey.phased(numbers, first)
        tell("fitting")
        told = survey.changes(given, numbers) + cached.fit_read_ahead(numbers, first)
        told += cached.fit_rates(numbers, first)
        known = {row["parameter"] for row in told}
        parameters = [p for p in _parameters(numbers, keeps_phase=keeps) if p.name not in known]
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
    overhead = devices.time_of(devices.in_ms(numbers["overhead"]))
    for kind in ("read_hit", "read_miss", "write_hit", "write_miss"):
        interface.setdefault(kind, {"after_read": overhead, "after_write": overhead})
    return numbers


def _parameters(numbers: Json, *, keeps_phase: bool) -> list[Parameter]:
    """Return what is fitted of a disk, in ms."""
    found = [*_overheads(numbers["interface"]), *_transfers(numbers["interface"], keeps_phase=keeps_phase)]
    mechanics = numbers.get("mechanics")
    return found if mechanics is None else found + list(_mechanics(mechanics, keeps_phase=keeps_phase))


def _into(told: Callable[[float], Any], *keys: str) -> Callable[[Json, float], None]:
    """Return what puts a number into the numbers of a device, in the place of these keys, as a device file tells it."""

    def put(into: Json, value: float) -> None:
        place = into
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = told(value)

    return put


def _overheads(interface: Json) -> Iterator[Parameter]:
    for kind in ("read_hit", "read_miss", "write_hit", "write_miss"):
        for after in ("after_read", "after_write"):
            put, start = _into(devices.time_of, "interface", kind, after), devices.in_ms(interface[kind][after])
            yield Parameter(f"{kind} {after}, ms", put, start, 0.05, 0.0, 10.0)


def _transfers(interface: Json, *, keeps_phase: bool) -> Iterator[Parameter]:
    # After the data, or before the command: only where the platter's phase is known does it make a difference.
    for key in ("read_completion", "write_completion") if keeps_phase else ():
        put, start = _into(devices.time_of, "interface", key), devices.in_ms(interface.get(key, "0 ms"))
        yield Parameter(f"{key}, ms", put, start, 0.05, 0.0, 5.0)
    for key in ("read_watermark", "write_watermark") if keeps_phase else ():
        put = _into(lambda share: round(share, 4), "interface", key)
        yield Parameter(key, put, interface.get(key) or 0.0, 0.05, 0.0, 1.0)
    for key in ("read_rate", "write_rate"):
        if key in interface:
            put, start = _into(devices.rate_of_sectors, "interface", key), devices.sector_ms(interface[key])
            yield Parameter(f"{key}, ms a sector", put, start, 0.01 * start, 0.1 * start, 10 * start)


def _mechanics(mechanics: Json, *, keeps_phase: bool) -> Iterator[Parameter]:
    settle = devices.in_ms(mechanics.get("write_settle", "0 ms"))
    put = _into(devices.time_of, "mechanics", "write_settle")
    yield Parameter("write settle, ms", put, settle, 0.05, 0.0, 5.0)
    inward, outward = (devices.in_ms(mechanics.get(f"{way}_more", "0 ms")) for way in ("inward", "outward"))
    if keeps_phase:
        # Whether a seek just makes its sector depends on where it comes from; distributions do not tell.
        yield Parameter("seek inwards longer by, ms", _biased, inward - outward, 0.05, -3.0, 3.0)
    if not mechanics.get("seek"):
        return
    curve = [(distance, devices.in_ms(time)) for distance, time in mechanics["seek"]]
    for knot in KNOTS:
        name = f"seek near {round(curve[-1][0] * knot**2)} cylinders, ms"
        yield Parameter(name, _bent(curve, knot, abs(inward - outward)), 0.0, 0.05, -3.0, 3.0)


def _biased(into: Json, value: float) -> None:
    """Make seeks inwards slower by so many ms than those outwards; `_bent` keeps their mean as it is."""
    into["mechanics"]["inward_more"] = devices.time_of(value)
    into["mechanics"]["outward_more"] = devices.time_of(-value)
    into["_bias"] = abs(value)


# Where a seek curve is bent, as the square root of the share of the full stroke; on straight lines in between.
KNOTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)


def _bent(curve: list[tuple[int, float]], knot: float, began: float) -> Callable[[Json, float], None]:
    """Return what bends a seek curve at one knot, beside the bends that others put there."""
    longest = curve[-1][0]

    def put(into: Json, value: float) -> None:
        import numpy as np  # noqa: PLC0415

        # The table that is bent had its mean with the bias that the fit began from.
        shift = (into.get("_bias", began) - began) / 2
        bends = into.setdefault("_bends", dict.fromkeys(KNOTS, 0.0))
        bends[knot] = value
        more = np.interp([(d / longest) ** 0.5 for d, _ in curve], KNOTS, list(bends.values()))
        into["mechanics"]["seek"] = [
            [d, devices.time_of(t + float(m) - shift)] for (d, t), m in zip(curve, more, strict=True)
        ]

    return put


def _with(numbers: Json, parameters: list[Parameter], values: "np.ndarray[Any, Any]") -> Json:
    changed = copy.deepcopy(numbers)
    for parameter, value in zip(parameters, values, strict=True):
        parameter.put(changed, float(value))
    changed.pop("_bends", None)
    changed.pop("_bias", None)
    return changed


def _bounds(parameters: list[Parameter]) -> tuple[list[float], list[float]]:
    return [p.least for p in parameters], [p.most for p in parameters]


def _fit(numbers: Json, parameters: list[Parameter], file: Path) -> tuple[Json, Any, Any]:
    """Fit distributions: the quantiles of each class of requests, by least squares."""
    import numpy as np  # noqa: PLC0415 - they take longer to load than `headrace --help` may
    from scipy import optimize  # noqa: PLC0415

    clock = validation.clock_for(numbers, file)
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES

    steps = np.array([p.step for p in parameters])
    start = np.array([p.start for p in parameters])

    def value(scaled: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Return parameters from what the search moves: steps from the start, counted from `ZERO`."""
        return start + steps * (scaled - ZERO)

    def residuals(scaled: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        replayed = validation.Replayed(_with(numbers, parameters, value(scaled)), file, clock, validation.pooled())
        parts = []
        for which in _classes(replayed):
            apart = np.quantile(replayed.simulated[:, which], shares) - np.quantile(replayed.measured[which], shares)
            parts.append(apart * (which.mean() / QUANTILES) ** 0.5)
            parts.append([replayed.errors[:, which].mean() * which.mean() ** 0.5])
        # What the trace does not tell stays where it was.
        parts.append((scaled - ZERO) * PRIOR)
        return np.concatenate(parts)

    low, high = ((np.array(bound) - start) / steps + ZERO for bound in _bounds(parameters))
    scaled = np.clip(np.full(len(start), ZERO), low + 1e-6, high)
    for shrink in (2.0, 0.5, 0.1):
        found = optimize.least_squares(
            residuals, scaled, bounds=(low, high), loss="soft_l1", f_scale=0.02, diff_step=shrink / ZERO, max_nfev=12
        )
        scaled = found.x
    values = value(scaled)
    return _with(numbers, parameters, values), values, _spread(found.jac, found.fun) * steps


# What a step away from where a parameter began costs, in ms.
PRIOR = 0.003

# Where the search begins; far from nought, since its steps are shares of where it is.
ZERO = 1000.0


def _classes(replayed: validation.Replayed) -> "Iterator[np.ndarray[Any, Any]]":
    """Give reads and writes, after a read and after a write, small and large, as far as there are enough of each."""
    import numpy as np  # noqa: PLC0415

    large = replayed.bytes > np.median(replayed.bytes)
    for write in (False, True):
        for after in (False, True):
            for size in (False, True):
                which = (replayed.write == write) & (replayed.after_write == after) & (large == size)
                if which.sum() >= QUANTILES:
                    yield which


def _spread(jacobian: "np.ndarray[Any, Any]", residuals: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return the standard errors that the curvature of the fit gives; large where the trace does not tell."""
    import numpy as np  # noqa: PLC0415

    freedom = max(len(residuals) - jacobian.shape[1], 1)
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * (residuals @ residuals) / freedom
    return np.asarray(np.sqrt(np.clip(np.diag(covariance), 0, None)))


def _fit_single(numbers: Json, parameters: list[Parameter], file: Path) -> tuple[Json, Any, Any]:
    """Fit single requests: as few turns off as may be, and the rest as near as may be.

    Each is issued the trace's think time after its predecessor's simulated completion: completions lock to the platter,
    so an error is of its own request, and neither the speed's last digit nor a jump of the clock spoils the rest.
    """
    import numpy as np  # noqa: PLC0415

    def apart(values: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        replayed = validation.Replayed(_with(numbers, parameters, values), file, "simulated", [0.5])
        return np.asarray(np.minimum(np.abs(replayed.errors[0]), replayed.turn_ms / 4))

    values = np.array([p.start for p in parameters])
    steps = np.array([p.step for p in parameters]) * 4
    low, high = map(np.array, _bounds(parameters))
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
    return _with(numbers, parameters, values), values, np.array(spread)


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


def in_words(found: Json) -> str:
    """Return what a calibration reached, in a sentence."""
    overall = found["judged"]["simulated"]["overall"]
    said = (
        f"{found['device']}, fitted to one half of the trace, is {overall['mean_error_percent']:+.2f} % off the mean "
        f"of the other, with a demerit of {overall['demerit_percent']:.2f} %"
    )
    if found["keeps_phase"]:
        single = found["judged"]["measured"]
        said += (
            f"; request by request {single['off_by_a_turn_percent']:.1f} % are off by a turn, the rest agree within "
            f"{single['rest_rms_ms']:.2f} ms RMS"
        )
    return said + "."


def file_text(found: Json) -> str:
    """Return the fitted device as the text of a device file, what was fitted told above it."""
    remarks = [
        f"{found['device']}, fitted by `headrace calibrate disk`: each parameter as it was, is, ± standard error"
    ]
    for parameter, was, now, error in map(fitted.words, found["parameters"]):
        remarks.append(f"  {parameter}: {was} → {now}{'' if error == '—' else f' ± {error}'}")
    return device_file.text(found["numbers"], remarks)
