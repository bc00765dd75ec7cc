"""The studies of data acquisition at a small size: what fails is known, and argued in their READMEs."""

import json

import pytest

from conftest import Run

KNOWN = {
    "alice-daq": (24, {"Q001-1 one volume", "Q001-1 array of paper 000", "Q001-4 one volume"}),
    # At a small size the pool is an eighth and the run as long as its first fill: what depends on that is not held to.
    "whole-path": (10, {"collect", "on tape", "last part", "tape rate", "full", "two processes"}),
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
