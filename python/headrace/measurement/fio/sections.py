"""The sections of a job file of fio: each job with its options, by their main names."""

import re
from dataclasses import dataclass
from pathlib import Path

from headrace.errors import read_text, refusal
from headrace.measurement.fio.options import ALIASES

SECTION = re.compile(r"\[([^\]]+)\]\s*(?:[#;].*)?$")
COMMENT = re.compile(r"[#;].*")
GLOBAL = "global"


@dataclass
class JobSection:
    """One section with its options, those of `[global]` among them, and the line of each."""

    name: str
    options: dict[str, str]
    lines: dict[str, int]

    def is_on(self, option: str) -> bool:
        """Return whether a switch is on; it is off where it is absent."""
        return self.options.get(option, "0") not in {"0", "false"}


def read(path: Path) -> list[JobSection]:
    """Return the jobs of a file; refuse a file that has none, or that needs more than itself."""
    shared, jobs = JobSection(GLOBAL, {}, {}), list[JobSection]()
    current: JobSection | None = None
    for number, raw in enumerate(read_text(path).splitlines(), 1):
        # fio ends a line at the first `;` or `#`, in a value too.
        if not (line := COMMENT.sub("", raw).strip()):
            continue
        if match := SECTION.fullmatch(raw.strip()):
            name = match[1].strip()
            current = shared if name == GLOBAL else JobSection(name, dict(shared.options), dict(shared.lines))
            if current is not shared:
                jobs.append(current)
            continue
        if current is None:
            told = f"{path}, line {number}: `{line[:60]}` stands before the first [section]"
            raise refusal(path, told, "a job file begins with [global] or a job, such as [reader]")
        _option(path, current, number, line)
    if not jobs:
        raise refusal(path, f"{path} has no job", "add a section, such as [reader] with rw=randread")
    return jobs


def _option(path: Path, job: JobSection, number: int, line: str) -> None:
    key, equals, value = (part.strip() for part in line.partition("="))
    key = ALIASES.get(key, key)
    if key.startswith("include "):
        told = f"{path}, line {number}: `include` is not followed"
        raise refusal(path, told, "put the options of the other file in its place")
    # Names of files are made of fio's own words, such as `$jobnum`.
    if "$" in value and key != "filename_format":
        told = f"{path}, line {number}: `{value[:60]}` has a variable"
        raise refusal(path, told, "put its value in its place")
    job.options[key] = value if equals else "1"
    job.lines[key] = number
