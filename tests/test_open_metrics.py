"""Predictions as OpenMetrics."""

import re
from pathlib import Path

import pytest

from conftest import Run
from headrace import Scenario, open_metrics

SYSTEM = """
system: {clerk: {type: station, service: 5 ms}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}, op: {reads: 70 %}}}
run: {requests: 5000}
"""
MORE = "workload.users.arrivals={poisson: 300 /s}"
# A line of the specification's grammar: https://prometheus.io/docs/specs/om/open_metrics_spec/
LABEL = r'[a-z]+="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"(?P<name>[a-z_]+)(\{{(?P<labels>{LABEL}(?:,{LABEL})*)\}})? (?P<value>\S+)")


def samples(text: str) -> dict[tuple[str, str], float]:
    """Return the values of an exposition by name and labels; a line that the grammar does not have is an error."""
    *lines, end = text.removesuffix("\n").split("\n")
    assert end == "# EOF"
    found: dict[tuple[str, str], float] = {}
    for line in lines:
        if line.startswith("# "):
            assert re.fullmatch(r"# (HELP [a-z_]+ .+|TYPE [a-z_]+ gauge)", line)
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        found[sample["name"], sample["labels"] or ""] = float(sample["value"])
    return found


def test_a_prediction_is_open_metrics() -> None:
    results = Scenario(SYSTEM).run().data
    found = samples(open_metrics.exposition(dict(results)))
    stream = results["streams"][0]
    assert found["headrace_requests_per_second", 'stream="users"'] == stream["requests_per_s"]
    assert stream["writes"] is not None
    labels = 'stream="users",operation="write"'
    assert found["headrace_response_mean_seconds", labels] == stream["writes"]["mean_ms"] / 1000
    p99 = next(at["ms"] for at in stream["response"]["quantiles_ms"] if at["share"] == 0.99)
    labels = 'stream="users",operation="all",quantile="0.99"'
    assert found["headrace_response_quantile_seconds", labels] == p99 / 1000
    assert found["headrace_utilisation_ratio", 'component="clerk"'] == results["components"][0]["utilisation"]
    assert results["bottleneck"]
    assert found["headrace_headroom_ratio", ""] == results["bottleneck"]["saturates_at"]


def test_a_run_writes_its_prediction(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(SYSTEM)
    ran = headrace("run", "s.yaml", "--metrics", "s.prom", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert samples((tmp_path / "s.prom").read_text())
    assert samples((tmp_path / "s.prom").read_text())["headrace_overloaded", ""] == 0
    more = headrace("run", "s.yaml", "--metrics", "s.prom", "--set", MORE, cwd=tmp_path)
    assert more.returncode != 0
    # Nothing is left of the prediction for less load.
    assert samples((tmp_path / "s.prom").read_text()) == {("headrace_overloaded", ""): 1}
    lost = headrace("run", "s.yaml", "--metrics", "/dev/full", cwd=tmp_path)
    assert "requests/s" in lost.stdout
    assert "/dev/full cannot be written: No space left on device" in lost.stderr
    assert lost.returncode != 0


@pytest.mark.parametrize("option", ["--metrics", "--timeline", "--report"])
def test_a_file_that_cannot_be_written_is_refused_before_the_run(headrace: Run, tmp_path: Path, option: str) -> None:
    (tmp_path / "s.yaml").write_text(SYSTEM)
    ran = headrace("run", "s.yaml", option, "missing/s.html", cwd=tmp_path)
    assert "cannot be written: there is no folder missing" in ran.stderr
    assert (ran.returncode, ran.stdout) == (2, "")
