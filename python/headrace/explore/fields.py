"""Fields of a scenario that can be changed: each number as a slider, each choice as a list.

A field is its stops: the values that its slider goes through, written as a scenario has them. So a position is always a
value, and nothing is rounded.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headrace.written import UNITS, number, written

Json = dict[str, Any]
Value = str | int | float | bool

# A quantity without bounds goes from a tenth of what it is to ten times that, in steps of equal ratio.
AROUND, STEPS = 10.0, 20
# A size goes from a sixteenth to sixteen times, by powers of two: stripe units and caches are.
OCTAVES = 4
# Up to this number of whole numbers each has a stop.
MOST_WHOLE = 120
SECTOR = 512
# The types of the schema that stand for a device by its name, and the kind of component that it is for.
DEVICES = {"DiskField": "disk", "SsdField": "ssd", "VolumeField": "limiter", "TapeDriveField": "tape_library"}
# A number of a device, with where it comes from; a file can have the number alone in its place.
SOURCED = {"value", "source", "estimate"}
# What is nothing goes up from there: to 20 ms, 1 GiB, 100 MB/s, 100 /s.
FROM_NOTHING: dict[str, list[float]] = {
    "time": [5e5 * at for at in range(41)],
    "size": [4096.0 * 4**at for at in range(10)],
    "data rate": [5e6 * at for at in range(21)],
    "frequency": [5.0 * at for at in range(21)],
    "frequency or zero": [5.0 * at for at in range(21)],
}


@dataclass(frozen=True)
class Field:
    """A place of a scenario whose value can be changed."""

    place: str
    """As `--set` has it: `system.volume.disks`."""
    kind: str
    """`time`, `size`, `data rate`, `frequency`, `frequency or zero`, `share`, `whole number`, `number`, or `choice`."""
    stops: tuple[Value, ...]
    """The values that can be chosen; in order, unless it is a `choice`."""
    at: int
    """Index of the present value among the stops."""
    about: str
    """Description, from the schema."""

    @property
    def value(self) -> Value:
        """Present value."""
        return self.stops[self.at]

    @property
    def group(self) -> str:
        """Path of its parent: `system.volume`, `workload.readers`, `run`."""
        steps = self.place.split(".")
        return steps[0] if steps[0] == "run" else ".".join(steps[:2])

    @property
    def name(self) -> str:
        """Its name within its group."""
        return self.place.removeprefix(f"{self.group}.").replace("_", " ").replace(".", " · ")


def fields(filled: Json, schema: Json, devices: Callable[[str], Sequence[str]]) -> list[Field]:
    """Return what can be changed in a scenario, in the order of its document.

    `filled` is the scenario with its defaults, `schema` that of scenarios, `devices` gives the names of
    those in reach that are for a kind of component.
    """
    return list(_Walk(schema, devices).walk(filled, schema, ""))


class _Walk:
    """Goes through a document and its schema side by side."""

    def __init__(self, root: Json, devices: Callable[[str], Sequence[str]]) -> None:
        self.root, self.devices = root, devices

    def walk(self, value: Any, schema: Json, place: str, about: str = "") -> Iterator[Field]:
        about = schema.get("description", about)
        kind = DEVICES.get(schema.get("$ref", "").rpartition("/")[2])
        if kind and isinstance(value, str):
            yield _chosen(place, value, self.devices(kind), about)
            return
        choices = list(self.choices(schema))
        if isinstance(value, dict) and value.keys() <= SOURCED and "value" in value:
            yield from _scalar(place, value["value"], choices, about)
        elif isinstance(value, dict):
            yield from self.within(value, choices, place)
        elif isinstance(value, list):
            items = next((choice["items"] for choice in choices if "items" in choice), None)
            for at, one in enumerate(value):
                yield from self.walk(one, items or {}, f"{place}.{at}")
        else:
            yield from _scalar(place, value, choices, about)

    def within(self, value: Json, choices: list[Json], place: str) -> Iterator[Field]:
        """Give the fields of a mapping, by the one of its possible schemas that it follows."""
        of = next((choice for choice in choices if _follows(value, choice)), {})
        for name, inner in value.items():
            schema = of.get("properties", {}).get(name) or of.get("additionalProperties")
            if isinstance(schema, dict):
                yield from self.walk(inner, schema, f"{place}.{name}" if place else name, of.get("description", ""))

    def choices(self, schema: Json) -> Iterator[Json]:
        """Give the plain schemas among which a schema lets one choose, references followed."""
        if "$ref" in schema:
            yield from self.choices(self.root["$defs"][schema["$ref"].rsplit("/", 1)[-1]])
        elif inner := schema.get("oneOf") or schema.get("anyOf"):
            for choice in inner:
                yield from self.choices(choice)
        else:
            yield schema


def _follows(value: Json, schema: Json) -> bool:
    """Return true if a mapping has the fields of a schema, and the `type` where the schema names one."""
    properties = schema.get("properties", {})
    if "const" in properties.get("type", {}):
        return bool(value.get("type") == properties["type"]["const"])
    named = set(value) <= set(properties) and set(schema.get("required", [])) <= set(value)
    return schema.get("type") == "object" and (named or isinstance(schema.get("additionalProperties"), dict))


def _scalar(place: str, value: Any, choices: list[Json], about: str) -> Iterator[Field]:
    """Give the field of a number, a quantity or a name among several; of other text none."""
    words = [choice["const"] for choice in choices if "const" in choice]
    if isinstance(value, bool):
        yield _chosen(place, value, [False, True], about)
    elif value in words and len(words) > 1:
        yield _chosen(place, value, words, about)
    elif quantity := next((choice for choice in choices if choice.get("x-unit") in UNITS), None):
        if value is not None:
            yield _quantity(place, value, quantity["x-unit"], about)
    elif isinstance(value, int | float):
        yield _plain(place, value, next((one for one in choices if "minimum" in one or "maximum" in one), {}), about)


def _chosen(place: str, value: Value, choices: Sequence[Value], about: str) -> Field:
    stops = tuple(choices) if value in choices else (value, *choices)
    return Field(place, "choice", stops, stops.index(value), about)


def _quantity(place: str, value: Value, kind: str, about: str) -> Field:
    present = number(kind, value)
    if kind == "share" and present <= 1:
        numbers = [at / 100 for at in range(101)]
    elif present <= 0:
        numbers = FROM_NOTHING[kind]
    elif kind == "size":
        numbers = [present * 2.0**octave for octave in range(-OCTAVES, OCTAVES + 1)]
        numbers = [one for one in numbers if one >= min(SECTOR, present) and one.is_integer()]
    else:
        numbers = _around(present)
    return _ordered(place, kind, present, numbers, about)


def _around(present: float) -> list[float]:
    steps = range(-STEPS, STEPS + 1)
    return [float(f"{present * AROUND ** (step / STEPS):.3g}") for step in steps]


def _plain(place: str, value: float, schema: Json, about: str) -> Field:
    least, most = schema.get("minimum", -math.inf), schema.get("maximum", math.inf)
    if isinstance(value, int):
        low, high = max(least, 0), min(most, max(4 * value, 10))
        few = high - low <= MOST_WHOLE
        numbers = [*range(int(low), int(high) + 1)] if few else [round(one) for one in _around(value)]
        return _ordered(place, "whole number", value, [one for one in numbers if least <= one <= most], about)
    numbers = _around(value) if value > 0 else [at / 10 for at in range(41)]
    return _ordered(place, "number", value, [one for one in numbers if least <= one <= most], about)


def _ordered(place: str, kind: str, present: float, numbers: Sequence[float], about: str) -> Field:
    """Return a field whose stops are these numbers in order, with what it is among them."""
    ordered = sorted({*numbers, present})
    plain = kind in ("number", "whole number")
    stops: tuple[Value, ...] = tuple(one if plain else written(kind, one) for one in ordered)
    return Field(place, kind, stops, ordered.index(present), about)
