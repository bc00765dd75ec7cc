"""The runs behind an answer: a short one at once, then longer ones while nothing changes, and pairs with A."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from headrace._core import ScenarioError
from headrace.experiment.compare import Comparison, compare
from headrace.experiment.design import Experiment, Point
from headrace.experiment.engines import Local
from headrace.experiment.rounds import run
from headrace.experiment.table import Table
from headrace.experiment.task import Cancelled
from headrace.explore.fields import Field
from headrace.results import Results
from headrace.scenario import Scenario

Json = dict[str, Any]

# The first run is to take this long, by what the last one took, and ends at the limit whatever it has.
FIRST_S, FIRST_LIMIT_MS = 0.1, 150
# What is known of no run yet: requests/s.
UNKNOWN_RATE = 20_000.0
LEAST_REQUESTS = 200
# More than any run has: its time alone ends it.
ENDLESS = 1 << 62
LONGER = 4
# Narrow enough: half of each interval is within this share of its mean.
NARROW = 0.01
MOST_REPLICATIONS = 16
# How often a run that waits for others asks whether it is still wanted.
WAITING_S = 0.05
PAIRS, PAIRS_FIRST_S = 10, 0.5
# A sweep along a field runs this number of its stops, each with this number of replications.
SWEPT, SWEPT_REPLICATIONS, SWEPT_S = 9, 3, 0.2


class Stopped(Exception):
    """A newer change came."""


@dataclass(frozen=True)
class Found:
    """Current results of a design."""

    doing: str
    """Current activity, in words."""
    done: bool = False
    """True if no further results follow."""
    results: Results | None = None
    error: ScenarioError | None = None
    comparison: Comparison | None = None
    sweep: Table | None = None


Deliver = Callable[[Found], object]


class ProgressiveRun:
    """Does the runs behind one design after another, each on a thread of its own; a newer one stops the older."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        # Two: an older run hears that it is stopped within 50 ms, and the newer does not wait for it.
        self._room = threading.BoundedSemaphore(2)
        self._rate = UNKNOWN_RATE

    def stop(self) -> None:
        """End what is running."""
        self._stop.set()

    def start(self, scenario: Scenario, pinned: Scenario | None, tell: Deliver) -> None:
        """Run a design, and its pairs with A where one is pinned; `tell` hears of it on another thread."""
        self._begin(lambda runs: runs.narrow(scenario, pinned), tell)

    def sweep(self, scenario: Scenario, field: Field, tell: Deliver) -> None:
        """Run a design at stops of a field."""
        self._begin(lambda runs: runs.sweep(scenario, field), tell)

    def _begin(self, what: Callable[["_Runs"], Iterator[Found]], tell: Deliver) -> None:
        self._stop.set()
        self._stop = stop = threading.Event()
        threading.Thread(target=self._go, args=(what, stop, tell), daemon=True).start()

    def _go(self, what: Callable[["_Runs"], Iterator[Found]], stop: threading.Event, tell: Deliver) -> None:
        # A run that is stopped while it waits ends, so that threads do not pile up behind one that is slow to stop.
        while not self._room.acquire(timeout=WAITING_S):
            if stop.is_set():
                return
        try:
            runs = _Runs(stop, self._rate)
            try:
                for found in what(runs):
                    runs.go_on()
                    tell(found)
            except ScenarioError as error:
                if not stop.is_set():
                    tell(Found("", done=True, error=error))
            except (Stopped, Cancelled):
                pass
            self._rate = runs.rate
        finally:
            self._room.release()


@dataclass
class _Runs:
    stop: threading.Event
    rate: float
    """Requests simulated a second, by the last run."""

    def go_on(self, *_: object) -> None:
        """Raise `Stopped` where a newer change came: the `watch` of all runs."""
        if self.stop.is_set():
            raise Stopped

    def narrow(self, scenario: Scenario, pinned: Scenario | None) -> Iterator[Found]:
        """Give what is found of a design: soon, and then ever more surely."""
        wanted = _run_of(scenario)
        most = wanted.get("requests", ENDLESS)
        requests = self._requests(FIRST_S, most)
        results = self._run(scenario, requests, theory=False, limited=True, threads=1)
        yield Found(f"first look: {_answered(results):,} requests", results=results)
        if pinned:
            yield self._pairs(pinned, scenario, self._requests(PAIRS_FIRST_S / PAIRS, most))
        while True:
            requests = min(max(LONGER * requests, LEAST_REQUESTS), most)
            results = self._run(scenario, requests)
            # A trace may end before.
            if requests >= most or not results.complete or _answered(results) < requests // 2:
                break
            length = f" of {most:,}" if most < ENDLESS else ""
            yield Found(f"narrowing: {requests:,}{length} requests", results=results)
        yield Found("narrowing: more replications", results=results)
        yield from self._replicate(scenario, results, max(wanted["replications"], 4))
        if pinned:
            yield self._pairs(pinned, scenario, most)
        yield Found("", done=True)

    def _replicate(self, scenario: Scenario, results: Results, replications: int) -> Iterator[Found]:
        """Give the means of ever more replications, until the intervals are narrow."""
        while results.complete and not _is_narrow(results) and replications <= MOST_REPLICATIONS:
            results = self._run(scenario, None, replications=replications)
            yield Found(f"narrowing: {replications} replications", results=results)
            replications *= 2

    def _requests(self, seconds: float, most: int) -> int:
        return int(min(max(self.rate * seconds, LEAST_REQUESTS), most))

    def _run(
        self,
        scenario: Scenario,
        requests: int | None,
        *,
        replications: int = 1,
        theory: bool = True,
        limited: bool = False,
        threads: int | None = None,
    ) -> Results:
        self.go_on()
        changes: Json = {"run.replications": replications}
        changes |= {"run.requests": requests} if requests else {}
        changes |= {"run.limits.wall_time": f"{FIRST_LIMIT_MS} ms"} if limited else {}
        began = time.perf_counter()
        results = scenario.with_(changes).run(theory=theory, threads=threads, watch=self.go_on)
        if not theory:
            self.rate = _answered(results) / max(time.perf_counter() - began, 1e-3)
        return results

    def _pairs(self, a: Scenario, b: Scenario, requests: int) -> Found:
        length = {"run.requests": requests, "run.replications": 1}
        engine = Local(cancelled=self.stop.is_set)
        found = compare(a.with_(length), b.with_(length), replications=PAIRS, engine=engine, watch=self.go_on)
        return Found(f"compared with A: {PAIRS} pairs of {requests:,} requests", comparison=found)

    def sweep(self, scenario: Scenario, field: Field) -> Iterator[Found]:
        """Give the table of a design at stops of a field, from end to end."""
        requests = self._requests(SWEPT_S, _run_of(scenario).get("requests", ENDLESS))
        stops = spread(field, SWEPT)
        points = tuple(Point({field.place: stop}) for stop in stops)
        short = scenario.with_({"run.requests": requests})
        experiment = Experiment(short, points, SWEPT_REPLICATIONS, places=(field.place,))
        table = run(experiment, engine=Local(cancelled=self.stop.is_set), watch=self.go_on)
        yield Found(f"swept {field.place}: {len(stops)} values, {requests:,} requests each", done=True, sweep=table)


def spread(field: Field, most: int) -> list[Any]:
    """Return at most this number of the stops of a field, from end to end, with its value among them."""
    if field.kind == "choice" or len(field.stops) <= most:
        return list(field.stops)
    last = len(field.stops) - 1
    chosen = {round(at * last / (most - 1)) for at in range(most)} | {field.at}
    return [field.stops[at] for at in sorted(chosen)]


def _run_of(scenario: Scenario) -> Json:
    return dict(scenario.filled()["run"])


def _answered(results: Results) -> int:
    return int(sum(stream["completed"] for stream in results.data["streams"]))


def _is_narrow(results: Results) -> bool:
    """Return true if the interval of each stream's mean can be trusted and is narrow."""
    responses = [stream["response"] for stream in results.data["streams"] if stream["response"]["count"]]
    return all(
        one["half_width_ms"]
        and one["interval"]
        and one["interval"]["trusted"]
        and one["half_width_ms"] <= NARROW * one["mean_ms"]
        for one in responses
    )
