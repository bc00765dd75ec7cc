"""What is printed reaches any terminal, and steers none; what is odd is refused in words."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Run
from headrace import trace
from headrace.experiment.formula import evaluate

CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 500}
"""


def own_device(folder: Path, name: str, old: str = "", new: str = "") -> None:
    (folder / "devices").mkdir(exist_ok=True)
    text = (ROOT / "catalog" / "seagate-st3500630ns.yaml").read_text()
    assert old in text
    (folder / "devices" / f"{name}.yaml").write_text(text.replace(old, new, 1) if old else text)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_every_terminal_gets_an_answer(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "ä×.yaml").write_text(CLERK)
    environment = os.environ | {"PYTHONIOENCODING": encoding, "NO_COLOR": "1", "COLUMNS": "200"}
    headrace = str(Path(sys.executable).with_name("headrace"))
    for command in (["run", "ä×.yaml"], ["check", "ä×.yaml"], ["check", "ö±.yaml"], ["devices"], ["run", "--help"]):
        ran = subprocess.run([headrace, *command], cwd=tmp_path, env=environment, capture_output=True, check=False)
        said, wrong = ran.stdout.decode(encoding), ran.stderr.decode(encoding)
        assert ran.returncode == (2 if "ö±.yaml" in command else 0), wrong
        assert "UnicodeEncodeError" not in wrong
        if command[0] == "run" and command[1] != "--help":
            assert ("+/-" if encoding == "ascii" else "±") in said
            assert ("█" if encoding == "utf-8" else "####") in said
            assert re.search(r"headroom 2\.\d+" + ("x" if encoding == "ascii" else "×"), said)


def test_what_a_device_says_does_not_steer_the_terminal(headrace: Run, tmp_path: Path) -> None:
    own_device(tmp_path, "mine", "validation: ", 'validation: "\\e]0;mine\\a \\e[31m" #')
    shown = headrace("devices", "mine", "--beside", tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "\\x1b]0;mine\\x07 \\x1b[31m" in shown.stdout.replace("\n", "")
    own_device(tmp_path, "mine", "rotation: ", '"\\e[31m": ')
    refused = headrace("devices", "mine", "--beside", tmp_path)
    assert refused.returncode == 2
    listed = headrace("devices", "--beside", tmp_path)
    assert "\x1b" not in shown.stdout + refused.stderr + listed.stdout + listed.stderr


def test_a_broken_device_hides_no_other(headrace: Run, tmp_path: Path) -> None:
    own_device(tmp_path, "good")
    (tmp_path / "devices" / "broken.yaml").write_text("{")
    (tmp_path / "devices" / "binary.yaml").write_bytes(b"\xff\xfe")
    os.symlink("/dev/zero", tmp_path / "devices" / "endless.yaml")
    listed = headrace("devices", "--beside", tmp_path)
    assert listed.returncode == 2
    assert "good" in listed.stdout
    assert "seagate-st32171w" in listed.stdout
    assert all(name in listed.stderr for name in ("broken", "binary", "endless"))
    told = json.loads(headrace("devices", "--beside", tmp_path, "--json").stdout)
    assert {one["name"] for one in told if "problems" in one} == {"broken", "binary", "endless"}
    assert sum("problems" not in one for one in told) > 3


def test_a_trace_of_one_request_is_drawn(headrace: Run, tmp_path: Path) -> None:
    for size in (512, 4096):
        file = tmp_path / f"{size}.csv"
        trace.write(file, {"time_ns": [0], "op": ["read"], "address": [0], "bytes": [size]})
        page = tmp_path / f"{size}.html"
        ran = headrace("trace", "info", file, "--report", page)
        assert ran.returncode == 0, ran.stderr
        assert "<svg" in page.read_text()
    (tmp_path / "one.yaml").write_text(CLERK.replace("{exponential: 8 ms}", "8 ms").replace("500", "1"))
    ran = headrace("run", tmp_path / "one.yaml", "--report", tmp_path / "one.html")
    assert "<svg" in (tmp_path / "one.html").read_text(), ran.stderr


@pytest.mark.parametrize("index", ["²/3", "1/²", "1/1", "/3", "-1/3", "a/b"])
def test_a_shard_is_two_numbers(headrace: Run, tmp_path: Path, index: str) -> None:
    (tmp_path / "a.yaml").write_text(CLERK)
    ran = headrace("sweep", tmp_path / "a.yaml", "--vary", "run.seed=1,2", "--array-index", index)
    assert ran.returncode == 2
    assert "is not I/N with I from 0 to N - 1" in " ".join(ran.stderr.replace("│", "").split())


@pytest.mark.parametrize("formula", ["-" * 5000 + "1", "+".join(["1"] * 20000), "(" * 5000 + "1" + ")" * 5000])
def test_a_formula_nested_too_deep_is_refused(headrace: Run, tmp_path: Path, formula: str) -> None:
    with pytest.raises(ValueError, match="formula"):
        evaluate(formula, {})
    (tmp_path / "a.yaml").write_text(CLERK)
    experiment = {"scenario": "a.yaml", "vary": {"run.seed": [1, 2]}, "derive": {"system.clerk.servers": formula}}
    (tmp_path / "e.yaml").write_text("experiment: " + json.dumps(experiment))
    ran = headrace("sweep", tmp_path / "e.yaml")
    assert ran.returncode == 2
    assert "formula" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_lost_streams_are_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(CLERK)
    headrace = shutil.which("headrace", path=str(Path(sys.executable).parent))
    full = subprocess.run(
        f"{headrace} run a.yaml > /dev/full", shell=True, cwd=tmp_path, capture_output=True, check=False
    )
    assert full.returncode != 0
    assert b"Traceback" not in full.stderr


def test_a_reader_that_leaves_early_costs_no_report(tmp_path: Path) -> None:
    """`headrace run … | head -1` still writes the report."""
    report = tmp_path / "run.html"
    program = [str(Path(sys.executable).with_name("headrace")), "run", str(ROOT / "examples" / "queue-depth.yaml")]
    options = ["--set", "run.requests=2000", "--report", str(report)]
    with subprocess.Popen([*program, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
        running.wait()
    assert "</html>" in report.read_text()


def test_a_page_that_cannot_be_written_costs_no_answer(tmp_path: Path) -> None:
    program = [str(Path(sys.executable).with_name("headrace")), "run", str(ROOT / "examples" / "queue-depth.yaml")]
    options = ["--set", "run.requests=2000", "--report", "/dev/full"]
    ran = subprocess.run([*program, *options], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 2
    assert "Bottleneck:" in ran.stdout
    assert "/dev/full cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr
