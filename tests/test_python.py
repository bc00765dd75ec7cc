"""Scenarios and results from Python."""

from pathlib import Path

import pytest

import headrace
from conftest import ROOT
from headrace import Results, ScenarioError

EXAMPLE = ROOT / "examples" / "raid0-split-merge.yaml"


@pytest.fixture(scope="module")
def results() -> Results:
    return headrace.load(EXAMPLE).with_({"run.requests": 20_000}).run(seed=3, replications=2)


def test_frames_have_what_the_results_have(results: Results) -> None:
    assert results.streams["answered"].to_list() == [40_000]
    assert results.streams.select("method", "trusted").rows() == [("replications", True)]
    assert results.components["path"].to_list() == ["tds", *(f"tds/spindle[{i}]" for i in range(3))]
    assert results.theory["model"].to_list() == ["M/G/1 of the slowest part (split-merge)"]
    assert results.streams["p99_ms"].item() == pytest.approx(results.theory["p99_ms"].item(), rel=0.05)
    cdf = results.cdf
    assert cdf["share"].is_sorted()
    assert cdf["share"].to_list() == pytest.approx(cdf["theory"].to_list(), abs=0.02)
    assert results.series["time_s"].is_sorted()
    assert {"readers answered", "readers mean_ms", "tds utilisation"} <= set(results.series.columns)


def test_a_notebook_shows_the_answer(results: Results) -> None:
    shown = results._repr_html_()
    assert results.answer in shown
    assert "tds/spindle[2]" in shown
    assert repr(results).startswith("<Results: readers: ")


def test_results_are_kept_whole_or_not_at_all(results: Results, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    results.save(file)
    assert Results.load(file).data == results.data
    broken = Results(results.data | {"answer": object()})
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


def test_mistakes_are_errors_with_their_text() -> None:
    with pytest.raises(ScenarioError, match="did you mean `disks`"):
        headrace.load(EXAMPLE).with_({"system.tds.disk": 4}).run()
    with pytest.raises(TypeError, match="either a path or a text"):
        headrace.run()
