"""Scenarios from Python: load one, change it, check it, run it."""

import json
import os
import tempfile
import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace import _core, fio_workload, solution, trace
from headrace.errors import is_path, read_text, refuse_endless, refuse_other
from headrace.files import NotKept, keep_apart
from headrace.requests import RequestLog
from headrace.results import Results
from headrace.timeline import write as write_timeline
from headrace.trace import Requests, Watch

if TYPE_CHECKING:
    from headrace.document import ScenarioSpec

Json = dict[str, Any]


def _sets(changes: Mapping[str, object] | None) -> list[tuple[str, str]]:
    put = (changes or {}).items()
    return [(path, value if isinstance(value, str) else json.dumps(value, default=_plain)) for path, value in put]


def _plain(value: Any) -> object:
    """Return the plain number that a number of numpy's stands for, or the list that its array does."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value of a scenario is text, a number, a list or a mapping, not a {type(value).__name__}")


def _named(fields: Collection[str], text: str, changes: Mapping[str, object]) -> list[str]:
    """Return the texts that stand under some fields of a scenario, and those that changes put there."""
    import yaml  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    put = (value for path, value in changes.items() if path.rpartition(".")[2] in fields)
    found = [str(value) for value in put if isinstance(value, str | Path)]
    left: list[Any] = []
    for document in (text, *(value for _, value in _sets(changes))):
        with suppress(yaml.YAMLError, RecursionError):  # `check` reports a file that cannot be parsed.
            left.append(yaml.load(document, yaml.BaseLoader))
    seen = set[int]()  # Aliases can name what contains them.
    while left:
        node = left.pop()
        if id(node) in seen or not isinstance(node, dict | list):
            continue
        seen.add(id(node))
        left += node.values() if isinstance(node, dict) else node
        if isinstance(node, dict):
            found += [value for field, value in node.items() if field in fields and isinstance(value, str)]
    return found


def schema(of: str = "scenario") -> Json:
    """Return the JSON Schema of a document for editors: a `scenario`, an `experiment` or a `device`."""
    found = dict(json.loads(_core.schema(of)))
    return fio_workload.in_schema(found) if of == "scenario" else found


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
        self.text, self.file, self.changes = text, file, dict(changes or {})
        self._kept: list[tempfile.TemporaryDirectory[str]] = []

    @classmethod
    def of(cls, document: "ScenarioSpec") -> "Scenario":
        """Return the scenario that a mapping describes, typed as `headrace.document` has it.

        >>> Scenario.of({
        ...     "system": {"clerk": {"type": "station", "service": {"exponential": "8 ms"}}},
        ...     "workload": {"users": {"to": "clerk", "arrivals": {"poisson": "100 /s"}}},
        ... }).check()["workload"]["users"]["op"]
        'read'
        """
        return cls(json.dumps(document))

    def with_(self, changes: Mapping[str, object]) -> "Scenario":
        """Return the scenario with other values: `{"system.tds.disks": 8}`."""
        changed = Scenario(self.text, self.file, self.changes | dict(changes))
        changed._kept = self._kept
        return changed

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

    def inputs(self) -> list[Path]:
        """Return the files that it is read from: its own, the traces that it names, the devices beside it."""
        folder = Path(self.file).parent
        own = [] if self.file == "<text>" else [Path(self.file)]
        traces = [folder / name for name in _named({"trace"}, self.text, self.changes)]
        job = fio_workload.found(self.text, self.changes)
        jobs = [folder / job.job] if job else []
        return [*own, *traces, *jobs, *self._devices()]

    def _sets(self, changes: Mapping[str, object] | None = None) -> list[tuple[str, str]]:
        """Return the changes to the text: the streams of a job file of fio, then all others."""
        changes = self.changes if changes is None else changes
        job = fio_workload.found(self.text, changes)
        if job is None:
            return _sets(changes)
        streams, _ = job.lowered(Path(self.file).parent)
        return _sets(streams | {path: value for path, value in changes.items() if not job.uses(path)})

    @property
    def remarks(self) -> list[str]:
        """Options that are ignored of a job file of fio, with the reason."""
        job = fio_workload.found(self.text, self.changes)
        return job.lowered(Path(self.file).parent)[1] if job else []

    def _devices(self) -> list[Path]:
        """Return the files of the devices beside it, and of those that it names by their paths."""
        folder = Path(self.file).parent
        named = _named({"device", "like"}, self.text, self.changes)
        return [*sorted((folder / "devices").glob("*.yaml")), *(folder / name for name in named if is_path(name))]

    def _refuse_endless_devices(self) -> None:
        """Refuse device files that are not plain files: reading one may never end."""
        for device in self._devices():
            if device.stem in self.text or device.parent.name != "devices":
                refuse_endless(device)

    def check(self) -> Json:
        """Return the scenario with its defaults filled in; raise `ScenarioError` with all errors."""
        return self.checked()[0]

    def checked(self) -> tuple[Json, list[str]]:
        """Return the same, with notes on its components and options."""
        self._refuse_endless_devices()
        filled, notes = _core.check(self.text, self.file, self._sets())
        return dict(json.loads(filled)), [*self.remarks, *notes]

    def filled(self) -> Json:
        """Return the scenario with its defaults filled in, whether or not it can sustain its load."""
        self._refuse_endless_devices()
        return dict(json.loads(_core.read(self.text, self.file, self._sets())))

    def graph(self) -> Json:
        """Return its components by number (`path`, `group`, `kind`), and the names of the groups."""
        return dict(json.loads(_core.graph(self.text, self.file, self._sets())))

    def solve(self, *, load: tuple[float, float] | None = None, simulate: bool = False) -> solution.Solution:
        """Solve it as a network of queues, by formulas: throughput, response and utilisation against load.

        `load` is from where to where: clients of closed streams, requests/s of open ones; default: from little
        to saturation. With `simulate` every load is simulated too. Raises `ScenarioError` as `check` does, and where no
        formula applies, with the assumption that fails. An overload is an answer here.
        """
        self._refuse_endless_devices()
        found = solution.solve(self.text, self.file, self._sets(), load)
        return solution.simulate(found, self) if simulate else found

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
        the analytic solution, to save time. `replication` is the index of the first replication, counted
        from 0: number 10 is the same whether or not others were run before it. `widen` multiplies the width of
        intervals, for runs whose replications were added until intervals were narrow. Raises
        `ScenarioError` as `check` does. Where a file cannot be written (a full disk) the results are still returned,
        with the warning `headrace.files.NotKept`.
        """
        keep_apart({"requests": requests, "timeline": timeline}, self.inputs())
        asked = {"run.seed": seed, "run.replications": replications}
        self._refuse_endless_devices()
        changes = self.changes | {path: value for path, value in asked.items() if value is not None}
        processors = threads or os.cpu_count() or 1
        log = _request_log(requests, Scenario(self.text, self.file, changes)) if requests else None
        followed = first if timeline else 0
        found, journeys = _core.run(
            self.text, self.file, self._sets(changes), processors, watch, log, followed, theory, replication, widen
        )
        results = Results(json.loads(found))
        if log and log.lost:
            _warn(log.lost, requests)
        if timeline:
            try:
                write_timeline(results.data, json.loads(journeys), timeline)
            except OSError as error:
                _warn(error, timeline)
        return results

    def __repr__(self) -> str:
        return f"<Scenario {self.file}{' with ' + str(self.changes) if self.changes else ''}>"


def _warn(error: OSError, file: str | Path | None) -> None:
    """Warn that a file could not be written, so that the answer is not lost with it."""
    warnings.warn(f"{file} cannot be written: {error.strerror or error}", NotKept, stacklevel=3)


def _request_log(folder: str | Path, scenario: Scenario) -> RequestLog:
    return RequestLog(folder, list(scenario.check()["workload"]), scenario.graph())


def load(path: str | Path) -> Scenario:
    """Read a scenario from its file; raise `ScenarioError` where that cannot be read."""
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
