"""elbencho's CSV results (`--csvfile`) as a measurement.

The columns are those that its `Statistics.cpp` and `ProgArgs.cpp` write, of version 3.0 and before.
"""

import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headrace.errors import read_text, refusal
from headrace.measurement.fio.results import BUFFERED
from headrace.measurement.points import Measurement, flight

Json = dict[str, Any]
Row = dict[str, str]

NEEDED = (
    "operation",
    "threads",
    "block size",
    "random",
    "IO depth",
    "time ms [last]",
    "IOPS [last]",
    "IO lat us [avg]",
)
# The columns of an operation: of writes, or of the only operation, and of the reads that ran beside writes.
ALONE, BESIDE_WRITES = "", "rwmix read "
SINGLE = {"READ": "read", "WRITE": "write"}
MIXED = ("RWMIX", "MIX-T")


def read(files: list[Path]) -> Measurement:
    """Return the points of results of elbencho: of each phase that read or wrote, as the slowest thread ended.

    Times are means; elbencho's CSV has no percentiles. Phases without blocks (`MKDIRS`, `STAT`) are left out: a remark
    names them.
    """
    points, remarks, versions = list[Json](), list[str](), dict[str, None]()
    for file in files:
        for line, row in _rows(file):
            found = _Phase(file, line, row)
            points += found.points()
            remarks += [f"{file.name}: {remark}" for remark in found.remarks()]
            versions[row.get("version", "")] = None
    if not points:
        told = f"{files[0]} has no phase that read or wrote"
        raise refusal(files[0], told, "run elbencho with -r or -w, --lat and --csvfile")
    return Measurement(points, {"elbencho": ", ".join(filter(None, versions))}, list(dict.fromkeys(remarks)))


def _rows(file: Path) -> Iterator[tuple[int, Row]]:
    """Yield each result and its line; a heading that is repeated, as of files put together, is passed over."""
    lines = csv.reader(read_text(file, "a result of elbencho is CSV").splitlines())
    names = next(lines, [])
    if missing := [name for name in NEEDED if name not in names]:
        told = f"{file} is no result of elbencho: its first line has no column `{missing[0]}`"
        raise refusal(file, told, "run elbencho with --csvfile FILE, and without --nocsvlabels")
    for values in lines:
        if values and values != names:
            yield lines.line_num, dict(zip(names, values, strict=False))


class _Phase:
    """One line: a phase of a run."""

    def __init__(self, file: Path, line: int, row: Row) -> None:
        self.file, self.line, self.row = file, line, row
        self.name = row.get("operation", "").upper()

    def points(self) -> list[Json]:
        """Return the points: one for reads or writes alone, two where both ran at once, none for other phases."""
        if self.name in SINGLE:
            return [self._point(SINGLE[self.name], ALONE, None)]
        if not self.name.startswith(MIXED):
            return []
        rates = {"read": BESIDE_WRITES, "write": ALONE}
        per_s = {op: self._number(f"{which}IOPS [last]", least=0) for op, which in rates.items()}
        share = per_s["read"] / (sum(per_s.values()) or 1.0)
        # A mix of 0 or 100 % has one of them.
        return [self._point(op, which, share) for op, which in rates.items() if per_s[op] > 0]

    def remarks(self) -> list[str]:
        """Return what a reader must know of the phase."""
        if self.name not in SINGLE and not self.name.startswith(MIXED):
            return [f"{self.name}: left out, it reads and writes no blocks"]
        buffered = [f"{self.name}: {BUFFERED}"] if self.row.get("direct IO") == "0" else []
        return [*buffered, *self._remark_on_flight(), "percentiles are unknown: elbencho's CSV has means alone"]

    def _remark_on_flight(self) -> list[str]:
        """Remark on a phase that by Little's law had another number of requests in flight than its options say."""
        points = self.points()
        if not points:
            return []
        there = sum(one["iops"] * one["mean_ms"] for one in points) / 1000
        return flight(self.name, there, points[0]["iodepth"] * points[0]["numjobs"])

    def _point(self, op: str, which: str, read_share: float | None) -> Json:
        seconds, iops, size = (self._number(name) for name in ("time ms [last]", f"{which}IOPS [last]", "block size"))
        seconds /= 1000
        return {
            "job": self.row.get("label") or self.name,
            "source": self.file.name,
            "op": op,
            "pattern": "random" if self._is_random() else "sequential",
            "read_share": {"read": 1.0, "write": 0.0}[op] if read_share is None else read_share,
            "block_bytes": int(size),
            "iodepth": max(int(self._number("IO depth", least=0)), 1),
            "numjobs": self._threads(),
            "file_bytes": self._file_bytes(),
            "file": self.row["path type"] if self._is_one() and self._is_random() else None,
            "runtime_s": seconds,
            "ios": round(iops * seconds),
            "iops": iops,
            "bandwidth_bytes_per_s": iops * size,
            "mean_ms": self._number(f"{which}IO lat us [avg]") / 1000,
        }

    def _file_bytes(self) -> int | None:
        """Return the bytes that a thread addresses: its own files in its folders, or all of a file or device.

        Of a file that is read or written in sequence, each thread has a part.
        """
        size = int(self._number("file size", least=0))
        if self._is_one():
            return (size if self._is_random() else size // self._threads()) or None
        counts = (int(self._number(name, least=0)) for name in ("files", "dirs"))
        return math.prod((size, *(max(count, 1) for count in counts))) or None

    def _is_one(self) -> bool:
        """Return true if all threads work on one file or device."""
        return self.row.get("path type", "") in {"file", "blockdev"}

    def _is_random(self) -> bool:
        return self._number("random", least=0) > 0

    def _threads(self) -> int:
        return int(self._number("threads") * max(self._number("hosts", least=0), 1))

    def _number(self, name: str, least: float = 1e-9) -> float:
        """Return a number of the line; an empty one is 0, which most may not be."""
        text = (self.row.get(name) or "").strip() or "0"
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not least <= number < 1e18:
            told = f"{self.file}, line {self.line}: `{name}` of {self.name} is {text}"
            help_ = "run elbencho with --lat" if "lat us" in name else "measure again: the file is damaged or cut off"
            raise refusal(self.file, told, help_)
        return number
