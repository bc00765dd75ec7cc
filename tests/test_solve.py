"""`headrace solve`: the answer first, a table against load, the simulation beside it, and what it refuses."""

import html
import json
from pathlib import Path

import pytest

import headrace as package
from conftest import ROOT, Run, without_scripts
from test_contract import fields

CLIENTS = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {clients: {to: clerk, arrivals: {closed: {depth: 4, think: {exponential: 20 ms}}}}}
run: {requests: 100000}
"""


@pytest.fixture
def clients(tmp_path: Path) -> Path:
    file = tmp_path / "clients.yaml"
    file.write_text(CLIENTS)
    return file


def test_the_answer_comes_first(headrace: Run, clients: Path) -> None:
    printed = headrace("solve", clients).stdout
    assert printed.startswith("4 clients: 106.26/s, mean response 17.64 ms. Sustains at most 125/s; bottleneck clerk")
    assert "exact mean value analysis; its assumptions hold" in printed
    assert "throughput by formula, 1/s, by clients" not in printed, "bars only where a range is asked for"


def test_a_range_is_drawn(headrace: Run, clients: Path) -> None:
    printed = headrace("solve", clients, "--load", "2..5").stdout
    assert "throughput by formula, 1/s, by clients" in printed
    assert "█" in printed
    assert [line.split()[0] for line in printed.splitlines() if line.strip()[:1].isdigit()][1:4] == ["2", "3", "5"]


@pytest.mark.parametrize(
    ("load", "said"),
    [
        ("many", "is not FROM..TO"),
        ("0..4", "at least 1"),
        ("9..2", "the smaller first"),
        ("1..1e9", "an invalid range of clients"),
    ],
)
def test_what_is_no_range_is_refused(headrace: Run, clients: Path, load: str, said: str) -> None:
    ran = headrace("solve", clients, "--load", load)
    assert ran.returncode == 2
    assert said in " ".join(ran.stderr.split()), ran.stderr


def test_the_simulation_stands_beside(headrace: Run, clients: Path) -> None:
    found = json.loads(headrace("solve", clients, "--load", "1..3", "--simulate", "--json").stdout)
    assert found["fails"] == []
    for point in found["points"]:
        simulated = point["simulated"]
        assert abs(point["response_ms"] - simulated["response_ms"]) < 2.5 * simulated["half_width_ms"]
        assert point["throughput_per_s"] == pytest.approx(simulated["throughput_per_s"], rel=0.02)
    printed = headrace("solve", clients, "--load", "1..3", "--simulate").stdout
    assert "simulated, ms" in printed
    assert "formula, ms" in printed


def test_an_overload_is_told(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "crowd.yaml"
    file.write_text(CLIENTS.replace("closed: {depth: 4, think: {exponential: 20 ms}}", "poisson: 200 /s"))
    ran = headrace("solve", file, "--load", "50..200")
    assert ran.returncode == 0
    assert ran.stdout.startswith("Overloaded: 200/s offered")
    assert "overloaded" in ran.stdout.splitlines()[-1] or "overloaded" in ran.stdout


def test_what_has_no_formula_is_refused(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "drive.yaml"
    file.write_text(CLIENTS.replace("{type: station, service: {exponential: 8 ms}}", (
        "{type: disk, device: seagate-st3500630ns, positioning: mechanical}"
    )).replace("to: clerk,", "to: clerk, pattern: sequential,"))  # fmt: skip
    ran = headrace("solve", file)
    assert ran.returncode == 2
    assert "every address is equally likely" in ran.stderr
    assert "headrace run" in ran.stderr
    assert json.loads(headrace("solve", file, "--json").stdout)["ok"] is False


def test_a_report_has_pictures(headrace: Run, clients: Path, tmp_path: Path) -> None:
    page = tmp_path / "solve.html"
    headrace("solve", clients, "--load", "1..4", "--report", page)
    text = without_scripts(page)
    assert text.count("<svg") == 3
    assert "What limits it" in text
    assert "Bard-Schweitzer" in text
    assert html.escape(clients.read_text()) in text


def test_from_python() -> None:
    solution = package.solve(text=CLIENTS, load=(1, 4))
    assert solution.points["throughput_per_s"].to_list() == pytest.approx([35.714286, 66.037736, 89.729120, 106.260494])
    assert solution.stations["component"].to_list() == ["clerk"]
    assert solution.points["own"].to_list() == [False, False, False, True]


def test_every_field_is_documented_and_no_other(headrace: Run, clients: Path) -> None:
    guide = (ROOT / "docs" / "guides" / "solve.md").read_text()
    documented = {line.split("`")[1] for line in guide.splitlines() if line.startswith("| `")}
    fails = ("--set", "system.clerk.service=8 ms", "--set", "run.requests=20000")
    command = ("solve", clients, "--load", "1..2", "--simulate", "--json")
    # Bounds of balanced networks are there where no assumption fails, and the error of formulas where one does.
    found = [set(fields(json.loads(headrace(*command, *more).stdout))) for more in ((), fails)]
    assert set.union(*found) - {"points[].sets[]"} == documented


def test_a_run_says_the_same_whether_it_was_solved_before() -> None:
    # The formulas of both ask the same drive for different distributions of the same command.
    text = """
system: {disk: {type: disk, device: seagate-st3500630ns, positioning: mechanical}}
workload: {users: {to: disk, arrivals: {poisson: 20 /s}, size: 4 KiB, align: 512 B}}
run: {requests: 500}
"""
    fresh, solved = package.Scenario(text).plan(), package.Scenario(text).plan()
    solved.solve()
    assert solved.run().data == fresh.run().data
