"""An option that no command has, but which is a field of the scenario: what to write instead."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from headrace._core import ScenarioError

# More places than this are not worth reading.
MOST_PLACES = 3


def instead(option: str, arguments: Sequence[str]) -> str:
    """Return the `--set` that an unknown option was perhaps meant to be; nothing if the scenario has no such field."""
    name = option.lstrip("-").replace("-", "_")
    places = [place for place in _places(arguments) if place.rpartition(".")[2] == name][:MOST_PLACES]
    value = _value(option, arguments)
    return " or ".join(f"`--set {place}={value}`" for place in dict.fromkeys(places))


def _value(option: str, arguments: Sequence[str]) -> str:
    """Return what was given to the option, behind it or behind its equals sign."""
    for argument, after in zip(arguments, [*arguments[1:], "VALUE"], strict=True):
        if argument == option:
            return after
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return "VALUE"


def _places(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the places of all fields of `run`, and of what the scenario among the arguments has."""
    from headrace import scenario

    yield from (f"run.{name}" for name in scenario.schema()["$defs"]["RunSpec"]["properties"])
    for file in (Path(one) for one in arguments if one.endswith((".yaml", ".yml"))):
        with suppress(ScenarioError):
            yield from _within(scenario.load(file).filled(), "")


def _within(node: Any, at: str) -> Iterator[str]:
    for name, inner in node.items() if isinstance(node, dict) else ():
        yield f"{at}{name}"
        yield from _within(inner, f"{at}{name}.")
