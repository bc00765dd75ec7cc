"""The loads under which was measured, each once, and a scenario under such a load."""

import contextlib
import copy
import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from headrace import _core
from headrace._core import ScenarioError
from headrace.errors import refusal
from headrace.measurement.points import PERCENTILES, Measurement
from headrace.parallel import each, watch
from headrace.quantities import counted, exact_time, size
from headrace.result_types import StreamResults
from headrace.scenario import Scenario

Json = dict[str, Any]

# What is compared with each other, of each operation.
MEASURES = ("iops", "bandwidth_bytes_per_s", "mean_ms", *PERCENTILES)
REQUESTS = 20_000
# What comes at its own rate may have this many requests in flight.
MOST_IN_FLIGHT = 256
ANY_BYTES = 1 << 60  # As many as there are.
OPEN, EVENLY = "open", "every"
# What repetitions of a load have in common.
PLACED = ("shared", "from_bytes", "run_length")
SHAPE = ("pattern", "block_bytes", "iodepth", "numjobs", "file_bytes", "flush_every", "sync", *PLACED)
# A run answers this many requests for each that is in flight, so that all of them were there as long as others.
FOR_EACH = 5
# Columns of options that no load describes, and what they did.
BESIDE = {"paced": "fio ran below the drive's full speed", "unlike": "addresses are drawn in another way"}


@dataclass(frozen=True)
class Load:
    """One load and what was measured under it."""

    pattern: str
    block_bytes: int
    iodepth: int
    numjobs: int
    file_bytes: int | None
    kind: str
    """`read`, `write`, or `mixed`."""
    read_share: float
    repeats: int
    measured: dict[str, Json]
    """By operation, the mean of all repetitions of each of `MEASURES`; None where one lacks it."""
    sizes: dict[str, int] = field(default_factory=dict)
    """By operation, the size of a request; none where it is that of all."""
    is_open: bool = False
    """True if requests came at the rate that was measured, whatever the system did with them."""
    flush_every: int | None = None
    """Writes of a job after which a flush follows; None for no flushes."""
    durable: bool = False
    """True if writes are answered when they are durable."""
    evenly: bool = False
    """True if requests at a rate come at equal distances; else at random."""
    shared: bool = False
    """True if all jobs address the same file or device."""
    from_bytes: int | None = None
    """Where the bytes of a job begin."""
    run_length: int | None = None
    """Requests one after another, after which a random job goes elsewhere."""

    def described(self) -> Json:
        """Return the load as the columns of a table."""
        names = ("pattern", "block_bytes", "iodepth", "numjobs", "file_bytes", "flush_every", "durable", "repeats")
        described = {name: getattr(self, name) for name in names} | {"mixed": self.kind == "mixed"}
        return described | {"open": self.is_open}

    def words(self) -> str:
        """Return the load in words: `random read of 4 KiB, 8×1 in flight, in files of 1 GiB`."""
        files = f", in files of {size(self.file_bytes)}" if self.file_bytes else ""
        flight = "at its own rate" if self.is_open else f"{self.iodepth}×{self.numjobs} in flight"
        return f"{self.pattern} {self.kind} of {size(self.block_bytes)}, {flight}{files}"

    def size(self, op: str) -> int:
        """Return the bytes of a request of an operation."""
        return self.sizes.get(op, self.block_bytes)


def loads_of(found: Measurement) -> tuple[list[Load], list[str]]:
    """Return the loads of a measurement, repetitions together; and what is left out.

    Raises `ScenarioError` where nothing is left.
    """
    together: dict[tuple[Any, ...], list[Json]] = defaultdict(list)
    sizes: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for point in found.points:
        sizes[point["source"], point["job"]][point["op"]] = point["block_bytes"]
    for point in found.points:
        kind = _kind(point)
        if kind is None or _is_beside(point):
            continue
        if point.get("arrivals"):
            together[OPEN, point["source"], point["job"]].append(point)
            continue
        of_job = sizes[point["source"], point["job"]]
        # Reads and writes of different sizes are one load all the same.
        own = of_job if kind == "mixed" and len(set(of_job.values())) > 1 else {}
        shape = tuple(0 if name == "block_bytes" and own else _told(point, name) for name in SHAPE)
        together[*shape, tuple(sorted(own.items())), kind].append(point)
    remarks = left_out(found)
    if not together:
        raise refusal("measurement", f"nothing to simulate: {'; '.join(remarks)}", "measure without these options")
    of = [_offered(points) if shape[0] == OPEN else _load(shape, points) for shape, points in together.items()]
    return of, remarks


def _is_beside(point: Json) -> bool:
    """Return true if a point has a pace of its own, or requests that are not like those of a stream."""
    return bool(point.get("paced") or point.get("unlike"))


def left_out(found: Measurement) -> list[str]:
    """Return which points no closed loop at full speed can be compared with, and why."""
    remarks = []
    whole = [point for point in found.points if _kind(point) is None]
    besides = [point for point in found.points if _kind(point) and _is_beside(point)]
    if whole:
        remarks.append(f"{len(whole)} points of reads and writes as one (unified_rw_reporting) are left out")
    for column, why in BESIDE.items():
        named = [str(point[column]) for point in besides if point.get(column)]
        if named:
            many = "1 point is" if len(named) == 1 else f"{len(named)} points are"
            remarks.append(f"{many} left out: {why} ({', '.join(dict.fromkeys(named))[:80]})")
    return remarks


def _told(point: Json, name: str) -> Any:
    """Return what a point says of a load. Repetitions may share files of different names."""
    return point.get("file") is not None if name == "shared" else point.get(name)


def _kind(point: Json) -> str | None:
    if point["op"] == "mixed":
        return None
    share = point["read_share"]
    return "mixed" if share is not None and 0 < share < 1 else str(point["op"])


def _offered(points: list[Json]) -> Load:
    """Return the load of an interval in which requests came at their own rate."""
    measured = {point["op"]: {name: _of(point, name) for name in MEASURES} for point in points}
    sizes = {point["op"]: int(point["block_bytes"]) for point in points}
    rates = {point["op"]: float(point["iops"]) for point in points}
    mean = round(sum(rates[op] * sizes[op] for op in sizes) / sum(rates.values()))
    kind = "mixed" if len(points) > 1 else str(points[0]["op"])
    share = rates.get("read", 0.0) / sum(rates.values())
    first = points[0]
    shape = (first["pattern"], mean, first["iodepth"], first["numjobs"], first["file_bytes"])
    placed: Json = {name: _told(first, name) for name in PLACED}
    evenly = first["arrivals"] == EVENLY
    return Load(*shape, kind, share, 1, measured, sizes, is_open=True, evenly=evenly, **placed)


def _load(shape: tuple[Any, ...], points: list[Json]) -> Load:
    sizes, kind = dict(shape[-2]), shape[-1]
    by_op = {op: [point for point in points if point["op"] == op] for op in ("read", "write")}
    measured = {op: {name: _mean(of, name) for name in MEASURES} for op, of in by_op.items() if of}
    shares = [point["read_share"] for point in points]
    share = sum(shares) / len(shares) if kind == "mixed" else float(kind == "read")
    repeats = max(len(of) for of in by_op.values())
    of_shape = dict(zip(SHAPE, shape, strict=False))
    if sizes:
        of_shape["block_bytes"] = round(share * sizes["read"] + (1 - share) * sizes["write"])
    flush_every, sync = of_shape.pop("flush_every"), of_shape.pop("sync")
    stable = {"flush_every": flush_every, "durable": sync is not None} if kind != "read" else {}
    return Load(**of_shape, kind=kind, read_share=share, repeats=repeats, measured=measured, sizes=sizes, **stable)


def _mean(points: list[Json], name: str) -> float | None:
    values = [_of(point, name) for point in points]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def _of(point: Json, name: str) -> float | None:
    if name == "bandwidth_bytes_per_s" and point.get(name) is None:
        return float(point["iops"] * point["block_bytes"])
    value = point.get(name)
    return None if value is None else float(value)


def stream_of(scenario: Scenario, named: str | None) -> str:
    """Return the stream that stands for fio: the one that is named, or the only one."""
    streams = list(scenario.filled()["workload"])
    if named is None and len(streams) == 1:
        return str(streams[0])
    if named not in streams:
        told = f"the scenario has no stream `{named}`" if named else f"the scenario has {len(streams)} streams"
        raise refusal(scenario.file, told, f"name the one that stands for fio with --stream: {', '.join(streams)}")
    return str(named)


def under(document: Json, stream: str, load: Load, requests: int = REQUESTS) -> Json:
    """Return a scenario, its defaults filled in, under this load alone.

    Its stream asks what fio asked. Jobs that read or write in sequence are a stream each; files lie one after another.
    Objectives are those of other streams.
    """
    made = copy.deepcopy(document)
    made.pop("objectives", None)
    requests = max(requests, FOR_EACH * load.iodepth * load.numjobs)
    made["run"] = made.get("run", {}) | {"requests": requests, "replications": 1, "time": None}
    base = {key: value for key, value in made["workload"][stream].items() if key not in {"outstanding", "align"}}
    base |= {"size": f"{load.block_bytes} B", "pattern": _pattern(load)}
    if load.is_open:
        made["workload"] = {f"{op}s": _in_files(_at_rate(base, load, op), load, 0, load.numjobs) for op in load.sizes}
        return made
    base["op"] = load.kind if load.kind != "mixed" else {"reads": round(load.read_share, 6)}
    if load.sizes:
        base |= {"size": f"{load.sizes['read']} B", "write_size": f"{load.sizes['write']} B"}
    base |= {"flush_every": load.flush_every} if load.flush_every else {}
    base |= {"durable": True} if load.durable else {}
    apart = load.pattern == "sequential" and load.numjobs > 1
    jobs = range(load.numjobs if apart else 1)
    made["workload"] = {f"fio-{at + 1}": _stream(base, load, at, apart=apart) for at in jobs}
    return made


def _pattern(load: Load) -> str | Json:
    if load.run_length and load.run_length > 1:
        return {"runs": {"length": load.run_length}}
    return "uniform" if load.pattern == "random" else "sequential"


def _at_rate(base: Json, load: Load, op: str) -> Json:
    """Return the stream of an operation whose requests come at the rate that was measured.

    The limit in flight is for values that are tried: with some of them, the system may not sustain the rate.
    """
    rate = load.measured[op]["iops"]
    arrivals = {"every": exact_time(1e9 / rate)} if load.evenly else {"poisson": f"{rate:.6g} /s"}
    return base | {"op": op, "size": f"{load.sizes[op]} B", "arrivals": arrivals, "outstanding": MOST_IN_FLIGHT}


def _stream(base: Json, load: Load, at: int, *, apart: bool) -> Json:
    jobs = 1 if apart else load.numjobs
    # Jobs share nothing but cores; without a server there are none, and threads would mean nothing.
    threads = {"threads": jobs} if base.get("from") else {}
    return _in_files(base | {"arrivals": {"closed": {"depth": load.iodepth * jobs} | threads}}, load, at, jobs)


def _in_files(stream: Json, load: Load, at: int, jobs: int) -> Json:
    """Return a stream within the files of some jobs, of which the first is the one with this number.

    A region of the scenario's own stays where the measurement does not say which bytes were addressed.
    """
    begins = load.from_bytes or 0
    if load.file_bytes is None:
        if not begins:
            return stream
        region = {"from": f"{begins} B", "size": f"{ANY_BYTES} B"}
    elif load.shared:
        region = {"from": f"{begins} B", "size": f"{load.file_bytes} B"}
    else:
        region = {"from": f"{begins + at * load.file_bytes} B", "size": f"{load.file_bytes * jobs} B"}
    return {key: value for key, value in stream.items() if key != "footprint"} | {"region": region}


def simulated(document: Json, file: str, load: Load) -> dict[str, Json]:
    """Run a scenario under a load; return each of `MEASURES` by operation, and if caches were full."""
    try:
        results = Scenario(json.dumps(document), file).run(theory=False, threads=1, watch=watch)
    except ScenarioError as error:
        # Its places are those of a document that the user never sees.
        first = json.loads(error.problems)[0]
        told = f"the load that was measured cannot be simulated ({load.words()}): {first['message']}"
        raise refusal(file, told, first["help"] or "give the scenario what the measured system had") from None
    streams, components = results.data["streams"], results.data["components"]
    settled = not any(of["unsettled"] or _core.is_filling(of["undestaged"] or 0.0) for of in components)
    return {op: _pooled(streams, op, load) | {"settled": settled} for op in load.measured}


def _pooled(streams: list[StreamResults], op: str, load: Load) -> Json:
    """Return what one operation of all streams found; percentiles of several streams as their mean."""
    found = [_one(stream, op, load) for stream in streams if not load.is_open or stream["name"] == f"{op}s"]
    rate = sum(one["iops"] for one in found)
    if rate <= 0:
        raise refusal(
            "fio", f"the simulation answered no {op} of {load.block_bytes} B", "let it run for longer: --requests"
        )
    mean = {name: sum(one["iops"] * one[name] for one in found) / rate for name in ("mean_ms", *PERCENTILES)}
    return {"iops": rate, "bandwidth_bytes_per_s": rate * load.size(op)} | mean


def _one(stream: StreamResults, op: str, load: Load) -> Json:
    whole = stream["response"]
    parts = {"read": stream["reads"], "write": stream["writes"]}
    # Flushes are requests of a stream too, and neither reads nor writes.
    part = parts[op] or whole
    share = part["count"] / whole["count"] if whole["count"] else 0.0
    quantiles = {f"p{100 * row['share']:g}_ms".replace(".", "_"): row["ms"] for row in part["quantiles_ms"]}
    return {"iops": stream["requests_per_s"] * share, "mean_ms": part["mean_ms"]} | {
        name: quantiles[name] for name in PERCENTILES
    }


def notes(document: Json, file: str, stream: str, of: list[Load]) -> list[str]:
    """Return the notes on components under the loads, each once, with the loads under which it is one."""
    under_which: dict[str, list[Load]] = defaultdict(list)
    for load in of:
        with contextlib.suppress(ScenarioError):  # The simulation says why.
            for note in dict.fromkeys(Scenario(json.dumps(under(document, stream, load)), file).plan().check()):
                under_which[note].append(load)
    return [
        f"under {'all loads' if len(loads) == len(of) else counted(len(loads), 'load')}: {note}"
        for note, loads in under_which.items()
    ]


def all_of(document: Json, file: str, stream: str, of: list[Load], requests: int) -> list[dict[str, Json]]:
    """Simulate a scenario under several loads, on all processors.

    Each has a seed of its own: with one for all they would share their luck, and err in the same direction.
    """
    made = [under(document, stream, load, requests) for load in of]
    for at, one in enumerate(made):
        one["run"]["seed"] = one["run"].get("seed", 1) + at
    return list(each(lambda document, load: simulated(document, file, load), made, of))
