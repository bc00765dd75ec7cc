"""What fio writes: results, logs and job files, of a real fio, by hand, and damaged in every way."""

import copy
import json
import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import Run, real_program
from headrace import Scenario, ScenarioError, scenario, trace
from headrace.devices import device_file
from headrace.measurement import Measurement, fio, load

Json = dict[str, Any]


def result(**job: Any) -> Json:
    """Return a small result, as fio 3.33 writes it."""
    latency = {"min": 80_000, "max": 120_000, "mean": 100_000.0, "stddev": 5_000.0, "N": 1000}
    bins = {"90000": 500, "100000": 400, "110000": 99, "120000": 1}
    read = {"total_ios": 1000, "io_bytes": 4_096_000, "runtime": 100, "iops": 10_000.0, "bw": 40_000}
    options = {"rw": "randread", "bs": "4k", "iodepth": "4", "ioengine": "libaio", "direct": "1"}
    none = {"total_ios": 0, "io_bytes": 0, "runtime": 0, "iops": 0.0, "bw": 0}
    found: Json = {
        "jobname": "reader", "groupid": 0, "error": 0, "job options": options, "write": none,
        "read": read | {"lat_ns": latency, "clat_ns": latency | {"percentile": {"99.000000": 110_000}, "bins": bins}},
    }  # fmt: skip
    return {"fio version": "fio-3.33", "jobs": [found | job], "disk_util": [{"name": "sda"}]}


def written(folder: Path, document: Any, name: str = "result.json") -> Path:
    file = folder / name
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return file


def why(file: Path) -> str:
    """Return why a result is refused."""
    with pytest.raises(ScenarioError) as refused:
        fio.measurement([file])
    assert "help:" in str(refused.value)
    return str(refused.value)


def test_a_result_has_units_and_percentiles(tmp_path: Path) -> None:
    found = fio.measurement([written(tmp_path, result())])
    [point] = found.points
    assert (point["op"], point["pattern"], point["block_bytes"], point["iodepth"]) == ("read", "random", 4096, 4)
    assert (point["iops"], point["bandwidth_bytes_per_s"], point["mean_ms"]) == (10_000, 40_960_000, 0.1)
    # 99 % as fio has it, the others from the bins of JSON+.
    told = [point[name] for name in ("p50_ms", "p90_ms", "p95_ms", "p99_ms", "p99_9_ms")]
    assert told == [0.09, 0.1, 0.11, 0.11, 0.11]
    assert found.machine == {"fio": "fio-3.33", "devices": ["sda"]}
    # This file was made up: four in flight would be answered at four times the rate.
    [short, remark] = found.remarks
    assert "it ran for less than a second" in short
    assert "reader: 1 in flight on average (requests per second times latency), not the 4 of its options" in remark


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_a_measurement_is_read_as_it_was_written(tmp_path: Path, ending: str) -> None:
    found = fio.measurement([written(tmp_path, result())])
    found.save(tmp_path / f"m.{ending}")
    assert load(tmp_path / f"m.{ending}").points == found.points


def test_jobs_below_full_speed_are_left_out_of_a_comparison(headrace: Run, tmp_path: Path) -> None:
    document = result()
    document["global options"] = {"rate": "0"}
    held = copy.deepcopy(document["jobs"][0])
    held |= {"jobname": "held", "job options": held["job options"] | {"rate_iops": "900", "thinktime": "50"}}
    document["jobs"].append(held)
    found = fio.measurement([written(tmp_path, document)])
    assert [point["paced"] for point in found.points] == [None, "rate_iops=900 thinktime=50"]
    found.save(tmp_path / "m.json")
    assert load(tmp_path / "m.json").points == found.points
    system = "system: {d: {type: station, servers: 4, service: 400 us}}\n"
    written(tmp_path, f"{system}workload: {{f: {{to: d, arrivals: {{poisson: 9 /s}}}}}}\n", "s.yaml")
    ran = headrace("validate", "s.yaml", "m.json", "--json", cwd=tmp_path)
    told = json.loads(ran.stdout)
    assert [row["measured"]["iops"] for row in told["rows"]] == [10_000]
    assert "1 point is left out: fio ran below the drive's full speed (rate_iops=900 thinktime=50)" in told["remarks"]
    document["jobs"] = [held]
    fio.measurement([written(tmp_path, document)]).save(tmp_path / "m.json")
    for command in (["validate", "s.yaml", "m.json"],
                    ["calibrate", "scenario", "s.yaml", "m.json", "--vary", "system.d.service=1us..1ms"]):  # fmt: skip
        ran = headrace(*command, cwd=tmp_path)
        assert (ran.returncode, "nothing to simulate: 1 point is left out" in ran.stderr) == (2, True), ran.stderr


def written_job(**options: str) -> Json:
    """Return a result of random writes with these options besides."""
    document = result()
    [job] = document["jobs"]
    job |= {"write": job["read"], "read": job["write"]}
    job["job options"] |= {"rw": "randwrite", "iodepth": "1"} | options
    return document


def test_a_rate_that_was_reached_is_an_open_load(headrace: Run, tmp_path: Path) -> None:
    """10,000 requests/s at equal distances keep a station of 50 µs half busy, and nobody waits."""
    document = result()
    document["jobs"][0]["job options"] |= {"rate_iops": "10k", "iodepth": "8", "size": "1g"}
    found = fio.measurement([written(tmp_path, document)])
    assert [(point["paced"], point["arrivals"]) for point in found.points] == [(None, "every")]
    found.save(tmp_path / "m.json")
    system = "system: {d: {type: station, service: 50 us, capacity: 1 TB}}\nobjectives: {f: 99 % within 1 ms}\n"
    written(tmp_path, f"{system}workload: {{f: {{to: d, arrivals: {{poisson: 9 /s}}}}}}\n", "s.yaml")
    [row] = json.loads(headrace("validate", "s.yaml", "m.json", "--json", cwd=tmp_path).stdout)["rows"]
    assert row["open"]
    assert row["simulated"]["mean_ms"] == pytest.approx(0.05)
    assert row["simulated"]["iops"] == pytest.approx(10_000, rel=0.01)
    slower = copy.deepcopy(document)
    slower["jobs"][0]["job options"] |= {"rate_iops": "20k"}
    assert fio.measurement([written(tmp_path, slower)]).points[0]["paced"] == "rate_iops=20k"


def test_requests_have_the_size_that_was_asked_for(tmp_path: Path) -> None:
    """After `ramp_time`, fio counts the bytes of requests in flight, and not the requests."""
    document = result()
    read = document["jobs"][0]["read"]
    read["io_bytes"] += 7 * 4096
    [point] = fio.measurement([written(tmp_path, document)]).points
    assert (point["block_bytes"], point["bandwidth_bytes_per_s"]) == (4096, 40_960_000)
    read["io_bytes"] *= 4
    assert fio.measurement([written(tmp_path, document)]).points[0]["block_bytes"] == 16499


def test_reads_of_a_verification_are_no_load(tmp_path: Path) -> None:
    document = result()
    [job] = document["jobs"]
    job["write"] = job["read"]
    job["job options"] |= {"rw": "write", "verify": "crc32c"}
    [point] = fio.measurement([written(tmp_path, document)]).points
    assert (point["op"], point["read_share"]) == ("write", 0.0)


def placed(tmp_path: Path, **options: str) -> Json:
    found = result()
    found["jobs"][0]["job options"] |= options
    return fio.measurement([written(tmp_path, found)]).points[0]


def test_a_result_says_which_bytes_were_addressed(tmp_path: Path) -> None:
    names = ("file", "file_bytes", "from_bytes", "run_length", "unlike")
    plain = placed(tmp_path, size="1g")
    assert [plain[name] for name in names] == [None, 1 << 30, None, None, None]
    device = placed(tmp_path, filename=r"/dev/disk/by-path/pci-0\:1", size="20g", offset="400g", rw="randread:16")
    assert [device[name] for name in names] == ["/dev/disk/by-path/pci-0:1", 20 << 30, 400 << 30, 16, None]
    assert placed(tmp_path, nrfiles="10", filesize="1g")["file_bytes"] == 10 << 30
    # Copies of a job on parts of a device, one behind another, are as those on files of their own.
    apart = placed(tmp_path, filename="/dev/sdb", offset_increment="20g", size="20g", numjobs="4")
    assert [apart[name] for name in names] == [None, 20 << 30, None, None, None]
    for told in ({"filename": "/dev/sdb:/dev/sdc"}, {"rw": "read:60k"}, {"offset": "20%"}, {"offset_increment": "20%"}):
        [(option, value)] = told.items()
        assert placed(tmp_path, **told)["unlike"] == f"{option}={value}"


def test_results_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    files = [written(tmp_path / folder, result()) for folder in ("a", "b")]
    assert {point["source"] for point in fio.measurement(files).points} == {str(file) for file in files}


def test_the_sum_of_both_directions_is_no_operation(tmp_path: Path) -> None:
    both = result()
    job = both["jobs"][0]
    job["write"] = job["read"] | {"total_ios": 1000}
    job["mixed"] = job["read"] | {"total_ios": 2000, "iops": 20_000.0}
    points = fio.measurement([written(tmp_path, both)]).points
    assert [(point["op"], point["read_share"]) for point in points] == [("read", 0.5), ("write", 0.5)]


def test_a_mean_follows_from_what_was_in_flight_where_no_latency_was_measured(tmp_path: Path) -> None:
    document = result()
    read = document["jobs"][0]["read"]
    read["lat_ns"] = read["clat_ns"] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}
    found = fio.measurement([written(tmp_path, document)])
    assert found.points[0]["mean_ms"] == pytest.approx(4 / 10_000 * 1000)
    assert "Little's law" in found.remarks[1]
    document["jobs"][0]["job options"]["rate_iops"] = "10k"
    assert "has no latency, and a job below its full speed" in why(written(tmp_path, document))


def test_jobs_of_servers_are_loads_by_themselves(tmp_path: Path) -> None:
    document = result()
    [job] = document.pop("jobs")
    job["job options"]["bs"] = "4k"
    both = [job | {"hostname": name} for name in ("a", "b")]
    document["client_stats"] = [*both, job | {"jobname": "All clients"}]
    found = fio.measurement([written(tmp_path, document)])
    assert [point["job"] for point in found.points] == ["reader@a", "reader@b"]
    assert "jobs of 2 servers (a, b)" in found.remarks[0]


def test_reads_and_writes_of_different_sizes_are_one_load(headrace: Run, tmp_path: Path) -> None:
    document = result()
    [job] = document["jobs"]
    job["write"] = job["read"] | {"io_bytes": 65_536_000}
    job["job options"] |= {"rw": "randrw", "bs": "4k,64k"}
    fio.measurement([written(tmp_path, document)]).save(tmp_path / "m.json")
    system = "system: {d: {type: station, servers: 4, service: 1 us, rate: 400 MB/s, capacity: 1 TB}}\n"
    written(tmp_path, f"{system}workload: {{f: {{to: d, arrivals: {{poisson: 9 /s}}}}}}\n", "s.yaml")
    rows = json.loads(headrace("validate", "s.yaml", "m.json", "--json", cwd=tmp_path).stdout)["rows"]
    assert [(row["op"], row["block_bytes"]) for row in rows] == [("read", 4096), ("write", 65_536)]
    # Four servers of 1 µs and 400 MB/s: 11.24 and 164.84 µs, and half of the requests are of each.
    assert [row["simulated"]["mean_ms"] for row in rows] == pytest.approx([0.01124, 0.16484], rel=1e-3)


def test_addresses_of_another_law_are_left_out_of_a_comparison(headrace: Run, tmp_path: Path) -> None:
    options = (
        {"random_distribution": "zipf:1.1"},
        {"random_distribution": "random", "zonemode": "none"},
        {"percentage_random": "30"},
        {"zonemode": "strided"},
        {"rw": "write", "percentage_random": "30"},
    )
    documents = [written_job(**of) for of in options]
    files = [written(tmp_path, document, f"{at}.json") for at, document in enumerate(documents)]
    found = fio.measurement(files)
    told = ["random_distribution=zipf:1.1", None, "percentage_random=30", "zonemode=strided", None]
    assert [point["unlike"] for point in found.points] == told
    found.save(tmp_path / "m.json")
    system = "system: {d: {type: station, servers: 4, service: 400 us}}\n"
    written(tmp_path, f"{system}workload: {{f: {{to: d, arrivals: {{poisson: 9 /s}}}}}}\n", "s.yaml")
    told = json.loads(headrace("validate", "s.yaml", "m.json", "--json", cwd=tmp_path).stdout)
    assert [row["pattern"] for row in told["rows"]] == ["random", "sequential"]
    assert any("3 points are left out: addresses are drawn in another way (random" in one for one in told["remarks"])


def test_a_flush_after_each_write_is_simulated(headrace: Run, tmp_path: Path) -> None:
    """What headrace itself finds under `fsync=1` differs from it by chance alone: flushes count as no writes."""
    drive = "system: {d: {type: disk, positioning: addressed, device: seagate-st24000nm007h}}\n"
    job = "{to: d, arrivals: {closed: {depth: 1}}, size: 4 KiB, op: write, pattern: uniform"
    text = f"{drive}workload: {{f: {job}, flush_every: 1}}}}\nrun: {{requests: 4000}}\n"
    [stream] = scenario.load(written(tmp_path, text, "s.yaml")).run().data["streams"]
    writes = stream["writes"]
    assert writes
    document = written_job(fdatasync="1")
    rate = stream["requests_per_s"] * writes["count"] / stream["response"]["count"]
    document["jobs"][0]["write"] |= {"iops": rate, "lat_ns": {"mean": writes["mean_ms"] * 1e6, "stddev": 1.0}}
    found = fio.measurement([written(tmp_path, document)])
    assert [point["flush_every"] for point in found.points] == [1]
    found.save(tmp_path / "m.json")
    told = json.loads(headrace("validate", "s.yaml", "m.json", "--json", cwd=tmp_path).stdout)
    [row] = told["rows"]
    assert (row["flush_every"], row["durable"]) == (1, False)
    assert abs(row["error_percent"]["iops"]) < 2
    assert abs(row["error_percent"]["mean_ms"]) < 2


def test_what_the_columns_do_not_say_is_remarked_on(tmp_path: Path) -> None:
    document = written_job(bssplit="4k/50:64k/50", verify="crc32c", size="10%", iodepth_batch="8")
    remarks = fio.measurement([written(tmp_path, document)]).remarks
    for told in (
        "bssplit=4k/50:64k/50: sizes vary",
        "verify=crc32c: fio's reads for",
        "size=10%: the whole",
        "one by one",
    ):
        assert any(told in remark for remark in remarks), (told, remarks)


@pytest.mark.parametrize(
    ("option", "group", "apart"),
    [({}, 0, False), ({"stonewall": "1"}, 1, True), ({"new_group": "1"}, 1, False), ({"wait_for": "reader"}, 0, True)],
)
def test_jobs_that_ran_at_once_are_remarked_on(tmp_path: Path, option: Json, group: int, *, apart: bool) -> None:
    document = result()
    second = copy.deepcopy(document["jobs"][0]) | {"jobname": "second", "groupid": group}
    second["job options"] |= option
    document["jobs"].append(second)
    remarks = fio.measurement([written(tmp_path, document)]).remarks
    assert any("reader, second: they ran at the same time" in remark for remark in remarks) is not apart


def test_copies_of_a_job_become_one_point(tmp_path: Path) -> None:
    document = result()
    slower = copy.deepcopy(document["jobs"][0])
    slower["read"]["lat_ns"]["mean"] = 300_000.0
    document["jobs"].append(slower)
    [point] = fio.measurement([written(tmp_path, document)]).points
    assert (point["numjobs"], point["iops"], point["mean_ms"], point["ios"]) == (2, 20_000, pytest.approx(0.2), 2000)
    assert point["sd_ms"] == pytest.approx((0.1**2 + 0.005**2) ** 0.5)
    assert point["p50_ms"] == 0.09
    del slower["read"]["clat_ns"]["bins"]
    found = fio.measurement([written(tmp_path, document)])
    assert found.points[0]["p50_ms"] is None
    assert any("group_reporting" in remark for remark in found.remarks)


def test_what_fio_prints_around_its_json_is_passed_over(tmp_path: Path) -> None:
    text = "fio: this platform does not support x\n" + json.dumps(result(jobname="early"))
    found = fio.measurement([written(tmp_path, text + "\n" + json.dumps(result()))])
    assert [point["job"] for point in found.points] == ["reader"]
    assert "--status-interval" in found.remarks[0]


def test_synchronous_engines_have_one_request_in_flight(tmp_path: Path) -> None:
    document = result()
    document["jobs"][0]["job options"] |= {"ioengine": "psync", "direct": "0"}
    found = fio.measurement([written(tmp_path, document)])
    assert found.points[0]["iodepth"] == 1
    assert sum("page cache" in remark or "psync" in remark for remark in found.remarks) == 2


def test_a_result_that_cannot_be_trusted_is_refused(tmp_path: Path) -> None:
    assert "cut off" in why(written(tmp_path, json.dumps(result())[:-50]))
    assert "failed: error 5" in why(written(tmp_path, result(error=5)))
    assert "3.0 and later" in why(written(tmp_path, result() | {"fio version": "fio-2.21"}))
    assert "3.0 and later" in why(written(tmp_path, result() | {"fio version": "fio-4.1"}))
    assert "`fio version` is missing" in why(written(tmp_path, {"jobs": []}))
    assert "fio ended before" in why(written(tmp_path, result() | {"jobs": []}))
    assert "`client_stats` is missing or empty" in why(written(tmp_path, result() | {"client_stats": []}))
    document = result()
    document["jobs"][0]["read"]["total_ios"] = 0
    assert "no job completed" in why(written(tmp_path, document))
    del document["jobs"][0]["read"]["runtime"]
    assert "`jobs[0].read.runtime` is missing" in why(written(tmp_path, document))
    assert "no JSON" in why(written(tmp_path, "nothing"))


def test_every_result_of_the_measured_drives_is_read(measured_data: Path) -> None:
    files = sorted(measured_data.glob("fio-*/*.json"))
    points = {point["source"]: point for point in fio.measurement(files).points}
    assert len(points) == len(files) == 78
    lines = (measured_data / "fio-hdd" / "summary.csv").read_text().splitlines()[1:]
    for line in lines:
        _, name, *_, op, _, ios, iops, _, _, _, p50, p95, p99 = line.split(",")
        point = points[name]
        assert (point["op"], point["ios"]) == (op, int(ios))
        assert point["iops"] == pytest.approx(float(iops), rel=1e-4)
        assert [point[name] * 1000 for name in ("p50_ms", "p95_ms", "p99_ms")] == pytest.approx(
            [float(p50), float(p95), float(p99)]
        )


# Logs


def traced(folder: Path, text: str, name: str = "job_lat.1.log") -> Json:
    """Return what is written of a log, and the requests of the trace."""
    told = fio.trace(written(folder, text, name)).save(folder / "trace.csv")
    lines = (folder / "trace.csv").read_text().splitlines()
    return told | {"rows": [line.split(",") for line in lines[1:]]}


@pytest.mark.parametrize(
    "line",
    [
        "{t}, {v}, 0, 4096, {o}",
        "{t}, {v}, 0, 4096, {o}, 0",
        "{t}, {v}, 0, 4096, {o}, 0x4001",
        "{t}, {v}, 0, 4096, {o}, 0, {i}",
        "{t}, {v}, {v}, 0, 4096, {o}, 0, {i}",
    ],
)
def test_logs_of_all_versions_are_read(tmp_path: Path, line: str) -> None:
    # 2 ms each, 1 ms of thought between them.
    rows = [line.format(t=3 * at + 2, v=2_000_000, o=at * 4096, i=at * 3_000_000) for at in range(5)]
    told = traced(tmp_path, "\n".join(rows) + "\n")
    assert told["closed"]
    assert "closed" in told["remarks"][0]
    assert [row[0] for row in told["rows"]] == [str(at * 3_000_000) for at in range(5)]
    assert [row[2:6] for row in told["rows"][:4]] == [[str(at * 4096), "4096", "2000000", "1000000"] for at in range(4)]


def test_requests_that_overlap_are_replayed_open(tmp_path: Path) -> None:
    rows = [f"{at + 5}, 4500000, {at % 2}, 4096, {at * 4096}" for at in range(20)]
    told = traced(tmp_path, "\n".join(rows) + "\n")
    assert not told["closed"]
    assert all(row[5] == "" for row in told["rows"])


def test_a_log_that_is_no_list_of_requests_is_refused(tmp_path: Path) -> None:
    def refused(text: str, name: str = "job_lat.1.log") -> str:
        with pytest.raises(ScenarioError) as error:
            traced(tmp_path, text, name)
        return str(error.value)

    good = "5, 100, 0, 4096, 8192\n6, 100, 0, 4096, 4096\n"
    assert "no newline" in refused(good[:-3])
    assert "log_avg_msec" in refused("500, 100000, 0, 0, 0, 0\n1000, 100000, 0, 0, 0, 0\n")
    assert "log_offset=1" in refused("5, 100, 0, 4096\n6, 100, 0, 4096\n")
    assert "log_offset=1" in refused("5, 100, 0, 4096, 0\n6, 100, 0, 4096, 0\n")
    assert "not response times" in refused(good, "job_slat.1.log")
    assert "not response times" in refused(good, "job_bw.1.log")
    assert "line 3: the line has 2 fields where the first has 5" in refused(good + "7, 100\n")
    assert "line 3: direction `9`" in refused(good + "7, 100, 9, 4096, 4096\n")
    assert "empty" in refused("\n")
    assert "in no format of fio that headrace reads" in refused("\x1f\x8b\x08")
    assert "run fio with --output-format=json" in refused("job: (groupid=0, jobs=1): err= 0: pid=1\n  read: IOPS=9")
    assert "run fio with --output-format=json" in refused("3;fio-3.33;t;0;0;30296;30265;7566;1001;0;0;0.0;0.0;57\n")


def test_percentiles_that_decrease_are_damaged(tmp_path: Path) -> None:
    document = copy.deepcopy(result())
    percentiles = {"50.000000": 900_000, "99.000000": 5}
    document["jobs"][0]["read"]["clat_ns"] |= {"percentile": percentiles}
    assert "a percentile is below a lower one" in why(written(tmp_path, document))


def test_what_cannot_be_simulated_is_said_at_import(headrace: Run, tmp_path: Path) -> None:
    document = copy.deepcopy(result())
    document["jobs"][0]["job options"]["random_distribution"] = "zipf:1.2"
    done = headrace("import", "fio", written(tmp_path, document))
    assert "1 point is left out" in done.stdout
    assert "zipf:1.2" in done.stdout


def test_io_logs_of_both_versions_are_read(tmp_path: Path) -> None:
    second = "fio version 2 iolog\n/f add\n/f open\n/f read 0 4096\n/f wait 500 0\n/f write 8192 512\n/f close\n"
    told = traced(tmp_path, second, "io.log")
    assert [row[:4] for row in told["rows"]] == [["0", "read", "0", "4096"], ["500000", "write", "8192", "512"]]
    untimed = traced(tmp_path, second.replace("/f wait 500 0\n", ""), "io.log")
    assert untimed["closed"]
    third = "fio version 3 iolog\n1 /f add\n2 /f open\n10 /f read 0 4096\n260 /g write 8192 512\n300 /f sync 0 0\n"
    told = traced(tmp_path, third, "io.log")
    assert [(row[0], row[6]) for row in told["rows"]] == [("0", "/f"), ("250000", "/g")]
    assert "1 × sync left out" in told["remarks"][-1]
    for wrong, message in (
        ("fio version 4 iolog\n", "version 4"),
        (third + "9 /f jump 0 1\n", "unknown action `jump`"),
    ):
        with pytest.raises(ScenarioError, match=message):
            traced(tmp_path, wrong, "io.log")


def test_discards_and_flushes_of_blkparse_are_counted(tmp_path: Path) -> None:
    lines = ["8,0 0 1 0.5 9 D R 8 + 8 [x]", "8,0 0 2 0.6 9 C R 8 + 8 [x]", "8,0 0 3 0.7 9 D DS 8 + 8 [x]"]
    found = traced(tmp_path, "\n".join(lines) + "\n", "blk.txt")
    assert "left out: 1 request that neither read nor write" in found["remarks"]


def test_blkparse_one_at_a_time_is_replayed_closed(tmp_path: Path) -> None:
    def text(times: list[tuple[float, float]]) -> str:
        events = [(at, act, n) for n, pair in enumerate(times) for at, act in zip(pair, "DC", strict=True)]
        lines = [
            f"  8,0 0 {at} {time:.9f} 99 {act} R {n * 800} + 8 [fio]"
            for at, (time, act, n) in enumerate(sorted(events))
        ]
        return "\n".join(lines) + "\n"

    told = traced(tmp_path, text([(0.0, 0.001), (0.002, 0.003)]), "blk.txt")
    assert (told["closed"], told["rows"][0][5]) == (True, "1000000")
    assert not traced(tmp_path, text([(0.0, 0.003), (0.002, 0.004)]), "blk.txt")["closed"]


def test_a_real_log_of_depth_one_is_replayed_closed_and_of_depth_eight_open(headrace: Run, tmp_path: Path) -> None:
    program = real_program("fio")
    job = ["--name=job", "--filename=file", "--size=8M", "--rw=randrw", "--bs=4k", "--number_ios=2000"]
    for depth, engine in ((1, "psync"), (8, "libaio")):
        logs = [f"--write_lat_log=d{depth}", "--log_offset=1", f"--write_iolog=d{depth}.io", "--output-format=json+"]
        # Direct, where the file system can, so that requests overlap.
        command = [program, *job, *logs, f"--ioengine={engine}", f"--iodepth={depth}", f"--output=d{depth}.json"]
        direct = subprocess.run([*command, "--direct=1"], cwd=tmp_path, capture_output=True, check=False)
        if direct.returncode:
            subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
        for log in (f"d{depth}_lat.1.log", f"d{depth}.io"):
            ran = headrace("import", "fio", log, "-o", "trace.csv", "--json", cwd=tmp_path)
            assert ran.returncode == 0, ran.stderr
            told = json.loads(ran.stdout)
            assert told["requests"] == 2000
            if "lat" in log and (depth == 1 or not direct.returncode):
                assert told["closed"] == (depth == 1)
            assert trace.info(tmp_path / "trace.csv")["info"]["requests"] == 2000
        found = fio.measurement([tmp_path / f"d{depth}.json"])
        assert {point["op"] for point in found.points} == {"read", "write"}
        assert sum(point["ios"] for point in found.points) == 2000
        assert all(point["iodepth"] == depth for point in found.points)


# Job files

JOB = """\
; a comment
[global]
ioengine=libaio
direct=1
bs=4k
runtime=30

[readers]
rw=randread
iodepth=8
numjobs=4
filename=/dev/sdb

[log]
readwrite=write
blocksize=64k
size=1g
rate_iops=50
thread
"""


def job(folder: Path, text: str, **how: Any) -> tuple[Json, str]:
    made = fio.job(written(folder, text, "job.fio"), **how)
    Scenario(json.dumps(made.document)).check()
    return made.document, "\n".join(made.remarks)


def test_a_job_file_is_a_load(tmp_path: Path) -> None:
    document, remarks = job(tmp_path, JOB)
    readers, log = document["workload"]["readers"], document["workload"]["log"]
    assert readers["arrivals"] == {"closed": {"depth": 32}}
    assert (readers["to"], readers["op"], readers["size"], readers["pattern"]) == ("sdb", "read", "4 KiB", "uniform")
    assert log["arrivals"] == {"every": "20 ms"}
    assert (log["op"], log["size"], log["pattern"]) == ("write", "64 KiB", "sequential")
    assert log["region"] == {"from": "0 B", "size": "1 GiB"}
    assert document["run"]["time"] == "30 s"
    assert "`thread=1` is ignored: it concerns the host" in remarks
    assert "direct" not in remarks


def options(folder: Path, text: str) -> tuple[Json, str]:
    """Return the one stream of a job with these options, and the remarks."""
    lines = "\n".join(text.split())
    document, remarks = job(folder, f"[one]\nfilename=/dev/sdb\ndirect=1\nnumber_ios=100\n{lines}\n")
    return document["workload"]["one"], remarks


def test_options_are_honoured(tmp_path: Path) -> None:
    stream, _ = options(tmp_path, "rw=randrw rwmixread=70 bssplit=4k/60:64k/40")
    assert stream["op"] == {"reads": "70 %"}
    assert stream["size"]["mix"] == [{"size": "4 KiB", "weight": 0.6}, {"size": "64 KiB", "weight": 0.4}]
    stream, _ = options(tmp_path, "rw=randread random_distribution=zipf:1.2 size=1g ioengine=io_uring iodepth=4")
    assert stream["pattern"] == {"hot_spot": {"skew": 1.2, "spots": 1 << 18}}
    assert stream["arrivals"] == {"closed": {"depth": 4}}
    stream, _ = options(tmp_path, "rw=randwrite rate=4m rate_process=poisson ba=16k")
    assert stream["arrivals"] == {"poisson": "1024 /s"}
    assert stream["align"] == "16 KiB"
    assert options(tmp_path, "rw=randread percentage_random=25")[0]["pattern"] == {"runs": {"length": 4.0}}
    assert options(tmp_path, "rw=randread:8")[0]["pattern"] == {"runs": {"length": 8.0}}


def test_flushes_and_durable_writes_are_honoured(tmp_path: Path) -> None:
    stream, remarks = options(tmp_path, "rw=randrw fsync=32 fdatasync=0")
    assert (stream["flush_every"], "durable" in stream, "fsync" in remarks) == (32, False, False)
    stream, _ = options(tmp_path, "rw=write fdatasync=1 sync=dsync")
    assert (stream["flush_every"], stream["durable"]) == (1, True)
    assert "flush_every" not in options(tmp_path, "rw=read fsync=1 sync=none")[0]
    job = "[a]\nrw=write\nbs=4k\nfsync=4\ndirect=1\nnumber_ios=100\n"
    [found] = with_job(tmp_path, job).run().data["streams"]
    assert found["writes"]
    assert (found["writes"]["count"], found["operations"]["flush"]["count"]) == (100, 25)


def test_options_that_are_not_are_named_with_the_reason(tmp_path: Path) -> None:
    told = "end_fsync=1 norandommap frobnicate=3 iodepth=32 random_distribution=normal:20 rw=randwrite"
    _, remarks = options(tmp_path, told)
    for expected in (
        "`end_fsync=1` is ignored: flushes",
        "`norandommap=1` is ignored: headrace has its own random numbers",
        "`frobnicate=3` is ignored: headrace does not know it",
        "`iodepth=32` is ignored: the engine psync",
        "`random_distribution=normal:20` is ignored",
    ):
        assert expected in remarks
    assert (
        "`percentage_random=30` is ignored: it changes random" in options(tmp_path, "rw=read percentage_random=30")[1]
    )


def test_a_job_that_thinks_waits_for_all_its_requests_first(tmp_path: Path) -> None:
    """fio 3.33: iodepth=32 thinktime=1000 make 890 requests/s, thinktime_blocks=32 22,520/s: it empties its queue."""
    common = "rw=randread ioengine=libaio iodepth=32 thinktime=1000"
    stream, remarks = options(tmp_path, common)
    assert stream["arrivals"] == {"closed": {"depth": 1, "think": "1 ms"}}
    assert "leaves one request in flight" in remarks
    ran = Scenario(json.dumps(job(tmp_path, f"[a]\ndirect=1\nnumber_ios=2000\n{common.replace(' ', chr(10))}\n",
                                  device="samsung-pm883-480gb")[0])).run()  # fmt: skip
    assert 800 < ran.streams["requests_per_s"].item() < 1000
    stream, remarks = options(tmp_path, f"{common} thinktime_blocks=8")
    assert stream["arrivals"] == {"closed": {"depth": 8, "think": "1 ms"}}
    assert "`thinktime_blocks=8`: each of 8 clients thinks 0.001 s" in remarks
    stream, _ = options(tmp_path, f"{common} thinktime_blocks=64")
    assert stream["arrivals"] == {"closed": {"depth": 32, "think": "500 µs"}}


def test_the_slower_of_a_rate_and_thought_counts(tmp_path: Path) -> None:
    stream, remarks = options(tmp_path, "rw=randread rate_iops=1000 thinktime=10000")
    assert stream["arrivals"] == {"closed": {"depth": 1, "think": "10 ms"}}
    assert "`rate_iops=1000` is ignored: `thinktime=10000` allows at most 100 requests/s" in remarks
    stream, remarks = options(tmp_path, "rw=randread rate_iops=10 thinktime=10000")
    assert stream["arrivals"] == {"every": "100 ms"}
    assert "`thinktime=10000` is ignored: the rate, 10 /s, is lower" in remarks


def directions(folder: Path, lines: str) -> dict[str, tuple[Json, str]]:
    """Return arrivals and size of the streams that a mixed job becomes."""
    text = "[mix]\nfilename=/dev/sdb\ndirect=1\nnumber_ios=100\n" + "\n".join(lines.split())
    document, _ = job(folder, text)
    return {name: (one["arrivals"], one["size"]) for name, one in document["workload"].items()}


def test_each_direction_has_its_rate_and_its_size(tmp_path: Path) -> None:
    """As fio 3.33 reports of such jobs: 1,000 reads/s and 1,000 writes/s, 900 and 100, 2,559 and 80."""
    found = directions(tmp_path, "rw=randrw rwmixread=70 rate_iops=1000")
    assert found == {f"mix-{way}": ({"every": "1 ms"}, "4 KiB") for way in ("reads", "writes")}
    found = directions(tmp_path, "rw=randrw rate_iops=900,100")
    assert [arrivals["every"] for arrivals, _ in found.values()] == ["1111111 ns", "10 ms"]
    found = directions(tmp_path, "rw=randrw rate=10m,5m bs=4k,64k rate_process=poisson")
    assert found["mix-reads"] == ({"poisson": "2560 /s"}, "4 KiB")
    assert found["mix-writes"] == ({"poisson": "80 /s"}, "64 KiB")
    found = directions(tmp_path, "rw=randrw rate_iops=,100 ioengine=libaio iodepth=4")
    assert found["mix-reads"][0] == {"closed": {"depth": 4}}
    assert found["mix-writes"][0] == {"every": "10 ms"}
    assert list(directions(tmp_path, "rw=randrw")) == ["mix"]
    [stream] = job(tmp_path, "[mix]\nrw=randrw\nbs=4k,64k\nsize=1g\n")[0]["workload"].values()
    assert (stream["size"], stream["write_size"]) == ("4 KiB", "64 KiB")


def test_distributions_have_as_many_places_as_in_fio(tmp_path: Path) -> None:
    skewed = "rw=randread random_distribution="
    stream, _ = options(tmp_path, f"{skewed}zipf size=100m bs=4k")
    assert stream["pattern"] == {"hot_spot": {"skew": 1.1, "spots": 25600}}
    stream, remarks = options(tmp_path, f"{skewed}zipf:0.9 size=100g")
    assert stream["pattern"]["hot_spot"]["spots"] == 1_000_000
    assert "fio draws over 26214400 blocks" in remarks
    assert "give `size`" in options(tmp_path, f"{skewed}zipf:0.9")[1]
    stream, remarks = options(tmp_path, f"{skewed}pareto:0.2 size=1g numjobs=2")
    # 80 % of the requests go to 20 % of the blocks.
    assert 0.2 ** (1 - stream["pattern"]["hot_spot"]["skew"]) == pytest.approx(0.8, abs=1e-5)
    assert "share their hot spots" in remarks


def test_what_fio_reads_is_read(tmp_path: Path) -> None:
    stream, remarks = options(tmp_path, "rw=randread bs=4Ki fileoffset=1m size=10m")
    assert (stream["size"], stream["region"]["from"]) == ("4 KiB", "1 MiB")
    assert "bs" not in remarks
    stream, remarks = options(tmp_path, "rw=randread bs=4KiB")
    assert stream["size"] == "4 kB"
    assert "`bs=4KiB`: fio reads KiB as a power of 1000; write `4K` for 1024" in remarks
    assert options(tmp_path, "rw=randread bs=4KiB kb_base=1000")[0]["size"] == "4 KiB"
    document, remarks = job(tmp_path, "[a]\nrw=randread # hot\nbs=8k ; comment\nruntime=2:30\nsize=1m\ntime_based\n")
    stream = document["workload"]["a"]
    assert (stream["pattern"], stream["size"], document["run"]["time"]) == ("uniform", "8 KiB", "2 s")
    assert "`runtime=2:30` is 2 s to fio" in remarks
    document, _ = job(tmp_path, "[a]\nrw=randread\nruntime=0\nsize=1m\ntime_based\n")
    assert document["run"] == {"requests": 256}
    for text, message in {
        "[a]\nrw=read\nbs=64k\nsize=4k\n": "line 4.*less than one request of 65536 B",
        "[a]\nrw=read\n[b]\nwait_for_previous\nrw=read\n": r"line 4, \[b\]: the job `b` waits",
    }.items():
        with pytest.raises(ScenarioError, match=message):
            fio.job(written(tmp_path, text, "job.fio"))


def test_copies_with_offsets_address_their_own_bytes(tmp_path: Path) -> None:
    text = "[a]\nfilename=/dev/sdb\nrw=randread\nsize=1g\nnumjobs=3\noffset_increment=1g\n"
    document, remarks = job(tmp_path, text)
    regions = {name: one["region"]["from"] for name, one in document["workload"].items()}
    assert regions == {f"a-{at + 1}": f"{at} GiB" if at else "0 B" for at in range(3)}
    two = "[a]\nrw=randread\nsize=1m\n[b]\nrw=randread\nsize=2m\n"
    assert "until they have made 768 requests together" in job(tmp_path, two)[1]
    assert "together" not in remarks


def test_an_import_has_the_kind_of_the_device(tmp_path: Path) -> None:
    document, _ = job(tmp_path, "[a]\nrw=randread\nnumber_ios=9\n", device="samsung-pm883-480gb")
    assert document["system"] == {"storage": {"type": "ssd", "device": "samsung-pm883-480gb"}}


def test_fio_knows_no_option_that_headrace_does_not() -> None:
    """Every option that a real fio lists is honoured, refused, or ignored for a reason that is written down."""
    from headrace.measurement.fio import options as known
    from headrace.measurement.fio.jobs import _Streams

    listed = subprocess.run([real_program("fio"), "--cmdhelp=all"], capture_output=True, text=True, check=True).stdout
    names = {line.split(":")[0].strip() for line in listed.splitlines() if ":" in line}
    for name in sorted(names):
        about = subprocess.run([real_program("fio"), f"--cmdhelp={name}"], capture_output=True, text=True, check=False)
        names |= set(re.findall(r"alias: (\S+)", about.stdout))
    told = known.HONOURED | set(known.IGNORED) | set(_Streams.REFUSED)
    missing = {name for name in names if known.ALIASES.get(name, name) not in told}
    assert not missing


def test_a_job_that_cannot_be_simulated_is_refused(tmp_path: Path) -> None:
    for text, message in {
        "[a]\nrw=trimwrite\n": r"line 2, \[a\]: `rw=trimwrite`",
        "[a]\nioengine=net\n": "does no block I/O",
        "[a]\nbs=huge\n": "not a size",
        "[a]\niodepth=0\n": "not a number from 1",
        "[a]\nrw=read\n[b]\nstonewall\nrw=read\n": "--section b",
        "[a]\nread_iolog=x\n": "import the log itself",
        "rw=read\n[a]\n": "before the first",
        "[global]\nrw=read\n": "has no job",
        "[a]\nfilename=x\nsize=$mb\n": "variable",
    }.items():
        with pytest.raises(ScenarioError, match=message):
            fio.job(written(tmp_path, text, "job.fio"))
    document, _ = job(tmp_path, "[a]\nrw=read\nsize=1m\n[b]\nstonewall\nrw=write\nsize=2m\n", section="b")
    assert list(document["workload"]) == ["b"]


def test_names_of_files_are_read_as_fio_reads_them(tmp_path: Path) -> None:
    by_path = r"[a]\nfilename=/dev/disk/by-path/pci-0000\:3b\:00.0-nvme-1\ndirect=1\nsize=1m\n"
    document, _ = job(tmp_path, by_path.replace(r"\n", "\n"))
    assert list(document["system"]) == ["disk-by-path-pci-0000-3b-00-0-nvme-1"]
    document, _ = job(tmp_path, "[a]\nfilename_format=f.$jobnum.$filenum\nsize=1m\n[b]\nsize=1m\n")
    assert list(document["workload"]) == ["a", "b"]
    with pytest.raises(ScenarioError, match="names several files"):
        job(tmp_path, "[a]\nfilename=x:y\nsize=1m\n")


def test_jobs_of_different_lengths_are_remarked_on(tmp_path: Path) -> None:
    text = "[global]\nsize=1g\ntime_based\n[a]\nruntime=60\n[b]\nruntime=5\n"
    document, remarks = job(tmp_path, text)
    assert document["run"]["time"] == "60 s"
    assert "all jobs run for 60 s; in fio b would end before" in remarks


def test_sequential_copies_have_files_of_their_own(tmp_path: Path) -> None:
    document, _ = job(tmp_path, "[w]\nrw=write\nbs=1m\nsize=10m\nnumjobs=3\ndirect=1\n")
    assert [stream["region"]["from"] for stream in document["workload"].values()] == ["0 B", "10 MiB", "20 MiB"]
    assert document["run"]["requests"] == 30


def test_the_command_line_imports_everything(headrace: Run, tmp_path: Path) -> None:
    written(tmp_path, result())
    written(tmp_path, JOB, "job.fio")
    ran = headrace("import", "fio", "result.json", "-o", "m.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "1 point, measured with fio-3.33: 10,000 requests/s." in ran.stdout
    assert load(tmp_path / "m.json").points[0]["iops"] == 10_000
    ran = headrace("import", "fio", "job.fio", "-o", "s.yaml", "--device", "hp-c2247a", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "hp-c2247a" in (tmp_path / "s.yaml").read_text()
    assert (
        headrace("check", "s.yaml", cwd=tmp_path).returncode == 2
    )  # The file is larger than that disk, which is said.
    for wrong in (["job.fio"], ["job.fio", "result.json"], ["none"], ["."], ["result.json", "-o", "result.json"]):
        ran = headrace("import", "fio", *wrong, cwd=tmp_path)
        assert ran.returncode == 2
        assert ran.stderr.startswith("error: ")
        assert "Traceback" not in ran.stderr


# Job files as workloads

DRIVE = "system: {drive: {type: ssd, device: samsung-pm883-480gb}}\n"


def with_job(folder: Path, text: str, workload: str = "fio: job.fio", system: str = DRIVE, run: str = "") -> Scenario:
    written(folder, text, "job.fio")
    return scenario.load(written(folder, f"{system}workload: {{{workload}}}\n{run}", "s.yaml"))


def test_a_workload_is_what_an_import_makes(tmp_path: Path) -> None:
    text = JOB.replace("/dev/sdb", "/dev/drive").replace("numjobs=4", "numjobs=2\nrwmixread=70\nbssplit=4k/60:64k/40")
    used = with_job(tmp_path, text).filled()
    imported = Scenario(json.dumps(fio.job(tmp_path / "job.fio").document)).filled()
    assert imported["workload"]["log"]["to"] == "storage", "where files lie, for want of a system"
    assert used["workload"] == {name: one | {"to": "drive"} for name, one in imported["workload"].items()}
    assert used["run"]["time"] == imported["run"]["time"] == "30 s"


def test_the_only_component_stands_for_the_device_and_files(tmp_path: Path) -> None:
    text = "[a]\nfilename=/dev/sdb\nrw=randread\nnumber_ios=10\n[b]\nrw=write\nsize=1m\n"
    assert {one["to"] for one in with_job(tmp_path, text).filled()["workload"].values()} == {"drive"}
    two = DRIVE.replace("{drive", "{other: {type: ssd, device: samsung-pm883-480gb}, drive")
    with pytest.raises(
        ScenarioError, match=r"(?s)job.fio, line 2, \[a\]: the scenario has no component `sdb`.*s.yaml:2:17.*to: NAME"
    ):
        with_job(tmp_path, text, system=two).check()
    chosen = with_job(tmp_path, text, "fio: {job: job.fio, to: other}", two).filled()
    assert {one["to"] for one in chosen["workload"].values()} == {"other"}


@pytest.mark.parametrize(
    "via",
    [
        "{type: sas, preset: sas_6g}",
        "{type: scsi_bus, preset: fast}",
        "{type: fc_loop, rate: 2 Gb/s}",
        "{type: link, rate: 100 MB/s}",
    ],
)
def test_an_array_behind_a_path_is_the_only_component_that_holds_data(tmp_path: Path, via: str) -> None:
    system = (
        "parts: {spindle: {type: disk, positioning: addressed, device: hp-c3323a}}\n"
        f"system: {{path: {via}, volume: {{type: array, level: raid0, of: spindle, disks: 2, stripe_unit: 64 KiB, "
        "via: path}}\n"
    )
    job = "[a]\nfilename=/dev/sdb\nrw=randread\nnumber_ios=10\n"
    assert with_job(tmp_path, job, system=system).filled()["workload"]["a"]["to"] == "volume"


def test_mistakes_of_a_job_file_have_the_place_that_names_it(tmp_path: Path) -> None:
    twice = "a: {to: drive, arrivals: {poisson: 10 /s}}, fio: {job: job.fio, nodes: 3}"
    for workload, column, message in (
        (twice, 76, "`fio` has no field `nodes`"),
        (twice.replace(", nodes: 3", ""), 67, "the name of another stream"),
        ("fio: {job: job.fio, to: nowhere}", 17, "no component `nowhere`"),
        ("fio: none.fio", 17, "none.fio does not exist"),
    ):
        with pytest.raises(ScenarioError) as refused:
            with_job(tmp_path, "[a]\nrw=read\nnumber_ios=10\n", workload).check()
        [problem] = json.loads(refused.value.problems)
        assert (problem["line"], problem["column"]) == (2, column), workload
        assert message in problem["message"]
        assert problem["help"] or "nowhere" not in message


def test_trims_are_discards(tmp_path: Path) -> None:
    job = "[a]\nrw=randtrim\nbs=4k,8k,1m\nioengine=libaio\ndirect=1\niodepth=4\nnumber_ios=100\n"
    stream = with_job(tmp_path, job).filled()["workload"]["a"]
    assert (stream["op"], stream["size"], stream["pattern"]) == ("discard", "1 MiB", "uniform")
    assert with_job(tmp_path, job).run().streams["completed"].item() == 100
    with pytest.raises(ScenarioError, match="`disk` does not discard data"):
        with_job(
            tmp_path, job, system="system: {disk: {type: disk, positioning: addressed, device: hp-c3323a}}\n"
        ).check()


def test_jobs_of_a_server_are_its_threads(tmp_path: Path) -> None:
    system = DRIVE.replace("{drive", "{host: {type: server, attached: [drive]}, drive")
    text = "[a]\nrw=randread\nioengine=libaio\ndirect=1\niodepth=8\nnumjobs=4\nnumber_ios=100\n"
    stream = with_job(tmp_path, text, "fio: {job: job.fio, to: drive, from: host}", system).filled()["workload"]["a"]
    assert stream["from"] == "host"
    assert (stream["arrivals"]["closed"]["depth"], stream["arrivals"]["closed"]["threads"]) == (32, 4)


def test_a_scenario_says_how_long_it_runs_and_may_have_other_streams(tmp_path: Path) -> None:
    other = "fio: job.fio, other: {to: drive, arrivals: {poisson: 10 /s}}"
    found = with_job(tmp_path, "[a]\nrw=randread\nruntime=60\n", other, run="run: {requests: 500}\n").filled()
    assert list(found["workload"]) == ["other", "a"]
    assert (found["run"]["requests"], found["run"].get("time")) == (500, None)


def test_a_change_chooses_a_job_and_changes_its_stream(tmp_path: Path) -> None:
    text = "[a]\nrw=randread\nnumber_ios=10\n[b]\nstonewall\nrw=randwrite\nnumber_ios=20\n"
    waiting = with_job(tmp_path, text)
    with pytest.raises(ScenarioError, match=r"job.fio, line 5, \[b\]: the job `b` waits"):
        waiting.check()
    chosen = waiting.with_({"workload.fio.section": "b", "workload.b.size": "8 KiB"}).filled()
    assert (list(chosen["workload"]), chosen["workload"]["b"]["size"]) == (["b"], "8 KiB")
    assert chosen["run"]["requests"] == 20


def test_a_page_cache_is_simulated_where_there_is_one(tmp_path: Path) -> None:
    system = DRIVE.replace("}}\n", "}, fs: {type: file_system, of: drive, memory: 1 GiB}}\n")
    cached = with_job(tmp_path, "[a]\nrw=write\nbs=8k\nsize=10m\n", system=system)
    assert cached.filled()["workload"]["a"]["to"] == "fs"
    assert not cached.remarks
    assert "page cache" in with_job(tmp_path, "[a]\nrw=write\nsize=10m\n").remarks[0]


def test_a_stream_may_be_called_fio(tmp_path: Path) -> None:
    found = with_job(tmp_path, "", "fio: {to: drive, arrivals: {poisson: 10 /s}}").filled()
    assert list(found["workload"]) == ["fio"]


def test_the_command_line_runs_a_job_file_and_names_what_it_ignores(headrace: Run, tmp_path: Path) -> None:
    text = "[a]\nrw=randread\ndirect=1\nioengine=libaio\niodepth=4\nnumber_ios=2000\nramp_time=5\n"
    assert with_job(tmp_path, text).inputs()[-1] == tmp_path / "job.fio"
    ran = headrace("run", "s.yaml", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("a: ")
    assert "note: `ramp_time=5` is ignored: headrace determines the warm-up itself" in ran.stderr
    for workload, message in {
        "fio: none.fio": "none.fio does not exist",
        "fio: {job: job.fio, nodes: 3}": "`fio` has no field `nodes`",
        "fio: {job: job.fio, to: nowhere}": "nowhere",
    }.items():
        written(tmp_path, f"{DRIVE}workload: {{{workload}}}\n", "wrong.yaml")
        ran = headrace("check", "wrong.yaml", cwd=tmp_path)
        assert (ran.returncode, "Traceback" in ran.stderr) == (2, False)
        assert message in ran.stderr


# Damage


def damaged(dice: random.Random, whole: bytes) -> bytes:
    """Return a file with a few of its bytes cut out, changed or doubled."""
    raw = bytearray(whole)
    for _ in range(dice.randint(1, 4)):
        at, many = dice.randrange(len(raw) + 1), dice.choice([1, 1, 2, 8, 200])
        new = dice.choice(
            [b"", bytes(dice.randrange(256) for _ in range(many)), b"-1", b"9" * 25, b"null", b"1e999", b"{"]
        )
        raw[at : at + dice.choice([0, many])] = new
    return bytes(raw)


def says_what_would_do(error: ScenarioError) -> None:
    assert re.search(r"help: \S", str(error)), error


SEEDS = {
    "result": (json.dumps(result(), indent=1), "x.json"),
    "latencies": ("".join(f"{at}, 900000, {at % 2}, 4096, {at * 4096}, 0\n" for at in range(9)), "x_lat.1.log"),
    "iolog": ("fio version 3 iolog\n1 /f add\n" + "".join(f"{at} /f read {at} 512\n" for at in range(9)), "io.log"),
    "iolog 2": ("fio version 2 iolog\n/f add\n" + "/f wait 5 0\n/f read 0 512\n" * 9, "io2.log"),
    "blkparse": ("  8,0 0 1 0.5 9 D R 8 + 8 [x]\n  8,0 0 2 0.6 9 C R 8 + 8 [x]\n" * 3, "blk.txt"),
    "job": (
        JOB + "bssplit=4k/60:64k/\n[z]\nrw=randrw\nbsrange=4k-64k\nrandom_distribution=zipf:1\nrate=,1m\n",
        "j.fio",
    ),
}


@pytest.mark.parametrize("what", SEEDS)
@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=13631)  # A name that would begin as a formula.
@example(seed=1671638)  # A drive by the name of `null`.
def test_no_damage_is_read_by_halves_or_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, what: str, seed: int
) -> None:
    text, name = SEEDS[what]
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_bytes(damaged(random.Random(seed), text.encode()))
    try:
        kind = fio.kind(file)
        if kind == fio.RESULT:
            fio.measurement([file]).save(folder / "m.json")
            load(folder / "m.json")
        elif kind == fio.JOB:
            made = fio.job(file)
            Scenario(device_file.text(made.document)).filled()
        else:
            fio.trace(file).save(folder / "t.csv")
    except ScenarioError as error:
        says_what_would_do(error)


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 2**32), ending=st.sampled_from(["json", "parquet"]))
def test_a_damaged_measurement_is_refused(tmp_path_factory: pytest.TempPathFactory, seed: int, ending: str) -> None:
    folder = tmp_path_factory.getbasetemp() / "damaged"
    folder.mkdir(exist_ok=True)
    file = folder / f"damaged.{ending}"
    point = {
        "op": "read",
        "pattern": "random",
        "block_bytes": 4096,
        "iodepth": 1,
        "numjobs": 1,
        "iops": 1.0,
        "mean_ms": 1.0,
    }
    Measurement([point]).save(file)
    file.write_bytes(damaged(random.Random(seed), file.read_bytes()))
    try:
        load(file)
    except ScenarioError as error:
        says_what_would_do(error)


def test_a_log_without_requests_is_refused(tmp_path: Path) -> None:
    merged = "  8,0 1 0 0.000000000 99 M W 800 + 8 [fio]\n  8,0 1 1 0.005000000 0 C W 800 + 8 [0]\n"
    for text, name, said in (
        (merged, "blk.txt", "2 lines, none of which is a read or a write that was issued (D) or queued (Q)"),
        ("5, 100, 2, 4096, 0\n6, 100, 2, 4096, 8192\n", "job_lat.1.log", "2 lines, none of which is a read or a write"),
    ):
        with pytest.raises(ScenarioError, match=re.escape(said)):
            traced(tmp_path, text, name)


def test_what_failed_or_contradicts_itself_is_said_once_for_all_jobs(tmp_path: Path) -> None:
    document = result(total_err=3)
    document["jobs"][0]["read"] |= {"short_ios": 7, "runtime": 2000}
    document["jobs"] = [document["jobs"][0] | {"jobname": name, "groupid": at} for at, name in enumerate("abcd")]
    remarks = fio.measurement([written(tmp_path, document)]).remarks
    for told in ("3 requests failed", "7 requests moved fewer bytes", "are not the rate that the file has"):
        [remark] = [one for one in remarks if told in one]
        assert remark.startswith("result.json: 4 jobs (a, b, c …): ")


def test_counts_of_failures_that_are_none_are_refused(tmp_path: Path) -> None:
    for short in ("x", [1]):
        document = result()
        document["jobs"][0]["read"]["short_ios"] = short
        assert "short_ios" in why(written(tmp_path, document))
