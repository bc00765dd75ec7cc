"""The mechanical disk: imported, compared with measured drives and theory, fitted, and choosing what is next."""

import html
import json
from pathlib import Path

import pytest

from conftest import Run, without_scripts
from headrace import Scenario, ScenarioError, devices, load
from headrace.devices import calibration, disksim, survey, validation

# The device of each measured disk. How near they are to their measurements, test_disksim.py says.
MEASURED = {
    "hp_c2247a": "hp-c2247a",
    "hp_c3323a": "hp-c3323a",
    "barracuda": "seagate-st32171w",
    "cheetah4LP": "seagate-st34501n",
    "atlas_III": "quantum-qm39100td",
    "atlas10k": "quantum-atlas-10k",
}


def trace_of(folder: Path, disk: str) -> Path:
    return folder / "disks" / disk / f"{disk}.trace"


@pytest.mark.parametrize("disk", MEASURED)
def test_the_catalogue_is_what_the_importer_makes(measured_data: Path, disk: str, tmp_path: Path) -> None:
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "imported.yaml").write_text(disksim.read(measured_data / "disks" / disk / f"{disk}.parv"))
    imported, ours = devices.numbers("imported", tmp_path), devices.numbers(MEASURED[disk])
    assert {key: value for key, value in imported.items() if key not in {"name", "validation"}} == {
        key: value for key, value in ours.items() if key not in {"name", "validation"}
    }


def test_request_by_request_where_the_trace_keeps_the_phase(measured_data: Path) -> None:
    numbers = devices.numbers("hp-c2247a")
    trace = trace_of(measured_data, "hp_c2247a")
    # At the parameter file's 5400 rpm the phase is lost within a minute; at the spindle's own speed it is kept.
    assert not validation.of(numbers, trace, clock="measured")["keeps_phase"]
    found = validation.of(numbers | {"rotation": "5398.2 rpm"}, trace, clock="measured")
    assert found["keeps_phase"]
    assert found["off_by_a_turn_percent"] < 6
    assert found["rest_rms_ms"] < 0.16
    # In the others the think times do not keep it.
    other = validation.validate("quantum-atlas-10k", trace_of(measured_data, "atlas10k"), clock="measured")
    assert not other["keeps_phase"]
    assert not validation.validate("quantum-atlas-10k", trace_of(measured_data, "atlas10k"))["thinks_keep_phase"]


def test_a_parameter_file_with_skews_a_sector_off_is_found_out(measured_data: Path) -> None:
    told = calibration._complete(devices.numbers("hp-c3323a"))
    with calibration._halves(trace_of(measured_data, "hp_c3323a")) as (first, second):
        found = survey.surveyed(told, first)
        assert found
        for before, after in zip(
            told["mechanics"]["layout"]["zones"], found["mechanics"]["layout"]["zones"], strict=True
        ):
            assert after["track_skew"] == before["track_skew"] - 1
            assert after["cylinder_skew"] == before["cylinder_skew"] - 1
            # Nothing told the search where zones begin, yet they begin where the file has them.
            assert after["offset"] == pytest.approx(before["offset"], abs=3)
        off = [
            validation.of(numbers, second, clock="measured")["off_by_a_turn_percent"]
            for numbers in (told | {"rotation": found["rotation"]}, found)
        ]
    assert off[0] > 20
    assert off[1] < 6


def test_validate_prints_its_contract(headrace: Run, measured_data: Path, tmp_path: Path) -> None:
    arguments = ["validate", "--device", "hp-c3323a", "--trace", trace_of(measured_data, "hp_c3323a")]
    found = json.loads(headrace(*arguments, "--json", "--report", tmp_path / "page.html").stdout)
    fields = {"n", "measured_mean_ms", "simulated_mean_ms", "mean_error_percent", "demerit_ms", "demerit_percent"}
    for part in ("overall", "reads", "writes"):
        assert fields | {"per_request_rms_ms", "correlation", "ks"} <= set(found[part])
    assert without_scripts(tmp_path / "page.html").count("<svg") == 3
    printed = " ".join(headrace(*arguments).stdout.split())
    assert "off the measured mean of" in printed
    assert "the requests with the largest errors, and what happened to them in the model" in printed
    refused = headrace("validate", "--device", "hp-c3323b", "--trace", trace_of(measured_data, "hp_c3323a"))
    assert refused.returncode == 2
    assert "did you mean `hp-c3323a`" in refused.stderr


def test_half_a_trace_is_fitted_and_the_other_judges(measured_data: Path, tmp_path: Path) -> None:
    found = calibration.calibrate("seagate-st34501n", trace_of(measured_data, "cheetah4LP"))
    overall, before = found["judged"]["simulated"]["overall"], 0.318
    assert abs(overall["mean_error_percent"]) < 0.8 + 2 * overall["standard_error_percent"]
    assert overall["demerit_ms"] < before / 2
    assert not found["keeps_phase"]
    assert "fitted to the first half" in found["numbers"]["validation"]
    calibration.report(found, tmp_path / "page.html")
    page = without_scripts(tmp_path / "page.html")
    assert page.count("<svg") == 3
    assert all(row["parameter"] in page for row in found["parameters"])
    assert calibration.file_text(found) in html.unescape(page)


def edited(folder: Path, file: str, right: str, wrong: str) -> Path:
    """Copy a disk's parameter files with one change in one of them."""
    source = folder / "disks" / "barracuda"
    target = Path(file).parent
    for name in ("parv", "diskspecs", "model", "seek"):
        text = (source / f"barracuda.{name}").read_text()
        if file.endswith(name):
            assert right in text
            text = text.replace(right, wrong, 1)
        (target / f"barracuda.{name}").write_text(text)
    return target / "barracuda.parv"


@pytest.mark.parametrize(
    ("file", "right", "wrong", "says"),
    [
        (
            "model",
            "Last cylinder number = 5171",
            "Last cylinder number = 4171",
            "zone 10: the zone ends at cylinder 4171",
        ),
        ("seek", "4,\t2.17500", "2,\t2.17500", "2 cylinders come after 3"),
        ("model", "dm_layout_g1 {", "dm_layout_g9 {", "of the form `dm_layout_g9`"),
        ("model", "Seek type = extracted", "Seek type = guessed", "seek type `guessed` is not known"),
        ("model", "Sparing scheme used = 8", "Sparing scheme used = 12", "sparing scheme 12 is not known"),
        ("diskspecs", "Number of buffer segments = 3", "Number of buffer segments = three", "`three`, no number"),
        ("model", "340452", "99340452", "sector 99340452 is slipped, which the zone does not have"),
    ],
)
def test_trouble_in_an_imported_file_is_told_with_file_and_line(
    measured_data: Path, tmp_path: Path, file: str, right: str, wrong: str, says: str
) -> None:
    text = (measured_data / "disks" / "barracuda" / "barracuda.seek").read_text()
    right = next((line for line in text.splitlines() if line.startswith("4,")), right) if file == "seek" else right
    parv = edited(measured_data, str(tmp_path / f"barracuda.{file}"), right, wrong)
    with pytest.raises(ScenarioError) as refused:
        disksim.read(parv)
    message = str(refused.value)
    assert says in message
    assert f"barracuda.{file}:" in message


def disk(**more: object) -> Scenario:
    text = """
    system: {spindle: {type: disk, device: seagate-st3500630ns, positioning: mechanical}}
    workload: {users: {to: spindle, arrivals: {poisson: 40 /s}, size: 8 KiB}}
    run: {requests: 60000}
    """
    return Scenario(text).with_({name.replace("__", "."): value for name, value in more.items()})


def test_both_fidelities_agree_on_random_single_requests_and_with_theory() -> None:
    # Far apart, so that no request waits: the mean is that of a single request. Written before it was run: 1 %.
    mechanical = disk(workload__users__arrivals={"every": "1003 ms"}).run()
    sampled = disk(workload__users__arrivals={"every": "1003 ms"}, system__spindle__positioning="addressed").run()
    a, b = (results.streams["mean_ms"].item() for results in (mechanical, sampled))
    assert a == pytest.approx(b, rel=0.01)
    loaded = disk().run()
    assert loaded.theory["mean_ms"].item() == pytest.approx(loaded.streams["mean_ms"].item(), rel=0.03)


def test_choosing_what_is_next_pays_and_the_same_requests_are_served() -> None:
    deep = {"workload__users__arrivals": {"closed": {"depth": 16}}, "run__requests": 20_000}
    rates = {
        policy: disk(**deep, system__spindle__scheduling=policy).run().streams["requests_per_s"].item()
        for policy in ("fcfs", "sstf", "look", "c_look", "sptf")
    }
    assert rates["sptf"] > rates["sstf"] > rates["fcfs"]
    assert rates["look"] > rates["fcfs"]
    assert rates["c_look"] > rates["fcfs"]
    assert rates["sptf"] > 1.5 * rates["fcfs"]
    with pytest.raises(ScenarioError, match="applies only to `positioning: mechanical`"):
        disk(system__spindle__scheduling="sptf", system__spindle__positioning="coupled").check()


def numbers(**more: object) -> dict[str, object]:
    """Return the numbers of a plain drive, without cache, with more of its own."""
    return devices.numbers("seagate-st3500630ns") | more


def test_a_drive_tells_of_batches_only_when_all_is_done() -> None:
    def times(batch: int, depth: int) -> tuple[float, float]:
        drive = numbers(queue={"scheduling": "c_look", "batch": batch})
        deep = {"workload__users__arrivals": {"closed": {"depth": depth}}, "run__requests": 20_000}
        found = disk(**deep, system__spindle__device=drive).run().streams
        return found["p50_ms"].item(), found["p99_ms"].item()

    # All eight of a batch come back together, so none is quick and none is late.
    (each_middle, each_late), (together_middle, together_late) = times(1, 8), times(8, 8)
    assert together_late < 1.35 * together_middle
    assert each_late > 1.7 * each_middle
    # What is left over waits for the next batch or the one after that.
    middle, late = times(8, 16)
    assert late > 1.8 * middle
    # Two are served as they come, whatever the policy: the first is in service when the second arrives.
    assert times(2, 2)[0] == pytest.approx(disk(
        workload__users__arrivals={"closed": {"depth": 2}}, system__spindle__device=numbers(), run__requests=20_000
    ).run().streams["p50_ms"].item(), rel=0.02)  # fmt: skip


def test_a_drive_that_holds_two_commands_moves_on_while_data_is_sent() -> None:
    slow = numbers(interface={"read_rate": "2 MB/s", "write_rate": "2 MB/s"})
    # Nothing is said of its queue, so it does one command after another unless the scenario says otherwise.

    def rate(depth: int) -> float:
        closed = {"workload__users__arrivals": {"closed": {"depth": 8}}, "run__requests": 10_000}
        streams = disk(**closed, system__spindle__device=slow, system__spindle__queue_depth=depth).run().streams
        return float(streams["requests_per_s"].item())

    # 8 KiB take 4.1 ms to the host, and some 13 ms at the platter: one after the other, or over each other.
    assert 1000 / rate(1) - 1000 / rate(2) == pytest.approx(4.1, abs=0.25)


def test_a_seek_curve_meets_the_mean_it_is_told() -> None:
    def seeks(average: str) -> dict[str, object]:
        return {"track_to_track": "1 ms", "average": average, "full_stroke": "17 ms"}

    def mean(average: str) -> float:
        alike = {"media_rate_outer": "60 MB/s", "media_rate_inner": "60 MB/s"}
        drive = numbers(seek_read=seeks(average), **alike)
        sampled = disk(system__spindle__device=drive, system__spindle__positioning="coupled", run__requests=200_000)
        return float(sampled.with_({"workload.users.arrivals": {"every": "1 s"}}).run().streams["mean_ms"].item())

    assert mean("10 ms") - mean("8 ms") == pytest.approx(2.0, abs=0.04)
    with pytest.raises(ScenarioError, match=r"an average of 4 ms is not between 6.33\d* ms and"):
        disk(system__spindle__device=numbers(seek_read=seeks("4 ms"))).check()


def test_a_full_cache_lets_reads_have_their_turn() -> None:
    closed = {"arrivals": {"closed": {"depth": 4}}, "to": "spindle"}
    both = disk(system__spindle__device="maxtor-7y250p0", system__spindle__scheduling="sptf", run__requests=8000).with_(
        {"workload": {"readers": closed | {"op": "read"}, "writers": closed | {"op": "write"}}}
    )
    readers, writers = both.run().streams["completed"]
    assert readers > 0.3 * writers


def test_an_array_in_lockstep_of_drives_that_choose_is_run_by_events() -> None:
    array = {
        "type": "array",
        "level": "raid0",
        "of": {"type": "disk", "device": "samsung-hd103uj", "positioning": "mechanical"},
        "disks": 2,
        "queueing": "split_merge",
        "stripe_unit": "64 KiB",
    }
    both = disk(system__volume=array, workload__users__to="volume")
    assert (
        both.with_({"run.requests": 500, "workload.users.arrivals.poisson": "20 /s"}).run().data["engine"] == "events"
    )


def test_written_data_is_put_down_by_policy() -> None:
    def rate(drain: str, held: int) -> float:
        cache = {"segments": 64, "segment_size": "64 KiB", "writes": "back", "write_room": "4 MiB"}
        drive = numbers(cache=cache | {"writes_held": held, "drain": drain})
        writes = {"workload__users__op": "write", "workload__users__arrivals": {"closed": {"depth": 1}}}
        return float(
            disk(**writes, system__spindle__device=drive, run__requests=5000).run().streams["requests_per_s"].item()
        )

    assert rate("fcfs", 32) == pytest.approx(rate("fcfs", 1), rel=0.05)
    assert rate("sptf", 32) > rate("sptf", 8) > 1.2 * rate("fcfs", 32)


def test_effects_of_the_cache_follow_from_it() -> None:
    def run(device: str, **more: object) -> float:
        changes = {"system__spindle__device": device, "run__requests": 4000} | more
        mean = disk(**changes).run().streams["mean_ms"].item()
        return float(mean)

    closed = {"workload__users__arrivals": {"closed": {"depth": 1, "think": "30 ms"}}}
    sequential = closed | {"workload__users__pattern": "sequential"}
    # Read-ahead answers what follows, and has nothing for what does not.
    assert run("seagate-st32171w", **sequential) < 3
    assert run("seagate-st32171w", **closed) > 10
    # A write is done when it is in the cache, where there is room; one larger than the cache waits for the platter.
    writes = closed | {"workload__users__op": "write"}
    small = run("seagate-st32171w", **writes)
    large = run("seagate-st32171w", **writes, workload__users__size="1 MiB", run__requests=400)
    assert small < 4
    assert large > 1024 / 8 * small / 4
    # Without immediate report the same write waits for the platter.
    assert run("hp-c3323a", **writes) > 10


def test_a_run_of_a_disk_is_the_same_by_either_engine() -> None:
    by = {engine: disk(run__engine=engine, run__requests=5000).run() for engine in ("events", "recursion")}
    for told in ("response", "path", "cdf"):
        assert by["events"].data["streams"][0][told] == by["recursion"].data["streams"][0][told]


def test_the_example_names_a_trace_that_is_not_there() -> None:
    with pytest.raises(ScenarioError, match=r"cannot read the trace"):
        load(Path(__file__).parents[1] / "examples" / "replay-barracuda.yaml").check()
