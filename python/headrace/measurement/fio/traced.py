"""Requests read from a log, on their way to a trace that headrace replays."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import trace
from headrace.errors import refusal
from headrace.measurement.fio.lines import Lines
from headrace.quantities import counted

if TYPE_CHECKING:
    import numpy as np
    import polars

Json = dict[str, Any]

CLOSED = (
    "At most one request was in flight, so a scenario replays this trace closed, by think times. "
    "Set `timing: timestamps` to replay the recorded times instead."
)
UNTIMED = (
    "It is not known how many requests were in flight: a scenario replays this trace closed, one request after another."
)
OPEN = "requests overlap: a scenario replays it open, at its timestamps"
UNKNOWN = "it is not known how many requests were in flight: a scenario replays it open, at its timestamps"

# What gives a request in each format; None is text of blkparse, whose format is detected.
NEEDED = {"fio_latency": "a read or a write", None: "a read or a write that was issued (D) or queued (Q)"}


def converted(path: Path, format: str | None) -> tuple["polars.DataFrame", int]:
    """Return a trace that the core reads, in columns of headrace's format, and how many requests it left out."""
    import polars

    lines = Lines(path)  # Refuses a file that is cut off.
    with tempfile.TemporaryDirectory(prefix="headrace-") as folder:
        own = Path(folder) / "trace.csv"
        left_out = trace.convert(path, own, format=format)["left_out"]
        numbers = dict.fromkeys(("time_ns", "address", "bytes", "response_ns"), polars.Int64)
        types = numbers | {"op": polars.String, "device": polars.String}
        try:
            frame = polars.read_csv(own, schema_overrides=types)
        except polars.exceptions.ComputeError:
            raise refusal(path, f"{path} has a number of 2^63 or more", "the file is damaged") from None
    if frame.is_empty():
        many = counted(sum(1 for _ in lines), "line")
        raise refusal(path, f"{path}: {many}, none of which is {NEEDED[format]}", "record the reads and writes")
    return frame, left_out


def _path(name: str) -> str:
    """Return a file's name as a path, where it would begin as a formula that a spreadsheet runs.

    >>> _path("/dev/sdb"), _path("-1/f"), _path("=job.0")
    ('/dev/sdb', './-1/f', './=job.0')
    """
    return f"./{name}" if name[:1] in ("=", "+", "-", "@") else name


@dataclass
class Traced:
    """Requests by column. Times in ns; `took` is None where the log has no response times."""

    issued: "np.ndarray[Any, Any] | None"
    took: "np.ndarray[Any, Any] | None"
    write: "np.ndarray[Any, Any]"
    bytes: "np.ndarray[Any, Any]"
    address: "np.ndarray[Any, Any] | None"
    closed: bool
    """True if at most one request was in flight at any time."""
    think: "np.ndarray[Any, Any] | None" = None
    """From each completion to the next request, ns; None: from the times of issue."""
    device: list[str] | None = None
    remarks: list[str] = field(default_factory=list)

    def save(self, file: Path) -> Json:
        """Write the trace in headrace's format; return how many requests it has, whether it is closed, remarks."""
        trace.write(file, self._columns())
        return {
            "requests": len(self.bytes),
            "closed": self.closed,
            "remarks": [self._flight(), *self.remarks],
        }

    def _flight(self) -> str:
        if self.closed:
            return UNTIMED if self.issued is None else CLOSED
        return UNKNOWN if self.took is None else OPEN

    def _columns(self) -> Json:
        import numpy as np

        many = len(self.bytes)
        order = np.arange(many) if self.issued is None else np.argsort(self.issued, kind="stable")
        columns: Json = {
            "op": ["write" if write else "read" for write in self.write[order]],
            "address": np.zeros(many, dtype=np.int64) if self.address is None else self.address[order],
            "bytes": self.bytes[order],
        }
        if self.issued is not None:
            columns["time_ns"] = (self.issued - self.issued.min())[order]
        if self.took is not None:
            columns["response_ns"] = self.took[order]
        if self.closed:
            columns["think_ns"] = self.think if self.think is not None else self._thinks()
        if self.device is not None:
            columns["device"] = [_path(self.device[at]) for at in order]
        return columns

    def _thinks(self) -> "np.ndarray[Any, Any]":
        """Return the time from each completion to the next request; none after the last."""
        import numpy as np

        assert self.issued is not None
        assert self.took is not None
        gaps = self.issued[1:] - (self.issued + self.took)[:-1]
        return np.append(np.maximum(gaps, 0), 0)
