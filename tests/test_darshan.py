"""Logs of Darshan, read by its own library: requests become a trace, counters a scenario."""

import contextlib
import json
import random
from pathlib import Path

import pytest

import headrace
from attacks import damaged
from conftest import Run
from headrace import ScenarioError, trace
from headrace.measurement import darshan

library = pytest.importorskip("darshan", reason="Darshan's library is not made for this machine")
EXAMPLES = Path(library.__file__).parent / "examples" / "example_logs"
# What `darshan-parser` and `darshan-dxt-parser` print of it: one process, 6,126 reads and 1,497 writes.
TRACED = EXAMPLES / "dxt.darshan"
# 2,048 processes write 512 GiB, each 64 times 4 MiB into a file of its own, and call fsync once.
WRITERS = EXAMPLES / "sample-badost.darshan"
# 2,048 processes write one file together, nearly all of it by 16,384 writes of 128 MiB.
SHARED = EXAMPLES / "example.darshan"


def test_requests_become_a_trace(tmp_path: Path) -> None:
    found = darshan.trace(TRACED)
    assert found.remarks[0] == "`STDIO` is left out: only POSIX requests are taken"
    assert found.remarks[1].startswith("files lie one after the other: 169 in ")
    assert found.remarks[2] == "10 requests without bytes or place are left out"
    saved = found.save(tmp_path / "trace.csv")
    assert (saved["requests"], saved["closed"]) == (6126 + 1497 - 10, False)
    info = trace.info(tmp_path / "trace.csv")["info"]
    assert info["requests"] == saved["requests"]
    assert info["read_share"] == pytest.approx((6126 - 10) / 7613, abs=1e-4)
    assert int(found.bytes.sum()) == 22_517_726 + 13_021_781
    assert found.took is not None
    # The sum of the counters POSIX_F_READ_TIME and POSIX_F_WRITE_TIME.
    assert found.took.sum() / 1e9 == pytest.approx(0.43135571 + 0.02011347, rel=1e-3)


def test_a_trace_runs_on_another_drive(headrace: Run, tmp_path: Path) -> None:
    made = headrace("import", "darshan", TRACED, "-o", tmp_path / "job.csv")
    assert made.stdout.startswith(f"{tmp_path / 'job.csv'} has 7,613 requests.")
    (tmp_path / "job.yaml").write_text(
        "system: {drive: {type: ssd, device: micron-7450-pro-1920gb}}\n"
        "workload: {job: {to: drive, arrivals: {replay: {trace: job.csv}}}}\n"
    )
    ran = json.loads(headrace("run", tmp_path / "job.yaml", "--json").stdout)
    assert ran["streams"][0]["completed"] == 7613


def test_counters_become_a_scenario() -> None:
    made = darshan.scenario(WRITERS)
    assert made.document["workload"] == {
        "writes": {
            "to": "storage",
            "op": "write",
            "size": "4 MiB",
            "pattern": "sequential",
            "footprint": "512 GiB",
            "flush_every": 64,
            "arrivals": {"closed": {"depth": 2048}},
        }
    }
    assert made.document["run"]["requests"] == 100e9 // (4 << 20) + 1, "as many as 100 GB take"
    assert made.remarks[0] == "writes: 131,072 of 4 MiB on average, by 2,048 processes; each took 523 ms"


def test_a_file_that_all_share_is_of_all_processes() -> None:
    made = darshan.scenario(SHARED)
    writes = made.document["workload"]["writes"]
    assert writes["arrivals"]["closed"]["depth"] == 2048
    # From the first write to the last it is 111 s, of which each of 8 writes took 6.1 s.
    span, took = 115.0781660 - 3.940064, 100397.600422 / 16402
    assert writes["arrivals"]["closed"]["think"] == f"{(span * 2048 / 16402 - took) * 1e3:.6g} ms"
    assert made.document["run"]["requests"] == 2048, "one of each process"
    assert "the data does not fit on a micron-7450-pro-1920gb, so its capacity is 2049 GiB here" in made.remarks
    largest = max(writes["size"]["mix"], key=lambda share: share["weight"])
    assert largest == {"size": "128 MiB", "weight": 16384}


@pytest.mark.parametrize("log", sorted(EXAMPLES.glob("*.darshan")), ids=lambda log: log.name.split("_id")[0])
def test_a_scenario_has_the_requests_and_bytes_of_its_log(log: Path) -> None:
    read = darshan.read(log)
    if not (read.counters["POSIX_READS"] + read.counters["POSIX_WRITES"]).any():
        with pytest.raises(ScenarioError, match="no reads or writes by POSIX"):
            darshan.scenario(log)
        return
    for name, stream in darshan.scenario(log).document["workload"].items():
        sizes = stream["size"]["mix"] if isinstance(stream["size"], dict) else [{"size": stream["size"], "weight": 1}]
        mean = sum(headrace_size(one["size"]) * one["weight"] for one in sizes) / sum(one["weight"] for one in sizes)
        op, moved = ("READ", "READ") if name == "reads" else ("WRITE", "WRITTEN")
        counted = read.counters[f"POSIX_BYTES_{moved}"].sum() / read.counters[f"POSIX_{op}S"].sum()
        # Sizes without a name are within the bounds of their bin, so the mean of few requests can be off.
        assert mean == pytest.approx(counted, rel=0.05), name
        assert len(sizes) < 40


def headrace_size(text: str) -> int:
    return int(headrace._core.quantity("size", text))


def test_damaged_logs_are_refused_or_read(tmp_path: Path) -> None:
    draw, whole = random.Random(1), WRITERS.with_name("ior_hdf5_example.darshan").read_bytes()
    for number in range(3):
        log = tmp_path / f"{number}.darshan"
        log.write_bytes(damaged(whole, draw) if number else whole[:700])
        for made in (darshan.scenario, darshan.trace):
            with contextlib.suppress(ScenarioError):
                made(log)
    with pytest.raises(ScenarioError, match="cannot be read"):
        darshan.read(tmp_path / "0.darshan")


def test_mistakes_are_told(headrace: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for log, to, says in [
        (WRITERS, "x.csv", "the job ran without extended tracing"),
        (EXAMPLES / "noposix.darshan", "x.yaml", "no reads or writes by POSIX"),
        (tmp_path / "none.darshan", "x.yaml", "is not a file"),
        (Path(__file__), "x.yaml", "it is no log of Darshan"),
        (WRITERS, "x.json", "x.json is neither a trace nor a scenario by its name"),
    ]:
        ran = headrace("import", "darshan", log, "-o", tmp_path / to)
        assert ran.returncode == 2
        assert says in ran.stderr
        assert "Traceback" not in ran.stderr
    for device in ("lto-9", "aws-gp3"):
        ran = headrace("import", "darshan", WRITERS, "-o", tmp_path / "x.yaml", "--device", device)
        assert f"`{device}` is a " in ran.stderr
        assert "not a drive" in ran.stderr
        assert "Traceback" not in ran.stderr
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ScenarioError, match=r"pip install 'headrace\[darshan\]'"):
        darshan.read(WRITERS)
