"""A scenario that is read and planned once: checked, solved, run, and run further."""

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

from headrace import _core, fio_workload
from headrace.durability import Durability
from headrace.files import keep_apart, warn_not_kept
from headrace.requests import RequestLog
from headrace.results import Results
from headrace.solution import Solution
from headrace.timeline import write as write_timeline
from headrace.trace import Watch

Json = dict[str, Any]


class RunOptions(TypedDict, total=False):
    """What is wanted of a run: see `Scenario.run`."""

    threads: int | None
    watch: Watch | None
    theory: bool
    headroom: bool
    replication: int | None
    widen: float


class GraphComponent(TypedDict):
    """A component of a graph: its place in the list is its number."""

    path: str
    group: str
    kind: str


class Graph(TypedDict):
    """The components of a scenario, the names of their groups, and those of the users of its logs, by their numbers."""

    components: list[GraphComponent]
    groups: list[str]
    users: list[tuple[int, str]]


class Plan:
    r"""A scenario that was read, and is planned when its plan is first needed. Nothing is read, scanned or run twice.

    >>> from headrace import Scenario
    >>> users = "workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}\nrun: {requests: 2000}"
    >>> plan = Scenario("system: {clerk: {type: station, service: 8 ms}}\n" + users).plan()
    >>> plan.run(replications=5).data["replications"]
    5
    >>> plan.extend(5).data["replications"]
    10
    """

    def __init__(self, text: str, file: str, changes: Mapping[str, object]) -> None:
        self.file = file
        self._core = _core.prepare(text, file, sets(changes), fio_workload.streams)
        self._log: RequestLog | None = None

    @property
    def inputs(self) -> list[Path]:
        """The files that it is read from: its own, traces, logs and job files that it names, the devices beside it."""
        return self._core.inputs

    @cached_property
    def spec(self) -> Json:
        """The scenario with its defaults filled in, whether or not it can sustain its load."""
        return dict(json.loads(self._core.spec))

    @property
    def remarks(self) -> list[str]:
        """Options that are ignored of a job file of fio, with the reason."""
        return self._core.remarks

    def check(self) -> list[str]:
        """Return notes on its components and options; raise `ScenarioError` with all errors, overload among them."""
        return [*self.remarks, *self._core.check()]

    @property
    def beyond(self) -> str | None:
        """A note, if formulas sustain only part of the load in the long run; none if they sustain it or cannot tell."""
        return self._core.beyond()

    def graph(self, watch: Watch | None = None) -> Graph:
        """Return its components by number, and the names of the groups."""
        graph: Graph = json.loads(self._core.graph(watch))
        return graph

    def names(self) -> list[str]:
        """Return the names of its streams and of the groups of its components."""
        return [*self.spec["workload"], *self.graph()["groups"]]

    def solve(self, load: tuple[float, float] | None = None) -> Solution:
        """Solve it by formulas: see `Scenario.solve`."""
        if load is not None and not _is_range(load):
            raise TypeError(f"`load` is {load!r}; it must be two numbers, from where to where, such as (1, 32)")
        return Solution(json.loads(self._core.solve(load)))

    def durability(
        self,
        *,
        years: float = 5.0,
        stretch: str | None = None,
        replications: int = 8,
        within: float = 0.05,
        threads: int | None = None,
        watch: Watch | None = None,
    ) -> Durability:
        """Estimate its chance of data loss: see `Scenario.durability`. `watch` gets numbers of rebuilds."""
        longest = _core.quantity("time", stretch) if stretch else None
        return Durability(
            json.loads(
                self._core.durability(
                    {
                        "years": years,
                        "stretch_ns": longest,
                        "replications": replications,
                        "within": within,
                        "threads": threads or os.cpu_count() or 1,
                        "watch": watch,
                    }
                )
            )
        )

    def run(
        self,
        *,
        replications: int | None = None,
        requests: str | Path | None = None,
        timeline: str | Path | None = None,
        first: int = 100,
        **how: Unpack[RunOptions],
    ) -> Results:
        """Simulate it: see `Scenario.run`. What was run before is forgotten."""
        if isinstance(requests, int):
            told = "`requests` names a folder for each request; their number is a field"
            raise TypeError(f'{told}: with_({{"run.requests": {requests}}})')
        keep_apart({"requests": requests, "timeline": timeline}, self.inputs)
        self._log = self._request_log(requests, how.get("watch")) if requests else None
        results, journeys = self._core.run(replications, self._wanted(first if timeline else 0, how))
        found = self._found(results)
        if timeline:
            try:
                write_timeline(found.data, json.loads(journeys), timeline)
            except OSError as error:
                warn_not_kept(error, timeline)
        return found

    def extend(self, more: int, **how: Unpack[RunOptions]) -> Results:
        """Simulate `more` replications and return the results of all, equal to those of one run of that many.

        After Ctrl-C, replications that it cut short are run again. A folder of requests, named by `run`, gets theirs
        too.
        """
        return self._found(self._core.extend(more, self._wanted(0, how))[0])

    def _request_log(self, folder: str | Path, watch: Watch | None) -> RequestLog:
        graph = self.graph(watch)
        paths = [component["path"] for component in graph["components"]]
        kinds = {component["group"]: component["kind"] for component in graph["components"]}
        users = {number: name for number, name in graph["users"] if name}
        return RequestLog(folder, list(self.spec["workload"]), paths, graph["groups"], kinds, users)

    def _wanted(self, first: int, how: RunOptions) -> "_core.Wanted":
        return {
            "threads": how.get("threads") or os.cpu_count() or 1,
            "watch": how.get("watch"),
            "requests": self._log,
            "first": first,
            "theory": how.get("theory", True),
            "headroom": how.get("headroom", how.get("theory", True)),
            "replication": how.get("replication"),
            "widen": how.get("widen", 1.0),
        }

    def _found(self, results: str) -> Results:
        if self._log and self._log.lost:
            warn_not_kept(self._log.lost, self._log.folder)
            self._log.lost = None
        return Results(json.loads(results))


def sets(changes: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return changes as the core takes them: values as text."""
    return [
        (path, value if isinstance(value, str) else json.dumps(value, default=plain)) for path, value in changes.items()
    ]


def plain(value: Any) -> object:
    """Return the plain number that a number of numpy's stands for, or the list that its array does."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of a scenario is text, a number, a list or a mapping, not a {type(value).__name__}")


def _is_range(load: object) -> bool:
    """Return true for two numbers."""
    is_number = [isinstance(end, int | float) for end in load] if isinstance(load, Sequence) else []
    return is_number == [True, True]
