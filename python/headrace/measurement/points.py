"""A measurement: points that were measured of a real system, the machine, and how they were obtained."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace.errors import KIND, read_text, refusal
from headrace.files import as_parquet, whole, write_whole
from headrace.report import Report
from headrace.reports import measurement as reports
from headrace.shown import InNotebook, written

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]
Tell = Callable[[str], object]

# The columns of a point, in order: (name, kind, meaning). Latencies are response times, from submission to completion.
COLUMNS = (
    ("job", "text", "the name of the fio job"),
    ("source", "text", "the file that it was read from"),
    ("op", "text", "`read`, `write`, or `mixed` where fio reported both as one"),
    ("pattern", "text", "`sequential` or `random`"),
    ("read_share", "share", "the share of reads in the job that this is one operation of; 1 or 0 where it has one"),
    ("block_bytes", "bytes", "the size of a request; the mean where sizes vary"),
    ("iodepth", "count", "requests that a job keeps in flight; 1 for synchronous engines"),
    ("numjobs", "count", "jobs that ran at the same time, each with its own `iodepth`"),
    ("file_bytes", "bytes", "the bytes that each job addresses; null where fio does not say"),
    ("file", "text", "the file or device that all jobs address; null where each has files of its own"),
    ("from_bytes", "bytes", "where the bytes that a job addresses begin; null for the beginning"),
    ("run_length", "count", "requests one after another, after which a random job goes elsewhere; null for one"),
    ("runtime_s", "s", "for how long was measured"),
    ("ios", "count", "requests completed"),
    ("iops", "1/s", "requests per second, of all jobs together"),
    ("bandwidth_bytes_per_s", "B/s", "bytes per second, of all jobs together"),
    ("mean_ms", "ms", "mean latency"),
    ("sd_ms", "ms", "its standard deviation, of single requests"),
    (
        "p50_ms",
        "ms",
        "half of the requests took at most this; percentiles are of the completion latency where fio has no other",
    ),
    ("p90_ms", "ms", "90 %"),
    ("p95_ms", "ms", "95 %"),
    ("p99_ms", "ms", "99 %"),
    ("p99_9_ms", "ms", "99.9 %"),
    ("flush_every", "count", "the writes of a job after which a flush follows (`fsync`, `fdatasync`); null for none"),
    ("sync", "text", "fio's `sync` where writes are answered when they are durable; null where they are not"),
    ("paced", "text", "the options that kept fio below its full speed, such as `rate_iops=500`; null where none did"),
    ("unlike", "text", "the options of addresses that no load describes, such as `zonemode=strided`; null for none"),
    (
        "arrivals",
        "text",
        "`open` where requests came at their own rate, `every` where at equal distances; null for closed loops",
    ),
)
NAMES = tuple(name for name, _, _ in COLUMNS)
KINDS = {name: kind for name, kind, _ in COLUMNS}
PERCENTILES = {"p50_ms": 50.0, "p90_ms": 90.0, "p95_ms": 95.0, "p99_ms": 99.0, "p99_9_ms": 99.9}
REQUIRED = ("op", "pattern", "block_bytes", "iodepth", "numjobs", "iops", "mean_ms")
WORDS = {"op": ("read", "write", "mixed"), "pattern": ("sequential", "random"), "arrivals": ("open", "every")}
WHOLE = {"count", "bytes"}

FORMAT = 1


# Requests in flight that were seen, over those that were asked for: a benchmark itself takes some of the time where
# answers are fast, and flushes and the end of a short run change the mean.
LEAST_THERE, MOST_THERE = 0.8, 1.5


def flight(job: str, there: float, asked: int) -> list[str]:
    """Return a remark on a job that by Little's law had another number of requests in flight than its options say."""
    if LEAST_THERE <= there / asked <= MOST_THERE:
        return []
    return [
        f"{job}: {there:.3g} in flight on average (requests per second times latency), not the {asked} of its options, "
        "with which it is simulated: something slowed it down, or the options are those of another job"
    ]


@dataclass
class Measurement(InNotebook):
    """Points that were measured, as `COLUMNS` names them, one a mapping.

    `machine` describes where it was measured, as far as is known; `remarks` say what a reader must know.
    """

    points: list[Json]
    machine: Json = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Give every point all columns: null where one is not known."""
        self.points = [{name: point.get(name) for name in NAMES} for point in self.points]

    def frame(self) -> "polars.DataFrame":
        """Return the points as a polars frame, a row each."""
        import polars

        types = {"text": polars.String, "count": polars.Int64, "bytes": polars.Int64}
        schema = {name: types.get(kind, polars.Float64) for name, kind in KINDS.items()}
        return polars.DataFrame(self.points, schema=schema)

    def as_json(self) -> Json:
        """Return it as `--json` prints it and its file holds it."""
        head = {"kind": KIND, "format": FORMAT, "headrace": _core.__version__}
        return head | {"machine": self.machine, "remarks": self.remarks, "points": self.points}

    def report(self, file: str | Path | None = None) -> Report:
        """Return the report of the measurement; with `file`, write it as one HTML page: whole, or not at all."""
        return written(reports.report(self.points, self.machine, self.remarks), file)

    def save(self, file: str | Path) -> None:
        """Write it to a file, whole or not at all: `.parquet` is the table alone, anything else JSON."""
        if Path(file).suffix == ".parquet":
            with whole(file) as part:
                part.write_bytes(as_parquet(self.frame()))
        else:
            write_whole(file, json.dumps(self.as_json(), indent=2) + "\n")


def read(path: Path) -> Measurement:
    """Read a measurement from a file that headrace wrote: see `measurement.load`."""
    rows, machine, remarks = _parquet(path) if path.suffix == ".parquet" else _checked(path, _json(path))
    if not rows:
        raise refusal(path, f"{path} has no points", "measure again, or import another file")
    return Measurement([_point(path, at, row) for at, row in enumerate(rows)], machine, remarks)


def _json(path: Path) -> Json:
    try:
        document = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise refusal(path, f"{path} is not JSON: {error}", "the file may be cut off: write it again") from None
    return document if isinstance(document, dict) else {}


def _checked(path: Path, document: Json) -> tuple[list[Any], Json, list[str]]:
    if document.get("kind") != KIND:
        what = "make one with `headrace import fio FILE -o measurement.json` or `headrace measure`"
        raise refusal(path, f"{path} is not a measurement", what)
    if document.get("format") != FORMAT:
        told = f"{path} is a measurement of format {document.get('format')}; headrace reads {FORMAT}"
        raise refusal(path, told, "use the version of headrace that wrote it")
    points, machine, remarks = (document.get(name) for name in ("points", "machine", "remarks"))
    fits = isinstance(points, list) and isinstance(machine, dict) and isinstance(remarks, list)
    if not fits or not all(isinstance(remark, str) for remark in remarks or []):
        raise refusal(path, f"{path}: `points`, `machine` or `remarks` is missing", "write the file again")
    assert isinstance(points, list)
    assert isinstance(machine, dict)
    assert isinstance(remarks, list)
    return points, machine, remarks


def _parquet(path: Path) -> tuple[list[Any], Json, list[str]]:
    import polars

    if not path.is_file():
        raise refusal(path, f"{path} does not exist, or is not a file", "check the path")
    try:
        return polars.read_parquet(path.read_bytes()).to_dicts(), {}, []
    except BaseException as error:  # A panic of polars is no `Exception`.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise refusal(path, f"{path} is not readable as Parquet: {error}", "write the file again") from None


def _point(path: Path, at: int, row: Any) -> Json:
    """Return a point whose fields are of the kind that they should be."""
    where = f"{path}: points[{at}]"
    if not isinstance(row, Mapping):
        raise refusal(path, f"{where} is {type(row).__name__}, not an object", "write the file again")
    for name in REQUIRED:
        if row.get(name) is None:
            raise refusal(path, f"{where}: `{name}` is missing", "every point has " + ", ".join(REQUIRED))
    return {name: _value(path, f"{where}.{name}", name, row.get(name)) for name in NAMES}


def _value(path: Path, where: str, name: str, value: Any) -> Any:
    kind = KINDS[name]
    if value is None:
        return None
    if kind == "text":
        if not isinstance(value, str) or value not in WORDS.get(name, (value,)):
            expected = " or ".join(WORDS.get(name, ("text",)))
            raise refusal(path, f"{where} is {value!r}, not {expected}", "write the file again")
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    positive = number and math.isfinite(value) and (value > 0 if name in REQUIRED else value >= 0)
    if not positive or (kind in WHOLE and value != int(value)):
        raise refusal(path, f"{where} is {value!r}, not a number of {kind}", "correct it, or write the file again")
    return int(value) if kind in WHOLE else float(value)
