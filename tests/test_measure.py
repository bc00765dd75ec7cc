"""`headrace measure` with a real fio: what it finds, what it refuses, and that it leaves nothing behind."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Run, real_program, wait_until
from headrace.measurement import fio as formats
from headrace.measurement import load
from headrace.measurement.benchmark import FOLDER, Plan, measure

SMALL = ("--record-sizes", "64 KiB,256 KiB", "--file-sizes", "1 MiB", "--buffered")


def test_every_combination_is_measured_and_nothing_is_left(headrace: Run, tmp_path: Path) -> None:
    real_program("fio")
    target = tmp_path / "target"
    target.mkdir()
    (target / "mine").write_text("precious")
    more = ("--streams", "1,2", "--repeat", 2, "--transfers", tmp_path / "logs", "-o", tmp_path / "m.json")
    ran = headrace("measure", target, *SMALL, *more)
    assert ran.returncode == 0, ran.stderr
    found = load(tmp_path / "m.json")
    assert {point["op"] for point in found.points} == {"read", "write"}
    # Two record sizes × two numbers of streams × two repetitions × (write, read, and a mixed job of both).
    assert len(found.points) == 2 * 2 * 2 * 4
    alone = [point for point in found.points if point["read_share"] in {0.0, 1.0}]
    shapes = {(point["block_bytes"], point["numjobs"]) for point in alone}
    assert shapes == {(64 << 10, 1), (64 << 10, 2), (256 << 10, 1), (256 << 10, 2)}
    assert all(point["ios"] * point["block_bytes"] == point["numjobs"] << 20 for point in alone)
    assert found.machine["fio"].startswith("fio-3.")
    assert {"kernel", "cpu", "cores", "memory_bytes"} <= set(found.machine)
    assert [file.name for file in target.iterdir()] == ["mine"]
    assert (target / "mine").read_text() == "precious"
    logs = sorted((tmp_path / "logs").iterdir())
    assert len(logs) == 2 * (1 + 2) * 2 * 3  # One for each stream of each run.
    assert formats.trace(logs[0]).save(tmp_path / "t.csv")["requests"] > 0


def test_what_could_destroy_data_is_refused(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("precious")
    (tmp_path / "link").symlink_to("/dev/null")
    for target, why in {
        tmp_path / "mine": "did not make",
        Path("/dev/null"): "is a device",
        tmp_path / "link": "is a device",
        tmp_path / "none": "No such file",
    }.items():
        ran = headrace("measure", target, *SMALL)
        assert ran.returncode == 2
        assert why in ran.stderr
    assert (tmp_path / "mine").read_text() == "precious"


def test_a_plan_that_cannot_be_is_refused(headrace: Run, tmp_path: Path) -> None:
    for options, why in (
        (("--file-sizes", "1000 TiB"), "MB free"),
        (("--record-sizes", "3 KiB", "--file-sizes", "1 MiB"), "whole number of records"),
        (("--record-sizes", "100 B", "--file-sizes", "1000 B"), "past the page cache"),
        (("--fio", "/none/fio"), "fio is not at /none/fio"),
        (("--streams", "0"), "1 to 1000"),
        (("--ops", "trim"), "write, read, mixed"),
        (("--record-sizes", "big"), "big"),
    ):
        ran = headrace("measure", tmp_path, *options)
        assert ran.returncode == 2, ran.stdout
        assert why in ran.stderr
        assert list(tmp_path.iterdir()) == []


def test_fio_that_is_absent_or_fails_is_named(headrace: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = tmp_path / "fails"
    fails.write_text("#!/bin/sh\necho 'fio: pid=1, err=5, error=Input/output error'\nexit 1\n")
    fails.chmod(0o755)
    target = tmp_path / "target"
    target.mkdir()
    ran = headrace("measure", target, *SMALL, "--fio", fails)
    assert (ran.returncode, "fio failed: fio: pid=1, err=5" in ran.stderr) == (2, True)
    monkeypatch.setenv("PATH", str(tmp_path))
    ran = headrace("measure", target, *SMALL)
    assert (ran.returncode, "apt-get install fio" in ran.stderr) == (2, True)
    assert list(target.iterdir()) == []


def processes_in(folder: Path) -> list[str]:
    """Return the processes whose working directory is in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder) in os.readlink(process / "cwd"):
                found.append(process.name)
        except OSError:
            pass
    return found


def pending(process: int) -> int:
    """Return the set of signals that a process has not taken yet."""
    status = Path(f"/proc/{process}/status").read_text()
    return sum(int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd")))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
@pytest.mark.parametrize("times", [1, 3])
def test_ctrl_c_leaves_nothing(tmp_path: Path, how: signal.Signals, times: int) -> None:
    real_program("fio")
    options = ["--record-sizes", "4 KiB", "--file-sizes", "64 MiB", "--streams", "2", "--repeat", "1000", "--buffered"]
    command = [str(Path(sys.executable).with_name("headrace")), "measure", str(tmp_path), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: list(tmp_path.glob(f"{FOLDER}*/data.*")), process)
    assert processes_in(tmp_path), process.communicate()
    for _ in range(times):
        process.send_signal(how)
        wait_until(lambda: process.poll() is not None or not pending(process.pid))
    said, wrong = process.communicate()
    # A signal that comes when all is cleared away finds nobody who hears it otherwise.
    assert process.returncode in ({130} if times == 1 else {130, -how})
    assert said == ""
    assert "Traceback" not in wrong
    assert list(tmp_path.iterdir()) == []
    assert processes_in(tmp_path) == []


def test_python_measures_too(tmp_path: Path) -> None:
    real_program("fio")
    plan = Plan(records=(4096,), files=(1 << 16,), ops=("read",), repeat=1, random=True, buffered=True)
    told: list[str] = []
    found = measure(tmp_path, plan, tell=told.append)
    [point] = found.points
    assert (point["op"], point["pattern"], point["ios"], point["file_bytes"]) == ("read", "random", 16, 1 << 16)
    assert ["write, 1 × 65536 B" in told[0], "read, 1 × 65536 B" in told[1]] == [True, True]
    assert json.dumps(found.as_json())
