"""Random systems: each ends within its limits, keeps the laws of every run, and is the same twice."""

from pathlib import Path

import pytest

import fuzz
import headrace
import systems

COUNT = 240


def test_random_systems_keep_the_laws(tmp_path: Path) -> None:
    found = list(fuzz.fuzz(0, COUNT, tmp_path))
    assert [tried for tried in found if tried.wrong] == [], "`systems.system(number)` is the document of a number"
    assert len(found) == COUNT
    seen = set().union(*(tried.kinds for tried in found))
    kinds = {one["properties"]["type"]["const"] for one in headrace.schema()["$defs"]["ComponentSpec"]["oneOf"]}
    assert kinds <= seen, "a kind that no system has"
    valid = [tried for tried in found if tried.number % 5 != 4]
    assert sum(tried.ended != "refused" for tried in valid) > 0.7 * len(valid), "most systems can be run"
    assert {"done", "time_up"} <= {tried.ended for tried in valid}


@pytest.mark.parametrize(("what", "count"), {"documents": 100, "traces": 70, "kills": 1}.items())
def test_what_is_damaged_or_killed_is_refused_or_kept(what: str, count: int, tmp_path: Path) -> None:
    found = list(fuzz.fuzz(0, count, tmp_path, what=what))
    assert [tried for tried in found if tried.wrong] == []
    assert len(found) == count


def test_a_number_is_a_document() -> None:
    assert systems.system(7) == systems.system(7)
    assert systems.system(7) != systems.system(8)


def test_what_is_wrong_is_found() -> None:
    data = {"streams": [{"name": "a", "issued": 3, "completed": 1, "in_flight": 1, "dropped": 0, "expired": 0}]}
    data["streams"][0]["failed"] = 0
    assert list(fuzz.unaccounted(data)) == ["a: 3 issued, [1, 1, 0, 0, 0] accounted for"]
    assert list(fuzz.impossible({"components": [{"utilisation": 1.5, "queue": float("inf"), "stalled": 0.5}]})) == [
        (".components[0].utilisation", 1.5),
        (".components[0].queue", float("inf")),
    ]
