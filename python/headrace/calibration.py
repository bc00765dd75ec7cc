"""Fit what data sheets do not say of a disk to a measured trace: overheads, rates, settling, seeks; speed and phase.

The first half of the trace is fitted, the second judges. Where the trace keeps the platter's phase, single requests are
fitted (by the measured clock, spindle speed and phase too); elsewhere the distributions of reads and of writes, after a
read and after a write, since there the rotational wait of a single request is a lottery.
"""

import copy
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import device_file, devices, trace, validation

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]
Tell = Callable[[str], object]

# Phases that are pooled while fitting, and quantiles of each class that are held against each other.
PHASES = 6
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
        keeps = validation.of(numbers, first, clock="measured")["keeps_phase"] or _find_speed(numbers, first)
        tell("fitting")
        known = _set_by_cached(numbers, first)
        parameters = [p for p in _parameters(numbers, keeps_phase=keeps) if p.name not in known]
        fitted, found, spread = _fit_single(numbers, parameters, first) if keeps else _fit(numbers, parameters, first)
        told = [
            {"parameter": p.name, "was": p.start, "is": float(value), "standard_error": float(error)}
            for p, value, error in zip(parameters, found, spread, strict=True)
        ]
        tell("judging")
        clocks = ("simulated", "measured") if keeps else ("simulated",)
        judged = {
            half: {clock: validation.of(fitted, part, clock=clock) | {"device": device} for clock in clocks}
            for half, part in (("fitted", first), ("judged", second))
        }
    told += [{"parameter": "rotation, rpm", "was": None, "is": _rpm(fitted), "standard_error": None}] if keeps else []
    overall = judged["judged"]["simulated"]["overall"]
    fitted["validation"] = (
        f"fitted to the first half of {Path(file).name}; on its second half {overall['n']} requests, mean "
        f"{overall['mean_error_percent']:+.2f} %, demerit {overall['demerit_percent']:.2f} % of the mean"
    )
    return {"device": device, "numbers": fitted, "parameters": told, "keeps_phase": keeps, **judged}


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
    overhead = _as_time(_in_ms(numbers["overhead"]))
    for kind in ("read_hit", "read_miss", "write_hit", "write_miss"):
        interface.setdefault(kind, {"after_read": overhead, "after_write": overhead})
    return numbers


def _in_ms(time: Any) -> float:
    return devices.quantity("time", time) / 1e6


def _sector_ms(rate: Any) -> float:
    return 512_000 / devices.quantity("data rate", rate)


def _as_time(ms: float) -> str:
    return f"{max(round(ms * 1e6), 0)} ns"


def _as_rate(sector_ms: float) -> str:
    return f"{512_000 / sector_ms:.3f} B/s"


def _set_by_cached(numbers: Json, file: Path) -> set[str]:
    """Set the interface's rates, and the overheads of what the cache answers, by the requests that only meet those.

    A cached request takes overhead + sectors × time a sector: the slope is the median of those between the medians of
    sizes (Theil and Sen), the overhead the median of what is left. Returns what is known then.
    """
    import numpy as np  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    replayed = validation.Replayed(numbers, file, "simulated", [0.5])
    cached = replayed.way[0] == validation.WAYS.index("cache")
    before_write = np.concatenate([[False], replayed.write[:-1]])
    ends = np.concatenate([[0], (replayed.address + replayed.bytes)[:-1]])
    follows = (replayed.address == ends) & (before_write == replayed.write)
    interface, sectors = numbers["interface"], replayed.bytes / 512
    known = set()
    for op in ("read", "write"):
        which = cached & (replayed.write == (op == "write"))
        each = _slope(sectors[which], replayed.measured[which])
        if each is None or each <= 0:
            continue
        interface[f"{op}_rate"] = _as_rate(each)
        known.add(f"{op}_rate, ms a sector")
        left = replayed.measured - sectors * each - _in_ms(interface.get(f"{op}_completion", "0 ms"))
        # A cached read is a hit, whether it follows or not.
        hits = {"hit": which} if op == "read" else {"hit": which & follows, "miss": which & ~follows}
        for kind, mine in hits.items():
            for after, those in (("after_read", mine & ~before_write), ("after_write", mine & before_write)):
                if those.sum() >= ENOUGH:
                    interface[f"{op}_{kind}"][after] = _as_time(float(np.median(left[those])))
                    known.add(f"{op}_{kind} {after}, ms")
    return known


# So many requests tell a median.
ENOUGH = 20


def _slope(sizes: "np.ndarray[Any, Any]", times: "np.ndarray[Any, Any]") -> float | None:
    import numpy as np  # noqa: PLC0415

    medians = [
        (size, float(np.median(times[sizes == size]))) for size in np.unique(sizes) if (sizes == size).sum() >= ENOUGH
    ]
    slopes = [(b - a) / (y - x) for i, (x, a) in enumerate(medians) for y, b in medians[i + 1 :]]
    return float(np.median(slopes)) if slopes else None


def _parameters(numbers: Json, *, keeps_phase: bool) -> list[Parameter]:
    """Return what is fitted of a disk, in ms."""
    interface, mechanics = numbers["interface"], numbers.get("mechanics")

    def time(section: str, *keys: str) -> Callable[[Json, float], None]:
        def put(into: Json, value: float) -> None:
            place = into[section]
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = _as_time(value)

        return put

    def rate(key: str) -> Callable[[Json, float], None]:
        return lambda into, value: into["interface"].__setitem__(key, _as_rate(value))

    found = [
        Parameter(
            f"{kind} {after}, ms", time("interface", kind, after), _in_ms(interface[kind][after]), 0.05, 0.0, 10.0
        )
        for kind in ("read_hit", "read_miss", "write_hit", "write_miss")
        for after in ("after_read", "after_write")
    ]
    # After the data, or before the command: only where the platter's phase is known does it make a difference.
    for key in ("read_completion", "write_completion") if keeps_phase else ():
        start = _in_ms(interface.setdefault(key, "0 ms"))
        found.append(Parameter(f"{key}, ms", time("interface", key), start, 0.05, 0.0, 5.0))
    for key in ("read_rate", "write_rate"):
        if key in interface:
            start = _sector_ms(interface[key])
            found.append(Parameter(f"{key}, ms a sector", rate(key), start, 0.01 * start, 0.1 * start, 10 * start))
    if mechanics is None:
        return found
    found.append(
        Parameter(
            "write settle, ms",
            time("mechanics", "write_settle"),
            _in_ms(mechanics.get("write_settle", "0 ms")),
            0.05,
            0.0,
            5.0,
        )
    )
    inward, outward = (_in_ms(mechanics.get(f"{way}_more", "0 ms")) for way in ("inward", "outward"))
    began = abs(inward - outward)
    if keeps_phase:
        # Whether a seek just makes its sector depends on where it comes from; distributions do not tell.
        found.append(Parameter("seek inwards longer by, ms", _biased, inward - outward, 0.05, -3.0, 3.0))
    if mechanics.get("seek"):
        curve = [(distance, _in_ms(time)) for distance, time in mechanics["seek"]]
        found += [
            Parameter(
                f"seek near {round(curve[-1][0] * knot**2)} cylinders, ms",
                _bent(curve, knot, began),
                0.0,
                0.05,
                -3.0,
                3.0,
            )
            for knot in KNOTS
        ]
    return found


def _biased(into: Json, value: float) -> None:
    """Make seeks inwards slower by so many ms than those outwards; `_bent` keeps their mean as it is."""
    into["mechanics"]["inward_more"] = _as_time(value)
    into["mechanics"]["outward_more"] = _as_time(-value)
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
        into["mechanics"]["seek"] = [[d, _as_time(t + float(m) - shift)] for (d, t), m in zip(curve, more, strict=True)]

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

    phases = [(at + 0.5) / PHASES for at in range(PHASES)]
    shares = (np.arange(QUANTILES) + 0.5) / QUANTILES

    steps = np.array([p.step for p in parameters])
    start = np.array([p.start for p in parameters])

    def value(scaled: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        """Return parameters from what the search moves: steps from the start, counted from `ZERO`."""
        return start + steps * (scaled - ZERO)

    def residuals(scaled: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
        replayed = validation.Replayed(_with(numbers, parameters, value(scaled)), file, "simulated", phases)
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

    after_write = np.concatenate([[False], replayed.write[:-1]])
    large = replayed.bytes > np.median(replayed.bytes)
    for write in (False, True):
        for after in (False, True):
            for size in (False, True):
                which = (replayed.write == write) & (after_write == after) & (large == size)
                if which.sum() >= QUANTILES:
                    yield which


def _spread(jacobian: "np.ndarray[Any, Any]", residuals: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Return the standard errors that the curvature of the fit gives; large where the trace does not tell."""
    import numpy as np  # noqa: PLC0415

    freedom = max(len(residuals) - jacobian.shape[1], 1)
    covariance = np.linalg.pinv(jacobian.T @ jacobian) * (residuals @ residuals) / freedom
    return np.asarray(np.sqrt(np.clip(np.diag(covariance), 0, None)))


def _find_speed(numbers: Json, file: Path) -> bool:
    """Seek the spindle speed, to parts per million, at which the trace keeps the platter's phase; set it if any."""
    rpm, share = _rpm(numbers), 0.0
    # A tenth of a turn over minutes of trace is a few parts per million: the first search is wide, the last fine.
    for width, steps, phases in ((1e-3, 50, 24), (2e-5, 20, 24), (2e-6, 20, 64), (4e-7, 20, 256)):
        tried = [rpm * (1 + width * at / steps) for at in range(-steps, steps + 1)]
        (share, _), rpm = max((_agreement(_turning(numbers, speed), file, phases), speed) for speed in tried)
    if share < validation.KEPT:
        return False
    numbers["rotation"] = _turning(numbers, rpm)["rotation"]
    return True


def _agreement(numbers: Json, file: Path, phases: int) -> tuple[float, float]:
    """Return how well requests that go to the platter end where the best phase says.

    That is the share of them within a tenth of a turn, in steps of a twentieth, and how near half of them are, in ms
    less than nought.
    """
    import numpy as np  # noqa: PLC0415

    replayed = validation.Replayed(numbers, file, "measured", [at / phases for at in range(phases)])
    errors = np.where(replayed.way == validation.WAYS.index("platter"), np.abs(replayed.errors), np.nan)
    medians = np.nanmedian(errors, axis=1)
    best = int(np.nanargmin(medians))
    share = float((errors[best] < replayed.turn_ms / 10).sum() / max(np.isfinite(errors[best]).sum(), 1))
    return round(share * 20) / 20, -float(medians[best])


def _rpm(numbers: Json) -> float:
    return devices.quantity("frequency", numbers["rotation"]) * 60


def _turning(numbers: Json, rpm: float) -> Json:
    return numbers | {"rotation": {"value": f"{rpm:.4f} rpm", "source": "fitted"}}


def _fit_single(numbers: Json, parameters: list[Parameter], file: Path) -> tuple[Json, Any, Any]:
    """Fit single requests by the measured clock: as few turns off as may be, and the rest as near as may be."""
    import numpy as np  # noqa: PLC0415

    phase = validation.of(numbers, file, clock="measured")["phase"]

    def cost(values: "np.ndarray[Any, Any]", phase: float) -> float:
        replayed = validation.Replayed(_with(numbers, parameters, values), file, "measured", [phase])
        return float(np.minimum(np.abs(replayed.errors[0]), replayed.turn_ms / 4).mean())

    values = np.array([p.start for p in parameters])
    steps = np.array([p.step for p in parameters]) * 4
    low, high = map(np.array, _bounds(parameters))
    best, turn = cost(values, phase), 0.01
    for _ in range(40):
        moved = False
        for at in [*range(len(values)), -1]:
            for sign in (1, -1):
                tried, turned = values.copy(), phase
                if at < 0:
                    turned = phase + sign * turn
                else:
                    tried[at] = np.clip(values[at] + sign * steps[at], low[at], high[at])
                if (reached := cost(tried, turned)) < best:
                    values, phase, best, moved = tried, turned, reached, True
                    break
        if not moved:
            steps, turn = steps / 2, turn / 2
    spread = steps * 2
    return _with(numbers, parameters, values), values, spread


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
    for row in found["parameters"]:
        was, error = (("—" if row[key] is None else f"{row[key]:.4g}") for key in ("was", "standard_error"))
        remarks.append(f"  {row['parameter']}: {was} → {row['is']:.7g} ± {error}")
    return device_file.text(found["numbers"], remarks)
