"""fio's JSON and JSON+ results, of versions 3.0 and later, as a measurement."""

import json
import math
import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from headrace.errors import read_text, refusal
from headrace.measurement.fio import quantities
from headrace.measurement.fio.options import DEFAULT_ENGINE, IGNORED, SYNCHRONOUS, flushing, is_durable
from headrace.measurement.fio.pace import MIXED, READ, WRITE, by_direction
from headrace.measurement.points import PERCENTILES, Measurement, flight

Json = dict[str, Any]

VERSION = re.compile(r"fio-(\d+)\.(\d+)")
# Nanoseconds came with fio 3.0; before it, `clat` was in microseconds.
MAJOR = 3
NS_PER_MS = 1e6
OPS = (READ, WRITE, MIXED)
TOGETHER = (
    "they ran at the same time and slowed each other down, but each is simulated by itself; "
    "measure one after another, with `stonewall` in each job"
)
SAYS_WHAT = {"rw", "readwrite"}
RATES = ("rate", "rate_iops")
PACING = (*RATES, "thinktime")
# A job reaches its rate if it falls behind by no more than this.
BEHIND = 0.1
# Requests have the size that was asked for if their mean differs by no more than this: fio counts the bytes of requests
# in flight at the end of `ramp_time`, and not the requests; and the last one of a file may be shorter.
ODD_SIZE = 0.05
# Options that change requests, of which measurements have the mean size.
VARYING = {"bssplit": "sizes vary; their mean is simulated", "bsrange": "sizes vary; their mean is simulated"}
# Those that change which requests there are, and when.
SHIFTING = (
    *("verify", "iodepth_batch", "iodepth_batch_submit", "iodepth_batch_complete_min", "iodepth_batch_complete_max"),
    *("iodepth_low", "latency_target"),
)
SHIFTS = VARYING | {name: IGNORED[name] for name in SHIFTING}
NO_SUBMISSION = (
    "percentiles are of the completion latency, and leave out the submission, which is in the mean and would be a good "
    "part of them; for those of the whole latency, measure with lat_percentiles=1"
)
MOST_SUBMISSION = 0.05  # Of a p99 of the completion latency.
NO_LATENCY = (
    "no latency was measured (gtod_reduce or disable_lat): the mean is requests in flight over requests per second "
    "(Little's law), and there are no percentiles"
)
HOSTS = "each is simulated by itself, so if they shared storage, the measured ones are slower"
MOST_NAMED = 3  # Jobs of a remark; more are counted.
ODD_RATE = 0.2  # A rate that differs by more from number over time contradicts it.
SHORT_S = 1.0  # A shorter measurement is one of caches and of how a run begins.
BUFFERED = "buffered I/O: the page cache answered some requests, and headrace does not simulate it"


def read(files: list[Path]) -> Measurement:
    """Return the points of results of fio; refuse a file that is cut off, failed or of unknown version."""
    points, remarks, versions, devices = list[Json](), list[str](), dict[str, None](), dict[str, None]()
    names = Counter(file.name for file in files)
    for file in files:
        found = _Result(file, file.name if names[file.name] == 1 else str(file))
        points += found.points()
        remarks += [f"{file.name}: {remark}" for remark in _together(found.remarks, [job.name for job in found.jobs])]
        versions[found.version] = None
        devices |= dict.fromkeys(found.devices())
    return Measurement(points, {"fio": ", ".join(versions), "devices": list(devices)}, remarks)


def _together(remarks: list[str], jobs: list[str]) -> list[str]:
    """Return the remarks, each once: what is said of several jobs names them first."""
    of: dict[str, dict[str, None]] = defaultdict(dict)
    for remark in remarks:
        name = next((job for job in jobs if remark.startswith(f"{job}: ")), "")
        of[remark.removeprefix(f"{name}: ")][name] = None
    return [f"{_named(list(names))}{remark}" for remark, names in of.items()]


def _named(jobs: list[str]) -> str:
    some = ", ".join(jobs[:MOST_NAMED]) + (" …" if len(jobs) > MOST_NAMED else "")
    if len(jobs) > MOST_NAMED:
        return f"{len(jobs)} jobs ({some}): "
    return f"{some}: " if some else ""


class Job(NamedTuple):
    """One job of a result: its place in the file, what fio found, the options that it had."""

    where: str
    found: Json
    options: dict[str, str]

    @property
    def host(self) -> str:
        """Return the server that ran it, of `fio --client`; else nothing."""
        return str(self.found.get("hostname", ""))

    @property
    def name(self) -> str:
        """Return its name, with that of its server."""
        return str(self.found.get("jobname", "")) + (f"@{self.host}" if self.host else "")


class _Result:
    """One file, checked as it is read."""

    def __init__(self, path: Path, source: str) -> None:
        self.path, self.source, self.remarks = path, source, list[str]()
        self.document = self._document()
        self.version = self._version()
        shared = self._options(self.document.get("global options", {}), "global options")
        where = "client_stats" if "client_stats" in self.document else "jobs"
        jobs = enumerate(self._list(self.document, where, where))
        # Of several servers the last entry is their sum.
        found = [self._job(job, f"{where}[{at}]", shared) for at, job in jobs]
        self.jobs = [job for job in found if job.found.get("jobname") != "All clients"]
        self._remark_on_hosts()

    def refuse(self, message: str, help_: str) -> Exception:
        return refusal(self.path, f"{self.path}: {message}", help_)

    def _document(self) -> Json:
        """Return the JSON of the file; notes that fio prints above it are passed over, of several the last is taken."""
        text = read_text(self.path, "a result of fio is JSON")
        start = re.search(r"^\s*\{", text, re.MULTILINE)
        documents = []
        at = start.end() - 1 if start else len(text)
        while at < len(text) and text[at] == "{":
            try:
                document, at = json.JSONDecoder().raw_decode(text, at)
            except (ValueError, RecursionError) as error:
                raise self.refuse(f"the JSON is damaged or cut off: {error}", CUT_OFF) from None
            documents.append(document)
            at += len(text[at:]) - len(text[at:].lstrip())
        if not documents:
            raise self.refuse("there is no JSON in it", "run fio with --output-format=json --output=FILE")
        if len(documents) > 1:
            self.remarks.append(
                f"{len(documents)} results (--status-interval); the last, which is of the whole run, is used"
            )
        return dict(documents[-1])

    def _version(self) -> str:
        version = self.document.get("fio version")
        if not isinstance(version, str):
            raise self.refuse(
                "`fio version` is missing: this is not a result of fio", "run fio with --output-format=json"
            )
        match = VERSION.match(version)
        if not match or int(match[1]) != MAJOR:
            told = f"`fio version` is {version!r}; headrace reads results of fio 3.0 and later 3.x"
            raise self.refuse(told, "older versions report microseconds under the same names: measure again with fio 3")
        return version

    def _remark_on_hosts(self) -> None:
        hosts = dict.fromkeys(job.host for job in self.jobs if job.host)
        if len(hosts) > 1:
            self.remarks.append(f"jobs of {len(hosts)} servers ({', '.join(hosts)[:80]}): {HOSTS}")

    def _options(self, given: Any, where: str) -> dict[str, str]:
        if not isinstance(given, dict):
            raise self.refuse(f"`{where}` is {_is(given)}, not an object", DAMAGED)
        return {str(name): str(value) for name, value in given.items()}

    def _list(self, of: Json, name: str, where: str) -> list[Any]:
        found = of.get(name)
        if not isinstance(found, list) or not found:
            raise self.refuse(f"`{where}` is missing or empty: fio ended before it had a result", CUT_OFF)
        return found

    def _job(self, job: Any, where: str, shared: dict[str, str]) -> Job:
        if not isinstance(job, dict):
            raise self.refuse(f"`{where}` is {_is(job)}, not an object", DAMAGED)
        error = self.number(job, "error", where)
        if error:
            told = f"`{where}` ({job.get('jobname', '')}) failed: error {error:.0f}"
            raise self.refuse(told, "see what fio printed, and measure again; a failed job says nothing of its speed")
        return Job(where, job, shared | self._options(job.get("job options", {}), f"{where}.job options"))

    def number(self, of: Json, name: str, where: str) -> float:
        """Return a number of the result that must be there."""
        value = of.get(name)
        if not isinstance(value, int | float) or isinstance(value, bool):
            told = f"`{where}.{name}` is " + ("missing" if value is None else f"{_is(value)}, not a number")
            raise self.refuse(told, CUT_OFF if value is None else DAMAGED)
        if not math.isfinite(value) or not 0 <= value < 1e18:
            raise self.refuse(f"`{where}.{name}` is {value}", DAMAGED)
        return float(value)

    def object(self, of: Json, name: str, where: str) -> Json:
        """Return an object of the result that must be there."""
        value = of.get(name)
        if not isinstance(value, dict):
            raise self.refuse(f"`{where}.{name}` is {_is(value)}, not an object", CUT_OFF)
        return value

    def devices(self) -> list[str]:
        """Return the block devices that fio saw at work."""
        disks = self.document.get("disk_util")
        names = [disk.get("name") for disk in disks if isinstance(disk, dict)] if isinstance(disks, list) else []
        return [name for name in names if isinstance(name, str)]

    def points(self) -> list[Json]:
        """Return the points; jobs that ran as copies of one (`numjobs` without `group_reporting`) become one."""
        together: dict[tuple[str, str], list[Job]] = defaultdict(list)
        for job in self.jobs:
            together[job.name, str(job.found.get("groupid"))].append(job)
        self._remark_on_groups()
        points = [point for jobs in together.values() for point in self._points_of(jobs)]
        if not points:
            told = "measure reads or writes, for longer; trims are no points of a measurement"
            raise self.refuse("no job completed a single read or write", told)
        return points

    def _remark_on_groups(self) -> None:
        """Remark on jobs that ran at the same time as others; each load is simulated by itself.

        fio starts a group after the one before it, and all jobs of a group at once, except that one may `wait_for`
        another. With `new_group`, a group is one of reporting alone.
        """
        together, last = [list[str]()], None
        for job in self.jobs:
            group = job.found.get("groupid")
            if group != last and "new_group" not in job.options:
                together.append([])
            last = group
            if "wait_for" not in job.options:
                together[-1].append(job.name)
        for names in (list(dict.fromkeys(of)) for of in together):
            if len(names) > 1:
                some = ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
                self.remarks.append(f"{some}: {TOGETHER}")

    def _points_of(self, jobs: list[Job]) -> list[Json]:
        parts = {op: [_Part(self, job, op) for job in jobs if op in job.found] for op in OPS}
        done = {op: [part for part in of if part.ios > 0] for op, of in parts.items()}
        if _only_writes(jobs[0].options):
            done[READ] = []  # They are those of `verify`.
        if done[READ] or done[WRITE]:
            done[MIXED] = []  # Their sum, which `unified_rw_reporting=both` has beside them.
        total = sum(part.ios for of in done.values() for part in of)
        per_s = sum(part.iops for of in done.values() for part in of)
        self._remark_on(jobs)
        self._remark_on_flight(jobs, [part for of in done.values() for part in of])
        return [self._point(jobs, op, of, _read_share(op, done, total), per_s) for op, of in done.items() if of]

    def _remark_on(self, jobs: list[Job]) -> None:
        options = jobs[0].options
        if not options.keys() & SAYS_WHAT:
            told = "the file does not have its options: it is taken as sequential, with one request in flight"
            self.remarks.append(f"{jobs[0].name}: {told}")
        elif _flag(options, "direct", default=False) is False and _flag(options, "buffered", default=True):
            self.remarks.append(f"{jobs[0].name}: {BUFFERED}")
        named = [name for name in SHIFTS if options.get(name, "0") not in {"0", "1"}]
        self.remarks += [f"{jobs[0].name}: {name}={options[name][:40]}: {SHIFTS[name]}" for name in named]
        if options.get("size", "").endswith("%"):
            self.remarks.append(f"{jobs[0].name}: size={options['size'][:40]}: the whole device is simulated")
        self._remark_on_failures(jobs)
        trims = jobs[0].found.get("trim")
        if isinstance(trims, dict) and trims.get("total_ios"):
            self.remarks.append(f"{jobs[0].name}: trims are left out")

    def _remark_on_failures(self, jobs: list[Job]) -> None:
        """Remark on requests that failed or were cut short, and on times that are short or not those of the rates."""
        name, parts = jobs[0].name, [_Part(self, job, op) for job in jobs for op in OPS if op in job.found]
        failed = sum(self.number(job.found, "total_err", job.where) for job in jobs if "total_err" in job.found)
        if failed:
            self.remarks.append(f"{name}: {failed:,.0f} requests failed, and are in the results as fio counts them")
        cut_short = sum(self.number(part.found, "short_ios", part.where) for part in parts if "short_ios" in part.found)
        if cut_short > 0:
            self.remarks.append(f"{name}: {cut_short:,.0f} requests moved fewer bytes than asked for")
        longest = max((part.runtime_ms for part in parts if part.ios > 0), default=math.inf) / 1000
        if longest < SHORT_S:
            self.remarks.append(f"{name}: it ran for less than a second: caches and the beginning may decide")
        odd = [part for part in parts if part.iops > 0 and abs(part.ios_per_s / part.iops - 1) > ODD_RATE]
        if odd:
            self.remarks.append(f"{name}: requests over time are not the rate that the file has; the rate is taken")

    def _remark_on_flight(self, jobs: list[Job], parts: list["_Part"]) -> None:
        """Remark on a job that by Little's law had another number of requests in flight than its options say."""
        has_options = jobs[0].options.keys() & SAYS_WHAT
        if any(part.latency is None for part in parts) or _paced(jobs[0].options) or not (parts and has_options):
            return
        there = sum(part.iops * part.mean_ns for part in parts) / 1e9
        self.remarks += flight(jobs[0].name, there, self._depth(jobs[0]) * self._jobs_at_once(jobs))

    def _point(
        self, jobs: list[Job], op: str, parts: list["_Part"], read_share: float | None, all_per_s: float
    ) -> Json:
        options = jobs[0].options
        ios, iops, size = sum(part.ios for part in parts), sum(part.iops for part in parts), _size(options, op, parts)
        told: Json = {
            "job": jobs[0].name,
            "source": self.source,
            "op": op,
            "pattern": _pattern(options),
            "read_share": read_share,
            "block_bytes": round(size),
            "iodepth": self._depth(jobs[0]),
            "numjobs": self._jobs_at_once(jobs),
            "file_bytes": _file_bytes(options),
            "file": _shared_file(options),
            "from_bytes": quantities.size(options.get("offset", ""), quantities.kib(options)) or None,
            "run_length": _run_length(options),
            "runtime_s": max(part.runtime_ms for part in parts) / 1000,
            "ios": int(ios),
            "iops": iops,
            "bandwidth_bytes_per_s": iops * size,
            "flush_every": self._flush_every(jobs[0]) if op != "read" else None,
            "sync": options["sync"] if op != "read" and is_durable(options) else None,
            "paced": _paced(options),
            "unlike": _unlike(options),
            "arrivals": _arrivals(options, op, iops, self._jobs_at_once(jobs), size),
        }
        if told["block_bytes"] < 1 or told["iops"] <= 0:
            raise self.refuse(f"`{jobs[0].where}.{op}` has requests without bytes or time", DAMAGED)
        unknown = any(part.latency is None for part in parts)
        if unknown and (told["arrivals"] or told["paced"]):
            what = f"`{jobs[0].where}.{op}` has no latency, and a job below its full speed has fewer requests in flight"
            raise self.refuse(what, "measure again without gtod_reduce, disable_lat and disable_clat")
        if told["arrivals"]:
            told["paced"] = None
        if unknown:
            self.remarks.append(f"{jobs[0].name}: {NO_LATENCY}")
            return told | {"mean_ms": told["iodepth"] * told["numjobs"] / all_per_s * 1000}
        return told | _pooled(parts) | self._percentiles(jobs[0].name, parts)

    def _flush_every(self, job: Job) -> int | None:
        return min((self._count(job, name) for name in flushing(job.options)), default=None)

    def _depth(self, job: Job) -> int:
        engine = job.options.get("ioengine", DEFAULT_ENGINE)
        depth = self._count(job, "iodepth")
        if engine in SYNCHRONOUS and depth > 1:
            self.remarks.append(
                f"{job.name}: the engine {engine} keeps one request in flight; iodepth={depth} had no effect"
            )
        return 1 if engine in SYNCHRONOUS else depth

    def _jobs_at_once(self, jobs: list[Job]) -> int:
        return max(len(jobs), self._count(jobs[0], "numjobs"))

    def _count(self, job: Job, name: str) -> int:
        text = job.options.get(name, "1")
        if not re.fullmatch(r"[0-9]{1,7}", text) or int(text) < 1:
            raise self.refuse(f"`{job.where}.job options.{name}` is {text!r}, not a count", DAMAGED)
        return int(text)

    def _percentiles(self, name: str, parts: list["_Part"]) -> Json:
        """Return percentiles, and say so where they are not those of the time that the mean is of."""
        found = self._of_parts(name, parts)
        if any(found.values()) and any(part.leaves_out_submission() for part in parts):
            self.remarks.append(f"{name}: {NO_SUBMISSION}")
        return found

    def _of_parts(self, name: str, parts: list["_Part"]) -> Json:
        """Return percentiles: of one job as fio has them, of several from the bins of JSON+."""
        if len(parts) == 1:
            return parts[0].percentiles()
        bins: dict[float, float] = defaultdict(float)
        for part in parts:
            for time, count in part.bins().items():
                bins[time] += count
        if not bins or not all(part.bins() for part in parts):
            self.remarks.append(
                f"{name}: no percentiles, since jobs are reported one by one: run fio with --group_reporting"
            )
            return dict.fromkeys(PERCENTILES)
        return {column: _of_bins(bins, percent) for column, percent in PERCENTILES.items()}


class _Part:
    """One operation of one job."""

    def __init__(self, result: _Result, job: Job, op: str) -> None:
        self.result, self.where = result, f"{job.where}.{op}"
        self.found = result.object(job.found, op, job.where)
        self.ios = self._number("total_ios")
        self.bytes = self._number("io_bytes")
        self.runtime_ms = self._number("runtime")
        self.iops = self._number("iops")
        if self.ios > 0:
            self.latency = self._latency()

    @property
    def ios_per_s(self) -> float:
        """The rate by number and time; that of the file where it has either not."""
        return self.ios / self.runtime_ms * 1000 if self.runtime_ms > 0 and self.ios > 0 else self.iops

    def _number(self, name: str) -> float:
        return self.result.number(self.found, name, self.where)

    def _latency(self) -> Json | None:
        """Return the latency from submission to completion, else the completion latency; None if fio has neither."""
        for name in ("lat_ns", "clat_ns"):
            found = self.found.get(name)
            if isinstance(found, dict) and found.get("mean"):
                self.mean_ns = self.result.number(found, "mean", f"{self.where}.{name}")
                self.sd_ns = self.result.number(found, "stddev", f"{self.where}.{name}")
                return found
        return None

    def _tables(self, name: str) -> dict[float, float]:
        """Return `percentile` or `bins` as numbers, of the latency, else of the completion latency."""
        for latency in ("lat_ns", "clat_ns"):
            found = self.found.get(latency)
            table = found.get(name) if isinstance(found, dict) else None
            if isinstance(table, dict) and table:
                where = f"{self.where}.{latency}.{name}"
                return {self._key(key, where): self.result.number(table, key, where) for key in table}
        return {}

    def _key(self, key: str, where: str) -> float:
        try:
            number = float(key)
        except ValueError:
            number = math.nan
        if not 0 <= number < 1e18:
            raise self.result.refuse(f"`{where}` has the key {key!r}, not a number", DAMAGED)
        return number

    def leaves_out_submission(self) -> bool:
        """Return true if percentiles are of the completion latency alone, and submission takes a good part of them."""
        of_all, completed = (self.found.get(name) for name in ("lat_ns", "clat_ns"))
        if not isinstance(of_all, dict) or not isinstance(completed, dict) or of_all.keys() & {"percentile", "bins"}:
            return False
        mean_ns = self.result.number(completed, "mean", f"{self.where}.clat_ns")
        p99 = self.percentiles()["p99_ms"]
        return p99 is not None and (self.mean_ns - mean_ns) / NS_PER_MS > MOST_SUBMISSION * p99

    def bins(self) -> dict[float, float]:
        return self._tables("bins")

    def percentiles(self) -> Json:
        table, bins = self._tables("percentile"), self.bins()
        told = {}
        for column, percent in PERCENTILES.items():
            # fio fills the list up with `0.00`, and prints 99.9 as 99.900000.
            near = [ns for share, ns in table.items() if abs(share - percent) < 1e-6]
            told[column] = near[0] / NS_PER_MS if near else (_of_bins(bins, percent) if bins else None)
        known = [value for value in told.values() if value is not None]
        if known != sorted(known):
            raise self.result.refuse(f"`{self.where}`: a percentile is below a lower one", DAMAGED)
        return told


CUT_OFF = "the file is cut off, or fio was killed: let fio end by itself and write it again"
DAMAGED = "the file is damaged: copy it again, or measure again"


def _is(value: Any) -> str:
    return "missing" if value is None else type(value).__name__


def _read_share(op: str, done: dict[str, list[_Part]], total: float) -> float | None:
    return None if op == "mixed" else sum(part.ios for part in done["read"]) / total


def _rw(options: dict[str, str]) -> str:
    return options.get("rw", options.get("readwrite", READ))


def _pattern(options: dict[str, str]) -> str:
    return "random" if _rw(options).startswith("rand") else "sequential"


def _run_length(options: dict[str, str]) -> int | None:
    """Return how many requests a random job makes one after another: `rw=randread:16`."""
    length = _rw(options).partition(":")[2]
    return int(length) if _pattern(options) == "random" and re.fullmatch(r"[0-9]{1,9}", length) else None


def _files(options: dict[str, str]) -> list[str]:
    """Return the files that a job names; a backslash stands before a colon that is part of a name."""
    return [name for name in re.split(r"(?<!\\):", options.get("filename", "")) if name]


def _shared_file(options: dict[str, str]) -> str | None:
    """Return the one file or device whose same bytes all copies of a job address, if they do."""
    files = [] if _apart(options) else _files(options)
    return files[0].replace(r"\:", ":") if len(files) == 1 else None


def _file_bytes(options: dict[str, str]) -> int | None:
    """Return the bytes that a job addresses: `size` in all its files, or `filesize` in each."""
    kib = quantities.kib(options)
    if (size := quantities.size(options.get("size", ""), kib)) is not None:
        return size
    if apart := _apart(options):
        return apart
    each, many = quantities.size(options.get("filesize", ""), kib), options.get("nrfiles", "1")
    return each * int(many) if each and re.fullmatch(r"[0-9]{1,7}", many) else each


def _apart(options: dict[str, str]) -> int | None:
    """Return the distance of copies of a job on one device, if each addresses all bytes up to the next."""
    kib = quantities.kib(options)
    apart, size = (quantities.size(options.get(name, ""), kib) for name in ("offset_increment", "size"))
    return apart if apart and size in {None, apart} else None


def _only_writes(options: dict[str, str]) -> bool:
    return _rw(options).partition(":")[0] in {"write", "randwrite"}


def _size(options: dict[str, str], op: str, parts: list[_Part]) -> float:
    """Return the bytes of a request: those that were asked for where all are alike, else the mean."""
    mean = sum(part.bytes for part in parts) / sum(part.ios for part in parts)
    if op == MIXED or options.keys() & VARYING.keys():
        return mean
    text = by_direction(options.get("bs", options.get("blocksize", "4k")).split(","))[op]
    asked = quantities.size(text, quantities.kib(options))
    return float(asked) if asked and abs(mean / asked - 1) <= ODD_SIZE else mean


def _arrivals(options: dict[str, str], op: str, iops: float, jobs: int, size: float) -> str | None:
    """Return how requests came if a job had a rate and reached it: `open` at random, `every` at equal distances."""
    option = next((name for name in RATES if re.search(r"[1-9]", options.get(name, ""))), None)
    if option is None or op == MIXED or re.search(r"[1-9]", options.get("thinktime", "")):
        return None
    asked = quantities.size(by_direction(options[option].split(","))[op], quantities.kib(options))
    per_s = (asked or 0) * jobs / (size if option == "rate" else 1)
    reached = per_s > 0 and iops >= (1 - BEHIND) * per_s
    return ("open" if options.get("rate_process") == "poisson" else "every") if reached else None


def _paced(options: dict[str, str]) -> str | None:
    """Return the options that keep a job below its full speed."""
    given = [f"{name}={options[name]}" for name in PACING if re.search(r"[1-9]", options.get(name, ""))]
    return " ".join(given) or None


def _unlike(options: dict[str, str]) -> str | None:
    """Return the options by which addresses are neither sequential nor uniform.

    Of `percentage_random` fio takes note in random jobs alone.
    """
    usual: dict[str, tuple[str, ...]] = {"random_distribution": ("random",), "zonemode": ("none",)}
    if _pattern(options) == "random":
        usual["percentage_random"] = ("100", "100,100", "100,100,100")
    given = [f"{name}={options[name]}" for name, values in usual.items() if options.get(name, values[0]) not in values]
    rw = _rw(options)
    given += [f"rw={rw}"] if ":" in rw and not _run_length(options) else []
    if len(_files(options)) > 1:
        given.append(f"filename={options['filename'][:60]}")
    is_elsewhere = options.get("offset_increment", "0") != "0" and not _apart(options)
    if options.get("offset", "0").endswith("%") or is_elsewhere:
        given += [f"{name}={options[name]}" for name in ("offset", "offset_increment") if name in options]
    return " ".join(given) or None


def _flag(options: dict[str, str], name: str, *, default: bool) -> bool:
    """Return a switch; one that is given without a value is on."""
    return options[name] not in {"0", "false"} if name in options else default


def _pooled(parts: list[_Part]) -> Json:
    """Return mean and standard deviation of all requests of several jobs."""
    ios = sum(part.ios for part in parts)
    mean = sum(part.ios * part.mean_ns for part in parts) / ios
    squares = sum(part.ios * (part.sd_ns**2 + (part.mean_ns - mean) ** 2) for part in parts) / ios
    return {"mean_ms": mean / NS_PER_MS, "sd_ms": math.sqrt(squares) / NS_PER_MS}


def _of_bins(bins: dict[float, float], percent: float) -> float | None:
    """Return a percentile in ms: the first bin at which that share of requests is reached, as in fio."""
    wanted, seen = sum(bins.values()) * percent / 100, 0.0
    for time, count in sorted(bins.items()):
        seen += count
        if seen >= wanted > 0:
            return time / NS_PER_MS
    return None
