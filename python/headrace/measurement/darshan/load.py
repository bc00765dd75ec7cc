"""A scenario made of the counters of a log: who reads and writes how much, how often, in which sizes and where."""

import math
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from headrace import quantities
from headrace.errors import refusal
from headrace.measurement import stand_in
from headrace.measurement.darshan.log import Log, read
from headrace.quantities import exact_size

Json = dict[str, Any]

# The bounds of the ten bins that sizes are counted in, in bytes; the last has no upper one.
BINS = {
    "0_100": (1, 100),
    "100_1K": (101, 1024),
    "1K_10K": (1025, 10 * 1024),
    "10K_100K": (10 * 1024 + 1, 100 * 1024),
    "100K_1M": (100 * 1024 + 1, 1 << 20),
    "1M_4M": ((1 << 20) + 1, 4 << 20),
    "4M_10M": ((4 << 20) + 1, 10 << 20),
    "10M_100M": ((10 << 20) + 1, 100 << 20),
    "100M_1G": ((100 << 20) + 1, 1 << 30),
    "1G_PLUS": ((1 << 30) + 1, 1 << 40),
}
# The four sizes that a record names are known with their counts.
NAMED = range(1, 5)
# A run is as long as the job, but for what takes long to simulate.
MOST_REQUESTS, MOST_BYTES = 200_000, 100e9
# A stream is sequential if at least this share of requests begin where the one before ended, random up to the other.
SEQUENTIAL, RANDOM = 0.95, 0.05
# Sizes with less than this share of requests and of bytes are taken together with others of their bin.
RARE = 0.01
EVEN = "each process does its requests evenly from its first to its last; the job's own phases are not in the counters"


@dataclass
class JobScenario:
    """The scenario made of a log, and what it leaves out or assumes."""

    document: Json
    remarks: list[str] = field(default_factory=list)


@dataclass
class Direction:
    """What the counters of a log say of its reads, or of its writes."""

    log: Log
    op: str

    @cached_property
    def kept(self) -> Any:
        """Which files were read, or written."""
        return self.log.counters[f"POSIX_{self.op}S"] > 0

    @cached_property
    def shared(self) -> Any:
        """Which of these all processes share."""
        return self.log.counters["rank"][self.kept] < 0

    @property
    def moved(self) -> str:
        """The end of the names of counters of bytes."""
        return "READ" if self.op == "READ" else "WRITTEN"

    def of(self, counter: str) -> Any:
        """Return a counter of each file."""
        return self.log.counters[counter][self.kept]

    def sum(self, counter: str) -> float:
        """Return the sum of a counter over all files."""
        return float(self.of(counter).sum())

    @property
    def requests(self) -> int:
        """How many there are."""
        return round(self.sum(f"POSIX_{self.op}S"))

    @property
    def bytes(self) -> float:
        """What they move, all together."""
        return self.sum(f"POSIX_BYTES_{self.moved}")

    @property
    def clients(self) -> int:
        """How many processes did it. Those of a file that all share are not told apart."""
        if self.shared.any():
            return max(self.log.processes, 1)
        return len(set(self.log.counters["rank"][self.kept].tolist()))

    @property
    def io_s(self) -> float:
        """The time that processes spent in it, all together."""
        return self.sum(f"POSIX_F_{self.op}_TIME")

    @property
    def span_s(self) -> float:
        """From the first to the last request of a process to a file, all together: at most the whole job."""
        begin, end = (self.of(f"POSIX_F_{self.op}_{which}_TIMESTAMP") for which in ("START", "END"))
        each = (end - begin).clip(min=0.0)
        spans = float(each[self.shared].sum()) * self.clients + float(each[~self.shared].sum())
        return min(spans, self.log.seconds * self.clients)

    def stream(self) -> Json:
        """Return the stream of these requests: its processes wait for answers and do something else in between."""
        closed: Json = {"depth": self.clients}
        if (think := (self.span_s - self.io_s) / self.requests) > 0:
            closed["think"] = f"{think * 1e3:.6g} ms"
        stream = {"to": "storage", "op": "read" if self.op == "READ" else "write", "size": self.sizes()}
        stream |= {"pattern": self.pattern(), "footprint": exact_size(self.footprint())}
        flushes = round(self.sum("POSIX_FSYNCS") + self.sum("POSIX_FDSYNCS")) if self.op == "WRITE" else 0
        if flushes > 0:
            stream["flush_every"] = max(round(self.requests / flushes), 1)
        return stream | {"arrivals": {"closed": closed}}

    def pattern(self) -> Any:
        """Return how requests follow each other, by the share that begin where the one before ended."""
        # The first of a file follows nothing.
        following = max(self.requests - int(self.kept.sum()), 1)
        share = min(self.sum(f"POSIX_CONSEC_{self.op}S") / following, 1.0)
        if share >= SEQUENTIAL:
            return "sequential"
        return "uniform" if share <= RANDOM else {"runs": {"length": float(f"{1 / (1 - share):.3g}")}}

    def footprint(self) -> int:
        """Return how many bytes of all files lie before the last one touched."""
        ends = self.of(f"POSIX_MAX_BYTE_{self.moved}") + 1
        return max(round(float(ends.clip(min=0).sum())), *self.weights())

    def sizes(self) -> Any:
        """Return the sizes of requests with their weights, those that the log names and others by their bins."""
        weights = _without_rare(self.weights())
        if len(weights) == 1:
            return exact_size(next(iter(weights)))
        return {"mix": [{"size": exact_size(size), "weight": count} for size, count in sorted(weights.items())]}

    def weights(self) -> dict[int, int]:
        """Return how many requests have which size. Where a bin names none, they have one that gives all bytes."""
        all_named, named, others = self.named(), Counter[int](), dict[str, int]()
        for name, (least, most) in BINS.items():
            wanted = round(self.sum(f"POSIX_SIZE_{self.op}_{name}"))
            known = {size: count for size, count in all_named.items() if least <= size <= most}
            total = sum(known.values())
            # Reads and writes are named together: those of the other direction are not in this bin.
            for size, count in known.items():
                named[size] += round(count * min(wanted / total, 1.0))
            if (rest := wanted - min(total, wanted)) > 0:
                others[name] = rest
        left = self.bytes - sum(size * count for size, count in named.items())
        return dict(named + self._unnamed(others, left)) or {max(round(self.bytes / self.requests), 1): self.requests}

    def named(self) -> Counter[int]:
        """Return the sizes that the records name, with their counts."""
        found = Counter[int]()
        for number in NAMED:
            pairs = zip(self.of(f"POSIX_ACCESS{number}_ACCESS"), self.of(f"POSIX_ACCESS{number}_COUNT"), strict=True)
            for size, count in pairs:
                found[int(size)] += int(count)
        return +found

    def _unnamed(self, bins: dict[str, int], left: float) -> Counter[int]:
        """Return sizes for the requests of bins, within their bounds, that together are about `left` bytes."""
        middle = {name: math.sqrt(math.prod(BINS[name])) for name in bins}
        whole = sum(middle[name] * count for name, count in bins.items())
        found = Counter[int]()
        for name, count in bins.items():
            least, most = BINS[name]
            found[round(min(max(middle[name] * left / whole, least), most))] += count
        return found


def _without_rare(weights: dict[int, int]) -> dict[int, int]:
    """Return sizes with their counts, of which the rare ones of a bin are their mean."""
    requests, whole = sum(weights.values()), sum(size * count for size, count in weights.items())
    found, rare = Counter[int](), dict[str, Counter[int]]()
    for each, count in weights.items():
        if count < RARE * requests and each * count < RARE * whole:
            rare.setdefault(next(name for name, (_, most) in BINS.items() if each <= most), Counter())[each] += count
        else:
            found[each] += count
    for of in rare.values():
        found[round(sum(size * count for size, count in of.items()) / of.total())] += of.total()
    return dict(+found)


def scenario(path: Path, *, device: str | None = None) -> JobScenario:
    """Return a scenario with the load of a log, on a drive of the model `device`.

    Raises `ScenarioError` where the file is no log, or one without POSIX requests.
    """
    log = read(path)
    found = {op: Direction(log, op) for op in ("READ", "WRITE")}
    streams = {f"{op.lower()}s": of for op, of in found.items() if of.kept.any()}
    if not streams:
        raise refusal(path, f"{path} has no reads or writes by POSIX", "other interfaces are not read")
    component, remarks = stand_in.storage(device, sum(of.footprint() for of in streams.values()))
    workload = {name: of.stream() for name, of in streams.items()}
    document: Json = {"system": {"storage": component}, "workload": workload}
    document["run"] = {"seed": 1, "requests": _length([*streams.values()])}
    return JobScenario(document, [*map(_told, streams.items()), *remarks, EVEN, *log.remarks])


def _length(streams: list[Direction]) -> int:
    """Return the number of requests of a run: those of the job, or fewer, but one of each process at least."""
    requests, clients = sum(of.requests for of in streams), sum(of.clients for of in streams)
    mean = sum(of.bytes for of in streams) / requests
    return min(requests, max(min(MOST_REQUESTS, round(MOST_BYTES / max(mean, 1))), clients))


def _told(named: tuple[str, Direction]) -> str:
    name, of = named
    by = "one process" if of.clients == 1 else f"{of.clients:,} processes"
    took = quantities.format_time(of.io_s / of.requests * 1e3)
    return f"{name}: {of.requests:,} of {quantities.size(of.bytes / of.requests)} on average, by {by}; each took {took}"
