"""Storage inside other programs: Python's own loop, SimPy, and C."""

import copy
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
import simpy

from conftest import ROOT
from headrace import Scenario, ScenarioError, Storage
from headrace.simpy import Disks

SYSTEM = """
parts: {drive: {type: disk, device: seagate-st32171w, positioning: mechanical}}
system: {volume: {type: array, level: raid5, of: drive, disks: 4, stripe_unit: 64 KiB}}
"""
LOAD = """
workload: {volume: {to: volume, arrivals: {poisson: 60 /s}, size: 8 KiB, op: {reads: 60 %}}}
run: {requests: 800, warm_up: none}
"""
KEPT = 700
# Those that are answered before the first which is left out comes.
KNOWN = 680
# A put of 50 MB takes 0.5 s and 10 s, a get 0.25 s and 10 s. From tape, a file of 20 MB takes 60 s to load, 20 s to
# read, 0.25 s and 4 s.
ARCHIVE = """
system:
  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 100 MB, rate: 5 MB/s}
  tapes: {type: tape_library, groups: [{drives: 1, rate: 1 MB/s}], cartridge: 1 GB, load: 60 s}
  door: {type: front, put_latency: 0.5 s, get_latency: 0.25 s}
  archive: {type: archive, pool: disks, library: tapes, front: door}
"""
STATION = "system: {clerk: {type: station, service: 5 ms, capacity: 1 TB}}"


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> polars.DataFrame:
    """Return requests of a run in order of issue, without the last: some of them were not answered before it ended."""
    file = tmp_path_factory.mktemp("run") / "requests.parquet"
    Scenario(SYSTEM + LOAD).run(requests=file)
    return polars.read_parquet(file).sort("issued_ns").head(KEPT)


def test_batches_get_the_answers_of_a_run(ran: polars.DataFrame) -> None:
    storage, columns = Storage(Scenario(SYSTEM)), ran.to_dict(as_series=False)
    tickets = storage.submit_all(
        "volume", columns["op"], address=columns["address"], size=columns["bytes"], at_ns=columns["issued_ns"]
    )
    done = storage.completions(ran["completed_ns"].to_list()[-1] + 10**9).sort("ticket")
    assert done["ticket"].to_list() == tickets.tolist()[: len(done)]
    assert done["at_ns"].to_list()[:KNOWN] == ran["completed_ns"].to_list()[:KNOWN]
    assert not done["failed"].any()
    used = storage.components
    assert used.row(0, named=True)["requests"] == len(ran)
    assert used["component"].to_list()[:2] == ["volume", "volume/drive[0]"]


def test_components_measure_what_they_measure_in_a_run(tmp_path: Path) -> None:
    system = SYSTEM.replace("disks: 4", "disks: 4, cache: {size: 1 MiB}")
    load = LOAD.replace("60 /s", "1 /s").replace("800", "100")
    found = Scenario(system + load).run(requests=tmp_path / "requests.parquet").data
    asked = polars.read_parquet(tmp_path / "requests.parquet").sort("issued_ns")
    storage = Storage(Scenario(system))
    for row in asked.iter_rows(named=True):
        storage.submit("volume", row["op"], address=row["address"], size=row["bytes"], at_ns=row["issued_ns"])
    storage.advance(round(found["simulated_s"] * 1e9))
    for component in found["components"]:
        assert storage.meters(component["path"]) == pytest.approx(component["meters"])
    assert storage.meters("volume")["accesses_per_request"]
    with pytest.raises(ValueError, match="no component `tank`; there are volume, volume/drive"):
        storage.meters("tank")


def test_results_so_far_are_those_of_a_run(ran: polars.DataFrame) -> None:
    storage = Storage(Scenario(SYSTEM))
    for row in ran.iter_rows(named=True):
        storage.submit("volume", row["op"], address=row["address"], size=row["bytes"], at_ns=row["issued_ns"])
    storage.advance(10**12)
    found = storage.results()
    expected = Scenario(SYSTEM + LOAD).run().data
    assert found["simulated_s"] == pytest.approx(1000)
    assert not found["streams"]
    assert [component["path"] for component in found["components"]] == [
        component["path"] for component in expected["components"]
    ]
    assert found["components"][0]["bytes_per_s"] * found["simulated_s"] == pytest.approx(ran["bytes"].sum())
    assert (found["components"][1]["utilisation"] or 0) > 0
    # Six reads in ten are one access; writes are four.
    assert found["components"][0]["meters"]["accesses_per_request"] == pytest.approx(2.2, rel=0.1)


def test_an_archive_puts_gets_and_recalls_files() -> None:
    storage = Storage(Scenario(ARCHIVE))
    storage.add_file("archive", 7, 20_000_000, on_tape=True)
    with pytest.raises(ValueError, match="`archive` has this file already, of 20000000 B"):
        storage.add_file("archive", 7, 30_000_000)
    with pytest.raises(ValueError, match="a file has at least one byte"):
        storage.add_file("archive", 8, 0)
    with pytest.raises(ValueError, match="whole numbers from 0"):
        storage.add_file("archive", 8, -1)

    def took(*asked: object, **how: int) -> tuple[float, bool]:
        began = storage.now_ns
        storage.submit_file("archive", *asked, **how)  # type: ignore[arg-type]
        done = storage.next_completion()
        assert done
        return (done.at_ns - began) / 1e9, done.failed

    assert took("put", "run-1.dat", size=50_000_000) == (10.5, False)
    assert took("get", "run-1.dat", user=3) == (10.25, False)
    assert took("get", "run-1.dat", size=5_000_000) == (1.25, False)
    assert took("get", 7) == (84.25, False)
    assert took("get", 8) == (0, True)
    assert storage.meters("archive")["pool_hit_ratio"] == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match=r"`put` needs the `size` of `run-1\.dat`"):
        storage.submit_file("archive", "put", "run-1.dat")
    with pytest.raises(ValueError, match="`archive` takes operations on files"):
        storage.submit("archive", "read", address=0, size=512)
    with pytest.raises(ValueError, match="files can be added only before the first request"):
        storage.add_file("archive", 9, 1)
    with pytest.raises(ValueError, match="there is no operation `read` on files; there are get, put, stage"):
        took("read", 1)
    with pytest.raises(ValueError, match="there is no operation `reed`; there are read, write, discard, flush"):
        storage.submit("archive", "reed", address=0, size=512)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a file of 100000001 B does not fit into the 100000000 B of `archive`"):
        took("put", 1, size=100_000_001)


def test_an_archive_serves_a_simpy_model() -> None:
    env, storage = simpy.Environment(), Storage(Scenario(ARCHIVE))
    found: list[float] = []
    storage.add_file("archive", 7, 20_000_000, place=(3, 0))
    archive = Disks(env, storage).archive("archive")

    def client():  # type: ignore[no-untyped-def]
        yield archive.stage(7)
        found.append(env.now)
        yield archive.get(7)
        found.append(env.now)
        yield archive.put(8, 50_000_000)
        yield archive.delete(8)
        yield archive.cancel(7)
        found.append((yield archive.get(8)).failed)

    env.process(client())  # type: ignore[no-untyped-call]
    env.run()
    assert found == [pytest.approx(80), pytest.approx(84.25), True]


def test_requests_one_by_one_get_the_answers_of_a_run(ran: polars.DataFrame) -> None:
    storage, done = Storage(Scenario(SYSTEM)), {}
    for row in ran.head(200).iter_rows(named=True):
        while found := storage.next_completion(row["issued_ns"]):
            done[found.ticket] = found
        storage.submit("volume", row["op"], address=row["address"], size=row["bytes"], at_ns=row["issued_ns"])
    for number, row in enumerate(ran.head(100).iter_rows(named=True)):
        assert done[number].at_ns == row["completed_ns"]
        assert sum(span.ns for span in done[number].spans) == row["completed_ns"] - row["issued_ns"]


def test_a_job_file_of_fio_is_background_load() -> None:
    storage = Storage(ROOT / "examples/fio-job.yaml")
    storage.advance(10**7)
    assert [stream["name"] for stream in storage.results()["streams"]] == ["tables", "log"]
    assert storage.results()["streams"][0]["completed"] > 0


def test_mistakes_are_errors_and_change_nothing() -> None:
    storage = Storage(Scenario(STATION))
    storage.advance(10_000)
    mistakes = (
        ({"target": "clark"}, "there is no target of requests `clark`; there are clerk"),
        ({"at_ns": 5}, "is in the past"),
        ({"address": 10**12}, "end beyond"),
        ({"size": 0}, "one byte at least"),
    )
    for wrong, told in mistakes:
        asked = {"target": "clerk", "op": "read", "address": 0, "size": 1} | wrong
        with pytest.raises(ValueError, match=told):
            storage.submit(**asked)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="is in the past"):
        storage.advance(0)
    for at in (-1, 2**64, 2**64 - 1, 1.5, float("nan")):
        with pytest.raises(ValueError, match=r"later than requests may come|from 0 to 2⁶⁴"):
            storage.submit_all("clerk", "read", address=[0, 0], size=1, at_ns=np.array([10_000, at]))
    lists: tuple[dict[str, list[int]], ...] = (
        {"at_ns": [10_000, 5]}, {"address": [0, 10**12]}, {"size": [1, 0]}, {"size": [1, -1]},
    )  # fmt: skip
    for one in lists:
        several = {"address": [0], "size": [1], "at_ns": [10_000]} | one
        with pytest.raises(ValueError, match=r"past|end beyond|one byte|from 0"):
            storage.submit_all("clerk", "read", **several)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="from 0 to 2⁶⁴"):
        storage.submit("clerk", "read", address=-1, size=1)
    with pytest.raises(ValueError, match="times is inf: give a number from 1"):
        storage.slow("clerk", float("inf"))
    assert storage.completions().is_empty(), "of a call that is refused, nothing is submitted"
    with pytest.raises(ValueError, match="there is no component `desk`"):
        storage.fail("desk")
    with pytest.raises(ScenarioError, match="did you mean `station`"):
        Storage(Scenario("system: {clerk: {type: stition, service: 5 ms}}"))
    assert (storage.next_completion(), storage.now_ns) == (None, 10_000)


def test_what_fails_fails_requests_and_may_return() -> None:
    storage = Storage(Scenario(STATION))
    storage.submit("clerk", "write", address=0, size=1)
    storage.fail("clerk")
    found = storage.next_completion()
    assert found
    assert found.failed
    storage.return_("clerk")
    storage.submit("clerk", "write", address=0, size=1)
    found = storage.next_completion()
    assert found
    assert not found.failed


def test_what_is_slow_takes_longer_until_it_is_not() -> None:
    storage, took = Storage(Scenario(STATION)), []
    for times in (1, 8, 1):
        storage.slow("clerk", times)
        began = storage.now_ns
        storage.submit("clerk", "read", address=0, size=1)
        done = storage.next_completion()
        assert done
        took.append(done.at_ns - began)
    assert took == [5_000_000, 40_000_000, 5_000_000]
    with pytest.raises(ValueError, match=r"times is 0\.5: give a number from 1"):
        storage.slow("clerk", 0.5)


def test_a_storage_may_be_dropped_in_another_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Storage] = []
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    maker = threading.Thread(target=lambda: made.append(Storage(Scenario(STATION))))
    maker.start()
    maker.join()
    with pytest.raises(RuntimeError, match="belongs to the thread that made it"):
        made[0].advance(1)
    made.clear()
    assert unraisable == []


def test_what_the_handler_of_a_signal_raises_ends_a_call() -> None:
    def too_late(*_: object) -> None:
        raise TimeoutError("long enough")

    busy = STATION.replace("5 ms", "1 us") + "\nworkload: {load: {to: clerk, arrivals: {poisson: 500000 /s}}}"
    storage = Storage(Scenario(busy))
    before = signal.signal(signal.SIGALRM, too_late)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(TimeoutError, match="long enough"):
            storage.advance(10**18)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"ops": ["read", "write"], "address": [0, 1, 2]}, "there are 2 of `ops`, 3 of `address`"),
        ({"ops": "read", "address": np.ma.array([0, 1], mask=[False, True])}, "some numbers of `address` are masked"),
    ],
)
def test_arrays_have_a_number_for_each_request(given: dict[str, Any], says: str) -> None:
    storage = Storage(Scenario(STATION))
    with pytest.raises(ValueError, match=re.escape(says)):
        storage.submit_all("clerk", **given, size=512, at_ns=0)
    assert storage.next_completion() is None


def test_a_simpy_model_sees_the_queue_that_simpy_has_itself() -> None:
    """Clients of a station of headrace and of a resource of SimPy: the same times, but for the rounding of floats."""

    def times(ask) -> list[tuple[float, int]]:  # type: ignore[no-untyped-def]
        env, found = simpy.Environment(), []
        serve = ask(env)

        def client(number: int):  # type: ignore[no-untyped-def]
            dice = np.random.default_rng(number)
            for _ in range(200):
                yield env.timeout(dice.exponential(0.03))
                yield from serve()
                found.append((env.now, number))

        for number in range(5):
            env.process(client(number))
        env.run()
        return found

    def own(env: simpy.Environment):  # type: ignore[no-untyped-def]
        clerk = simpy.Resource(env)

        def serve():  # type: ignore[no-untyped-def]
            with clerk.request() as turn:
                yield turn
                yield env.timeout(0.005)

        return serve

    def ours(env: simpy.Environment):  # type: ignore[no-untyped-def]
        disk = Disks(env, Storage(Scenario(STATION)))["clerk"]

        def serve():  # type: ignore[no-untyped-def]
            yield disk.read(0, 4096)

        return serve

    expected, found = times(own), times(ours)
    assert [number for _, number in found] == [number for _, number in expected]
    assert [at for at, _ in found] == pytest.approx([at for at, _ in expected], abs=1e-6)


def test_two_disks_of_one_storage_serve_one_environment() -> None:
    env = simpy.Environment()
    system = "system: {a: {type: station, service: 5 ms}, b: {type: station, service: 7 ms}}"
    disks = Disks(env, Storage(Scenario(system)), unit_s=1e-3)

    def client():  # type: ignore[no-untyped-def]
        yield disks["a"].read(0, 1) & disks["b"].write(0, 1)
        assert env.now == pytest.approx(7)
        yield disks["a"].read(0, 1) | disks["b"].read(0, 1)
        assert env.now == pytest.approx(12)

    env.run(env.process(client()))  # type: ignore[no-untyped-call]


def test_a_component_fails_at_the_present_of_the_environment() -> None:
    env, storage = simpy.Environment(), Storage(Scenario(STATION))
    disks = Disks(env, storage)

    def client():  # type: ignore[no-untyped-def]
        yield env.timeout(1)
        disks.present().fail("clerk")
        assert storage.now_ns == 10**9
        done = yield disks["clerk"].read(0, 1)
        assert done.failed

    env.run(env.process(client()))  # type: ignore[no-untyped-call]


DISK = "system: {disk: {type: disk, device: exos-x18, positioning: mechanical}}"


def log_until(failure_ns: int, *, flush: bool) -> tuple[set[int], set[int]]:
    """Append to a log until power fails: the records that were acknowledged, and the writes that are lost."""
    storage = Storage(Scenario(DISK), remember_writes=True)
    acknowledged: set[int] = set()
    while True:
        record = storage.submit("disk", "write", address=4096 * len(acknowledged), size=4096)
        answered = storage.next_completion(failure_ns)
        if flush and answered:
            storage.submit("disk", "flush", address=0, size=0)
            answered = storage.next_completion(failure_ns)
        if not answered:
            loss = storage.lose_power()
            assert len(loss.unanswered) == 1
            assert all(write.parts == ((write.address, 4096),) and not write.is_torn for write in loss.lost)
            return acknowledged, {write.ticket for write in loss.lost}
        acknowledged.add(record)


def test_a_loss_of_power_takes_what_was_not_flushed() -> None:
    acknowledged, lost = log_until(10**9, flush=False)
    assert lost
    assert lost == set(sorted(acknowledged)[-len(lost) :]), "a log is written in order, so its end is lost"
    acknowledged, lost = log_until(10**9, flush=True)
    assert acknowledged
    assert not lost & acknowledged


def test_power_cannot_fail_where_writes_are_not_remembered() -> None:
    with pytest.raises(ValueError, match="ask for `remember_writes` before the first request"):
        Storage(Scenario(DISK)).lose_power()
    with_load = DISK + "\nworkload: {users: {to: disk, arrivals: {poisson: 9 /s}}}"
    with pytest.raises(ValueError, match="streams of `workload` would go on without power"):
        Storage(Scenario(with_load), remember_writes=True)


def test_nothing_is_waited_for_beside_streams_that_go_on_for_ever() -> None:
    storage = Storage(Scenario(STATION + "\nworkload: {users: {to: clerk, arrivals: {poisson: 9 /s}}}"))
    assert storage.next_completion() is None
    storage.submit("clerk", "read", address=0, size=1)
    assert storage.completions()["ticket"].to_list() == [0]
    assert storage.next_completion() is None
    assert storage.next_completion(10**9) is None
    assert storage.now_ns == 10**9


def test_a_storage_has_one_host_and_no_copies() -> None:
    storage = Storage(Scenario(STATION))
    storage.submit("clerk", "read", address=0, size=1)
    env = simpy.Environment()
    disks = Disks(env, storage)
    with pytest.raises(ValueError, match="belongs to a `Disks` already"):
        Disks(env, storage)
    with pytest.raises(ValueError, match="no target of requests `clark`; there are clerk"):
        disks["clark"]
    disks["clerk"].read(0, 1)
    with pytest.raises(ValueError, match="request 0 was not submitted through `Disks`"):
        env.run()
    with pytest.raises(TypeError, match="a `Storage` cannot be copied"):
        copy.copy(storage)


def test_power_fails_at_the_present_of_the_environment() -> None:
    env = simpy.Environment()
    disks = Disks(env, Storage(Scenario(DISK), remember_writes=True))
    answered: list[int] = []

    def client() -> simpy.events.ProcessGenerator:
        for number in range(10**6):
            answered.append((yield disks["disk"].write(4096 * number, 4096)).ticket)
            if number % 50 == 49:
                yield disks["disk"].flush()

    env.process(client())
    env.run(until=0.5)
    loss = disks.lose_power()
    assert len(answered) > 100
    assert len(loss.unanswered) == 1
    assert {write.ticket for write in loss.lost} <= set(answered[-50:])
    env.run(until=1)
    assert answered[-1] < loss.unanswered[0], "the client waits for an answer that never comes"


def test_what_is_answered_as_power_fails_and_not_heard_is_unanswered() -> None:
    env = simpy.Environment()
    disks = Disks(env, Storage(Scenario(DISK), remember_writes=True))
    write = disks["disk"].write(0, 4096)
    heard: list[int] = []
    write.callbacks.append(lambda event: heard.append(event.value.ticket))
    # The answer is scheduled, and the step that has it happen is not made.
    while not write.triggered:
        env.step()
    loss = disks.lose_power()
    assert (loss.lost, loss.unanswered) == ((), (0,))
    env.run()
    assert heard == []
    again = disks["disk"].write(0, 4096)
    assert env.run(until=again) == again.value


def test_power_may_fail_in_a_process_that_has_just_heard_an_answer() -> None:
    env = simpy.Environment()
    two = "system: {a: {type: station, service: 5 ms}, b: {type: station, service: 5 ms}}"
    disks = Disks(env, Storage(Scenario(two), remember_writes=True))
    heard: list[int] = []

    def client() -> simpy.events.ProcessGenerator:
        first, other = disks["a"].write(0, 4096), disks["b"].write(0, 4096)
        heard.append((yield first).ticket)
        # The other is answered at the same instant, and its event does not happen.
        heard.extend(disks.lose_power().unanswered)
        heard.append((yield disks["a"].read(0, 4096)).ticket)
        assert not other.processed

    env.run(until=env.process(client()))
    assert heard == [0, 1, 2]


def test_storage_and_environment_begin_together() -> None:
    storage = Storage(Scenario(DISK))
    with pytest.raises(ValueError, match="begin both at 0"):
        Disks(simpy.Environment(initial_time=-5), storage)
    storage.advance(10**9)
    with pytest.raises(ValueError, match="begin both at 0"):
        Disks(simpy.Environment(), storage)
    Disks(simpy.Environment(initial_time=1), storage)


@pytest.fixture(scope="module")
def library() -> Path:
    """Return the folder of the library for C. Beside the extension it shares what that was built with."""
    subprocess.run(["cargo", "build", "--quiet", "-p", "headrace-c", "-p", "headrace-py"], cwd=ROOT, check=True)
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug"


def test_every_call_from_c_has_a_status(library: Path) -> None:
    c = ctypes.CDLL(str(library / "libheadrace_c.so"))
    c.headrace_load.restype = c.headrace_error.restype = ctypes.c_void_p
    error = ctypes.create_string_buffer(300)
    assert not c.headrace_load(b"system: {d: {type: dusk}}", b"s.yaml", ctypes.c_uint64(1), error, ctypes.c_size_t(300))
    assert b"did you mean `disk`" in error.value
    storage = ctypes.c_void_p(
        c.headrace_load(STATION.encode(), b"s.yaml", ctypes.c_uint64(1), None, ctypes.c_size_t(0))
    )
    assert c.headrace_slow(storage, b"clerk", 800) == 0
    assert c.headrace_slow(storage, b"clerk", 50) == 2
    assert b"less than usual" in ctypes.string_at(c.headrace_error(storage))
    assert c.headrace_change(storage, b"clerk", 0) == 0
    assert c.headrace_change(storage, b"clerk", 3) == 2
    assert c.headrace_advance(storage, ctypes.c_uint64(1000)) == 0
    assert c.headrace_advance(storage, ctypes.c_uint64(10)) == 1
    assert [
        c.headrace_slow(None, b"clerk", 800),
        c.headrace_change(storage, None, 0),
        c.headrace_submit(storage, None, None),
    ] == [7] * 3
    c.headrace_free(storage)
    c.headrace_free(None)


class Loss(ctypes.Structure):
    """`headrace_loss_of_power`."""

    _fields_ = (
        ("ticket", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("target", ctypes.c_size_t),
        ("unanswered", ctypes.c_uint32),
    )


class Request(ctypes.Structure):
    """`headrace_request`."""

    _fields_ = (
        ("at_ns", ctypes.c_uint64),
        ("target", ctypes.c_size_t),
        ("op", ctypes.c_uint32),
        ("durable", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
    )


class FileRequest(ctypes.Structure):
    """`headrace_file_request`."""

    _fields_ = (
        ("at_ns", ctypes.c_uint64),
        ("target", ctypes.c_size_t),
        ("act", ctypes.c_uint32),
        ("file", ctypes.c_uint64),
        ("bytes", ctypes.c_uint64),
        ("user", ctypes.c_uint64),
        ("host", ctypes.c_uint64),
    )


def test_an_archive_answers_c(library: Path) -> None:
    c = ctypes.CDLL(str(library / "libheadrace_c.so"))
    c.headrace_load.restype = c.headrace_error.restype = ctypes.c_void_p
    c.headrace_number_of.restype = ctypes.c_uint64
    storage = ctypes.c_void_p(
        c.headrace_load(ARCHIVE.encode(), b"s.yaml", ctypes.c_uint64(1), None, ctypes.c_size_t(0))
    )
    target, place = ctypes.c_size_t(), (ctypes.c_uint64 * 2)(3, 0)
    assert c.headrace_target(storage, b"archive", ctypes.byref(target)) == 0
    file, size = ctypes.c_uint64(c.headrace_number_of(b"7")), ctypes.c_uint64(20_000_000)
    assert c.headrace_add_file(storage, target, file, size, 1, place) == 0
    assert c.headrace_add_file(storage, target, ctypes.c_uint64(8), ctypes.c_uint64(1 << 40), 0, None) == 9
    assert b"does not fit" in ctypes.string_at(c.headrace_error(storage))
    assert c.headrace_submit_file(storage, ctypes.byref(FileRequest(0, target.value, 5, 7, 1, 0, 0)), None) == 2
    get = FileRequest(0, target.value, 0, 7, (1 << 64) - 1, 0, 0)
    assert c.headrace_submit_file(storage, ctypes.byref(get), None) == 0
    done = (ctypes.c_uint64 * 3)()
    assert c.headrace_next(storage, ctypes.c_uint64((1 << 64) - 1), done) == 0
    assert (done[0], done[1]) == (0, 84_250_000_000)
    needed = ctypes.c_size_t()
    assert c.headrace_results(storage, None, ctypes.c_size_t(0), ctypes.byref(needed)) == 0
    results = ctypes.create_string_buffer(needed.value)
    assert c.headrace_results(storage, results, needed, ctypes.byref(needed)) == 0
    found = json.loads(results.value)
    meters = {component["path"]: component["meters"] for component in found["components"]}
    assert (found["simulated_s"], meters["tapes"]["mounts"]) == (84.25, 1)
    c.headrace_free(storage)


def test_power_fails_from_c(library: Path) -> None:
    c = ctypes.CDLL(str(library / "libheadrace_c.so"))
    c.headrace_load.restype = ctypes.c_void_p
    storage = ctypes.c_void_p(c.headrace_load(DISK.encode(), b"s.yaml", ctypes.c_uint64(1), None, ctypes.c_size_t(0)))
    number, loss = ctypes.c_size_t(), Loss()
    assert c.headrace_lose_power(storage, ctypes.byref(number)) == 8
    assert c.headrace_remember_writes(storage) == 0
    first = Request(0, 0, 1, 0, 0, 8192)
    second = Request(900_000, 0, 1, 0, 1 << 30, 4096)
    for request in (first, second):
        assert c.headrace_submit(storage, ctypes.byref(request), None) == 0
    assert c.headrace_advance(storage, ctypes.c_uint64(910_000)) == 0
    assert c.headrace_lose_power(storage, ctypes.byref(number)) == 0
    found = []
    for at in range(number.value):
        assert c.headrace_loss(storage, ctypes.c_size_t(at), ctypes.byref(loss)) == 0
        found.append((loss.ticket, loss.address, loss.bytes, loss.target, loss.unanswered))
    assert found == [(0, 0, 8192, 0, 0), (1, 0, 0, 0, 1)]
    assert c.headrace_loss(storage, number, ctypes.byref(loss)) == 2
    c.headrace_free(storage)


def test_a_program_in_c_gets_the_answers_of_a_run(ran: polars.DataFrame, library: Path, tmp_path: Path) -> None:
    program = tmp_path / "replay"
    clean = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror", "-g"]
    source = ["-I", str(ROOT / "crates/c/include"), str(ROOT / "examples/embedded/replay.c")]
    link = [f"-L{library}", "-lheadrace_c", f"-Wl,-rpath,{library}", "-o", str(program)]
    subprocess.run(["cc", *clean, *source, *link], check=True)
    (tmp_path / "scenario.yaml").write_text(SYSTEM)
    ran.select("issued_ns", "op", "address", "bytes").write_csv(tmp_path / "trace.csv")

    def replay(target: str) -> subprocess.CompletedProcess[str]:
        command = [str(program), "scenario.yaml", target, "trace.csv"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    told = replay("volume")
    assert told.returncode == 0, told.stderr
    rows = sorted((int(ticket), int(at), how) for ticket, at, how in (line.split(",") for line in told.stdout.split()))
    assert [at for _, at, _ in rows][:KNOWN] == ran["completed_ns"].to_list()[:KNOWN]
    assert {how for *_, how in rows} == {"ok"}
    wrong = replay("volumes")
    assert (wrong.returncode, "there is no target of requests `volumes`" in wrong.stderr) == (1, True)
    (tmp_path / "trace.csv").write_text("time_ns,op,address,bytes\n0,reed,0,4096\n")
    wrong = replay("volume")
    assert (wrong.returncode, "line 2 of the trace is no request" in wrong.stderr) == (1, True)
