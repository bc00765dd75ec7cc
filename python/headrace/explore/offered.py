"""The fields that a design offers, with stops that stay where they are while one of them is moved."""

import functools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from headrace import _core
from headrace.explore.fields import Field, Json, fields
from headrace.scenario import Scenario, schema


def offered(scenario: Scenario, before: Mapping[str, Field] | None = None) -> dict[str, Field]:
    """Return the fields of a design by their places; raise `ScenarioError` where it cannot be read.

    A field whose value is one of its stops `before` keeps those: a slider that moves does not change its ends.
    """
    devices = json.loads(_core.device_names(str(Path(scenario.file).parent)))
    found = sorted(fields(scenario.filled(), _schema(), devices), key=_rank)
    return {one.place: kept(one, (before or {}).get(one.place)) for one in found}


# What one moves most comes first: the load, then what bears it.
ORDER = ("workload", "system", "parts", "faults", "run")


def _rank(field: Field) -> int:
    return ORDER.index(field.group.partition(".")[0])


@functools.cache
def _schema() -> Json:
    return schema()


def kept(field: Field, before: Field | None) -> Field:
    """Return a field with the stops that it had, where its value is one of them."""
    if before is None or field.value not in before.stops:
        return field
    return replace(field, stops=before.stops, at=before.stops.index(field.value))
