"""Survey of a disk by a trace that keeps the platter's phase: the spindle's speed, and where tracks begin.

Requests end where their last sector has passed. So each that goes to the platter tells at which angle its track begins,
once the spindle's speed is known; from many of them follow the skews and the offset of each zone, and which tracks are
passed over as defective: behind each, everything lies a track further. Parameter files are often a sector off in the
skews, and leave out defects: then a request to a distant track is a lottery, though the phase is kept.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.devices import fitted, quantities, validation

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.int64]]

Json = dict[str, Any]

# The error, in turns, with which one request locates the beginning of a track; the cost of an uninformative request
# in the same unit.
NEAR, LOST = 0.02, 5.0

# The cost of a skipped track: more than one uninformative request, less than two.
SLIP = 6.0

# Maximum number of skipped tracks of a zone, and maximum correction of a skew in sectors.
MOST_SLIPS, MOST_SECTORS = 64, 3

# Number of candidate angles for the beginning of a zone.
OFFSETS = 48

# Fewer requests than that tell nothing of a zone.
ENOUGH = 20

# So far, as a share, a spindle's speed may be from what its data sheet says.
SPEED = 1e-3


def phased(numbers: Json, file: str | Path) -> tuple[Json, bool]:
    """Return the numbers with what tells the platter's phase, and whether the trace keeps it.

    That is the spindle's speed; and, where think times keep the phase to the next request nearby but not further off,
    where tracks begin.
    """
    for told in _tellings(numbers, file):
        if validation.of(told, file, clock="measured")["keeps_phase"]:
            return told, True
    return numbers, False


def _tellings(numbers: Json, file: str | Path) -> Iterator[Json]:
    """Give the numbers as they are, with the speed found, and where tracks begin, which takes longest."""
    yield numbers
    yield _with_speed(numbers, file)
    if validation.thinks_keep_phase(numbers, file) and (found := surveyed(numbers, file)):
        yield found


def _with_speed(numbers: Json, file: str | Path) -> Json:
    """Return the numbers with the spindle speed, to parts per million, at which requests end as if it were theirs.

    A request that goes to the platter ends when its last sector has passed, at whatever turn. So at the right speed all
    are, but for whole turns, equally early or late; at another they drift.
    """
    import numpy as np

    ends = _Ends(numbers, file)
    speeds = _speeds_about(ends.rpm, ends.minutes)
    agree = [abs(np.exp(2j * np.pi * (ends.late - ends.minutes * (rpm - ends.rpm))).sum()) for rpm in speeds]
    return _turning(numbers, float(speeds[int(np.argmax(agree))]))


def _speeds_about(rpm: float, minutes: "Floats") -> "Floats":
    """Return speeds around one: from each to the next the longest time drifts by half of what counts as near."""
    import numpy as np

    step = NEAR / 2 / max(float(minutes.max(initial=0.0)), 1e-9)
    steps = int(rpm * SPEED / step)
    return np.asarray(rpm + step * np.arange(-steps, steps + 1))


def _turning(numbers: Json, rpm: float) -> Json:
    return numbers | {"rotation": {"value": f"{rpm:.4f} rpm", "source": "fitted"}}


class _Ends:
    """When requests to the platter ended, issued when they really were, and how late the model is, in turns."""

    def __init__(self, numbers: Json, file: str | Path) -> None:
        replayed = validation.Replayed(numbers, file, "measured", [0.5])
        platter = replayed.went("platter")[0]
        self.rpm = 60_000 / replayed.turn_ms
        self.behind = (replayed.address + replayed.bytes)[platter]
        self.late = replayed.errors[0][platter] / replayed.turn_ms
        self.minutes = (replayed.issued + replayed.measured)[platter] / 60_000


def surveyed(numbers: Json, file: str | Path) -> Json | None:
    """Return the numbers with the speed, the skews, offsets and passed-over tracks that a measured trace tells.

    None where the trace, or the way in which the layout names defects (sectors, not tracks), does not list them.
    """
    layout = (numbers.get("mechanics") or {}).get("layout")
    if layout is None or layout["spares"] != "zone_tracks":
        return None
    plain = copy.deepcopy(numbers)
    zones = plain["mechanics"]["layout"]["zones"]
    for zone in zones:
        zone["slips"] = []
    seen = _sighted(plain, file)
    if len(seen.track) < ENOUGH:
        return None
    seen = seen.turning(_speed(seen))
    found = [_zone(zone, layout["surfaces"], seen, at) for at, zone in enumerate(zones)]
    # One of all angles is free: that of the first zone with requests stays.
    free = next((one.offset for one in found if one is not None), 0.0)
    for zone, one, given in zip(zones, found, layout["zones"], strict=True):
        if one is None:
            zone["slips"] = given.get("slips", [])
        else:
            zone |= {"track_skew": one.track_skew, "cylinder_skew": one.cylinder_skew, "slips": one.slips}
            zone["offset"] = round(zone.get("offset", 0.0) + (one.offset - free) * zone["sectors"], 3)
    return _turning(plain, seen.rpm)


def changes(before: Json, after: Json) -> list[Json]:
    """Return what a survey changed: of the layout, zone by zone, and of the speed."""
    if before is after:
        return []
    speeds = [quantities.quantity("frequency", numbers["rotation"]) * 60 for numbers in (before, after)]
    if "layout" not in (before.get("mechanics") or {}):
        return [fitted.row("rotation, rpm", *speeds)]
    zones = zip(*(numbers["mechanics"]["layout"]["zones"] for numbers in (before, after)), strict=True)
    rows: list[Json] = []
    for number, (was, now) in enumerate(zones, 1):
        for key in ("track_skew", "cylinder_skew", "offset"):
            old, new = (float(zone.get(key, 0.0)) for zone in (was, now))
            rows.append(fitted.row(f"zone {number}: {key}, sectors", old, new))
        fewer, more = (float(len(zone.get("slips", []))) for zone in (was, now))
        rows.append(fitted.row(f"zone {number}: tracks passed over", fewer, more))
    rows.append(fitted.row("rotation, rpm", *speeds))
    return [row for row in rows if row["was"] != row["is"]]


@dataclass(frozen=True)
class Sightings:
    """Requests that went to the platter: where, when they ended, and at which angle their track begins, in turns."""

    zone: "Ints"
    track: "Ints"
    """Of the zone, none passed over."""
    minutes: "Floats"
    begins: "Floats"
    rpm: float

    def turning(self, rpm: float) -> "Sightings":
        """Return the same, had the spindle that speed."""
        begins = (self.begins + self.minutes * (rpm - self.rpm)) % 1.0
        return Sightings(self.zone, self.track, self.minutes, begins, rpm)


def _sighted(numbers: Json, file: str | Path) -> Sightings:
    """Replay a trace at the instants at which it was; how late the model is tells where the track begins."""
    import numpy as np

    ends, layout = _Ends(numbers, file), numbers["mechanics"]["layout"]
    last = ends.behind.astype(np.int64) // 512 - 1
    sizes = [_capacity(zone, layout["surfaces"]) for zone in layout["zones"]]
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    zone = np.searchsorted(firsts, last, side="right") - 1
    reserved, sectors = (np.array([one.get(key, 0) for one in layout["zones"]]) for key in ("reserved", "sectors"))
    track = (last - firsts[zone] + reserved[zone]) // sectors[zone]
    modelled = np.array(
        [_begins(layout["zones"][z], layout["surfaces"], t, 0, 0) for z, t in zip(zone, track, strict=True)]
    )
    return Sightings(zone, track, ends.minutes, (modelled - ends.late) % 1.0, ends.rpm)


def _capacity(zone: Json, surfaces: int) -> int:
    tracks = (zone["last_cylinder"] - zone["first_cylinder"] + 1) * surfaces - zone.get("spares", 0)
    return int(tracks * zone["sectors"] - zone.get("reserved", 0))


def _begins(zone: Json, surfaces: int, track: Any, more: int, more_by_cylinder: int) -> Any:
    """Return where the tracks of a zone begin, in turns, with this many sectors added to the skews of the zone."""
    skew = zone.get("track_skew", 0.0) + more
    switch = zone.get("cylinder_skew", 0.0) + more_by_cylinder
    return (zone.get("offset", 0.0) + skew * track + (switch - skew) * (track // surfaces)) / zone["sectors"]


def _speed(seen: Sightings) -> float:
    """Return the spindle's speed at which most requests see a track begin where it began the last time."""
    import numpy as np

    order = np.lexsort((seen.minutes, seen.track, seen.zone))
    same = (np.diff(seen.track[order]) == 0) & (np.diff(seen.zone[order]) == 0)
    begins, minutes = (np.diff(column[order])[same] for column in (seen.begins, seen.minutes))
    if not len(minutes):
        return seen.rpm
    speeds = _speeds_about(seen.rpm, minutes)
    agree = [(np.abs(_wrapped(begins + minutes * (rpm - seen.rpm))) < NEAR).sum() for rpm in speeds]
    return float(speeds[int(np.argmax(agree))])


def _wrapped(turns: Any) -> Any:
    """Return angles as the nearest to nought that they are."""
    return (turns + 0.5) % 1.0 - 0.5


@dataclass(frozen=True)
class Zone:
    """Skews and offset found for a zone."""

    track_skew: float
    cylinder_skew: float
    offset: float
    """Delay of its first sector against the device file, in revolutions."""
    slips: list[int]


def _zone(zone: Json, surfaces: int, seen: Sightings, at: int) -> Zone | None:
    """Return the skews, offset and passed-over tracks with which most requests see their tracks begin where they do."""
    import numpy as np

    mine = np.flatnonzero(seen.zone == at)
    if len(mine) < ENOUGH:
        return None
    mine = mine[np.argsort(seen.track[mine], kind="stable")]
    tracks, begins = seen.track[mine], seen.begins[mine]
    most = min(int(zone.get("spares", 0)), MOST_SLIPS)
    moved = tracks[:, None] + np.arange(most + 1)

    def late(more: int, more_by_cylinder: int) -> "Floats":
        """Return the delay of the beginning of each track due to the tracks skipped before it."""
        return np.asarray(begins[:, None] - _begins(zone, surfaces, moved, more, more_by_cylinder))

    sectors = range(-MOST_SECTORS, MOST_SECTORS + 1)
    offsets = np.arange(OFFSETS) / OFFSETS
    _, more, more_by_cylinder = min(
        (float(_walked(late(a, b), offsets)[-1].min()), a, b) for a in sectors for b in sectors
    )
    apart = late(more, more_by_cylinder)
    costs = _walked(apart, offsets)[-1]
    offset = float(offsets[int(costs.min(axis=1).argmin())])
    for _ in range(2):  # From the nearest that was tried to the middle of what is seen.
        passed = _passed(apart, offset)
        left = _wrapped(apart[np.arange(len(tracks)), passed] - offset)
        offset += float(np.median(left[np.abs(left) < LOST * NEAR]))
    return Zone(
        zone.get("track_skew", 0.0) + more,
        zone.get("cylinder_skew", 0.0) + more_by_cylinder,
        offset,
        _slips(tracks, passed),
    )


def _walked(apart: "Floats", offsets: "Floats") -> "list[Floats]":
    """Return, before and after each request, the least cost of each number of skipped tracks, by offset.

    From request to request more may be passed over, and none fewer (Viterbi's search).
    """
    import numpy as np

    price = SLIP * np.arange(apart.shape[1])
    cost = np.full((len(offsets), len(price)), np.inf)
    cost[:, 0] = 0.0
    walked = [cost]
    for row in apart:
        cost = np.minimum.accumulate(cost - price, axis=1) + price
        cost = cost + np.minimum(np.abs(_wrapped(row - offsets[:, None])) / NEAR, LOST)
        walked.append(cost)
    return walked


def _passed(apart: "Floats", offset: float) -> "Ints":
    """Return how many tracks are passed over before each request, on the way that costs least."""
    import numpy as np

    walked = _walked(apart, np.array([offset]))
    price = SLIP * np.arange(apart.shape[1])
    passed = np.empty(len(apart), dtype=np.int64)
    here = int(walked[-1][0].argmin())
    for at in range(len(apart) - 1, -1, -1):
        passed[at] = here
        before = walked[at][0][: here + 1] - price[: here + 1]
        here = int(before.argmin())
    return passed


def _slips(tracks: "Ints", passed: "Ints") -> list[int]:
    """Return the tracks that are passed over: half way between the requests that see fewer and more of them."""
    slips: list[int] = []
    before = 0
    for track, many in zip(tracks, passed, strict=True):
        if many > len(slips):
            begin = (before + int(track) + 1) // 2 + len(slips)
            slips += range(begin, begin + int(many) - len(slips))
        before = int(track)
    return slips
