"""Journal of a store: one file a process, to which it appends a line as soon as a task is done.

Each line ends with a checksum of itself and of all lines before it, so that a line which is lost, doubled or moved is
noticed; the first goes on from the name of the file. Lines missing at the end are runs that were not kept.
"""

import fcntl
import json
import os
import secrets
import socket
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from headrace.errors import refusal
from headrace.experiment.task import Record
from headrace.files import sync

PLAIN = ("point", "replication", "ok", "reason", "overloaded", "saturated", "final", "trusted", "seconds", "host")


@dataclass(frozen=True)
class Place:
    """A place in a journal: where a line begins, and the checksum of all before it."""

    offset: int
    sum: int


def beginning(journal: Path) -> Place:
    """Return the place of a journal's first line."""
    return Place(0, zlib.crc32(journal.name.encode()))


def line(record: Record, before: int) -> tuple[bytes, int]:
    """Return the line that keeps a record behind a line with the checksum `before`, and its own checksum."""
    found = _sum(record, before)
    return (json.dumps(record | {"sum": found}) + "\n").encode(), found


def _sum(record: Any, before: int) -> int:
    return zlib.crc32(json.dumps(record).encode(), before)


class Journal:
    """The journal of this process, locked as long as the process lives, so that others know that it does.

    A line survives the end of the process at once. A thread flushes lines to disk, as many as came since its last
    flush: a power loss takes those of one flush at most, and nobody waits for the disk but `close`.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115 - it is held until `close`
        fcntl.flock(self._file, fcntl.LOCK_EX)
        sync(folder)
        self._sum = beginning(self.path).sum
        self._flusher = ThreadPoolExecutor(1)
        self._flushed = True
        self._failed: OSError | None = None

    def append(self, record: Record) -> None:
        """Add a line, whole or not at all: on a full disk the next must not grow onto half of one.

        Raises `OSError` if it could not be written, or lines before it could not be flushed.
        """
        added, found = line(record, self._sum)
        self._write(added)
        self._sum, self._flushed = found, False
        self._flusher.submit(self._flush)
        self._raise_failed()

    def _write(self, added: bytes) -> None:
        end = os.fstat(self._file.fileno()).st_size
        try:
            while added:
                added = added[self._file.write(added) :]
        except OSError:
            os.ftruncate(self._file.fileno(), end)
            raise

    def _flush(self) -> None:
        if self._flushed:  # With lines that came after this was asked for.
            return
        self._flushed = True  # Before it is: a line that comes meanwhile needs another flush.
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            self._failed = error

    def _raise_failed(self) -> None:
        if self._failed:
            failed, self._failed = self._failed, None
            raise failed

    def close(self) -> None:
        """Flush all lines to disk, and let go of the file; raise `OSError` if they could not be flushed."""
        self._flusher.shutdown()
        self._file.close()
        self._raise_failed()


def appended(journal: Path, begin: Place) -> tuple[list[Record], Place]:
    """Return the records from a place in a journal on, and the place after the last whole line."""
    try:
        with open(journal, "rb") as file:
            file.seek(begin.offset)
            text = file.read()
    except FileNotFoundError:
        return [], begin  # Its process has just put it into `records.parquet`.
    except OSError as error:
        raise refusal(journal, f"{journal} cannot be read: {error.strerror}", "restore or remove it") from None
    end = text.rfind(b"\n") + 1
    records, found = [], begin.sum
    try:
        for one in text[:end].splitlines():
            record, found = _record(json.loads(one), found)
            records.append(record)
    except ValueError as error:
        help_ = "restore it, or remove it: its runs are done again"
        raise refusal(journal, f"{journal} has an invalid record: {error}", help_) from None
    return records, Place(begin.offset + end, found)


def _record(told: Any, before: int) -> tuple[Record, int]:
    """Return the record that a line holds and its checksum; raise `ValueError` where it holds none."""
    if not isinstance(told, dict) or not {*PLAIN, "values", "metrics", "sum"} <= told.keys():
        raise ValueError("it lacks what a record has")
    found = told.pop("sum")
    if found != _sum(told, before):
        raise ValueError("its checksum does not fit: it has changed, or a line before it is lost")
    return cast(Record, told), found
