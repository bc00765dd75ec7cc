"""Runs an experiment: what its store does not have yet, until it has it all."""

import difflib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headrace._core import ScenarioError
from headrace.errors import is_overload, refusal
from headrace.experiment.design import Experiment, Point, varied
from headrace.experiment.engines import Engine, Local
from headrace.experiment.objective import objective
from headrace.experiment.precision import Precision, listed
from headrace.experiment.store import Memory, Store
from headrace.experiment.table import Table
from headrace.experiment.task import Record, Task
from headrace.scenario import Scenario, load
from headrace.stopped import Interrupted


@dataclass(frozen=True)
class Standing:
    """How far a round is: its tasks, and how many of them are done, and run just now."""

    done: int
    running: int
    wanted: int
    found: Callable[[], Any] = lambda: None
    """What is found of the whole experiment by now, if anything can be said: as its own function returns it."""


Watch = Callable[[Record, Standing], object]


def telling(watch: Watch | None, found: Callable[[Table], Any]) -> Watch | None:
    """Return a watch for a part of a larger experiment: it says what the whole makes of the part's table."""
    if watch is None:
        return None
    return lambda record, standing: watch(record, replace(standing, found=lambda: found(standing.found())))


def sweep(
    scenario: Scenario | str | Path,
    vary: Mapping[str, Any],
    *,
    replications: int = 5,
    precision: float | Precision | None = None,
    store: str | Path | None = None,
    engine: Engine | None = None,
    watch: Watch | None = None,
    metrics: str | Sequence[str] = (),
    design: str | Mapping[str, Any] = "grid",
    derive: Mapping[str, str] | None = None,
) -> Table:
    """Run a scenario with every combination of values, and return what was found at each.

    `vary` has for each place its values, or a range: `{"from": "8 KiB", "to": "1 MiB", "points": 8, "scale": "log"}`.
    `precision` goes on by rounds of `replications` until half of each interval is at most that share of its mean: for
    the mean response of every stream, or for the metrics that a `Precision` names.
    `store` names a folder in which records are kept: a sweep that was killed goes on from there. `metrics` are those to
    show, `"p99(reads), utilisation(tds)"`, by default response times, throughput and the highest utilisation. `design`
    and `derive` are as in the document of an experiment.

    >>> clerk = Scenario('''
    ... system: {clerk: {type: station, service: {exponential: 8 ms}}}
    ... workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
    ... run: {requests: 2000}
    ... ''')
    >>> found = sweep(clerk, {"workload.users.arrivals.poisson": ["20 /s", "80 /s"]}, replications=3)
    >>> found.frame["users.mean_ms"].is_sorted()
    True
    """
    loaded = scenario if isinstance(scenario, Scenario) else load(scenario)
    wanted = precision if isinstance(precision, Precision) or precision is None else Precision(precision)
    experiment = varied(loaded, vary, design=design, derive=derive, replications=replications, precision=wanted)
    asked = listed(metrics) if isinstance(metrics, str) else list(metrics)
    experiment = experiment.asking(asked) if asked else experiment
    return run(experiment, store=store, engine=engine, watch=watch)


def run(
    experiment: Experiment,
    *,
    store: str | Path | None = None,
    engine: Engine | None = None,
    watch: Watch | None = None,
    shard: tuple[int, int] = (0, 1),
) -> Table:
    """Run an experiment, and return what was found. See `sweep`.

    Of `shard` (i, n) only every n-th point, from the i-th. `watch` is called after each task with its record and how
    far the round is. Ctrl-C raises `Interrupted` with the table so far; what is in the store stays.
    """
    _refuse_hopeless(experiment)
    _refuse_strangers(experiment)
    mine = replace(experiment, points=experiment.points[shard[0] :: shard[1]])
    records = Store(store, experiment) if store is not None else Memory()
    engine = engine or Local()
    counts: dict[str, int] = {}
    try:
        for wanted in _rounds(mine, records, counts):
            for record, standing in _followed(wanted, records, engine):
                records.add(record)
                if watch:
                    watch(record, replace(standing, found=lambda: Table(mine, records.records.values(), counts)))
    except KeyboardInterrupt:
        raise Interrupted(Table(mine, records.records.values(), counts)) from None
    finally:
        records.compact()
    return Table(mine, records.records.values(), counts)


def _followed(wanted: list[Task], records: Memory, engine: Engine) -> Iterator[tuple[Record, Standing]]:
    """Have the tasks of a round done that nobody has done yet; give each record, and how far the round is."""
    done = sum(task.key in records.records for task in wanted)
    begun = 0

    def left() -> Iterator[Task]:
        nonlocal begun
        for task in _left(wanted, records):
            begun += 1
            yield task

    for ended, record in enumerate(engine.do(left()), 1):
        running = min(begun - ended, engine.workers)
        yield record, Standing(min(done + ended, len(wanted)), running, len(wanted))


def _refuse_hopeless(experiment: Experiment) -> None:
    """Refuse an experiment with a mistake that leaves no point to be run; a load too large is a result."""
    first: ScenarioError | None = None
    for point in experiment.points:
        try:
            experiment.scenario.with_(point.values).check()
        except ScenarioError as error:
            if is_overload(error):
                return
            first = first or error
        else:
            return
    if first:
        raise first


def _refuse_strangers(experiment: Experiment) -> None:
    """Refuse metrics of a stream or component that no point has: what else a metric may be, only runs show."""
    for asked in (objective(text, bounded=False) for text in experiment.metrics):
        found = list[str]()
        for point in experiment.points:
            with suppress(ScenarioError):
                found = experiment.scenario.with_(point.values).plan().names()
            if not found or asked.is_of(found):
                break
        else:
            near = difflib.get_close_matches(asked.of, found, 1)
            help_ = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(found)}"
            raise refusal(experiment.scenario.file, f"`{asked.text}`: there is no `{asked.of}`", help_)


def _rounds(experiment: Experiment, records: Memory, counts: dict[str, int]) -> Iterator[list[Task]]:
    """Give the tasks of each round: `replications` of each point that is not precise enough, within the budget.

    `counts` learns how many each point has. It depends on what was found alone, not on who ran it, or what else the
    store has.
    """
    points, precision = list(experiment.points), experiment.precision
    most = precision.budget if precision else experiment.replications
    for many in range(0, most, experiment.replications):
        more = range(many, min(many + experiment.replications, most))
        counts |= {point.key: more.stop for point in points}
        yield [task for point in points for task in _tasks(experiment, point, more)]
        table = Table(experiment, records.records.values(), counts)
        points = [point for point in points if not table.reason(point) and not table.is_precise(point)]
        if not points:
            return


def _tasks(experiment: Experiment, point: Point, replications: range) -> Iterator[Task]:
    scenario = experiment.scenario
    # A worker may stand in another folder.
    file = scenario.file if scenario.file == "<text>" else str(Path(scenario.file).absolute())
    for replication in replications:
        yield Task(scenario.text, file, scenario.changes, point, replication)


def _left(tasks: list[Task], records: Memory) -> Iterator[Task]:
    """Give those tasks that nobody has done when their turn comes.

    Their order is drawn, so that two processes that fill one store seldom do the same.
    """
    for task in random.sample(tasks, len(tasks)):
        records.refresh()
        if task.key not in records.records:
            yield task
