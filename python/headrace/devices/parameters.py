"""The numbers of a disk that are fitted: what each is, where a fit begins, and how it is put into a device."""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headrace.devices import quantities

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]


@dataclass(frozen=True)
class Parameter:
    """A number of a device that is fitted: how it is put in, where the fit begins, how far it may go."""

    name: str
    put: Callable[[Json, float], None]
    start: float
    step: float
    least: float
    most: float


def parameters_of(numbers: Json, *, keeps_phase: bool) -> list[Parameter]:
    """Return what is fitted of a disk, in ms."""
    found = [*_overheads(numbers["interface"]), *_transfers(numbers["interface"], keeps_phase=keeps_phase)]
    mechanics = numbers.get("mechanics")
    return found if mechanics is None else found + list(_mechanics(mechanics, keeps_phase=keeps_phase))


def _into(told: Callable[[float], Any], *keys: str) -> Callable[[Json, float], None]:
    """Return what puts a number into the numbers of a device, instead of these keys, as a device file tells it."""

    def put(into: Json, value: float) -> None:
        place = into
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = told(value)

    return put


def _overheads(interface: Json) -> Iterator[Parameter]:
    for kind in ("read_hit", "read_miss", "write_hit", "write_miss"):
        for after in ("after_read", "after_write"):
            put, start = _into(quantities.time_of, "interface", kind, after), quantities.in_ms(interface[kind][after])
            yield Parameter(f"{kind} {after}, ms", put, start, 0.05, 0.0, 10.0)


def _transfers(interface: Json, *, keeps_phase: bool) -> Iterator[Parameter]:
    # After the data, or before the command: only where the platter's phase is known does it make a difference.
    for key in ("read_completion", "write_completion") if keeps_phase else ():
        put, start = _into(quantities.time_of, "interface", key), quantities.in_ms(interface.get(key, "0 ms"))
        yield Parameter(f"{key}, ms", put, start, 0.05, 0.0, 5.0)
    for key in ("read_watermark", "write_watermark") if keeps_phase else ():
        put = _into(lambda share: round(share, 4), "interface", key)
        yield Parameter(key, put, interface.get(key) or 0.0, 0.05, 0.0, 1.0)
    for key in ("read_rate", "write_rate"):
        if key in interface:
            put, start = _into(quantities.rate_of_sectors, "interface", key), quantities.sector_ms(interface[key])
            yield Parameter(f"{key}, ms a sector", put, start, 0.01 * start, 0.1 * start, 10 * start)


def _mechanics(mechanics: Json, *, keeps_phase: bool) -> Iterator[Parameter]:
    # No arm settles sooner for a write than for a read. Where a DiskSim file says so, its seek times or overheads are
    # too long for reads, and writes too early make up for reads too late. A fit begins from none, and finds the others.
    settle = max(quantities.difference_in_ms(mechanics.get("write_settle", "0 ms")), 0.0)
    put = _into(quantities.time_of, "mechanics", "write_settle")
    yield Parameter("write settle, ms", put, settle, 0.05, 0.0, 5.0)
    inward, outward = (quantities.in_ms(mechanics.get(f"{way}_more", "0 ms")) for way in ("inward", "outward"))
    if keeps_phase:
        # Whether a seek just makes its sector depends on where it comes from; distributions do not show it.
        yield Parameter("seek inwards longer by, ms", _biased, inward - outward, 0.05, -3.0, 3.0)
    if not mechanics.get("seek"):
        return
    curve = [(distance, quantities.in_ms(time)) for distance, time in mechanics["seek"]]
    for knot in KNOTS:
        name = f"seek near {round(curve[-1][0] * knot**2)} cylinders, ms"
        yield Parameter(name, _bent(curve, knot, abs(inward - outward)), 0.0, 0.05, -3.0, 3.0)


def _biased(into: Json, value: float) -> None:
    """Make inward seeks slower than outward ones by this many ms; `_bent` preserves their mean."""
    into["mechanics"]["inward_more"] = quantities.time_of(value)
    into["mechanics"]["outward_more"] = quantities.time_of(-value)
    into["_bias"] = abs(value)


# Where a seek curve is bent, as the square root of the share of the full stroke; on straight lines in between.
KNOTS = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0)


def _bent(curve: list[tuple[int, float]], knot: float, began: float) -> Callable[[Json, float], None]:
    """Return what bends a seek curve at one knot, beside the bends that others put there."""
    longest = curve[-1][0]

    def put(into: Json, value: float) -> None:
        import numpy as np

        # The table that is bent had its mean with the bias that the fit began from.
        shift = (into.get("_bias", began) - began) / 2
        bends = into.setdefault("_bends", dict.fromkeys(KNOTS, 0.0))
        bends[knot] = value
        more = np.interp([(d / longest) ** 0.5 for d, _ in curve], KNOTS, list(bends.values()))
        into["mechanics"]["seek"] = [
            [d, quantities.time_of(t + float(m) - shift)] for (d, t), m in zip(curve, more, strict=True)
        ]

    return put


def with_values(numbers: Json, parameters: list[Parameter], values: "np.ndarray[Any, Any]") -> Json:
    """Return the numbers with parameters at these values."""
    changed = copy.deepcopy(numbers)
    for parameter, value in zip(parameters, values, strict=True):
        parameter.put(changed, float(value))
    changed.pop("_bends", None)
    changed.pop("_bias", None)
    return changed


def bounds(parameters: list[Parameter]) -> tuple[list[float], list[float]]:
    """Return the least and the most of each."""
    return [p.least for p in parameters], [p.most for p in parameters]
