"""The largest load that a system carries within stated objectives."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any

from headrace.experiment.design import Experiment, Point, Value
from headrace.experiment.engines import Engine
from headrace.experiment.formula import Quantity, quantity
from headrace.experiment.objective import Objective, objective
from headrace.experiment.rounds import Interrupted, Watch, run
from headrace.experiment.table import Table
from headrace.mistakes import refusal
from headrace.scenario import Scenario, load

Json = dict[str, Any]

# Each decision is right with so much confidence that a hundred for each objective are with 95 % together: some twenty
# loads, at each of which the intervals are looked at four times. More are seldom made.
DECISIONS = 100
# So often a load is halved or doubled: a thousandth of what is there, or a thousand times as much, and no further.
STEPS = 11
CONFIDENCE = 0.95
NEVER_IDLE = "a component was never idle"

# Sizes are told in whole sectors.
SECTOR = 512


@dataclass
class Probe:
    """A load that was tried."""

    load: Value
    number: float
    carried: bool | None
    """None where the replications do not tell."""
    found: dict[str, tuple[float, float]]
    """The numbers asked for, with the half-widths by which they were judged."""
    why: str | None = None
    """Why it cannot be run at all."""
    busiest: tuple[str, float] | None = None
    """The component that is busiest there."""


@dataclass
class Capacity:
    """A bracket: the largest load known to be carried, and the smallest known not to be."""

    path: str
    until: tuple[str, ...]
    carried: Probe | None
    exceeded: Probe | None
    probes: list[Probe] = field(default_factory=list)
    interrupted: bool = False
    """Whether the search was ended before its end."""

    @property
    def answer(self) -> str:
        """The bracket in a sentence, and what saturates there."""
        until = " or ".join(self.until)
        if self.carried is None:
            least = min(self.probes, key=lambda probe: probe.number)
            if least.carried is None:
                return f"Whether {self.path} = {least.load} is carried, its replications do not tell ({until})."
            return f"Even {self.path} = {least.load} is too much: {least.why or until}."
        if self.exceeded is None and self.interrupted:
            return f"{self.path} = {self.carried.load} is carried, and more was not tried yet."
        if self.exceeded is None:
            most = max(self.probes, key=lambda probe: probe.number)
            if most.carried is None:
                return f"{self.path} = {self.carried.load} is carried; of {most.load} the replications do not tell."
            return f"{self.path} = {self.carried.load} is carried, and nothing more was to be tried."
        why = self.exceeded.why if self.exceeded.why else until
        said = f"{self.path} is carried up to {self.carried.load}, and not at {self.exceeded.load} ({why})"
        busiest = self.carried.busiest
        said += f"; busiest there is {busiest[0]}, {busiest[1]:.0%}" if busiest else ""
        return f"{said}. {CONFIDENCE:.0%} confidence, {len(self.probes)} loads tried."


def capacity(
    scenario: Scenario | str | Path,
    increase: str,
    until: str | Sequence[str],
    *,
    least: Value | None = None,
    most: Value | None = None,
    within: float = 0.02,
    replications: int = 5,
    budget: int = 40,
    engine: Engine | None = None,
    store: str | Path | None = None,
    watch: Watch | None = None,
) -> Capacity:
    """Seek the largest value of `increase` with which no objective of `until` is passed, by bisection.

    It begins at `least` (default: what the scenario has), doubles until something is passed or `most` is reached, and
    halves the bracket until its ends are `within` that share of each other. A load is judged when the interval of each
    number lies on one side of its bound; until then replications are added, `budget` at most, and where they do not
    tell, the bracket stays as wide as what is known. A load that cannot be borne at all counts as passed. Ctrl-C raises
    `Interrupted` with the bracket so far.
    """
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    asked = tuple(objective(text, bounded=True) for text in ([until] if isinstance(until, str) else until))
    search = _Search(loaded, increase, asked, max(replications, 2), budget, engine, store, watch)
    begin = search.number(least if least is not None else search.present())
    end = search.number(most, like=begin) if most is not None else None
    texts = tuple(one.text for one in asked)
    try:
        search.bracket(begin, end)
        search.narrow(within)
    except KeyboardInterrupt:
        found = Capacity(increase, texts, *search.ends(), search.probes, interrupted=True) if search.probes else None
        raise Interrupted(found) from None
    return Capacity(increase, texts, *search.ends(), search.probes)


@dataclass
class _Search:
    scenario: Scenario
    path: str
    asked: tuple[Objective, ...]
    replications: int
    budget: int
    engine: Engine | None
    store: str | Path | None
    watch: Watch | None
    probes: list[Probe] = field(default_factory=list)
    powers: tuple[int, int] = (0, 0)
    whole: bool = False

    def present(self) -> Value:
        """Return what the scenario has in the place that is increased."""
        node: Any = self.scenario.check()
        for step in self.path.split("."):
            node = node.get(step) if isinstance(node, dict) else None
        if node is None:
            self.scenario.with_({self.path: 1}).check()  # Refuses a misspelt path, with what was perhaps meant.
        if not isinstance(node, str | int | float):
            raise refusal(self.scenario.file, f"`{self.path}` is no number or quantity there", "say `--from`")
        return node

    def number(self, value: Value, like: float | None = None) -> float:
        try:
            read = quantity(value)
        except ValueError as error:
            raise refusal(self.scenario.file, f"`{self.path}`: {error}", "give a number or a quantity") from None
        if read.number <= 0:
            raise refusal(self.scenario.file, f"`{self.path}` is {value}", "a load is more than zero")
        if like is None:
            self.powers, self.whole = read.powers, isinstance(value, int)
        elif read.powers != self.powers or read.number <= like:
            raise refusal(self.scenario.file, f"`{self.path}` cannot grow to {value}", "give more of the same kind")
        return read.number

    def value(self, number: float) -> Value:
        grain = 1 if self.whole else SECTOR if self.powers == (1, 0) and number >= 64 * SECTOR else 0
        rounded = float(round(number / grain) * grain) if grain else float(f"{number:.6g}")
        return Quantity(rounded, self.powers).text()

    def is_narrow(self, low: Probe, high: Probe, within: float) -> bool:
        return high.number / low.number <= 1 + within or (self.whole and high.number - low.number <= 1)

    def ends(self) -> tuple[Probe | None, Probe | None]:
        """Return the largest load known to be carried, and the smallest known not to be."""
        carried = [probe for probe in self.probes if probe.carried]
        exceeded = [probe for probe in self.probes if probe.carried is False]
        by_load = attrgetter("number")
        return max(carried, key=by_load, default=None), min(exceeded, key=by_load, default=None)

    def bracket(self, begin: float, most: float | None) -> None:
        """Find a load that is carried and one that is not, by halving or doubling from where it begins."""
        number = begin
        for _ in range(STEPS):
            probe = self.probe(number)
            low, high = self.ends()
            at_its_end = (probe.carried is not False and number == most) or (self.whole and number <= 1 and high)
            if (low and high) or at_its_end:
                break
            # What cannot be told is passed over upwards, unless something above is known to be too much.
            number = number / 2 if high else number * 2
            number = min(number, most) if most is not None else number

    def narrow(self, within: float) -> None:
        """Halve a bracket until it is narrow, or all that is left within is what replications do not tell."""
        while all(self.ends()):
            ends = next((gap for gap in self.gaps() if not self.is_narrow(*gap, within)), None)
            # Loads are whole, or differ in so few digits, that there may be none between.
            if ends is None or self.probe((ends[0].number * ends[1].number) ** 0.5) in ends:
                return

    def gaps(self) -> list[tuple[Probe, Probe]]:
        """Return what is not tried within the bracket: below and above those loads of which nothing is known."""
        low, high = self.ends()
        assert low
        assert high
        unknown = [one for one in self.probes if one.carried is None and low.number < one.number < high.number]
        if not unknown:
            return [(low, high)]
        by_load = attrgetter("number")
        return [(low, min(unknown, key=by_load)), (max(unknown, key=by_load), high)]

    def probe(self, number: float) -> Probe:
        """Try a load, with as many replications as tell, within the budget."""
        value = self.value(number)
        number = quantity(value).number
        for known in self.probes:
            if known.number == number:
                return known
        point, many = Point({self.path: value}), self.replications
        while True:
            probe = self._judged(value, number, point, many)
            if probe.carried is not None or many >= self.budget:
                break
            many = min(2 * many, self.budget)
        self.probes.append(probe)
        return probe

    def _judged(self, value: Value, number: float, point: Point, many: int) -> Probe:
        from scipy.special import stdtrit  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

        experiment = Experiment(self.scenario, (point,), max(many, 2), places=(self.path,))
        table = run(experiment, engine=self.engine, store=self.store, watch=self.watch)
        for record in table.of(point):
            if record["overloaded"]:
                return Probe(value, number, False, {}, record["reason"])
            if record["saturated"]:
                return Probe(value, number, False, {}, NEVER_IDLE, _busiest(table, point))
        if reason := table.reason(point):
            raise refusal(self.scenario.file, f"{point}: {reason}", "raise the limit, or seek below")
        widen = float(
            stdtrit(many - 1, 1 - (1 - CONFIDENCE) / 2 / DECISIONS / len(self.asked)) / stdtrit(many - 1, 0.975)
        )
        found, verdicts = {}, []
        for asked in self.asked:
            middle, half = table.mean(point, asked.metric(table.metrics)) or (0.0, None)
            found[asked.text] = middle, (half or 0.0) * widen
            ends = [asked.passes(middle + sign * found[asked.text][1]) for sign in (-1, 1)]
            verdicts.append(ends[0] if ends[0] == ends[1] else None)
        # One that is passed decides; otherwise all must be known not to be.
        passed = True if True in verdicts else None if None in verdicts else False
        return Probe(value, number, None if passed is None else not passed, found, busiest=_busiest(table, point))


def _busiest(table: Table, point: Point) -> tuple[str, float] | None:
    used = {
        metric.removesuffix(".utilisation"): mean[0]
        for metric in table.metrics
        if metric.endswith(".utilisation") and (mean := table.mean(point, metric))
    }
    return max(used.items(), key=lambda one: one[1]) if used else None


def as_json(found: Capacity) -> Json:
    """Return a capacity as `--json` prints it."""
    ends = {
        end: vars(probe) if probe else None for end, probe in (("carried", found.carried), ("exceeded", found.exceeded))
    }
    return {"answer": found.answer, "path": found.path, "until": list(found.until)} | ends | {
        "probes": [vars(probe) for probe in found.probes]
    }  # fmt: skip
