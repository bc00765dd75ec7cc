"""Traces: every format, every compression, replayed open and closed, larger than memory, and real ones from fio."""

import json
import lzma
import os
import random
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from conftest import PATIENCE, Run, real_program, without_scripts
from headrace import Scenario, ScenarioError, trace

Rows = list[dict[str, Any]]

SCENARIO = """\
system: {{store: {{type: station, servers: 1000, service: 1 ms, capacity: {capacity}}}}}
workload: {{host: {{to: store, arrivals: {{replay: {{trace: {file}}}}}}}}}
"""


def scenario(file: Path, capacity: str = "1 GiB", **replay: object) -> Scenario:
    changes = {f"workload.host.arrivals.replay.{name}": value for name, value in replay.items()}
    return Scenario(SCENARIO.format(file=file, capacity=capacity)).with_(changes)


def replayed(folder: Path, of: Scenario) -> polars.DataFrame:
    of.run(requests=folder)
    return polars.read_parquet(folder / "*.parquet").sort("issued_ns")


@pytest.fixture(scope="module")
def rows() -> Rows:
    dice = random.Random(1)
    times = np.cumsum([dice.randrange(1, 10_000_000) * 100 for _ in range(500)])
    return [
        {
            "time_ns": int(time - times[0]),
            "op": dice.choice(["read", "write"]),
            "address": dice.randrange(1 << 20) * 512,
            "bytes": dice.randrange(1, 128) * 512,
            "response_ns": dice.randrange(1, 100_000) * 100,
            "think_ns": dice.randrange(1, 100_000) * 1000,
            "device": "0",
        }
        for time in times
    ]


@pytest.fixture(scope="module")
def mine(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("traces") / "mine.csv"
    trace.write(file, rows)
    return file


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", ".bz2"])
@pytest.mark.parametrize("form", ["headrace", "ascii", "spc", "msr"])
def test_a_trace_survives_every_format_and_compression(
    mine: Path, rows: Rows, tmp_path: Path, form: str, ending: str
) -> None:
    there, back = tmp_path / f"there{ending}", tmp_path / "back.csv"
    assert trace.convert(mine, there, to_format=form) == {"requests": 500, "skipped": 0, "left_out": 0}
    assert (there.read_bytes() == mine.read_bytes()) == (form == "headrace" and not ending)
    trace.convert(there, back)
    told = ["time_ns", "op", "address", "bytes"] + (["response_ns"] if form in {"headrace", "msr"} else [])
    assert polars.read_csv(back).select(told).equals(polars.DataFrame(rows).select(told))


def test_an_open_replay_asks_what_the_trace_asks_when_it_does(mine: Path, rows: Rows, tmp_path: Path) -> None:
    recorded = polars.DataFrame(rows)
    found = replayed(tmp_path / "a", scenario(mine, timing="timestamps"))
    for ours, theirs in {"issued_ns": "time_ns", "op": "op", "address": "address", "bytes": "bytes"}.items():
        assert found[ours].to_list() == recorded[theirs].to_list()
    faster = replayed(tmp_path / "b", scenario(mine, timing="timestamps", speed=4))
    assert (faster["issued_ns"] - recorded["time_ns"] / 4).abs().max() <= 0.5  # type: ignore[operator]
    beside = scenario(mine).with_({"workload.host.size": "8 KiB"}).run()
    assert any("those of the scenario are ignored" in note for note in beside.notes)
    first = replayed(tmp_path / "c", scenario(mine, timing="timestamps", first=20))
    assert first.height == 20


def test_a_closed_replay_thinks_between_answer_and_question(mine: Path, rows: Rows, tmp_path: Path) -> None:
    recorded = polars.DataFrame(rows)
    found = replayed(tmp_path / "a", scenario(mine))
    gaps = (found["issued_ns"][1:] - found["completed_ns"][:-1]).to_list()
    assert gaps == recorded["think_ns"][:-1].to_list()
    # Without think times they are what lies between a completion and the next arrival.
    trace.write(tmp_path / "open.csv", recorded.drop("think_ns"))
    found = replayed(tmp_path / "b", scenario(tmp_path / "open.csv", timing="think"))
    gaps = (found["issued_ns"][1:] - found["completed_ns"][:-1]).to_list()
    between = recorded["time_ns"][1:] - recorded["time_ns"][:-1] - recorded["response_ns"][:-1]
    assert gaps == between.clip(lower_bound=0).to_list()


def test_addresses_that_do_not_fit_are_refused_wrapped_or_scaled(mine: Path, rows: Rows, tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="fit: wrap"):
        scenario(mine, capacity="100 MiB").check()
    recorded, capacity = polars.DataFrame(rows), 100 << 20
    last = capacity - recorded["bytes"]
    wrapped = replayed(tmp_path / "a", scenario(mine, "100 MiB", timing="timestamps", fit="wrap"))
    expected = polars.select(polars.min_horizontal(recorded["address"] % capacity, last)).to_series()
    assert wrapped["address"].to_list() == expected.to_list()
    scaled = replayed(tmp_path / "b", scenario(mine, "100 MiB", timing="timestamps", fit="scale"))
    end = max(row["address"] + row["bytes"] for row in rows)
    drawn_together = [min(row["address"] * capacity // end // 512 * 512, capacity - row["bytes"]) for row in rows]
    assert scaled["address"].to_list() == drawn_together
    results = scenario(mine, "100 MiB", fit="scale").run()
    assert any("trace addresses scaled to fit" in note for note in results.notes)


def test_several_devices_are_told_and_laid_end_to_end(tmp_path: Path) -> None:
    file = tmp_path / "two.spc"
    file.write_text("0,0,512,r,0.5\n1,8,1024,W,0.75\n0,100,512,R,1.5\n")
    with pytest.raises(ScenarioError, match=r'devices: \["0", "1"\]'):
        scenario(file).check()
    with pytest.raises(ScenarioError, match="has no device `2`"):
        scenario(file, devices=["2"]).check()
    one = replayed(tmp_path / "a", scenario(file, devices=["1"]))
    assert one.select("issued_ns", "op", "address", "bytes").rows() == [(250_000_000, "write", 8 * 512, 1024)]
    both = replayed(tmp_path / "b", scenario(file, devices=["1", "0"]))
    assert both["address"].to_list() == [1 << 20, 8 * 512, (1 << 20) + 51_200]


def test_columns_of_a_csv_file_have_names_and_units(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("rw,lba,len,when,extra\nRead,16,2,3.5,x\nwrite,0,1,4.25,y\n")
    columns = {
        "time": {"column": "when", "unit": "1 ms"},
        "op": "rw",
        "address": {"column": "lba", "unit": "512 B"},
        "size": {"column": "len", "unit": "1 KiB"},
    }
    found = replayed(tmp_path / "a", scenario(file, format={"csv": columns}))
    expected = [(0, "read", 8192, 2048), (750_000, "write", 0, 1024)]
    assert found.select("issued_ns", "op", "address", "bytes").rows() == expected
    wrong = columns | {"op": "direction"}
    with pytest.raises(ScenarioError, match=r"no column `direction` .* rw, lba, len, when, extra"):
        scenario(file, format={"csv": wrong}).check()
    with pytest.raises(ScenarioError, match="cannot detect the format"):
        scenario(file).check()


def test_a_trace_takes_the_same_memory_however_long_it_is(tmp_path: Path) -> None:
    def peaks(lines: int) -> tuple[int, int]:
        numbers = np.arange(lines)
        columns = {"time_ns": numbers * 10**6, "op": np.full(lines, "read"), "address": numbers % 1000 * 4096}
        file = tmp_path / f"{lines}.csv"
        trace.write(file, columns | {"bytes": np.full(lines, 4096)})
        (tmp_path / "scenario.yaml").write_text(SCENARIO.format(file=file, capacity="1 GiB"))
        replay = peak_kib(f"headrace.run({str(tmp_path / 'scenario.yaml')!r})")
        return replay, peak_kib(f"headrace.trace.info({str(file)!r})")

    short, long = peaks(20_000), peaks(1_000_000)
    assert long[0] - short[0] < 5_000
    assert long[1] - short[1] < 5_000


def peak_kib(does: str) -> int:
    """Return the most memory that a fresh interpreter holds while it does this."""
    tells = "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    command = [sys.executable, "-c", f"import headrace; {does}; {tells}"]
    return int(subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout)


def test_info_tells_what_a_trace_is_like(headrace: Run, tmp_path: Path) -> None:
    n = 4000
    sequential = np.arange(n) * 4096
    mixed = {"time_ns": np.arange(n) * 10**7, "op": np.where(np.arange(n) % 4 == 0, "write", "read")}
    trace.write(tmp_path / "even.csv", mixed | {"address": sequential, "bytes": np.full(n, 4096)})
    ran = headrace("trace", "info", tmp_path / "even.csv", "--json", "--report", tmp_path / "even.html")
    info = json.loads(ran.stdout)["info"]
    assert info["read_share"] == 0.75
    assert info["places"]["sequential_share"] == pytest.approx(1 - 1 / n)
    assert info["places"]["footprint"] == n * 4096
    assert info["arrivals"]["rate_per_s"] == pytest.approx(100)
    assert info["arrivals"]["interarrival_cv"] == pytest.approx(0, abs=1e-6)
    assert info["responses"] is None
    page = without_scripts(tmp_path / "even.html")
    assert page.count("<svg") == 3
    assert info["places"]["lru"]["hit_ratios"] == [[4096, 0.0, 0.0]]
    assert "100% sequential" in page
    printed = headrace("trace", "info", tmp_path / "even.csv").stdout
    assert "4,000 requests, 75% of them reads, 4 KiB on average" in " ".join(printed.split())


def test_a_report_says_which_cache_would_have_the_reads(headrace: Run, tmp_path: Path) -> None:
    n = 4000
    again = {"op": ["read"] * n, "address": np.arange(n) % 256 * 4096, "bytes": np.full(n, 4096)}
    trace.write(tmp_path / "again.csv", again)
    printed = " ".join(
        headrace("trace", "info", tmp_path / "again.csv", "--report", tmp_path / "a.html").stdout.split()
    )
    assert "an LRU cache of 1 MiB would have 94% of the 4 KiB blocks read" in printed
    assert "4 KiB blocks read that an LRU cache would have 1 MiB 94%" in printed
    page = without_scripts(tmp_path / "a.html")
    assert "4 KiB blocks read that an LRU cache would have" in page


@pytest.mark.parametrize(("sizes", "labels"), [([4608, 7168], ["5 kB", "7 kB"]), ([4096, 65536], ["4 KiB", "64 KiB"])])
def test_an_axis_of_sizes_has_labels_however_short_it_is(
    headrace: Run, tmp_path: Path, sizes: list[int], labels: list[str]
) -> None:
    trace.write(tmp_path / "sizes.csv", {"op": ["read"] * 2, "address": [0, 1 << 20], "bytes": sizes})
    headrace("trace", "info", tmp_path / "sizes.csv", "--report", tmp_path / "sizes.html")
    page = without_scripts(tmp_path / "sizes.html")
    assert [label for label in labels if f">{label}<" not in page] == []


def test_formats_of_the_help_are_those_that_are_read(headrace: Run) -> None:
    help_ = "".join(headrace("trace", "info", "--help").stdout.split())
    refused = " ".join(headrace("trace", "info", "x", "--format", "none").stderr.split())
    formats = re.findall(r"`(\w+)`[,.]", refused.partition("possible are")[2])
    assert len(formats) > 12
    assert [form for form in formats if form not in help_] == []


def test_errors_with_traces_are_told(headrace: Run, mine: Path, tmp_path: Path) -> None:
    def refused(*arguments: object) -> str:
        ran = headrace("trace", *arguments)
        assert ran.returncode == 2, ran.stdout
        assert "Traceback" not in ran.stderr
        return " ".join(ran.stderr.split())

    assert "No such file" in refused("info", tmp_path / "missing")
    assert "did you mean `msr`" in refused("info", mine, "--format", "mrs")
    assert "is not a valid time in 100 ns" in refused("info", mine, "--format", "msr")
    assert "is read-only" in refused("convert", mine, "-o", tmp_path / "x", "--to", "blkparse")
    assert not (tmp_path / "x").exists()
    assert "cannot be written" in refused("convert", mine, "-o", tmp_path / "none" / "x")
    (tmp_path / "packed.csv").write_bytes(lzma.compress(b"0,read,0,4096\n"))
    assert "is packed as xz; unpack it first" in refused("info", tmp_path / "packed.csv")
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08garbage that is no gzip at all")
    assert "cannot read the trace" in refused("info", tmp_path / "cut.gz")
    (tmp_path / "odd.csv").write_text("time_ns,op,address,bytes,response_ns,think_ns,device\n0,read,7,100,,,\n")
    assert "request 1: 7 bytes is not a multiple" in refused(
        "convert", tmp_path / "odd.csv", "-o", tmp_path / "y", "--to", "ascii"
    )


def test_a_trace_of_records_without_bytes_has_no_requests(tmp_path: Path) -> None:
    (tmp_path / "none.oracleGeneral").write_bytes(struct.pack("<IQIq", 7, 10, 0, -1) * 3)
    with pytest.raises(ScenarioError, match="has no requests: its 3 records are neither reads nor writes"):
        scenario(tmp_path / "none.oracleGeneral").run()
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ScenarioError, match="has no requests: it is empty"):
        scenario(tmp_path / "empty.csv").run()


def test_the_logs_of_a_real_fio_are_read(headrace: Run, tmp_path: Path) -> None:
    fio = real_program("fio")
    job = [
        "--name=job",
        "--filename=file",
        "--size=8M",
        "--rw=randrw",
        "--bs=4k",
        "--ioengine=psync",
        "--number_ios=500",
    ]
    logs = ["--write_lat_log=log", "--write_bw_log=log", "--log_offset=1", "--per_job_logs=1"]
    subprocess.run([fio, *job, *logs], cwd=tmp_path, check=True, capture_output=True)
    latencies = trace.info(tmp_path / "log_lat.1.log")
    assert latencies["format"] == "fio_latency"
    assert latencies["info"]["requests"] == 500
    assert latencies["info"]["sizes"]["frequent"] == [[4096, 1.0]]
    assert latencies["info"]["places"]["end"] <= 8 << 20
    assert trace.info(tmp_path / "log_bw.1.log")["format"] == "fio_bandwidth"
    results = scenario(tmp_path / "log_lat.1.log").run()
    assert results.streams["completed"].item() == 500
    compared = results.data["streams"][0]["measured"]
    assert compared
    measured = compared["all"]
    assert measured["measured_mean_ms"] == pytest.approx(latencies["info"]["responses"]["mean_ms"])
    # Without log_offset fio tells no addresses, which is said.
    subprocess.run([fio, *job, "--write_lat_log=bare"], cwd=tmp_path, check=True, capture_output=True)
    assert trace.info(tmp_path / "bare_lat.1.log")["info"]["places"] is None
    with pytest.raises(ScenarioError, match="log_offset=1"):
        scenario(tmp_path / "bare_lat.1.log").check()


HEADER = "time_ns,op,address,bytes,response_ns,think_ns,device\n"


def test_a_request_without_its_time_among_others_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gap.csv"
    file.write_text(HEADER + "0,read,0,512,,,\n,read,0,512,,,\n9,read,0,512,,,\n")
    with pytest.raises(ScenarioError, match="line 3: the request has no timestamp, but earlier requests have one"):
        scenario(file).check()
    results = scenario(file, skip_bad=True).run()
    assert results.streams["completed"].item() == 2


def test_requests_are_put_in_order_and_counted_from_the_earliest(tmp_path: Path) -> None:
    file = tmp_path / "shuffled.csv"
    file.write_text(HEADER + "".join(f"{time},read,{time * 512},512,,,\n" for time in (5000, 1000, 9000, 3000)))
    found = replayed(tmp_path / "log", scenario(file))
    assert found.select("issued_ns", "address").rows() == [(t - 1000, t * 512) for t in (1000, 3000, 5000, 9000)]
    assert any("2 requests of the trace out of order" in note for note in scenario(file).run().notes)


def test_a_trace_that_changes_after_it_was_looked_over_ends_the_run(mine: Path, tmp_path: Path) -> None:
    file = tmp_path / "changing.csv"
    file.write_bytes(mine.read_bytes())
    changed: list[int] = []

    def watch(so_far: int, wanted: int, _queues: list[tuple[str, int]]) -> None:
        if wanted and not changed:
            changed.append(so_far)
            file.write_bytes(mine.read_bytes()[: 1 << 12])

    replay = scenario(file, timing="timestamps")
    beside = {
        "system.clerk": {"type": "station", "service": "1 us"},
        "workload.customers": {"to": "clerk", "arrivals": {"poisson": "900000 /s"}},
        "run.requests": 3_000_000,
        "run.replications": 3,
    }
    results = replay.with_(beside).run(watch=watch, threads=1)
    assert changed
    assert results.data["ended"] == "trace_lost"
    assert not results.complete


def test_what_cannot_be_read_twice_or_written_back_is_refused(mine: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ScenarioError, match="not a regular file"):
        trace.info(tmp_path / "pipe")
    before = mine.read_bytes()
    with pytest.raises(ScenarioError, match="would be overwritten"):
        trace.convert(mine, mine)
    assert mine.read_bytes() == before
    untimed = tmp_path / "untimed.csv"
    trace.write(untimed, {"op": ["read"] * 3, "address": [0, 512, 1024], "bytes": [512] * 3})
    with pytest.raises(ScenarioError, match="requires a timestamp, which the trace does not record"):
        trace.convert(untimed, tmp_path / "out", to_format="spc")
    trace.convert(untimed, tmp_path / "same.csv")
    assert (tmp_path / "same.csv").read_text() == untimed.read_text()


def test_requests_of_ones_own_are_written_as_they_are_or_refused(tmp_path: Path) -> None:
    plain = {"op": "read", "address": 0, "bytes": 512}
    late = [plain] * 200 + [plain | {"time_ns": 7}]
    trace.write(tmp_path / "late.csv", late)
    assert (tmp_path / "late.csv").read_text().splitlines()[-1].startswith("7,read")
    for wrong in ({"time_ns": 1.5}, {"op": "wobble"}, {"device": "usr,0"}, {"bogus": 1}):
        with pytest.raises(ValueError, match=r"whole numbers|neither read nor write|commas|are needed"):
            trace.write(tmp_path / "wrong.csv", [plain | wrong])
    assert not (tmp_path / "wrong.csv").exists()


def test_devices_keep_their_names_from_format_to_format(tmp_path: Path) -> None:
    file = tmp_path / "two.msr"
    file.write_text("100,usr,0,Read,0,512,10\n200,usr,1,Write,512,512,10\n300,web,0,Read,0,512,10\n")
    trace.convert(file, tmp_path / "own.csv")
    trace.convert(tmp_path / "own.csv", tmp_path / "back.msr", to_format="msr")
    names = [device["name"] for device in trace.info(tmp_path / "back.msr")["info"]["devices"]]
    assert names == ["usr:0", "usr:1", "web:0"]
    with pytest.raises(ScenarioError, match="requires numeric device names"):
        trace.convert(file, tmp_path / "out", to_format="ascii")


def test_times_count_from_the_earliest_request_wherever_it_stands(headrace: Run, tmp_path: Path) -> None:
    log = tmp_path / "fio_lat.1.log"
    log.write_text("".join(f"{ms}, 50000, 0, 4096, {ms * 4096}\n" for ms in (95, 10, 21, 109)))
    headrace("trace", "convert", log, "-o", tmp_path / "mine.csv", "--format", "fio_latency")
    converted = [line.split(",") for line in (tmp_path / "mine.csv").read_text().splitlines()[1:]]
    assert sorted(int(line[0]) for line in converted) == [0, 11_000_000, 85_000_000, 99_000_000]
    info = json.loads(headrace("trace", "info", log, "--format", "fio_latency", "--json").stdout)["info"]
    assert info["arrivals"]["span_s"] == pytest.approx(0.099)


def test_a_device_of_a_trace_that_names_none_is_refused_in_words(headrace: Run, mine: Path, tmp_path: Path) -> None:
    scenario, nameless = tmp_path / "s.yaml", tmp_path / "mine.trace"
    trace.convert(mine, nameless, to_format="validate")
    scenario.write_text(
        "system: {spindle: {type: disk, positioning: addressed, device: seagate-st3500630ns}}\n"
        f"workload: {{users: {{to: spindle, arrivals: {{replay: {{trace: {nameless}, devices: ['0']}}}}}}}}\n"
    )
    ran = headrace("check", scenario)
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr
    assert "the trace has no device `0`" in ran.stderr
