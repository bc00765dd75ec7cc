"""Every request as Parquet: complete, consistent with the results, and the same whichever engine wrote it."""

from pathlib import Path

import polars
import pytest

from conftest import ROOT, Run
from headrace import load
from headrace.files import NotKept

EXAMPLE = ROOT / "examples" / "raid0-split-merge.yaml"


def requests_of(folder: Path, **changes: object) -> polars.DataFrame:
    scenario = load(EXAMPLE).with_({"run.requests": 3000, "run.warm_up": "none"})
    scenario = scenario.with_({f"run.{name}": value for name, value in changes.items()})
    results = scenario.run(replications=2, requests=folder)
    rows = polars.read_parquet(folder / "*.parquet")
    response = (rows["completed_ns"] - rows["issued_ns"]).cast(polars.Float64) / 1e6
    assert response.mean() == pytest.approx(results.streams["mean_ms"].item())
    assert rows.height == results.streams["completed"].item() == 6000
    return rows


def test_the_log_is_the_run_request_by_request(tmp_path: Path) -> None:
    rows = requests_of(tmp_path / "recursion")
    assert rows["op"].unique().to_list() == ["read"]
    assert rows["stream"].unique().to_list() == ["readers"]
    legs = [name for name in rows.columns if name.endswith((" waiting_ns", " service_ns", " blocked_ns"))]
    assert legs == [
        f"{group} {leg}_ns" for group in ("tds", "tds/spindle") for leg in ("waiting", "service", "blocked")
    ]
    assert set(rows["last"]) == {f"tds/spindle[{disk}]" for disk in range(3)}
    spent = rows.select(polars.sum_horizontal(legs).alias("spent"))["spent"]
    assert (spent == rows["completed_ns"] - rows["issued_ns"]).all()
    assert rows.equals(requests_of(tmp_path / "events", engine="events"))


def test_a_folder_that_holds_another_log_is_refused(headrace: Run, tmp_path: Path) -> None:
    command = ["run", EXAMPLE, "--set", "run.requests=100", "--save-requests", tmp_path]
    assert headrace(*command).returncode == 0
    again = headrace(*command)
    assert again.returncode == 2
    assert "there are Parquet files already; name another folder" in again.stderr


def test_an_error_in_writing_keeps_the_answer_and_leaves_no_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.warns(NotKept, match="No space left"):
        found = load(EXAMPLE).with_({"run.requests": 300_000}).run(requests=tmp_path)
    assert found.complete
    assert list(tmp_path.iterdir()) == []
