"""Design of an experiment: a scenario, the parameters that vary, and the resulting points."""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from headrace import _core
from headrace._core import ScenarioError
from headrace.arguments import whole
from headrace.errors import read_text, refusal
from headrace.experiment import formula
from headrace.experiment.objective import measuring, objective
from headrace.experiment.precision import Precision, measured
from headrace.scenario import Scenario, load

Json = dict[str, Any]
Value = str | int | float | bool

# Maximum number of points of an experiment.
MOST_POINTS = 1_000_000


@dataclass(frozen=True)
class Point:
    """Values put in the places of a scenario."""

    values: Mapping[str, Value]

    @cached_property
    def key(self) -> str:
        """A name that these values have everywhere."""
        return hashlib.sha256(json.dumps(dict(self.values), sort_keys=True).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        return ", ".join(f"{short(place, self.values)} = {value}" for place, value in self.values.items())


def short(place: str, among: Sequence[str] | Mapping[str, Any]) -> str:
    """Return as much of the end of a place as tells it from the others.

    >>> short("system.a.disks", ["system.a.disks", "system.b.disks"]), short("run.seed", ["run.seed"])
    ('a.disks', 'seed')
    """
    steps = place.split(".")
    for many in range(1, len(steps)):
        end = ".".join(steps[-many:])
        if sum(other == end or other.endswith(f".{end}") for other in among) == 1:
            return end
    return place


@dataclass(frozen=True)
class Experiment:
    """A scenario, its points, how often each is run, and how sure the answer is to be."""

    scenario: Scenario
    points: tuple[Point, ...]
    replications: int = 5
    precision: Precision | None = None
    places: tuple[str, ...] = field(default=())
    metrics: tuple[str, ...] = ()
    """Metrics that are asked for, such as `p99(users)`; none for those that the table chooses."""

    def __post_init__(self) -> None:
        """Raise `ValueError` if a number cannot be one of runs."""
        whole(replications=self.replications)

    def asking(self, metrics: Sequence[str]) -> "Experiment":
        """Return the experiment whose runs measure these metrics, which its table then shows."""
        asked = [objective(text, bounded=False) for text in metrics]
        return replace(self, scenario=measuring(self.scenario, asked), metrics=tuple(metrics))

    def with_replications(self, replications: int | None, precision: Precision | None) -> "Experiment":
        """Return the experiment with as many, or as precise, where either is given."""
        changed = self
        if precision:
            changed = replace(self, precision=precision, scenario=measured(self.scenario, precision))
        return replace(changed, replications=replications) if replications else changed

    def inputs(self) -> list[Path]:
        """Return the files that its scenario is read from; at a point of it, where it can be read only there."""
        for values in ({}, *(point.values for point in self.points[:-1])):
            with suppress(ScenarioError):
                return self.scenario.with_(values).inputs()
        return self.scenario.with_(self.points[-1].values).inputs()


def varied(
    scenario: Scenario,
    vary: Mapping[str, Any],
    *,
    design: str | Mapping[str, Any] = "grid",
    derive: Mapping[str, str] | None = None,
    replications: int = 5,
    precision: Precision | None = None,
) -> Experiment:
    """Return the experiment that varies a scenario: for each place a list of values, or a range from one to another.

    >>> clerk = Scenario("system: {clerk: {type: station, service: 8 ms}}")
    >>> seeds = {"from": 1, "to": 3, "points": 3}
    >>> varied(clerk, {"system.clerk.service": ["1 ms", "2 ms"], "run.seed": seeds}).points[3]
    Point(values={'system.clerk.service': '2 ms', 'run.seed': 1})
    """
    derive = derive or {}
    refuse_no_axes(scenario.file, vary)
    if "run.replications" in vary:
        raise refusal(scenario.file, "`run.replications` cannot vary", "say how many with `replications`")
    for place in vary:
        if place in scenario.changes:
            raise refusal(scenario.file, f"`{place}` is both varied and set", "leave one of them out")
    try:
        points = [Point(_derived(values, derive)) for values in _combined(vary, design)]
    except ValueError as error:
        raise refusal(scenario.file, str(error), "correct `vary` or `derive`") from None
    unique = tuple(dict.fromkeys(point.key for point in points))
    by_key = {point.key: point for point in points}
    places = (*vary, *derive)
    return Experiment(scenario, tuple(by_key[key] for key in unique), replications, precision, places)


def _derived(values: Json, derive: Mapping[str, str]) -> Json:
    values = dict(values)
    for place, text in derive.items():
        values[place] = formula.evaluate(text, values)
    return values


def _combined(vary: Mapping[str, Any], design: str | Mapping[str, Any]) -> list[Json]:
    """Return the values of each point."""
    if isinstance(design, Mapping):
        return _latin_hypercube(vary, int(design["latin_hypercube"]["points"]))
    columns = [values_of(axis) for axis in vary.values()]
    for place, column in zip(vary, columns, strict=True):
        if not column:
            raise ValueError(f"`{place}` has no values")
    if design == "grid" and math.prod(map(len, columns)) > MOST_POINTS:
        raise ValueError(f"these are {math.prod(map(len, columns)):,} points, and {MOST_POINTS:,} are the most")
    if design == "list":
        lengths = {place: len(column) for place, column in zip(vary, columns, strict=True)}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"a list needs as many values in each place, and there are {lengths}")
        rows: Any = zip(*columns, strict=True)
    else:
        rows = itertools.product(*columns)
    return [dict(zip(vary, row, strict=True)) for row in rows]


def refuse_no_axes(file: str, vary: object) -> None:
    """Refuse what does not say which field has which values, such as a text that is for the command line."""
    if not isinstance(vary, Mapping):
        help_ = 'give each field its values: `{"system.tds.disks": [4, 8]}`'
        raise refusal(file, f"{vary!r} does not say which field varies", help_)


def levels(file: str, vary: Mapping[str, Any]) -> dict[str, list[Value]]:
    """Return the values of every axis; refuse one that has none."""
    refuse_no_axes(file, vary)
    found = {}
    for place, axis in vary.items():
        try:
            found[place] = values_of(axis)
        except ValueError as error:
            raise refusal(file, f"`{place}`: {error}", "correct its range") from None
    return found


def values_of(axis: Any) -> list[Value]:
    """Return the values of an axis: those listed, or as many as its range has points."""
    if not isinstance(axis, Mapping):
        return _listed(axis)
    points = int(axis.get("points", 5))
    if not 2 <= points <= MOST_POINTS:
        raise ValueError(f"a range has 2 to {MOST_POINTS:,} points, not {points:,}")
    shares = [at / (points - 1) for at in range(points)]
    return list(_between(axis, shares))


def _between(axis: Mapping[str, Any], shares: list[float]) -> Sequence[Value]:
    """Return the values at these shares of a range; raise `ValueError` where they are too large to be numbers."""
    try:
        return formula.between(axis["from"], axis["to"], shares, log=axis.get("scale") == "log")
    except OverflowError:
        raise ValueError("a range ends beyond 1.8e308, the largest number") from None


def _listed(axis: Any) -> list[Value]:
    """Return values that are listed; numbers of numpy are plain ones."""
    if isinstance(axis, str) or not isinstance(axis, Iterable):
        raise ValueError(f"{axis!r} is one value; give a list of values, or a range")
    return [value.tolist() if hasattr(value, "tolist") else value for value in axis]


def _latin_hypercube(vary: Mapping[str, Any], points: int) -> list[Json]:
    """Return points of which each range has one in each of as many parts (McKay, Beckman and Conover 1979)."""
    from scipy.stats import qmc

    shares = qmc.LatinHypercube(len(vary), rng=0).random(points)
    return [
        {place: _at_share(axis, float(share)) for (place, axis), share in zip(vary.items(), row, strict=True)}
        for row in shares
    ]


def _at_share(axis: Any, share: float) -> Value:
    if isinstance(axis, Mapping):
        return _between(axis, [share])[0]
    values = _listed(axis)
    return values[min(int(share * len(values)), len(values) - 1)]


def read(file: str | Path, changes: Mapping[str, object] | None = None) -> Experiment:
    """Read the document of an experiment; raise `ScenarioError` with what is wrong with it."""
    document = json.loads(_core.experiment(read_text(file), str(file)))
    precision = document.get("precision")
    scenario = load(Path(file).parent / document["scenario"]).with_(changes or {})
    return varied(
        scenario,
        document["vary"],
        design=document["design"],
        derive=document["derive"],
        replications=document["replications"],
        precision=precision
        and Precision(float(precision["within"]), tuple(precision["metrics"]), int(precision["budget"])),
    )


RANGE = re.compile(r"(?P<from>.+?)\s*\.\.\s*(?P<to>[^.].*?)\s*/\s*(?P<points>\d+)\s*(?P<scale>log)?")
EVERY = re.compile(r"(?P<from>\d{1,9})\s*\.\.\s*(?P<to>\d{1,9})")
# Maximum number of values of a range of every whole number.
MOST_EVERY = 100


def axis(text: str) -> Any:
    """Return the values that the command line names: `64 KiB, 128 KiB`, or `8 KiB .. 1 MiB / 8 log`.

    >>> axis("64 KiB, {closed: {depth: 1, think: 2 ms}}, 7")
    ['64 KiB', '{closed: {depth: 1, think: 2 ms}}', 7]
    >>> axis("8 KiB..1 MiB/8 log")
    {'from': '8 KiB', 'to': '1 MiB', 'points': 8, 'scale': 'log'}
    >>> axis("8..12")
    [8, 9, 10, 11, 12]
    """
    if found := RANGE.fullmatch(text.strip()):
        ends = {end: scalar(found[end]) for end in ("from", "to")}
        return ends | {"points": int(found["points"]), "scale": found["scale"] or "linear"}
    if (found := EVERY.fullmatch(text.strip())) and 0 <= int(found["to"]) - int(found["from"]) < MOST_EVERY:
        return list(range(int(found["from"]), int(found["to"]) + 1))
    if found := re.fullmatch(r"\s*(\d+)\s*-\s*(\d+)\s*", text):
        raise ValueError(f"`{text.strip()}` is no range: write `{found[1]}..{found[2]}`")
    if ".." in text:
        raise ValueError(
            f"`{text.strip()}` is an invalid range: write FROM..TO/N, such as `8 KiB..1 MiB/8 log`, or `8..12` for "
            f"every whole number, at most {MOST_EVERY}"
        )
    values, depth, begin = [], 0, 0
    for at, letter in enumerate(text + ","):
        depth += (letter in "{[(") - (letter in "}])")
        if letter == "," and depth == 0:
            if not text[begin:at].strip():
                raise ValueError(f"`{text.strip()}` has an empty value")
            values.append(scalar(text[begin:at]))
            begin = at + 1
    return values


def scalar(text: str) -> Value:
    """Return a value of the command line: a number, truth, or text."""
    text = text.strip()
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text, text)
