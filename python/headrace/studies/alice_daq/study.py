"""Runs the study of the ALICE data acquisition: see README.md for what it finds."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from headrace.studies.alice_daq import figures
from headrace.studies.alice_daq.cases import Cases
from headrace.studies.alice_tds import system
from headrace.study import Claim, Judged, Obtained, Study, verdict

Json = dict[str, Any]


def obtain(study: Study) -> Iterator[Judged]:
    """Run every case and judge its claim."""
    cases = Cases(study)
    figures.draw(study, cases)
    for given in study.document["claim"]:
        study.tell(given["id"])
        yield _judged(given, cases)


def _judged(given: Json, cases: Cases) -> Judged:
    why = given.get("why", "")
    found, argument = FOUND[given["id"]](cases)
    return verdict(Claim.read(given), Obtained(found), argument or why)


def useful(cases: Cases, level: str, disks: int, volumes: int) -> float:
    """Return how many disks' worth of data an array of 16 has, by what its disks write for it."""
    _, of_disks = cases.disks(level, disks, "w")
    return volumes * disks / of_disks


def faster(cases: Cases, streams: int = 1, **case: Any) -> float:
    """Return what a core twice as fast gains."""
    return cases.recording(streams, **case) / cases.recording(streams, old=True, **case)


def together(cases: Cases, volumes: int) -> float:
    """Return what a writer and a reader get together on a volume each, over the sum of each alone."""
    both = math.fsum(cases.disks("raid5", 5, "wr", volumes)[0])
    return both / math.fsum(cases.disks("raid5", 5, op, volumes)[0][0] for op in ("w", "-r"))


def slowest(cases: Cases, *, cached: bool) -> float:
    """Return the smaller of the shares of what each gets alone that a writer and a reader get on one volume."""
    both = cases.disks("raid5", 5, "wr", cached=cached)[0]
    alone = [cases.disks("raid5", 5, op, cached=cached)[0][0] for op in ("w", "r")]
    return min(rate / of for rate, of in zip(both, alone, strict=True))


def of_paper_000(cases: Cases) -> float:
    """Return the same of the array of the study alice-tds, as that study measures its claim Q000-4."""
    point = partial(system.Point, array="infortrend", short=cases.study.small)
    both, alone = system.rates(point(beside=1)), [system.rates(point(op=op)) for op in ("write", "read")]
    return min(both["write-0"] / alone[0]["write-0"], both["beside-0"] / alone[1]["read-0"])


def one_volume(cases: Cases) -> tuple[float, str]:
    """Return the share of the slower behind a cache, and what it is without one."""
    return _rounded(slowest(cases, cached=True)), f"without a cache: {slowest(cases, cached=False):.2f}"


def raid6(cases: Cases, disks: int) -> float:
    """Return what two clients write to a RAID 6 volume each, over RAID 5."""
    rates = [math.fsum(cases.disks(level, disks, "ww", 2)[0]) for level in ("raid6", "raid5")]
    return rates[0] / rates[1]


def arrays_for_3_gb(cases: Cases) -> tuple[int, str]:
    """Return the smallest number of arrays for 3 GB/s, and an argument."""
    for arrays in range(1, 41):
        rate, bottleneck = cases.mixed(arrays)
        if rate >= 3:
            found = f"{rate:.2f} GB/s; bottleneck {bottleneck}"
            why = f"possible with {arrays} arrays ({found}); how many there were is unknown"
            return arrays, why
    return 0, "not reached with 40 arrays"


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


Found = Callable[[Cases], tuple[Any, str]]


def number(of: Callable[[Cases], float]) -> Found:
    """Return what a case finds as a rounded number, without an argument."""
    return lambda cases: (_rounded(of(cases)), "")


def threshold(cases: Cases) -> float:
    """Return the size of sub-events, in kB, at which one stream of the older core records 21 MB/s."""
    low, high = 5.0, 80.0
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cases.recording(1, sub_event=middle, old=True) < 21 else (low, middle)
    return math.sqrt(low * high)


def by_file_size(cases: Cases, file_system: str) -> float:
    """Return the rate of the largest file over that of the smallest, in blocks of 8 KiB."""
    sizes = cases.study.document["files"]["gib"]
    return cases.lmdd(file_system, "write", 8, sizes[-1]) / cases.lmdd(file_system, "write", 8, sizes[0])


def by_affinity(cases: Cases) -> float:
    """Return what two writers get on a volume each, over both on one volume."""
    apart, together = (math.fsum(cases.disks("raid5", 5, "ww", volumes)[0]) for volumes in (2, 1))
    return apart / together


FOUND: dict[str, Found] = {
    "T001-1 RAID 5, 3 x 5 + 1": number(lambda cases: useful(cases, "raid5", 5, 3)),
    "T001-1 RAID 6, 3 x 5 + 1": number(lambda cases: useful(cases, "raid6", 5, 3)),
    "T001-1 RAID 5, 2 x 7 + 2": number(lambda cases: useful(cases, "raid5", 7, 2)),
    "T001-1 RAID 6, 2 x 7 + 2": number(lambda cases: useful(cases, "raid6", 7, 2)),
    "T001-2": number(threshold),
    "T001-3 link": number(lambda cases: faster(cases, 8, sub_event=256.0, port="ethernet_1g")),
    "T001-3 volume": number(lambda cases: faster(cases, 8, sub_event=256.0, one=True)),
    "T001-3 core": number(faster),
    "Q001-1 one volume": one_volume,
    "Q001-1 two volumes": number(lambda cases: together(cases, 2)),
    "Q001-1 array of paper 000": number(of_paper_000),
    "Q001-2 5 disks": number(lambda cases: raid6(cases, 5)),
    "Q001-2 7 disks": number(lambda cases: raid6(cases, 7)),
    "Q001-3 cores": number(lambda cases: cases.recording(4) / max(cases.recording(n) for n in figures.STREAMS)),
    "Q001-3 flat": number(lambda cases: cases.recording(16) / cases.recording(8)),
    "block size": number(lambda cases: cases.lmdd("XFS", "write", 8, 2) / cases.lmdd("XFS", "write", 1024, 2)),
    "file size, XFS": number(lambda cases: by_file_size(cases, "XFS")),
    "file size, StorNext": number(lambda cases: by_file_size(cases, "StorNext")),
    "affinity": number(by_affinity),
    "client": number(Cases.client),
    "3 GB/s": arrays_for_3_gb,
    "2.5 GB/s": number(Cases.building),
    "1.25 GB/s": number(lambda cases: cases.hour()[0]),
    "1.25 GB/s, loss": lambda cases: (cases.hour()[1], ""),
}
