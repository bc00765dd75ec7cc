"""The devices that scenarios can name, those that come with headrace and your own."""

import json
from pathlib import Path

import pytest

from conftest import ROOT, Run
from headrace import ScenarioError, devices

SCENARIO = """\
system: {spindle: {type: disk, device: mine, positioning: coupled}}
workload: {users: {to: spindle, arrivals: {poisson: 20 /s}}}
run: {requests: 200000}
"""


def own_device(folder: Path, **changes: str) -> None:
    """Write a copy of a drive as your own, with some parameters changed."""
    text = (ROOT / "catalog" / "seagate-st3500630ns.yaml").read_text()
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "devices").mkdir(exist_ok=True)
    (folder / "devices" / "mine.yaml").write_text(text)
    (folder / "scenario.yaml").write_text(SCENARIO)


def test_every_device_is_shown_with_the_origin_of_each_number(headrace: Run) -> None:
    for found in json.loads(headrace("devices", "--json").stdout):
        printed = headrace("devices", found["name"]).stdout
        assert all(number["origin"] != "not told" for number in found["numbers"])
        assert ("seek time of reads by distance, ms" in printed) == bool(found["seek_read"])
        rates = [rate for _, rate in found["zone_rates"]]
        assert rates == sorted(rates, reverse=True)
        times = [time for _, time in found["seek_read"]]
        assert times == sorted(times)


def test_what_is_shown_is_what_is_simulated(headrace: Run, tmp_path: Path) -> None:
    own_device(tmp_path)
    shown = json.loads(headrace("devices", "mine", "--beside", tmp_path, "--json").stdout)
    results = json.loads(headrace("run", tmp_path / "scenario.yaml", "--json").stdout)
    assert abs(results["components"][0]["service_ms"] / shown["random_read_ms"] - 1) < 0.005
    assert "mine" in headrace("devices", cwd=tmp_path).stdout


def test_a_mistake_in_ones_own_device_is_told_where_it_is(headrace: Run, tmp_path: Path) -> None:
    own_device(tmp_path, rotation="rotaton")
    ran = headrace("run", tmp_path / "scenario.yaml")
    assert ran.returncode == 2
    assert "the file of `mine` has errors" in ran.stderr
    assert "did you mean `rotation`?" in ran.stderr
    assert "mine.yaml:9:1" in ran.stderr
    assert "did you mean `rotation`?" in headrace("devices", "mine", "--beside", tmp_path).stderr


def test_numbers_that_make_no_sense_are_not_shown(headrace: Run, tmp_path: Path) -> None:
    own_device(tmp_path, **{"value: 60801": "value: 1"})
    ran = headrace("devices", "mine", "--beside", tmp_path)
    assert ran.returncode == 2
    assert "leave the arm nowhere to go" in ran.stderr


def test_ones_own_device_that_cannot_be_read_hides_no_other(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "seagate-st3500630ns.yaml").write_bytes(b"\xff\xfe")
    ran = headrace("devices", "seagate-st3500630ns", "--beside", tmp_path)
    assert ran.returncode == 2
    assert "it cannot be read" in ran.stderr
    assert json.loads(headrace("devices", "--json").stdout)


def test_an_unknown_device_names_the_nearest(headrace: Run) -> None:
    ran = headrace("devices", "seagate-st32172w")
    assert ran.returncode == 2
    assert "did you mean `seagate-st32171w`?" in ran.stderr


def test_a_device_is_named_by_the_path_of_its_file(headrace: Run, tmp_path: Path) -> None:
    own_device(tmp_path)
    drive = (tmp_path / "devices" / "mine.yaml").rename(tmp_path / "drive.yaml")
    assert json.loads(headrace("devices", drive, "--json").stdout)["numbers"]
    text = "workload: {users: {to: d, arrivals: {poisson: 1 /s}, size: 4 KiB}}\nsystem: {d: {type: disk, device: %s}}\n"
    for device in ("./drive.yaml", "{like: ./drive.yaml, rotation: 60 Hz}"):
        (tmp_path / "a.yaml").write_text(text % device)
        assert headrace("check", tmp_path / "a.yaml").returncode == 0
    (tmp_path / "a.yaml").write_text(text % "./none.yaml")
    assert "there is no device `./none.yaml`" in headrace("check", tmp_path / "a.yaml").stderr
    assert "does not exist" in headrace("devices", tmp_path / "none.yaml").stderr


@pytest.mark.parametrize("of", ["disksim", "fio"])
def test_what_is_no_file_to_import_is_said_in_its_own_words(headrace: Run, tmp_path: Path, of: str) -> None:
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    for name in ("binary", "."):
        ran = headrace("import", of, tmp_path / name, "-o", tmp_path / "out.yaml")
        assert ran.returncode == 2
        assert "scenario" not in ran.stderr
        assert not (tmp_path / "out.yaml").exists()


def test_a_part_of_a_name_finds_its_devices(headrace: Run) -> None:
    said = headrace("devices", "Micron").stderr
    near = [f"micron-{one}" for one in ("6500-ion-30720gb", "7450-pro-1920gb", "9400-pro-7680gb", "9550-max-6400gb")]
    assert f"did you mean {' or '.join(f'`{one}`' for one in near)}? there are" in said
    assert "did you mean `maxtor-7y250p0` or `maxtor-7y250p0-2mb`?" in headrace("devices", "maxtor").stderr
    assert "HD103UJ" in headrace("devices", "samsung-hd103").stdout


def test_devices_that_are_like_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "a.yaml").write_text("like: b\n")
    (tmp_path / "devices" / "b.yaml").write_text("like: a\n")
    with pytest.raises(ScenarioError, match="is like a device that is like it"):
        devices.device("a", tmp_path)


def test_a_device_is_found_by_words_of_its_names() -> None:
    assert devices.device("exos-x18")["title"] == devices.device("seagate-st18000nm000j")["title"]
    assert "flash" in devices.numbers("PM883")
