"""The first minutes: `headrace init`, and `check` of every kind of document."""

import json
from pathlib import Path

import numpy as np
import pytest

import headrace as package
from conftest import ROOT, Run

SYSTEMS = sorted(file.stem for file in (ROOT / "python" / "headrace" / "starts").glob("*.yaml"))


@pytest.mark.parametrize("system", SYSTEMS)
def test_what_init_writes_runs(headrace: Run, tmp_path: Path, system: str) -> None:
    file = tmp_path / "mine.yaml"
    assert f"headrace run {file}" in headrace("init", file, "--system", system).stdout
    assert file.read_text().startswith("# yaml-language-server: $schema=scenario.schema.json")
    assert json.loads((tmp_path / "scenario.schema.json").read_text())["title"] == "ScenarioSpec"
    results = json.loads(headrace("run", file, "--set", "run.requests=2000", "--json").stdout)
    assert results["complete"]
    assert results["streams"][0]["completed"]


def test_init_says_what_there_is_to_start_from(headrace: Run, tmp_path: Path) -> None:
    refused = headrace("init", tmp_path / "mine.yaml", "--system", "tape")
    assert refused.returncode == 2
    assert "there is no `tape`; there are acquisition, archive" in " ".join(refused.stderr.replace("│", "").split())
    assert not list(tmp_path.iterdir())


def test_init_overwrites_nothing(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text("mine")
    refused = headrace("init", file)
    assert refused.returncode == 2
    assert "exists; choose another name" in " ".join(refused.stderr.replace("│", "").split())
    assert file.read_text() == "mine"


def test_check_says_what_a_document_is(headrace: Run, tmp_path: Path) -> None:
    scenario = headrace("check", ROOT / "examples" / "stripe-unit.yaml").stdout
    assert scenario.strip().endswith("is a valid scenario: 1 stream, 7 components")
    experiment = headrace("check", ROOT / "examples" / "experiments" / "stripe-unit.yaml").stdout
    assert "is a valid experiment: 16 points of" in experiment
    device = json.loads(headrace("check", ROOT / "catalog" / "hp-c2247a.yaml", "--json").stdout)
    assert (device["kind"], device["device"]["name"][:15]) == ("device", "Hewlett-Packard")
    broken = tmp_path / "mine.yaml"
    broken.write_text("rotation: 7200\ncapacity: 1 TB\n")
    refused = headrace("check", broken)
    assert refused.returncode == 2
    assert "has no unit" in refused.stderr


def test_numbers_of_numpy_are_numbers() -> None:
    scenario = package.load(ROOT / "examples" / "queue-depth.yaml").with_({"run.requests": np.int64(2000)})
    results = scenario.run(seed=np.int64(3))  # type: ignore[arg-type]
    assert results.data == scenario.run(seed=3).data
    assert results.bottleneck is not None
    assert results.bottleneck["component"] == "spindle"
    with pytest.raises(TypeError, match="not a set"):
        scenario.with_({"run.requests": {1}}).check()


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["replay"], "Instead: `arrivals: {replay: {trace: FILE}}` in a scenario"),
        (["trace", "msr.csv"], "'msr.csv' is a file; put a command before it, such as `info`, `convert`."),
        (["msr.csv"], "'msr.csv' is a file; put a command before it, such as `run`, `solve`,"),
    ],
)
def test_what_is_no_command_is_told_with_what_does_it(
    headrace: Run, tmp_path: Path, command: list[str], told: str
) -> None:
    (tmp_path / "msr.csv").touch()
    refused = headrace(*command, cwd=tmp_path)
    assert refused.returncode == 2
    assert told in " ".join(refused.stderr.replace("│", " ").split())
