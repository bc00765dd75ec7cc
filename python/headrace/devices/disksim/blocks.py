"""The blocks of which DiskSim's parameter files are made."""

import math
import re
from pathlib import Path
from typing import Any

from headrace.errors import read_text, refusal, refuse_endless

TOKEN = re.compile(r"[\[\]{}=,]|[^\[\]{}=,\s][^\[\]{}=,\n]*")

# Blocks and lists in each other, and files that source others; none of DiskSim's goes half as deep.
DEEPEST = 32

# No parameter of a disk has a larger number.
LARGEST = 1e15


class ParameterBlock(dict[str, Any]):
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
        return self._finite(key, self[key])

    def whole(self, key: str, default: int | None = None) -> int:
        """Return a whole number, zero or more, as `number` does."""
        found = self.number(key, default)
        if found < 0 or found != int(found):
            raise self.refusal(key, f"`{key}` is {found:g}, no whole number of zero or more")
        return int(found)

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return whether a parameter is other than zero."""
        return self.number(key, float(default)) != 0

    def block(self, key: str, kind: str = "") -> "ParameterBlock":
        """Return a block within this one, of that type."""
        found = self.get(key)
        if not isinstance(found, ParameterBlock):
            raise self.refusal(key, f"there is no `{key}`" if found is None else f"`{key}` is no block")
        if kind and found.name != kind:
            raise self.refusal(key, f"`{key}` is of the form `{found.name}`, and only `{kind}` is understood")
        return found

    def blocks(self, key: str) -> list["ParameterBlock"]:
        """Return the blocks of a list, at least one."""
        found = self.listed(key)
        if not found or not all(isinstance(one, ParameterBlock) for one in found):
            raise self.refusal(key, f"`{key}` is no list of blocks")
        return found

    def numbers(self, key: str) -> list[float]:
        """Return the numbers of a list, none where there is no such list."""
        return [self._finite(key, one) for one in self.listed(key)]

    def wholes(self, key: str) -> list[int]:
        """Return the whole numbers of a list, zero or more each; none where there is no such list."""
        found = self.numbers(key)
        for one in found:
            if one < 0 or one != int(one):
                raise self.refusal(key, f"`{key}` has {one:g}, no whole number of zero or more")
        return [int(one) for one in found]

    def listed(self, key: str) -> list[Any]:
        """Return a list, empty where there is none."""
        found = self.get(key, [])
        if not isinstance(found, list):
            raise self.refusal(key, f"`{key}` is no list")
        return found

    def _finite(self, key: str, value: Any) -> float:
        if not isinstance(value, float) or not math.isfinite(value) or abs(value) > LARGEST:
            shown = value.name if isinstance(value, ParameterBlock) else value
            raise self.refusal(key, f"`{key}` is `{shown}`, no number of a disk")
        return value

    def at(self, key: str) -> str:
        """Return the file and line of a key."""
        return f"{self.file}:{self.lines.get(key, self.line)}"

    def where(self, key: str) -> str:
        """Return the name of the file, the line and the key."""
        return f"{self.file.name}:{self.lines.get(key, self.line)}: {key}"

    def refusal(self, key: str, message: str) -> Exception:
        """Return the error that names the file and the line of a key."""
        return refusal(self.file, f"{self.at(key)}: {message}", "compare it with DiskSim's manual")


class Reader:
    """Reads the blocks of a file, and of those it sources."""

    def __init__(self, file: Path, within: tuple[Path, ...] = ()) -> None:
        self.file, self.within, self.files = file, (*within, file.resolve()), [file]
        refuse_endless(file)
        text = read_text(file, "a DiskSim parameter file is text")
        self.tokens = [
            (token.strip(), number)
            for number, line in enumerate(text.splitlines(), 1)
            for token in TOKEN.findall(line.partition("#")[0])
        ]
        self.at, self.depth = 0, 0

    def blocks(self) -> list[ParameterBlock]:
        """Return all blocks of the file."""
        found: list[ParameterBlock] = []
        while self.at < len(self.tokens):
            token, line = self.tokens[self.at]
            self.at += 1
            if token.startswith("source "):
                found += self._sourced(token, line)
            elif self._ahead() == "{":
                self.at += 1
                found.append(self._block(token, line))
            # All else is instances and the topology: which disk there is, not what it is.
        return found

    def _ahead(self) -> str:
        return self.tokens[self.at][0] if self.at < len(self.tokens) else ""

    def _line(self) -> int:
        """Return the line that has been read up to."""
        return self.tokens[min(self.at, len(self.tokens)) - 1][1] if self.tokens else 1

    def _refusal(self, line: int, message: str) -> Exception:
        return refusal(self.file, f"{self.file}:{line}: {message}", "compare it with DiskSim's manual")

    def _sourced(self, token: str, line: int) -> list[ParameterBlock]:
        file = self.file.parent / token.split(None, 1)[1]
        if not file.is_file():
            raise self._refusal(line, f"file not found: {file}")
        if file.resolve() in self.within or len(self.within) > DEEPEST:
            raise self._refusal(line, f"{file} sources itself")
        inner = Reader(file, self.within)
        found = inner.blocks()
        self.files += inner.files
        return found

    def _block(self, name: str, line: int) -> ParameterBlock:
        block = ParameterBlock(name, self.file, line)
        while self._ahead() not in {"}", ""}:
            key, at = self.tokens[self.at]
            self.at += 1
            if key == ",":
                continue
            if self._ahead() != "=":
                raise self._refusal(at, f"`{key}` has no value")
            self.at += 1
            block.lines[key] = at
            block[key] = self._value()
        if self._ahead() == "":
            raise self._refusal(line, f"the block `{name}` has no end")
        self.at += 1
        return block

    def _value(self) -> Any:
        if self._ahead() in {"", "}", "]", ",", "="}:
            raise self._refusal(self._line(), "there is no value")
        token, line = self.tokens[self.at]
        self.at += 1
        if token.startswith("source "):
            blocks = self._sourced(token, line)
            if len(blocks) != 1:
                raise self._refusal(line, f"`{token}` has {len(blocks)} blocks, and one is wanted")
            return blocks[0]
        if token in {"[", "{"} or self._ahead() == "{":
            return self._nested(token, line)
        try:
            return float(token)
        except ValueError:
            return token

    def _nested(self, token: str, line: int) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self._refusal(line, "blocks and lists lie too deep in each other")
        if token == "[":
            found: Any = self._list(line)
        else:
            self.at += token != "{"
            found = self._block("" if token == "{" else token, line)
        self.depth -= 1
        return found

    def _list(self, line: int) -> list[Any]:
        items = []
        while self._ahead() not in {"]", ""}:
            if self._ahead() == ",":
                self.at += 1
            else:
                items.append(self._value())
        if self._ahead() == "":
            raise self._refusal(line, "the list has no end")
        self.at += 1
        return items
