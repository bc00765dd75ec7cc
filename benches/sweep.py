"""The figures of sweeps, printed and put into a JSON file: `python benches/sweep.py bench.json`.

With `--once` each is measured once instead of three times. With `--smallest` each is done once, at its smallest size,
which only shows that it works.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from headrace import Scenario, Storage, sweep
from headrace.experiment import stored
from headrace.experiment.engines import Local
from headrace.experiment.query import query
from headrace.experiment.task import Record
from headrace.studies.alice_tds import system
from headrace.study import find

CLERK = Scenario(
    """
    system: {clerk: {type: station, service: {exponential: 8 ms}}}
    workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
    """
)
RATE = "workload.users.arrivals.poisson"
SMALLEST = "--smallest" in sys.argv
TIMES = 1 if SMALLEST or "--once" in sys.argv else 3


def rates(points: int) -> dict[str, object]:
    """Return this number of loads."""
    return {RATE: {"from": "10 /s", "to": "110 /s", "points": 2 if SMALLEST else points}}


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the seconds that `work` takes by a clock: the least of `TIMES`."""
    times = []
    for _ in range(TIMES):
        began = clock()
        work()
        times.append(clock() - began)
    return min(times)


def overhead_ms() -> float:
    """Return what a point costs, kept in a store, that simulates next to nothing."""

    def once() -> None:
        with tempfile.TemporaryDirectory() as folder:
            sweep(CLERK.with_({"run.requests": 10}), rates(1000), replications=1, store=folder, engine=Local(1))

    return seconds(once)


def speedup() -> float:
    """Return how much sooner two workers are done with 200 points than one."""
    scenario = CLERK.with_({"run.requests": 1000 if SMALLEST else 400_000})

    def by(workers: int) -> float:
        return seconds(lambda: sweep(scenario, rates(200), replications=1, engine=Local(workers)))

    return by(1) / by(2)


def query_s() -> float:
    """Return the seconds that it takes to list and query a store of 100,000 records."""
    with tempfile.TemporaryDirectory() as folder:
        sweep(CLERK.with_({"run.requests": 10}), rates(1000), replications=1, store=folder)
        _, records = stored.everything(folder)
        replications = range(2 if SMALLEST else 100)
        many: list[Record] = [record | {"replication": at} for at in replications for record in records]
        stored.write_compacted(Path(folder), many)
        return seconds(lambda: query(folder, f'SELECT "{RATE}", runs, "users.mean_ms" FROM points ORDER BY 3'))


def alice_s() -> float:
    """Return the seconds that the study of the ALICE arrays takes, or its first point."""
    began = time.perf_counter()
    if SMALLEST:
        system.rates(system.Point("infortrend", short=True))
    else:
        find("alice-tds").run()
    return time.perf_counter() - began


def host() -> Storage:
    """Return a mechanical disk for this program."""
    return Storage(Scenario("system: {d: {type: disk, device: seagate-st32171w, positioning: mechanical}}"))


def submitted_per_s(work: Callable[[Storage, np.ndarray, np.ndarray], None]) -> float:
    """Return the requests that this program submits and collects a CPU second."""
    requests = 1000 if SMALLEST else 200_000
    dice = np.random.default_rng(1)
    address, gap = dice.integers(0, 2_000_000_000 // 8192, requests) * 8192, 25_000_000
    at_ns = np.arange(requests) * gap
    return requests / seconds(lambda: work(host(), address, at_ns), time.process_time)


def batches_per_s() -> float:
    """Return the rate of requests submitted in batches."""

    def work(storage: Storage, address: np.ndarray, at_ns: np.ndarray) -> None:
        for part in range(0, len(address), 10_000):
            some = slice(part, part + 10_000)
            storage.submit_all("d", [0], address=address[some], size=np.array([8192]), at_ns=at_ns[some])
            storage.completions(int(at_ns[some][-1]))

    return submitted_per_s(work)


def one_by_one_per_s() -> float:
    """Return the rate of requests submitted one at a time."""

    def work(storage: Storage, address: np.ndarray, at_ns: np.ndarray) -> None:
        for where, when in zip(address.tolist(), at_ns.tolist(), strict=True):
            storage.submit("d", "read", address=where, size=8192, at_ns=max(when, storage.now_ns))
            storage.next_completion()

    return submitted_per_s(work)


FIGURES = {
    "embedded_python_requests_per_cpu_s": (
        "requests of a Python program to a disk, in batches",
        batches_per_s,
    ),
    "embedded_python_one_by_one_per_s": ("requests of a Python program to a disk, one at a time", one_by_one_per_s),
    "sweep_overhead_ms_per_point": ("a point that simulates ten requests, kept in a store, ms", overhead_ms),
    "sweep_speedup_2_cores": ("a sweep of 200 points: one worker's time over that of two", speedup),
    "results_query_s": ("100,000 records listed by point and asked, s", query_s),
    "alice_tds_study_s": ("the study alice-tds, all figures, s", alice_s),
}


def main() -> None:
    """Measure, print, and add to the file."""
    file = Path(sys.argv[1])
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    for name, (what, measure) in FIGURES.items():
        found[name] = measure()
        print(f"{name:36} {found[name]:>14.3f}  {what}")
    file.write_text(json.dumps(found, indent=2, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
