"""Real input: a measured trace through a disk of the catalogue, measured and simulated side by side."""

import json
from pathlib import Path

from conftest import Run


def test_a_measured_trace_is_replayed_and_held_against_the_measurement(headrace: Run, measured_data: Path) -> None:
    trace = measured_data / "disks" / "barracuda" / "barracuda.trace"
    arguments = ["examples/replay-barracuda.yaml", "--set", f"workload.host.arrivals.replay.trace={trace}"]
    results = json.loads(headrace("run", *arguments, "--json").stdout)
    [stream] = results["streams"]
    measured = stream["measured"]
    rows = [line.split() for line in trace.read_text().splitlines()]
    exact = sum(float(row[4]) for row in rows) / len(rows) / 1000
    assert measured["all"]["n"] == stream["completed"] == len(rows)
    assert abs(measured["all"]["measured_mean_ms"] - exact) < 1e-6
    assert measured["reads"]["n"] + measured["writes"]["n"] == len(rows)
    # Nothing is fitted: the parameter file's own overheads and rates are a few percent off this drive's.
    assert abs(measured["reads"]["mean_error_percent"]) < 6
    assert abs(measured["writes"]["mean_error_percent"]) < 10
    # Without its cache a disk is far off on writes, which a user must be told.
    bare = headrace("run", *arguments, "--set", "system.spindle.positioning=addressed", "--json")
    results = json.loads(bare.stdout)
    assert results["streams"][0]["measured"]["writes"]["mean_error_percent"] > 300
    assert any("without a cache" in note for note in results["notes"])
    printed = headrace("run", *arguments).stdout
    assert "demerit" in printed
    assert "measured" in printed


def test_the_simulated_clock_is_closed_by_think_time(headrace: Run, measured_data: Path) -> None:
    trace = measured_data / "disks" / "barracuda" / "barracuda.trace"
    arguments = ["examples/replay-barracuda.yaml", "--json", "--set", f"workload.host.arrivals.replay.trace={trace}"]
    results = json.loads(headrace("run", *arguments).stdout)
    thinks = [float(line.split()[5]) / 1e6 for line in trace.read_text().splitlines()]
    response_s = results["streams"][0]["response"]["mean_ms"] / 1e3 * len(thinks)
    assert abs(results["simulated_s"] - sum(thinks[:-1]) - response_s) < 1e-3
