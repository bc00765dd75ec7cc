"""What fio writes: headrace makes measurements of results, traces of logs, scenarios of job files."""

import re
from collections.abc import Callable
from pathlib import Path

from headrace.errors import refusal
from headrace.measurement.fio import blkparse, iolog, jobs, logs, results
from headrace.measurement.fio.sections import SECTION
from headrace.measurement.fio.traced import Traced

# A line of each job in what fio prints by default.
PLAIN = re.compile(r"\S.*: \(groupid=\d+, jobs=\d+\): err=")
# What `--output-format=terse` and `--minimal` print.
TERSE = re.compile(r"\d+;fio-\d")

__all__ = ["JOB", "LOGS", "RESULT", "Traced", "job", "kind", "measurement", "trace"]

HEAD = 1 << 16
LOGS: dict[str, tuple[Callable[[str], bool], Callable[[Path], Traced]]] = {
    "I/O log": (iolog.is_one, iolog.read),
    "latency log": (logs.is_one, logs.read),
    "blkparse text": (blkparse.is_one, blkparse.read),
}
RESULT, JOB = "result", "job file"

measurement = results.read
job = jobs.scenario


def kind(path: Path) -> str:
    """Return what a file is, from its beginning: `result`, `job file`, or one of `LOGS`; refuse anything else."""
    if path.is_dir():
        raise refusal(path, f"{path} is a directory", "name the files in it")
    if not path.is_file():
        raise refusal(path, f"{path} does not exist, or is not a file", "check the path")
    try:
        with path.open("rb") as file:
            lines = [line.strip() for line in file.read(HEAD).decode("utf-8-sig", "replace").splitlines()]
    except OSError as error:
        raise refusal(path, f"{path} cannot be read: {error.strerror}", "check its permissions") from None
    if not any(lines):
        raise refusal(path, f"{path} is empty", "fio may have been killed before it wrote it: measure again")
    first = next((line for line in lines if line and line[0] not in "#;"), "")
    log = next((name for name, (is_one, _) in LOGS.items() if is_one(first)), None)
    if log:
        return log
    if first.startswith("[") and SECTION.match(first):
        return JOB
    if any(line.startswith("{") for line in lines):
        return RESULT
    if any(PLAIN.match(line) or TERSE.match(line) for line in lines):
        told = f"{path} is what fio prints for people or as terse output, without the numbers that are needed"
        raise refusal(path, told, "run fio with --output-format=json")
    what = "its JSON or JSON+ result, a latency log, an I/O log (--write_iolog), a job file, or text of blkparse"
    raise refusal(path, f"{path} is in no format of fio that headrace reads", f"give {what}")


def trace(path: Path) -> Traced:
    """Return the requests of a log of fio, or of text of `blkparse`."""
    found = kind(path)
    if found not in LOGS:
        raise refusal(path, f"{path} is a {found}, not a log of requests", "give a latency log or an I/O log")
    return LOGS[found][1](path)
