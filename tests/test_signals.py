"""Ctrl-C is heard, whenever it comes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import ROOT

STRIPED = ROOT / "examples" / "stripe-unit.yaml"
CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 400000}
"""
# Runs so short that one may end by itself before it looks whether anyone lost patience.
SHORT = """
import sys, headrace
print("ready", flush=True)
try:
    for _ in range(500):
        if not headrace.run(sys.argv[1], threads=1).complete:
            raise KeyboardInterrupt
    print("done")
except KeyboardInterrupt:
    print("heard")
"""


def interrupted(command: list[str], after: float) -> tuple[int, str, str]:
    """Start a command, press Ctrl-C `after` seconds after its first line, and return how it ended and what it said."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    said, wrong = process.communicate(timeout=60)
    return process.returncode, said, wrong


def test_no_short_run_swallows_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CLERK)
    command = [sys.executable, "-c", SHORT, str(tmp_path / "a.yaml")]
    heard = [interrupted(command, 0.02 + 0.01 * at)[1] for at in range(20)]
    assert heard == ["heard\n"] * 20


def test_an_interrupted_study_says_so() -> None:
    study = "import headrace.cli\nprint('ready', flush=True)\nheadrace.cli.main()"
    code, said, wrong = interrupted([sys.executable, "-c", study, "study", "run", "san-queueing"], 3)
    assert (code, said) == (130, "")
    assert wrong.splitlines()[-1] == "interrupted"


@pytest.mark.parametrize("seconds", [0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8])
def test_a_study_hears_ctrl_c_from_the_first(seconds: float) -> None:
    study = "import headrace.cli\nprint('ready', flush=True)\nheadrace.cli.main()"
    code, said, wrong = interrupted([sys.executable, "-c", study, "study", "run", "all"], seconds)
    assert code in (130, -signal.SIGINT), said
    assert "Traceback" not in wrong


def test_what_a_run_found_until_ctrl_c_is_printed(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CLERK.replace("400000", "2000000000"))
    run = "import headrace.cli, sys\nprint('ready', flush=True)\nheadrace.cli.main()"
    code, said, _ = interrupted([sys.executable, "-c", run, "run", str(tmp_path / "a.yaml"), "--json"], 2)
    assert code == 130
    assert json.loads(said)["ended"] == "cancelled"


def test_ctrl_c_ends_the_simulations_beside_a_solution(tmp_path: Path) -> None:
    """The load being simulated is cut short: it and those after it are left out, and the formulas stay."""
    (tmp_path / "a.yaml").write_text(CLERK.replace("400000", "2000000000"))
    solve = "import headrace.cli, sys\nprint('ready', flush=True)\nheadrace.cli.main()"
    arguments = ["solve", str(tmp_path / "a.yaml"), "--simulate", "--json"]
    code, said, wrong = interrupted([sys.executable, "-c", solve, *arguments], 2)
    assert (code, "interrupted" in wrong) == (130, True)
    points = json.loads(said)["points"]
    assert len(points) > 1
    assert all(point["simulated"] is None and point["throughput_per_s"] for point in points)


@pytest.mark.parametrize("asked", [["schema"], ["devices", "seagate-st3500630ns"], ["run", str(STRIPED)]])
def test_a_reader_that_has_seen_enough_is_no_error(asked: list[str]) -> None:
    command = [sys.executable, "-c", "import headrace.cli; headrace.cli.main()", *asked]
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (ran.stderr, ran.returncode) == ("", 0)
