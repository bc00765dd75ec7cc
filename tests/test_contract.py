"""What `--json` prints is a contract: docs/results.md describes every field, and this holds the two together."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import typer
import yaml

import headrace as package
from conftest import ROOT, Run
from headrace.cli import options

# Documented once, as the fields of `streams[].response` and `streams[].measured.all`.
SAME_AS_ANOTHER = tuple(
    f"streams[].{part}." for part in ("reads", "writes", "measured.reads", "measured.writes", "response.slowest[]")
)
# Maps whose keys depend on the component.
BY_NAME = (
    "components[].meters.",
    "components[].utilisation_by_cause.",
    "streams[].operations.",
    "series[].fill.",
    "series[].marked.",
)
EXAMPLE = ROOT / "examples" / "raid0-split-merge.yaml"
OBJECTIVE = ("--set", "objectives.readers=99 % within 1 s")


def fields(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every field, items of lists as `[]`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{path}.{name}".lstrip(".")
            yield from fields(inner, f"{path}.{name}")
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner, f"{path}[]")


DEVICES = sorted((ROOT / "catalog").glob("*.yaml"))


@pytest.mark.parametrize("file", DEVICES, ids=lambda file: file.stem)
def test_the_schema_describes_every_kind_of_device_file(file: Path) -> None:
    describes = jsonschema.Draft202012Validator(package.schema("device")).is_valid
    device = yaml.safe_load(file.read_text())
    assert describes(device)
    if "like" not in device:  # Which fields a variation can have depends on the device that it varies.
        assert not describes(device | {"rotaton": "7200 rpm"})
    assert describes({"like": file.stem, "validation": "not validated"})


def test_every_field_is_documented_and_no_other(headrace: Run, measured_data: Path) -> None:
    documented = {
        line.split("`")[1] for line in (ROOT / "docs" / "results.md").read_text().splitlines() if line.startswith("| `")
    }
    trace = measured_data / "disks" / "barracuda" / "barracuda.trace"
    replayed = headrace(
        "run", "examples/replay-barracuda.yaml", "--json", "--set", f"workload.host.arrivals.replay.trace={trace}"
    )
    drawn = headrace("run", EXAMPLE, "--json", "--replications", 2, "--set", "run.requests=20000", *OBJECTIVE)
    rebuilt = headrace("run", "examples/rebuild.yaml", "--json", "--set", "run.time=3 min")
    archive = headrace("run", "examples/archive.yaml", "--json")
    training = headrace("run", "examples/training.yaml", "--json", "--set", "run.requests=20000")
    estimated = headrace("run", "examples/fc-loop.yaml", "--json", "--set", "run.requests=5000")
    found = {
        field
        for printed in (replayed, drawn, rebuilt, archive, training, estimated)
        for field in fields(json.loads(printed.stdout))
        if not field.startswith(("scenario.", *SAME_AS_ANOTHER, *BY_NAME))
    }
    assert found == documented


def test_check_prints_the_scenario_with_its_defaults(headrace: Run) -> None:
    printed = json.loads(headrace("check", EXAMPLE, "--json").stdout)
    assert printed["ok"]
    assert printed["scenario"]["run"]["warm_up"] == "auto"
    assert printed["scenario"]["system"]["tds"]["stripe_unit"] == "128 KiB"


def test_the_resolved_scenario_runs_again_with_the_same_results(headrace: Run, tmp_path: Path) -> None:
    first = json.loads(headrace("run", EXAMPLE, "--json", "--set", "run.requests=5000", "--seed", 7).stdout)
    again = tmp_path / "again.yaml"
    again.write_text(json.dumps(first["scenario"]))  # YAML contains JSON.
    assert json.loads(headrace("run", again, "--json").stdout) == first


def test_the_schema_is_the_same_from_everywhere(headrace: Run) -> None:
    schema = json.loads(headrace("schema").stdout)
    assert schema["title"] == "ScenarioSpec"
    places = {"parts", "system", "workload", "faults", "objectives", "rates", "uncertain", "run"}
    assert set(schema["properties"]) == places
    assert json.loads(headrace("schema", "--json").stdout) == schema
    assert package.schema() == schema


def test_help_reads_well_in_a_narrow_terminal(headrace: Run) -> None:
    for command in ([], ["run"], ["check"], ["schema"], ["study"], ["study", "run"], ["study", "list"]):
        printed = headrace(*command, "--help", columns=60)
        assert printed.returncode == 0
        assert max(len(line) for line in printed.stdout.splitlines()) <= 60
        assert "bool" not in printed.stdout, "a flag takes no value"


def test_results_fit_a_narrow_terminal(headrace: Run) -> None:
    printed = headrace("run", EXAMPLE, "--set", "run.requests=5000", columns=60)
    assert max(len(line.rstrip()) for line in printed.stdout.splitlines()) <= 60


def test_a_folder_that_cannot_be_written_is_told_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    assert options._page(page) == page
    monkeypatch.setattr(os, "access", lambda path, how: not (Path(path) == tmp_path and how == os.W_OK))
    with pytest.raises(typer.BadParameter, match="you may not write to"):
        options._page(page)
    assert options._page(Path("/dev/null"))


def test_studies_are_listed(headrace: Run) -> None:
    studies = [study["study"] for study in json.loads(headrace("study", "list", "--json").stdout)]
    systems = ["alice-tds", "ecmwf-library", "llnl-unitree", "raid-levels", "raid0-split-merge", "san-queueing"]
    drives = ["data-sheets", "measured-disks", "samsung-f1-fio"]
    assert set(studies) >= {*systems, *drives}
    told = headrace("study", "list").stdout
    assert all(study in told for study in studies)


def test_python_gives_what_the_command_line_gives(headrace: Run) -> None:
    printed = json.loads(headrace("run", EXAMPLE, "--json", "--set", "run.requests=3000").stdout)
    assert package.run(EXAMPLE, changes={"run.requests": 3000}).data == printed
    assert package.load(EXAMPLE).with_({"run.requests": 3000}).run().data == printed


def test_progress_is_told_and_an_error_in_the_watcher_ends_the_run() -> None:
    told: list[tuple[int, int]] = []
    seen: list[tuple[str, int]] = []

    def watch(answered: int, wanted: int, queues: list[tuple[str, int]]) -> None:
        told.append((answered, wanted))
        seen.extend(queues)

    eight_at_once = {"workload.readers.arrivals": {"closed": {"depth": 8}}}
    package.run(EXAMPLE, changes=eight_at_once | {"run.requests": 2_000_000}, watch=watch)
    assert told
    assert all(0 <= answered <= wanted == 2_000_000 for answered, wanted in told)
    assert set(seen) == {("tds", 7)}

    def fails(_answered: int, _wanted: int, _queues: list[tuple[str, int]]) -> None:
        raise ValueError("the watcher is wrong")

    with pytest.raises(ValueError, match="the watcher is wrong"):
        package.run(EXAMPLE, changes={"run.requests": 100_000_000}, watch=fails)
