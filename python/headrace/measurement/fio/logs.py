"""fio's latency logs as traces: one line for each request, as it completed.

A line is `time-ms, latency-ns, direction, bytes[, offset][, priority][, issue-time-ns]`; with `log_window_value=both`
there are two latencies. That makes 4 to 8 columns. The time is that of the completion, cut to milliseconds.
"""

import re
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from headrace.errors import refusal
from headrace.measurement.fio.lines import Lines
from headrace.measurement.fio.traced import Traced

LINE = re.compile(r"\d+, *\d+, *\d+")
NS_PER_MS = 1_000_000
DIRECTIONS = {"0": "read", "1": "write", "2": "trim"}
SMALLEST_OFFSET = 2  # The priority of a request is 0, 1, or a hexadecimal number.
OTHER_LOGS = ("slat", "bw", "iops", "hist")
LARGEST = (1 << 63) - 1


def is_one(first: str) -> bool:
    """Whether a file that begins with this line may be a log of fio."""
    return LINE.match(first) is not None


def read(path: Path) -> Traced:
    """Return the requests of a log, in order of issue; refuse what is no log of single requests."""
    _refuse_other_logs(path)
    log = _Log(path)
    return log.traced()


def _refuse_other_logs(path: Path) -> None:
    kind = next((kind for kind in OTHER_LOGS if re.search(rf"_{kind}\.(\d+\.)?log", path.name)), None)
    if kind:
        what = {
            "slat": "submission latencies",
            "bw": "bandwidths",
            "iops": "requests per interval",
            "hist": "histograms",
        }
        told = f"{path} is a log of {what[kind]}, which are not response times"
        raise refusal(path, told, f"import the log with `_lat` instead of `_{kind}` in its name")


@dataclass
class _Columns:
    """The requests of a log by column, in order of completion."""

    ended_ms: "array[int]" = field(default_factory=lambda: array("q"))
    took_ns: "array[int]" = field(default_factory=lambda: array("q"))
    write: "array[int]" = field(default_factory=lambda: array("b"))
    bytes: "array[int]" = field(default_factory=lambda: array("q"))
    offset: "array[int]" = field(default_factory=lambda: array("q"))
    issued_ns: "array[int]" = field(default_factory=lambda: array("q"))


@dataclass(frozen=True)
class _Shape:
    """Where the columns of a log are."""

    columns: int
    direction: int
    offset: int | None
    issued: int | None


class _Log:
    def __init__(self, path: Path) -> None:
        self.path, self.columns, self.trims = path, _Columns(), 0
        self.lines = Lines(path)
        self.shape = self._shape()
        for number, fields in self._fields():
            self._take(number, fields)
        if not self.columns.bytes:
            raise refusal(path, f"{path} has no reads or writes", "import the log of a job that reads or writes")

    def _fields(self) -> Iterator[tuple[int, list[str]]]:
        for number, line in self.lines:
            yield number, [word.strip() for word in line.split(",")]

    def _shape(self) -> _Shape:
        """Return where the columns are, from the first lines."""
        sample = [fields for _, (_, fields) in zip(range(1000), self._fields(), strict=False)]
        count = len(sample[0])
        if not 4 <= count <= 8:
            raise self.lines.refuse(1, f"{count} columns; a log of fio has 4 to 8", "import a latency log of fio 3")
        sample = [fields for fields in sample if len(fields) == count]
        # Two latencies where there are as many columns as there can be, or the third is never a direction.
        doubled = count == 8 or (count > 4 and not any(fields[2] in DIRECTIONS for fields in sample))
        rest = count - (5 if doubled else 4)
        first = 5 if doubled else 4
        after = [[fields[at] for fields in sample] for at in range(first, count)]
        has_offset = rest >= 3 or (
            rest > 0 and any(_is_offset(word) for word in after[0]) and not _is_issue(after, rest)
        )
        has_issue = rest - has_offset == 2
        return _Shape(count, first - 2, first if has_offset else None, count - 1 if has_issue else None)

    def _take(self, number: int, fields: list[str]) -> None:
        shape, columns = self.shape, self.columns
        if len(fields) != shape.columns:
            told = f"{len(fields)} columns where the first line has {shape.columns}"
            raise self.lines.refuse(number, told, "the file may be cut off, or two runs wrote it: measure again")
        direction = DIRECTIONS.get(fields[shape.direction])
        if direction is None:
            told = f"direction `{fields[shape.direction]}` is none of 0 (read), 1 (write), 2 (trim)"
            raise self.lines.refuse(number, told, "the file is damaged")
        if direction == "trim":
            self.trims += 1
            return
        size = self.lines.whole(number, fields[shape.direction + 1], "size")
        if size == 0:
            told = "the size is 0: each line is the average of an interval (log_avg_msec), not a request"
            raise self.lines.refuse(number, told, "measure again without log_avg_msec")
        columns.ended_ms.append(self.lines.whole(number, fields[0], "time in ms", LARGEST // NS_PER_MS))
        columns.took_ns.append(self.lines.whole(number, fields[1], "latency in ns"))
        columns.write.append(direction == "write")
        columns.bytes.append(size)
        if shape.offset is not None:
            columns.offset.append(self.lines.whole(number, fields[shape.offset], "offset"))
        if shape.issued is not None:
            columns.issued_ns.append(self.lines.whole(number, fields[shape.issued], "issue time in ns"))

    def traced(self) -> Traced:
        """Return the requests with their times of issue; closed where never two were in flight."""
        import numpy as np  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

        columns = self.columns
        took = np.frombuffer(columns.took_ns, dtype=np.int64)
        stamps = np.frombuffer(columns.ended_ms, dtype=np.int64) * NS_PER_MS
        exact = self.shape.issued is not None
        issued = np.frombuffer(columns.issued_ns, dtype=np.int64) if exact else np.maximum(stamps - took, 0)
        ended = _one_by_one(issued + took, took) if exact else _one_by_one(stamps, took)
        slack = 0 if exact else NS_PER_MS
        closed = bool((ended <= (issued + took if exact else stamps) + slack).all())
        made = Traced(
            issued=(ended - took) if closed else issued,
            took=took,
            write=np.frombuffer(columns.write, dtype=np.int8) == 1,
            bytes=np.frombuffer(columns.bytes, dtype=np.int64),
            address=np.frombuffer(columns.offset, dtype=np.int64) if self.shape.offset is not None else None,
            closed=closed,
            remarks=[f"{self.trims} trims are left out"] if self.trims else [],
        )
        if made.address is None:
            help_ = "measure again with --log_offset=1"
            raise refusal(self.path, f"{self.path} has no addresses, so it cannot be replayed", help_)
        return made


def _is_offset(word: str) -> bool:
    return word.isdigit() and int(word) >= SMALLEST_OFFSET


def _is_issue(after: list[list[str]], rest: int) -> bool:
    """Whether two further columns are priority and issue time, not offset and priority."""
    return rest == 2 and not any(_is_offset(word) for word in after[0]) and any(_is_offset(word) for word in after[1])


def _one_by_one(ended: Any, took: Any) -> Any:
    """Return when requests end at the earliest if each is issued after the one before it has ended."""
    import numpy as np  # noqa: PLC0415

    # max(end of the one before + own time, own stamp), all at once: take out what has been worked until then.
    worked = np.cumsum(took)
    return np.maximum.accumulate(ended - worked) + worked
