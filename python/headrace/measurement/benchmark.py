"""`headrace measure`: has fio read and write files in a directory, over record size × file size × streams × operation.

As `lmdd` does: whole files of random data, record after record, each transfer timed, each point
repeated with new files.
"""

import errno
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from headrace.errors import refusal
from headrace.measurement import machine
from headrace.measurement.fio import results
from headrace.measurement.interrupts import Interrupts
from headrace.measurement.points import Measurement, Tell

Json = dict[str, Any]

OPS = ("write", "read", "mixed")
INSTALL = "Debian, Ubuntu: `apt-get install fio`; Fedora: `dnf install fio`; macOS: `brew install fio`; or --fio PATH"
FOLDER = ".headrace-measure-"
SECTOR = 512
# What a file system needs besides the data.
ROOM = 1.05
# A program that is asked to end has so long, s.
PATIENCE_S = 5.0


@dataclass(frozen=True)
class Plan:
    """Parameters of a benchmark: every combination is measured `repeat` times, each with new files."""

    records: tuple[int, ...] = (4 << 10, 64 << 10, 1 << 20)
    """Bytes of a transfer."""
    files: tuple[int, ...] = (64 << 20,)
    """Bytes of a file."""
    streams: tuple[int, ...] = (1,)
    """Processes that read or write at the same time, each a file of its own."""
    ops: tuple[str, ...] = OPS
    """`write`, `read`, `mixed`: half of each, to the same file."""
    repeat: int = 3
    random: bool = False
    """True for records in random order, false for sequential ones."""
    buffered: bool = False
    """True for I/O through the page cache, as `lmdd` does; false for O_DIRECT."""

    def steps(self) -> Iterator[tuple[int, int, int, int]]:
        """Give file size, streams, record size and number of the repetition."""
        yield from product(self.files, self.streams, self.records, range(self.repeat))


def measure(
    target: Path, plan: Plan, *, fio: str | None = None, transfers: Path | None = None, tell: Tell | None = None
) -> Measurement:
    """Measure a directory; return a point for each operation of each repetition, and the machine's description.

    All files are made in a folder of its own in `target`, which is removed at the end, on an error and on Ctrl-C.
    `transfers` names a folder for fio's latency logs, with the time of each transfer. Raises `ScenarioError` where the
    target cannot be measured, `KeyboardInterrupt` on Ctrl-C, SIGTERM and SIGHUP.
    """
    tell = tell or (lambda _: None)
    _refuse_target(target)
    _refuse_plan(target, plan)
    program = _program(fio)
    points, remarks = list[Json](), dict[str, None]()
    versions = set[str]()
    if transfers is not None:
        transfers.mkdir(parents=True, exist_ok=True)
    interrupts = Interrupts()
    with interrupts.deferred(), _folder(target.resolve()) as folder:
        for step in plan.steps():
            for op in (op for op in OPS if op in plan.ops or (op == "write" and _needs_files(plan))):
                tell(_words(op, *step))
                found = _Run(program, folder, interrupts, plan, op, *step).measured(transfers)
                versions.add(found.machine["fio"])
                if op in plan.ops:
                    points += found.points
                    remarks |= dict.fromkeys(found.remarks)
            _clear(folder)
    described = machine.describe(target) | {"fio": ", ".join(versions)}
    return Measurement(points, described, [remark.partition(": ")[2] for remark in remarks])


def _needs_files(plan: Plan) -> bool:
    return bool({"read", "mixed"} & set(plan.ops))


def _words(op: str, file: int, streams: int, record: int, number: int) -> str:
    return f"{op}, {streams} × {file} B in records of {record} B, repetition {number + 1}"


def _refuse_target(target: Path) -> None:
    """Refuse what is not a directory that can be written to, and block devices above all."""
    try:
        mode = target.stat().st_mode
    except OSError as error:
        raise refusal(target, f"{target} cannot be measured: {error.strerror}", "name a directory") from None
    if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
        told = f"{target} is a device: writing to it would destroy what it holds"
        raise refusal(target, told, "name a directory on a file system that lies on it")
    if not stat.S_ISDIR(mode):
        told = f"{target} is a file, which headrace did not make and does not write over"
        raise refusal(target, told, "name a directory; headrace makes files of its own in it, and removes them")
    if not os.access(target, os.W_OK | os.X_OK):
        raise refusal(target, f"{target} cannot be written to", "name a directory of yours")


def _refuse_plan(target: Path, plan: Plan) -> None:
    """Refuse a plan for which there is no room, or whose records do not fit its files."""
    for record, file in product(plan.records, plan.files):
        if file < record or file % record:
            told = f"a file of {file} B is no whole number of records of {record} B"
            raise refusal(target, told, "give file sizes that are multiples of each record size")
        if not plan.buffered and record % SECTOR:
            told = f"records of {record} B cannot be written past the page cache"
            raise refusal(target, told, f"give multiples of {SECTOR} B, or --buffered")
    needed, free = max(plan.files) * max(plan.streams) * ROOM, shutil.disk_usage(target).free
    if needed > free:
        told = f"{target} has {free / 1e6:.0f} MB free; the files need {needed / 1e6:.0f} MB"
        raise refusal(target, told, "give smaller files or fewer streams")


def _program(named: str | None) -> str:
    found = shutil.which(named or "fio")
    if found is None:
        told = f"fio is not at {named}" if named else "fio is not installed: it does the reading and writing"
        raise refusal("fio", told, INSTALL)
    return found


@contextmanager
def _folder(target: Path) -> Iterator[Path]:
    """Give a new folder in `target`, and remove it whatever happens."""
    made: Path | None = None
    try:
        made = Path(tempfile.mkdtemp(prefix=FOLDER, dir=target))
        yield made
    except OSError as error:
        told = f"{target} cannot be written to: {error.strerror or error}"
        raise refusal(target, told, "name another directory") from None
    finally:
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)


def _clear(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


class _Run:
    """One run of fio."""

    def __init__(
        self,
        program: str,
        folder: Path,
        interrupts: Interrupts,
        plan: Plan,
        op: str,
        file: int,
        streams: int,
        record: int,
        number: int,
    ) -> None:
        self.program, self.folder, self.interrupts, self.plan, self.op = program, folder, interrupts, plan, op
        self.file, self.streams, self.record, self.number = file, streams, record, number
        self.result = folder / "result.json"
        self.log = folder / "transfers"

    def _command(self) -> list[str]:
        kind = {"read": "read", "write": "write", "mixed": "rw"}[self.op]
        return [
            self.program,
            f"--name={self.op} {self.number + 1}",
            f"--directory={self.folder}",
            "--filename_format=data.$jobnum",
            f"--rw={'rand' if self.plan.random else ''}{kind}",
            f"--bs={self.record}",
            f"--size={self.file}",
            f"--numjobs={self.streams}",
            "--group_reporting=1",
            # Streams are threads, so that ending one process ends them all.
            "--thread=1",
            "--ioengine=psync",
            f"--direct={int(not self.plan.buffered)}",
            # Random data, new for each transfer and each repetition: no drive can compress it or have seen it.
            "--refill_buffers=1",
            f"--randseed={self.number + 1}",
            "--fallocate=none",
            "--invalidate=1",
            # A buffered write counts once it is on the storage.
            f"--end_fsync={int(self.plan.buffered and self.op != 'read')}",
            f"--write_lat_log={self.log}",
            "--log_offset=1",
            "--output-format=json+",
            f"--output={self.result}",
        ]

    def measured(self, transfers: Path | None) -> Measurement:
        """Run fio; return what it found, and keep its latency logs in `transfers`."""
        self._run()
        found = results.read([self.result])
        for point in found.points:
            point["source"] = "headrace measure"
        for log in self.folder.glob("transfers_*.log"):
            if transfers is not None and "_lat." in log.name:
                words = f"{self.op}-{self.record}-{self.file}-{self.streams}-{self.number + 1}"
                shutil.move(log, transfers / f"{words}{log.name.removeprefix('transfers')}")
            else:
                log.unlink()
        return found

    def _run(self) -> None:
        """Start fio in a session of its own, so that Ctrl-C on a terminal reaches headrace alone."""
        process = subprocess.Popen(
            self._command(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            cwd=self.folder,
        )
        try:
            with self.interrupts.heard():
                said, _ = process.communicate()
        except BaseException:
            _end(process)
            raise
        if process.returncode:
            raise self._failed(said)

    def _failed(self, said: str) -> Exception:
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        reason = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else "it said nothing")
        direct = not self.plan.buffered and os.strerror(errno.EINVAL) in said
        help_ = "the file system has no direct I/O: give --buffered" if direct else "see what fio said"
        return refusal(self.folder.parent, f"fio failed: {reason}", help_)


def _end(process: "subprocess.Popen[str]") -> None:
    """End fio: by request, then by force."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            process.send_signal(how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_S)
    if process.stdout:
        process.stdout.close()
