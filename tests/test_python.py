"""Scenarios and results from Python."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import headrace
from conftest import ROOT
from headrace import Results, Scenario, ScenarioError, _core, experiment, quantities, sweep
from headrace.experiment.capacity import capacity
from headrace.experiment.compare import compare
from headrace.experiment.optimise import optimise
from headrace.experiment.sensitivity import sensitivity
from headrace.measurement import Measurement, loads

CLERK = """
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 100 /s}}}
run: {requests: 2000}
"""
RATE = "workload.users.arrivals.poisson"
RATES = {RATE: ["50 /s", "100 /s"]}
EXAMPLE = ROOT / "examples" / "raid0-split-merge.yaml"


@pytest.fixture(scope="module")
def results() -> Results:
    return headrace.load(EXAMPLE).with_({"run.requests": 20_000}).run(seed=3, replications=2)


def test_frames_have_what_the_results_have(results: Results) -> None:
    assert results.streams["completed"].to_list() == [40_000]
    assert results.streams.select("method", "trusted").rows() == [("replications", True)]
    assert results.components["path"].to_list() == ["tds", *(f"tds/spindle[{i}]" for i in range(3))]
    assert results.theory["model"].to_list() == ["M/G/1 of the slowest part (split-merge)"]
    assert results.streams["p99_ms"].item() == pytest.approx(results.theory["p99_ms"].item(), rel=0.05)
    cdf = results.cdf
    assert cdf["share"].is_sorted()
    assert cdf["share"].to_list() == pytest.approx(cdf["theory"].to_list(), abs=0.02)
    assert results.series["time_s"].is_sorted()
    assert {"readers completed", "readers mean_ms", "tds utilisation"} <= set(results.series.columns)


def test_a_plan_goes_on_where_it_stopped(tmp_path: Path) -> None:
    scenario = headrace.load(EXAMPLE).with_({"run.requests": 5_000})
    plan = scenario.plan()
    assert plan.inputs == [EXAMPLE]
    first = plan.run(replications=2, requests=tmp_path / "log", timeline=tmp_path / "timeline.json", theory=False)
    assert first.data["replications"] == 2
    whole = plan.extend(3)
    assert whole.data == scenario.run(replications=5).data
    parts = sorted(file.name for file in (tmp_path / "log").iterdir())
    assert parts == [f"replication-{number:05}-part-00000.parquet" for number in range(5)]


def test_a_scenario_is_read_once_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    prepare = _core.prepare

    def counted(text: str, file: str, sets: list[tuple[str, str]], jobs: Callable[[str], str]) -> _core.Plan:
        read.append(file)
        return prepare(text, file, sets, jobs)

    monkeypatch.setattr(_core, "prepare", counted)
    how = {"requests": tmp_path / "log", "timeline": tmp_path / "timeline.json"}
    headrace.load(EXAMPLE).with_({"run.requests": 2_000}).run(**how)  # type: ignore[arg-type]
    assert read == [str(EXAMPLE)]
    precise = experiment.Precision(0.05)
    experiment.run_until_precise(headrace.load(EXAMPLE).with_({"run.requests": 2_000}), precise)
    assert read == [str(EXAMPLE)] * 2


def test_replications_for_precision_are_those_of_one_run() -> None:
    scenario = headrace.load(EXAMPLE).with_({"run.requests": 2_000})
    found = experiment.run_until_precise(scenario, experiment.Precision(0.004)).data
    assert found["replications"] > 5
    once = scenario.run(replications=found["replications"]).data
    exact = [response["mean_ms"] for one in (found, once) for response in (one["streams"][0]["response"],)]
    assert exact[0] == exact[1]
    assert found["streams"][0]["cdf"] == once["streams"][0]["cdf"]


def test_a_notebook_shows_the_answer(results: Results) -> None:
    shown = results._repr_html_()
    assert results.answer in shown
    assert "tds/spindle[2]" in shown
    assert repr(results).startswith("<Results: readers: ")


def test_results_are_kept_whole_or_not_at_all(results: Results, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    results.save(file)
    assert Results.load(file).data == results.data
    broken = Results({**results.data, "answer": object()})  # type: ignore[typeddict-item]
    with pytest.raises(TypeError):
        broken.save(file)
    assert Results.load(file).data == results.data
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_a_scenario_never_changes() -> None:
    scenario = headrace.load(EXAMPLE)
    other = scenario.with_({"system.tds.disks": 4})
    assert scenario.check()["system"]["tds"]["disks"] == 3
    assert other.check()["system"]["tds"]["disks"] == 4
    assert other.with_({"system.tds.disks": 2}).check()["system"]["tds"]["disks"] == 2


def test_numbers_of_numpy_are_numbers_of_a_scenario() -> None:
    short = headrace.load(EXAMPLE).with_({"run.requests": np.int64(2000)})
    disks = headrace.sweep(short, {"system.tds.disks": np.array([2, 4])}, replications=2)
    assert disks.frame["system.tds.disks"].to_list() == [2, 4]
    plain = headrace.sweep(short, {"system.tds.disks": [2, 4]}, replications=2)
    assert disks.answer == plain.answer
    for one in (4, "2,4"):
        with pytest.raises(ScenarioError, match="one value; give a list of values"):
            headrace.sweep(short, {"system.tds.disks": one})


def test_a_measurement_needs_only_what_every_point_has() -> None:
    point = {"op": "read", "pattern": "random", "block_bytes": 4096, "iodepth": 4, "numjobs": 1}
    found = Measurement([point | {"iops": 20_000, "mean_ms": 0.2}])
    assert found.points[0]["p99_ms"] is None
    assert "81.9" in found._repr_html_()
    (load,), remarks = loads.loads_of(found)
    assert (load.iodepth, load.measured["read"]["bandwidth_bytes_per_s"], remarks) == (4, 81_920_000, [])


def test_a_sweep_has_numbers_and_units() -> None:
    short = headrace.load(EXAMPLE).with_({"run.requests": 2000})
    frame = headrace.sweep(short, {"system.tds.stripe_unit": ["64 KiB", "1 MiB"]}, replications=2).frame
    assert frame["system.tds.stripe_unit_bytes"].to_list() == [65536, 1 << 20]
    units = headrace.units(frame)
    assert units["system.tds.stripe_unit_bytes"] == "B"
    assert units["readers.mean_ms"] == units["readers.mean_ms ±"] == "ms"
    assert units["readers.requests_per_s"] == "1/s"
    assert units["tds.utilisation"] == "share"
    assert "replications" not in units


def test_every_function_takes_a_scenario_and_a_goal_alone() -> None:
    short = headrace.load(EXAMPLE).with_({"run.requests": 2000})
    assert headrace.run(short).data == short.run().data
    assert headrace.run(short, changes={"run.seed": 5}).data == short.run(seed=5).data
    assert headrace.check(short) == short.check()
    assert headrace.solve(short).data == short.solve().data
    with pytest.raises(TypeError, match="two numbers, from where to where"):
        short.solve(load="1..5")  # type: ignore[arg-type]
    assert repr(short.solve()) == f"<Solution: {short.solve().answer}>"
    best = headrace.optimise(short, {"system.tds.disks": [2, 4]}, minimise="disks", replications=2)
    assert best.answer.startswith("Best is disks = 2")


def test_what_decisions_find_writes_its_report(tmp_path: Path) -> None:
    short, page = headrace.load(EXAMPLE).with_({"run.requests": 2000}), tmp_path / "page.html"
    disks = {"system.tds.disks": [2, 4]}
    for found in (
        headrace.compare(short, short.with_({"system.tds.disks": 4}), replications=2),
        headrace.capacity(short, "system.tds.disks", "mean(readers) < 1 us", most=4, replications=2, budget=2),
        headrace.optimise(short, disks, minimise="disks", replications=2),
        headrace.sensitivity(short, disks, "mean(readers)", samples=2),
    ):
        assert repr(found) == f"<{type(found).__name__}: {found.answer}>"
        found.report(page)
        assert quantities.unbroken(found.answer[:20]) in page.read_text()
        page.unlink()
        assert found.charts(), "each has a chart"
        for name, drawn in found.charts().items():
            assert drawn.properties(title=name).to_dict()["title"] == name


def test_a_solution_has_charts() -> None:
    charts = headrace.load(EXAMPLE).solve().charts()
    assert list(charts) == ["throughput", "response", "utilisation"]
    assert charts["response"].properties(width=600).to_dict()["width"] == 600


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("sytem.tds.disks", 8, "there is no `sytem`; did you mean `system`?"),
        ("system.tds.diskz", 8, "`tds` has no field `diskz`"),
        ("system.tds.disks", "many", "`disks` is `many`; it must be a whole number"),
        ("workload.reader.size", "1 KiB", "there is no `reader`; did you mean `readers`?"),
    ],
)
def test_a_place_that_does_not_exist_is_refused_at_once(place: str, value: object, said: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(said)):
        headrace.load(EXAMPLE).with_({place: value})


def test_a_scenario_may_be_changed_in_several_steps() -> None:
    """What another place lacks meanwhile is no error yet."""
    step = headrace.load(EXAMPLE).with_({"system.tds.type": "station"})
    with pytest.raises(ScenarioError):
        step.check()
    whole = step.with_({"system.tds": {"type": "station", "service": "1 ms"}})
    assert whole.check()["system"]["tds"]["service"] == "1 ms"


def test_files_that_cannot_be_read_or_written_are_named(results: Results, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        headrace.load(0)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError, match=re.escape(f"'{tmp_path}/none/page.html'")):
        results.report(tmp_path / "none" / "page.html")
    other = tmp_path / "other.json"
    for text in ("system:", "{}", "[1]"):
        other.write_text(text)
        with pytest.raises(ScenarioError, match="does not contain the results of a run"):
            Results.load(other)


def test_errors_are_errors_with_their_text() -> None:
    with pytest.raises(ScenarioError, match="did you mean `disks`"):
        headrace.load(EXAMPLE).with_({"system.tds.disk": 4}).run()
    with pytest.raises(TypeError, match="either a path"):
        headrace.run()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda one: sweep(one, RATES, replications=-2), "replications is -2: give a whole number from 1 on"),
        (lambda one: sweep(one, RATES, precision=float("nan")), "within is nan: give a number above 0"),
        (lambda one: capacity(one, RATE, "mean(users) < 20 ms", budget=0), "budget is 0: give a whole number"),
        (lambda one: capacity(one, RATE, "mean(users) < 20 ms", within=-1), "within is -1: give a number above 0"),
        (lambda one: optimise(one, RATES, minimise="mean(users)", trials=0), "trials is 0: give a whole number"),
        (lambda one: sensitivity(one, RATES, "mean(users)", samples=0), "samples is 0: give a whole number"),
        (lambda one: one.run(threads=-1), "threads is -1: give a whole number from 1 on"),
        (lambda one: one.run(widen=0), "widen is 0: give a number above 0"),
    ],
)
def test_numbers_that_cannot_be_meant_are_refused(call: Callable[[Scenario], object], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        call(Scenario(CLERK))


def test_scenarios_go_to_other_processes() -> None:
    changed = Scenario(CLERK).with_({"run.seed": 2})
    copy = pickle.loads(pickle.dumps(changed))
    assert copy.run().data["streams"] == changed.run().data["streams"]


def test_a_mapping_may_have_numbers_of_numpy() -> None:
    station = {"type": "station", "service": "8 ms", "servers": np.int64(2)}
    users = {"to": "clerk", "arrivals": {"poisson": "100 /s"}}
    document: Any = {"system": {"clerk": station}, "workload": {"users": users}}
    found = Scenario.of(document)
    assert found.check()["system"]["clerk"]["servers"] == 2


def test_recordings_without_randomness_are_no_statistics(tmp_path: Path) -> None:
    rows = "".join(f"{at * 1_000_000},read,{at * 4096},4096,,,0\n" for at in range(100))
    (tmp_path / "t.csv").write_text("time_ns,op,address,bytes,response_ns,think_ns,device\n" + rows)
    text = "system: {d: {type: station, service: 2 ms}}\nworkload: {x: {to: d, arrivals: {replay: {trace: t.csv}}}}\n"
    (tmp_path / "s.yaml").write_text(text)
    found = compare(tmp_path / "s.yaml", {"system.d.service": "3 ms"}, replications=2)
    assert "nothing in them is random" in found.answer
    assert "confidence" not in found.answer


def test_runs_that_do_not_differ_need_no_more_replications() -> None:
    assert "narrower" not in compare(Scenario(CLERK), Scenario(CLERK), replications=3).answer
