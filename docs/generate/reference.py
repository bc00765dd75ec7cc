"""The reference of a scenario, from its JSON Schema."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]

UNITS = """Quantities are written with their unit: sizes `64 KiB`, `2 GB` (`kB` is 1000, `KiB` 1024 bytes; `b` is a bit
only in rates), times `8.5 ms`, data rates `80 MB/s` or `2 Gb/s`, frequencies `50 /s` or `7200 rpm`, shares `70 %`."""


def page(schema: Json, title: str = "Scenario reference") -> str:
    """Return the reference as Markdown: one section a type, the document first."""
    sections = [_section("The document", schema, schema)]
    for name, of in schema["$defs"].items():
        if not _is_sourced(name):
            sections.append(_section(name, of, schema))
    about = "From the schema that `headrace schema` prints, by which documents are checked."
    return "\n\n".join([f"# {title}", about, UNITS, *sections]) + "\n"


def _is_sourced(name: str) -> bool:
    """Tell whether a type only repeats another: a number with its source has one for each unit."""
    return name.startswith(("Sourced", "Told")) and name not in {"Sourced", "Told"}


def _section(name: str, of: Json, schema: Json) -> str:
    parts = [f"## {name}", _flat(of.get("description", ""))]
    if "properties" in of:
        parts.append(_table(of))
    for choice in _choices(of):
        parts += list(_choice(choice))
    return "\n\n".join(part for part in parts if part)


def _choices(of: Json) -> list[Json]:
    return list(of.get("oneOf") or of.get("anyOf") or [])


def _choice(choice: Json) -> Iterator[str]:
    about = _flat(choice.get("description", ""))
    fields = choice.get("properties", {})
    if "const" in choice:
        yield f"- `{choice['const']}`: {about}"
    elif "type" in fields:
        yield f"### type: {fields['type']['const']}"
        yield about
        yield _table({**choice, "properties": {name: of for name, of in fields.items() if name != "type"}})
    elif len(fields) == 1:
        [(name, of)] = fields.items()
        yield f"- `{name}: …` ({_kind(of)}): {about or _flat(of.get('description', ''))}"
        if "properties" in of:
            yield _table(of)
    else:
        yield f"- {_kind(choice)}: {about}"


def _table(of: Json) -> str:
    required = set(of.get("required", []))
    lines = ["| field | is | default | means |", "|---|---|---|---|"]
    for name, field in of["properties"].items():
        default = "required" if name in required else _default(field)
        lines.append(f"| `{name}` | {_kind(field)} | {default} | {_flat(field.get('description', ''))} |")
    return "\n".join(lines)


def _default(field: Json) -> str:
    value = field.get("default")
    if value is None or isinstance(value, dict):
        return ""
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _kind(of: Json) -> str:
    if "$ref" in of:
        name = of["$ref"].rsplit("/", 1)[-1]
        shown = name.rstrip("0123456789") if _is_sourced(name) else name
        return f"[{shown}](#{shown.lower()})"
    if "x-unit" in of:
        return str(of["x-unit"])
    if choices := _choices(of):
        return " or ".join(dict.fromkeys(_kind(choice) for choice in choices if choice.get("type") != "null"))
    if "const" in of:
        return f"`{of['const']}`"
    kind = of.get("type")
    names = [str(name) for name in (kind if isinstance(kind, list) else [kind]) if name != "null"]
    return " or ".join(_plain(name, of) for name in names)


def _plain(name: str, of: Json) -> str:
    if name == "array" and "prefixItems" in of:
        return f"list of {', '.join(_kind(item) for item in of['prefixItems'])}"
    if name == "array":
        return f"list of {_kind(of['items'])}"
    if name == "object":
        inner = of.get("additionalProperties")
        return f"map of name → {_kind(inner)}" if isinstance(inner, dict) else "map"
    least, most = of.get("minimum"), of.get("maximum")
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    bounds = [f"at least {least:,.12g}"] if least else []
    bounds += [f"at most {most:,.12g}"] if most else []
    return words[name] + (f", {' and '.join(bounds)}" if bounds else "")


def _flat(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
