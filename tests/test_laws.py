"""Distributions and rates that vary, from Python and on the command line: what a user does with them."""

from pathlib import Path

import headrace
from conftest import Run, written
from headrace.explore.fields import Field
from headrace.explore.offered import offered

CLERK = """\
system: {clerk: {type: station, service: {lognormal: {mean: 8 ms, cv: 1.5}}}}
workload: {users: {to: clerk, arrivals: {renewal: {hyperexponential: {mean: 20 ms, cv: 2}}}}}
run: {requests: 2000}
"""

DAY = """\
system: {clerk: {type: station, service: 8 ms}}
workload:
  users:
    to: clerk
    arrivals: {varying: {rates: [{at: 0 s, rate: 0 /s}, {at: 60 s, rate: 80 /s}], between: linear, period: 2 min}}
run: {time: 10 min}
"""


def test_parameters_of_laws_are_swept(headrace: Run, tmp_path: Path) -> None:
    clerk = written(tmp_path / "clerk.yaml", CLERK)
    for field, values in [
        ("system.clerk.service.lognormal.cv", "0.5,3"),
        ("workload.users.arrivals.renewal.hyperexponential.mean", "20ms,16ms"),
    ]:
        swept = headrace("sweep", clerk, "--vary", f"{field}={values}")
        assert swept.returncode == 0, swept.stderr
        assert "highest at" in swept.stdout


def test_the_scale_of_a_curve_is_swept_and_ranked(headrace: Run, tmp_path: Path) -> None:
    day = written(tmp_path / "day.yaml", DAY)
    scale = "workload.users.arrivals.varying.scale"
    swept = headrace("sweep", day, "--vary", f"{scale}=0.5,1.2")
    assert swept.returncode == 0, swept.stderr
    assert "highest at scale = 1.2" in swept.stdout
    rate = "workload.users.arrivals.varying.rates.1.rate"
    refused = headrace("run", day, "--set", f"{rate}=0 /s")
    assert refused.returncode != 0
    assert "all rates are zero" in refused.stderr


def test_sensitivity_ranks_the_parameters_of_a_law() -> None:
    clerk = headrace.Scenario(CLERK, "test.yaml")
    law = "system.clerk.service.lognormal"
    found = headrace.sensitivity(
        clerk, {f"{law}.cv": [0.5, 3], f"{law}.mean": ["7.9 ms", "8.1 ms"]}, "mean(users)", samples=4
    )
    assert f"{law}.cv" in found.report().answer, found.report().answer


def _fields(text: str) -> dict[str, Field]:
    return offered(headrace.Scenario(text, "test.yaml"))


def test_the_explorer_offers_the_parameters_of_laws_and_curves() -> None:
    laws, day = _fields(CLERK), _fields(DAY)
    cv = laws["system.clerk.service.lognormal.cv"]
    assert (cv.kind, cv.value) == ("number", 1.5)
    assert min(map(float, cv.stops)) >= 0.001
    assert all(float(stop) >= 1 for stop in laws["workload.users.arrivals.renewal.hyperexponential.cv"].stops)
    assert day["workload.users.arrivals.varying.rates.1.rate"].value == "80 /s"
    assert day["workload.users.arrivals.varying.rates.0.rate"].stops[:2] == ("0 /s", "5 /s")
    assert day["workload.users.arrivals.varying.between"].stops == ("steps", "linear")
    assert day["workload.users.arrivals.varying.period"].value == "2 min"


def test_a_scenario_built_of_objects_has_laws(tmp_path: Path) -> None:
    written(tmp_path / "times.txt", "1 ms\n9 ms\n")
    clerk = headrace.load(written(tmp_path / "clerk.yaml", CLERK))
    mix = {"mix": [{"time": {"empirical": {"file": "times.txt"}}, "weight": 3}, {"time": "1 ms", "weight": 1}]}
    curve = {"varying": {"rates": [{"at": "0 s", "rate": "50 /s"}, {"at": "1 min", "rate": "10 /s"}]}}
    changed = clerk.with_({"system.clerk.service": mix, "workload.users.arrivals": curve})
    assert tmp_path / "times.txt" in changed.inputs()
    stream = changed.run(seed=3).data["streams"][0]
    assert stream["completed"] == 2000
    assert stream["response"]["mean_ms"] > 4
