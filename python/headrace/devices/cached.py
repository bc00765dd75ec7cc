"""Parameters found from requests answered by a drive's cache: read-ahead, rates, overheads of hits."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.devices import fitted, quantities, validation

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]

# Minimum number of requests for a median.
ENOUGH = 20

# Minimum improvement of single reads, in standard errors, for a setting to count as the drive's. High, because many
# settings are tried and the best of them wins partly by chance.
SURELY = 4.0

SIZES = (0.5, 2.0, 4.0)


def fit_read_ahead(numbers: Json, file: str | Path) -> list[Json]:
    """Set how the drive reads, reads ahead and keeps, as brings single reads nearest; return what was changed.

    One setting after the other is changed, that which brings most, until none brings anything. Whether a read is
    answered from the cache does not depend on the platter's phase, so this needs no trace that keeps it.
    """
    replayed = validation.Replayed(numbers, file, "simulated", [0.5])
    if "cache" not in numbers or "mechanics" not in numbers or replayed.write.all():
        return []
    clock = validation.clock_for(numbers, file)
    before = {part: copy.deepcopy(numbers[part]) for part in ("cache", "mechanics")}
    best = _apart(numbers, file, clock)
    while True:
        tried = [(_apart(changed, file, clock), changed) for changed in _changed(numbers)]
        apart, changed = min(tried, key=lambda one: float(one[0].mean()))
        nearer = best - apart
        if not nearer.mean() > SURELY * nearer.std() / max(len(nearer), 1) ** 0.5:
            break
        best = apart
        numbers |= {part: changed[part] for part in before}
    return [
        fitted.row(f"{part}: {key}", was.get(key), value)
        for part, was in before.items()
        for key, value in numbers[part].items()
        if was.get(key) != value
    ]


def _changed(numbers: Json) -> Iterator[Json]:
    """Give the numbers with one setting changed of the cache, or how tracks are read, each that is tried."""
    cache = numbers["cache"]
    changes: list[Json] = [{"read_ahead": how} for how in ("never", "sequential", "track", "next_track", "always")]
    changes += [{key: not cache.get(key, False)} for key in ("keeps_passing", "read_ahead_on_hit")]
    size = quantities.quantity("size", cache["segment_size"])
    # A segment of another size is all read ahead, unless `read_ahead_most` says otherwise.
    changes += [{"segment_size": _as_size(size * by), "read_ahead_most": None} for by in SIZES]
    changes += [{"read_ahead_most": _as_size(size * by)} for by in (0.25, 0.5, 1.0)]
    for change in changes:
        yield numbers | {"cache": cache | change}
    # Reads alone tell, and what they tell is of reads.
    mechanics = numbers["mechanics"]
    now = mechanics.get("zero_latency", False)
    writes = {"zero_latency_writes": mechanics.get("zero_latency_writes", now)}
    yield numbers | {"mechanics": mechanics | {"zero_latency": not now} | writes}


def _as_size(size: float) -> str:
    return f"{max(int(size) // 512, 1) * 512} B"


def _apart(numbers: Json, file: str | Path, clock: str) -> "np.ndarray[Any, Any]":
    """Return how far each read is off, in ms; a quarter of a turn at most."""
    import numpy as np

    # Where it is not drawn, one initial phase is as good as many.
    replayed = validation.Replayed(numbers, file, clock, [0.5] if clock == "simulated" else validation.pooled())
    reads = np.abs(replayed.errors[:, ~replayed.write])
    return np.asarray(np.minimum(reads, replayed.turn_ms / 4).mean(axis=0))


@dataclass(frozen=True)
class _Answered:
    """Reads or writes that the cache answered."""

    took: "np.ndarray[Any, Any]"
    sectors: "np.ndarray[Any, Any]"
    after_write: "np.ndarray[Any, Any]"
    follows: "np.ndarray[Any, Any]"
    """Which of them begin where one of their kind has just ended."""
    apart: "np.ndarray[Any, Any]"

    @classmethod
    def of(cls, replayed: validation.Replayed, op: str) -> "_Answered":
        import numpy as np

        which = replayed.went("cache")[0] & (replayed.write == (op == "write"))
        ends = np.concatenate([[0], (replayed.address + replayed.bytes)[:-1]])
        follows = (replayed.address == ends) & (replayed.after_write == replayed.write)
        columns = (replayed.measured, replayed.bytes / 512, replayed.after_write, follows, replayed.apart)
        return cls(*(column[which] for column in columns))


def fit_rates(numbers: Json, file: str | Path) -> list[Json]:
    """Set the interface's rates and overheads by the requests that the cache answers; return what was found.

    Such a request takes overhead + sectors × time a sector, and where it neither follows the one before nor is a read,
    the time to work out its place. The slope is the median of those between the medians of sizes (Theil and Sen), the
    times for places lie between medians of what is left, the overheads in its middle.
    """
    replayed = validation.Replayed(numbers, file, "simulated", [0.5])
    return [row for op in ("read", "write") for row in _fit_op(numbers["interface"], op, _Answered.of(replayed, op))]


def _fit_op(interface: Json, op: str, seen: _Answered) -> Iterator[Json]:
    import numpy as np

    each = _slope(seen.sectors, seen.took)
    if each is None or each <= 0:
        return
    yield _set_rate(interface, f"{op}_rate", each)
    left = seen.took - seen.sectors * each - quantities.in_ms(interface.get(f"{op}_completion", "0 ms"))
    # A cached read is a hit, whether it follows or not.
    misses = ~seen.follows if op == "write" else np.zeros_like(seen.follows)
    yield from _set_elsewhere(interface, left[misses], seen.after_write[misses], seen.apart[misses])
    left[misses] -= np.cumsum([0.0, *_elsewhere(interface)])[seen.apart[misses]]
    for kind, those in ((f"{op}_hit", ~misses), (f"{op}_miss", misses)):
        for after, these in (("after_read", those & ~seen.after_write), ("after_write", those & seen.after_write)):
            if these.sum() >= ENOUGH:
                yield _set_overhead(interface, kind, after, left[these])


def _set_rate(interface: Json, key: str, each: float) -> Json:
    was = quantities.sector_ms(interface[key]) if key in interface else None
    interface[key] = quantities.rate_of_sectors(each)
    return fitted.row(f"{key}, ms a sector", was, each)


def _set_overhead(interface: Json, kind: str, after: str, times: "np.ndarray[Any, Any]") -> Json:
    import numpy as np

    # A write that took very long (the drive had other things to do) counts as long, not as more; of reads some were not
    # answered from the cache as the model thinks, so theirs is the median.
    low, middle, high = np.quantile(times, [0.01, 0.5, 0.99])
    usual = np.clip(times, low, high)
    now = float(middle if kind == "read_hit" else usual.mean())
    was = quantities.in_ms(interface[kind][after])
    interface[kind][after] = quantities.time_of(now)
    return fitted.row(f"{kind} {after}, ms", was, now, float(usual.std()) / len(times) ** 0.5)


# How far data may be from that of the command before, each further than the one before.
PLACES = ("other_track", "other_cylinder", "other_zone")


def _elsewhere(interface: Json) -> list[float]:
    """Return how much longer commands take whose data is elsewhere, in ms, each beyond the one before."""
    told = interface.get("elsewhere") or {}
    return [quantities.in_ms(told.get(place, "0 ms")) for place in PLACES]


def _set_elsewhere(
    interface: Json,
    left: "np.ndarray[Any, Any]",
    after_write: "np.ndarray[Any, Any]",
    apart: "np.ndarray[Any, Any]",
) -> list[Json]:
    """Set those times by what is left of commands, as far as there are enough; what is further never takes less."""
    import numpy as np
    from scipy.optimize import isotonic_regression

    level, weight = np.zeros(len(PLACES) + 1), np.zeros(len(PLACES) + 1)
    for after in (after_write, ~after_write):
        classes = [left[after & (apart == far)] for far in range(len(level))]
        if min(map(len, classes)) >= ENOUGH:
            medians, many = np.array([np.median(times) for times in classes]), np.array([len(one) for one in classes])
            level, weight = level + (medians - medians[0]) * many, weight + many
    if not weight.all():
        return []
    before = _elsewhere(interface)
    now = [float(more) for more in np.diff(isotonic_regression(level / weight, weights=weight).x)]
    interface["elsewhere"] = {place: quantities.time_of(more) for place, more in zip(PLACES, now, strict=True)}
    told = zip(PLACES, before, now, strict=True)
    return [fitted.row(f"elsewhere: {place}, ms", was, more) for place, was, more in told]


def _slope(sizes: "np.ndarray[Any, Any]", times: "np.ndarray[Any, Any]") -> float | None:
    import numpy as np

    medians = [
        (size, float(np.median(times[sizes == size]))) for size in np.unique(sizes) if (sizes == size).sum() >= ENOUGH
    ]
    slopes = [(b - a) / (y - x) for i, (x, a) in enumerate(medians) for y, b in medians[i + 1 :]]
    return float(np.median(slopes)) if slopes else None
