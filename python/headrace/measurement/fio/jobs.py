"""fio's job files as scenarios and workloads: each option is honoured, or named as ignored with the reason."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.errors import refusal
from headrace.measurement import stand_in
from headrace.measurement.fio import sections
from headrace.measurement.fio.options import (
    ASYNCHRONOUS,
    DEFAULT_ENGINE,
    HONOURED,
    IGNORED,
    SYNCHRONOUS,
    UNKNOWN,
    flushing,
    is_durable,
)
from headrace.measurement.fio.pace import DISCARD, MIXED, READ, WRITE, Pace, by_direction
from headrace.measurement.fio.sections import JobSection
from headrace.measurement.fio.values import Remarks, Values
from headrace.quantities import exact_size

Json = dict[str, Any]
NAME = re.compile(r"[^A-Za-z0-9_-]+")
# The drives that stand for what fio was run on, an NVMe device by its name or another, until the user names one.
NVME, DEVICE = "micron-7450-pro-1920gb", "exos-x18"
STORAGE = "storage"
MIB = 1 << 20
MOST_STREAMS = 256
DEFAULT_REQUESTS = 100_000
MOST_REQUESTS = 10_000_000
MOST_SPOTS = 1_000_000  # What `hot_spot` takes.
# fio's, where `random_distribution` names no parameter.
ZIPF, PARETO = "1.1", "0.2"


@dataclass
class JobScenario:
    """The scenario made of a job file, and which options it ignores."""

    document: Json
    remarks: list[str] = field(default_factory=list)


def scenario(path: Path, *, device: str | None = None, section: str | None = None) -> JobScenario:
    """Return the scenario that a job file describes.

    All that fio addresses becomes a drive of the model `device`; `section` names the one job to take, where the file
    has several that do not run at the same time. Raises `ScenarioError` where a job cannot be simulated.
    """
    return _File(path, section).scenario(device)


@dataclass
class Workload:
    """The streams made of a job file, the length of the run, and which options are ignored."""

    streams: Json
    run: Json
    remarks: list[str]


def workload(
    path: Path, target: Callable[[str], str | None], *, server: str | None = None, section: str | None = None
) -> Workload:
    """Return the streams that a job file describes, to components of a scenario that has them.

    `target` names the component for a block device, or for `storage`, where files lie; None refuses the job. With
    `server` the requests come from there, and each copy of a job is one of its threads. Raises `ScenarioError` as
    `scenario` does.
    """
    file = _File(path, section, server)
    parts = [_Streams(file, job) for job in file.jobs]
    streams = file.streams(parts)
    for part in parts:
        if (component := target(part.target)) is None:
            told = f"the scenario has no component `{part.target}`, and several that could stand for it"
            raise part.values.bad("filename", told, f"name one: `fio: {{job: {path.name}, to: NAME}}`")
        for stream in streams.values():
            stream["to"] = component if stream["to"] == part.target else stream["to"]
    return Workload(streams, file.run(parts), list(file.remarks))


class _Places:
    """Where files lie, one after another, each from a whole MiB on."""

    def __init__(self) -> None:
        self.begins, self.end = dict[str, int](), 0

    def of(self, file: str, size: int) -> int:
        """Return where a file begins; a new one lies behind all others."""
        if file not in self.begins:
            self.begins[file] = self.end
            self.end += -(-size // MIB) * MIB
        return self.begins[file]


class _File:
    def __init__(self, path: Path, section: str | None, server: str | None = None) -> None:
        self.path, self.server, self.remarks = path, server, Remarks()
        jobs = sections.read(path)
        if section is not None:
            chosen = [job for job in jobs if job.name == section]
            if not chosen:
                known = ", ".join(job.name for job in jobs)
                raise refusal(path, f"{path} has no job `{section}`", f"its jobs are {known}")
            jobs = chosen
        elif waiting := next((job for job in jobs[1:] if job.is_on("stonewall") or "wait_for" in job.options), None):
            told = (
                f"the job `{waiting.name}` waits for others (stonewall, wait_for); the jobs of a scenario run at once"
            )
            help_ = f"take one at a time: --section {waiting.name}, or `section: {waiting.name}` in a workload"
            option = "stonewall" if waiting.is_on("stonewall") else "wait_for"
            raise self.values(waiting).bad(option, told, help_)
        self.jobs = jobs

    def values(self, job: JobSection) -> Values:
        return Values(self.path, job, self.remarks)

    def scenario(self, device: str | None) -> JobScenario:
        parts = [_Streams(self, job) for job in self.jobs]
        workload = self.streams(parts)
        chosen = {part.target: device or (NVME if part.target.startswith("nvme") else DEVICE) for part in parts}
        if device is None:
            for name, drive in chosen.items():
                self.remarks[
                    f"`{name}`: {drive} replaces the real storage; name another with --device, or edit `system`"
                ] = None
        system = {name: {"type": stand_in.kind_of_drive(drive), "device": drive} for name, drive in chosen.items()}
        return JobScenario({"system": system, "workload": workload, "run": self.run(parts)}, list(self.remarks))

    def streams(self, parts: list["_Streams"]) -> Json:
        """Return the streams of all jobs by name."""
        places, workload = _Places(), dict[str, Any]()
        for part in parts:
            for name, stream in part.streams(places).items():
                if name in workload:
                    raise part.values.bad("", f"two jobs are called `{name}`", "give each a name of its own")
                workload[name] = stream
        if len(workload) > MOST_STREAMS:
            told = f"{len(workload)} streams; at most {MOST_STREAMS}"
            raise self.values(self.jobs[0]).bad("numjobs", told, "ask for fewer jobs")
        return workload

    def run(self, parts: list["_Streams"]) -> Json:
        """Return how long the run is: as long as the jobs."""
        requests = [part.requests() for part in parts]
        times = [part.time_s() for part in parts]
        run: Json = {}
        if all(time is not None for time in times):
            longest = max(time for time in times if time is not None)
            run["time"] = f"{longest:.10g} s"
            if shorter := [part.job.name for part, time in zip(parts, times, strict=True) if time != longest]:
                told = f"all jobs run for {longest:g} s; in fio {', '.join(shorter)[:80]} would end before"
                self.remarks[told] = None
        known = [one for one in requests if one is not None]
        if len(known) == len(requests):
            run["requests"] = min(max(sum(known), 1), MOST_REQUESTS)
            if sum(known) > MOST_REQUESTS:
                self.remarks[f"the run ends after {MOST_REQUESTS} requests; fio would make {sum(known)}"] = None
            if len(known) > 1:
                told = (
                    f"all jobs run until they have made {sum(known)} requests together; in fio each ends with its own"
                )
                self.remarks[told] = None
        elif "time" not in run:
            run["requests"] = DEFAULT_REQUESTS
            self.remarks[f"no end is given for all jobs: the run ends after {DEFAULT_REQUESTS} requests"] = None
        else:
            run["requests"] = MOST_REQUESTS
        seeds = [part.job.options["randseed"] for part in parts if part.job.options.get("randseed", "").isdigit()]
        return run | ({"seed": int(seeds[0][:9])} if seeds else {})


class _Streams:
    """What one job asks for."""

    REFUSED: Mapping[str, str] = {
        "read_iolog": "the job replays a log: import the log itself",
        "profile": "the job is made by a profile of fio: write its options out",
        "bs_is_seq_rand": "sizes depend on whether a request is sequential: give one size",
    }

    def __init__(self, file: _File, job: JobSection) -> None:
        self.file, self.job, self.options, self.values = file, job, job.options, file.values(job)
        for option, value in self.options.items():
            if option in self.REFUSED and value != "0":
                raise self.values.bad(option, f"`{option}={value[:60]}`", self.REFUSED[option])
            if option not in HONOURED and option not in self.REFUSED:
                self.values.ignore(option, value[:60], IGNORED.get(option, UNKNOWN))
        self._remark_on_caching()
        self.direction, self.random, self.run = self._rw()
        self.sizes = self._sizes()
        self.numjobs = self.values.count("numjobs", 1, 10_000)
        self.target, self.shared_file = self._target()
        self.size = self.values.bytes("size") or self.values.bytes("filesize")
        self._refuse_too_small()
        self.depth = self._depth()
        self.pace = Pace(self.values, self.direction, self.depth, {way: _mean(of) for way, of in self.sizes.items()})

    def _remark_on_caching(self) -> None:
        """Say what of direct I/O headrace cannot follow: buffered I/O, fio's default."""
        direct = self.job.is_on("direct") or self.options.get("buffered") in {"0", "false"}
        if not direct:
            self.values.remark(f"`{self.job.name}` goes through the page cache (direct=0), which is not simulated")

    def _refuse_too_small(self) -> None:
        if self.size is not None and self.size < self._smallest():
            told = f"the size of the file, {self.size} B, is less than one request of {self._smallest()} B"
            raise self.values.bad("size", told, "fio refuses it too: give a larger size, or smaller requests")

    def _smallest(self) -> int:
        """Return the smallest size of a request."""
        return min(size for of in self.sizes.values() for size, _ in of)

    def _rw(self) -> tuple[str, bool, float | None]:
        """Return the direction, whether addresses are random, and the mean length of sequential runs."""
        text = self.options.get("rw", "read")
        kind, _, rest = text.partition(":")
        known = {"read": "read", "write": "write", "rw": "mixed", "readwrite": "mixed", "trim": "discard"}
        direction = known.get(kind.removeprefix("rand"))
        if direction is None:
            kinds = "read, write, rw, trim, randread, randwrite, randrw, randtrim"
            raise self.values.bad("rw", f"`rw={text[:60]}` is not simulated", f"headrace simulates {kinds}")
        random, length = kind.startswith("rand"), None
        if rest and random and rest.isdigit() and 1 <= int(rest[:9]) <= 10**9:
            length = float(rest[:9])
        elif rest:
            self.values.ignore("rw", text[:60], "gaps between sequential requests are not simulated; the rest is")
        share = self.options.get("percentage_random")
        if share is not None and random:
            percent = self.values.percent("percentage_random", share.split(",")[0])
            random, length = percent > 0, 1 / percent if 0 < percent < 1 else length
        elif share is not None:
            self.values.ignore("percentage_random", share[:60], "it changes random jobs alone, in fio too")
        return direction, random, length

    def read_share(self) -> float:
        """Return the share of reads."""
        if self.direction != "mixed":
            return 1.0 if self.direction == "read" else 0.0
        if "rwmixwrite" in self.options and "rwmixread" not in self.options:
            return 1 - self.values.percent("rwmixwrite", self.options["rwmixwrite"])
        return self.values.percent("rwmixread", self.options.get("rwmixread", "50"))

    def _sizes(self) -> dict[str, list[tuple[int, float]]]:
        """Return the sizes of requests with their weights, of each direction that the job has."""
        option = next((name for name in ("bssplit", "bsrange", "bs") if name in self.options), "bs")
        parts = {"bssplit": self._split, "bsrange": self._range, "bs": self._one}[option]
        given = by_direction(self.options.get(option, "4k").split(","))
        ways = (READ, WRITE) if self.direction == MIXED else (self.direction,)
        return {way: parts(given[way]) for way in ways}

    def _sizes_of(self, direction: str) -> Json:
        """Return the sizes of one stream, of its writes apart where they have others."""
        if direction != MIXED:
            return {"size": _size_law(self.sizes[direction])}
        reads, writes, share = self.sizes[READ], self.sizes[WRITE], self.read_share()
        if share == 0:
            return {"size": _size_law(writes)}
        return {"size": _size_law(reads)} | ({"write_size": _size_law(writes)} if reads != writes and share < 1 else {})

    def _size(self, option: str, text: str) -> int:
        value = self.values.size(option, text)
        if not value or value > 1 << 30:
            raise self.values.bad(option, f"`{text[:60]}` is not a size from 1 byte to 1 GiB", "give one, such as 4k")
        return value

    def _one(self, text: str) -> list[tuple[int, float]]:
        return [(self._size("bs", text), 1.0)]

    def _range(self, text: str) -> list[tuple[int, float]]:
        low, _, high = text.partition("-")
        first, last = self._size("bsrange", low), self._size("bsrange", high or low)
        if last < first or last // first > 256:
            raise self.values.bad(
                "bsrange", f"`bsrange={text[:60]}`", "give a range of at most 256 times its beginning"
            )
        return [(first * at, 1.0) for at in range(1, last // first + 1)]

    def _split(self, text: str) -> list[tuple[int, float]]:
        parts = [part.split("/") for part in text.split(":") if part]
        sizes = [self._size("bssplit", part[0]) for part in parts]
        given = [self.values.percent("bssplit", part[1]) if len(part) > 1 and part[1] else None for part in parts]
        rest = max(1 - sum(share for share in given if share is not None), 0.0)
        open_ = sum(share is None for share in given)
        shares = [share if share is not None else rest / open_ for share in given]
        if sum(shares) <= 0:
            raise self.values.bad("bssplit", f"`bssplit={text[:60]}` has no shares", "write it as 4k/60:64k/40")
        return [(size, share) for size, share in zip(sizes, shares, strict=True) if share > 0]

    def _depth(self) -> int:
        engine = self.options.get("ioengine", DEFAULT_ENGINE)
        if engine not in SYNCHRONOUS + ASYNCHRONOUS:
            known = ", ".join(SYNCHRONOUS + ASYNCHRONOUS)
            raise self.values.bad(
                "ioengine", f"the engine `{engine[:40]}` does no block I/O", f"headrace simulates {known}"
            )
        depth = self.values.count("iodepth", 1, 1_000_000)
        if engine in SYNCHRONOUS and depth > 1:
            self.values.ignore("iodepth", str(depth), f"the engine {engine} keeps one request in flight, in fio too")
        return 1 if engine in SYNCHRONOUS else depth

    def _target(self) -> tuple[str, str | None]:
        """Return the component, and the file where jobs share one. A block device is a component of its own."""
        name = self.options.get("filename")
        if name is None:
            return STORAGE, None
        # A colon separates names, unless a backslash stands before it.
        first, *others = re.split(r"(?<!\\):", name)
        if others:
            raise self.values.bad(
                "filename", f"`filename={name[:60]}` names several files", "give each a job of its own"
            )
        name = first.replace(r"\:", ":")
        if name.startswith("/dev/"):
            return _name(name.removeprefix("/dev/")), name
        return STORAGE, name

    def requests(self) -> int | None:
        """Return how many requests the job makes in all; None where time alone ends it."""
        if self.job.is_on("time_based") and self.time_s():
            return None
        moved = self.values.bytes("io_size") or self.size
        each = math.ceil(moved / self._mean_of_all()) * self.values.count("loops", 1, 10**9) if moved else None
        if "number_ios" in self.options:
            limit = self.values.count("number_ios", 1, 10**9)
            each = min(each, limit) if each else limit
        return math.ceil(each * self.numjobs * (1 + self._flushes_per_request())) if each else None

    def _flush_every(self) -> int:
        """Return after how many writes a flush follows; 0 for none."""
        return min((self.values.count(name, 1, 10**6) for name in flushing(self.options)), default=0)

    def _flushes_per_request(self) -> float:
        writes = 0.0 if self.direction == DISCARD else 1 - self.read_share()
        return writes / self._flush_every() if self._flush_every() else 0.0

    def time_s(self) -> float | None:
        """Return for how long the job runs at most; None where time does not end it, as with `runtime=0`."""
        return self.values.seconds("runtime") or None

    def _mean_of_all(self) -> float:
        """Return the mean size of its requests in both directions."""
        rates = self.pace.rates
        share = rates[READ] / sum(rates.values()) if len(rates) > 1 else self.read_share()
        if self.direction != MIXED:
            return _mean(self.sizes[self.direction])
        return share * _mean(self.sizes[READ]) + (1 - share) * _mean(self.sizes[WRITE])

    def streams(self, places: "_Places") -> Json:
        """Return the streams: one a direction where these have rates, one a copy where copies address other bytes."""
        own_bytes = not (self.random and (self.shared_file or not self.size)) or "offset_increment" in self.options
        copies = self.numjobs if own_bytes else 1
        return {
            f"{_name(self.job.name)}{self._suffix(way)}{f'-{at + 1}' if copies > 1 else ''}": self._stream(
                way, self.numjobs // copies, places, at
            )
            for at in range(copies)
            for way in self.pace.directions
        }

    def _suffix(self, direction: str) -> str:
        return f"-{direction}s" if len(self.pace.directions) > 1 else ""

    def _stream(self, direction: str, jobs: int, places: "_Places", at: int) -> Json:
        stream: Json = {"from": self.file.server} if self.file.server else {}
        arrivals = self.pace.arrivals(direction, jobs, threads=bool(self.file.server))
        stream |= {"to": self.target, "arrivals": arrivals, "op": self._op(direction)}
        stream |= self._sizes_of(direction) | {"pattern": self._pattern(jobs)}
        if align := self.values.bytes("ba"):
            stream["align"] = exact_size(align)
        stream |= self._made_stable(direction)
        region = self._region(places, at)
        if "closed" not in arrivals:
            stream["outstanding"] = self.depth * jobs
        return stream | ({"region": region} if region else {})

    def _made_stable(self, direction: str) -> Json:
        """Return how the writes of a stream reach stable media: when they are answered, by flushes, or some time."""
        if direction not in {WRITE, MIXED}:
            return {}
        flushes = {"flush_every": every} if (every := self._flush_every()) else {}
        return flushes | ({"durable": True} if is_durable(self.options) else {})

    def _op(self, direction: str) -> str | Json:
        return {"reads": f"{round(self.read_share() * 100, 4):g} %"} if direction == MIXED else direction

    def _pattern(self, jobs: int) -> str | Json:
        if not self.random:
            return "sequential"
        if self.run and self.run > 1:
            return {"runs": {"length": self.run}}
        kind, *given = self.options.get("random_distribution", "random").split(":")
        skew = {"zipf": _zipf, "pareto": _pareto}.get(kind, lambda _: None)(given)
        if skew is not None:
            return {"hot_spot": {"skew": skew, "spots": self._spots(jobs)}}
        if kind != "random":
            why = "addresses are uniform, which caches serve worse; headrace has random, zipf:THETA and pareto:H < 0.5"
            self.values.ignore("random_distribution", self.options["random_distribution"][:60], why)
        return "uniform"

    def _spots(self, jobs: int) -> int:
        """Return over how many places a distribution is drawn: fio's blocks, at most what `hot_spot` takes."""
        if jobs > 1:
            self.values.remark(f"the {jobs} copies of `{self.job.name}` share their hot spots; in fio each has its own")
        if self.size is None:
            told = f"over the blocks of the device; here over {MOST_SPOTS} regions of it: give `size` if it has fewer"
            self.values.remark(f"`random_distribution`: fio draws {told}")
            return MOST_SPOTS
        blocks = -(-self.size // self._smallest())
        if blocks > MOST_SPOTS:
            told = f"fio draws over {blocks} blocks, headrace over {MOST_SPOTS} regions of several blocks each"
            self.values.remark(f"`random_distribution`: {told}, so that hot blocks are less hot")
        return min(blocks, MOST_SPOTS)

    def _region(self, places: "_Places", at: int) -> Json | None:
        """Return which bytes are addressed. Files lie one after another; jobs of one file or device share its bytes."""
        start = self.values.bytes("offset") or 0
        start += at * (self.values.bytes("offset_increment") or 0)
        if self.size is None:
            return {"from": exact_size(start), "size": exact_size(1 << 60)} if start else None
        if self.shared_file == self.options.get("filename") and self.target != STORAGE:
            return {"from": exact_size(start), "size": exact_size(self.size)}
        name = self.shared_file or f"{self.job.name}.{at}"
        return {"from": exact_size(places.of(name, start + self.size) + start), "size": exact_size(self.size)}


def _mean(sizes: list[tuple[int, float]]) -> float:
    return sum(size * weight for size, weight in sizes) / sum(weight for _, weight in sizes)


def _size_law(sizes: list[tuple[int, float]]) -> str | Json:
    if len(sizes) == 1:
        return exact_size(sizes[0][0])
    return {"mix": [{"size": exact_size(size), "weight": round(weight, 6)} for size, weight in sizes]}


def _zipf(given: list[str]) -> float | None:
    """Return the exponent of `zipf:THETA`."""
    text = given[0] if given else ZIPF
    return float(text) if re.fullmatch(r"\d(\.\d{1,6})?", text) else None


def _pareto(given: list[str]) -> float | None:
    """Return the exponent of Zipf's law that has the same shares as `pareto:H`.

    fio sends to the most popular x of all blocks the share x^(ln(1 - H) / ln H), so 1 - H to H of them; Zipf's law over
    many blocks sends x^(1 - exponent).

    >>> round(_pareto(["0.2"]), 3)
    0.861
    """
    text = given[0] if given else PARETO
    share = float(text) if re.fullmatch(r"0?\.\d{1,6}", text) else 0.0
    return round(1 - math.log(1 - share) / math.log(share), 6) if 0 < share < 0.5 else None


def _name(text: str) -> str:
    """Return a name that a scenario can have.

    >>> _name("random read, 4k")
    'random-read-4k'
    """
    return NAME.sub("-", text).strip("-") or "job"
