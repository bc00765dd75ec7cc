"""Two scenarios with the same random numbers: paired differences, and a verdict that does not overclaim."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import of_few
from headrace.charts.data import Named
from headrace.errors import refusal
from headrace.experiment.columns import beginning, metric_name, metric_title, scale_of
from headrace.experiment.design import Experiment, Point
from headrace.experiment.engines import Engine
from headrace.experiment.objective import HOW_LOST, MOST_LOST, time_of
from headrace.experiment.rounds import Watch, run, telling
from headrace.experiment.table import Table
from headrace.experiment.task import STATISTICS, Record
from headrace.quantities import aligned, format_time, interval, unit
from headrace.report import Chart, Report
from headrace.report import Table as Columns
from headrace.scenario import Scenario, load
from headrace.shown import InNotebook, written
from headrace.stopped import Interrupted

if TYPE_CHECKING:
    from altair.typing import ChartType

Json = dict[str, Any]

CONFIDENCE = 0.95
# The metrics of a comparison that are drawn: shares of A are comparable with each other.
DRAWN = (".mean_ms", ".p99_ms", ".requests_per_s", ".utilisation")
# A difference is none where both ends of its interval are nearer to nothing than this share of A.
NONE_WITHIN = 0.0005
# Up to this share of A, an interval is the rounding of numbers.
NOTHING = 1e-9
ALIKE = "nothing in them is random, so this holds for these requests, and is no statement about others"
# From this ratio on, a difference is shown as a multiple, since "99.99 % faster" hides it.
MANY_TIMES = 5.0


@dataclass(frozen=True)
class Difference:
    """How far a metric of B is from that of A, with the interval of the paired differences."""

    metric: str
    a: float
    b: float
    difference: float
    half_width: float
    shown: bool
    """True if the interval excludes zero, at the joint level of all statements that a verdict could make."""

    @property
    def percent(self) -> tuple[float, float] | None:
        """The difference as a share of A, in percent, with its half-width; none where A is nothing."""
        return (100 * self.difference / abs(self.a), 100 * self.half_width / abs(self.a)) if self.a else None


@dataclass(frozen=True)
class Comparison(InNotebook):
    """The paired differences between two scenarios, A and B."""

    a: str
    b: str
    replications: int
    differences: list[Difference]
    saturated: tuple[str, ...] = ()
    """Which of the two cannot sustain the load."""
    unsettled: tuple[str, ...] = ()
    """In which of the two a component was not yet in steady state."""
    loads: tuple[str, ...] = ()
    """Which streams ask for something else in B than in A."""
    closed: tuple[str, ...] = ()
    """Which streams are of clients that wait for their answers, so that their throughput is a result."""

    def __repr__(self) -> str:
        return f"<Comparison: {self.answer}>"

    def report(self, file: str | Path | None = None, *, every: bool = False) -> Report:
        """Return the report of the comparison; with `file`, write it as one HTML page: whole, or not at all.

        Its table has mean responses, p99 and rates, or `every` metric.
        """
        heading = f"A: {self.a}; B: {self.b}"
        chart = Chart(self._draw, "differences", heading="Difference of B from A, with 95 % intervals")
        done = f"comparison, {self.replications} paired replications with the same random numbers"
        table = Columns(*self.rows(every=every), heading=heading)
        return written(Report(f"{self.b} against {self.a}", self.answer, done, blocks=[chart, table]), file)

    def rows(self, *, every: bool = False) -> tuple[list[str], list[list[str]]]:
        """Return the differences as columns and rows: mean responses, p99 and rates, or `every` metric."""
        ends = (".mean_ms", ".p99_ms", "_per_s", ".utilisation", ".au")
        aims = [one for one in self.differences if time_of(one.metric) is not None]
        chosen = [one for one in self.differences if every or one in aims or one.metric.endswith(ends) or _loses(one)]
        return ["", "differs", "A", "B", "difference", "in percent"], [_row(one) for one in chosen]

    def _draw(self) -> "ChartType":
        from headrace.charts import decisions

        percents = [
            Named(beginning(one.metric), *one.percent, f"{metric_name(one.metric)}: {interval(*one.percent)} %")
            for one in self.differences
            if one.metric.endswith(DRAWN) and one.percent
        ]
        return decisions.named(percents, "difference of B from A, %", look="differences")

    @property
    def answer(self) -> str:
        """The verdict on mean responses, and the confidence with which it holds as a whole."""
        trained = [one for one in self.differences if one.metric.endswith(".au")]
        training = {one.metric.removesuffix(".au") for one in trained}
        means = [one for one in self.differences if one.metric.endswith(".mean_ms")]
        means = [one for one in means if one.metric.split(".")[0] not in training]
        # Where a stream has reads and writes, they are what is said.
        split = {one.metric.rsplit(".", 2)[0] for one in means if one.metric.count(".") == 2}
        chosen = [one for one in means if one.metric.count(".") == 2 or one.metric.split(".")[0] not in split]
        # How long responses become under overload is a matter of the length of the run.
        shown = [f"{_way(one) if self.saturated else _change(one)} for {_whose(one)}" for one in chosen if one.shown]
        hidden = [_whose(one) for one in chosen if not one.shown]
        said = [f"B ({self.b}) is {', '.join(shown)} than A ({self.a})"] if shown else []
        said += [f"{', '.join(hidden)}: no difference shown"] if hidden else []
        said += [_utilised(one, self.a, self.b) for one in trained]
        said += [_throughput(one) for one in self.differences if self._is_throughput(one)]
        said += [self._late(one) for one in chosen]
        said += [_lost(one) for one in self.differences if _loses(one)]
        said = [part for part in said if part]
        said += [f"{' and '.join(self.saturated)} cannot sustain the load: response times grow with run length"] * bool(
            self.saturated
        )
        said += [
            f"in {' and '.join(self.unsettled)} a component was not yet in steady state: longer runs may be slower"
        ] * bool(self.unsettled)
        varies = any(one.half_width > NOTHING * abs(one.a) for one in [*chosen, *trained])
        is_sure = not varies and any(one.difference for one in [*chosen, *trained])
        said += [note] if varies and (note := of_few(self.replications)) else []
        said += [f"the loads differ: {'; '.join(self.loads)}"] * bool(self.loads)
        sure = f"all statements together hold with {CONFIDENCE * 100:.0f} % confidence" if not is_sure else ALIKE
        return f"{'; '.join(said)} ({self.replications} paired replications; {sure})."

    def _late(self, mean: Difference) -> str:
        """Say so where the mean hides that the slowest requests go the other way."""
        [late] = [one for one in self.differences if one.metric == mean.metric.replace("mean_ms", "p99_ms")]
        if not (mean.shown and late.shown and late.difference * mean.difference < 0):
            return ""
        return f"but the slowest hundredth of {_whose(mean)} is {_change(late)}"

    def _is_throughput(self, one: Difference) -> bool:
        """Return true of the data rate of clients, or of their requests where these have no data."""
        stream, _, what = one.metric.rpartition(".")
        if stream not in self.closed or not one.shown or not one.a:
            return False
        has_data = any(other.metric == f"{stream}.bytes_per_s" and other.a > 0 for other in self.differences)
        return what == ("bytes_per_s" if has_data else "requests_per_s")


def _throughput(one: Difference) -> str:
    """Return how much more clients get done."""
    stream, _, what = one.metric.rpartition(".")
    assert one.percent
    what = "data a second" if what == "bytes_per_s" else "done a second"
    if max(one.a, one.b) < MANY_TIMES * min(one.a, one.b):
        more = "more" if one.difference > 0 else "less"
        return f"in B clients of {stream} get {interval(abs(one.percent[0]), one.percent[1])} % {more} {what}"
    if one.difference > 0:
        return f"in B clients of {stream} get about {one.b / one.a:.3g} times as much {what}"
    return f"in B clients of {stream} get about {100 * one.b / one.a:.3g} % as much {what}"


def _utilised(au: Difference, a: str, b: str) -> str:
    """Return how far accelerators are utilised: requests of training wait for steps, and say little."""
    shown = "" if au.shown else ", no difference shown"
    name = au.metric.removesuffix(".au")
    return f"accelerators of {name} are {au.b:.1%} utilised with B ({b}), {au.a:.1%} with A ({a}){shown}"


def _loses(one: Difference) -> bool:
    """Return true of what hosts lose, where they lose more than a little."""
    return one.metric.rpartition(".")[2] in HOW_LOST and max(one.a, one.b) > MOST_LOST


def _lost(one: Difference) -> str:
    stream, _, how = one.metric.rpartition(".")
    return f"{one.a:.2%} {HOW_LOST[how].format(stream=stream)} in A, {one.b:.2%} in B"


def _row(one: Difference) -> list[str]:
    of = unit([one.a, one.b])
    scale = scale_of(one.metric, of)
    end, least = abs(one.difference) + one.half_width, NONE_WITHIN * abs(one.a)
    nothing = not one.shown and end <= least
    return [
        metric_title(one.metric, of),
        "yes" if one.shown else "no" if nothing else "not shown",
        aligned(one.a * scale),
        aligned(one.b * scale),
        "none" if nothing else interval(one.difference * scale, one.half_width * scale),
        "—" if not one.percent else "within 0.05 %" if nothing else f"{interval(*one.percent)} %",
    ]


def _whose(one: Difference) -> str:
    return one.metric.removesuffix(".mean_ms")


def _way(one: Difference) -> str:
    return "slower" if one.difference > 0 else "faster"


def _change(one: Difference) -> str:
    word = _way(one)
    if one.percent is None:
        return f"{format_time(abs(one.difference), one.half_width)} {word}"
    middle, half = one.percent
    least, most = sorted((one.a, one.b))
    if least > 0 and most >= MANY_TIMES * least:
        return f"about {float(f'{most / least:.3g}'):,.10g} times {word}"
    return f"{interval(abs(middle), half)} % {word}"


def compare(
    a: Scenario | str | Path,
    b: Scenario | str | Path | Mapping[str, object],
    *,
    replications: int = 10,
    engine: Engine | None = None,
    store: str | Path | None = None,
    watch: Watch | None = None,
) -> Comparison:
    """Run two scenarios with the same seeds, and return the paired differences of B from A.

    B may be changes of A, such as `{"system.volume.disks": 12}`.
    Streams that both scenarios have issue the same requests in both, so differences are due to the systems alone. With
    `store` the runs are saved in its folders `a` and `b`. Raises `ScenarioError` if either cannot be run. Ctrl-C raises
    `Interrupted` with the comparison of the pairs so far.
    """
    first = a if isinstance(a, Scenario) else load(a)
    second = first.with_(b) if isinstance(b, Mapping) else b if isinstance(b, Scenario) else load(b)
    seed = first.check()["run"]["seed"]
    names = _name(first, "A", second.changes), _name(second, "B", first.changes)
    tables: list[Table] = []
    workloads = first.filled()["workload"], second.filled()["workload"]
    loads, closed = _loads(*workloads), _closed(*workloads)
    told = telling(watch, lambda table: _compared(names, [*tables, table], loads, closed))
    try:
        for name, scenario in (("a", first), ("b", second.with_({"run.seed": seed}))):
            experiment = Experiment(scenario, (Point({}),), max(replications, 2))
            folder = Path(store) / name if store is not None else None
            tables.append(_whole(run(experiment, engine=engine, store=folder, watch=told)))
    except Interrupted as stopped:
        raise Interrupted(_compared(names, [*tables, stopped.found], loads, closed)) from None
    found = _compared(names, tables, loads, closed)
    assert found is not None
    return found


def _loads(a: Json, b: Json) -> tuple[str, ...]:
    """Return which streams differ, and in what; where their requests come from and go to is the system's."""
    said = [f"only one has {name}" for name in sorted(a.keys() ^ b.keys())]
    for name in a.keys() & b.keys():
        fields = sorted((a[name].keys() | b[name].keys()) - {"to", "from", "file"})
        apart = [field for field in fields if a[name].get(field) != b[name].get(field)]
        said += [f"{', '.join(apart)} of {name}"] if apart else []
    return tuple(sorted(said))


def _closed(a: Json, b: Json) -> tuple[str, ...]:
    """Return the streams that are of clients in both."""
    return tuple(
        name for name in a.keys() & b.keys() if "closed" in a[name]["arrivals"] and "closed" in b[name]["arrivals"]
    )


def _compared(
    names: tuple[str, str], tables: list[Table], loads: tuple[str, ...], closed: tuple[str, ...]
) -> Comparison | None:
    """Return what pairs of replications tell: nothing where there are fewer than two."""
    records = [{record["replication"]: record for record in _records(table)} for table in tables]
    pairs = sorted(set.intersection(*map(set, records)))
    if len(tables) < 2 or len(pairs) < 2:
        return None
    a, b = ([found[pair] for pair in pairs] for found in records)
    differences = _differences(a, b, tables[1].experiment.scenario.file)
    return Comparison(*names, len(pairs), differences, _saturated(a, b), _unsettled(tables), loads, closed)


def _records(table: Table) -> list[Record]:
    [point] = table.experiment.points
    return [record for record in table.of(point) if record["ok"]]


def _name(scenario: Scenario, otherwise: str, known: Mapping[str, object]) -> str:
    changes = {place: value for place, value in scenario.changes.items() if known.get(place) != value}
    changed = ", ".join(f"{place} = {value}" for place, value in changes.items() if place != "run.seed")
    stem = otherwise if scenario.file == "<text>" else Path(scenario.file).stem
    return f"{stem} with {changed}" if changed else stem


def _whole(table: Table) -> Table:
    for point, reason in table.failed:
        raise refusal(
            table.experiment.scenario.file, f"{table.experiment.scenario.file} {point}: {reason}", "correct it"
        )
    return table


def _differences(a: list[Record], b: list[Record], file: str) -> list[Difference]:
    import numpy as np
    from scipy.special import stdtrit

    shared = [metric for metric in a[0]["metrics"] if metric in b[0]["metrics"] and not metric.endswith(STATISTICS)]
    said = sum(metric.endswith((".mean_ms", ".p99_ms")) for metric in shared)
    if not said:
        raise refusal(file, "the two have no stream in common", "give streams that are to be compared one name")
    found = []
    for metric in shared:
        columns = [[record["metrics"].get(metric) for record in records] for records in (a, b)]
        if any(value is None for column in columns for value in column):
            continue
        ours, theirs = (np.array(column, float) for column in columns)
        apart = theirs - ours
        # What the verdict says of several numbers is to hold of all of them at once (Bonferroni).
        level = 1 - (1 - CONFIDENCE) / 2 / said
        half = float(stdtrit(len(apart) - 1, level) * apart.std(ddof=1) / len(apart) ** 0.5)
        middle = float(apart.mean())
        found.append(Difference(metric, float(ours.mean()), float(theirs.mean()), middle, half, abs(middle) > half))
    return found


def _saturated(a: list[Record], b: list[Record]) -> tuple[str, ...]:
    """Return which of the two has runs that could not sustain the load."""
    return tuple(name for name, records in {"A": a, "B": b}.items() if any(record["saturated"] for record in records))


def _unsettled(tables: list[Table]) -> tuple[str, ...]:
    """Return which of the two has a component that was not yet in steady state."""
    return tuple(
        name
        for name, table in zip("AB", tables, strict=True)
        if any(table.unsettled(point) for point in table.experiment.points)
    )


def as_json(found: Comparison) -> Json:
    """Return a comparison as `--json` prints it."""
    rows = [vars(one) | {"percent": one.percent and list(one.percent)} for one in found.differences]
    return {"answer": found.answer, "a": found.a, "b": found.b, "replications": found.replications, "differences": rows}
