"""Runs the ALICE study: see README.md for what it finds."""

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from headrace.parallel import each
from headrace.studies.alice_tds import figures, system
from headrace.studies.alice_tds.system import Point
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]
Curve = list[tuple[int, float]]

# A server with its array on a wire, and two such pairs on one switch.
WIRE: Json = {"fabric": "wire", "pairs": 1}
SWITCH: Json = {"fabric": "switch", "pairs": 2}


def obtain(study: Study) -> Iterator[Judged]:
    """Run all points, draw the figures, and judge the claims of both arrays."""
    runs = Runs(study)
    arrays = [Array(study, runs, name, cache) for name, cache in study.document["arrays"].items()]
    yield from figures.single_disk(study)
    yield from figures.containers(study)
    yield from figures.four_servers(study)
    yield from figures.servers(study)
    runs.all(point for array in arrays for point in array.points())
    for number in FIGURES:
        for array in arrays:
            array.draw(number)
    yield from figures.store(study)
    for claim in study.document["claim"]:
        for array in arrays:
            yield _judged(claim, array)
    for array in arrays:
        window(study, array)
    yield from expectations(study, runs)


class Runs:
    """Rates of points, each run once, on all processors."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.found: dict[Any, dict[str, float]] = {}

    def all(self, points: Iterable[Any]) -> None:
        """Run every point that was not run before."""
        wanted = [point for point in dict.fromkeys(points) if point not in self.found]
        cases = [replace(point, short=self.study.small) for point in wanted]
        for number, (point, rates) in enumerate(zip(wanted, each(system.rates, cases), strict=True)):
            self.found[point] = rates
            self.study.tell(f"{number + 1} of {len(wanted)} points")

    def together(self, point: Any) -> float:
        """Return what all streams of the point's operation get, in MB/s."""
        self.all([point])
        return math.fsum(rate for name, rate in self.found[point].items() if name.startswith(point.op))

    def rates(self, point: Any) -> dict[str, float]:
        """Return what each stream of a point gets."""
        self.all([point])
        return self.found[point]


@dataclass
class Array:
    """One of the two arrays, and the curves of the figures."""

    study: Study
    runs: Runs
    name: str
    cache: int
    """The cache of each disk, in KiB."""
    seed: int = 1

    @property
    def stripes(self) -> list[int]:
        """All stripe units of the paper, in KiB."""
        return list(self.study.document["stripes_kib"])

    @property
    def below(self) -> list[int]:
        """Those that are smaller than the disk cache."""
        return [stripe for stripe in self.stripes if stripe < self.cache]

    @property
    def quarter(self) -> int:
        """The largest of those."""
        return self.cache // 4

    def at(self, op: str, stripe: int, **more: Any) -> Any:
        """Return a point."""
        return Point(array=self.name, op=op, stripe_kib=stripe, **({"seed": self.seed} | more))

    def of_seeds(self) -> "list[Array]":
        """Return the same array for each seed of the study."""
        seeds = self.study.document["seeds"][: 1 if self.study.small else None]
        return [replace(self, seed=seed) for seed in seeds]

    def curve(self, op: str, stripes: list[int], **more: Any) -> Curve:
        """Return bandwidth over the stripe unit."""
        return [(stripe, self.runs.together(self.at(op, stripe, **more))) for stripe in stripes]

    def mixed(self) -> Any:
        """Return the point of one stream of writes beside one of reads."""
        return self.at("write", self.quarter, beside=1)

    def points(self) -> Iterator[Any]:
        """Return the points of all figures."""
        document = self.study.document
        for op in ("write", "read"):
            for stripe in self.stripes:
                yield from (self.at(op, stripe, record_kib=record) for record in document["records_kib"])
            for stripe in self.below:
                yield from (self.at(op, stripe, streams=streams) for streams in document["streams"])
                yield from (self.at(op, stripe, disks=disks) for disks in document["disks"])
        yield from (self.at("write", self.cache, streams=streams) for streams in document["streams"])
        yield from (self.at(op, self.quarter, **fabric) for op in ("write", "read") for fabric in (WIRE, SWITCH))
        yield self.mixed()
        for one in self.of_seeds()[1:]:
            yield from one.repeated()

    def repeated(self) -> Iterator[Any]:
        """Return the points that claims need at further seeds: one record size."""
        document = self.study.document
        for op in ("write", "read"):
            yield from (self.at(op, stripe) for stripe in self.stripes)
            for stripe in self.below:
                yield from (self.at(op, stripe, streams=streams) for streams in document["streams"])
                yield from (self.at(op, stripe, disks=disks) for disks in document["disks"])
        yield from (self.at("write", self.cache, streams=streams) for streams in document["streams"])
        yield self.mixed()

    def draw(self, number: int) -> None:
        """Draw a figure as the paper's 7 to 12: reads or writes, over records, streams or disks."""
        op, by = FIGURES[number]
        document = self.study.document
        within = [*self.below, self.cache] if op == "write" else self.below
        curves = {
            "record size": lambda: {f"{_size(size)} records": self._row(op, size) for size in document["records_kib"]},
            "number of streams": lambda: {
                f"{many} stream{'s' if many > 1 else ''}": self.curve(op, within, streams=many)
                for many in document["streams"]
            },
            "number of disks": lambda: {
                f"{many} disks": self.curve(op, self.below, disks=many) for many in document["disks"]
            },
        }[by]()
        title = f"As Fig. {number}: {self.name}, {op}, by {by}"
        points = {name: [(stripe * 1024.0, rate) for stripe, rate in curve] for name, curve in curves.items()}
        front = number == FRONT and self.name == "infortrend"
        said = "The curves of the paper are lost."
        self.study.draw(title, "stripe unit, B", "bandwidth, MB/s", points, said=said, log=2, front=front)

    def _row(self, op: str, record: int) -> Curve:
        """Return bandwidth over the stripe unit; writes of small records, where the run has several stripes."""
        curve = self.curve(op, self.stripes, record_kib=record)
        points = {stripe: self.at(op, stripe, record_kib=record) for stripe in self.stripes}
        few = {stripe for stripe, point in points.items() if point.requests * record < FEWEST * point.stripe / 1024}
        return [(stripe, rate) for stripe, rate in curve if op == "read" or stripe not in few]


# Figures of the paper, in its order: the operation, and what the curves differ by.
FIGURES = {
    7: ("read", "record size"),
    8: ("write", "record size"),
    9: ("write", "number of streams"),
    10: ("read", "number of streams"),
    11: ("write", "number of disks"),
    12: ("read", "number of disks"),
}
# The one that stands for the study.
FRONT = 8
# Stripes that a run must write for its rate to be drawn.
FEWEST = 16


def _size(kib: int) -> str:
    return f"{kib} KiB" if kib < 1024 else f"{kib // 1024} MiB"


def first_drop(curve: Curve, share: float) -> int | str:
    """Return the first stripe unit at which bandwidth falls by the share.

    >>> first_drop([(8, 20.0), (32, 60.0), (128, 50.0)], 0.1)
    128
    """
    for (_, before), (stripe, after) in pairwise(curve):
        if after <= before * (1 - share):
            return stripe
    return "none"


def largest_fall(curve: Curve) -> float:
    """Return the largest fall from one stripe unit to the next, in percent; negative where there is none."""
    steps = pairwise(curve)
    return max((1 - after / before) * 100 for (_, before), (_, after) in steps)


def r_squared(x: list[float], y: list[float]) -> float:
    """Return R² of a straight line."""
    return float(np.corrcoef(x, y)[0, 1] ** 2)


def growth(curve: Curve) -> float:
    """Return R² of bandwidth over the logarithm of the stripe unit."""
    return r_squared([math.log2(stripe) for stripe, _ in curve], [rate for _, rate in curve])


def growing(array: Array) -> int:
    """Return for how many record sizes reads grow with the logarithm of the stripe unit."""
    least = array.study.document["rules"]["log_growth"][0]
    records = array.study.document["records_kib"]
    rows = [array.curve("read", array.below, record_kib=record, seed=1) for record in records]
    return sum(growth(row) >= least for row in rows)


def shape(curve: Curve) -> float:
    """Return by how much more that is than R² over the stripe unit itself."""
    return growth(curve) - r_squared([float(stripe) for stripe, _ in curve], [rate for _, rate in curve])


def gain(array: Array, op: str, few: int, many: int) -> float:
    """Return what more disks gain at a quarter of the disk cache, in percent."""
    of = [array.runs.together(array.at(op, array.quarter, disks=disks)) for disks in (few, many)]
    return (of[1] / of[0] - 1) * 100


def drop(array: Array, streams: int, stripes: list[int]) -> int | str:
    """Return where writes drop."""
    return first_drop(array.curve("write", stripes, streams=streams), array.study.document["rules"]["drop"])


def lowest(array: Array) -> int:
    """Return for how many record sizes the smallest stripe unit is the slowest to read."""
    records = array.study.document["records_kib"]
    rows = [array.curve("read", array.stripes, record_kib=record, seed=1) for record in records]
    return sum(min(row, key=lambda point: point[1])[0] == array.stripes[0] for row in rows)


def beyond(array: Array) -> tuple[float, float, float]:
    """Return the highest write bandwidth before the drop, that at the drop, and the highest behind it."""
    curve = dict(array.curve("write", array.stripes))
    at = drop(array, 1, array.stripes)
    if isinstance(at, str):
        return math.nan, math.nan, math.nan
    before = max(rate for stripe, rate in curve.items() if stripe < at)
    behind = [rate for stripe, rate in curve.items() if stripe > at]
    return before, curve[at], max(behind, default=curve[at])


def of_streams(array: Array, op: str) -> float:
    """Return by how many percent two to four streams together differ from one at most, where no drop is expected."""
    differences = [
        abs(array.runs.together(array.at(op, stripe, streams=streams)) / array.runs.together(array.at(op, stripe)) - 1)
        for streams in array.study.document["streams"]
        for stripe in array.below
        if op == "read" or streams * stripe < array.cache
    ]
    return max(differences) * 100


def share(array: Array) -> float:
    """Return four times what the slowest of four streams writes, over one alone, where no drop is expected."""
    stripe = array.quarter // 4
    rates = array.runs.rates(array.at("write", stripe, streams=4))
    return 4 * min(rates.values()) / array.runs.together(array.at("write", stripe))


def beside(array: Array, op: str) -> float:
    """Return what a stream gets beside one of the other operation, over what it gets alone."""
    rates = array.runs.rates(array.mixed())
    [rate] = [rate for name, rate in rates.items() if name == ("write-0" if op == "write" else "beside-0")]
    return rate / array.runs.together(array.at(op, array.quarter))


def stripe_for(array: Array) -> float:
    """Return the stripe unit with which 13 disks write as fast as 5 at a quarter of the disk cache, over that."""
    goal = array.runs.together(array.at("write", array.quarter))
    curve = array.curve("write", array.below, disks=13)
    for (low, slow), (high, fast) in pairwise(curve):
        if slow < goal <= fast:
            between = (goal - slow) / (fast - slow)
            return low * math.pow(high / low, between) / array.quarter
    return math.inf if curve[-1][1] < goal else curve[0][0] / array.quarter


def best(array: Array) -> list[int]:
    """Return the stripe unit below the disk cache and the number of disks that write fastest."""
    disks: list[int] = array.study.document["disks"]
    rate = {
        (stripe, many): array.runs.together(array.at("write", stripe, disks=many))
        for stripe in array.below
        for many in disks
    }
    named = (array.quarter, max(disks))
    stripe, many = named if ties(array, rate[named], rate.values()) else max(rate, key=rate.__getitem__)
    return [stripe, many]


def ties(array: Array, rate: float, rates: Iterable[float]) -> bool:
    """Tell whether a rate is the highest but for a difference that nobody reads off a figure."""
    tie: float = array.study.document["rules"]["tie"]
    return rate >= max(rates) * (1 - tie)


def optimum(array: Array) -> int:
    """Return the stripe unit with which one stream writes fastest."""
    curve = dict(array.curve("write", array.stripes))
    return array.quarter if ties(array, curve[array.quarter], curve.values()) else max(curve, key=curve.__getitem__)


def caution(array: Array) -> float:
    """Return what four streams lose at a quarter of the disk cache, less what one loses at a sixteenth, in percent."""
    one = dict(array.curve("write", array.below))
    four = array.runs.together(array.at("write", array.quarter, streams=4))
    peak = one[array.quarter]
    return ((1 - four / peak) - (1 - one[array.quarter // 4] / peak)) * 100


def by_switch(array: Array) -> float:
    """Return by how many percent a pair of server and array on a shared switch differs from one on a wire at most."""
    differences = []
    for op in ("write", "read"):
        alone = array.runs.together(array.at(op, array.quarter, seed=1, **WIRE))
        both = array.runs.rates(array.at(op, array.quarter, seed=1, **SWITCH)).values()
        differences += [abs(rate / alone - 1) for rate in both]
    return max(differences) * 100


def _until_cache(array: Array) -> list[int]:
    return [*array.below, array.cache]


FOUND: dict[str, Callable[[Array], Any]] = {
    "T000-2 write": lambda array: gain(array, "write", 5, 13),
    "T000-2 read": lambda array: gain(array, "read", 5, 13),
    "T000-3": lambda array: drop(array, 1, array.stripes),
    "T000-5": by_switch,
    "T000-4": lambda array: drop(array, 4, _until_cache(array)),
    "Q000-1 growth": lambda array: growth(array.curve("read", array.below)),
    "Q000-1 growth, all records": growing,
    "Q000-1 shape": lambda array: shape(array.curve("read", array.below)),
    "Q000-1 lowest": lowest,
    "Q000-1 no drop": lambda array: largest_fall(array.curve("read", array.stripes)),
    "Q000-2 growth": lambda array: growth(array.curve("write", array.below)),
    "Q000-2 shape": lambda array: shape(array.curve("write", array.below)),
    "Q000-2 recovery": lambda array: beyond(array)[2] / beyond(array)[1],
    "Q000-2 below the peak": lambda array: beyond(array)[2] / beyond(array)[0],
    "Q000-3 write": lambda array: of_streams(array, "write"),
    "Q000-3 read": lambda array: of_streams(array, "read"),
    "Q000-3 share": share,
    "Q000-4 write": lambda array: beside(array, "write"),
    "Q000-4 read": lambda array: beside(array, "read"),
    "Q000-5 stripe": stripe_for,
    "Q000-5 best": best,
    "Q000-5 read": lambda array: gain(array, "read", 3, 5) - gain(array, "read", 5, 13),
    "Q000-6 optimum": optimum,
    "Q000-6 caution": caution,
}

EXACTLY: dict[str, Callable[[Array], Any]] = {
    "the disk cache": lambda array: array.cache,
    "a quarter of the disk cache": lambda array: array.quarter,
    "a quarter of the disk cache, 13 disks": lambda array: [array.quarter, 13],
}


def _judged(given: Json, array: Array) -> Judged:
    """Judge a claim for one array."""
    exactly = EXACTLY[given["exactly"]](array) if "exactly" in given else None
    more = {} if exactly is None else {"published": exactly}
    role = given.get(f"role_{array.name}", given["role"])
    claim = Claim.read(given, id=f"{given['id']}, {array.name}", calibrated=role != "predicted", **more)
    return verdict(claim, _over_seeds([FOUND[given["id"]](one) for one in array.of_seeds()]))


def _over_seeds(found: list[Any]) -> Obtained:
    """Return the mean over seeds with half its 95 % interval; of anything else, the answer they share, or all."""
    if not isinstance(found[0], float) or len(found) == 1:
        return Obtained(_rounded(found[0]) if all(one == found[0] for one in found) else found)
    half_width = STUDENT[len(found)] * statistics.stdev(found) / math.sqrt(len(found))
    return Obtained(_rounded(statistics.fmean(found)), half_width)


# Two-sided 95 % quantiles of Student's t, by the number of seeds.
STUDENT = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776}


def _rounded(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def expectations(study: Study, runs: Runs) -> Iterator[Judged]:
    """Judge what the chosen rules imply beside the paper's grid, and what is left without them."""
    infortrend = Array(study, runs, "infortrend", study.document["arrays"]["infortrend"])
    twos = [2**power for power in range(6, 12)]
    limit = study.document["rules"]["drop"]
    bare: Json = {"rules": ()}
    found: dict[str, Callable[[], Any]] = {
        "rules 2 × 1 MiB": lambda: drop(infortrend, 2, twos),
        "rules 8 × 256 KiB": lambda: drop(infortrend, 8, twos),
        "rules 8 MiB": lambda: first_drop(infortrend.curve("write", infortrend.stripes, cache_kib=8192), limit),
        "no rules": lambda: largest_fall(infortrend.curve("write", infortrend.stripes, **bare)),
        "no rules, 4 streams": lambda: largest_fall(
            infortrend.curve("write", _until_cache(infortrend), streams=4, **bare)
        ),
    }
    each_rule(study, infortrend)
    for given in study.document["expectation"]:
        more = {"published": given["exactly"]} if "exactly" in given else {}
        claim = Claim.read(given, source="the rules", kind="expectation", **more)
        yield verdict(claim, Obtained(_rounded(found[given["id"]]())))


def window(study: Study, array: Array) -> None:
    """Draw the gain of T000-2 over the rate of the path to the disks, which is calibrated."""
    if rates := study.document["window_mb_s"].get(array.name):
        gains = [
            (float(rate), (_many(array, rate, 13) / _many(array, rate, 5) - 1) * 100)
            for rate in rates[:: 2 if study.small else 1]
        ]
        title = f"What the gain of T000-2 depends on: {array.name}, writes, 5 to 13 disks; published: 13 %"
        study.draw(title, "rate of the path to the disks, MB/s", "gain, %", {"gain": gains})


def _many(array: Array, rate: int, disks: int) -> float:
    return array.runs.together(array.at("write", array.quarter, disks=disks, backend_mb_s=rate))


def each_rule(study: Study, array: Array) -> None:
    """Draw what each rule contributes: writes with all of them, without each, and with none."""
    sets: dict[str, tuple[str, ...]] = {"all rules": system.RULES}
    sets |= {f"without {rule}": tuple(set(system.RULES) - {rule}) for rule in system.RULES}
    sets |= {"no rules": ()}
    for streams in (1, 4):
        points = [
            array.at("write", stripe, streams=streams, rules=tuple(sorted(rules)))
            for rules in sets.values()
            for stripe in array.stripes[1:6]
        ]
        array.runs.all(points)
        curves = {
            name: [
                (stripe * 1024.0, rate)
                for stripe, rate in array.curve(
                    "write", array.stripes[1:6], streams=streams, rules=tuple(sorted(rules))
                )
            ]
            for name, rules in sets.items()
        }
        many = f"{streams} stream{'s' if streams > 1 else ''}"
        title = f"What each rule of the drives' caches contributes: {array.name}, {many} of writes"
        study.draw(title, "stripe unit, B", "bandwidth, MB/s", curves, log=2)
