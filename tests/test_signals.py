"""Ctrl-C is heard, whenever it comes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

STRIPED = ROOT / "examples" / "stripe-unit.yaml"
CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 400000}
"""
ENDLESS = CLERK.replace("400000", "2000000000")

# Programs that print `ready` where Ctrl-C shall come, whatever the time is then.
# Runs so short that one may end by itself before it looks whether anyone lost patience.
SHORT = """
import sys, headrace
try:
    for _ in range(500):
        print("ready", flush=True)
        if not headrace.run(sys.argv[1], threads=1).complete:
            raise KeyboardInterrupt
    print("done")
except KeyboardInterrupt:
    print("heard")
"""
# The command line, after it has imported this number of modules.
IMPORTING = """
import sys, headrace.cli
left = int(sys.argv.pop(1))
def hook(event, _):
    global left
    left -= event == "import"
    if event == "import" and left == 0:
        print("ready", flush=True)
sys.addaudithook(hook)
headrace.cli.main()
"""
# The command line: a study has begun its first case, a run has completed requests, a solution simulates a load.
STUDYING = """
import contextlib, headrace.cli
from headrace.view.terminal import progress
progress.of_study = lambda study, quiet: contextlib.nullcontext(lambda case: print("ready", flush=True))
headrace.cli.main()
"""
RUNNING = """
import contextlib, headrace.cli
from headrace.view.terminal import progress
def watch(so_far, *_, told=[]):
    if so_far and not told:
        told.append(print("ready", flush=True))
progress.of_run = lambda quiet: contextlib.nullcontext(watch)
headrace.cli.main()
"""
SIMULATING = """
import headrace.cli
from headrace import solution
simulated = solution._simulated
def begins(*load):
    print("ready", flush=True)
    return simulated(*load)
solution._simulated = begins
headrace.cli.main()
"""


def interrupted(
    program: str, *arguments: object, readies: int = 1, how: signal.Signals = signal.SIGINT
) -> tuple[int, str, str]:
    """Run a program, press Ctrl-C when it has said `ready` so often; return its exit code and its output."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(readies):
        assert process.stdout.readline() == "ready\n"
    process.send_signal(how)
    said, wrong = process.communicate()
    return process.returncode, said.removeprefix("ready\n"), wrong


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """Write a scenario whose run ends by Ctrl-C only."""
    (tmp_path / "a.yaml").write_text(ENDLESS)
    return tmp_path / "a.yaml"


@pytest.mark.parametrize("runs", range(1, 11))
def test_no_short_run_swallows_ctrl_c(tmp_path: Path, runs: int) -> None:
    (tmp_path / "a.yaml").write_text(CLERK)
    _, said, wrong = interrupted(SHORT, tmp_path / "a.yaml", readies=runs)
    assert said.splitlines()[-1:] == ["heard"], wrong


def test_an_interrupted_study_says_so() -> None:
    code, said, wrong = interrupted(STUDYING, "study", "run", "san-queueing")
    assert (code, said.replace("ready\n", "")) == (130, "")
    assert wrong.splitlines()[-1] == "interrupted"


@pytest.mark.parametrize("imports", [1, 10, 30, 60, 100, 150])
def test_a_study_hears_ctrl_c_from_the_first(imports: int) -> None:
    code, said, wrong = interrupted(IMPORTING, imports, "study", "run", "all")
    assert code in (130, -signal.SIGINT), said
    assert "Traceback" not in wrong


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_what_a_run_found_until_ctrl_c_is_printed(endless: Path, how: signal.Signals) -> None:
    code, said, wrong = interrupted(RUNNING, "run", endless, "--json", how=how)
    assert code == 130, wrong
    results = json.loads(said)
    assert (results["complete"], results["ended"]) == (False, "cancelled")
    assert results["streams"][0]["completed"] > 0
    assert any(note.startswith("interrupted") for note in results["notes"])


def test_ctrl_c_while_progress_is_shown_loses_nothing(endless: Path) -> None:
    """As if it came within the function that shows how far the run has got."""
    program = RUNNING.replace(
        'told.append(print("ready", flush=True))', "told.append(signal.raise_signal(signal.SIGINT))"
    )
    command = [sys.executable, "-c", f"import signal\n{program}", "run", str(endless), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, json.loads(ran.stdout)["ended"]) == (130, "cancelled"), ran.stderr


def test_ctrl_c_ends_the_simulations_beside_a_solution(endless: Path) -> None:
    """The load being simulated is cut short: it and those after it are left out, and the formulas stay."""
    code, said, wrong = interrupted(SIMULATING, "solve", endless, "--simulate", "--json")
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


@pytest.mark.parametrize("library", ["typer", "headrace.scenario", "headrace.experiment"])
def test_ctrl_c_while_the_package_is_imported_is_no_traceback(tmp_path: Path, library: str) -> None:
    """As if it came in the middle of an import, where no function of the package has been called yet."""
    hook = "import sys\nclass Hook:\n    def find_spec(self, name, *rest):\n"
    hook += f"        if name == {library!r}:\n            raise KeyboardInterrupt\nsys.meta_path.insert(0, Hook())\n"
    (tmp_path / "sitecustomize.py").write_text(hook)
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = subprocess.run(
        [Path(sys.executable).with_name("headrace"), "--version"],
        capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths},
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, "", "interrupted\n")
