"""Capacity: the largest or smallest value of a parameter that meets objectives, such as a load or a number of disks."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import _core
from headrace._core import ScenarioError
from headrace.arguments import above, whole
from headrace.charts.data import Spot
from headrace.errors import is_overload, refusal
from headrace.experiment.columns import column, with_unit
from headrace.experiment.design import Experiment, Point, Value
from headrace.experiment.engines import Engine
from headrace.experiment.formula import Quantity, quantity
from headrace.experiment.objective import Objective, implied, lost, measuring, objective, one_or_more, promised
from headrace.experiment.rounds import Watch, run, telling
from headrace.experiment.table import Table
from headrace.quantities import interval
from headrace.report import Chart, Report
from headrace.report import Table as Columns
from headrace.scenario import Scenario, load
from headrace.shown import InNotebook, written
from headrace.stopped import Interrupted

if TYPE_CHECKING:
    from altair.typing import ChartType

Json = dict[str, Any]

# Each verdict has the confidence with which a hundred verdicts on each objective hold together at 95 %: some twenty
# values, at each of which the intervals are looked at four times. More are seldom needed.
DECISIONS = 100
# A value is at most doubled or halved this often: the search covers a factor of a thousand each way.
STEPS = 10
CONFIDENCE = 0.95
VERDICTS = {True: "meets", False: "fails", None: "undecided"}
# Margins that differ by less than this share of the bound show no direction.
FLAT = 0.02
# The verdicts as a chart marks them.
SHAPES = {"meets": "circle", "fails": "cross", "undecided": "square"}
BEYOND = "by formulas, more load than is sustained in the long run"
# From this utilisation on, formulas are asked whether a load is sustained: a short run lives on what was saved.
FULL = 0.98

# Runs are made LONGER times as long, again and again, up to LONGEST times in all, while a cache fills, or while a
# verdict of "meets" rests on runs that are too short to be trusted.
LONGER, LONGEST = 4, 16

# Sizes are rounded to whole sectors.
SECTOR = 512


@dataclass
class Probe:
    """A value that was tried."""

    value: Value
    number: float
    meets: bool | None
    """True if the value meets all goals; `None` if undecided."""
    found: dict[str, tuple[float, float]]
    """The numbers asked for, with the half-widths by which they were judged."""
    why: str | None = None
    """Why it does not, where that is not a goal missed."""
    busiest: tuple[str, float] | None = None
    """The component that is busiest there."""
    slowest: str | None = None
    """Where the slowest requests spent most of their time, where a goal is about them."""
    margin: float = float("-inf")
    """How far it keeps within the goal it is nearest to missing, as a share of the bound; negative if it misses it."""
    unsettled: str | None = None
    """A component that was not yet in steady state there."""
    trusted: bool = True
    """False if runs there were too short to outweigh their empty start."""


@dataclass
class Capacity(InNotebook):
    """The value at which all goals begin, or cease, to be met: a bracket of two values, and all values tried."""

    path: str
    goals: tuple[Objective, ...]
    meets: Probe | None
    fails: Probe | None
    upper: tuple[Probe, Probe] | None = None
    """Upper bracket, if only values in the middle meet the goals: the largest that does, and the next that does not."""
    probes: list[Probe] = field(default_factory=list)
    interrupted: bool = False
    """True if the search was stopped before its end."""
    times: int = 1
    """Length of its runs, as a multiple of the scenario's: more than 1 if steady state took longer."""

    @property
    def until(self) -> tuple[str, ...]:
        """Objectives as they were written."""
        return tuple(one.text for one in self.goals)

    @property
    def answer(self) -> str:
        """The bracket in a sentence, and what is busiest there."""
        goals = " and ".join(one.goal for one in self.goals)
        said = self._window(goals) if self.upper else None
        said = said or (self._bracket(goals) if self.meets and self.fails else self._one_sided(goals))
        if self.times > 1:
            said += f" Runs were {self.times} times as long as the scenario's, to reach steady state."
        said += self._unsettled()
        if self.meets and not self.meets.trusted:
            said += f" Runs at {self.meets.value} may be too short: lengthen them."
        if self.interrupted:
            said += " The search was interrupted."
        return f"{said} {CONFIDENCE:.0%} confidence, {len(self.probes)} value{'s' * (len(self.probes) > 1)} tried."

    def _unsettled(self) -> str:
        """Say which values are undecided because a component was not yet in steady state."""
        unsettled = sorted((probe for probe in self.probes if probe.unsettled), key=attrgetter("number"))
        if not unsettled:
            return ""
        first, last = unsettled[0].value, unsettled[-1].value
        values = f"{first}" if len(unsettled) == 1 else f"{len(unsettled)} values from {first} to {last}"
        name = unsettled[0].unsettled
        if any(goal.bare == f"au({name})" for goal in self.goals):
            return f" At {values}, most batches of {name} were prefetched and not timed: give more `samples`."
        return f" {name} was not yet in steady state at {values}: lengthen the run."

    def __repr__(self) -> str:
        return f"<Capacity: {self.answer}>"

    def report(self, file: str | Path | None = None, *, title: str = "capacity") -> Report:
        """Return the report of the search; with `file`, write it as one HTML page: whole, or not at all."""
        done = f"capacity: which {self.path} meets {' and '.join(goal.goal for goal in self.goals)}"
        charts = [self._chart(goal) for goal in self.goals]
        table = Columns(*self.rows, heading="Values that were tried")
        return written(Report(title, self.answer, done, blocks=[*charts, table]), file)

    @property
    def rows(self) -> tuple[list[str], list[list[str]]]:
        """The values that were tried, in order, as columns and rows."""
        columns = {goal.text: column(goal, [probe.found for probe in self.probes]) for goal in self.goals}
        table = [
            [
                str(probe.value),
                VERDICTS[probe.meets] + (f": {probe.why.partition(': ')[0]}" if probe.why else ""),
                *(of.cell(*probe.found[text]) if text in probe.found else "—" for text, of in columns.items()),
                f"{probe.busiest[0]} {probe.busiest[1]:.0%}" if probe.busiest else "",
            ]
            for probe in sorted(self.probes, key=attrgetter("number"))
        ]
        goal = "goals" if len(self.goals) > 1 else "goal"
        return [self.path, goal, *(of.title for of in columns.values()), "bottleneck"], table

    def _chart(self, goal: Objective) -> Chart:
        return Chart(lambda: self._draw(goal), goal.bare, heading=f"Goal: {goal.goal}")

    def _draw(self, goal: Objective) -> "ChartType":
        """Draw what was found at each value that was tried, and the bound."""
        from headrace.charts import decisions

        of = column(goal, [probe.found for probe in self.probes])
        spots = [
            Spot(probe.number, middle, word, f"{probe.value}: {interval(middle, half)}, {word}", half)
            for probe in self.probes
            if goal.text in probe.found
            for (middle, half), word in [(map(of.of, probe.found[goal.text]), VERDICTS[probe.meets])]
        ]
        first = self.probes[0]
        field = with_unit(self.path, first.value, first.number)
        return decisions.spots(spots, field, of.title, SHAPES, bound=of.of(goal.bound or 0.0), sizes=True)

    def _bracket(self, goals: str) -> str:
        assert self.meets
        assert self.fails
        side = "at most" if self.meets.number < self.fails.number else "at least"
        one = self.meets.number == 1
        verb, negated = ("meets", "does not") if one or not self._noun(one) else ("meet", "do not")
        if self.fails.number == 1:
            negated = "does not"
        why = f" ({self.fails.why})" if self.fails.why else ""
        said = f"{side} {self.meets.value}{self._noun(one)} {verb} {goals}; {self.fails.value} {negated}{why}."
        said = said.capitalize() if self._noun(one) else f"{self.path}: {said}"
        if self._is_wide():
            said += " Values between them are undecided."
        if sum(a.meets != b.meets for a, b in pairwise(self._decided())) > 1:
            said += " The verdict changes more than once among the values tried: see the table."
        if self.fails.slowest:
            said += f" At {self.fails.value} {self.fails.slowest}."
        if self.meets.busiest:
            said += f" Bottleneck at {self.meets.value}: {self.meets.busiest[0]}, {self.meets.busiest[1]:.0%} busy."
        return said

    def _window(self, goals: str) -> str:
        """Say between which values the goals are met."""
        assert self.meets
        assert self.fails
        assert self.upper
        most, beyond = self.upper
        alone = most.number == self.meets.number
        met = f"{most.value} meets" if alone else f"{self.meets.value} to {most.value} meet"
        why = f" ({beyond.why})" if beyond.why else ""
        return f"{self.path}: {met} {goals}; {self.fails.value} and {beyond.value} do not{why}."

    def _noun(self, one: bool) -> str:
        """Return ` disks` of `system.tds.disks = 4`; nothing for what is not counted."""
        name = self.path.rpartition(".")[2]
        counted = name.endswith("s") and all(isinstance(probe.value, int) for probe in self.probes)
        return "" if not counted else f" {name.removesuffix('s')}" if one else f" {name}"

    def _one_sided(self, goals: str) -> str:
        """Say that all values tried meet the goals, or none does, or that nothing is known."""
        tried = sorted(self.probes, key=attrgetter("number"))
        unknown = [str(probe.value) for probe in tried if probe.meets is None]
        tried = [probe for probe in tried if probe.meets is not None] or tried
        span = f"{tried[0].value}" if len(tried) == 1 else f"{tried[0].value} to {tried[-1].value}"
        if self.meets:
            said = f"{self.path}: Every value tried from {span} meets {goals}{self._enough(tried)}."
            if len(tried) == 1:
                said = f"{self.path}: {span} meets {goals}; no other value was tried."
        elif self.fails:
            nearest = max(tried, key=attrgetter("margin"))
            if len(tried) == 1:
                said = f"{self.path}: {span} does not meet {goals}{self._reached(nearest)}; no other value was tried."
            else:
                said = f"{self.path}: No value from {span} meets {goals}; "
                said += f"{nearest.value} comes nearest{self._reached(nearest)}."
        else:
            more = "" if any(probe.unsettled for probe in tried) else "; raise the budget of runs"
            return f"{self.path}: undecided whether {' or '.join(unknown)} meets {goals}{more}."
        return said + (f" Undecided: {', '.join(unknown)}." if unknown else "")

    def _enough(self, tried: list[Probe]) -> str:
        """Say that the smallest is enough where all values meet the goals; if less is better, what the largest has."""
        least, most = tried[0], tried[-1]
        if abs(most.margin - least.margin) < FLAT:
            return ""
        if most.margin > least.margin:
            return f"; {least.value} is enough{self._reached(least)}"
        return f"; {most.value} is nearest to missing {'it' if len(self.goals) == 1 else 'them'}{self._reached(most)}"

    def _decided(self) -> list[Probe]:
        return sorted((one for one in self.probes if one.meets is not None), key=attrgetter("number"))

    def _reached(self, nearest: Probe) -> str:
        if nearest.why:
            return f" ({nearest.why})"
        known = [
            f"{goal.bare} {goal.told(*nearest.found[goal.text])}" for goal in self.goals if goal.text in nearest.found
        ]
        return f" ({', '.join(known)})"

    def _is_wide(self) -> bool:
        """Return true if the bracket contains a value that has not been tried."""
        assert self.meets
        assert self.fails
        low, high = sorted((self.meets.number, self.fails.number))
        return any(low < probe.number < high for probe in self.probes)


def _inside(node: object, step: str) -> Any:
    """Return the field of this name, or the element of this number; nothing where there is none."""
    if isinstance(node, list):
        return node[int(step)] if step.isdigit() and int(step) < len(node) else None
    return node.get(step) if isinstance(node, dict) else None


def capacity(
    scenario: Scenario | str | Path,
    increase: str,
    until: str | Sequence[str] = (),
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
    """Find the value of `increase` at which all goals begin, or cease, to be met, by bisection.

    `until` has goals (`p99(reads) < 20 ms`) or limits (`p99(reads) > 20 ms`, whose goal is not to pass it); of a number
    of which more is better, such as `requests_per_s`, `>` is the goal and `<` the limit. By default it has the
    objectives of the scenario. Loads that hosts lose more than 0.1 % of (dropped, expired, blocked) fail, unless
    `until` says how much may be lost: `dropped(users) < 1 %`.

    The search begins at `least` (default: the scenario's value) and doubles, or halves, in the direction in which the
    goals come nearer or go; `least` and `most` are never passed. It then halves the bracket until its ends are `within`
    that share of each other. A value is judged when the interval of each number lies on one side of its bound; until
    then replications are added, `budget` at most. A load that cannot be sustained fails. Ctrl-C raises `Interrupted`
    with the bracket so far.
    """
    above(within=within)
    whole(replications=replications, budget=budget)
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    asked = tuple(objective(text, bounded=True) for text in one_or_more(until) or promised(loaded))
    if not asked:
        help_ = "say `--until 'p99(reads) > 20 ms'`, for example, or give the scenario `objectives`"
        raise refusal(loaded.file, "there is no goal to meet", help_)
    search = _Search(measuring(loaded, asked), increase, asked, max(replications, 2), budget, engine, store, watch)
    begin = search.number(least if least is not None else search.present())
    high = search.number(most, like=begin) if most is not None else None
    try:
        search.bracket(begin, begin if least is not None else None, high)
        search.climb(within)
        search.narrow(within)
    except KeyboardInterrupt:
        raise Interrupted(search.so_far()) from None
    return search.capacity()


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
    kind: Quantity = field(default_factory=lambda: Quantity(1))
    whole: bool = False
    times: int = 1
    """Length of runs, as a multiple of the scenario's."""

    @cached_property
    def is_whole(self) -> bool:
        """True if runs are judged as they are: faults leave no one steady state, and others have their end."""
        filled = self.scenario.filled()
        return bool(filled.get("faults")) or any(_ends(stream["arrivals"]) for stream in filled["workload"].values())

    @cached_property
    def is_load(self) -> bool:
        """True if more of what is increased is more load, and no goal wants more: then more never helps."""
        return self.path.endswith(".arrivals.poisson") and not any(
            bool(goal.above) != goal.is_limit for goal in self.asked
        )

    def capacity(self, *, interrupted: bool = False) -> Capacity:
        upper = next(iter(self.brackets()[1:]), None)
        return Capacity(self.path, self.asked, *self.ends(), upper, self.probes, interrupted, self.times)

    def so_far(self) -> Capacity | None:
        """Return the bracket so far; nothing before the first value was tried."""
        return self.capacity(interrupted=True) if self.probes else None

    def present(self) -> Value:
        """Return the scenario's value of what is increased."""
        node: Any = self.scenario.filled()
        for step in self.path.split("."):
            node = _inside(node, step)
        if node is None:
            self.scenario.with_({self.path: 1}).check()  # Refuses a misspelt path, with what was perhaps meant.
        if not isinstance(node, str | int | float):
            raise refusal(self.scenario.file, f"`{self.path}` is not a number or quantity there", "say `--from`")
        return node

    def number(self, value: Value, like: float | None = None) -> float:
        try:
            read = quantity(value)
        except ValueError as error:
            raise refusal(self.scenario.file, f"`{self.path}`: {error}", "give a number or a quantity") from None
        if read.number <= 0:
            raise refusal(self.scenario.file, f"`{self.path}` is {value}", "give a value above zero")
        if like is None:
            self.kind, self.whole = read, isinstance(value, int)
        elif read.powers != self.kind.powers:
            raise refusal(self.scenario.file, f"`{self.path}` cannot grow to {value}", "give more of the same kind")
        elif read.number <= like:
            message = f"`{self.path}` grows from {self.value(like)}, and {value} is not above that"
            raise refusal(self.scenario.file, message, "say where to begin (`--from`), or a larger value")
        return read.number

    def value(self, number: float) -> Value:
        grain = 1 if self.whole else SECTOR if self.kind.powers == (1, 0) and number >= 64 * SECTOR else 0
        rounded = float(round(number / grain) * grain) if grain else float(f"{number:.6g}")
        return replace(self.kind, number=rounded).text()

    def is_narrow(self, low: Probe, high: Probe, within: float) -> bool:
        return high.number / low.number <= 1 + within or (self.whole and high.number - low.number <= 1)

    def ends(self) -> tuple[Probe | None, Probe | None]:
        """Return the value that meets the goals and the one that does not, on both sides of the first change.

        Where there is none, the value nearest to one.
        """
        for bracket in self.brackets():
            return bracket
        nearest = min(self.decided(), key=lambda probe: abs(probe.margin), default=None)
        return (nearest, None) if nearest and nearest.meets else (None, nearest)

    def brackets(self) -> list[tuple[Probe, Probe]]:
        """Return the value that meets the goals and the one that does not, for each change of the verdict.

        Two where the goals are met only in the middle; otherwise the first alone.
        """
        changes = [pair for pair in pairwise(self.decided()) if pair[0].meets != pair[1].meets]
        changes = changes if len(changes) == 2 and changes[0][1].meets else changes[:1]
        return [(low, high) if low.meets else (high, low) for low, high in changes]

    def decided(self) -> list[Probe]:
        return sorted((one for one in self.probes if one.meets is not None), key=attrgetter("number"))

    def bracket(self, begin: float, low: float | None, high: float | None) -> None:
        """Find a value that meets the goals and one that does not, by doubling or halving from where it begins."""
        self.probe(begin)
        ways = {way: self.steps(begin, way, low, high) for way in (2.0, 0.5)}
        tried = dict.fromkeys(ways, 0)
        while not all(self.ends()):
            # Where nothing shows a direction, both are tried in turn.
            way = self.direction() or min(filter(ways.get, ways), key=lambda way: tried[way], default=2.0)
            if not ways[way]:
                return
            tried[way] += 1
            self.probe(ways[way].pop(0))

    def steps(self, begin: float, way: float, low: float | None, high: float | None) -> list[float]:
        """Return the values to be tried upwards or downwards, as far as the scenario allows them."""
        found: list[float] = []
        for _ in range(STEPS):
            number = min(max(begin * way, low or 0.0, 1.0 if self.whole else 0.0), high or float("inf"))
            if number == begin or not self.is_allowed(number):
                return found
            found.append(number)
            begin = number
        return found

    def is_allowed(self, number: float) -> bool:
        try:
            self.scenario.with_({self.path: self.value(number)}).check()
        except ScenarioError as error:
            return is_overload(error)
        return True

    def direction(self) -> float | None:
        """Return the factor that leads towards a change of the verdict; none while nothing shows it."""
        by_number = sorted(self.probes, key=attrgetter("number"))
        least, most = by_number[0], by_number[-1]
        if least.number == most.number and least.meets is not None and self.is_load:
            return 2.0 if least.meets else 0.5
        if least.margin == most.margin or abs(least.margin - most.margin) < FLAT:
            return None
        # Towards more margin if it is missing, towards less if it is there.
        rising = most.margin > least.margin
        return 2.0 if rising == (not any(probe.meets for probe in self.probes)) else 0.5

    def climb(self, within: float) -> None:
        """Search beside the value that comes nearest, if none meets the goals: they may be met between two."""
        while self.probes and not any(probe.meets is not False for probe in self.probes):
            tried = sorted(self.probes, key=attrgetter("number"))
            best = max(tried, key=attrgetter("margin"))
            beside = [gap for gap in pairwise(tried) if best in gap and not self.is_narrow(*gap, within)]
            if not beside or not self.split(max(beside, key=lambda gap: gap[1].number / gap[0].number)):
                return

    def narrow(self, within: float) -> None:
        """Halve each bracket until it is narrow, or until all values left in it are undecided."""
        for at in range(2):
            while at < len(brackets := self.brackets()):
                gap = next((gap for gap in self.gaps(brackets[at]) if not self.is_narrow(*gap, within)), None)
                if gap is None or not self.split(gap):
                    break

    def split(self, gap: tuple[Probe, Probe]) -> bool:
        """Try the middle of a gap. Values are whole, or differ in so few digits, that there may be none."""
        between = self.between(*gap)
        return between is not None and self.probe(between) not in gap

    def between(self, low: Probe, high: Probe) -> float | None:
        """Return the middle of a gap, or the nearest number to it that the scenario allows."""
        middle = (low.number * high.number) ** 0.5
        if not self.whole:
            return middle if self.is_allowed(middle) else None
        # No more of the gap than is tried: it may be that of a number of requests.
        first, last = max(int(low.number) + 1, int(middle) - STEPS), min(int(high.number) - 1, int(middle) + STEPS)
        near = sorted(range(first, last + 1), key=lambda number: abs(number - middle))
        return next(filter(self.is_allowed, map(float, near[:STEPS])), None)

    def gaps(self, bracket: tuple[Probe, Probe]) -> list[tuple[Probe, Probe]]:
        """Return what is not tried within a bracket: below and above the values of which nothing is known."""
        low, high = sorted(bracket, key=attrgetter("number"))
        unknown = [one for one in self.probes if one.meets is None and low.number < one.number < high.number]
        if not unknown:
            return [(low, high)]
        by_number = attrgetter("number")
        return [(low, min(unknown, key=by_number)), (max(unknown, key=by_number), high)]

    def probe(self, number: float) -> Probe:
        """Try a value, with as many replications as tell, within the budget."""
        value = self.value(number)
        number = quantity(value).number
        for known in self.probes:
            if known.number == number:
                return known
        many, shorter = self.replications, None
        while True:
            try:
                probe = self._judged(value, number, self._point(value), many)
            except ScenarioError:
                # A longer run may come to a limit of the scenario.
                if shorter is None:
                    raise
                self.times //= LONGER
                probe = shorter
                break
            is_short = probe.unsettled or (probe.meets is not False and not probe.trusted)
            if is_short and self.times < LONGEST:
                shorter = probe
                self.times *= LONGER
            elif probe.meets is None and not probe.unsettled and many < self.budget:
                many = min(2 * many, self.budget)
            else:
                break
        self.probes.append(probe)
        return probe

    def _point(self, value: Value) -> Point:
        """Return a value to be tried, in runs as long as others have needed so far."""
        length = self.scenario.filled()["run"] if self.times > 1 else {}
        longer: dict[str, Value] = {}
        if "requests" in length:
            longer["run.requests"] = self.times * length["requests"]
        if "time" in length:
            longer["run.time"] = f"{self.times * _core.quantity('time', length['time']):.0f} ns"
        return Point(longer | {self.path: value})

    def _judged(self, value: Value, number: float, point: Point, many: int) -> Probe:
        experiment = Experiment(self.scenario, (point,), max(many, 2), places=(self.path,))
        watch = telling(self.watch, lambda _: self.so_far())
        table = run(experiment, engine=self.engine, store=self.store, watch=watch)
        for record in table.of(point):
            if record["overloaded"]:
                return Probe(value, number, False, {}, record["reason"])
            if record["saturated"]:
                # Behind a cold cache, more is asked than in steady state.
                cold = None if self.is_whole else table.cold(point)
                many = sum(record["saturated"] for record in table.of(point))
                why = None if cold else f"overloaded in {many} of {len(table.of(point))} runs"
                return Probe(value, number, None if cold else False, {}, why, _busiest(table, point), unsettled=cold)
        if reason := table.reason(point):
            raise refusal(self.scenario.file, f"{point}: {reason}", "raise the limit, or search below")
        if missing := self._without(table):
            # Where accelerators do not come to a second step, longer runs say more.
            few = None if self.is_whole else table.unsettled(point)
            return Probe(
                value, number, False, {}, f"no run there has {missing.bare}", _busiest(table, point), unsettled=few
            )
        goals = self.asked + implied(table.metrics, self.asked)
        found = {one.text: self._measured(table, point, one, many) for one in goals}
        if (none := next((one for one in self.asked if found[one.text] is None), None)) is not None:
            return Probe(value, number, False, {}, f"{none.of}: no request was answered", _busiest(table, point))
        known = {text: of for text, of in found.items() if of}
        verdicts = {one.text: one.is_met(*known[one.text]) for one in goals if one.text in known}
        # One goal missed decides; otherwise all must be known to be met.
        meets = False if False in verdicts.values() else None if None in verdicts.values() else True
        beside = (one for one in goals[len(self.asked) :] if verdicts[one.text] is False)
        why = next((lost(one, known[one.text][0]) for one in beside), None)
        # What meets its goals behind a cold cache meets them behind a warm one too.
        unsettled = None if self.is_whole else table.cold(point) if meets is False else table.unsettled(point)
        # What is not yet in steady state does less than that asks of it.
        meets = None if unsettled else meets
        margin = min(one.margin(known[one.text][0]) for one in goals if one in self.asked or not verdicts[one.text])
        asked = {one.text: known[one.text] for one in self.asked}
        nearest = sorted(self.asked, key=lambda one: one.margin(known[one.text][0]))
        slowest = next((told for one in nearest if (told := _slowest(table, point, one))), None)
        busiest = _busiest(table, point)
        is_full = busiest is not None and busiest[1] >= FULL and not self.is_whole
        if meets and is_full and self.scenario.with_(point.values).plan().beyond:
            return Probe(value, number, False, asked, BEYOND, busiest)
        streams = {one.metric(table.metrics).partition(".")[0] for one in self.asked}
        trusted = self.is_whole or not any(table.is_too_short(point, stream) for stream in streams)
        return Probe(value, number, meets, asked, why, busiest, slowest, margin, unsettled, trusted)

    def _without(self, table: Table) -> Objective | None:
        """Return a goal whose number these runs do not have, though others had: AU where each epoch is one step."""
        if not any(probe.found for probe in self.probes):
            return None
        return next((one for one in self.asked if not one.is_in(table.metrics)), None)

    def _measured(self, table: Table, point: Point, asked: Objective, many: int) -> tuple[float, float] | None:
        """Return a number with its half-width, widened for as many verdicts as a search needs."""
        from scipy.special import stdtrit

        metric = asked.metric(table.metrics)
        found = table.mean(point, metric)
        if found is None:
            return None
        level = 1 - (1 - CONFIDENCE) / 2 / DECISIONS / len(self.asked)
        return found[0], (found[1] or 0.0) * float(stdtrit(many - 1, level) / stdtrit(many - 1, 0.975))


def _slowest(table: Table, point: Point, asked: Objective) -> str | None:
    """Say where the slowest requests that a goal is about spent most of their time."""
    if not asked.is_of_slowest:
        return None
    of = asked.metric(table.metrics).removesuffix("_ms").rpartition(".")[0].removesuffix(".p99")
    legs = {metric: mean[0] for metric in table.legs(of) if (mean := table.mean(point, metric))}
    if not legs:
        return None
    longest = max(legs, key=legs.__getitem__)
    where, _, what = longest.removeprefix(f"{of}.").rpartition(": slowest ")
    doing = f"waiting for {where}" if what == "waiting" else f"in service at {where}"
    return f"the slowest requests of {of} spent {legs[longest]:.0%} of their time {doing}"


def _ends(arrivals: Json) -> bool:
    """Return true if a stream ends by itself: a recording, or a number of checkpoints without training."""
    steps = arrivals.get("steps", {})
    return not {"log", "replay"}.isdisjoint(arrivals) or (steps.get("batch") == 0 and "epochs" in steps)


def _busiest(table: Table, point: Point) -> tuple[str, float] | None:
    used = {
        metric.removesuffix(".utilisation"): mean[0]
        for metric in table.metrics
        if metric.endswith(".utilisation") and (mean := table.mean(point, metric))
    }
    return max(used.items(), key=lambda one: one[1]) if used else None


def as_json(found: Capacity) -> Json:
    """Return a capacity as `--json` prints it."""
    ends = {end: _told(probe) if probe else None for end, probe in (("meets", found.meets), ("fails", found.fails))}
    upper = dict(zip(("meets", "fails"), map(_told, found.upper), strict=True)) if found.upper else None
    return {"answer": found.answer, "path": found.path, "until": list(found.until)} | ends | {
        "upper": upper, "times": found.times, "probes": [_told(probe) for probe in found.probes]
    }  # fmt: skip


def _told(probe: Probe) -> Json:
    return {name: value for name, value in vars(probe).items() if name != "margin"}
