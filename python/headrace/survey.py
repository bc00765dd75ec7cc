"""Where the tracks of a drive really begin, as a trace tells that keeps the platter's phase.

Requests end where their last sector has passed. So each that goes to the platter tells at which angle its track begins,
once the spindle's speed is known; from many of them follow the skews and the offset of each zone, and which tracks are
passed over as defective: behind each, everything lies a track further. Parameter files are often a sector off in the
skews, and leave out defects: then a request to a distant track is a lottery, though the phase is kept.
"""

import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import validation

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Ints = np.ndarray[Any, np.dtype[np.int64]]

Json = dict[str, Any]

# So far, in turns, a track's beginning is told by one request; and so many times that costs one that tells nothing.
NEAR, LOST = 0.02, 5.0

# What a track that is passed over costs: more than one request that tells nothing, less than two.
SLIP = 6.0

# At most so many tracks of a zone are passed over; skews are at most so many sectors other than the file has them.
MOST_SLIPS, MOST_SECTORS = 64, 3

# Beginnings of a zone that are tried, as shares of a turn.
OFFSETS = 48

# Fewer requests than that tell nothing of a zone.
ENOUGH = 20


def surveyed(numbers: Json, file: str | Path) -> Json | None:
    """Return the numbers with the speed, the skews, offsets and passed-over tracks that a measured trace tells.

    None where the trace, or the way in which the layout names defects (sectors, not tracks), does not tell them.
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
    plain["rotation"] = {"value": f"{seen.rpm:.4f} rpm", "source": "fitted"}
    found = [_zone(zone, layout["surfaces"], seen, at) for at, zone in enumerate(zones)]
    # One of all angles is free: that of the first zone that is told stays.
    free = next((one.offset for one in found if one is not None), 0.0)
    for zone, one, given in zip(zones, found, layout["zones"], strict=True):
        if one is None:
            zone["slips"] = given.get("slips", [])
        else:
            zone |= {"track_skew": one.track_skew, "cylinder_skew": one.cylinder_skew, "slips": one.slips}
            zone["offset"] = round(zone.get("offset", 0.0) + (one.offset - free) * zone["sectors"], 3)
    return plain


def changes(before: Json, after: Json) -> list[Json]:
    """Return what a survey changed of the layout, zone by zone."""
    if before is after or "layout" not in (before.get("mechanics") or {}):
        return []
    zones = zip(*(numbers["mechanics"]["layout"]["zones"] for numbers in (before, after)), strict=True)
    rows: list[Json] = []
    for number, (was, now) in enumerate(zones, 1):
        for key in ("track_skew", "cylinder_skew", "offset"):
            old, new = (float(zone.get(key, 0.0)) for zone in (was, now))
            rows.append({"parameter": f"zone {number}: {key}, sectors", "was": old, "is": new, "standard_error": None})
        fewer, more = (float(len(zone.get("slips", []))) for zone in (was, now))
        rows.append(
            {"parameter": f"zone {number}: tracks passed over", "was": fewer, "is": more, "standard_error": None}
        )
    return [row for row in rows if row["was"] != row["is"]]


@dataclass(frozen=True)
class Sightings:
    """Requests that went to the platter: where, when they ended, and at which angle their track begins, in turns."""

    zone: "Ints"
    track: "Ints"
    """Of the zone, none passed over."""
    ended_min: "Floats"
    begins: "Floats"
    rpm: float

    def turning(self, rpm: float) -> "Sightings":
        """Return the same, had the spindle that speed."""
        begins = (self.begins + self.ended_min * (rpm - self.rpm)) % 1.0
        return Sightings(self.zone, self.track, self.ended_min, begins, rpm)


def _sighted(numbers: Json, file: str | Path) -> Sightings:
    """Replay a trace at the instants at which it was; how late the model is tells where the track begins."""
    import numpy as np  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    replayed = validation.Replayed(numbers, file, "measured", [0.5])
    platter = replayed.way[0] == validation.WAYS.index("platter")
    layout = numbers["mechanics"]["layout"]
    last = (replayed.address + replayed.bytes)[platter].astype(np.int64) // 512 - 1
    sizes = [_capacity(zone, layout["surfaces"]) for zone in layout["zones"]]
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    zone = np.searchsorted(firsts, last, side="right") - 1
    reserved, sectors = (np.array([one.get(key, 0) for one in layout["zones"]]) for key in ("reserved", "sectors"))
    track = (last - firsts[zone] + reserved[zone]) // sectors[zone]
    modelled = np.array(
        [_begins(layout["zones"][z], layout["surfaces"], t, 0, 0) for z, t in zip(zone, track, strict=True)]
    )
    late = replayed.errors[0][platter] / replayed.turn_ms
    ended = (replayed.issued + replayed.measured)[platter] / 60_000
    return Sightings(zone, track, ended, (modelled - late) % 1.0, 60_000 / replayed.turn_ms)


def _capacity(zone: Json, surfaces: int) -> int:
    tracks = (zone["last_cylinder"] - zone["first_cylinder"] + 1) * surfaces - zone.get("spares", 0)
    return int(tracks * zone["sectors"] - zone.get("reserved", 0))


def _begins(zone: Json, surfaces: int, track: Any, more: int, more_by_cylinder: int) -> Any:
    """Return where tracks of a zone begin, in turns, with skews of so many sectors more than the zone has."""
    skew = zone.get("track_skew", 0.0) + more
    switch = zone.get("cylinder_skew", 0.0) + more_by_cylinder
    return (zone.get("offset", 0.0) + skew * track + (switch - skew) * (track // surfaces)) / zone["sectors"]


def _speed(seen: Sightings) -> float:
    """Return the spindle's speed at which most requests see a track begin where it began the last time."""
    import numpy as np  # noqa: PLC0415

    order = np.lexsort((seen.ended_min, seen.track, seen.zone))
    same = (np.diff(seen.track[order]) == 0) & (np.diff(seen.zone[order]) == 0)
    begins, ended = (np.diff(column[order])[same] for column in (seen.begins, seen.ended_min))
    # From step to step the longest of all times moves by half of what counts as near.
    step = NEAR / 2 / max(float(ended.max(initial=0.0)), 1e-9)
    steps = int(seen.rpm * 1e-3 / step)
    tried = seen.rpm + step * np.arange(-steps, steps + 1)
    agree = [(np.abs(_wrapped(begins + ended * (rpm - seen.rpm))) < NEAR).sum() for rpm in tried]
    return float(tried[int(np.argmax(agree))]) if len(ended) else seen.rpm


def _wrapped(turns: Any) -> Any:
    """Return angles as the nearest to nought that they are."""
    return (turns + 0.5) % 1.0 - 0.5


@dataclass(frozen=True)
class Zone:
    """What was found of a zone."""

    track_skew: float
    cylinder_skew: float
    offset: float
    """How much later it begins than the file has it, in turns."""
    slips: list[int]


def _zone(zone: Json, surfaces: int, seen: Sightings, at: int) -> Zone | None:
    """Return the skews, offset and passed-over tracks with which most requests see their tracks begin where they do."""
    import numpy as np  # noqa: PLC0415

    mine = np.flatnonzero(seen.zone == at)
    if len(mine) < ENOUGH:
        return None
    mine = mine[np.argsort(seen.track[mine], kind="stable")]
    tracks, begins = seen.track[mine], seen.begins[mine]
    most = min(int(zone.get("spares", 0)), MOST_SLIPS)
    moved = tracks[:, None] + np.arange(most + 1)

    def late(more: int, more_by_cylinder: int) -> "Floats":
        """Return how much later each track begins than it would with so many passed over before it."""
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
    """Return, before and after each request, the least cost of having passed over so many tracks, by offset.

    From request to request more may be passed over, and none fewer (Viterbi's search).
    """
    import numpy as np  # noqa: PLC0415

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
    import numpy as np  # noqa: PLC0415

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
