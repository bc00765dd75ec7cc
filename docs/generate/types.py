"""The Python types of a scenario, from its JSON Schema."""

import keyword
from typing import Any

Json = dict[str, Any]

HEAD = '''"""A scenario as Python sees it. Made from the schema by `make types`; a test keeps it the same.

Quantities are text with a unit: `"64 KiB"`, `"8.5 ms"`, `"50 /s"`.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict
'''

PLAIN = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}


def module(schema: Json) -> str:
    """Return the source of a module that has a type for each definition of the schema."""
    names, made = sources({"ScenarioSpec": schema} | schema["$defs"])
    return HEAD + f"\n__all__ = [{names}]\n\n" + "\n\n".join(made) + "\n"


def sources(definitions: Json) -> tuple[str, list[str]]:
    """Return the names of definitions as `__all__` has them, and the source of each type."""
    made = _Made()
    for name, of in definitions.items():
        made.define(name, of)
    return ", ".join(f'"{name}"' for name in sorted(definitions)), made.sources


class _Made:
    """Collects the sources of types; a map within a type becomes a type of its own."""

    def __init__(self) -> None:
        self.sources: list[str] = []

    def define(self, name: str, of: Json) -> None:
        if "properties" in of:
            self._class(name, of)
        else:
            self.sources.append(f'{name}: TypeAlias = "{self._type(of, name)}"' + _about(of, ""))

    def _class(self, name: str, of: Json) -> None:
        if any(keyword.iskeyword(field) for field in of["properties"]):
            return self._by_function(name, of)
        required = set(of.get("required", []))
        lines = [f"class {name}(TypedDict):", f'    """{flat(of.get("description", name))}"""', ""]
        for field, inner in of["properties"].items():
            kind = self._type(inner, name + field.title().replace("_", ""))
            lines.append(
                f"    {field}: {kind if field in required else f'NotRequired[{kind}]'}" + _about(inner, "    ")
            )
        self.sources.append("\n".join(lines))

    def _by_function(self, name: str, of: Json) -> None:
        """Define a type with a field such as `from`, which a class cannot have."""
        required = set(of.get("required", []))
        lines = [f"# {flat(of.get('description', name))}", f"{name} = TypedDict(", f'    "{name}",', "    {"]
        for field, inner in of["properties"].items():
            kind = self._type(inner, name + field.title().replace("_", ""))
            about = flat(inner.get("description", ""))
            lines += [f"        # {about}"] if about else []
            lines.append(f'        "{field}": "{kind if field in required else f"NotRequired[{kind}]"}",')
        self.sources.append("\n".join([*lines, "    },", ")"]))

    def _type(self, of: Json, name: str) -> str:
        if "$ref" in of:
            return f'"{of["$ref"].rsplit("/", 1)[-1]}"'.strip('"')
        if "const" in of:
            return f"Literal['{of['const']}']"
        if choices := of.get("oneOf") or of.get("anyOf"):
            kinds = [self._type(choice, _choice_name(choice, name, at)) for at, choice in enumerate(choices)]
            return " | ".join(dict.fromkeys(kinds))
        if "properties" in of:
            self._class(name, of)
            return name
        kinds = of["type"] if isinstance(of["type"], list) else [of["type"]]
        return " | ".join(self._plain(kind, of, name) for kind in kinds)

    def _plain(self, kind: str, of: Json, name: str) -> str:
        if kind == "array" and "prefixItems" in of:
            return f"list[{' | '.join(self._type(item, name) for item in of['prefixItems'])}]"
        if kind == "array":
            return f"list[{self._type(of['items'], name + 'Item')}]"
        if kind == "object":
            return f"dict[str, {self._type(of['additionalProperties'], name + 'Value')}]"
        return PLAIN[kind]


def _choice_name(choice: Json, name: str, at: int) -> str:
    fields = choice.get("properties", {})
    word = fields["type"]["const"] if "type" in fields else next(iter(fields), str(at))
    return name + str(word).title().replace("_", "")


def _about(of: Json, indent: str) -> str:
    return f'\n{indent}"""{flat(of["description"])}"""' if "description" in of else ""


def flat(text: str) -> str:
    """Return a text in one line."""
    return " ".join(text.split())
