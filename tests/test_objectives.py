"""Objectives of scenarios, shares in time as metrics, and where the slowest requests spent their time."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import headrace
from conftest import Run
from headrace._core import ScenarioError
from headrace.experiment.capacity import capacity
from headrace.experiment.compare import compare
from headrace.experiment.design import varied
from headrace.experiment.objective import measuring, objective
from headrace.experiment.optimise import optimise
from headrace.experiment.precision import Precision, run_until_precise
from headrace.experiment.rounds import run
from headrace.experiment.sensitivity import sensitivity

Headrace = Callable[..., CompletedProcess[str]]

RATE = "workload.users.arrivals.poisson"
BANK = """
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 100 /s}}}
run: {requests: 20000}
"""


@pytest.mark.parametrize(
    ("asked", "code", "begins"), [("80 %", 0, "Met: "), ("95 %", 4, "MISSED: "), ("86.47 %", 4, "Undecided: ")]
)
def test_a_missed_objective_has_an_exit_code(
    headrace: Headrace, tmp_path: Path, asked: str, code: int, begins: str
) -> None:
    (tmp_path / "a.yaml").write_text(f"{BANK}objectives: {{users: {asked} within 80 ms}}")
    found = headrace("run", "a.yaml", "--set", "run.requests=200000", "--report", "a.html", cwd=tmp_path)
    assert found.returncode == code, found.stderr
    assert found.stdout.startswith(begins), found.stdout
    page = (tmp_path / "a.html").read_text()
    assert "users in time" in page
    assert "Requests in time, over time" in page
    assert "slowest 1 % of users" in page


def test_a_sweep_shows_the_metrics_that_are_asked_for(headrace: Headrace, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(BANK)
    asked = "within(users, 80 ms), p99(users)"
    found = headrace("sweep", "a.yaml", "--vary", f"{RATE}=50 /s,80 /s", "--metrics", asked, cwd=tmp_path)
    assert re.search(r"poisson +runs +users: within 80 ms, % +users: p99, ms\n", found.stdout), found.stdout
    wrong = headrace("sweep", "a.yaml", "--vary", f"{RATE}=50 /s,80 /s", "--metrics", "within(users)", cwd=tmp_path)
    assert wrong.returncode == 2
    assert "does not say within which time" in wrong.stderr
    assert "write `within(users, 20 ms)`" in wrong.stderr


def test_capacity_finds_the_rate_that_formulas_give() -> None:
    """At 67.4 customers a second 99 % leave an M/M/1 queue within 80 ms: 1 - e^(-(125 - 67.4) * .08)."""
    found = capacity(headrace.Scenario(BANK), RATE, "within(users, 80 ms) > 99 %", within=0.1)
    assert found.meets
    assert found.fails
    assert found.meets.number < 67.44 < found.fails.number, found.answer
    assert "the slowest requests of users spent" in found.answer
    assert "waiting for clerk" in found.answer
    promised = capacity(headrace.Scenario(f"{BANK}objectives: {{users: 99 % within 80 ms}}"), RATE, within=0.1)
    assert promised.meets
    assert promised.fails
    assert (promised.meets.value, promised.fails.value) == (found.meets.value, found.fails.value)
    assert "meets within(users, 80 ms) ≥ 99 %" in promised.answer
    with pytest.raises(ScenarioError, match="there is no goal to meet"):
        capacity(headrace.Scenario(BANK), RATE)


def test_a_comparison_shows_the_objectives_of_both() -> None:
    bank = headrace.Scenario(f"{BANK}objectives: {{users: 99 % within 80 ms}}")
    found = compare(bank, bank.with_({RATE: "50 /s"}), replications=5)
    assert [row[0] for row in found.rows()[1] if "within" in row[0]] == ["users: within 80 ms, %"]


def test_shares_in_time_are_metrics_of_every_experiment() -> None:
    asked = "within(users, 80 ms)"
    bank = headrace.Scenario(BANK)
    table = run(varied(bank, {RATE: ["50 /s", "80 /s"]}, replications=3).asking([asked]))
    assert table.shown_metrics == ["users.within_80"]
    assert "The share of users within 80 ms is lowest at poisson = 80 /s" in table.answer
    effects = sensitivity(bank, {RATE: ["50 /s", "80 /s"], "run.seed": [1, 2]}, asked, samples=2)
    assert effects.metric == "users.within_80"
    precise = run_until_precise(bank, Precision(0.02, (asked,)))
    assert any("precision: users.within_80 is known to" in note for note in precise.data["notes"])


def test_objectives_of_a_scenario_are_kept_where_others_are_asked_for() -> None:
    scenario = headrace.Scenario(f"{BANK}objectives: {{users: 50 % within 40 ms}}")
    changed = measuring(scenario, [objective("within(users, 80 ms) > 99 %", bounded=True)])
    assert changed.filled()["objectives"] == {"users": "50 % within 40 ms and 99 % within 80 ms"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("within(users, 80 MB)", "is not a time"),
        ("within(users, soon)", "soon"),
        ("within(, 80 ms)", "does not say"),
    ],
)
def test_a_share_in_time_needs_a_time(text: str, words: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        objective(text, bounded=False)
    assert words in json.loads(refused.value.problems)[0]["message"]


def test_a_saturated_run_says_so_by_its_exit_code(headrace: Run, tmp_path: Path) -> None:
    # No formula foresees it: the drive chooses the order of its commands.
    text = """
system: {{disk: {{type: disk, device: seagate-st3500630ns, positioning: mechanical, scheduling: sstf}}}}
workload: {{users: {{to: disk, arrivals: {}}}}}
run: {{requests: 2000}}
"""
    for arrivals, code in (("{poisson: 2000 /s}", 5), ("{poisson: 20 /s}", 0), ("{closed: {depth: 4}}", 0)):
        (tmp_path / "s.yaml").write_text(text.format(arrivals))
        assert headrace("run", tmp_path / "s.yaml").returncode == code


def test_a_bound_with_an_equals_sign_includes_the_bound() -> None:
    for text, goal in (("p99(u) > 20 ms", "p99(u) ≤ 20 ms"), ("p99(u) >= 20 ms", "p99(u) < 20 ms")):
        assert objective(text, bounded=True).goal == goal
    servers = {"system.clerk.servers": [1, 2, 4]}
    scenario = headrace.Scenario(BANK.replace("20000", "2000"))
    for limit, best in (("servers <= 2", 2), ("100 * servers <= 200", 2), ("servers < 2", 1), ("servers >= 4", 4)):
        found = optimise(scenario, servers, minimise="mean(users)", subject_to=limit, replications=2)
        assert f"Best is servers = {best}" in found.answer, found.answer


def test_requests_that_still_wait_miss_an_objective() -> None:
    """Those before the clerk became slow were in time, but most of the others waited when the run ended."""
    text = BANK.replace("20000}", "20000, limits: {in_flight: 1000}}")
    slow = "faults: [{component: clerk, slow: 100, from: 2 s}]"
    found = headrace.Scenario(f"{text}objectives: {{users: 90 % within 100 s}}\n{slow}\n").run()
    assert not found.data["complete"]
    assert found.data["objectives"][0]["met"] is False
    assert found.data["answer"].startswith("INCOMPLETE. MISSED: ")
