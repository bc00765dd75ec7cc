"""`make truth`: holds headroom, `solve` and `capacity` to simulation, on random systems.

Headroom: at 0.9 of it (0.7 where it is marked as an estimate) requests are answered as they come, at 1.1 (1.3) a
backlog grows, unless there is at least that much. `solve`: its mean response is within 5 % of a long simulation of
other seeds where its assumptions hold; where they do not, the error that it states is right within 5 %, or within both
intervals. `capacity`: on ten new seeds in runs three times as long, its answer meets the goal and the next worse value
misses it, as far as intervals tell.
"""

import argparse
import contextlib
import json
import re
import signal
from collections import Counter
from multiprocessing import Pool
from pathlib import Path
from typing import Any

import headrace
import systems
from headrace.experiment.capacity import capacity
from headrace.experiment.design import Experiment, Point
from headrace.experiment.objective import MOST_LOST, Objective, objective
from headrace.experiment.rounds import run

Json = dict[str, Any]
Verdict = tuple[str, str]

REQUESTS = 40_000
BACKLOG = 0.045
"""Share of the requests that wait at the end of an overloaded run: half of what 1.1 times the saturating load leaves.

Where only a part of them waits for what is overloaded, that says so itself.
"""
UNFIT = ("timeout", "outstanding", "when_full")
RUN = {"requests": REQUESTS, "limits": {"wall_time": "20 s", "in_flight": 200_000}}


def loaded(number: int) -> Json | None:
    """Return the document of a number with open streams that lose nothing, or none where its streams are not open."""
    document = systems.Systems(number).document()
    streams = list(document["workload"].values())
    is_open = all(isinstance(stream, dict) and systems.is_open(stream["arrivals"]) for stream in streams)
    if not is_open or any(stream.get("pattern") == "sequential" and "file" in stream for stream in streams):
        return None
    for stream in streams:
        for field in UNFIT:
            stream.pop(field, None)
    for field in ("faults", "objectives"):
        document.pop(field, None)
    for component in document["system"].values():
        for field in ("failed", "excess", "when_full"):
            component.pop(field, None)
    document["run"] = RUN | {"seed": number}
    return document


def times(value: Any, factor: float) -> Any:
    """Return arrivals that are this many times as fast: rates by the factor, times between requests by its inverse."""
    if isinstance(value, dict):
        return {key: times(inner, factor) for key, inner in value.items()}
    if isinstance(value, list):
        return [times(inner, factor) for inner in value]
    if isinstance(value, str) and (found := re.fullmatch(r"(\S+) (/s|ms)", value)):
        number, unit = float(found[1]), found[2]
        return f"{number * factor if unit == '/s' else number / factor!r} {unit}"
    return value


def at_load(document: Json, factor: float, seed: int) -> headrace.Scenario:
    """Return the scenario with all of its load multiplied."""
    workload = {
        name: stream | {"arrivals": times(stream["arrivals"], factor)} for name, stream in document["workload"].items()
    }
    changed = document | {"workload": workload, "run": document["run"] | {"seed": seed}}
    return headrace.Scenario(json.dumps(changed), str(FOLDER / "truth.yaml"))


def backlog(scenario: headrace.Scenario) -> float | None:
    """Return the share of requests that wait at the end: all where overload is foreseen, none if a run is cut."""
    try:
        data = scenario.run(threads=1, theory=False).data
    except headrace.ScenarioError as error:
        if headrace.errors.is_overload(error):
            return 1.0
        raise
    if data["ended"] == "too_many_in_flight" or (data["bottleneck"] and data["bottleneck"]["saturated"]):
        return 1.0
    issued = sum(stream["issued"] for stream in data["streams"])
    return sum(stream["in_flight"] for stream in data["streams"]) / issued if data["complete"] else None


def headroom(number: int) -> Verdict | None:
    """Return the kind of headroom and whether it is right, or none where a system has none to judge."""
    document = loaded(number)
    if document is None:
        return None
    try:
        found = at_load(document, 1.0, number).run(threads=1, theory=False, headroom=True).data
    except headrace.ScenarioError:
        return None
    bottleneck = found["bottleneck"]
    if not found["complete"] or not bottleneck or not bottleneck["saturates_at"]:
        return None
    at, marked = bottleneck["saturates_at"], bottleneck["estimate"] or bottleneck["uneven"] is not None
    if not 1.02 < at < 50:
        return None
    slack = 0.3 if marked else 0.1
    below, above = (backlog(at_load(document, at * factor, number + 1)) for factor in (1 - slack, 1 + slack))
    if below is None or above is None:
        return None
    kind = "at least" if bottleneck["at_least"] else "estimate" if marked else "unmarked"
    enough = above > BACKLOG or bottleneck["at_least"]
    return kind, "too high" if below >= BACKLOG else "right" if enough else "too low"


def plain(number: int) -> Json | None:
    """Return the document of a number without caches, with streams that formulas are known for, if there is one."""
    document = systems.Systems(number).document()
    if "fio" in document["workload"]:
        return None
    for stream in document["workload"].values():
        for field in (*UNFIT, "pattern", "footprint", "region", "file", "files"):
            stream.pop(field, None)
        if not {"poisson", "renewal", "batches", "closed"} & set(stream["arrivals"]):
            stream["arrivals"] = {"poisson": f"{systems.Systems(number).number(1, 300)} /s"}
    for component in (*document["system"].values(), *document.get("parts", {}).values()):
        for field in ("cache", "failed"):
            component.pop(field, None)
    return {key: document[key] for key in ("system", "parts", "workload") if key in document} | {"run": RUN}


def solved(number: int) -> Verdict | None:
    """Return whether the assumptions of `solve` hold and whether it is right, or none where it has no answer."""
    document = plain(number)
    if document is None:
        return None
    scenario = at_load(document, 1.0, number)
    try:
        solution: Any = scenario.solve().data
        other = at_load(document, 1.0, number + 1).with_({"run.replications": 4})
        found: Any = other.run(threads=1, theory=False).data
    except headrace.ScenarioError:
        return None
    own = next((point["response_ms"] for point in solution["points"] if point["own"]), None)
    intervals = [stream["response"]["half_width_ms"] or 0.0 for stream in found["streams"]]
    if own is None or not found["complete"]:
        return None
    rates = [stream["requests_per_s"] for stream in found["streams"]]
    weighed = zip(rates, found["streams"], strict=True)
    truth = sum(rate * stream["response"]["mean_ms"] for rate, stream in weighed) / sum(rates)
    half = sum(rate * half for rate, half in zip(rates, intervals, strict=True)) / sum(rates)
    error = own / truth - 1
    if not solution["fails"]:
        return "assumptions hold", "right" if abs(error) < max(0.05, half / truth) else f"off by {error:+.1%}"
    stated = solution["measured"]
    if stated is None:
        return "error not stated", "right"
    both = (stated["half_width_ms"] + half) / truth
    off = abs(stated["error"] - error)
    return "error stated", "right" if off < max(0.05, both) else f"stated {stated['error']:+.1%}, is {error:+.1%}"


class Questions(systems.Systems):
    """Draws a question of capacity: a document, what to increase, and the goal."""

    def question(self, kind: str) -> tuple[Json, str, str]:
        """Return a question of a kind."""
        asked: tuple[Json, str, str] = getattr(self, kind)()
        return asked

    def users(self, system: Json, rate: float, **more: Any) -> Json:
        """Return a document with one stream of this many requests per second."""
        stream = {"to": "a", "arrivals": {"poisson": f"{rate:.4g} /s"}} | more
        return system | {"workload": {"users": stream}, "run": {"requests": 20_000}}

    def load_of_a_station(self) -> tuple[Json, str, str]:
        """Return how much load a station carries, by a mean or a percentile."""
        servers, mean = self.one(1, 2, 8), self.number(0.1, 20)
        station = {"type": "station", "servers": servers, "service": self.law(mean)}
        goal = f"{self.one('mean', 'p99')}(users) < {self.number(3, 12) * mean:.4g} ms"
        return self.users({"system": {"a": station}}, 300 * servers / mean), RATE, goal

    def disks_of_an_array(self) -> tuple[Json, str, str]:
        """Return how few disks carry a load, by a percentile."""
        level, disks = self.one(("raid0", 4), ("raid10", 8), ("raid5", 6))
        part = {"type": "disk", "device": self.one(*systems.DISKS), "positioning": self.one("mechanical", "coupled")}
        array = {"type": "array", "level": level, "of": "d", "disks": disks, "stripe_unit": "64 KiB"}
        some = {"op": {"reads": "70 %"}, "size": self.one("4 KiB", "64 KiB"), "pattern": "uniform"}
        goal = f"p95(users.{self.one('reads', 'writes')}) < {self.number(30, 120):.3g} ms"
        rate = self.number(100, 900)
        return self.users({"parts": {"d": part}, "system": {"a": array}}, rate, **some), "system.a.disks", goal

    def load_of_a_cached_array(self) -> tuple[Json, str, str]:
        """Return how much load an array with a cache that writes back carries."""
        cache = {"size": self.one("4 MiB", "64 MiB"), "writes": "back"}
        array = {
            "type": "array",
            "level": "raid5",
            "of": "d",
            "disks": 6,
            "stripe_unit": "64 KiB",
            "controllers": ["c"],
        }
        part = {"type": "disk", "device": self.one(*systems.DISKS), "positioning": "coupled"}
        system = {"parts": {"d": part}, "system": {"c": {"type": "controller", "cache": cache}, "a": array}}
        some = {
            "op": {"reads": self.one("0 %", "50 %", "70 %")},
            "size": "8 KiB",
            "footprint": self.one("1 GiB", "8 GiB"),
        }
        skewed = {"pattern": {"hot_spot": {"skew": 1.1, "spots": 65536}}} if self.chance(0.5) else {}
        return self.users(system, 60, **some, **skewed), RATE, f"mean(users) < {self.number(10, 40):.3g} ms"

    def load_of_an_ssd(self) -> tuple[Json, str, str]:
        """Return how much load a solid-state drive carries after everything was overwritten."""
        drive = self.ssd() | {"written": "100 %", "overwritten": 1}
        some = {"op": {"reads": self.one("30 %", "70 %")}, "size": "4 KiB", "pattern": "uniform"}
        return self.users({"system": {"a": drive}}, 2000, **some), RATE, f"p99(users) < {self.number(1, 20):.3g} ms"

    def users_that_think(self) -> tuple[Json, str, str]:
        """Return how many users one disk serves."""
        disk = {"type": "disk", "device": self.one(*systems.DISKS), "positioning": "mechanical", "queue_depth": 32}
        document = self.users({"system": {"a": disk}}, 1, size="4 KiB", pattern="uniform")
        closed = {"closed": {"depth": 4, "think": {"exponential": self.time(20, 200)}}}
        document["workload"]["users"]["arrivals"] = closed
        goal = f"p90(users) < {self.number(40, 200):.3g} ms"
        return document, "workload.users.arrivals.closed.depth", goal

    def bursts(self) -> tuple[Json, str, str]:
        """Return how few servers answer arrivals in bursts, of which hosts keep a bounded number outstanding."""
        station = {"type": "station", "servers": 4, "service": {"exponential": "8 ms"}}
        document = self.users({"system": {"a": station}}, 1, outstanding=self.one(50, 500), when_full="drop")
        burst = f"{self.number(300, 1500)} /s"
        times = {"calm_for": self.time(100, 1000), "burst_for": self.time(50, 300)}
        document["workload"]["users"]["arrivals"] = {"bursty": {"calm": "50 /s", "burst": burst} | times}
        return document, "system.a.servers", f"mean(users) < {self.number(10, 30):.3g} ms"


RATE = "workload.users.arrivals.poisson"
KINDS = (
    *("load_of_a_station", "disks_of_an_array", "load_of_a_cached_array"),
    *("load_of_an_ssd", "users_that_think", "bursts"),
)


def judged_again(scenario: headrace.Scenario, asked: Objective, number: int, times: int, **changed: Any) -> bool | None:
    """Return whether a goal is met on ten new seeds in runs this many times as long; none where that cannot be told."""
    length = times * scenario.filled()["run"]["requests"]
    point = Point(changed)
    again = scenario.with_({"run.seed": number + 1_000_000, "run.requests": length})
    table = run(Experiment(again, (point,), 10))
    if table.reason(point) or any(record["saturated"] for record in table.of(point)):
        return False
    dropped = table.mean(point, "users.dropped")
    if dropped and dropped[0] > MOST_LOST:
        return False
    found = table.mean(point, asked.metric(table.metrics))
    return None if found is None else asked.is_met(found[0], found[1] or 0.0)


def sized(number: int) -> Verdict | None:
    """Return the kind of a question of capacity and whether its answer is right, or none where it has no two ends."""
    kind = KINDS[number % len(KINDS)]
    document, path, goal = Questions(number).question(kind)
    document["run"]["seed"] = number
    scenario = headrace.Scenario(json.dumps(document), str(FOLDER / "truth.yaml"))
    try:
        found = capacity(scenario, path, goal, within=0.05)
    except headrace.ScenarioError as error:
        return kind, f"refused: {error}".partition(chr(10))[0]
    if not found.meets or not found.fails:
        return None
    ends = {True: found.meets, False: found.fails}
    asked = objective(goal, bounded=True)
    again = {
        # A load that cannot be sustained misses the goal only once the backlog has grown.
        met: judged_again(
            scenario, asked, number, (3 if asked.text in probe.found else 30) * found.times, **{path: probe.value}
        )
        for met, probe in ends.items()
    }
    wrong = [
        f"{ends[met].value} {'meets' if met else 'fails'}"
        for met, now in again.items()
        if now is not None and now != met
    ]
    return kind, " and ".join(wrong) + f" {goal}, not on other seeds" if wrong else "right"


MODES = {"headroom": headroom, "solve": solved, "capacity": sized}
FOLDER = Path("target/truth")


def main() -> None:
    """Judge systems until `count` of them have an answer, or Ctrl-C, and print how many are right."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("mode", choices=MODES)
    options.add_argument("--seed", type=int, default=0, help="number of the first document")
    options.add_argument("--count", type=int, default=200, help="number of answers")
    options.add_argument("--processes", type=int, default=2)
    asked = options.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    systems.write_files(FOLDER)
    counts: Counter[tuple[str, bool]] = Counter()
    ignores = (signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(KeyboardInterrupt), Pool(asked.processes, signal.signal, ignores) as pool:
        judged = pool.imap(MODES[asked.mode], range(asked.seed, asked.seed + 100 * asked.count))
        for number, verdict in enumerate(judged, asked.seed):
            if verdict is None:
                continue
            kind, said = verdict
            counts[kind, said == "right"] += 1
            if said != "right":
                print(f"{number}: {kind}: {said}", flush=True)
            if sum(counts.values()) == asked.count:
                break
        pool.terminate()
    for kind in sorted({kind for kind, _ in counts}):
        print(f"{kind}: {counts[kind, True]} of {counts[kind, True] + counts[kind, False]} right")


if __name__ == "__main__":
    main()
