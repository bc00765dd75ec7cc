"""What those requests tell that a drive's cache answers: how it reads ahead, its rates, the overheads of hits."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import devices, validation

if TYPE_CHECKING:
    import numpy as np

Json = dict[str, Any]

# So many requests tell a median.
ENOUGH = 20

# Replays by which a setting is judged where the platter's phase is drawn.
PHASES = 4

# By so many standard errors single reads must come nearer on average before a setting counts as the drive's: many are
# tried, and one of them is always the best by chance.
SURELY = 4.0

SIZES = (0.5, 2.0, 4.0)


def fit_read_ahead(numbers: Json, file: str | Path) -> list[Json]:
    """Set how the drive reads ahead, and how much it keeps, as brings single reads nearest; return what was changed.

    One setting after the other is changed, that which brings most, until none brings anything. Whether a read is
    answered from the cache does not depend on the platter's phase, so this needs no trace that keeps it.
    """
    replayed = validation.Replayed(numbers, file, "simulated", [0.5])
    if "cache" not in numbers or "mechanics" not in numbers or replayed.write.all():
        return []
    clock = validation.clock_for(numbers, file)
    before = copy.deepcopy(numbers["cache"])
    best = _apart(numbers, file, clock)
    while True:
        tried = [(_apart(changed, file, clock), changed["cache"]) for changed in _changed(numbers)]
        apart, cache = min(tried, key=lambda one: float(one[0].mean()))
        nearer = best - apart
        if not nearer.mean() > SURELY * nearer.std() / max(len(nearer), 1) ** 0.5:
            break
        best, numbers["cache"] = apart, cache
    return [
        {"parameter": f"cache: {key}", "was": before.get(key), "is": value, "standard_error": None}
        for key, value in numbers["cache"].items()
        if before.get(key) != value
    ]


def _changed(numbers: Json) -> Iterator[Json]:
    """Give the numbers with one setting of the cache changed, each that is tried."""
    cache = numbers["cache"]
    changes: list[Json] = [{"read_ahead": how} for how in ("never", "sequential", "track", "always")]
    changes.append({"keeps_passing": not cache.get("keeps_passing", False)})
    size = devices.quantity("size", cache["segment_size"])
    # A segment of another size is all read ahead, unless `read_ahead_most` says otherwise.
    changes += [{"segment_size": _as_size(size * by), "read_ahead_most": None} for by in SIZES]
    changes += [{"read_ahead_most": _as_size(size * by)} for by in (0.25, 0.5, 1.0)]
    for change in changes:
        yield numbers | {"cache": cache | change}


def _as_size(size: float) -> str:
    return f"{max(int(size) // 512, 1) * 512} B"


def _apart(numbers: Json, file: str | Path, clock: str) -> "np.ndarray[Any, Any]":
    """Return how far each read is off, in ms; a quarter of a turn at most."""
    import numpy as np  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    phases = [0.5] if clock == "simulated" else [(at + 0.5) / PHASES for at in range(PHASES)]
    replayed = validation.Replayed(numbers, file, clock, phases)
    reads = np.abs(replayed.errors[:, ~replayed.write])
    return np.asarray(np.minimum(reads, replayed.turn_ms / 4).mean(axis=0))


def fit_rates(numbers: Json, file: str | Path) -> list[Json]:
    """Set the interface's rates and overheads by the requests that the cache answers; return what was found.

    Such a request takes overhead + sectors × time a sector, and where it neither follows the one before nor is a read,
    the time to work out its place. The slope is the median of those between the medians of sizes (Theil and Sen), the
    times for places lie between medians of what is left, the overheads in its middle.
    """
    import numpy as np  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    replayed = validation.Replayed(numbers, file, "simulated", [0.5])
    answered = replayed.way[0] == validation.WAYS.index("cache")
    after_write = np.concatenate([[False], replayed.write[:-1]])
    ends = np.concatenate([[0], (replayed.address + replayed.bytes)[:-1]])
    follows = (replayed.address == ends) & (after_write == replayed.write)
    rows: list[Json] = []
    for op in ("read", "write"):
        mine = answered & (replayed.write == (op == "write"))
        each = _slope(replayed.bytes[mine] / 512, replayed.measured[mine])
        if each is None or each <= 0:
            continue
        rows.append(_set_rate(numbers["interface"], f"{op}_rate", each))
        left = replayed.measured - replayed.bytes / 512 * each
        left -= devices.in_ms(numbers["interface"].get(f"{op}_completion", "0 ms"))
        # A cached read is a hit, whether it follows or not.
        misses = mine & ~follows if op == "write" else np.zeros_like(mine)
        if misses.any():
            left[misses] -= _set_elsewhere(numbers["interface"], left, misses, after_write, replayed.apart, rows)[
                misses
            ]
        for kind, those in ((f"{op}_hit", mine & ~misses), (f"{op}_miss", misses)):
            for after, these in (("after_read", those & ~after_write), ("after_write", those & after_write)):
                if these.sum() >= ENOUGH:
                    rows.append(_set_overhead(numbers["interface"], kind, after, left[these]))
    return rows


def _set_rate(interface: Json, key: str, each: float) -> Json:
    was = devices.sector_ms(interface[key]) if key in interface else None
    interface[key] = devices.rate_of_sectors(each)
    return {"parameter": f"{key}, ms a sector", "was": was, "is": each, "standard_error": None}


def _set_overhead(interface: Json, kind: str, after: str, times: "np.ndarray[Any, Any]") -> Json:
    import numpy as np  # noqa: PLC0415

    # A write that took very long (the drive had other things to do) counts as long, not as more; of reads some were not
    # answered from the cache as the model thinks, so theirs is the median.
    low, middle, high = np.quantile(times, [0.01, 0.5, 0.99])
    now = float(middle) if kind == "read_hit" else float(np.clip(times, low, high).mean())
    error = float(np.clip(times, low, high).std()) / len(times) ** 0.5
    was = devices.in_ms(interface[kind][after])
    interface[kind][after] = devices.time_of(now)
    return {"parameter": f"{kind} {after}, ms", "was": was, "is": now, "standard_error": error}


def _set_elsewhere(
    interface: Json,
    left: "np.ndarray[Any, Any]",
    misses: "np.ndarray[Any, Any]",
    after_write: "np.ndarray[Any, Any]",
    apart: "np.ndarray[Any, Any]",
    rows: list[Json],
) -> "np.ndarray[Any, Any]":
    """Set how much longer commands take whose data is elsewhere, as what is further away never takes less.

    Returns that time by request.
    """
    import numpy as np  # noqa: PLC0415
    from scipy.optimize import isotonic_regression  # noqa: PLC0415

    level, weight = np.zeros(len(PLACES) + 1), np.zeros(len(PLACES) + 1)
    for after in (after_write, ~after_write):
        classes = [misses & after & (apart == far) for far in range(len(level))]
        if min(which.sum() for which in classes) < ENOUGH:
            continue
        medians = np.array([np.median(left[which]) for which in classes])
        many = np.array([which.sum() for which in classes])
        level, weight = level + (medians - medians[0]) * many, weight + many
    told = interface.get("elsewhere") or {}
    before = [devices.in_ms(told.get(place, "0 ms")) for place in PLACES]
    if not weight.all():
        return np.asarray(np.cumsum([0.0, *before])[apart])
    level = isotonic_regression(level / weight, weights=weight).x
    now = [float(more) for more in np.diff(level)]
    interface["elsewhere"] = {place: devices.time_of(more) for place, more in zip(PLACES, now, strict=True)}
    rows += [
        {"parameter": f"elsewhere: {place}, ms", "was": was, "is": more, "standard_error": None}
        for place, was, more in zip(PLACES, before, now, strict=True)
    ]
    return np.asarray((level - level[0])[apart])


# How far data may be from that of the command before, each further than the one before.
PLACES = ("other_track", "other_cylinder", "other_zone")


def _slope(sizes: "np.ndarray[Any, Any]", times: "np.ndarray[Any, Any]") -> float | None:
    import numpy as np  # noqa: PLC0415

    medians = [
        (size, float(np.median(times[sizes == size]))) for size in np.unique(sizes) if (sizes == size).sum() >= ENOUGH
    ]
    slopes = [(b - a) / (y - x) for i, (x, a) in enumerate(medians) for y, b in medians[i + 1 :]]
    return float(np.median(slopes)) if slopes else None
