"""What READMEs say of studies agrees with their last run at full size."""

import importlib
import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from conftest import ROOT, Run
from headrace import study
from headrace.report import Table
from headrace.reports.study import overview

RECORDED = [found for found in study.all_studies() if (found.folder / study.RECORD).exists()]
Json = dict[str, Any]


def recorded(of: study.Study) -> Json:
    return dict(json.loads((of.folder / study.RECORD).read_text(encoding="utf-8")))


def readme(of: study.Study) -> str:
    return " ".join((of.folder / "README.md").read_text(encoding="utf-8").split())


@pytest.mark.parametrize("of", RECORDED, ids=lambda of: of.name)
def test_a_readme_says_what_its_study_found(of: study.Study) -> None:
    assert recorded(of)["said"].partition(": ")[2] in readme(of)


@pytest.mark.parametrize("of", RECORDED, ids=lambda of: of.name)
def test_each_claim_that_is_missed_has_its_cause_in_the_readme(of: study.Study) -> None:
    unexplained = [claim for claim in recorded(of)["missed"] if claim not in readme(of)]
    assert unexplained == []


def others(of: study.Study) -> tuple[int, int]:
    """Return how many claims of others hold, published or measured, and how many a run can decide."""
    counts = [recorded(of)["counts"].get(kind, {}) for kind in ("published", "measured")]
    return sum(one.get("holds", 0) for one in counts), sum(one.get(name, 0) for one in counts for name in study.DECIDED)


def test_the_front_readme_says_the_same_counts() -> None:
    front = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    found = re.findall(r"\(studies/(\w+)/README\.md\) \((\d+) of (\d+)", front)
    said = {name: (int(held), int(tried)) for name, held, tried in found}
    counted = ["alice_tds", "san_queueing", "llnl_unitree", "measured_arrays", "mlperf_storage"]
    assert said == {of.folder.name: others(of) for of in RECORDED if of.folder.name in counted}


@pytest.fixture(scope="module")
def one(headrace: Run) -> Json:
    """Return the report of a study, as JSON."""
    return dict(json.loads(headrace("study", "run", "ceph-recovery", "--small", "--json").stdout))


def test_json_counts_the_claims_that_it_lists(one: Json) -> None:
    assert one["counts"] == study.counts(one["claims"])
    assert sum(sum(of.values()) for of in one["counts"].values()) == len(one["claims"])


def test_the_page_of_all_studies_counts_the_claims_of_each(one: Json) -> None:
    shown = overview([cast("study.Verdicts", of) for of in (one, one | {"study": "again"})])
    published = one["counts"]["published"]
    held, tried = published["holds"], sum(published.get(verdict, 0) for verdict in study.DECIDED)
    assert f"{2 * held} of {2 * tried} published claims hold, in 2 studies." in shown.answer
    table = next(block for block in shown.blocks if isinstance(block, Table))
    assert [row[0] for row in table.rows] == ["ceph-recovery", "again"]
    assert [row[1] for row in table.rows] == [f"{held} of {tried}"] * 2


def test_errors_on_a_measured_system_are_sizes_and_count_what_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    within = study.Claim("drive", "median", 0.0, "here", at_most=3.0)
    claims = [study.verdict(within, study.Obtained(value)) for value in (2.0, 4.0)]
    errors = [-9.0, 1.0, -2.0, 3.0, 1.0, -2.0, 3.0, -1.0, 2.0, 20.0]

    def obtain(of: study.Study) -> Iterator[study.Judged]:
        yield from of.predicts("a drive", errors, claims, fitted="nothing", predicted="IOPS", bar="median ≤ 3 %")

    monkeypatch.setattr(importlib.import_module("headrace.studies.whole_path.study"), "obtain", obtain)
    report = study.find("whole-path").run()
    [row] = report["accuracy"]
    assert [row[name] for name in ("points", "median_percent", "p90_percent", "held", "tried")] == [10, 2.0, 9.0, 1, 2]
    assert report["claims"][:2] == claims


def test_a_small_run_says_first_that_its_verdicts_mean_little(headrace: Run) -> None:
    said = headrace("study", "run", "whole-path", "--small").stdout
    assert said.startswith(study.SMALL[:40])
