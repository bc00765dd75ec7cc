"""The text of a scenario with values put where they belong: comments and the order of lines stay."""

import json
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import yaml

from headrace._core import ScenarioError
from headrace.scenario import Scenario

Json = dict[str, Any]


def edited(scenario: Scenario) -> str:
    """Return the text of a scenario with its changes in it; written out where they do not fit in."""
    text = scenario.text
    try:
        for place, value in scenario.changes.items():
            text = _put(text, place.split("."), value)
        if Scenario(text, scenario.file).filled() == scenario.filled():
            return text
    except (yaml.YAMLError, LookupError, ValueError, ScenarioError):
        pass  # Anchors, several documents, streams of a job file: what is written out below is right for any text.
    about = takewhile(lambda line: line.startswith("#"), text.splitlines(keepends=True))
    return "".join(about) + yaml.safe_dump(scenario.filled(), sort_keys=False, allow_unicode=True)


def _put(text: str, steps: Sequence[str], value: object) -> str:
    """Return a document with the value at a place replaced or added."""
    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    within = list(steps)
    while within:
        inner = _inner(node, within[0])
        if inner is None:
            return _added(text, node, within, value)
        node, within = inner, within[1:]
    # The end of a block lies behind its last line break.
    end = len(text[: node.end_mark.index].rstrip())
    return text[: node.start_mark.index] + _flow(value) + text[end:]


def _inner(node: Any, step: str) -> Any:
    if isinstance(node, yaml.SequenceNode):
        return node.value[int(step)]
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == step), None)


def _added(text: str, node: Any, within: Sequence[str], value: object) -> str:
    """Return a document with a field added behind the others of a mapping."""
    if not isinstance(node, yaml.MappingNode):
        raise LookupError(f"nothing can be added to {text[node.start_mark.index : node.end_mark.index]}")
    for step in reversed(within[1:]):
        value = {step: value}
    field = f"{within[0]}: {_flow(value)}"
    if node.flow_style:
        end = node.end_mark.index - 1
        before = text[:end].rstrip()
        return before + (", " if node.value else "") + field + text[end:]
    last = node.value[-1][1].end_mark.index
    end = len(text[:last].rstrip())
    return f"{text[:end]}{_rest(text, end)}\n{' ' * node.start_mark.column}{field}{text[end + len(_rest(text, end)) :]}"


def _rest(text: str, end: int) -> str:
    """Return what follows on a line: a comment, if anything."""
    return text[end:].partition("\n")[0]


def _flow(value: object) -> str:
    """Return a value as it stands within a line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, str) and not set(value) & set(":#,[]{}&*!|>'\"@`") and yaml.safe_load(value) == value:
        return value
    return json.dumps(value)
