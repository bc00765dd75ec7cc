"""The journeys of the first requests as Chrome trace events: what Perfetto needs, and what happened."""

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

import polars
import pytest

from conftest import ROOT, Run

EXAMPLE = ROOT / "examples" / "stripe-unit.yaml"


@pytest.fixture(scope="module")
def events(headrace: Run, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("timeline")
    file = folder / "timeline.json"
    command = [
        "run",
        EXAMPLE,
        "--set",
        "run.requests=300",
        "--set",
        "run.warm_up=none",
        "--save-requests",
        folder / "log",
    ]
    ran = headrace(*command, "--timeline", file, "--first", 40)
    assert ran.returncode == 0, ran.stderr
    found: list[dict[str, Any]] = json.loads(file.read_text())["traceEvents"]
    found.append({"ph": "log", "rows": polars.read_parquet(folder / "log" / "*.parquet").sort("issued_ns")})
    return found


def test_each_request_lasts_as_long_as_in_the_log(events: list[dict[str, Any]]) -> None:
    log = next(event["rows"] for event in events if event["ph"] == "log")
    spans: dict[int, dict[str, float]] = defaultdict(dict)
    for event in events:
        if event.get("cat") == "request":
            spans[event["id"]][event["ph"]] = event["ts"]
    assert len(spans) == 40
    for number, span in spans.items():
        row = log.row(number, named=True)
        assert span["b"] * 1000 == pytest.approx(row["issued_ns"])
        assert span["e"] * 1000 == pytest.approx(row["completed_ns"])


def test_each_component_has_its_rows_and_nothing_overlaps_in_one(events: list[dict[str, Any]]) -> None:
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    assert names[0] == "requests"
    assert "volume/spindle[3]" in names.values()
    rows = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in rows.values():
        ordered = sorted(spans)
        assert all(end <= begin + 1e-6 for (_, end), (begin, _) in pairwise(ordered))
    # A disk serves one request at a time, so it has one row.
    assert {tid for pid, tid in rows if "spindle" in names[pid]} == {1}


def test_every_arrow_and_wait_that_begins_ends(events: list[dict[str, Any]]) -> None:
    for begins, ends, kind in (("b", "e", "waiting"), ("s", "f", "way")):
        begun = [event["id"] for event in events if event.get("cat") == kind and event["ph"] == begins]
        ended = [event["id"] for event in events if event.get("cat") == kind and event["ph"] == ends]
        assert begun
        assert sorted(begun) == sorted(ended)
        assert len(set(begun)) == len(begun)
