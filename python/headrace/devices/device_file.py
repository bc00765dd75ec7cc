"""The text of a device file: YAML that reads like those of the catalogue."""

import json
import re
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

WIDTH = 110
NUMBER = re.compile(r"[-+.\d][-+.\d_]*(e[-+]?\d+)?", re.IGNORECASE)
# Words that YAML, in one of its versions, reads as no text.
WORD = re.compile("null|true|false|yes|no|on|off", re.IGNORECASE)
PLAIN = re.compile(r"[\w/(-][\w /().%+*-]*")


def text(numbers: Json, remarks: Sequence[str] = ()) -> str:
    """Return the numbers of a device as the text of its file, remarks above them.

    >>> print(text({"rotation": "7200 rpm", "cache": {"segments": 3}, "name": "fast: very"}, ["mine"]), end="")
    # mine
    rotation: 7200 rpm
    cache: {segments: 3}
    name: "fast: very"
    >>> print(text({"null": {"1": "on"}}), end="")
    "null": {"1": "on"}
    """
    return "".join(f"# {remark}\n" for remark in remarks) + _blocks(numbers)


def _blocks(value: Json, indent: int = 0) -> str:
    """Write maps as blocks, and what is small in one line."""
    lines = []
    for key, inner in ((_flow(name), inner) for name, inner in value.items()):
        flat = _flow(inner)
        if len(flat) + indent + len(key) <= WIDTH or not isinstance(inner, dict | list):
            lines.append(f"{' ' * indent}{key}: {flat}")
        elif isinstance(inner, dict):
            lines.append(f"{' ' * indent}{key}:\n{_blocks(inner, indent + 2)}".rstrip("\n"))
        else:
            lines += [f"{' ' * indent}{key}:", *_wrapped([_flow(item) for item in inner], indent + 2)]
    return "\n".join(lines) + "\n"


def _wrapped(items: list[str], indent: int) -> list[str]:
    """Write a list as rows of items."""
    rows, row = [], ""
    for item in items:
        if row and len(row) + len(item) + indent > WIDTH:
            rows.append(row.rstrip())
            row = ""
        row += item + ", "
    rows.append(row.rstrip(", "))
    pad = " " * indent
    return [f"{pad}[{rows[0]}" if len(rows) > 1 else f"{pad}[{rows[0]}]"] + [
        f"{pad} {row}{']' if at == len(rows) - 2 else ''}" for at, row in enumerate(rows[1:])
    ]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_flow(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.10g}"
    # What YAML could read as something else is quoted: signs of its own, and names such as `1e9` and `null`.
    is_other = isinstance(value, str) and (NUMBER.fullmatch(value) or WORD.fullmatch(value))
    plain = PLAIN.fullmatch(str(value)) and not is_other
    return str(value) if plain else json.dumps(value, ensure_ascii=False)
