"""Reports of `iostat -x` as measurements."""

import json
import random
from pathlib import Path

import pytest

from attacks import damaged
from conftest import Run, written
from headrace import Scenario, ScenarioError
from headrace.measurement import comparison, iostat, load

# What sysstat 12 prints; the numbers are made up.
TEXT = """\
Linux 6.12.0 (archive) 	11/25/26 	_x86_64_	(8 CPU)

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.20    0.00    0.80   10.10    0.00   87.90

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
nvme0n1          2.10     80.00     0.00   0.00    0.20    38.10    5.00     90.00     1.00  16.00    0.10    18.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.00   0.10
sdb             10.00     40.00     0.00   0.00    9.00     4.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.09   9.00

avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           1.00    0.00    0.50   12.00    0.00   86.50

Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util
nvme0n1          0.00      0.00     0.00   0.00    0.00     0.00    0.40     10.00     0.00   0.00    0.10    25.00    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.00   0.00
sdb             40.00   2560.00     0.00   0.00   14.50    64.00   10.00     40.00     0.00   0.00    5.00     4.00    1.00     64.00     0.00   0.00    0.20    64.00    0.00    0.00    0.63  42.00
"""  # noqa: E501

OLD = """\
Device:  rrqm/s   wrqm/s     r/s     w/s    rMB/s    wMB/s avgrq-sz avgqu-sz   await r_await w_await  svctm  %util
sda        0.00     0.00  100.00    0.00     1.00     0.00    20.48     1.50   15.00   15.00    0.00   8.00  80.00
"""


OLDEST = """\
Device:         rrqm/s   wrqm/s     r/s     w/s   rsec/s   wsec/s avgrq-sz avgqu-sz   await  svctm  %util
sda               0.00     0.00   50.00   10.00   800.00   160.00    16.00     0.50    7.50   1.00  40.00
"""


def test_sizes_are_those_of_the_report_where_bytes_round_to_nothing(tmp_path: Path) -> None:
    slow = "Device r/s rMB/s r_await rareq-sz w/s wMB/s w_await wareq-sz f/s aqu-sz %util\n"
    reports = f"{slow}sda 2.00 0.01 8.00 4.00 1.20 0.00 9.00 4.00 90 0.05 3.00\n\n"
    found = iostat.read(written(tmp_path / "iostat.txt", 2 * reports))
    assert [(point["block_bytes"], point["op"]) for point in found.points] == [(4096, "read"), (4096, "write")]
    assert found.points[1]["bandwidth_bytes_per_s"] == 1.2 * 4096
    assert any(remark.startswith("flushes are left out") for remark in found.remarks)
    cut = reports + "Device" + reports.partition("Device")[2][:100]
    with pytest.raises(ScenarioError, match=r"the line of sda has \d of 11 numbers"):
        iostat.read(written(tmp_path / "cut.txt", cut))


def as_json(text: str) -> str:
    """Return the reports of a text as `iostat -o JSON` prints them."""
    statistics = []
    for report in text.split("Device")[1:]:
        heading, *rows = [line.split() for line in report.splitlines() if line.strip()]
        rows = [row for row in rows if len(row) == len(heading) + 1]
        disks = [{"disk_device": name} | dict(zip(heading, map(float, cells), strict=True)) for name, *cells in rows]
        statistics.append({"timestamp": "11/25/2026 10:00:00", "disk": disks})
    return json.dumps({"sysstat": {"hosts": [{"nodename": "archive", "statistics": statistics}]}})


@pytest.mark.parametrize("text", [TEXT, as_json(TEXT)], ids=["text", "JSON"])
def test_each_report_is_a_load_of_its_own_rate(tmp_path: Path, text: str) -> None:
    found = iostat.read(written(tmp_path / "iostat.txt", text))
    reads, writes = found.points
    assert (reads["op"], reads["iops"], reads["block_bytes"], reads["mean_ms"]) == ("read", 40.0, 65536, 14.5)
    assert (writes["op"], writes["iops"], writes["block_bytes"], writes["mean_ms"]) == ("write", 10.0, 4096, 5.0)
    assert reads["read_share"] == writes["read_share"] == 0.8
    assert found.machine == {"iostat": "sdb"}
    assert found.remarks == [
        "the first report, which is since the machine started, is left out",
        "iostat does not say where requests went: they are taken as random",
        "discards are left out, and slowed reads and writes down if they were many",
    ]


def test_older_columns_and_a_single_report_are_read(tmp_path: Path) -> None:
    [point] = iostat.read(written(tmp_path / "old.txt", OLD)).points
    assert (point["iops"], point["block_bytes"], point["mean_ms"], point["iodepth"]) == (100.0, 10240, 15.0, 2)


def test_a_scenario_is_compared_at_the_rates_that_were_measured(tmp_path: Path) -> None:
    """Reads and writes of one server that takes 10 ms: M/D/1 at 50 /s has ρ = .5 and a mean of 15 ms for both."""
    clerk = "{type: station, service: 10 ms}"
    scenario = Scenario(f"system: {{disk: {clerk}}}\nworkload: {{users: {{to: disk, arrivals: {{poisson: 1 /s}}}}}}")
    rows = comparison.compare(scenario, iostat.read(written(tmp_path / "iostat.txt", TEXT)))["rows"]
    assert [(row["op"], row["open"], row["mixed"]) for row in rows] == [("read", True, True), ("write", True, True)]
    assert [row["block_bytes"] for row in rows] == [65536, 4096]
    for row in rows:
        assert row["simulated"]["mean_ms"] == pytest.approx(15, rel=0.05)
        assert row["simulated"]["iops"] == pytest.approx(row["measured"]["iops"], rel=0.05)


def test_a_load_that_the_scenario_cannot_sustain_is_compared_at_its_limit(tmp_path: Path) -> None:
    clerk = "{type: station, service: 50 ms}"
    scenario = Scenario(f"system: {{disk: {clerk}}}\nworkload: {{users: {{to: disk, arrivals: {{poisson: 1 /s}}}}}}")
    [row] = comparison.compare(scenario, iostat.read(written(tmp_path / "old.txt", OLD)), requests=2000)["rows"]
    assert row["simulated"]["iops"] == pytest.approx(20, rel=0.01)


def test_the_command_writes_a_measurement_that_validates(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "iostat.txt").write_text(TEXT)
    (tmp_path / "disk.yaml").write_text(
        "system: {sdb: {type: disk, device: exos-x18}}\nworkload: {users: {to: sdb, arrivals: {poisson: 1 /s}}}\n"
    )
    ran = headrace("import", "iostat", "iostat.txt", "--disk", "sdb", "-o", "m.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "2 points of sdb, measured with iostat: 10 to 40 requests/s." in ran.stdout
    assert load(tmp_path / "m.json").points[0]["arrivals"] == "open"
    validated = headrace("validate", "disk.yaml", "m.json", "--requests", 500, cwd=tmp_path)
    assert validated.returncode == 0, validated.stderr
    assert "open" in validated.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no report of iostat"),
        ("{", "is no report of iostat, or is cut off"),
        ("Device tps kB_read/s\nsda 1.0 2.0\n", "reads and writes as one .*\n.*iostat -x"),
        (OLD.replace("100.00", "100,00"), "`r/s` of sda is 100,00\n.*LC_ALL=C"),
        (OLD.replace("15.00", "1.5k"), "`r_await` of sda is 1.5k, not a number"),
        (OLD.replace("100.00", "  0.10"), "no device read or wrote\n.*--disk: sda"),
        (OLD + OLD.splitlines()[1].replace("sda", "sdb") + "\n", "2 devices read or wrote\n.*--disk: sda, sdb"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        iostat.read(written(tmp_path / "iostat.txt", text))


@pytest.mark.parametrize("text", [TEXT, as_json(TEXT), OLD], ids=["text", "JSON", "old"])
def test_damaged_reports_are_read_or_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "iostat.txt"
    for number in range(200):
        file.write_bytes(damaged(text.encode(), random.Random(number)))
        try:
            points = iostat.read(file, "sdb" if number % 2 else None).points
        except ScenarioError:
            continue
        assert all(point["iops"] >= 1 and point["block_bytes"] >= 512 for point in points)


def test_one_time_of_both_is_that_of_reads_and_of_writes(tmp_path: Path) -> None:
    found = iostat.read(written(tmp_path / "iostat.txt", OLDEST))
    assert [(point["op"], point["mean_ms"], point["block_bytes"]) for point in found.points] == [
        ("read", 7.5, 8192),
        ("write", 7.5, 8192),
    ]
    assert any("there is one report" in one for one in found.remarks)
    assert any("reads and writes together" in one for one in found.remarks)
    for text, told in {
        "Device tps kB/s rqm/s await areq-sz aqu-sz %util\nsda 1 1 0 1 1 0 1\n": "reads and writes as one",
        "     r/s     rkB/s Device\n    1.20     23.1k nvme0n1\n": "run it without -h",
    }.items():
        with pytest.raises(ScenarioError, match=told):
            iostat.read(written(tmp_path / "iostat.txt", text))
