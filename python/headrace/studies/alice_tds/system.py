"""The two arrays of the study, and what they are asked: each point changes `infortrend.yaml` or `dothill.yaml`."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from headrace import Scenario
from headrace.study import whole

Json = dict[str, Any]

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
HERE = Path(__file__).parent

# The reading of the paper that is chosen: see README.md.
RULES = ("reserves_commands", "starts_with_all", "reports_large_late", "keeps_stream_segments")

# A measurement writes or reads 15 files of 2 GB (section 3).
FILES = 15
# Half of a run is measured: with this number of stripes in all, one more or less is 0.3 %.
STRIPES = 700


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
    fabric: str = "switch"
    """What servers and arrays are connected by: a `wire` or a `switch`."""
    pairs: int = 1
    """Servers, each with an array of its own."""
    servers: int = 1
    """Servers that the streams come from."""
    rules: tuple[str, ...] = RULES
    cache_kib: int = 0
    """The cache of each disk; by default the paper's."""
    array_cache_mib: int = 0
    """The cache of the array; by default that of the file."""
    backend_mb_s: int = 0
    """The rate of the path to the disks; by default that of the file."""
    seed: int = 1
    short: bool = False

    @property
    def stripe(self) -> int:
        """Bytes of data in a stripe."""
        return self.stripe_kib * KIB * (self.disks - 1)

    @property
    def requests(self) -> int:
        """Records that each pair writes or reads: many, and many stripes, since writes are counted in whole ones."""
        wanted, files = GIB // 4, FILES * 2 * GIB
        if self.pairs > 1:  # A run ends for both at once, in the middle of a record of one.
            wanted = files
        elif self.record_kib >= 128:
            wanted = max(4 * GIB, min(STRIPES * self.stripe, files), 40 * self.stripe)
        return max(32, wanted // (self.record_kib * KIB) // (4 if self.short else 1))


def scenario(point: Point) -> Json:
    """Return the scenario of a point."""
    document: Json = yaml.safe_load((HERE / f"{point.array}.yaml").read_text(encoding="utf-8"))
    _vary(document, point)
    system, stream = document["system"], document["workload"]["write-0"]
    stream["files"] = -(-FILES // (point.streams + point.beside))
    other = "read" if point.op == "write" else "write"
    ops = {f"{point.op}-{n}": point.op for n in range(point.streams)}
    ops |= {f"beside-{n}": other for n in range(point.beside)}
    document["workload"] = {name: stream | {"op": op} for name, op in ops.items()}
    for n in range(1, point.servers):
        system[f"server-{n}"] = system["server"]
        system["san"]["connects"] += [f"server-{n}"]
        document["workload"][f"{point.op}-{n}"] = stream | {"op": point.op, "from": f"server-{n}"}
    for n in range(1, point.pairs):
        _add_pair(system, n)
        document["workload"][f"{point.op}-{n}"] = stream | {"op": point.op, "from": f"server-{n}", "to": f"tds-{n}"}
    if point.fabric == "wire":
        system["san"] = system["san"] | {"form": "direct"}
        del system["san"]["latency"]
    return document


def _vary(document: Json, point: Point) -> None:
    """Set the numbers of the array, of its disks and of the run."""
    array, stream = document["system"]["tds"], document["workload"]["write-0"]
    array |= {"disks": point.disks, "stripe_unit": f"{point.stripe_kib} KiB"}
    # Two stripes, but no more than a quarter of the array's cache.
    ahead = max(32 * MIB, min(2 * point.stripe, GIB // 2))
    array["cache"] |= {"line": f"{min(point.stripe_kib, 128)} KiB", "read_ahead": f"{ahead} B"}
    if point.array_cache_mib:
        array["cache"]["size"] = f"{point.array_cache_mib} MiB"
    if point.backend_mb_s:
        document["system"]["backend"]["rate"] = f"{point.backend_mb_s} MB/s"
    disk = document["parts"]["spindle"]["device"]["cache"]
    disk["alice_reading"] = dict.fromkeys(point.rules, True)
    if point.cache_kib:
        disk |= dict.fromkeys(("segment_size", "write_room"), f"{point.cache_kib} KiB")
    stream["size"] = f"{point.record_kib} KiB"
    document["run"] |= {"seed": point.seed, "requests": point.requests * point.pairs}


def _add_pair(system: Json, n: int) -> None:
    """Add a server with an array of its own, on the same switch."""
    system |= {f"{name}-{n}": system[name] for name in ("server", "controller", "backend")}
    system[f"tds-{n}"] = system["tds"] | {"controllers": [f"controller-{n}"], "via": f"backend-{n}"}
    system["san"]["connects"] += [f"server-{n}", f"tds-{n}"]


def rates(point: Point) -> dict[str, float]:
    """Return what each stream gets in the second half of a run, in MB/s.

    Reads are counted at the server. Writes are counted where they leave the array's cache, in whole stripes: that is
    what a server gets once the cache is full, whatever its size; streams share it as they share the port.

    Same seed, same requests: the first half is a run of its own, and the second is the difference.
    """
    document = scenario(point)
    first, whole_run = (_run(document, point.requests * point.pairs // part) for part in (2, 1))
    seconds = whole_run.seconds - first.seconds
    records = {name: count - first.records[name] for name, count in whole_run.records.items()}
    record = point.record_kib * KIB / 1e6
    found = {name: count * record / seconds for name, count in records.items()}
    written = (whole_run.destaged - first.destaged) * point.stripe / 1e6 / seconds
    writes = [name for name, of in document["workload"].items() if of["op"] == "write"]
    total = sum(records[name] for name in writes)
    return found | {name: written * records[name] / total for name in writes}


@dataclass(frozen=True)
class Run:
    """What was done by the end of a run."""

    records: dict[str, int]
    """Records of each stream."""
    destaged: float
    """Stripes that went to the disks."""
    seconds: float


def _run(document: Json, requests: int) -> Run:
    document["run"]["requests"] = requests
    found = whole(Scenario(json.dumps(document)).run(theory=False)).data
    records = {stream["name"]: stream["completed"] for stream in found["streams"]}
    arrays = [part["meters"]["destages"] or 0 for part in found["components"] if part["kind"] == "array"]
    return Run(records, sum(arrays), found["simulated_s"])
