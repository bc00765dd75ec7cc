"""Decisions: how much load, how few disks, which design, and how sure."""

import json
from pathlib import Path

import pytest

from conftest import Run
from headrace import Scenario, ScenarioError, load, sweep
from headrace.experiment.capacity import capacity

SERVERS = "system.clerk.servers"
RATE = "workload.users.arrivals.poisson"
CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 10000}
"""


@pytest.fixture
def clerk(tmp_path: Path) -> Path:
    file = tmp_path / "clerk.yaml"
    file.write_text(CLERK)
    return file


def busy() -> Scenario:
    """Return a station with 3.2 servers' worth of work: five of them answer within 10 ms, four do not."""
    return Scenario(CLERK).with_({RATE: "400 /s", SERVERS: 4})


@pytest.mark.parametrize("goal", ["mean(users) < 10 ms", "mean(users) > 10 ms"])
def test_how_few_servers_meet_a_goal(goal: str) -> None:
    found = capacity(busy(), SERVERS, goal)
    assert found.meets
    assert found.fails
    assert (found.meets.number, found.fails.number) == (5, 4)
    assert "At least 5 servers meet mean(users)" in found.answer
    assert "4 do not" in found.answer


def test_how_few_servers_from_too_many() -> None:
    found = capacity(busy().with_({SERVERS: 16}), SERVERS, "mean(users) < 10 ms")
    assert found.meets
    assert found.fails
    assert (found.meets.number, found.fails.number) == (5, 4)


def test_how_few_servers_from_too_few_for_the_load() -> None:
    found = capacity(busy().with_({SERVERS: 2}), SERVERS, "mean(users) < 10 ms")
    assert found.meets
    assert found.fails
    assert (found.meets.number, found.fails.number) == (5, 4)


@pytest.mark.parametrize("goal", ["mean(users) < 40 ms", "mean(users) > 40 ms"])
def test_how_much_load_meets_a_goal(goal: str) -> None:
    # M/M/1 with 8 ms: the mean is 40 ms at 100 a second.
    found = capacity(Scenario(CLERK).with_({"run.requests": 50_000}), RATE, goal, within=0.05)
    assert found.meets
    assert found.fails
    assert found.meets.number < 100 < found.fails.number
    assert f"at most {found.meets.value} meets mean(users)" in found.answer


def test_a_goal_out_of_reach_is_said(headrace: Run, clerk: Path) -> None:
    # The mean is 8 ms with any number of servers, and 16 at the least with one.
    never = capacity(busy(), SERVERS, "mean(users) < 5 ms", most=64)
    assert never.meets is None
    assert "No value up to 64 meets mean(users) < 5 ms" in never.answer
    always = capacity(clerk, RATE, "mean(users) < 1 s", least="10 /s", most="60 /s")
    assert always.fails is None
    assert "Every value tried from 10 /s to 60 /s meets mean(users) < 1 s" in always.answer
    ran = headrace("capacity", clerk, "--increase", SERVERS, "--until", "mean(users) < 5 ms", "--to", "8", "--json")
    assert ran.returncode == 3
    assert "No value up to 8 meets" in json.loads(ran.stdout)["answer"]


def test_a_search_ends_where_the_scenario_does(clerk: Path) -> None:
    # A station has at most 65,535 servers.
    found = capacity(Scenario(CLERK).with_({SERVERS: 40_000}), SERVERS, "mean(users) < 5 ms")
    assert found.meets is None
    assert "No value" in found.answer


LOSSY = {"workload.users.outstanding": 3, "workload.users.when_full": "drop"}


def test_a_load_of_which_some_is_dropped_is_not_sustained() -> None:
    # With room for three no mean is above 24 ms, whatever the load: nearly all of it is dropped.
    found = capacity(Scenario(CLERK).with_(LOSSY), RATE, "mean(users) > 30 ms", least="0.1 /s", most="1000 /s")
    assert found.fails
    assert found.fails.why
    assert "dropped" in found.fails.why
    # Erlang's formula for M/M/1/3: at a load a, (1 - a) a³ / (1 - a⁴) are lost; 1 % at a = 0.2339, 29.2 a second.
    one_percent = capacity(
        Scenario(CLERK).with_(LOSSY | {"run.requests": 40_000}), RATE, "dropped(users) < 1 %", within=0.05
    )
    assert one_percent.meets
    assert one_percent.fails
    assert one_percent.meets.number < 29.24 < one_percent.fails.number


def test_a_load_of_which_some_expires_or_waits_outside_is_not_sustained() -> None:
    expiring = capacity(Scenario(CLERK).with_({"workload.users.timeout": "30 ms"}), RATE, "mean(users) > 1 s")
    # Some services alone take longer, at any load.
    assert expiring.meets is None
    assert expiring.fails
    assert "expired" in str(expiring.fails.why)
    assert expiring.fails.number < 50
    blocked = capacity(Scenario(CLERK).with_({"workload.users.outstanding": 2}), RATE, "mean(users) > 1 s")
    assert blocked.fails
    assert "blocked" in str(blocked.fails.why)


def test_what_is_lost_is_a_metric_and_a_column() -> None:
    lossy = Scenario(CLERK).with_(LOSSY | {RATE: "125 /s"})
    row = lossy.run().streams.row(0, named=True)
    # At a load of one, every fourth request finds room for none (M/M/1/3).
    assert row["dropped"] / row["made"] == pytest.approx(0.25, abs=0.02)
    assert row["expired"] == 0
    assert "blocked" in row
    frame = sweep(lossy, {"run.seed": [1]}, replications=3).frame
    assert frame["users.dropped"][0] == pytest.approx(0.25, abs=0.02)
    assert frame["users.expired"][0] == 0


def test_disks_that_two_arrays_share_are_paid_for_once(tmp_path: Path) -> None:
    device = (
        "{type: disk, positioning: independent, device: {capacity: 1 GB, rotation: 7200 rpm, cylinders: 1000, "
        "media_rate_outer: 80 MB/s, media_rate_inner: 40 MB/s, overhead: 0 ms, price: {value: 100, source: a}, "
        "seek_read: {track_to_track: 1 ms, full_stroke: 10 ms}, "
        "seek_write: {track_to_track: 1 ms, full_stroke: 10 ms}}}"
    )
    shared = Scenario(
        f"system: {{a: {device}, b: {device}, "
        "x: {type: array, level: raid0, of: [a, b], stripe_unit: 64 KiB}, "
        "y: {type: array, level: raid0, of: [b, a], stripe_unit: 64 KiB}}\n"
        "workload: {one: {to: x, arrivals: {poisson: 10 /s}}, two: {to: y, arrivals: {poisson: 10 /s}}}\n"
        "run: {requests: 500}\n"
    )
    assert sweep(shared, {"run.seed": [1]}, replications=1).frame["system.price"][0] == 200


def test_help_for_a_misspelt_objective_can_be_pasted(headrace: Run, clerk: Path) -> None:
    with pytest.raises(ScenarioError) as told:
        capacity(load(clerk), RATE, "utilisations(users) > 1")
    assert "mean(users)" in str(told.value)
    assert "_ms(users)" not in str(told.value)
    assert "(users.reads)" not in str(told.value)
