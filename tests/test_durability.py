"""`headrace durability`: the answer first, tables, JSON of the published types, and what it refuses."""

import json
from pathlib import Path

import pytest

import headrace as package
from conftest import Run

VOLUME = """\
parts: {drive: {type: station, service: 1 ms, capacity: 32 MiB}}
system: {volume: {type: array, level: raid6, of: drive, disks: 6, spares: 2, stripe_unit: 64 KiB}}
workload: {users: {to: volume, arrivals: {poisson: 50 /s}, size: 4 KiB, op: {reads: 70 %}}}
rates: {drive: 2 %/year, latent_error: 1e-10 /bit, replace: 1 ms}
"""


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    file = tmp_path / "volume.yaml"
    file.write_text(VOLUME)
    return file


def test_the_answer_comes_first_and_then_its_parts(headrace: Run, volume: Path) -> None:
    printed = headrace("durability", volume).stdout
    said = " ".join(printed.split())
    assert said.startswith("The chance of losing data within a year is 1 in ")
    assert "Within 5 years: 1 in " in said
    assert "a latent error met by a rebuild with 2 lost" in said
    assert "A rebuild of volume takes" in said
    for title in ("chance of data loss", "losses of volume", "rebuilds of volume"):
        assert title in printed


def test_json_has_the_published_fields(headrace: Run, volume: Path) -> None:
    found = json.loads(headrace("durability", volume, "--json", "--years", "2").stdout)
    assert set(found) == set(package.schema("durability")["properties"])
    assert found["years"] == 2
    [one] = found["volumes"]
    assert one["tolerates"] == 2
    assert [rebuild["at_once"] for rebuild in one["rebuilds"]] == [1, 2]
    assert abs(sum(cause["share"] for cause in one["causes"]) - 1) < 1e-9
    assert one["chance"]["value"] == pytest.approx(2 * one["chance_in_a_year"]["value"], rel=1e-6)
    assert one["mean_years"]["value"] == pytest.approx(one["theory"]["mean_years"], rel=0.1)


def test_the_same_seed_gives_the_same_answer(volume: Path) -> None:
    scenario = package.load(volume)
    once, again = (scenario.durability(threads=threads).data for threads in (1, 3))
    assert once == again
    assert scenario.with_({"run.seed": 2}).durability().data != once


def test_a_report_shows_it(headrace: Run, volume: Path, tmp_path: Path) -> None:
    page = tmp_path / "risk.html"
    assert headrace("durability", volume, "--report", page).returncode == 0
    shown = page.read_text(encoding="utf-8")
    assert "The chance of losing data within a year" in shown
    assert "Rebuilds of volume" in shown
    found = package.load(volume).durability()
    assert "rebuilds of volume" in found._repr_html_().lower()
    assert found.volumes.select("component", "drives").row(0) == ("volume", 6)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--set", "rates.drive=2 %"], "write `2 %/year`"),
        (["--set", "rates.latent_error=1e-15"], "has no unit; write an error rate such as `1e-15 /bit`"),
        (["--set", "rates.server=1 %/year"], "there is no pool"),
        (["--set", "rates.disk=1 %/year"], "disk"),
        (["--stretch", "2 parsecs"], "unknown unit of time `parsecs`"),
        (["--replications", "0"], "greater than or equal to 1"),
    ],
)
def test_nonsense_is_refused(headrace: Run, volume: Path, options: list[str], said: str) -> None:
    ran = headrace("durability", volume, *options)
    assert ran.returncode == 2
    assert said in " ".join(ran.stderr.replace("│", " ").split()), ran.stderr


def test_a_scenario_without_rates_says_what_to_add(headrace: Run, volume: Path) -> None:
    volume.write_text(VOLUME.partition("rates:")[0])
    ran = headrace("durability", volume)
    assert ran.returncode == 2
    assert "add `rates: {drive: 1.4 %/year" in ran.stderr


def test_it_runs_as_before_beside_rates(headrace: Run, volume: Path) -> None:
    ran = headrace("run", volume, "--set", "run.requests=200", "--json")
    assert json.loads(ran.stdout)["scenario"]["rates"]["drive"] == "0.02 /year"
