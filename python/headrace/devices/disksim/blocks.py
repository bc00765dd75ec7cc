"""The blocks of which DiskSim's parameter files are made."""

import re
from pathlib import Path
from typing import Any

from headrace.mistakes import read_text, refusal

TOKEN = re.compile(r"[\[\]{}=,]|[^\[\]{}=,\s][^\[\]{}=,\n]*")


class Block(dict[str, Any]):
    """A block `type name { key = value, … }`, which knows the file and line of each key."""

    def __init__(self, name: str, file: Path, line: int) -> None:
        super().__init__()
        self.name, self.file, self.line = name, file, line
        self.lines: dict[str, int] = {}

    def number(self, key: str, default: float | None = None) -> float:
        """Return a number; refuse where it is missing and has no default, or is none."""
        if key not in self and default is not None:
            return default
        if key not in self:
            raise self.refusal(key, f"`{key}` is missing")
        if not isinstance(self[key], float):
            raise self.refusal(key, f"`{key}` is `{self[key]}`, no number")
        return float(self[key])

    def whole(self, key: str, default: int | None = None) -> int:
        """Return a whole number, as `number` does."""
        found = self.number(key, default)
        if found != int(found):
            raise self.refusal(key, f"`{key}` is {found}, no whole number")
        return int(found)

    def refusal(self, key: str, message: str) -> Exception:
        """Return the error that names the file and the line of a key."""
        at = f"{self.file}:{self.lines.get(key, self.line)}"
        return refusal(self.file, f"{at}: {message}", "compare it with DiskSim's manual")


class Reader:
    """Reads the blocks of a file, and of those it sources."""

    def __init__(self, file: Path) -> None:
        self.file = file
        text = read_text(file)
        self.tokens = [
            (token.strip(), number)
            for number, line in enumerate(text.splitlines(), 1)
            for token in TOKEN.findall(line.partition("#")[0])
        ]
        self.at = 0

    def blocks(self) -> list[Block]:
        """Return all blocks of the file."""
        found: list[Block] = []
        while self.at < len(self.tokens):
            token, line = self.tokens[self.at]
            if token.startswith("source "):
                self.at += 1
                found += Reader(self.file.parent / token.split(None, 1)[1]).blocks()
            elif self._ahead(1) == "{":
                self.at += 2
                found.append(self._block(token, line))
            else:
                self.at += 1  # Instances and the topology: which disk there is, not what it is.
        return found

    def _ahead(self, by: int) -> str:
        return self.tokens[self.at + by][0] if self.at + by < len(self.tokens) else ""

    def _block(self, name: str, line: int) -> Block:
        block = Block(name, self.file, line)
        while self._ahead(0) not in {"}", ""}:
            key, at = self.tokens[self.at]
            self.at += 1
            if key == ",":
                continue
            if self._ahead(0) != "=":
                raise block.refusal(key, f"line {at}: `{key}` has no value")
            self.at += 1
            block.lines[key] = at
            block[key] = self._value()
        if self._ahead(0) == "":
            raise block.refusal("", f"the block `{name}` has no end")
        self.at += 1
        return block

    def _value(self) -> Any:
        token, line = self.tokens[self.at] if self.at < len(self.tokens) else ("", 0)
        self.at += 1
        if token == "[":
            return self._list()
        if self._ahead(0) == "{":
            self.at += 1
            return self._block(token, line)
        if token.startswith("source "):
            [block] = Reader(self.file.parent / token.split(None, 1)[1]).blocks()
            return block
        try:
            return float(token)
        except ValueError:
            return token

    def _list(self) -> list[Any]:
        items = []
        while self._ahead(0) not in {"]", ""}:
            if self._ahead(0) == ",":
                self.at += 1
            else:
                items.append(self._value())
        self.at += 1
        return items
