"""`make fuzz`: runs random systems for as long as is wanted, and keeps the document of each that goes wrong.

Every document is tried in a process that may crash, hang or ask for too much memory. Its number says which it was.
`--of` tries other things: documents and traces that are damaged as text, and sweeps that are killed.
"""

import argparse
import contextlib
import io
import json
import math
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import attacks
import headrace
import systems
from headrace.view.terminal import report as terminal

Json = dict[str, Any]

WALL_TIME_S = 1.0
HUNG_S = 120.0
MEMORY = 2 << 30
LIMITS = {"run.limits": json.dumps({"wall_time": f"{WALL_TIME_S} s"})}


@dataclass
class Tried:
    """What trying a document told."""

    number: int
    wrong: list[str] = field(default_factory=list)
    ended: str = "refused"
    kinds: set[str] = field(default_factory=set)
    beyond_s: float = 0.0
    """Processor time of a step beyond what it may take, at most."""


class Trial:
    """Tries one document."""

    def __init__(self, number: int, folder: Path) -> None:
        self.tried = Tried(number)
        self.whole = headrace.Scenario(json.dumps(systems.system(number)), str(folder / "fuzz.yaml"))

    def step(self, does: Any, may_take_s: float = WALL_TIME_S) -> Any:
        """Do a step; return what it gives, or the error by which it refuses the document."""
        began = time.process_time()
        try:
            return does()
        except headrace.ScenarioError as error:
            return error
        except BaseException as error:
            self.tried.wrong.append(f"{type(error).__name__}: {error}")
            return error
        finally:
            self.tried.beyond_s = max(self.tried.beyond_s, time.process_time() - began - may_take_s)

    def of(self) -> Tried:
        """Check, solve and run the document, twice, and judge what is said."""
        scenario = self.step(lambda: self.whole.with_(LIMITS))
        if isinstance(scenario, headrace.Scenario):
            self.ask(scenario)
        return self.tried

    def ask(self, scenario: headrace.Scenario) -> None:
        """Check, solve and run a document that has a place for limits."""
        refused = self.step(scenario.check)
        # Formulas, and a simulation under the limits.
        solved = self.step(lambda: scenario.solve().data, 2 * WALL_TIME_S)
        results = self.step(lambda: scenario.run(threads=1))
        if isinstance(results, Exception) != isinstance(refused, Exception):
            self.tried.wrong.append(f"check: {refused!s:.300}, run: {results!s:.300}")
        if isinstance(solved, dict):
            self.tried.wrong += [f"solve: {where} is {value}" for where, value in impossible(solved)]
        if isinstance(results, headrace.Results):
            self.judge(scenario, results)

    def judge(self, scenario: headrace.Scenario, results: headrace.Results) -> None:
        """Judge what a run says, in itself and beside a second run."""
        data: Any = results.data
        self.tried.ended, self.tried.kinds = data["ended"], {one["kind"] for one in data["components"]}
        self.tried.wrong += [f"run: {where} is {value}" for where, value in impossible(data)]
        self.tried.wrong += list(unaccounted(data))
        with contextlib.redirect_stdout(io.StringIO()):
            self.step(lambda: terminal.show(results.report()))
        if not hurried(data):
            again = self.step(lambda: scenario.run(threads=2).data)
            if again != data and isinstance(again, dict) and not any(map(hurried, (data, again))):
                self.tried.wrong.append(f"not the same twice: {sorted(key for key in data if data[key] != again[key])}")


def hurried(data: Json) -> bool:
    """Return true if `wall_time` ended the run, or the simulations that measure headroom."""
    return bool(data["ended"] == "too_long" or (data["bottleneck"] or {}).get("cut_off"))


def impossible(value: Any, where: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of an answer that are none, and shares that are none."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key != "scenario":
                yield from impossible(inner, f"{where}.{key}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from impossible(inner, f"{where}[{at}]")
    elif isinstance(value, float):
        is_share = where.endswith((".utilisation", ".blocked", ".stalled", ".share")) and "points" not in where
        if not math.isfinite(value) or (is_share and not 0 <= value <= 1):
            yield where, value


def unaccounted(data: Json) -> Iterator[str]:
    """Yield the streams whose requests are not all accounted for."""
    for stream in data["streams"]:
        told = [stream[name] for name in ("completed", "in_flight", "dropped", "expired", "failed")]
        if stream["issued"] != sum(told):
            yield f"{stream['name']}: {stream['issued']} issued, {told} accounted for"


def tried_by(attack: Callable[[int, Path], list[str]]) -> Callable[[int, Path], Tried]:
    """Return an attack as the trial of a number."""
    return lambda number, folder: Tried(number, attack(number, folder), "done")


OF: dict[str, Callable[[int, Path], Tried]] = {
    "systems": lambda number, folder: Trial(number, folder).of(),
    "documents": tried_by(attacks.document),
    "traces": tried_by(attacks.damaged_trace),
    "kills": tried_by(attacks.kills),
}


def work(numbers: Connection, folder: Path, what: str) -> None:
    """Try what has the numbers that come in, and send what each told."""
    sys.setrecursionlimit(10_000)
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    while (number := numbers.recv()) is not None:
        numbers.send(OF[what](number, folder))


@dataclass
class Worker:
    """A process, the number that it tries, and when that began."""

    folder: Path
    what: str
    number: int | None = None

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        context = get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=work, args=(other, self.folder, self.what))
        self.process.start()
        other.close()

    def give(self, number: int | None) -> None:
        self.number, self.since = number, time.monotonic()
        self.pipe.send(number)

    def told(self) -> Tried | None:
        """Return what its document told, if it has; start a new process where this one died or hangs."""
        assert self.number is not None
        wrong = ""
        try:
            if self.pipe.poll():
                tried: Tried = self.pipe.recv()
                return tried
        except (EOFError, ConnectionResetError):
            self.process.join()
            wrong = f"died with {self.process.exitcode}"
        if not wrong and time.monotonic() - self.since > HUNG_S:
            wrong = f"no answer after {HUNG_S:.0f} s"
            self.process.kill()
        if not wrong:
            return None
        self.start()
        return Tried(self.number, [wrong], "lost")


def fuzz(first: int, count: int, folder: Path, processes: int = 1, what: str = "systems") -> Iterator[Tried]:
    """Try `count` of these from number `first` on, and yield what each told."""
    systems.write_files(folder)
    numbers = iter(range(first, first + count))
    workers = [Worker(folder, what) for _ in range(min(processes, count))]
    for worker in workers:
        worker.give(next(numbers))
    while workers:
        wait([worker.pipe for worker in workers], timeout=1)
        for worker in list(workers):
            if tried := worker.told():
                worker.give(next(numbers, None))
                if worker.number is None:
                    workers.remove(worker)
                    worker.process.join()
                yield tried


def main() -> None:
    """Fuzz, and say what was found."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--of", choices=OF, default="systems", help="what is tried")
    options.add_argument("--seed", type=int, default=0, help="number of the first document")
    options.add_argument("--count", type=int, default=10_000, help="number of documents")
    options.add_argument("--processes", type=int, default=2)
    options.add_argument("--keep", type=Path, default=Path("target/fuzz"), help="folder of documents that went wrong")
    asked = options.parse_args()
    asked.keep.mkdir(parents=True, exist_ok=True)
    ends, wrong, slow = Counter[str](), 0, 0
    for tried in fuzz(asked.seed, asked.count, asked.keep, asked.processes, asked.of):
        ends[tried.ended] += 1
        is_slow = tried.beyond_s > 0.1
        wrong, slow = wrong + bool(tried.wrong), slow + is_slow
        if tried.wrong or is_slow:
            if asked.of == "systems":
                (asked.keep / f"{tried.number}.json").write_text(json.dumps(systems.system(tried.number), indent=1))
            for said in tried.wrong or [f"a step took {tried.beyond_s:.2f} s more than it may"]:
                print(f"{asked.of} {tried.number}: {said}", flush=True)
    print(f"{asked.count} {asked.of}: {wrong} wrong, {slow} more than 0.1 s beyond their time; ended: {dict(ends)}")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
