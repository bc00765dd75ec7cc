"""The fields that a design offers, with stops that stay where they are while one of them is moved."""

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from headrace import _core
from headrace._core import ScenarioError
from headrace.explore.fields import Field, Json, fields
from headrace.scenario import Scenario, schema


def offered(scenario: Scenario, before: Mapping[str, Field] | None = None) -> dict[str, Field]:
    """Return the fields of a design by their places; raise `ScenarioError` where it cannot be read.

    A field whose value is one of its stops `before` keeps those: a slider that moves does not change its ends.
    """
    folder = str(Path(scenario.file).parent)
    names = tuple(json.loads(_core.device_names(folder)))
    found = sorted(fields(scenario.filled(), _schema(), lambda kind: _devices(kind, names, folder)), key=_rank)
    return {one.place: kept(one, (before or {}).get(one.place)) for one in found}


# What one moves most comes first: the load, then what bears it.
ORDER = ("workload", "system", "parts", "faults", "rates", "run")


def _rank(field: Field) -> int:
    group = field.group.partition(".")[0]
    return ORDER.index(group) if group in ORDER else len(ORDER)


@functools.cache
def _devices(kind: str, names: tuple[str, ...], folder: str) -> list[str]:
    """Return which devices are for a kind of component: a scenario of one of them is valid."""
    return [name for name in names if _is_valid(kind, name, folder)]


def _is_valid(kind: str, name: str, folder: str) -> bool:
    system = {"a": {"type": kind, "device": name}, "b": {"type": "station", "service": "1 ms"}}
    if kind == "limiter":
        system["a"]["to"] = "b"
    stream = {"to": "a", "arrivals": {"poisson": "1 /s"}}
    try:
        Scenario(json.dumps({"system": system, "workload": {"b": stream}}), f"{folder}/one.yaml").check()
    except ScenarioError:
        return False
    return True


@functools.cache
def _schema() -> Json:
    return schema()


def kept(field: Field, before: Field | None) -> Field:
    """Return a field with the stops that it had, where its value is one of them."""
    if before is None or field.value not in before.stops:
        return field
    return replace(field, stops=before.stops, at=before.stops.index(field.value))
