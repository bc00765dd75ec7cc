"""Studies at a small size: nothing fails; what is undecided is so for want of requests only."""

import json
from pathlib import Path

import pytest

from conftest import Run, without_scripts
from headrace import scenario
from headrace.study import Claim, Obtained, find, judge


def test_no_claim_of_the_split_merge_study_fails(headrace: Run, tmp_path: Path) -> None:
    page = tmp_path / "study.html"
    ran = headrace("study", "run", "raid0-split-merge", "--small", "--json", "--report", page)
    report = json.loads(ran.stdout)
    assert report["study"] == "raid0-split-merge"
    assert report["small"]
    verdicts = [claim["verdict"] for claim in report["claims"]]
    assert "undecided" not in verdicts, "a small run leaves out what it cannot judge"
    failed = [claim for claim in report["claims"] if claim["verdict"] == "fails"]
    assert failed == []
    assert verdicts.count("holds") >= 130
    assert verdicts.count("not testable") == 4
    keys = {
        "id",
        "text",
        "kind",
        "calibrated",
        "published",
        "obtained",
        "tolerance",
        "verdict",
        "at_bound",
        "source",
        "why",
    }
    assert all(set(claim) == keys for claim in report["claims"])
    kinds = {claim["id"]: claim["kind"] for claim in report["claims"]}
    assert (kinds["future-mixed"], kinds["future-sizes"], kinds["future-bursts"]) == ("theory", "theory", "expectation")
    assert kinds["Q003-4-least"] == "expectation"
    [figure] = report["figures"]
    assert set(figure["curves"]) == {f"{n} disks, {how}" for n in (2, 3, 4) for how in ("split-merge", "fork-join")}
    shown = without_scripts(page)
    assert shown.count("<svg") == 2, "how far each claim is off, and the figure of the study"
    assert "published claims hold" in shown
    assert "verdicts mean little" in shown
    assert "X003-1</strong> is disputed" in shown
    assert ran.returncode == 0


def test_the_measured_disks_are_judged_where_there_is_data(
    headrace: Run, measured_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADRACE_DATA", raising=False)
    without = json.loads(headrace("study", "run", "measured-disks", "--small", "--json").stdout)
    assert {claim["verdict"] for claim in without["claims"]} == {"not testable"}
    monkeypatch.setenv("HEADRACE_DATA", str(measured_data))
    report = json.loads(headrace("study", "run", "measured-disks", "--small", "--json").stdout)
    assert len(report["claims"]) == 8 * 3 * 2
    assert [claim["verdict"] for claim in report["claims"]].count("holds") >= 20


def test_the_sata_drive_is_judged_where_there_is_data(
    headrace: Run, measured_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADRACE_DATA", raising=False)
    [without] = json.loads(headrace("study", "run", "samsung-f1-fio", "--small", "--json").stdout)["claims"]
    assert without["verdict"] == "not testable"
    monkeypatch.setenv("HEADRACE_DATA", str(measured_data))
    report = json.loads(headrace("study", "run", "samsung-f1-fio", "--small", "--json").stdout)
    assert len(report["claims"]) == 4 * 2 * 4
    assert [claim["verdict"] for claim in report["claims"]].count("holds") >= 30


# What holds with the numbers of the last fit, by the first word of each claim.
HOLDING = [
    ("Intel S4610 behind AHCI", "median"),
    ("Intel S4610 behind AHCI", "share"),
    ("Samsung PM883 behind AHCI", "median"),
    ("Samsung PM883 behind AHCI", "share"),
    ("Crucial MX200 behind a Smart Array P420i", "median"),
    ("Crucial MX200 behind a Smart Array P420i", "share"),
]


def test_the_solid_state_drives_are_judged_where_there_is_data(
    headrace: Run, measured_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADRACE_DATA", raising=False)
    without = json.loads(headrace("study", "run", "ssd-fio", "--small", "--json").stdout)["claims"]
    assert [claim["verdict"] for claim in without] == ["not testable"] * 3
    monkeypatch.setenv("HEADRACE_DATA", str(measured_data))
    claims = json.loads(headrace("study", "run", "ssd-fio", "--small", "--json").stdout)["claims"]
    verdicts = {(claim["id"], claim["text"].split()[0]): claim["verdict"] for claim in claims}
    assert len(verdicts) == 3 * 2
    assert all(verdicts[name] == "holds" for name in HOLDING), verdicts


def test_training_on_one_drive_is_judged_where_there_is_data(
    headrace: Run, measured_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADRACE_DATA", raising=False)
    [without] = json.loads(headrace("study", "run", "mlperf-storage", "--small", "--json").stdout)["claims"]
    assert without["verdict"] == "not testable"
    monkeypatch.setenv("HEADRACE_DATA", str(measured_data))
    claims = json.loads(headrace("study", "run", "mlperf-storage", "--small", "--json").stdout)["claims"]
    assert len(claims) == 16 + 7
    assert {claim["verdict"] for claim in claims if claim["calibrated"]} == {"holds"}


def test_the_array_is_judged_where_there_is_data(
    headrace: Run, measured_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADRACE_DATA", raising=False)
    [without] = json.loads(headrace("study", "run", "measured-arrays", "--small", "--json").stdout)["claims"]
    assert without["verdict"] == "not testable"
    monkeypatch.setenv("HEADRACE_DATA", str(measured_data))
    claims = json.loads(headrace("study", "run", "measured-arrays", "--small", "--json").stdout)["claims"]
    assert len(claims) == 2 * 4
    medians = {claim["id"].split("s,")[0]: claim["obtained"] for claim in claims if "median" in claim["text"]}
    assert medians.keys() == {"read", "write"}
    # Three times the tolerance: a small run judges by fewer requests.
    assert all(error < 15 for error in medians.values()), medians


def test_the_tape_library_is_judged_where_there_is_a_log(
    headrace: Run, measured_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HEADRACE_DATA", raising=False)
    without = json.loads(headrace("study", "run", "ecmwf-library", "--small", "--json").stdout)["claims"]
    assert {claim["verdict"] for claim in without} == {"not testable"}
    monkeypatch.setenv("HEADRACE_DATA", str(measured_data))
    claims = json.loads(headrace("study", "run", "ecmwf-library", "--small", "--json").stdout)["claims"]
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    held = ["busy", "loads", "latency", "rank", "fewer", "placement, 300 s", "placement, 1800 s"]
    assert verdicts == dict.fromkeys(held, "holds") | {"placement, 10000 h": "fails"}
    assert [claim["id"] for claim in claims if claim["calibrated"]] == ["placement, 300 s", "placement, 1800 s"]


def test_the_archive_is_judged_on_synthetic_logs(headrace: Run) -> None:
    claims = json.loads(headrace("study", "run", "llnl-unitree", "--small", "--json").stdout)["claims"]
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    assert len({(claim["id"], claim["text"]) for claim in claims}) == len(claims)
    lines = [f"T004-1-{op}-{what}" for op in ("put", "get") for what in ("latency", "rate")]
    aggregates = [f"T004-5-{what}" for what in ("network", "purges", "tape", "drives")]
    assert {verdicts[claim] for claim in (*lines, *aggregates, "X004-2")} == {"holds"}
    assert [verdicts[f"X004-{number}"] for number in (1, 3, 4)] == ["disputed"] * 3
    assert "T004-6" not in verdicts, "a small run has too few logs for the limit of users"


def test_drives_are_as_their_data_sheets_say(headrace: Run) -> None:
    claims = json.loads(headrace("study", "run", "data-sheets", "--small", "--json").stdout)["claims"]
    of_drive = [claim["id"].split(": ") for claim in claims]
    assert len({tuple(names) for names in of_drive}) == 4 * 13 + 20
    assert all(claim["source"] == "not published" for claim in claims if claim["verdict"] == "not testable")
    sustained = [claim for claim in claims if claim["tolerance"] == "± 3 %"]
    assert [claim["verdict"] for claim in sustained] == ["holds"] * 14
    assert [claim["verdict"] for claim in claims].count("holds") >= 23


def test_the_network_of_the_slides_is_judged(headrace: Run) -> None:
    """What fails is known, and argued in the study's README; nothing else may."""
    report = json.loads(headrace("study", "run", "san-queueing", "--small", "--json").stdout)
    verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
    failing = {name for name, verdict in verdicts.items() if verdict in ("fails", "undecided")}
    assert failing == set()
    assert verdicts["T002-4"] == "holds", "drives that wait for the loop are no bottleneck"
    assert list(verdicts.values()).count("holds") >= 44
    titles = [figure["title"] for figure in report["figures"]]
    slides = ["Big seq", "Big ran", "Small seq", "Small ran", "Empirical", "Lesson 1", "Lesson 2", "Lesson 3", "SANSim"]
    assert list(dict.fromkeys(next(slide for slide in slides if title.startswith(slide)) for title in titles)) == slides
    printed = [figure["points"]["published"] for figure in report["figures"] if "limit over drives" in figure["title"]]
    assert printed == [[[5, 66], [15, 79], [25, 82]], [[5, 420], [15, 1260], [25, 2100]]]
    both = [claim["id"] for claim in report["claims"] if claim["id"].endswith("-solved")]
    assert len(both) == 8, "random and sequential reads are simulated and solved"


def test_a_loop_meters_the_waits_of_commands_and_of_data_apart() -> None:
    """Reads take two tenancies each: the mean wait of all is half of the sum."""
    found = scenario.run(find("san-queueing").folder / "loop.yaml", changes={"run.requests": 5000}).data
    [loop] = [part for part in found["components"] if part["path"] == "loop"]
    waits = [loop["meters"][f"{kind}_wait_ms"] or 0.0 for kind in ("command", "data")]
    assert all(wait > 0 for wait in waits)
    assert sum(waits) / 2 == pytest.approx(loop["waiting_ms"], rel=0.01)


def test_a_wrong_model_is_found_out() -> None:
    """A tolerance that nothing could miss would prove nothing: the fork-join mean misses that of split-merge."""
    study = find("raid0-split-merge")
    [case] = [
        case
        for case in study.document["array"]["cases"]
        if (case["op"], case["disks"], case["blocks"]) == ("read", 4, 20)
    ]
    claim = Claim("mean", "mean response", case["mean"], "", percent=study.document["tolerance"]["mean_percent"])
    assert judge(claim, Obtained(case["fork_join"], 0.05)) == "fails"


def test_raid_levels_keep_to_the_rules(headrace: Run) -> None:
    claims = json.loads(headrace("study", "run", "raid-levels", "--small", "--json").stdout)["claims"]
    verdicts = {claim["id"]: claim["verdict"] for claim in claims}
    assert len(verdicts) == 52
    assert [name for name, verdict in verdicts.items() if verdict != "holds"] == []
