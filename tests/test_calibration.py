"""What calibration finds out: on traces of simulated drives, whose truth is known, and on measured ones."""

import copy
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace import devices
from headrace.devices import cached, calibration, survey, validation
from headrace.devices.parameters import parameters_of

Json = dict[str, Any]
Ask = Callable[[random.Random, int], tuple[str, int, int]]


def traced(drive: Json, file: Path, ask: Ask, *, many: int = 3000, unsure_ms: float = 0.0) -> Path:
    """Write what a drive answers to `many` requests, 5 to 40 ms apart, as a trace of it.

    `ask` gives operation, first sector and sectors by number. Think times are written down wrong by up to `unsure_ms`.
    """
    draw = random.Random(7)
    asked = [(*ask(draw, number), draw.randint(5_000, 40_000)) for number in range(many)]

    def write(times_us: Iterator[float], unsure: float) -> None:
        lines = (
            f"{op} Miss {first} {sectors} {took:.3f} {think + draw.uniform(-unsure, unsure) * 1000:.3f}\n"
            for (op, first, sectors, think), took in zip(asked, times_us, strict=True)
        )
        file.write_text("".join(lines))

    write(iter([1000.0] * many), 0.0)
    took = validation.Replayed(drive, file, "simulated", [0.3]).simulated[0]
    write(iter(took * 1000), unsure_ms)
    return file


def small_drive() -> Json:
    """Return the numbers of the HP C3323A, but with two zones of 400 cylinders together."""
    numbers = calibration._complete(devices.numbers("hp-c3323a"))
    zones = copy.deepcopy(numbers["mechanics"]["layout"]["zones"][:2])
    zones[0] |= {"first_cylinder": 0, "last_cylinder": 249, "spares": 20}
    zones[1] |= {"first_cylinder": 250, "last_cylinder": 399, "spares": 20}
    numbers["mechanics"]["layout"]["zones"] = zones
    numbers["capacity"] = f"{sum(survey._capacity(zone, 7) for zone in zones) * 512} B"
    return numbers


def anywhere(numbers: Json, op: str = "RRW") -> Ask:
    """Ask somewhere, and one time in ten behind what was asked before."""
    last = int(numbers["capacity"].split()[0]) // 512 - 64
    before = ("R", 0, 0)

    def ask(draw: random.Random, _: int) -> tuple[str, int, int]:
        nonlocal before
        what, place, sectors = before
        goes_on = draw.random() < 0.1 and place + sectors < last
        before = (
            (what, place + sectors, sectors)
            if goes_on
            else (draw.choice(op), draw.randrange(last), draw.choice((2, 8, 16, 32)))
        )
        return before

    return ask


def test_where_tracks_begin_is_found_where_the_file_is_wrong(tmp_path: Path) -> None:
    told, true = small_drive(), small_drive()
    slips = [[150, 700, 701, 1400], [90, 500, 910]]
    for zone, passed_over in zip(true["mechanics"]["layout"]["zones"], slips, strict=True):
        zone |= {"track_skew": zone["track_skew"] - 1, "cylinder_skew": zone["cylinder_skew"] + 2, "slips": passed_over}
    true["rotation"] = "5397.3 rpm"
    trace = traced(true, tmp_path / "small.trace", anywhere(true))
    # The trace keeps the phase, but a drive whose tracks lie elsewhere sees nothing of that.
    assert validation.thinks_keep_phase(true, trace)
    assert not validation.of(told, trace, clock="measured")["keeps_phase"]
    found, keeps = survey.phased(told, trace)
    assert keeps
    assert devices.quantity("frequency", found["rotation"]) * 60 == pytest.approx(5397.3, abs=0.02)
    assert survey.changes(told, found)[-1]["parameter"] == "rotation, rpm"
    pairs = zip(true["mechanics"]["layout"]["zones"], found["mechanics"]["layout"]["zones"], strict=True)
    for zone, surveyed in pairs:
        assert (surveyed["track_skew"], surveyed["cylinder_skew"]) == (zone["track_skew"], zone["cylinder_skew"])
        assert surveyed["offset"] == pytest.approx(zone["offset"], abs=0.3)
        # Between two requests, which are some tracks apart, the trace does not show where.
        assert len(surveyed["slips"]) == len(zone["slips"])
        assert all(abs(seen - slip) <= 10 for seen, slip in zip(surveyed["slips"], zone["slips"], strict=True))
    exact = validation.of(found, trace, clock="measured")
    assert exact["off_by_a_turn_percent"] < 2


def test_think_times_that_do_not_keep_the_phase_are_known_for_it(tmp_path: Path) -> None:
    drive = small_drive()
    sharp = traced(drive, tmp_path / "sharp.trace", anywhere(drive))
    assert validation.of(drive, sharp)["thinks_keep_phase"]
    assert validation.of(drive, sharp)["overall"]["demerit_ms"] < 0.1
    blurred = traced(drive, tmp_path / "blurred.trace", anywhere(drive), unsure_ms=5.6)
    found = validation.of(drive, blurred)
    assert not found["thinks_keep_phase"]
    # Single requests are a lottery, their distribution is not: it lies among what the model's phases give.
    assert found["overall"]["per_request_rms_ms"] > 3
    assert found["overall"]["demerit_ms"] < found["overall"]["demerit_range_ms"][1] < 0.5
    assert abs(found["overall"]["mean_error_percent"]) < 2 * found["overall"]["standard_error_percent"] + 0.2


def nearby(numbers: Json) -> Ask:
    """Ask now somewhere, now some sectors before or behind the request before."""
    place = 0
    last = int(numbers["capacity"].split()[0]) // 512 - 1000

    def ask(draw: random.Random, _: int) -> tuple[str, int, int]:
        nonlocal place
        near = draw.random() < 0.6
        place = max(place + draw.randint(-60, 60), 0) if near else draw.randrange(1000, last)
        return "R", place, 8

    return ask


@pytest.mark.parametrize("how", ["never", "track", "always"])
def test_how_a_drive_reads_ahead_is_found(how: str, tmp_path: Path) -> None:
    true = small_drive()
    true["cache"] |= {"read_ahead": how, "keeps_passing": how == "track"}
    trace = traced(true, tmp_path / "near.trace", nearby(true))
    told = small_drive()
    told["cache"] |= {"read_ahead": "always", "keeps_passing": False}
    rows = cached.fit_read_ahead(told, trace)
    assert told["cache"]["read_ahead"] == how
    assert told["cache"]["keeps_passing"] is (how == "track")
    assert bool(rows) is (how != "always")


def test_rates_and_the_time_to_work_out_a_place_are_found(tmp_path: Path) -> None:
    true = small_drive()
    true["cache"]["writes"] = "back"
    true["interface"] |= {
        "elsewhere": {"other_track": "70 us", "other_cylinder": "0 ms", "other_zone": "160 us"},
        "write_rate": "4 MB/s",
    }
    near, far = nearby(true), anywhere(true, "W")

    def ask(draw: random.Random, number: int) -> tuple[str, int, int]:
        _, first, _ = near(draw, number) if number % 3 else far(draw, number)
        return draw.choice("WWR"), first, draw.choice((4, 8, 16, 32))

    trace = traced(true, tmp_path / "writes.trace", ask)
    told = small_drive()
    told["cache"]["writes"] = "back"
    rows = {row["parameter"]: row for row in cached.fit_rates(told, trace)}
    assert rows["write_rate, ms a sector"]["is"] == pytest.approx(0.128, rel=0.01)
    assert rows["elsewhere: other_track, ms"]["is"] == pytest.approx(0.07, abs=0.005)
    assert rows["elsewhere: other_cylinder, ms"]["is"] == pytest.approx(0.0, abs=0.005)
    assert rows["elsewhere: other_zone, ms"]["is"] == pytest.approx(0.16, abs=0.005)
    assert rows["write_miss after_write, ms"]["is"] == pytest.approx(2.92, abs=0.02)


def test_a_fit_says_how_surely_it_knows_each_parameter(tmp_path: Path) -> None:
    true, told = small_drive(), small_drive()
    true["interface"]["write_miss"] = {"after_read": "4.1 ms", "after_write": "3.4 ms"}
    trace = traced(true, tmp_path / "small.trace", anywhere(true), many=2400)
    found = calibration._fit_single(told, parameters_of(told, keeps_phase=True), trace)
    by_name = {p.name: at for at, p in enumerate(parameters_of(told, keeps_phase=True))}
    # Overhead and settling do the same before a write; together they are what they were.
    before = validation.of(told, trace, clock="measured")["off_by_a_turn_percent"]
    assert validation.of(found[0], trace, clock="measured")["off_by_a_turn_percent"] < before / 4
    # No write follows a read of what lies before it: nothing is known of what that takes.
    known, unknown = (found[2][by_name[f"write_{kind} after_read, ms"]] for kind in ("miss", "hit"))
    assert unknown > 20 * known > 0
