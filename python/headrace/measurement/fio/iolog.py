"""fio's `--write_iolog`, versions 2 and 3: what was asked for, without response times.

Version 2 has `file action offset bytes`, and `wait` with a time in µs since the last `wait`. Version 3 (fio 3.31)
begins each line with the time since the start. fio's documentation names no unit; fio 3.33 writes µs.
"""

import re
from array import array
from pathlib import Path

from headrace.errors import refusal
from headrace.measurement.fio.lines import Lines
from headrace.measurement.fio.traced import Traced

FIRST = re.compile(r"fio version (\d+) iolog")
MANAGING = ("add", "open", "close")
KEPT = ("read", "write")
LEFT_OUT = ("sync", "datasync", "trim")
NS_PER_US = 1000
LARGEST_US = (1 << 62) // NS_PER_US
LARGEST_BYTES = 1 << 40


def is_one(first: str) -> bool:
    """Return true for the first line of an iolog."""
    return FIRST.fullmatch(first) is not None


def read(path: Path) -> Traced:
    """Return the requests of a log."""
    return _Iolog(path).traced()


class _Iolog:
    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, Lines(path)
        self.time, self.write, self.address, self.bytes = array("q"), array("b"), array("q"), array("q")
        self.files: list[str] = []
        self.left_out: dict[str, int] = {}
        self.now = 0
        lines = iter(self.lines)
        number, first = next(lines)
        match = FIRST.fullmatch(first)
        if match is None:
            raise self.lines.refuse(number, "it is not `fio version 3 iolog`", "the file is damaged: copy it again")
        self.version = int(match[1])
        if self.version not in {2, 3}:
            raise self.lines.refuse(1, f"version {self.version} of the format", "headrace reads versions 2 and 3")
        for number, line in lines:
            self._take(number, line)
        if not self.bytes:
            raise refusal(path, f"{path} has no reads or writes", "the file may be cut off: record it again")

    def _take(self, number: int, line: str) -> None:
        words = line.split()
        if self.version == 3:
            self.now = self.lines.whole(number, words[0], "time in µs", LARGEST_US)
            words = words[1:]
        if len(words) == 2 and words[1] in MANAGING:
            return
        if len(words) != 4:
            form = ("time " if self.version == 3 else "") + "file action offset bytes"
            raise self.lines.refuse(number, f"the line does not match `{form}`", "the file is damaged or cut off")
        name, action, offset, size = words
        if action == "wait" and self.version == 2:
            # Since the last wait, not since the last request.
            self.now += self.lines.whole(number, offset, "time in µs", LARGEST_US - self.now)
        elif action in KEPT:
            self._request(number, name, action, offset, size)
        elif action in LEFT_OUT:
            self.left_out[action] = self.left_out.get(action, 0) + 1
        else:
            known = ", ".join((*MANAGING, *KEPT, *LEFT_OUT, "wait"))
            raise self.lines.refuse(number, f"unknown action `{action[:40]}`", f"the actions are {known}")

    def _request(self, number: int, name: str, action: str, offset: str, size: str) -> None:
        at, many = (self.lines.whole(number, word, what) for word, what in ((offset, "offset"), (size, "size")))
        if not 1 <= many <= LARGEST_BYTES:
            raise self.lines.refuse(number, f"the size {many} is not from 1 byte to 1 TiB", "the file is damaged")
        self.time.append(self.now * NS_PER_US)
        self.write.append(action == "write")
        self.address.append(at)
        self.bytes.append(many)
        self.files.append(name)

    def traced(self) -> Traced:
        """Return the requests: closed where the log has no times."""
        import numpy as np

        time = np.frombuffer(self.time, dtype=np.int64)
        timed = bool(time.any())
        told = [f"{many} × {action} left out" for action, many in self.left_out.items()]
        several = len(set(self.files)) > 1
        return Traced(
            issued=time if timed else None,
            took=None,
            write=np.frombuffer(self.write, dtype=np.int8) == 1,
            bytes=np.frombuffer(self.bytes, dtype=np.int64),
            address=np.frombuffer(self.address, dtype=np.int64),
            closed=not timed,
            think=None if timed else np.zeros(len(self.bytes), dtype=np.int64),
            device=[re.sub(r"[\",\s]", "_", name) for name in self.files] if several else None,
            remarks=["the log has no response times to compare with", *([] if timed else [UNTIMED]), *told],
        )


UNTIMED = "the log has no times: each request follows the completion of the one before it"
