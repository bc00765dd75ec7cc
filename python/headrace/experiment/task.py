"""The unit of an experiment: one replication of one point."""

import json
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from headrace._core import ScenarioError
from headrace.experiment.design import Point, Value
from headrace.scenario import Scenario

Json = dict[str, Any]


class Record(TypedDict):
    """What became of a task."""

    point: str
    replication: int
    values: dict[str, Value]
    ok: bool
    reason: str | None
    """Why it failed."""
    trusted: bool
    """Whether the run's own interval can be trusted, of every stream."""
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
            return self._record(began, reason=str(json.loads(error.problems)[0]["message"]))
        if not found["complete"]:
            return self._record(began, reason=str(found["notes"][0]))
        intervals = [stream["response"]["interval"] for stream in found["streams"]]
        trusted = all(interval is not None and interval["trusted"] for interval in intervals)
        return self._record(began, trusted=trusted, metrics=metrics(found))

    def _record(
        self, began: float, *, reason: str | None = None, trusted: bool = False, metrics: Json | None = None
    ) -> Record:
        return Record(
            point=self.point.key,
            replication=self.replication,
            values=dict(self.point.values),
            ok=reason is None,
            reason=reason,
            trusted=trusted,
            seconds=time.perf_counter() - began,
            host=socket.gethostname(),
            metrics=metrics or {},
        )


def metrics(found: Json) -> dict[str, float | None]:
    """Return the numbers of a run by name, such as `users.mean_ms`, `users.reads.p99_ms`, `tds/spindle.queue`."""
    numbers: dict[str, float | None] = {}
    for stream in found["streams"]:
        name = stream["name"]
        numbers |= {f"{name}.{rate}": stream[rate] for rate in ("requests_per_s", "bytes_per_s")}
        numbers |= _response(name, stream["response"])
        for op in ("reads", "writes"):
            numbers |= _response(f"{name}.{op}", stream[op]) if stream[op] else {}
    for part in found["components"]:
        # Of what is alike, the busiest.
        for number in ("utilisation", "queue"):
            busiest = numbers.get(f"{part['group']}.{number}")
            if part[number] is not None:
                numbers[f"{part['group']}.{number}"] = max(part[number], busiest or 0.0)
    return numbers


def _response(name: str, response: Json) -> dict[str, float | None]:
    return {f"{name}.{number}": response[number] for number in ("mean_ms", "half_width_ms", "sd_ms")} | {
        f"{name}.p{quantile['share'] * 100:g}_ms": quantile["ms"] for quantile in response["quantiles_ms"]
    }
