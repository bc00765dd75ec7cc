"""The studies of data acquisition at a small size: what fails is known, and argued in their READMEs."""

import json
import os
from pathlib import Path

import pytest

from conftest import Run, real_program
from headrace.study import find

KNOWN: dict[str, tuple[int, set[str]]] = {
    "alice-daq": (19, set()),
    "whole-path": (4, set()),
}


@pytest.mark.parametrize("study", KNOWN)
def test_what_is_known_to_fail_fails_and_nothing_else(headrace: Run, study: str) -> None:
    number, known = KNOWN[study]
    claims = json.loads(headrace("study", "run", study, "--small", "--json").stdout)["claims"]
    assert len(claims) == number
    failing = {claim["id"] for claim in claims if claim["verdict"] in ("fails", "undecided")}
    assert failing <= known, failing - known


def test_a_slow_disk_holds_back_the_trigger_and_is_named(headrace: Run) -> None:
    found = json.loads(headrace("run", "examples/acquisition.yaml", "--json").stdout)
    assert found["bottleneck"]["group"] in ("tds1/spindle", "tds2/spindle")
    assert any("events were lost" in note for note in found["notes"])
    more = ("--set", "system.readout.buffer=256 MB")
    assert not any(
        "lost" in note
        for note in json.loads(headrace("run", "examples/acquisition.yaml", "--json", *more).stdout)["notes"]
    )


def test_this_machine_is_measured_and_its_error_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_program("fio")
    monkeypatch.setenv("HEADRACE_MEASURE", str(tmp_path))
    claims = find("this-machine").run(small=True)["claims"]
    assert {claim["verdict"] for claim in claims} == {"not testable"}
    measured = [claim["obtained"] for claim in claims]
    if "nothing was measured" in claims[0]["why"]:
        assert "O_DIRECT" in claims[0]["why"]
    else:
        assert all(isinstance(number, float) for number in measured), measured
    assert not os.listdir(tmp_path), "what was written is removed"


def test_without_fio_this_machine_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    claims = find("this-machine").run(small=True)["claims"]
    assert all("nothing was measured" in claim["why"] and "fio" in claim["why"] for claim in claims)
