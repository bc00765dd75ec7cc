"""Devices imported from DiskSim: they answer as DiskSim does, and whatever a file says, they load or are refused."""

import csv
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headrace import ScenarioError, devices
from headrace.devices import disksim, validation

Json = dict[str, Any]

# Within so much a request counts as answered as DiskSim does, and so large a share is.
NEAR_MS, SHARE = 0.01, 0.95

# What each disk gets as DiskSim's demerit on its measured trace, ms, and as its mean error, %.
DISKSIM = {
    "hp_c2247a": (0.094, 0.1),
    "hp_c3323a": (0.289, 1.2),
    "barracuda": (0.348, 3.0),
    "cheetah4LP": (0.318, 4.8),
    "atlas_III": (0.378, 2.0),
    "atlas10k": (0.268, 2.0),
    "cheetah9LP": (0.108, 1.0),
    "dec_rz26": (0.341, 0.7),
}


def parameters(folder: Path, disk: str) -> Path:
    return folder / "disks" / disk / f"{disk}.parv"


def imported(file: Path, folder: Path) -> Json:
    """Import a parameter file, and return the numbers of the device as headrace reads them."""
    device = folder / "imported.yaml"
    device.write_text(disksim.read(file))
    return devices.numbers(str(device))


def as_disksim(numbers: Json) -> Json:
    """Return a device without what headrace does otherwise, each an option that its file names."""
    numbers = numbers | {"cache": numbers["cache"] | {"keeps_passing": False}}
    return numbers | {"interface": numbers["interface"] | {"write_watermark": 0.0}}


def issued_by_disksim(folder: Path, disk: str, to: Path) -> Path:
    """Write a disk's trace with DiskSim's answers instead of the measured ones: it contains DiskSim's own times."""
    with (folder / "disksim-per-request" / f"{disk}.csv").open() as file:
        answers = [float(row["disksim_ms"]) * 1000 for row in csv.DictReader(file)]
    lines = (folder / "disks" / disk / f"{disk}.trace").read_text().splitlines()
    rows = [line.split() for line in lines if line.strip()]
    pairs = zip(rows, answers, strict=True)
    text = (f"{' '.join(row[:4])} {answer:.1f} {row[5]}\n" for row, answer in pairs)
    to.write_text("".join(text))
    return to


def at_its_speed(numbers: Json, trace: Path) -> tuple[Json, float]:
    """Return the numbers with the speed of DiskSim's platter, and its phase.

    It counts angles in whole parts of a turn and cuts off the rest at each sector, which makes its speed 0.5 to 2
    millionths another than its file says: a slope of the errors over time.
    """
    phase, rpm = 0.0, devices.quantity("frequency", numbers["rotation"]) * 60
    for _ in range(4):
        numbers = numbers | {"rotation": f"{rpm:.8f} rpm"}
        replayed = validation.Replayed(numbers, trace, "measured", [phase])
        errors = replayed.errors[0]
        told = replayed.went("platter")[0] & (np.abs(errors) < 0.6)
        slope, offset = np.polyfit(replayed.issued[told], errors[told], 1)
        left = np.abs(errors - slope * replayed.issued - offset)
        told &= left < 5 * np.median(left[told])
        slope, offset = np.polyfit(replayed.issued[told], errors[told], 1)
        phase, rpm = (phase + offset / replayed.turn_ms) % 1.0, rpm * (1 + slope)
    return numbers | {"rotation": f"{rpm:.8f} rpm"}, phase


@pytest.mark.parametrize("disk", DISKSIM)
def test_an_imported_disk_answers_as_disksim_does(measured_data: Path, disk: str, tmp_path: Path) -> None:
    numbers = as_disksim(imported(parameters(measured_data, disk), tmp_path))
    trace = issued_by_disksim(measured_data, disk, tmp_path / "issued.trace")
    spinning, phase = at_its_speed(numbers, trace)
    rpm = [devices.quantity("frequency", one["rotation"]) for one in (numbers, spinning)]
    assert abs(rpm[1] / rpm[0] - 1) < 3e-6
    replayed = validation.Replayed(spinning, trace, "measured", [phase])
    near = np.abs(replayed.errors[0]) <= NEAR_MS
    assert near.mean() >= SHARE
    for write in (False, True):
        assert near[replayed.write == write].mean() >= SHARE


@pytest.mark.parametrize("disk", DISKSIM)
def test_an_imported_disk_is_as_near_to_the_measured_one_as_disksim(
    measured_data: Path, disk: str, tmp_path: Path
) -> None:
    numbers = imported(parameters(measured_data, disk), tmp_path)
    found = validation.of(numbers, measured_data / "disks" / disk / f"{disk}.trace")["overall"]
    demerit, mean = DISKSIM[disk]
    assert found["demerit_ms"] <= 1.25 * demerit
    assert abs(found["mean_error_percent"]) <= mean + 0.5


def test_an_import_says_where_headrace_differs_and_what_it_made_of_oddities(
    measured_data: Path, tmp_path: Path
) -> None:
    remarks = [
        line for line in disksim.read(parameters(measured_data, "atlas10k")).splitlines() if line.startswith("#")
    ]
    assert any("the seek over 4700 cylinders (9.463 ms) is far off" in remark for remark in remarks)
    assert any("atlas10k.diskspecs:48: Read any free blocks" in remark for remark in remarks)
    assert imported(parameters(measured_data, "dec_rz26"), tmp_path)["mechanics"]["write_settle"] == "-483 us"


# What a value may turn into that is none, or one that no disk has.
VALUES = ["", "inf", "-inf", "nan", "1e400", "-1", "0", "0.5", "1e18", "99999999999", "x", "[]", "[", "{", "}",
          "[1, x]", "source a", "source seed.parv", "source /dev/zero", "dm_x { a = 1 }"]  # fmt: skip


def mutated(text: str, draw: random.Random) -> str:
    """Return the text of a parameter file with a few things wrong."""
    lines = text.splitlines()
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(lines)) if lines else 0
        match draw.randrange(6):
            case 0 if lines and "=" in lines[at]:
                lines[at] = f"{lines[at].partition('=')[0]}= {draw.choice(VALUES)},"
            case 1:
                lines = lines[:at] + lines[at + 1 :]
            case 2:
                lines.insert(at, draw.choice([*lines, *VALUES]) if lines else "x")
            case 3:
                lines = lines[:at]
            case 4 if lines:
                cut = draw.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:cut] + draw.choice("[]{}=,#0-9e. ") + lines[at][cut + 1 :]
            case _ if lines:
                digits = [place for place, sign in enumerate(lines[at]) if sign.isdigit()]
                if digits:
                    place = draw.choice(digits)
                    lines[at] = lines[at][:place] + draw.choice("0123456789") + lines[at][place + 1 :]
    return "\n".join(lines)


def loads_or_says_why(parv: Path, folder: Path) -> bool:
    """Return whether a file can be imported; then the device loads and answers, else the message has a place."""
    try:
        text = disksim.read(parv)
    except ScenarioError as refused:
        message = str(refused)
        assert any(
            f"{folder}/{name}:" in message for name in ("seed.parv", "seed.diskspecs", "seed.model", "seed.seek")
        )
        return False
    (folder / "imported.yaml").write_text(text)
    trace = folder / "asked.trace"
    trace.write_text("R Miss 0 8 5000 1000\nW Miss 8 1 5000 1000\nR Miss 4 8 5000 1000\n")
    numbers = devices.numbers(str(folder / "imported.yaml"))
    if devices.quantity("size", numbers["capacity"]) >= 12 * 512:
        assert len(validation.Replayed(numbers, trace, "simulated", [0.5]).measured) == 3
    return True


@pytest.mark.parametrize("disk", ["hp_c2247a", "barracuda", "dec_rz26"])
def test_whatever_a_parameter_file_says_it_loads_or_the_message_has_file_and_line(
    measured_data: Path, disk: str, tmp_path: Path
) -> None:
    draw, names = random.Random(disk), {}
    for file in (measured_data / "disks" / disk).iterdir():
        if file.suffix in {".parv", ".diskspecs", ".model", ".seek"}:
            names[file.name] = f"seed{file.suffix}"
    texts = {}
    for name, seed in names.items():
        text = (measured_data / "disks" / disk / name).read_text()
        for other, to in names.items():
            text = text.replace(other, to)
        texts[seed] = text
    done = {True: 0, False: 0}
    for _ in range(MUTATIONS):
        wrong = draw.choice(sorted(texts))
        for seed, text in texts.items():
            (tmp_path / seed).write_text(mutated(text, draw) if seed == wrong else text)
        done[loads_or_says_why(tmp_path / "seed.parv", tmp_path)] += 1
    assert min(done.values()) > 10


# Number of mutations of each disk's files.
MUTATIONS = 300


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "seed.parv:1: it describes 0 disks"),
        ("source seed.parv\n", "seed.parv:1: .*sources itself"),
        ("\nsource none.parv\n", "seed.parv:2: file not found"),
        ("source a\0b.parv\n", "seed.parv:1: file not found"),
        ("source /dev/zero\n", "seed.parv:1: file not found: /dev/zero"),
        ("disksim_disk A {\n Model = " + "[" * 500, "seed.parv:2: .*too deep"),
        ("disksim_disk A {\n Model = dm_disk B { a = inf } }\n", "seed.parv:2: there is no `Mechanical Model`"),
    ],
)
def test_files_that_are_none_are_refused(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "seed.parv").write_text(text)
    with pytest.raises(ScenarioError, match=says):
        disksim.read(tmp_path / "seed.parv")


def test_zones_rule_where_they_have_more_cylinders_or_fewer_sectors_than_the_file_counts(
    measured_data: Path, tmp_path: Path
) -> None:
    def changed(right: str, wrong: str) -> tuple[Json, str]:
        for file in (measured_data / "disks" / "barracuda").iterdir():
            text = file.read_text() if file.suffix != ".trace" else ""
            (tmp_path / file.name).write_text(text.replace(right, wrong))
        text = disksim.read(tmp_path / "barracuda.parv")
        (tmp_path / "imported.yaml").write_text(text)
        return devices.numbers(str(tmp_path / "imported.yaml")), text

    numbers, text = changed("Last cylinder number = 5171", "Last cylinder number = 5172")
    assert numbers["cylinders"]["value"] == 5173
    assert "the zones have 5173 cylinders; 5172 is not used" in text
    numbers, text = changed("Block count = 4110000", "Block count = 9110000")
    assert devices.quantity("size", numbers["capacity"]) < 5_000_000 * 512
    assert "9110000 is not used" in text


def settings(**changes: str) -> Callable[[str], str]:
    """Return what sets parameters in the text of a parameter file."""

    def apply(text: str) -> str:
        lines = text.splitlines()
        for key, value in changes.items():
            name = key.replace("_", " ")
            lines = [f"{name} = {value}," if line.strip().startswith(f"{name} =") else line for line in lines]
        return "\n".join(lines)

    return apply


@pytest.mark.parametrize(
    ("set_to", "path", "value"),
    [
        (settings(Never_disconnect="1"), ("interface", "reselect"), "0 s"),
        (settings(Use_separate_write_segment="0"), ("cache", "keeps_written"), True),
        (settings(Fast_write_level="1"), ("interface", "write_miss", "after_read"), "500 us"),
        (settings(Fast_write_level="0"), ("interface", "write_miss", "after_read"), "700 us"),
        (settings(Buffer_continuous_read="4"), ("cache", "read_ahead"), "next_track"),
        (settings(Bulk_sector_transfer_time="0.2"), ("interface", "read_rate"), "2.56 MB/s"),
        (settings(Bulk_sector_transfer_time="0.1"), ("interface", "read_rate"), "3.01 MB/s"),
    ],
)
def test_parameters_mean_what_they_do_in_disksim(
    measured_data: Path, tmp_path: Path, set_to: Callable[[str], str], path: tuple[str, ...], value: Any
) -> None:
    overheads = settings(**{"Write hit over. after read": "0.5", "Write miss over. after read": "0.7"})
    for file in (measured_data / "disks" / "hp_c2247a").iterdir():
        if file.suffix != ".trace":
            (tmp_path / file.name).write_text(set_to(overheads(file.read_text())))
    found: Any = imported(tmp_path / "hp_c2247a.parv", tmp_path)
    for key in path:
        found = found[key]
    if path[-1] == "read_rate":
        assert devices.quantity("data rate", found) == pytest.approx(devices.quantity("data rate", value), rel=1e-3)
    else:
        assert found == value
