"""The fields of results, from their JSON Schema: the Python types, and the table of docs/results.md."""

import re
from typing import Any

from generate import types

Json = dict[str, Any]

HEAD = '''"""Results as Python sees them. Made from the schema by `make types`; a test keeps it the same."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

'''

PLAIN = {"string": "text", "integer": "number", "number": "number", "boolean": "true or false", "object": "object"}
# Names of times and rates end in their unit.
UNITS = (("_percent", "%"), ("bytes_per_s", "B/s"), ("_per_s", "1/s"), ("_ms", "ms"), ("_s", "s"))
TABLE = re.compile(r"^\| field \|.*?(?=\n\n)", re.MULTILINE | re.DOTALL)


def module(scenario: Json, **roots: Json) -> str:
    """Return the source of a module that has a type for each definition of results, named roots among them.

    Those of the scenario are imported from its own module.
    """
    known = {"ScenarioSpec", *scenario["$defs"]}
    definitions = {name: of for root in roots.values() for name, of in root["$defs"].items() if name not in known}
    defined, sources = types.sources(roots | definitions)
    code = [line for line in "\n".join(sources).splitlines() if not line.lstrip().startswith(('"', "#"))]
    used = sorted(name for name in known if re.search(rf"\b{name}\b", "\n".join(code)))
    imported = f"from headrace.document import {', '.join(used)}\n"
    return HEAD + imported + f"\n__all__ = [{defined}]\n\n" + "\n\n".join(sources) + "\n"


def page(text: str, schema: Json) -> str:
    """Return a page with the table of all fields in place of the one that it has."""
    head = "| field | type or unit | meaning |\n|---|---|---|\n"
    table = head + "\n".join(_Rows(schema["$defs"]).of(schema, ""))
    return TABLE.sub(lambda _: table, text, count=1)


class _Rows:
    """Rows of the table. A type that several fields have is described at the first; scenarios have their own page."""

    def __init__(self, definitions: Json) -> None:
        self.definitions, self.described = definitions, {"ScenarioSpec"}

    def of(self, schema: Json, within: str) -> list[str]:
        """Return the rows of an object's fields, whose names begin with `within`."""
        rows = []
        for field, of in schema["properties"].items():
            meaning = types.flat(of.get("description", "")).removesuffix(".")
            rows.append(f"| `{within}{field}` | {self._unit(field, of)} | {meaning} |")
            rows += self._inner(within + field, of)
        return rows

    def _inner(self, path: str, of: Json) -> list[str]:
        if "items" in of:
            path, of = f"{path}[]", of["items"]
        name = str(_known(of).get("$ref", "")).rsplit("/", 1)[-1]
        inner = self.definitions.get(name, {})
        if name in self.described or "properties" not in inner:
            return []
        self.described.add(name)
        return self.of(inner, f"{path}.")

    def _unit(self, field: str, of: Json) -> str:
        return str(of.get("x-unit", self._kind(field, _known(of)))) + (" or null" if _is_nullable(of) else "")

    def _kind(self, field: str, of: Json) -> str:
        if "$ref" in of:
            return "object" if "properties" in self.definitions[of["$ref"].rsplit("/", 1)[-1]] else "text"
        kind = next(kind for kind in _kinds(of) if kind != "null")
        if kind == "array":
            items = of["items"]
            if "$ref" in items:
                return "list"
            return "list of " + ("text" if items["type"] == "string" else "numbers")
        if "additionalProperties" in of:
            return "map"
        if (of.get("minimum"), of.get("maximum")) == (0, 1):
            return "0 to 1"
        named = (unit for end, unit in UNITS if field.endswith(end) or field == end.removeprefix("_"))
        return next(named, PLAIN[kind]) if kind == "number" else PLAIN[kind]


def _kinds(of: Json) -> list[str]:
    kinds = of.get("type", [])
    return [kinds] if isinstance(kinds, str) else kinds


def _known(of: Json) -> Json:
    """Return what a value is when it is not null."""
    choices = [choice for choice in of.get("anyOf", ()) if choice.get("type") != "null"]
    return choices[0] if choices else of


def _is_nullable(of: Json) -> bool:
    return "null" in _kinds(of) or any(choice.get("type") == "null" for choice in of.get("anyOf", ()))
