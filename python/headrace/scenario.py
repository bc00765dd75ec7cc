"""Scenarios from Python: load one, change it, check it, run it."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import _core, solution, trace
from headrace._core import ScenarioError
from headrace.arguments import above, whole
from headrace.durability import Durability
from headrace.errors import read_text, refuse_other
from headrace.plan import Plan, plain
from headrace.results import Results
from headrace.trace import Requests, Watch

if TYPE_CHECKING:
    from headrace.document import ScenarioSpec

Json = dict[str, Any]


def schema(of: str = "scenario") -> Json:
    """Return the JSON Schema of a `scenario`, `experiment` or `device`, of `results`, a `solution` or `durability`."""
    return dict(json.loads(_core.schema(of)))


def check(
    path: "Scenario | str | Path | None" = None,
    *,
    text: str | None = None,
    changes: Mapping[str, object] | None = None,
) -> Json:
    """Read and check a scenario; return it with its defaults filled in.

    `changes` replaces values of the document: `{"run.seed": 7}`.

    Raises `ScenarioError` with all errors, as text and as JSON.
    """
    return _asked(path, text, changes).check()


class Scenario:
    r"""A scenario, read from a file or a text, perhaps with some values replaced. It is immutable.

    >>> users = "workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}"
    >>> clerk = Scenario("system: {clerk: {type: station, service: 8 ms}}\n" + users)
    >>> slower = clerk.with_({"system.clerk.service": "12 ms"})
    >>> slower.check()["system"]["clerk"]["service"]
    '12 ms'
    """

    def __init__(self, text: str, file: str = "<text>", changes: Mapping[str, object] | None = None) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a scenario is read from text, not {type(text).__name__}; `Scenario.of` takes a mapping")
        self.text, self.file, self.changes = text, file, dict(changes or {})
        self._kept: list[tempfile.TemporaryDirectory[str]] = []
        self._read: Plan | None = None
        """What `with_` read to check its places: the first plan, so that a run reads once."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy in another process needs: the plan that `with_` made is read again there."""
        return self.__dict__ | {"_read": None}

    @classmethod
    def of(cls, document: "ScenarioSpec") -> "Scenario":
        """Return the scenario that a mapping describes, typed as `headrace.document` has it.

        >>> Scenario.of({
        ...     "system": {"clerk": {"type": "station", "service": {"exponential": "8 ms"}}},
        ...     "workload": {"users": {"to": "clerk", "arrivals": {"poisson": "100 /s"}}},
        ... }).check()["workload"]["users"]["op"]
        'read'
        """
        return cls(json.dumps(document, default=plain))

    def with_(self, changes: Mapping[str, object]) -> "Scenario":
        """Return the scenario with other values: `{"system.tds.disks": 8}`.

        Raises `ScenarioError` where a place does not exist, or its value is invalid there. What else is wrong with the
        scenario, `check` and `run` say.
        """
        if not changes:
            return self
        changed = Scenario(self.text, self.file, self.changes | dict(changes))
        changed._kept = self._kept
        changed._refuse_if_about(changes)
        return changed

    def _refuse_if_about(self, places: Mapping[str, object]) -> None:
        """Raise what is wrong with the document if some of it is about one of these places."""
        try:
            self._read = self.plan()
        except ScenarioError as error:
            if any(_is_about(problem, place) for problem in json.loads(error.problems) for place in places):
                raise

    def with_requests(self, stream: str, requests: Requests, **replay: object) -> "Scenario":
        r"""Return the scenario with requests of your own instead of what `stream` draws.

        `requests` is whatever `headrace.trace.write` takes: numpy arrays by column, a polars frame, any iterable of
        mappings. They are kept in a temporary file while the scenario is; write them to a file of your own, and name
        that in the scenario, for a run that others can repeat. `replay` says how: `timing`, `speed`, `fit`, as in a
        scenario.

        >>> import numpy as np
        >>> clerk = Scenario(
        ...     "system: {clerk: {type: station, service: 1 ms}}\n"
        ...     "workload: {users: {to: clerk, arrivals: {poisson: 1 /s}}}"
        ... )
        >>> every_ten_ms = {"time_ns": np.arange(50) * 10**7, "op": ["read"] * 50}
        >>> mine = every_ten_ms | {"address": np.zeros(50, dtype=int), "bytes": np.full(50, 512)}
        >>> results = clerk.with_requests("users", mine).run()
        >>> results.streams.select("completed", "mean_ms").row(0)
        (50, 1.0)
        """
        folder = tempfile.TemporaryDirectory(prefix="headrace-")
        file = Path(folder.name) / "requests.csv"
        trace.write(file, requests)
        told = {"trace": str(file), "format": "headrace"} | replay
        changed = self.with_({f"workload.{stream}.arrivals": {"replay": told}})
        changed._kept = [*self._kept, folder]
        return changed

    def plan(self) -> Plan:
        """Read it once, to be checked, solved, run, and run further; raise `ScenarioError` where it cannot be read."""
        read, self._read = self._read, None
        return read or Plan(self.text, self.file, self.changes)

    def inputs(self) -> list[Path]:
        """Return the files that it is read from: its own, traces, logs and job files that it names, devices."""
        return self.plan().inputs

    @property
    def remarks(self) -> list[str]:
        """Options that are ignored of a job file of fio, with the reason."""
        return self.plan().remarks

    def check(self) -> Json:
        """Return the scenario with its defaults filled in; raise `ScenarioError` with all errors."""
        plan = self.plan()
        plan.check()
        return plan.spec

    def filled(self) -> Json:
        """Return the scenario with its defaults filled in, whether or not it can sustain its load."""
        return self.plan().spec

    def solve(self, *, load: tuple[float, float] | None = None, simulate: bool = False) -> solution.Solution:
        """Solve it as a network of queues, by formulas: throughput, response and utilisation against load.

        `load` is from where to where: clients of closed streams, requests/s of open ones; default: from little
        to saturation. With `simulate` every load is simulated too. Raises `ScenarioError` as `check` does, and where no
        formula applies, with the assumption that fails. An overload is an answer here.
        """
        found = self.plan().solve(load)
        return solution.simulate(found, self) if simulate else found

    def durability(
        self,
        *,
        years: float = 5.0,
        stretch: str | None = None,
        replications: int = 8,
        within: float = 0.05,
        threads: int | None = None,
    ) -> Durability:
        """Estimate the chance of data loss from its `rates`: in a year, in `years`, and its causes.

        Rebuilds are simulated under its load, `replications` times each for at most `stretch`, by default a minute, or
        less under a high load; the rest of a longer one is extrapolated. Failures and repairs are simulated by
        importance sampling until the relative half-width of the interval, as far as cycles reduce it, is at most
        `within`. Raises `ScenarioError` as `check` does, and where rates are missing or make no sense.
        """
        return self.plan().durability(
            years=years, stretch=stretch, replications=replications, within=within, threads=threads
        )

    def run(
        self,
        *,
        seed: int | None = None,
        replications: int | None = None,
        threads: int | None = None,
        watch: Watch | None = None,
        requests: str | Path | None = None,
        timeline: str | Path | None = None,
        first: int = 100,
        theory: bool = True,
        headroom: bool | None = None,
        replication: int | None = None,
        widen: float = 1.0,
    ) -> Results:
        """Simulate it, and return the results.

        Replications run on `threads` threads (default: all processors); the results do not depend on how many. `watch`
        is called a few times a second with the number of requests completed, their total, and the longest queues as
        (component, number waiting); while a trace is read before the run, with the number of requests read, zero and
        no queues. Ctrl-C ends the run within a second; the results so far are returned with `complete` false.
        `requests` names a folder for every request, as Parquet (see `headrace.requests.RequestLog`), `timeline` a file
        for the paths of the `first` requests, as Chrome trace events (see `headrace.timeline`). `theory=False` omits
        the analytic solution, to save time. `headroom` says whether an estimated headroom is refined by short
        simulations at several times the load, which take about as long as the run; by default it is if theory is
        wanted. `replication` is the index of the first replication, counted
        from 0: number 10 is the same whether or not others were run before it. `widen` multiplies the width of
        intervals, for runs whose replications were added until intervals were narrow. Raises
        `ScenarioError` as `check` does. Where a file cannot be written (a full disk) the results are still returned,
        with the warning `headrace.files.NotKept`. `headrace.experiment.run_until_precise` adds replications until an
        answer is as precise as asked for.
        """
        whole(threads=threads, replications=replications)
        whole(0, seed=seed, first=first, replication=replication)
        above(widen=widen)
        asked = {"run.seed": seed, "run.replications": replications}
        plan = self.with_({path: value for path, value in asked.items() if value is not None}).plan()
        return plan.run(
            threads=threads,
            watch=watch,
            requests=requests,
            timeline=timeline,
            first=first,
            theory=theory,
            headroom=theory if headroom is None else headroom,
            replication=replication,
            widen=widen,
        )

    def __repr__(self) -> str:
        return f"<Scenario {self.file}{' with ' + str(self.changes) if self.changes else ''}>"


def _is_about(problem: Json, place: str) -> bool:
    """Return true if a problem is about what was put at a place: there, within or around it, or by its name."""
    at, put = (path.replace("[", ".").replace("]", "") for path in (problem["path"], place))
    is_put = problem["line"] is None
    within, around = f"{at}.".startswith(f"{put}."), is_put and put.startswith(f"{at}.")
    return within or around or (not at and problem["message"].startswith(f"`{place}`"))


def load(path: str | Path) -> Scenario:
    """Read a scenario from its file; raise `ScenarioError` where that cannot be read."""
    if not isinstance(path, str | Path):
        raise TypeError(f"a scenario's file is expected, not a {type(path).__name__}: `Scenario.of` takes a mapping")
    text = read_text(path)
    refuse_other(path, text)
    return Scenario(text, str(path))


def _asked(path: Scenario | str | Path | None, text: str | None, changes: Mapping[str, object] | None) -> Scenario:
    """Return the scenario that is given in one of three ways: itself, its file, its text."""
    if (path is None) == (text is None):
        raise TypeError("give either a path (or a scenario) or a text")
    given = Scenario(text or "") if path is None else path if isinstance(path, Scenario) else load(path)
    return given.with_(changes or {})


def run(
    path: Scenario | str | Path | None = None,
    *,
    text: str | None = None,
    changes: Mapping[str, object] | None = None,
    threads: int | None = None,
    watch: Watch | None = None,
    requests: str | Path | None = None,
) -> Results:
    """Run a scenario, given as a file, a text or a `Scenario`, in one call: see `Scenario.run`."""
    return _asked(path, text, changes).run(threads=threads, watch=watch, requests=requests)


def solve(
    path: Scenario | str | Path | None = None,
    *,
    text: str | None = None,
    changes: Mapping[str, object] | None = None,
    load: tuple[float, float] | None = None,
    simulate: bool = False,
) -> solution.Solution:
    """Solve a scenario, given as a file, a text or a `Scenario`, by formulas in one call: see `Scenario.solve`."""
    return _asked(path, text, changes).solve(load=load, simulate=simulate)
