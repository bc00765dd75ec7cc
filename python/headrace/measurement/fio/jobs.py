"""fio's job files as scenarios and workloads: each option is honoured, or named as ignored with the reason."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from headrace.measurement.fio import quantities
from headrace.measurement.fio.options import (
    ALIASES,
    ASYNCHRONOUS,
    DEFAULT_ENGINE,
    HONOURED,
    IGNORED,
    SYNCHRONOUS,
    UNKNOWN,
)
from headrace.mistakes import read_text, refusal

Json = dict[str, Any]
Given = TypeVar("Given")

SECTION = re.compile(r"\[([^\]]+)\]\s*(?:[#;].*)?$")
GLOBAL = "global"
NAME = re.compile(r"[^A-Za-z0-9_-]+")
# The disk that stands for what fio was run on, until the user names another.
DEVICE = "seagate-st3500630ns"
STORAGE = "storage"
MIB = 1 << 20
MOST_STREAMS = 256
DEFAULT_REQUESTS = 100_000
MOST_REQUESTS = 10_000_000


@dataclass
class Scenario:
    """The scenario made of a job file, and which options it ignores."""

    document: Json
    remarks: list[str] = field(default_factory=list)


@dataclass
class _Job:
    """One section with its options, by their main names, and the line of each."""

    name: str
    options: dict[str, str]
    lines: dict[str, int]


def scenario(path: Path, *, device: str | None = None, section: str | None = None) -> Scenario:
    """Return the scenario that a job file describes.

    All that fio addresses becomes a disk of the model `device`; `section` names the one job to take, where the file has
    several that do not run at the same time. Raises `ScenarioError` where a job cannot be simulated.
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
            raise part.file.refuse(part.job, "filename", told, f"name one: `fio: {{job: {path.name}, to: NAME}}`")
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
        self.path, self.server, self.remarks = path, server, dict[str, None]()
        jobs = self._jobs(read_text(path))
        if section is not None:
            chosen = [job for job in jobs if job.name == section]
            if not chosen:
                known = ", ".join(job.name for job in jobs)
                raise refusal(path, f"{path} has no job `{section}`", f"its jobs are {known}")
            jobs = chosen
        elif waiting := next(
            (job for job in jobs[1:] if "stonewall" in job.options or "wait_for" in job.options), None
        ):
            told = (
                f"the job `{waiting.name}` waits for others (stonewall, wait_for); the jobs of a scenario run at once"
            )
            help_ = f"take one at a time: --section {waiting.name}, or `section: {waiting.name}` in a workload"
            raise self.refuse(waiting, "stonewall" if "stonewall" in waiting.options else "wait_for", told, help_)
        self.jobs = jobs

    def refuse(self, job: _Job, option: str, message: str, help_: str) -> Exception:
        line = job.lines.get(option)
        where = f"{self.path}, line {line}, [{job.name}]" if line else f"{self.path}, [{job.name}]"
        return refusal(self.path, f"{where}: {message}", help_)

    def ignore(self, option: str, value: str, why: str) -> None:
        told = f"{option}={value}" if value else option
        self.remarks[f"`{told}` is ignored: {why}"] = None

    def _jobs(self, text: str) -> list[_Job]:
        shared, jobs = _Job(GLOBAL, {}, {}), list[_Job]()
        current: _Job | None = None
        for number, raw in enumerate(text.splitlines(), 1):
            line = raw.strip()
            if not line or line[0] in "#;":
                continue
            if match := SECTION.fullmatch(line):
                name = match[1].strip()
                current = shared if name == GLOBAL else _Job(name, dict(shared.options), dict(shared.lines))
                if current is not shared:
                    jobs.append(current)
                continue
            if current is None:
                told = f"{self.path}, line {number}: `{line[:60]}` stands before the first [section]"
                raise refusal(self.path, told, "a job file begins with [global] or a job, such as [reader]")
            self._option(current, number, line)
        if not jobs:
            raise refusal(self.path, f"{self.path} has no job", "add a section, such as [reader] with rw=randread")
        return jobs

    def _option(self, job: _Job, number: int, line: str) -> None:
        key, equals, value = (part.strip() for part in line.partition("="))
        key = ALIASES.get(key, key)
        if key.startswith("include "):
            told = f"{self.path}, line {number}: `include` is not followed"
            raise refusal(self.path, told, "put the options of the other file in its place")
        if "$" in value:
            told = f"{self.path}, line {number}: `{value[:60]}` has a variable"
            raise refusal(self.path, told, "put its value in its place")
        job.options[key] = value if equals else "1"
        job.lines[key] = number

    def scenario(self, device: str | None) -> Scenario:
        parts = [_Streams(self, job) for job in self.jobs]
        workload = self.streams(parts)
        disk = {"type": "disk", "device": device or DEVICE}
        system = {part.target: disk for part in parts}
        if device is None:
            names = ", ".join(f"`{name}`" for name in system)
            self.remarks[
                f"{names}: a {DEVICE} stands for the real storage; name another with --device, or edit `system`"
            ] = None
        return Scenario({"system": system, "workload": workload, "run": self.run(parts)}, list(self.remarks))

    def streams(self, parts: list["_Streams"]) -> Json:
        """Return the streams of all jobs by name."""
        places, workload = _Places(), dict[str, Any]()
        for part in parts:
            for name, stream in part.streams(places).items():
                if name in workload:
                    raise self.refuse(part.job, "", f"two jobs are called `{name}`", "give each a name of its own")
                workload[name] = stream
        if len(workload) > MOST_STREAMS:
            raise self.refuse(
                self.jobs[0], "numjobs", f"{len(workload)} streams; at most {MOST_STREAMS}", "ask for fewer jobs"
            )
        return workload

    def run(self, parts: list["_Streams"]) -> Json:
        """Return how long the run is: as long as the jobs."""
        requests = [part.requests() for part in parts]
        times = [part.time_s() for part in parts]
        run: Json = {}
        if all(time is not None for time in times):
            run["time"] = f"{max(time for time in times if time is not None):.10g} s"
        known = [one for one in requests if one is not None]
        if len(known) == len(requests):
            run["requests"] = min(max(sum(known), 1), MOST_REQUESTS)
            if sum(known) > MOST_REQUESTS:
                self.remarks[f"the run ends after {MOST_REQUESTS} requests; fio would make {sum(known)}"] = None
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

    def __init__(self, file: _File, job: _Job) -> None:
        self.file, self.job, self.options = file, job, job.options
        for option, value in self.options.items():
            if option in self.REFUSED and value != "0":
                raise self._bad(option, f"`{option}={value[:60]}`", self.REFUSED[option])
            if option not in HONOURED and option not in self.REFUSED:
                file.ignore(option, value[:60], IGNORED.get(option, UNKNOWN))
        self._remark_on_caching()
        self.kib = 1000 if self.options.get("kb_base") == "1000" else 1024
        self.direction, self.random, self.run = self._rw()
        self.sizes = self._sizes()
        self.numjobs = self._count("numjobs", 1, 10_000)
        self.depth = self._depth()
        self.target, self.shared_file = self._target()
        self.size = self._bytes("size") or self._bytes("filesize")

    def _remark_on_caching(self) -> None:
        """Say what of direct I/O headrace cannot follow: buffered I/O, fio's default."""
        direct = self.options.get("direct", "0") not in {"0", "false"} or self.options.get("buffered") in {"0", "false"}
        if not direct:
            self.file.remarks[f"`{self.job.name}` goes through the page cache (direct=0), which is not simulated"] = (
                None
            )

    def _bad(self, option: str, message: str, help_: str) -> Exception:
        return self.file.refuse(self.job, option, message, help_)

    def _count(self, option: str, default: int, most: int) -> int:
        text = self.options.get(option)
        if text is None:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= most:
            raise self._bad(option, f"`{option}={text[:60]}` is not a number from 1 to {most}", "correct it")
        return int(text)

    def _bytes(self, option: str) -> int | None:
        """Return a size; None where it is absent, or where only the real device would say what it is."""
        text = self.options.get(option)
        if text is None:
            return None
        if re.fullmatch(r"\d{1,3}%", text):
            self.file.ignore(option, text, "a share of a real device or file, which is not at hand")
            return None
        value = quantities.size(text.split("-")[-1], self.kib)
        if not value:
            raise self._bad(option, f"`{option}={text[:60]}` is not a size", "give one, such as 4k or 1g")
        return value

    def _rw(self) -> tuple[str, bool, float | None]:
        """Return the direction, whether addresses are random, and the mean length of sequential runs."""
        text = self.options.get("rw", "read")
        kind, _, rest = text.partition(":")
        known = {"read": "read", "write": "write", "rw": "mixed", "readwrite": "mixed", "trim": "discard"}
        direction = known.get(kind.removeprefix("rand"))
        if direction is None:
            kinds = "read, write, rw, trim, randread, randwrite, randrw, randtrim"
            raise self._bad("rw", f"`rw={text[:60]}` is not simulated", f"headrace simulates {kinds}")
        random, length = kind.startswith("rand"), None
        if rest and random and rest.isdigit() and 1 <= int(rest[:9]) <= 10**9:
            length = float(rest[:9])
        elif rest:
            self.file.ignore("rw", text[:60], "gaps between sequential requests are not simulated; the rest is")
        share = self.options.get("percentage_random")
        if share is not None and random:
            percent = self._percent("percentage_random", share.split(",")[0])
            random, length = percent > 0, 1 / percent if 0 < percent < 1 else length
        return direction, random, length

    def _percent(self, option: str, text: str) -> float:
        if not re.fullmatch(r"\d{1,3}", text) or int(text) > 100:
            raise self._bad(option, f"`{option}={text[:60]}` is not a percentage", "give a number from 0 to 100")
        return int(text) / 100

    def read_share(self) -> float:
        """Return the share of reads."""
        if self.direction != "mixed":
            return 1.0 if self.direction == "read" else 0.0
        if "rwmixwrite" in self.options and "rwmixread" not in self.options:
            return 1 - self._percent("rwmixwrite", self.options["rwmixwrite"])
        return self._percent("rwmixread", self.options.get("rwmixread", "50"))

    def _sizes(self) -> list[tuple[int, float]]:
        """Return the sizes of requests with their weights."""
        share = self.read_share()
        option = next((name for name in ("bssplit", "bsrange", "bs") if name in self.options), "bs")
        by_op = self.options.get(option, "4k").split(",")
        reads, writes, trims = _by_direction(by_op)
        of = {"read": [(reads, 1.0)], "write": [(writes, 1.0)], "discard": [(trims, 1.0)]}
        mixed = [(reads, 1.0)] if reads == writes else [(reads, share), (writes, 1 - share)]
        chosen = of.get(self.direction, mixed)
        if self.direction == "mixed" and reads != writes:
            self.file.remarks[f"`{option}={','.join(by_op)[:60]}`: sizes are drawn for reads and writes alike"] = None
        parts = {"bssplit": self._split, "bsrange": self._range, "bs": self._one}[option]
        return [(size, weight * times) for text, times in chosen for size, weight in parts(text)]

    def _size(self, option: str, text: str) -> int:
        value = quantities.size(text, self.kib)
        if not value or value > 1 << 30:
            raise self._bad(option, f"`{text[:60]}` is not a size from 1 byte to 1 GiB", "give one, such as 4k")
        return value

    def _one(self, text: str) -> list[tuple[int, float]]:
        return [(self._size("bs", text), 1.0)]

    def _range(self, text: str) -> list[tuple[int, float]]:
        low, _, high = text.partition("-")
        first, last = self._size("bsrange", low), self._size("bsrange", high or low)
        if last < first or last // first > 256:
            raise self._bad("bsrange", f"`bsrange={text[:60]}`", "give a range of at most 256 times its beginning")
        return [(first * at, 1.0) for at in range(1, last // first + 1)]

    def _split(self, text: str) -> list[tuple[int, float]]:
        parts = [part.split("/") for part in text.split(":") if part]
        sizes = [self._size("bssplit", part[0]) for part in parts]
        given = [self._percent("bssplit", part[1]) if len(part) > 1 and part[1] else None for part in parts]
        rest = max(1 - sum(share for share in given if share is not None), 0.0)
        open_ = sum(share is None for share in given)
        shares = [share if share is not None else rest / open_ for share in given]
        if sum(shares) <= 0:
            raise self._bad("bssplit", f"`bssplit={text[:60]}` has no shares", "write it as 4k/60:64k/40")
        return [(size, share) for size, share in zip(sizes, shares, strict=True) if share > 0]

    def _depth(self) -> int:
        engine = self.options.get("ioengine", DEFAULT_ENGINE)
        if engine not in SYNCHRONOUS + ASYNCHRONOUS:
            known = ", ".join(SYNCHRONOUS + ASYNCHRONOUS)
            raise self._bad("ioengine", f"the engine `{engine[:40]}` does no block I/O", f"headrace simulates {known}")
        depth = self._count("iodepth", 1, 1_000_000)
        if engine in SYNCHRONOUS and depth > 1:
            self.file.ignore("iodepth", str(depth), f"the engine {engine} keeps one request in flight, in fio too")
        return 1 if engine in SYNCHRONOUS else depth

    def _target(self) -> tuple[str, str | None]:
        """Return the component, and the file where jobs share one. A block device is a component of its own."""
        name = self.options.get("filename")
        if name is None:
            return STORAGE, None
        if ":" in name:
            raise self._bad("filename", f"`filename={name[:60]}` names several files", "give each a job of its own")
        if name.startswith("/dev/"):
            return _name(name.removeprefix("/dev/")), name
        return STORAGE, name

    def requests(self) -> int | None:
        """Return how many requests the job makes in all; None where time alone ends it."""
        if self.options.get("time_based", "0") not in {"0", "false"}:
            return None
        mean = sum(size * weight for size, weight in self.sizes) / sum(weight for _, weight in self.sizes)
        moved = self._bytes("io_size") or self.size
        each = math.ceil(moved / mean) * self._count("loops", 1, 10**9) if moved else None
        if "number_ios" in self.options:
            limit = self._count("number_ios", 1, 10**9)
            each = min(each, limit) if each else limit
        return each * self.numjobs if each else None

    def time_s(self) -> float | None:
        """Return for how long the job runs at most."""
        text = self.options.get("runtime")
        if text is None:
            return None
        seconds = quantities.seconds(text)
        if not seconds:
            raise self._bad("runtime", f"`runtime={text[:60]}` is not a time", "give one, such as 60 or 5m")
        return seconds

    def streams(self, places: "_Places") -> Json:
        """Return the streams: one, or one for each copy of a job that reads or writes in sequence."""
        if (self.random and self.shared_file) or self.numjobs == 1 or (self.random and not self.size):
            return {_name(self.job.name): self._stream(self.numjobs, places, 0)}
        return {f"{_name(self.job.name)}-{at + 1}": self._stream(1, places, at) for at in range(self.numjobs)}

    def _stream(self, jobs: int, places: "_Places", at: int) -> Json:
        stream: Json = {"from": self.file.server} if self.file.server else {}
        stream |= {"to": self.target, "arrivals": self._arrivals(jobs), "op": self._op(), "size": self._size_law()}
        stream["pattern"] = self._pattern()
        if "ba" in self.options:
            stream["align"] = f"{self._bytes('ba')} B"
        region = self._region(places, at)
        if "closed" not in stream["arrivals"]:
            stream["outstanding"] = self.depth * jobs
        return stream | ({"region": region} if region else {})

    def _op(self) -> str | Json:
        return {"reads": round(self.read_share(), 6)} if self.direction == "mixed" else self.direction

    def _size_law(self) -> str | Json:
        if len(self.sizes) == 1:
            return f"{self.sizes[0][0]} B"
        return {"mix": [{"size": f"{size} B", "weight": round(weight, 6)} for size, weight in self.sizes]}

    def _pattern(self) -> str | Json:
        if not self.random:
            return "sequential"
        if self.run and self.run > 1:
            return {"runs": {"length": self.run}}
        kind, *rest = self.options.get("random_distribution", "random").split(":")
        skew = re.fullmatch(r"\d(\.\d{1,6})?", rest[0]) if rest else None
        if kind == "zipf" and skew:
            return {"hot_spot": {"skew": float(skew[0])}}
        if kind != "random":
            self.file.ignore("random_distribution", kind, "addresses are uniform; headrace has uniform and zipf:THETA")
        return "uniform"

    def _arrivals(self, jobs: int) -> Json:
        rate = self._rate()
        if rate is not None:
            if "thinktime" in self.options:
                self.file.ignore("thinktime", self.options["thinktime"], "a rate is given too")
            poisson = self.options.get("rate_process") == "poisson"
            return {"poisson": f"{rate * jobs:.10g} /s"} if poisson else {"every": f"{1e9 / (rate * jobs):.0f} ns"}
        closed: Json = {"depth": self.depth * jobs} | ({"threads": jobs} if self.file.server else {})
        if self.options.get("thinktime", "0") != "0":
            closed["think"] = f"{self._think_s() * 1e9:.0f} ns"
        return {"closed": closed}

    def _think_s(self) -> float:
        text = self.options["thinktime"]
        seconds = quantities.seconds(text, "us")
        if seconds is None:
            raise self._bad("thinktime", f"`thinktime={text[:60]}` is not a time", "give one, such as 500 (µs) or 2ms")
        blocks = self._count("thinktime_blocks", 1, 10**9)
        if blocks > 1:
            told = "a job thinks after each request for that share of `thinktime`"
            self.file.remarks[f"`thinktime_blocks={blocks}`: {told}"] = None
        return seconds / blocks

    def _rate(self) -> float | None:
        """Return the requests per second of one job; None where it goes as fast as it can."""
        option = "rate_iops" if "rate_iops" in self.options else "rate"
        if option not in self.options:
            return None
        given = self.options[option].split(",")
        rates = [quantities.size(text, self.kib) if text else 0 for text in given]
        if None in rates or not any(rates):
            raise self._bad(
                option, f"`{option}={self.options[option][:60]}` is not a rate", "give one, such as 1000 or 10m"
            )
        known = [rate or 0 for rate in rates]
        reads, writes, trims = _by_direction(known)
        chosen = {"read": reads, "write": writes, "mixed": reads + writes, "discard": trims}[self.direction]
        if not chosen:
            return None
        mean = sum(size * weight for size, weight in self.sizes) / sum(weight for _, weight in self.sizes)
        return chosen / (1 if option == "rate_iops" else mean)

    def _region(self, places: "_Places", at: int) -> Json | None:
        """Return which bytes are addressed. Files lie one after another; jobs of one file or device share its bytes."""
        start = self._bytes("offset") or 0
        start += at * (self._bytes("offset_increment") or 0)
        if self.size is None:
            return {"from": f"{start} B", "size": f"{1 << 60} B"} if start else None
        if self.shared_file == self.options.get("filename") and self.target != STORAGE:
            return {"from": f"{start} B", "size": f"{self.size} B"}
        name = self.shared_file or f"{self.job.name}.{at}"
        return {"from": f"{places.of(name, start + self.size) + start} B", "size": f"{self.size} B"}


def _by_direction(given: list[Given]) -> tuple[Given, Given, Given]:
    """Return what fio takes for reads, writes and trims of a list with commas; a missing one is as the one before.

    >>> _by_direction(["4k", "8k"])
    ('4k', '8k', '8k')
    """
    first, *rest = given
    second = rest[0] if rest and rest[0] != "" else first
    return first, second, rest[1] if len(rest) > 1 and rest[1] != "" else second


def _name(text: str) -> str:
    """Return a name that a scenario can have.

    >>> _name("random read, 4k")
    'random-read-4k'
    """
    return NAME.sub("-", text).strip("-") or "job"
