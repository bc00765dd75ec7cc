"""The unit of an experiment: one replication of one point."""

import functools
import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, TypedDict

from headrace import devices
from headrace._core import ScenarioError
from headrace.errors import is_overload, is_path
from headrace.experiment.design import Point, Value
from headrace.experiment.objective import in_time
from headrace.result_types import ComponentResults, ResponseResults, ResultsData, StreamResults
from headrace.results import is_saturated, is_served_whole
from headrace.scenario import Scenario

Json = dict[str, Any]


class Record(TypedDict):
    """Outcome of a task."""

    point: str
    replication: int
    values: dict[str, Value]
    ok: bool
    reason: str | None
    """Reason of the failure; `None` if the task succeeded."""
    overloaded: bool
    """True if the task failed because the system is overloaded."""
    saturated: bool
    """True if the load is more than is sustained, so that response times grow with run length."""
    final: bool
    """True if the outcome is the same on any machine."""
    trusted: bool
    """True if the run's own interval can be trusted for every stream."""
    seconds: float
    host: str
    metrics: dict[str, float | None]


class Cancelled(Exception):
    """Someone lost patience."""


@dataclass(frozen=True)
class Task:
    """One replication of one point of a scenario: all that a worker needs to know."""

    text: str
    file: str
    changes: dict[str, object]
    point: Point
    replication: int

    @property
    def key(self) -> tuple[str, int]:
        """A name that it has everywhere."""
        return self.point.key, self.replication

    def run(self, cancelled: Callable[[], bool] = lambda: False) -> Record:
        """Simulate it; what fails (a bad combination, an unbearable load) is recorded with its reason."""

        def watch(*_: object) -> None:
            if cancelled():
                raise Cancelled

        began = time.perf_counter()
        scenario = Scenario(self.text, self.file, self.changes | dict(self.point.values) | {"run.replications": 1})
        try:
            found = scenario.run(threads=1, watch=watch, theory=False, replication=self.replication).data
        except ScenarioError as error:
            reason = str(json.loads(error.problems)[0]["message"])
            return self._record(began, reason=reason, overloaded=is_overload(error))
        if not found["complete"]:
            overloaded, final = found["ended"] in OVERLOADED, found["ended"] not in OF_THE_MACHINE
            return self._record(began, reason=str(found["notes"][0]), overloaded=overloaded, final=final)
        intervals = [stream["response"]["interval"] for stream in found["streams"]]
        saturated = is_saturated(found) and not is_served_whole(found)
        trusted = not saturated and all(interval is not None and interval["trusted"] for interval in intervals)
        return self._record(
            began, trusted=trusted, saturated=saturated, metrics=metrics(found) | costs(found, Path(self.file).parent)
        )

    def _record(
        self,
        began: float,
        *,
        reason: str | None = None,
        overloaded: bool = False,
        saturated: bool = False,
        final: bool = True,
        trusted: bool = False,
        metrics: Json | None = None,
    ) -> Record:
        return Record(
            point=self.point.key,
            replication=self.replication,
            values=dict(self.point.values),
            ok=reason is None,
            reason=reason,
            overloaded=overloaded,
            saturated=saturated,
            final=final,
            trusted=trusted,
            seconds=time.perf_counter() - began,
            host=socket.gethostname(),
            metrics=metrics or {},
        )


# Ends of systems that cannot keep up.
OVERLOADED = ("too_many_in_flight", "too_many_parts")
# Ends that another machine, or another day, may not come to.
OF_THE_MACHINE = ("too_long", "trace_lost", "cancelled")


def metrics(found: ResultsData) -> dict[str, float | None]:
    """Return the numbers of a run by name, such as `users.mean_ms`, `users.recall.p99_ms`, `tds/spindle.queue`."""
    numbers: dict[str, float | None] = {}
    for stream in found["streams"]:
        name = stream["name"]
        numbers |= {f"{name}.{rate}": stream[rate] for rate in ("requests_per_s", "bytes_per_s")}
        numbers |= {f"{name}.{loss}": share for loss, share in _lost(stream).items()}
        numbers |= {f"{name}.{number}": value for number, value in _training(stream).items()}
        numbers |= _response(name, stream["response"])
        by_op = {"reads": stream["reads"], "writes": stream["writes"], **stream["operations"]}
        for op, response in by_op.items():
            numbers |= _response(f"{name}.{op}", response) if response else {}
    numbers |= {in_time(one): one["share"] for one in found["objectives"]}
    for group, members in alike(found["components"]).items():
        for number in ("utilisation", "queue", "undestaged"):
            of_each = [value for member in members if (value := member[number]) is not None]
            numbers |= {f"{group}.{number}": max(of_each)} if of_each else {}
        for state in ("unsettled", "cold"):
            numbers |= {f"{group}.{state}": 1.0} if any(member[state] for member in members) else {}
        numbers |= {f"{group}/{what}.utilisation": max(of_each) for what, of_each in _portions(members).items()}
        of_meters = {name: fmean(of_each) for name, of_each in _meters(members).items()}
        if waiting := [of_meters[queue] for queue in QUEUES if queue in of_meters]:
            of_meters["lost_job_hours"] = sum(waiting) * found["simulated_s"] / 3600
        numbers |= {f"{group}.{name}": value for name, value in of_meters.items()}
        numbers |= {f"{group}.{time}": None for time in _unfinished(members)}
    return numbers


# Where requests queue before an archive: a job-hour is lost for each hour that one waits there.
QUEUES = ("held_back_by_limits", "waiting_for_ports")


def _portions(members: list[ComponentResults]) -> dict[str, list[float]]:
    """Return the utilisation of servers that stand in for no others: a class of ports, the arms of a group."""
    found: dict[str, list[float]] = {}
    for portion in (portion for member in members for portion in member["portions"]):
        found.setdefault(portion["what"], []).append(portion["utilisation"])
    return found


def _lost(stream: StreamResults) -> dict[str, float]:
    """Return the shares of its requests that were dropped, expired or failed, and of the time for which it was blocked.

    The last only where the stream has a limit of requests in flight.
    """
    issued = max(stream["issued"], 1)
    shares = {loss: stream[loss] / issued for loss in ("dropped", "expired", "failed")}
    return shares if stream["blocked"] is None else shares | {"blocked": stream["blocked"]}


def _training(stream: StreamResults) -> dict[str, float | None]:
    """Return the numbers of accelerators that it feeds, if it does: those that there are."""
    steps: Mapping[str, Any] = {**stream["steps"]} if stream["steps"] else {}
    numbers = {number: steps[number] for number in TRAINING if steps.get(number) is not None}
    return numbers | ({"unsettled": 1.0} if steps.get("au_at_most") else {})


def alike(components: list[ComponentResults]) -> dict[str, list[ComponentResults]]:
    """Return the components by group: copies of one part together."""
    groups: dict[str, list[ComponentResults]] = {}
    for component in components:
        groups.setdefault(component["group"], []).append(component)
    return groups


def _meters(members: list[ComponentResults]) -> dict[str, list[float]]:
    """Return the meters of alike components: the values of those that have one, by name."""
    names = dict.fromkeys(name for member in members for name in member["meters"])
    values = {name: [member["meters"][name] for member in members] for name in names}
    return {name: known for name, of in values.items() if (known := [one for one in of if one is not None])}


def _unfinished(members: list[ComponentResults]) -> list[str]:
    """Return the times of work that had not ended with the run: `rebuild_s` of a rebuild that was half done."""
    shares = [(name, share) for member in members for name, share in member["meters"].items() if share is not None]
    return [name.replace("_progress", "_s") for name, share in shares if name.endswith("_progress") and share < 1]


# What of the time of the slowest requests of a stream a component took: their wait for it, and its service.
SLOWEST_WAIT, SLOWEST_WORK = ": slowest waiting", ": slowest in service"

COSTS = ("price", "power", "rack_units")
DRIVES = ("disk", "ssd")


def costs(found: ResultsData, beside: Path) -> dict[str, float | None]:
    """Return what the drives of a system cost together (`system.price` …), as far as each of them says so."""
    drives = [part["written"] for part in found["components"] if part["kind"] in DRIVES]
    scenario: Json = {**found["scenario"]}
    numbers = [_numbers(_written(scenario, drive)["device"], beside) for drive in drives]
    return {
        f"system.{cost}": sum(_plain(one[cost]) for one in numbers)
        for cost in COSTS
        if numbers and all(one.get(cost) is not None for one in numbers)
    }


def _written(scenario: Json, place: str) -> Json:
    """Return what is written at a place of the document, such as `parts.spindle`; a name may hold dots itself."""
    for key, inner in scenario.items():
        if place == key:
            return dict(inner)
        if place.startswith(f"{key}.") and isinstance(inner, dict):
            return _written(inner, place.removeprefix(f"{key}."))
    raise KeyError(place)


def _numbers(device: str | Json, beside: Path) -> Json:
    return _catalogue(device, beside) if isinstance(device, str) else device


@functools.cache
def _catalogue(name: str, beside: Path) -> Json:
    return devices.numbers(str(beside / name) if is_path(name) else name, beside)


def _plain(sourced: Any) -> float:
    return float(sourced["value"] if isinstance(sourced, dict) else sourced)


# Numbers of accelerators that are metrics.
TRAINING = ("au", "samples_per_s", "stall_ms", "start_ms", "checkpoint_ms", "longest_checkpoint_ms", "restore_ms")

# What is recorded to judge the others by, and is no metric itself.
STATISTICS = ("half_width_ms", "settling", SLOWEST_WAIT, SLOWEST_WORK)


def _response(name: str, response: ResponseResults) -> dict[str, float | None]:
    if not response["count"]:
        return {}
    numbers: Mapping[str, Any] = response
    found = {f"{name}.{number}": numbers[number] for number in ("half_width_ms", "settling", "mean_ms", "sd_ms")}
    quantiles = {f"{name}.p{quantile['share'] * 100:g}_ms": quantile["ms"] for quantile in response["quantiles_ms"]}
    return found | quantiles | _slowest(name, response)


def _slowest(name: str, response: ResponseResults) -> dict[str, float | None]:
    """Return the shares of the time of the slowest requests: `users.volume: slowest waiting`."""
    legs = response["slowest"]
    total = sum(leg["waiting_ms"] + leg["service_ms"] + leg["blocked_ms"] for leg in legs)
    waits = {f"{name}.{leg['component']}{SLOWEST_WAIT}": leg["waiting_ms"] + leg["blocked_ms"] for leg in legs}
    works = {f"{name}.{leg['component']}{SLOWEST_WORK}": leg["service_ms"] for leg in legs}
    return {leg: time / total for leg, time in (waits | works).items() if time}
