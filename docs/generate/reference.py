"""The reference of a scenario, from its JSON Schema."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from headrace.quantities import exact_size

Json = dict[str, Any]

UNITS = """Quantities are written with their unit: sizes `64 KiB`, `2 GB` (`kB` is 1000, `KiB` 1024 bytes; `b` is a bit
only in rates), times `8.5 ms`, data rates `80 MB/s` or `2 Gb/s`, frequencies `50 /s` or `7200 rpm`, shares `70 %`,
failure rates `1.4 %/year`, error rates `1e-15 /bit`."""


ABOUT = "From the schema that `headrace schema` prints, by which documents are checked."
COMPONENT = "ComponentSpec"
"""The type of a component: its choices have a page each."""
ROOTS = {"workload": "StreamSpec", "faults": "FaultSpec", "rates": "RatesSpec", "run": "RunSpec"}
"""Other pages, and the type that each begins with."""
SHARED = "values"
"""The page of the types that several pages refer to."""
EXAMPLES = Path(__file__).parents[2] / "examples"


def page(schema: Json, title: str) -> str:
    """Return the reference of a small schema as one page of Markdown: one section a type, the document first."""
    return _joined(f"# {title}", ABOUT, UNITS, _section("The document", schema), *_sections(schema, schema["$defs"]))


def pages(schema: Json) -> dict[str, str]:
    """Return the reference of a scenario as Markdown, by page: the document, each kind of component, and the rest."""
    types = schema["$defs"]
    components = {_type(choice): choice for choice in _choices(types[COMPONENT])}
    reached = {name: _reached(of, types) for name, of in components.items()}
    reached |= {name: {of} | _reached(types[of], types) for name, of in ROOTS.items()}
    at = {name: _only(page for page, names in reached.items() if name in names) for name in types}
    on = {page: [name for name in types if at[name] == page and name != COMPONENT] for page in (*reached, SHARED)}
    found = {name: _joined(*_component(name, of), *_sections(schema, on[name])) for name, of in components.items()}
    found |= {name: _joined(f"# {name.capitalize()}", *_sections(schema, on[name])) for name in ROOTS}
    found[SHARED] = _joined("# Values that several components take", *_sections(schema, on[SHARED]))
    listed = "\n".join(f"- [`{name}`]({name}.md): {_about(of)}" for name, of in components.items())
    document = _section("The document", schema)
    found["index"] = _joined("# Scenario reference", ABOUT, UNITS, document, f"## {COMPONENT}", "One of:", listed)
    words = {name: _words(of) for name, of in types.items()}
    return {page: _linked(text, page, at | {COMPONENT: "index"}, words) for page, text in found.items()}


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _linked(text: str, page: str, at: Mapping[str, str], words: Mapping[str, str]) -> str:
    """Return the text of a page with links to the pages on which types are described; a choice of words is named."""
    pages = {name.lower(): where for name, where in at.items()}

    def link(found: re.Match[str]) -> str:
        where = "" if pages[found[2]] == page else f"{pages[found[2]]}.md"
        return f"[{words.get(found[1]) or found[1]}]({where}#{found[2]})"

    return re.sub(r"\[(\w+)\]\(#(\w+)\)", link, text)


# A choice of more words than this is called by its name.
MOST_WORDS = 5


def _words(of: Json) -> str:
    """Return the words that a type is a choice of: `fcfs` or `sstf`; nothing for other types and for many words."""
    known = [choice.get("const") for choice in _choices(of)]
    is_choice = 0 < len(known) <= MOST_WORDS and None not in known
    return " or ".join(f"`{word}`" for word in known) if is_choice else ""


def _type(component: Json) -> str:
    return str(component["properties"]["type"]["const"])


def _only(pages: Iterable[str]) -> str:
    """Return the only page of these; that of shared types where there are several, or none."""
    found = list(pages)
    return found[0] if len(found) == 1 else SHARED


def _reached(of: Any, types: Json) -> set[str]:
    """Return the names of the types that a part of the schema refers to, by others too, other components left out."""
    found: set[str] = set()
    waiting = [of]
    while waiting:
        part = waiting.pop()
        name = part.get("$ref", "").rsplit("/", 1)[-1] if isinstance(part, dict) else ""
        if name and name not in {*found, COMPONENT}:
            found.add(name)
            waiting.append(types[name])
        elif isinstance(part, dict | list):
            waiting += part.values() if isinstance(part, dict) else part
    return found


def _examples(kind: str) -> str:
    """Return links to the examples that have a component of a kind."""
    files = (file for file in sorted(EXAMPLES.glob("*.yaml")) if re.search(rf"type: {kind}\b", file.read_text()))
    found = [f"[{file.stem}](../examples.md#{file.stem})" for file in files]
    return f"Examples: {', '.join(found)}." if found else ""


def _component(name: str, of: Json) -> list[str]:
    return [f"# {name}", f"`type: {name}`: {_about(of)}", _examples(name), _fields(of)]


def _fields(component: Json) -> str:
    """Return the table of a component's fields but `type`, if it has others."""
    fields = {name: of for name, of in component["properties"].items() if name != "type"}
    return _table({**component, "properties": fields}) if fields else ""


def _is_sourced(name: str) -> bool:
    """Return true if a type only repeats another: a number with its source has one for each unit."""
    return name.startswith(("Sourced", "Told")) and name not in {"Sourced", "Told"}


def _sections(schema: Json, names: Iterable[str]) -> list[str]:
    return [_section(name, schema["$defs"][name]) for name in names if not _is_sourced(name)]


def _section(name: str, of: Json) -> str:
    parts = [f"## {name}", _about(of)]
    if "properties" in of:
        parts.append(_table(of))
    for choice in _choices(of):
        parts += list(_choice(choice))
    return "\n\n".join(part for part in parts if part)


def _choices(of: Json) -> list[Json]:
    return list(of.get("oneOf") or of.get("anyOf") or [])


def _choice(choice: Json) -> Iterator[str]:
    about = _about(choice)
    fields = choice.get("properties", {})
    if "const" in choice:
        yield f"- `{choice['const']}`: {about}"
    elif "type" in fields:
        yield f"### type: {_type(choice)}"
        yield about
        yield _fields(choice)
    elif len(fields) == 1:
        [(name, of)] = fields.items()
        yield f"- `{name}: …` ({_kind(of)}): {about or _about(of)}"
        if "properties" in of:
            yield _table(of)
    else:
        yield f"- {_kind(choice)}: {about}"


def _table(of: Json) -> str:
    required = set(of.get("required", []))
    lines = ["| field | type | default | meaning |", "|---|---|---|---|"]
    for name, field in of["properties"].items():
        default = "required" if name in required else _default(field)
        lines.append(f"| `{name}` | {_kind(field)} | {default} | {_about(field)} |")
    return "\n".join(lines)


def _default(field: Json) -> str:
    value = field.get("default")
    if value is None or isinstance(value, dict):
        return ""
    return f"`{_as_written(value, str(field.get('x-unit', '')))}`"


def _as_written(value: Any, unit: str) -> str:
    """Return a default as people write it: `20 %`, `10 min`, `16 MiB/s`."""
    if unit == "share":
        return f"{float(value) * 100:g} %"
    if isinstance(value, str) and (found := re.fullmatch(r"(\d+) (s|B/s)", value)):
        number = int(found[1])
        if found[2] == "B/s":
            return f"{exact_size(number)}/s"
        return f"{number // 60} min" if number and number % 60 == 0 else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,g}" if value < 1e6 else f"{value:,.0f}"
    return value if isinstance(value, str) else json.dumps(value)


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


def _about(of: Json) -> str:
    return " ".join(of.get("description", "").split()).replace("|", "\\|")
