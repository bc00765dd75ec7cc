"""A field of a scenario whose value is known only within bounds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace import _core
from headrace.devices import catalogue
from headrace.errors import refusal
from headrace.scenario import Scenario
from headrace.written import written

# A value that was written with few digits lies at a bound all the same.
ROUNDED = 1e-6
# What a quantity can be, with its base unit; a share is a number from 0 to 1, whether or not it is written in per cent.
KINDS = {"time": "ns", "size": "B", "data rate": "B/s", "frequency": "/s", "share": "%"}
# Base units that are not divided.
WHOLE = ("ns", "B")


@dataclass(frozen=True)
class Parameter:
    """A field of a scenario, with bounds of its value as numbers in `unit`."""

    path: str
    low: float
    high: float
    unit: str
    was: Any = None

    @property
    def logarithmic(self) -> bool:
        """True if the search steps by ratios."""
        return self.low > 0

    def value(self, at: float) -> float:
        """Return the value at a place from 0 to 1 between the bounds."""
        if self.logarithmic:
            return float(self.low * (self.high / self.low) ** at)
        return self.low + (self.high - self.low) * at

    def place(self, value: float) -> float:
        """Return where a value lies between the bounds, from 0 to 1."""
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def number(self, text: str) -> float:
        """Return a value in `unit`; raise `ScenarioError` where it has another."""
        number, _, unit = _ends(text, text.strip(), text.strip())
        if unit != self.unit:
            raise refusal(
                text, f"`{text.strip()}` is not in {self.unit or 'plain numbers'}", "write it as its interval"
            )
        return number

    def slope(self, at: float) -> float:
        """Return by how much the value changes with the place."""
        return self.value(at) * math.log(self.high / self.low) if self.logarithmic else self.high - self.low

    def written(self, at: float) -> Any:
        """Return the value as a scenario has it.

        >>> law = Parameter("system.drive.service", 50e3, 500e3, "ns")
        >>> law.written(0.0), law.written(0.5), Parameter("system.bus.rate", 1e8, 2e8, "B/s").written(1.0)
        ('50 us', '158.114 us', '200 MB/s')
        """
        value = float(f"{self.value(at):.8g}")
        return in_unit(self.unit, round(self.value(at)) if self.unit in WHOLE else value)


def in_unit(unit: str, value: float) -> Any:
    """Return a number of a base unit as a scenario has it; the number itself where it has no unit."""
    kind = next((kind for kind, base in KINDS.items() if base == unit), None)
    return value if kind is None else written(kind, value)


def parameter(given: str, scenario: Scenario) -> Parameter:
    """Return what `PATH=LOW..HIGH` says, such as `system.drive.service=50 us..500 us`."""
    path, equals, span = (part.strip() for part in given.partition("="))
    low, dots, high = (part.strip() for part in span.partition(".."))
    if not (path and equals and dots and low and high):
        raise refusal(given, f"`{given}` is not PATH=LOW..HIGH", "write it as system.drive.service=50 us..500 us")
    ends = _ends(given, low, high)
    if not ends[0] < ends[1]:
        raise refusal(given, f"`{given}`: {low} is not below {high}", "give the smaller bound first")
    was = _value_at(scenario.filled(), path, Path(scenario.file).parent)
    if isinstance(was, int) and not isinstance(was, bool):
        told = f"`{path}` is a whole number; least squares needs one that can change a little"
        raise refusal(given, told, f"try values one by one: headrace validate with {path} set, or headrace optimise")
    found = Parameter(path, *ends, was=was)
    for end in (0.0, 1.0):
        scenario.with_({path: found.written(end)})
    return found


def _ends(given: str, low: str, high: str) -> tuple[float, float, str]:
    for kind, unit in ({"": ""} | KINDS).items():
        try:
            ends = [_core.quantity(kind, text) if kind else float(text) for text in (low, high)]
        except ValueError:
            continue
        if all(math.isfinite(end) for end in ends):
            return ends[0], ends[1], unit
    told = f"`{given}`: `{low}` and `{high}` are not two quantities of one kind"
    raise refusal(
        given, told, "give both with a unit: times, sizes, data rates, frequencies, per cent; or as plain numbers"
    )


def _value_at(document: Any, path: str, beside: Path) -> Any:
    """Return what stands in a document, or None: what has a default may be absent, and `--set` can go deeper.

    A device may be a name, of a file in the folder `beside` or of the catalogue. Its numbers have their origin beside
    their value.
    """
    before = ""
    for step in path.split("."):
        if before == "device" and isinstance(document, str):
            document = catalogue.numbers(document, beside)
        before = step
        if not isinstance(document, Mapping) or step not in document:
            return None
        document = document[step]
    if isinstance(document, Mapping):
        document = document.get("value")
    return None if isinstance(document, Mapping | list) else document


def place_of(one: Parameter) -> float | None:
    """Return where the value of the scenario lies between the bounds, from 0 to 1; None if it has none between them."""
    if one.was is None:
        return None
    try:
        value = _ends("", str(one.was), str(one.was))[0]
    except _core.ScenarioError:
        return None
    at = one.place(value) if value > 0 or not one.logarithmic else -1.0
    return min(max(at, 0.0), 1.0) if -ROUNDED <= at <= 1 + ROUNDED else None
