"""Scenarios compared with measurements, and fitted to them: where the truth is known, and on real drives."""

import html
import json
import random
from pathlib import Path
from typing import Any

import pytest

from conftest import Run, without_scripts
from headrace import Scenario, ScenarioError, _core
from headrace.measurement import Measurement, comparison, fio, fitting, loads
from headrace.measurement.loads import loads_of
from headrace.measurement.parameter import parameter, place_of
from test_fio import result, written

Json = dict[str, Any]

DRIVE = """
system: {drive: {type: station, servers: 4, service: 200 us}}
workload: {host: {to: drive, arrivals: {closed: {depth: 1}}}}
run: {seed: 5}
"""


def point(**told: Any) -> Json:
    """Return a point of 4 KiB random reads at depth 1."""
    plain = {"op": "read", "pattern": "random", "block_bytes": 4096, "iodepth": 1, "numjobs": 1, "read_share": 1.0}
    rest = dict.fromkeys(("file_bytes", "bandwidth_bytes_per_s", "p50_ms", "p90_ms", "p95_ms", "p99_ms", "p99_9_ms"))
    return rest | plain | {"iops": 5000.0, "mean_ms": 0.2} | told


def off(points: list[Json], text: str = DRIVE) -> list[Json]:
    rows: list[Json] = comparison.compare(Scenario(text), Measurement(points), requests=2000)["rows"]
    return rows


def test_errors_are_those_of_arithmetic() -> None:
    # Four servers of 200 µs: 5,000 requests/s for each client up to four, and no more beyond.
    points = [point(iodepth=depth, iops=5000.0 * depth) for depth in (1, 2, 4, 8)]
    rows = off(points)
    assert [row["error_percent"]["iops"] for row in rows] == pytest.approx([0, 0, 0, -50], abs=0.2)
    # Latency is longer by the wait for a server at depth 8: 0.4 ms where 0.2 was measured.
    assert [row["error_percent"]["mean_ms"] for row in rows] == pytest.approx([0, 0, 0, 100], abs=0.5)
    assert rows[0]["error_percent"]["p50_ms"] is None
    found = comparison.compare(Scenario(DRIVE), Measurement(points), requests=2000)
    assert found["overall"]["read"]["mean_size_percent"] == pytest.approx(12.5, abs=0.2)
    assert found["overall"]["read"]["worst_percent"] == pytest.approx(-50, abs=0.2)
    assert found["overall"]["write"] is None


def test_jobs_and_depth_multiply_and_repetitions_are_averaged() -> None:
    rows = off([point(iodepth=2, numjobs=2, iops=iops) for iops in (19_000.0, 21_000.0)])
    assert [row["repeats"] for row in rows] == [2]
    assert rows[0]["measured"]["iops"] == 20_000
    assert rows[0]["error_percent"]["iops"] == pytest.approx(0, abs=0.2)


def test_both_operations_of_a_mixed_job_are_one_load() -> None:
    mixed = [point(op=op, read_share=0.7, iops=5000 * share) for op, share in (("read", 0.7), ("write", 0.3))]
    [load], remarks = loads_of(Measurement(mixed))
    assert (load.kind, load.read_share, set(load.measured), remarks) == ("mixed", 0.7, {"read", "write"}, [])
    rows = off(mixed)
    assert [row["op"] for row in rows] == ["read", "write"]
    assert all(abs(row["error_percent"]["iops"]) < 8 for row in rows)
    assert sum(row["simulated"]["iops"] for row in rows) == pytest.approx(5000, rel=0.01)


def test_sequential_jobs_are_streams_with_files_of_their_own() -> None:
    [load], _ = loads_of(Measurement([point(pattern="sequential", numjobs=3, file_bytes=1 << 20, iodepth=2)]))
    document = loads.under(Scenario(DRIVE).filled(), "host", load)
    streams = document["workload"]
    assert [stream["region"]["from"] for stream in streams.values()] == ["0 B", "1048576 B", "2097152 B"]
    assert all(stream["arrivals"] == {"closed": {"depth": 2}} for stream in streams.values())
    assert all(stream["pattern"] == "sequential" for stream in streams.values())


@pytest.mark.parametrize("pattern", ["random", "sequential"])
def test_jobs_of_one_file_address_its_bytes(pattern: str) -> None:
    shared = {"file": "/dev/sdb", "file_bytes": 1 << 20, "from_bytes": 1 << 30}
    [load], _ = loads_of(Measurement([point(pattern=pattern, numjobs=3, **shared)]))
    streams = loads.under(Scenario(DRIVE).filled(), "host", load)["workload"].values()
    assert [stream["region"] for stream in streams] == [{"from": "1073741824 B", "size": "1048576 B"}] * len(streams)
    assert sum(stream["arrivals"]["closed"]["depth"] for stream in streams) == 3


def test_random_runs_and_many_requests_in_flight_are_simulated_as_such() -> None:
    [load], _ = loads_of(Measurement([point(run_length=16, iodepth=64, numjobs=64)]))
    document = loads.under(Scenario(DRIVE).filled(), "host", load, requests=2000)
    assert document["workload"]["fio-1"]["pattern"] == {"runs": {"length": 16}}
    assert document["run"]["requests"] == 5 * 64 * 64
    [row] = off([point(iodepth=64, numjobs=64, iops=20_000.0, mean_ms=4096 / 20)])
    assert row["error_percent"]["mean_ms"] == pytest.approx(0, abs=3)


def test_what_cannot_be_compared_is_refused() -> None:
    two = DRIVE.replace("workload: {host:", "workload: {other: {to: drive, arrivals: {poisson: 1 /s}}, host:")
    with pytest.raises(ScenarioError, match="2 streams"):
        off([point()], two)
    found = comparison.compare(Scenario(two), Measurement([point()]), stream="host", requests=500)
    assert found["remarks"] == ["only host is simulated: the measurement has no other streams"]
    with pytest.raises(ScenarioError, match="no stream `none`"):
        comparison.compare(Scenario(DRIVE), Measurement([point()]), stream="none")


def test_a_sata_drive_is_as_fio_measured_it(headrace: Run, measured_data: Path, tmp_path: Path) -> None:
    """The drive of the study samsung-f1-fio, fitted there at depths 1 and 8: depths 2 and 4 judge."""
    text = "system: {spindle: {type: disk, device: samsung-hd103uj, positioning: mechanical}}\n"
    (tmp_path / "hdd.yaml").write_text(text + "workload: {host: {to: spindle, arrivals: {closed: {depth: 1}}}}\n")
    files = sorted((measured_data / "fio-hdd").glob("rand*-[24]-1.json"))
    fio.measurement(files).save(tmp_path / "hdd.json")
    report = ("--report", tmp_path / "page.html")
    ran = headrace("validate", "hdd.yaml", "hdd.json", "--json", *report, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert [(row["op"], row["iodepth"]) for row in found["rows"]] == [
        (op, n) for op in ("read", "write") for n in (2, 4)
    ]
    assert all(abs(row["error_percent"]["iops"]) < 5 for row in found["rows"])
    page = without_scripts(tmp_path / "page.html")
    assert "Mean absolute error of bandwidth by record size" in page
    assert page.count("<svg") == 2
    assert "device: samsung-hd103uj" in page
    shown = headrace("validate", "hdd.yaml", "hdd.json", cwd=tmp_path).stdout
    assert shown.startswith("Simulated bandwidth differs from the measured by")


def test_what_a_fit_learns_nothing_of_keeps_the_value_of_its_device() -> None:
    load = "workload: {host: {to: drive, arrivals: {closed: {depth: 1}}}}"
    text = f"system: {{drive: {{type: ssd, device: {{like: samsung-pm883-480gb}}}}}}\n{load}\n"
    vary = ["system.drive.device.read_latency=10 us..200 us", "system.drive.device.flash.program=0.1 ms..100 ms"]
    found = fitting.fit(Scenario(text), measured_of(text, DEPTHS), vary, requests=500, cross_validate=False)
    program = found["parameters"][1]
    assert (program["determined"], program["was"], program["is"]) == (False, "1 ms", "1 ms")


def test_bounds_that_leave_the_scenario_out_begin_in_their_middle() -> None:
    one = parameter("system.drive.service=300 us..400 us", Scenario(DRIVE))
    assert (one.was, place_of(one)) == ("200 us", None)
    assert place_of(parameter("system.drive.service=200 us..400 us", Scenario(DRIVE))) == 0
    with pytest.raises(ScenarioError, match="has no unit"):
        parameter("system.drive.service=50..500", Scenario(DRIVE))
    twice = ["system.drive.service=50 us..1 ms", "system.drive.service=60 us..2 ms"]
    with pytest.raises(ScenarioError, match="is given twice"):
        fitting.fit(Scenario(DRIVE), Measurement([point(), point(iodepth=2)]), twice)
    outside = Scenario(DRIVE + "uncertain: {system.drive.service: 300 us..400 us}\n")
    with pytest.raises(ScenarioError, match="give an interval that contains the value"):
        comparison.compare(outside, Measurement([point()]), requests=500)


def test_validate_says_what_it_needs(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(DRIVE)
    (tmp_path / "m.json").write_text("{}")
    for arguments, why in (
        (["s.yaml"], "SCENARIO and MEASUREMENT"),
        (["s.yaml", "m.json"], "is not a measurement"),
        (["s.yaml", "none.json"], "does not exist"),
        (["--device", "hp-c2247a"], "--device and --trace"),
        (["--device", "hp-c2247a", "--trace", "t.csv", "--set", "run.seed=7"], "SCENARIO and MEASUREMENT"),
        (["s.yaml", "m.json", "--set", "run.seed"], "is not PATH=VALUE"),
        (["none.yaml", "m.json"], "does not exist"),
    ):
        ran = headrace("validate", *arguments, cwd=tmp_path)
        assert ran.returncode == 2
        assert why in ran.stderr
        assert "Traceback" not in ran.stderr


def test_validate_takes_changes_of_the_scenario(headrace: Run, tmp_path: Path) -> None:
    """Of the two, the drive that was measured has the smaller error."""
    (tmp_path / "s.yaml").write_text(DRIVE)
    measured_of(DRIVE, [point()]).save(tmp_path / "m.json")
    errors = []
    for sets in ([], ["--set", "system.drive.service=400 us"]):
        ran = headrace("validate", "s.yaml", "m.json", "--json", *sets, cwd=tmp_path)
        errors.append(json.loads(ran.stdout)["rows"][0]["error_percent"]["mean_ms"])
    assert abs(errors[0]) < 1
    assert abs(errors[1] - 100) < 1


def test_a_result_of_fio_is_a_measurement(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(DRIVE)
    written(tmp_path, result(), "fio.json")
    headrace("import", "fio", "fio.json", "-o", "m.json", cwd=tmp_path)
    direct, imported = (headrace("validate", "s.yaml", name, cwd=tmp_path).stdout for name in ("fio.json", "m.json"))
    assert direct == imported.replace("m.json", "fio.json")
    swapped = headrace("validate", "fio.json", "s.yaml", cwd=tmp_path)
    assert "fio.json is a measurement: it comes second" in swapped.stderr


# Fitting


def measured_of(text: str, points: list[Json]) -> Measurement:
    """Return what would be measured if a scenario were real, with another seed."""
    found = comparison.compare(Scenario(text).with_({"run.seed": 99}), Measurement(points), requests=20_000)
    return Measurement([
        point | {name: row["simulated"][name] for name in ("iops", "mean_ms", "bandwidth_bytes_per_s")}
        for point, row in zip(points, found["rows"], strict=True)
    ])  # fmt: skip


DEPTHS = [point(iodepth=depth) for depth in (1, 2, 4, 8, 16, 32)]


def test_a_fit_finds_the_truth_within_its_standard_error() -> None:
    noisy = DRIVE.replace("service: 200 us", "service: {exponential: 200 us}")
    given = measured_of(noisy, DEPTHS)
    start = Scenario(noisy.replace("200 us", "90 us"))
    found = fitting.fit(start, given, ["system.drive.service.exponential=20 us..2 ms"], requests=20_000)
    [row] = found["parameters"]
    is_us = _core.quantity("time", row["is"]) / 1000
    assert (row["was"], row["unit"]) == ("90 us", "ns")
    assert is_us == pytest.approx(200, rel=0.02)
    assert abs(is_us - 200) * 1000 < 4 * row["standard_error"] < 20_000
    assert found["warnings"] == []
    assert found["fitted"]["overall"]["all"]["mean_size_percent"] < 2
    assert found["cross_validated"]["folds"] == 5
    assert found["cross_validated"]["mean_size_percent"] < 3


def test_parameters_that_cannot_be_told_apart_are_named() -> None:
    # One server: rate and mean latency show the mean of its service, not between what it lies.
    text = DRIVE.replace("servers: 4, service: 200 us", "service: {uniform: {from: 100 us, to: 300 us}}")
    law = "system.drive.service.uniform"
    vary = [f"{law}.from=50 us..190 us", f"{law}.to=200 us..400 us"]
    found = fitting.fit(Scenario(text), measured_of(text, DEPTHS), vary, requests=2000)
    assert any(f"cannot tell {law}.from and {law}.to apart" in warning for warning in found["warnings"])
    # The sum of both is known all the same.
    ends = [_core.quantity("time", row["is"]) / 1000 for row in found["parameters"]]
    assert sum(ends) == pytest.approx(400, rel=0.02)


def test_a_parameter_of_which_nothing_is_seen_is_named() -> None:
    text = DRIVE.replace("system: {", "system: {idle: {type: link, rate: 100 MB/s}, ")
    vary = ["system.idle.rate=10 MB/s..1 GB/s", "system.drive.service=100 us..400 us"]
    found = fitting.fit(Scenario(text), measured_of(text, DEPTHS), vary, requests=1000)
    assert any("hardly determines system.idle.rate" in warning for warning in found["warnings"])
    told = {row["parameter"]: row["is"] for row in found["parameters"]}
    assert _core.quantity("time", told["system.drive.service"]) == pytest.approx(200_000, rel=0.01)


def test_what_is_not_determined_keeps_its_prior_and_widens_predictions() -> None:
    # With one request at a time the bus shows only together with the drive; the file says what is known of it.
    bus = DRIVE.replace("system: {", "system: {idle: {type: link, rate: 100 MB/s}, ")
    vary = ["system.idle.rate=50 MB/s..200 MB/s", "system.drive.service=100 us..400 us"]
    found = fitting.fit(Scenario(bus), measured_of(bus, DEPTHS), vary, requests=1000, cross_validate=False)
    idle, service = found["parameters"]
    assert (idle["determined"], service["determined"]) == (False, True)
    assert idle["was"] == idle["is"]
    assert idle["interval"] == ["50 MB/s", "200 MB/s"]
    assert found["scenario"]["uncertain"]["system.idle.rate"] == "50 MB/s..200 MB/s"
    assert any("keeps its value in the scenario" in warning for warning in found["warnings"])


def test_intervals_cover_the_truth_of_noisy_measurements() -> None:
    # Each load is off by 3 %, rate and latency together. Of 30 intervals, fewer than 26 cover once in 60 times.
    noise, covered = random.Random(11), 0
    for _ in range(30):
        times = {depth: 0.2 * max(depth / 4, 1) * (1 + noise.gauss(0, 0.03)) for depth in (1, 2, 8)}
        given = [point(iodepth=depth, iops=1000 * depth / ms, mean_ms=ms) for depth, ms in times.items()]
        vary = ["system.drive.service=50 us..1 ms"]
        found = fitting.fit(Scenario(DRIVE), Measurement(given), vary, requests=300, cross_validate=False)
        low, high = (_core.quantity("time", end) for end in found["parameters"][0]["interval"])
        covered += low <= 200_000 <= high
    assert covered >= 26


PATH_AND_DRIVE = """
system:
  host: {type: server, attached: [drive], cores: 8, submit: 5 us}
  drive: {type: station, servers: 8, service: 100 us}
workload: {fio: {from: host, to: drive, arrivals: {closed: {depth: 1}}}}
run: {seed: 5}
"""


def test_values_that_only_together_are_known_stay_together_in_predictions() -> None:
    # The host takes 10 us, and the drive 100: one request at a time shows their sum alone.
    times = {depth: 0.110 * (1 + error) for depth, error in ((1, 0.003), (2, -0.004), (3, 0.002), (4, -0.001))}
    given = Measurement([point(iodepth=depth, iops=1000 * depth / ms, mean_ms=ms) for depth, ms in times.items()])
    vary = ["system.host.submit=1 us..20 us", "system.drive.service=50 us..200 us"]
    found = fitting.fit(Scenario(PATH_AND_DRIVE), given, vary, requests=500)
    host, drive = found["parameters"]
    assert (host["determined"], drive["determined"]) == (False, True)
    low, high = (_core.quantity("time", end) for end in drive["interval"])
    assert low < 100_000 < high
    told = found["scenario"]["uncertain"]["system.drive.service"]
    assert told.endswith(" with system.host.submit")
    rows = comparison.compare(Scenario(json.dumps(found["scenario"])), given, requests=500)["rows"]
    for row in rows:
        low, high = row["band"]["mean_ms"]
        assert low < 0.110 < high
        assert high / low < 1.1


def test_a_load_that_alone_determines_a_parameter_does_not_predict_itself() -> None:
    # Left out of the fit, the only read leaves its parameter where it began: at a twentieth of the truth.
    text = "system: {drive: {type: ssd, device: samsung-pm883-480gb}}\n" + DRIVE.partition("\n")[2].partition("\n")[2]
    writes = [point(op="write", read_share=0.0, block_bytes=size, iops=1e6 / us, mean_ms=us / 1000)
              for size, us in ((4096, 60), (8192, 70), (16384, 90))]  # fmt: skip
    given = Measurement([point(iops=1000 / 0.6, mean_ms=0.6), *writes])
    device = "system.drive.device"
    vary = [f"{device}.read_latency=1 us..1 ms", f"{device}.write_latency=1 us..1 ms"]
    found = fitting.fit(Scenario(text), given, vary, requests=500)
    assert [row["was"] for row in found["parameters"]] == ["25 us", "21.3 us"]
    assert abs(found["fitted"]["rows"][0]["error_percent"]["iops"]) < 1
    assert found["cross_validated"]["worst_percent"] > 100


def test_a_fit_that_lacks_something_says_of_which_operation() -> None:
    kinds = [("read", 1.0, 0.2), ("write", 0.0, 0.4)]
    given = [point(op=op, read_share=share, iodepth=depth, iops=1000 * depth / ms, mean_ms=ms)
             for depth in (1, 2) for op, share, ms in kinds]  # fmt: skip
    found = fitting.fit(Scenario(DRIVE), Measurement(given), ["system.drive.service=50 us..1 ms"], requests=500)
    said = "\n".join(found["warnings"])
    assert "under 2 of 2 loads the simulated latency of reads is too high, by 41 % on average" in said
    assert "under 2 of 2 loads the simulated latency of writes is too low, by 29 % on average" in said


def test_a_rate_that_is_not_sustained_is_named() -> None:
    given = [point(iops=30_000.0, mean_ms=0.3, arrivals="poisson")]
    remarks = comparison.compare(Scenario(DRIVE), Measurement(given), requests=20_000)["remarks"]
    assert any("does not sustain 1 measured rate: it serves up to 33% less" in remark for remark in remarks)


def test_what_is_known_to_the_last_digit_is_not_uncertain() -> None:
    text = DRIVE.replace("200 us", "1 us")
    fit = fitting.fit(Scenario(text), measured_of(text, DEPTHS), ["system.drive.service=500 ns..2 us"])
    assert fit["parameters"][0]["interval"] == ["1 us", "1 us"]
    again = comparison.compare(Scenario(json.dumps(fit["scenario"])), Measurement([point(iodepth=1)]), requests=500)
    assert again["rows"][0]["band"] is None


def test_predictions_have_the_interval_that_uncertain_values_give_them() -> None:
    # The rate of a closed loop on one server is one over its service: the same interval, the other way round.
    text = DRIVE.replace("servers: 4, ", "") + "uncertain: {system.drive.service: 100 us..400 us}\n"
    [row] = comparison.compare(Scenario(text), Measurement([point(iodepth=1)]), requests=500)["rows"]
    low, high = row["band"]["iops"]
    assert low == pytest.approx(2500, rel=0.1)
    assert high == pytest.approx(10_000, rel=0.1)
    certain = comparison.compare(Scenario(DRIVE), Measurement([point(iodepth=1)]), requests=500)
    assert certain["rows"][0]["band"] is None


def test_measurements_outside_all_predictions_are_noted() -> None:
    text = DRIVE + "uncertain: {system.drive.service: 195 us..205 us}\n"
    given = [point(iodepth=depth, iops=iops) for depth in (1, 2, 3) for iops in (5000.0 * depth,)]
    fair = comparison.compare(Scenario(text), Measurement(given), requests=500)
    assert not [remark for remark in fair["remarks"] if "lie outside" in remark]
    given += [point(iodepth=depth, iops=9000.0) for depth in (8, 16, 32)]
    found = comparison.compare(Scenario(text), Measurement(given), requests=500)
    assert [remark for remark in found["remarks"] if remark.startswith("3 of 6 measured bandwidths lie outside")]


SEEKS = """
system:
  drive:
    type: disk
    positioning: mechanical
    device:
      name: a disk
      capacity: 4 TB
      cylinders: 300000
      rotation: 7200 rpm
      media_rate_outer: 200 MB/s
      media_rate_inner: 95 MB/s
      seek_read: {track_to_track: 0.6 ms, average: AVERAGE, full_stroke: FULL}
      seek_write: {track_to_track: 0.9 ms, average: 8.3 ms, full_stroke: 14.3 ms}
      overhead: 0.15 ms
      interface: {read_rate: 1100 MB/s, write_rate: 1100 MB/s}
workload: {fio: {to: drive, arrivals: {closed: {depth: 1}}}}
"""


def test_values_that_cannot_stand_together_are_passed_over() -> None:
    """The average of seeks has bounds that depend on the longest one: the search goes around what is outside."""
    truth = SEEKS.replace("AVERAGE", "5 ms").replace("FULL", "12 ms")
    sizes = ((4096, 1), (65536, 1), (1 << 20, 1), (4096, 4), (65536, 4))
    given = measured_of(truth, [point(block_bytes=size, iodepth=depth) for size, depth in sizes])
    start = Scenario(SEEKS.replace("AVERAGE", "8 ms").replace("FULL", "14 ms"))
    seek = "system.drive.device.seek_read"
    vary = [f"{seek}.average=4 ms..12 ms", f"{seek}.full_stroke=8 ms..20 ms"]
    for average, full in (("4 ms", "20 ms"), ("12 ms", "8 ms")):
        with pytest.raises(ScenarioError, match="is not between"):
            start.with_({f"{seek}.average": average, f"{seek}.full_stroke": full}).check()
    found = fitting.fit(start, given, vary, requests=500)
    assert found["fitted"]["overall"]["read"]["mean_size_percent"] < 3
    spread = start.with_({"uncertain": {f"{seek}.average": "5 ms..9 ms", f"{seek}.full_stroke": "9 ms..20 ms"}})
    assert all(row["band"] for row in comparison.compare(spread, given, requests=200)["rows"])


def test_loads_that_do_not_settle_are_left_out_of_a_fit() -> None:
    text = """
system: {drive: {type: ssd, device: micron-7450-pro-1920gb}}
workload: {host: {to: drive, arrivals: {closed: {depth: 1}}}}
"""
    given = [point(iodepth=depth, mean_ms=0.1, iops=10_000.0 * depth) for depth in (1, 2)]
    # Nothing was overwritten: the simulated drive collects no garbage, and the measured one did.
    given += [point(op="write", read_share=0.0, iodepth=depth, iops=500.0, mean_ms=2.0 * depth) for depth in (1, 2)]
    vary = ["system.drive.device.flash.read=20 us..2 ms"]
    found = fitting.fit(Scenario(text), Measurement(given), vary, requests=500, cross_validate=False)
    assert "fitted without the 2 loads under which the scenario had not settled" in found["warnings"], found["warnings"]
    assert found["fitted"]["overall"]["read"]["mean_size_percent"] < 2


def test_an_uncertain_value_that_the_scenario_does_not_have_is_refused() -> None:
    for wrong, told in (
        ("system.drive.servise: 100 us..400 us", "did you mean `service`"),
        ("system.drive.service: 100 us..400 MB", "cannot be 100 us..400 MB"),
        ("system.drive.service: 200 us", "is not LOW..HIGH"),
        ("system.drive.service: 100 us..200 us and 1 us..2 us", "is not LOW..HIGH, or behind it LOW..HIGH with PATH"),
        ("system.drive.service: 100 us..200 us and 1 us..2 us with run.seed", "no uncertain value before"),
        ("system.drive.service: 100 us..200 us and 1 us..2 us with system.drive.service", "no uncertain value before"),
    ):
        with pytest.raises(ScenarioError, match=told):
            Scenario(DRIVE + f"uncertain: {{{wrong}}}\n").check()


def test_a_bound_in_the_way_is_named() -> None:
    vary = ["system.drive.service=250 us..400 us"]
    found = fitting.fit(Scenario(DRIVE), measured_of(DRIVE, DEPTHS), vary, requests=1000)
    assert any("ends at its bound" in warning for warning in found["warnings"])


def test_calibrate_writes_a_scenario_that_runs(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(DRIVE.replace("200 us", "150 us"))
    measured_of(DRIVE, DEPTHS).save(tmp_path / "m.json")
    vary = ("--vary", "system.drive.service=50 us..500 us", "--requests", 1000)
    page = ["--report", "page.html"]
    ran = headrace("calibrate", "scenario", "s.yaml", "m.json", *vary, "-o", "fitted.yaml", *page, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("Fitted: simulated bandwidth differs from the measured by")
    assert "150 us →" in (tmp_path / "fitted.yaml").read_text()
    drawn = (tmp_path / "page.html").read_text().replace("\u00a0", " ")
    assert ran.stdout.splitlines()[0] in drawn
    assert "system.drive.service" in drawn
    assert html.unescape(drawn).count((tmp_path / "fitted.yaml").read_text()) == 1
    again = headrace("validate", "fitted.yaml", "m.json", "--requests", 1000, "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["overall"]["all"]["mean_size_percent"] < 1
    assert headrace("run", "fitted.yaml", "--set", "run.requests=1000", cwd=tmp_path).returncode == 0


def test_calibrate_says_what_it_needs(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text(DRIVE)
    Measurement([point()]).save(tmp_path / "m.json")
    place = "system.drive.service"
    for vary, why in (
        ([place], "PATH=LOW..HIGH"),
        ([f"{place}=1 ms..1 us"], "not below"),
        ([f"{place}=1 ms..1 MB"], "not two quantities of one kind"),
        (["system.drive.servers=1..8"], "whole number"),
        (["system.none.service=1 us..1 ms"], "system.none"),
        ([f"{place}=1 us..1 ms", "run.seed=1..2"], "whole number"),
    ):
        options = [word for one in vary for word in ("--vary", one)]
        ran = headrace("calibrate", "scenario", "s.yaml", "m.json", *options, cwd=tmp_path)
        assert ran.returncode == 2, ran.stdout
        assert why in ran.stderr
        assert "Traceback" not in ran.stderr


def test_notes_on_components_are_those_of_the_loads() -> None:
    disk = DRIVE.replace(
        "{type: station, servers: 4, service: 200 us}", "{type: disk, positioning: addressed, device: exos-x18}"
    )
    points = [point(iodepth=depth, iops=80.0 * depth, mean_ms=12.0) for depth in (1, 8)]
    remarks = comparison.compare(Scenario(disk), Measurement(points), requests=200)["remarks"]
    assert any(remark.startswith("under 1 load: `drive` serves commands in the order") for remark in remarks), remarks


def test_a_share_varies_in_per_cent() -> None:
    ssd = DRIVE.replace("{type: station, servers: 4, service: 200 us}", "{type: ssd, device: micron-7450-pro-1920gb}")
    found = parameter("system.drive.written=5 %..50 %", Scenario(ssd))
    assert [found.low, found.high, found.written(0.0), found.written(1.0)] == [0.05, 0.5, "5 %", "50 %"]
    assert found.number("20 %") == 0.2


def test_a_fitted_file_says_what_it_was_fitted_to() -> None:
    points = [point(iodepth=depth, iops=5000.0 * depth) for depth in (1, 2, 4)]
    found = fitting.fit(Scenario(DRIVE), Measurement(points), ["system.drive.service=50 us..500 us"], requests=500)
    assert "# " + "  fitted to reads of 4 KiB, 1 to 4 in flight; beyond that" in fitting.file_text(found)
