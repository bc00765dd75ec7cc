"""The two arrays of the study, and what they are asked: a scenario for each point of a figure."""

import json
from dataclasses import dataclass
from typing import Any

from headrace import Scenario, devices
from headrace.study import whole

Json = dict[str, Any]

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30

# Calibrated, as README.md says: the controller's bus, what a command takes its processor, and what it takes a drive.
BUS = "380 MB/s"
COMMAND = "0.1 ms"
DRIVE = "1 ms"

# The paper's drives, by the catalogue, and the size of their caches in KiB.
DRIVES = {"infortrend": "maxtor-7y250p0-2mb", "dothill": "seagate-st336752fc"}
CACHES = {"infortrend": 2048, "dothill": 8192}

# The reading of the paper that is chosen: see README.md.
RULES: tuple[str, ...] = ("reserves_commands", "starts_with_all", "reports_large_late", "keeps_stream_segments")

FILE = 2 * GIB
FILES = 15


@dataclass(frozen=True)
class Point:
    """One run: an array and what it is asked."""

    array: str
    op: str = "write"
    stripe_kib: int = 512
    record_kib: int = 32768
    streams: int = 1
    disks: int = 5
    beside: int = 0
    """Streams of the other operation."""
    fabric: str = ""
    """What servers and arrays are connected by: a `wire` or a `switch`. By default streams come to the array itself."""
    pairs: int = 1
    """Servers, each with an array of its own."""
    rules: tuple[str, ...] = RULES
    cache_kib: int = 0
    """The cache of each disk; by default the paper's."""
    seed: int = 1
    short: bool = False

    @property
    def stripe(self) -> int:
        """Bytes of data in a stripe."""
        return self.stripe_kib * KIB * (self.disks - 1)

    @property
    def cache(self) -> int:
        """Bytes of the array's cache, of which the paper says nothing: a stripe takes at most a quarter."""
        return max(256 * MIB, 2 * self.stripe * max(2, self.streams + self.beside))

    @property
    def requests(self) -> int:
        """Records to write or read: enough to fill the cache several times."""
        wanted = max(4 * GIB * self.streams, 6 * self.cache) if self.record_kib >= 128 else GIB
        return max(32, wanted // (self.record_kib * KIB) // (4 if self.short else 1))


def drive(point: Point) -> Json:
    """Return the numbers of the array's disks."""
    numbers = devices.numbers(DRIVES[point.array])
    cache = point.cache_kib or CACHES[point.array]
    # Reads stream through all of the cache: how it is divided is not known.
    segments: Json = {"segments": 1, "segment_size": f"{cache} KiB", "read_ahead_least": "512 KiB"}
    writes = {"writes": "back", "write_room": f"{cache} KiB", "alice_reading": dict.fromkeys(point.rules, True)}
    numbers["overhead"] = DRIVE
    numbers["cache"] = segments | writes
    return numbers


def scenario(point: Point) -> Json:
    """Return the scenario of a point."""
    cache: Json = {"size": f"{point.cache} B", "writes": "back", "read_ahead": f"{max(32 * MIB, point.stripe)} B"}
    line = min(point.stripe_kib, 128)
    cache |= {"stripes_at_once": 1, "run": "32 MiB", "line": f"{line} KiB", "destage": {"before_read_ahead": True}}
    array: Json = {"type": "array", "level": "raid5", "of": "spindle", "disks": point.disks}
    array |= {"stripe_unit": f"{point.stripe_kib} KiB", "controllers": ["controller"], "cache": cache}
    controller = {"type": "controller", "bus": BUS, "command": COMMAND}
    other = "read" if point.op == "write" else "write"
    ops = {f"{point.op}-{n}": point.op for n in range(point.streams)}
    ops |= {f"beside-{n}": other for n in range(point.beside)}
    system, workload = {"controller": controller, "tds": array}, {name: stream(op, point) for name, op in ops.items()}
    if point.fabric:
        system, workload = connected(point, controller, array)
    return {
        "parts": {"spindle": {"type": "disk", "device": drive(point), "positioning": "mechanical"}},
        "system": system,
        "workload": workload,
        "run": {"seed": point.seed, "requests": point.requests * point.pairs, "warm_up": "none"},
    }


def connected(point: Point, controller: Json, array: Json) -> tuple[Json, Json]:
    """Return pairs of a server and an array, and a stream for each, over ports of 2 Gb/s."""
    system: Json = {}
    for n in range(point.pairs):
        system |= {f"server-{n}": {"type": "server"}, f"controller-{n}": controller}
        system[f"tds-{n}"] = array | {"controllers": [f"controller-{n}"]}
    ends = [name for name in system if not name.startswith("controller")]
    how = {"form": "direct"} if point.fabric == "wire" else {"latency": "1 us"}
    system["san"] = {"type": "switch", "preset": "fc_2g", "connects": ends} | how
    each = {n: stream(point.op, point) | {"from": f"server-{n}", "to": f"tds-{n}"} for n in range(point.pairs)}
    return system, {f"{point.op}-{n}": of for n, of in each.items()}


def stream(op: str, point: Point) -> Json:
    """Return a stream of records, one after another, in files of its own."""
    files = {"file": f"{FILE} B", "files": FILES // (4 if point.streams > 1 or point.beside else 1)}
    return {"to": "tds", "arrivals": {"closed": {"depth": 1}}, "op": op, "size": f"{point.record_kib} KiB"} | files


def rates(point: Point) -> dict[str, float]:
    """Return what each stream gets in the second half of a run, in MB/s: the array's cache is as full as it gets.

    Same seed, same requests: the first half is a run of its own, and the second is the difference.
    """
    document = scenario(point)
    halves = [_run(document, point.requests // 2), _run(document, point.requests)]
    (answered, begin), (in_all, end) = halves
    record = point.record_kib * KIB / 1e6
    return {name: (in_all[name] - answered[name]) * record / (end - begin) for name in in_all}


def _run(document: Json, requests: int) -> tuple[dict[str, int], float]:
    """Return how many records of each stream were done, and when the last was."""
    document["run"]["requests"] = requests
    found = whole(Scenario(json.dumps(document)).run(theory=False)).data
    return {stream["name"]: stream["completed"] for stream in found["streams"]}, found["simulated_s"]
