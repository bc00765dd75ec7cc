"""The values of one job's options: counts, sizes, shares, and what to say of those that are wrong or ignored."""

import re
from pathlib import Path

from headrace.errors import refusal
from headrace.measurement.fio import quantities
from headrace.measurement.fio.sections import JobSection

# Remarks on a job file, each once, in order.
Remarks = dict[str, None]


class Values:
    """The options of a job, read as what they are."""

    def __init__(self, path: Path, job: JobSection, remarks: Remarks) -> None:
        self.path, self.job, self.options, self.remarks = path, job, job.options, remarks
        self.kib = quantities.kib(self.options)

    def bad(self, option: str, message: str, help_: str) -> Exception:
        """Return the error that names the option's line."""
        line = self.job.lines.get(option)
        where = f"{self.path}, line {line}, [{self.job.name}]" if line else f"{self.path}, [{self.job.name}]"
        return refusal(self.path, f"{where}: {message}", help_)

    def remark(self, words: str) -> None:
        """Say what a user must know of how the job is simulated."""
        self.remarks[words] = None

    def ignore(self, option: str, value: str, why: str) -> None:
        """Say that an option has no effect."""
        told = f"{option}={value}" if value else option
        self.remark(f"`{told}` is ignored: {why}")

    def count(self, option: str, default: int, most: int) -> int:
        """Return a number from 1 on."""
        text = self.options.get(option)
        if text is None:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= most:
            raise self.bad(option, f"`{option}={text[:60]}` is not a number from 1 to {most}", "correct it")
        return int(text)

    def size(self, option: str, text: str) -> int | None:
        """Return a size in bytes, or what `k` and `m` multiply; None where it is no size."""
        if self.kib == quantities.KIB and quantities.is_decimal_to_fio(text):
            self.remark(f"`{option}={text}`: fio reads {text[-3]}iB as a power of 1000; write `{text[:-2]}` for 1024")
        return quantities.size(text, self.kib)

    def bytes(self, option: str) -> int | None:
        """Return a size; None where it is absent, or where only the real device would say what it is."""
        text = self.options.get(option)
        if text is None:
            return None
        if re.fullmatch(r"\d{1,3}%", text):
            self.ignore(option, text, "a share of a real device or file, which is not at hand")
            return None
        value = self.size(option, text.split("-")[-1])
        if not value:
            raise self.bad(option, f"`{option}={text[:60]}` is not a size", "give one, such as 4k or 1g")
        return value

    def percent(self, option: str, text: str) -> float:
        """Return a percentage as a share."""
        if not re.fullmatch(r"\d{1,3}", text) or int(text) > 100:
            raise self.bad(option, f"`{option}={text[:60]}` is not a percentage", "give a number from 0 to 100")
        return int(text) / 100

    def seconds(self, option: str, unit: str = "s") -> float | None:
        """Return a time in seconds; None where it is absent. `unit` is that of a bare number."""
        text = self.options.get(option)
        if text is None:
            return None
        number, colon, _ = text.partition(":")
        seconds = quantities.seconds(number, unit)
        if seconds is None:
            raise self.bad(option, f"`{option}={text[:60]}` is not a time", "give one, such as 60 or 5m")
        if colon:
            self.remark(f"`{option}={text[:60]}` is {number} {unit} to fio, which stops at the colon")
        return seconds
