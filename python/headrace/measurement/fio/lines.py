"""The lines of a text file, refused by file and line."""

from collections.abc import Iterator
from pathlib import Path

from headrace.errors import refusal

COMPRESSED = {b"\x1f\x8b": "gunzip", b"\x28\xb5\x2f\xfd": "zstd -d", b"BZ": "bunzip2"}
CUT_OFF = "the file is cut off, or still being written: copy it again when fio has ended"
LARGEST = (1 << 62) - 1
LONGEST_LINE = 1 << 16


class Lines:
    """The lines of a file with their numbers, read again each time; refuses a file that does not end with a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        if not path.is_file():
            raise refusal(path, f"{path} does not exist, or is not a file", "check the path")
        try:
            with path.open("rb") as file:
                head = file.read(4)
                file.seek(-1 if head else 0, 2)
                end = file.read(1)
        except OSError as error:
            raise refusal(path, f"{path} cannot be read: {error.strerror}", "check its permissions") from None
        for magic, program in COMPRESSED.items():
            if head.startswith(magic):
                raise refusal(path, f"{path} is compressed", f"decompress it first, with `{program}`")
        if not head.strip():
            raise refusal(path, f"{path} is empty", "fio may have been killed before it wrote it: measure again")
        if end != b"\n":
            raise refusal(path, f"{path}: the last line has no newline", CUT_OFF)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        with self.path.open("rb") as file:
            number = 0
            while raw := file.readline(LONGEST_LINE):
                number += 1
                if raw[-1:] != b"\n":
                    raise self.refuse(number, "the line is longer than any line of fio", "the file is damaged")
                if raw.strip():
                    yield number, self._text(number, raw)

    def _text(self, number: int, raw: bytes) -> str:
        try:
            return raw.decode("utf-8").strip()
        except UnicodeDecodeError:
            raise self.refuse(number, "the line is not text", "the file is damaged: copy it again") from None

    def refuse(self, number: int, message: str, help_: str) -> Exception:
        """Return the error that says what is wrong with a line."""
        return refusal(self.path, f"{self.path}, line {number}: {message}", help_)

    def whole(self, number: int, word: str, what: str, most: int = LARGEST) -> int:
        """Return a word as a number that is not negative."""
        if not (word.isascii() and word.isdigit() and len(word) <= 19 and int(word) <= most):
            raise self.refuse(number, f"{what} `{word[:40]}` is not a number from 0 to {most}", "the file is damaged")
        return int(word)
