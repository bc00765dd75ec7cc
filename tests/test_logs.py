"""Logs of archives: read, merged, converted, made; whatever a file holds, no traceback."""

import bz2
import csv
import datetime
import json
import os
import random
import threading
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT, Run
from headrace import ScenarioError, _core, load, logs, schema, trace
from headrace.logs import description, replayed, table
from headrace.logs.formats import BY_NAME, named
from headrace.logs.rows import KEYS, Rows
from headrace.logs.synthesise import jobs, share_out

TRANSFERS = """\
005041 97/10/01 00:01:41 js 7700 0.425
001194 97/10/01 00:01:42 js 13166758 20.415
001065 97/10/01 00:05:30 sd 3622088 2.675
"""
COND = """\
005641 00:20:29 00:20:56 2360 103 35 put -d/usr/tmp/001314/001315/001316
005641 00:21:00 00:25:20 2361 103 36 get /a/b
005641 00:22:00 00:22:20 2361 103 37 put /a/c
005641 00:23:00 00:23:01 2362 103 38 ls /a
005642 00:30:00 00:30:05 2363 100 1 put /x
005642 00:31:00 00:31:05 2364 100 2 get /y
005642 00:40:05 00:40:00 2365 100 3 put /z
005642 23:59:58 00:45:00 2366 100 4 get /z
005642 00:50:00 00:50:05 2367 100 5 put /never/heard/of
005642 00:51:00 00:51:05 2368 100 6 put /l LEN failure
"""
STAT = """\
98/05/05 00:20:56.383 2360 File transfer (j-s) 34713600 bytes in 25.115 seconds
98/05/05 00:22:19.500 2361 File transfer (j-s) 500 bytes in 1.250 seconds
98/05/05 00:25:00.000 2361 File staged in 180 seconds
98/05/05 00:25:19.900 2361 File transfer (s-j) 700 bytes in 0.500 seconds
98/05/05 00:30:01.000 2363 File failure (i-s) 1307 bytes in 0.731 seconds -192 (Ftp 1000)
98/05/05 00:30:04.000 2363 File transfer (i-s) 1307 bytes in 0.900 seconds
98/05/05 00:31:04.000 2364 File failure (s-i) 9 bytes in 0.731 seconds -192 (Ftp 1000)
98/05/05 00:40:00.000 2365 File transfer (i-s) 0 bytes in 0.800 seconds
98/05/05 00:45:00.000 2366 File transfer (s-i) 34713600 bytes in 9.000 seconds
98/05/05 09:00:00.000 4711 File transfer (s-i) 5 bytes in 9.000 seconds
"""
BILLING = """\
03.01 12:00:01 [door:NFS-host:request] ["u":1:1:1.2.3.4] [0000A1,0] [/f] a:b@osm 12 0 {0:""}
03.01 12:00:05 [pool:p1:transfer] [0000A1,4096] [/f] a:b@osm 4096 250 true {NFS4,node1:99} [door:x] {0:""}
2024-03-01 12:00:09 [pool:p1@d:store] [0000A1,4096] [/f] a:b@osm 3000 500 {0:""}
03.01 12:01:05 [pool:p2:restore] [0000A2,5000] a:b@osm 61000 2000 {0:""}
03.01 12:01:06 [pool:p2:transfer] [0000A2,5000] [/g h] a:b@osm 4000 125 false {GFtp-2.0 node2 0} [door:y] {10:"gone"}
03.01 12:02:06 [pool:p2:remove] [0000A2,5000] [Unknown] a:b@osm {0:"purged"}
"""
CTA = """\
{"epoch_time":1700000000.25,"hostname":"t1","message":"Tape session started for read","tapeVid":"V1"}
{"epoch_time":1700000100.5,"message":"File successfully read from tape","fileId":"4711","fSeq":12,"tapeVid":"V1",\
"mountId":"42","vo":"cms","positionTime":20.5,"readWriteTime":9.5,"totalTime":31.0,"dataVolume":3000000000,"status":"success"}
{"epoch_time":1700000462.25,"message":"Tape session finished","tapeDrive":"D1","tapeVid":"V1","mountId":"42",\
"vo":"cms","mountTime":"24.5","positionTime":81.2,"readWriteTime":310.0,"totalTime":460.0,"drainingTime":2.0,"dataVolume":9,\
"status":"success"}
{"epoch_time":1700000560.25,"message":"Tape session finished","tapeDrive":"D1","tapeVid":null,"status":"failure"}
"""
ENSTORE = """\
11:24:15 n1 002492 ann I ENCP  MSG_TYPE=ENCP_XFER  read_from_hsm /pnfs/f -> /dev/null: 10485760 bytes copied from \
ST1 at 4 MB/S (5.85 MB/S network) (5.6 MB/S drive) mover=r.mover drive_id=M2 elapsed=49.375 {'driver' : 'FTTDriver'}
11:24:16 n1 002492 root I LOGS  restarted
11:25:15 n1 002492 ann I ENCP  MSG_TYPE=ENCP_XFER  write_to_hsm /data/a b -> /pnfs/g: 5 bytes copied to ST2 at \
1e-05 MB/S mover=r.mover elapsed=20 {}
"""
INVENTORY = """\
bfid,location_cookie,size,crc,pnfs_path
CDMS1,0000_000000000_0000001,3310025131,1298289360,/pnfs/a
CDMS2,0000_000000000_0000002,7,,/pnfs/b,c
"""


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def at(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text)


def test_the_examples_of_the_paper_are_read(tmp_path: Path) -> None:
    log = logs.read([written(tmp_path, "nft", TRANSFERS)])
    assert log.formats == {str(tmp_path / "nft"): "transfers"}
    assert log.table.schema == pl.Schema({name: kind for name, (kind, _, _) in logs.COLUMNS.items()})
    rows = log.table.select("time", "op", "user", "host", "bytes", "seconds", "line").rows()
    assert rows == [
        (at("1997-10-01 00:01:21.585"), "put", "001194", "j", 13166758, 20.415, 2),
        (at("1997-10-01 00:01:40.575"), "put", "005041", "j", 7700, 0.425, 1),
        (at("1997-10-01 00:05:27.325"), "get", "001065", "d", 3622088, 2.675, 3),
    ]


@pytest.mark.parametrize("name", list(BY_NAME))
def test_the_example_in_a_formats_help_is_a_line_of_it(name: str, tmp_path: Path) -> None:
    log = logs.read([written(tmp_path, "x.20240301", f"{BY_NAME[name].example}\n")])
    assert list(log.formats.values()) == [name]
    assert log.table.height == 1


def test_cond_and_stat_are_merged_by_the_papers_rules_each_with_its_count(tmp_path: Path) -> None:
    log = logs.read([written(tmp_path, "cond.980505", COND), written(tmp_path, "stat.980505", STAT)])
    rows = log.table.select("op", "user", "bytes", "stage_s", "total_s", "file").rows()
    assert rows == [
        ("put", "005641", 34713600, None, 27.0, "f0000001"),
        ("put", "005641", 500, None, 20.0, "f0000003"),
        ("get", "005641", 700, 180.0, 260.0, "t0000002"),
        ("put", "005642", 1307, None, 5.0, "f0000004"),
        ("put", "005642", 1, None, None, "f0000005"),  # Its clock ran backwards, and it has no bytes.
        ("get", "005642", 34713600, None, 2702.0, "p34713600"),  # Asked for before midnight, before the put.
    ]
    assert log.rules == {
        "jobs in COND": 10,
        "jobs other than put and get: dropped": 1,
        "jobs whose persona is not unique that day: told apart by their times": 2,
        "jobs without a line in STAT: dropped": 1,
        "lines of STAT without a job: dropped": 1,
        "failures with a successful retry: kept": 1,
        "failures without one: dropped": 1,
        "LEN failures: dropped": 1,
        "impossible times (completion before the request): total time left empty": 1,
        "size 0: taken as 1 byte": 1,
        "puts: a new file each": 4,
        "staged gets: a new file each, on tape": 1,
        "other gets: the latest put of the same size": 0,
        "other gets: a file that was there before": 1,
    }


def test_billing_lines_are_read(tmp_path: Path) -> None:
    table = logs.read([written(tmp_path, "billing-2024.03.01", BILLING)]).table.sort("line")
    rows = table.select("op", "host", "file", "bytes", "seconds", "stage_s", "outcome").rows()
    assert rows == [
        (None, None, None, None, None, None, "other"),
        ("put", "node1", "0000A1", 4096, 0.25, None, "done"),
        ("migrate", None, "0000A1", 4096, 3.0, None, "done"),
        ("stage", None, "0000A2", 5000, 61.0, 61.0, "done"),
        ("get", "node2", "0000A2", 4000, 0.125, None, "failed"),
        ("purge", None, "0000A2", 5000, None, None, "done"),
    ]
    assert table["time"][1] == at("2024-03-01 12:00:04.750")


def test_a_csv_with_named_columns_and_units_is_read(tmp_path: Path) -> None:
    text = 'when;kib;ms;what;who\n2024-03-01T12:00:05Z;2;1500;READ;"a;b"\n1709294406;0.5;;write;\n'
    wanted = {"time": "when", "bytes": "kib:KiB", "seconds": "ms:ms", "op": "what", "user": "who"}
    log = logs.read([written(tmp_path, "x.csv", text)], columns=wanted)
    assert log.table.select("time", "op", "user", "bytes", "seconds").rows() == [
        (at("2024-03-01 12:00:05"), "get", "a;b", 2048, 1.5),
        (at("2024-03-01 12:00:06"), "put", None, 512, None),
    ]


def test_cells_are_read_in_the_forms_that_programs_write(tmp_path: Path) -> None:
    said = {
        "2024-03-01 12:00": "2024-03-01 12:00:00",
        "01.03.2024 12:00:05": "2024-03-01 12:00:05",
        "[01/Mar/2024:12:00:05 +0100]": "2024-03-01 11:00:05",
        '"2024-03-01 12:00:05,250"': "2024-03-01 12:00:05.250",
        "Fri Mar  1 12:00:05 2024": "2024-03-01 12:00:05",
        '"Fri, 01 Mar 2024 12:00:05 GMT"': "2024-03-01 12:00:05",
        "20240301120005": "2024-03-01 12:00:05",
        "2024-03-01 12:00:05 UTC": "2024-03-01 12:00:05",
    }
    rows = "".join(f"{when}|1.5 MiB|0:01:35.5\n" for when in said)
    columns = {"time": "when", "bytes": "size", "seconds": "took"}
    log = logs.read([written(tmp_path, "x.csv", "when | size | took\n" + rows)], columns=columns)
    table = log.table.sort("line")
    assert table["time"].to_list() == [at(time) for time in said.values()]
    assert table["bytes"].to_list() == [1572864] * len(said)
    assert table["seconds"].to_list() == [95.5] * len(said)


@pytest.mark.parametrize(
    ("text", "seconds"),
    {
        **{"90": 0.09, "1.5 s": 1.5, "250ms": 0.25, "2 min": 120, "01:35": 95, "1-02:00:00": 93600},
        **{"1 day, 0:00:01": 86401, "1,5": 0.0015, "1,5 s": 1.5, "soon": None, "1:2:3:4": None, "1.5 MB": None},
    }.items(),
)
def test_durations_have_units_or_are_on_a_clock(tmp_path: Path, text: str, seconds: float | None) -> None:
    file = written(tmp_path, "x.csv", f"t;took\n5;{text}\n6;1\n")
    log = logs.read([file], columns={"time": "t", "seconds": "took:ms"}, skip_bad=True)
    found = log.table.filter(pl.col("line") == 2)["seconds"].to_list()
    assert found == ([] if seconds is None else [pytest.approx(seconds)])


def test_dates_of_two_meanings_are_refused_until_their_form_is_said(headrace: Run, tmp_path: Path) -> None:
    file = written(tmp_path, "x.csv", "when,size\n04/03/2024 12:00:05,10\n")
    refused = headrace("logs", "analyse", file, "--columns", "time=when,bytes=size")
    assert refused.returncode == 2
    assert "time=NAME:%d/%m/%Y %H:%M:%S" in refused.stderr
    for form, day in (("%d/%m/%Y %H:%M:%S", "2024-03-04"), ("%m/%d/%Y %H:%M:%S", "2024-04-03")):
        log = logs.read([file], columns={"time": f"when:{form}", "bytes": "size"})
        assert log.table["time"].to_list() == [at(f"{day} 12:00:05")]
    with pytest.raises(ScenarioError, match="no time"):
        logs.read([file], columns={"time": "when:%H:%M:%S", "bytes": "size"})


def test_operations_have_a_request_and_an_end(tmp_path: Path) -> None:
    text = "asked,from,to,b,what\n0,10,25,5,recall\n1,2,2,6,get\n"
    columns = {"requested": "asked", "time": "from", "end": "to", "bytes": "b", "op": "what"}
    table = logs.read([written(tmp_path, "x.csv", text)], columns=columns).table.sort("line")
    assert table.select("op", "seconds", "stage_s", "total_s").rows() == [("stage", 15, 15, 25), ("get", 0, None, 1)]
    ended = {"end": "to", "seconds": "from:ms", "bytes": "b"}
    table = logs.read([tmp_path / "x.csv"], columns=ended).table.sort("line")
    assert table["time"].to_list() == [at("1970-01-01 00:00:24.990"), at("1970-01-01 00:00:01.998")]
    backwards = written(tmp_path, "y.csv", "from,to,b\n10,9,5\n")
    with pytest.raises(ScenarioError, match="ends before it begins"):
        logs.read([backwards], columns={"time": "from", "end": "to", "bytes": "b"})


def test_recalls_alone_make_a_scenario(headrace: Run, tmp_path: Path) -> None:
    """Without times of the tape, what a load and drives take is assumed; with them, both are found."""
    dice = random.Random(1)
    sizes = [int(10 ** dice.uniform(8, 10)) for _ in range(400)]
    rows = [f"{200 * at},recall,{size},{70 + size / 250e6 + dice.expovariate(0.1)}" for at, size in enumerate(sizes)]
    written(tmp_path, "log.csv", "\n".join(["t,op,b,s", *rows, ""]))
    # The mean of what recalls hold a drive for beyond their transfer, and what is assumed.
    for field, load_s, rate in (("seconds", 80, 250e6), ("total_s", 60, 300e6)):
        columns = f"time=t,op=op,bytes=b,{field}=s"
        made = headrace("logs", "convert", "log.csv", "-o", "out.yaml", "--columns", columns, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        tapes = yaml.safe_load((tmp_path / "out.yaml").read_text())["system"]["tapes"]
        load = tapes["load"]["lognormal"]["mean"] if field == "seconds" else tapes["load"]
        assert _core.quantity("time", load) / 1e9 == pytest.approx(load_s, rel=0.05)
        assert _core.quantity("data rate", tapes["drive_rate"]) == pytest.approx(rate, rel=0.05)
        # Files without names, each on tape: none finds what one of its size has brought.
        results = json.loads(headrace("run", "out.yaml", "--json", cwd=tmp_path).stdout)
        assert results["streams"][0]["operations"]["recall"]["count"] == 400
    said = headrace("logs", "analyse", "log.csv", "--columns", columns, cwd=tmp_path).stdout
    assert said.startswith("400 operations, from request to completion: mean ")


def test_the_help_of_columns_names_all_fields(headrace: Run) -> None:
    text = " ".join(headrace("logs", "convert", "--help", columns=200).stdout.replace("│", " ").split())
    assert f"Fields are {', '.join(named.FIELDS)};" in text


def test_words_of_where_a_file_lay_are_known_or_refused(tmp_path: Path) -> None:
    """A word that is not known would be taken for disk."""

    def staged(*words: str) -> list[bool | None]:
        rows = [f"{at},5,{word}" for at, word in enumerate(words)]
        file = written(tmp_path, "log.csv", "\n".join(["t,b,s", *rows, ""]))
        return list(logs.read([file], columns={"time": "t", "bytes": "b", "staged": "s"}).table["staged"])

    assert staged("1", "Y", "tape", "MISS", "true") == [True] * 5
    assert staged("0", "n", "DISK", "hit", "False") == [False] * 5
    assert staged("", "-", "NULL", "NA") == [None] * 4
    with pytest.raises(ScenarioError, match=r"neither on tape nor on disk \(staged\)"):
        staged("1", "vault")


def test_a_failed_line_needs_no_size_and_a_size_no_part_of_a_byte(tmp_path: Path) -> None:
    def read(text: str, unit: str = "") -> list[int | None]:
        columns = {"time": "t", "bytes": f"b{unit}", "outcome": "o"}
        return list(logs.read([written(tmp_path, "log.csv", text)], columns=columns).table["bytes"])

    assert read("t,b,o\n1,-,FAILED\n2,NULL,error\n3,7,ok\n4,8.0,ok\n") == [None, None, 7, 8]
    assert read("t,b,o\n1,1.5,ok\n", ":MB") == [1_500_000]
    assert read("t;b;o\n1;1048576.0;ok\n") == [1_048_576]
    for text in ("t,b,o\n1,-,ok\n", "t,b,o\n1,x,failed\n"):
        with pytest.raises(ScenarioError, match="no size"):
            read(text)
    for text in ("t,b,o\n1,1500.25,ok\n", "t;b;o\n1;500.000;ok\n", "t;b;o\n1;1,5;ok\n"):
        with pytest.raises(ScenarioError, match="a part of a byte"):
            read(text)


def test_what_a_queue_held_back_was_asked_for_before(tmp_path: Path) -> None:
    """dCache's restores wait for a drive, and the log says how long."""
    log = logs.read([written(tmp_path, "billing-2024.03.01", BILLING)])
    [restore] = log.table.filter(pl.col("op") == "stage").select("time", "requested", "total_s").rows()
    assert restore == (at("2024-03-01 12:00:04.000"), at("2024-03-01 12:00:02.000"), 63.0)


def test_an_end_says_what_an_operation_took_from_its_time(tmp_path: Path) -> None:
    """Of which `seconds` may be a part: a transfer after the tape."""
    file = written(tmp_path, "log.csv", "asked,ended,moving,b\n0,100,5,7\n")
    columns = {"time": "asked", "end": "ended", "seconds": "moving", "bytes": "b"}
    assert logs.read([file], columns=columns).table.select("seconds", "total_s").row(0) == (5.0, 100.0)


def test_own_operations_are_read_back_as_they_are(tmp_path: Path) -> None:
    rows = "0,session,,,C1,1,,,90\n5,get,u,h,f,7,0,2.5,\n9,cancel,u,h,f,1,,,\n"
    csv_of = written(tmp_path, "own.csv", "time_s,op,user,host,file,bytes,staged,measured_s,drive_s\n" + rows)
    log = logs.read([csv_of])
    assert log.table["seconds"].to_list() == [90.0, 2.5, None]
    logs.convert(log, tmp_path / "again.csv")
    again = pl.read_csv(tmp_path / "again.csv")
    assert again["op"].to_list() == ["get", "cancel"]


def test_outcomes_are_known_words_or_codes(tmp_path: Path) -> None:
    said = ["done", "COMPLETED", "200", "0", "", "error", "404", "Aborted"]
    rows = "".join(f"{at},f{at},1000,1,{word}\n" for at, word in enumerate(said))
    named = {"time": "t", "file": "f", "bytes": "b", "seconds": "s", "outcome": "o"}
    found = logs.read([written(tmp_path, "a.csv", "t,f,b,s,o\n" + rows)], columns=named).table
    assert found["outcome"].to_list() == ["done"] * 5 + ["failed"] * 3
    with pytest.raises(ScenarioError, match="unknown outcome"):
        logs.read([written(tmp_path, "b.csv", "t,f,b,s,o\n0,f,1000,1,perhaps\n")], columns=named)


def test_what_was_written_twice_is_noted(tmp_path: Path) -> None:
    rows = [f"{at},f{at},1000,1\n" for at in range(20)]
    named = {"time": "t", "file": "f", "bytes": "b", "seconds": "s"}
    once = written(tmp_path, "once.csv", "t,f,b,s\n" + "".join(rows))
    twice = written(tmp_path, "twice.csv", "t,f,b,s\n" + "".join(row * 2 for row in rows))
    copy = written(tmp_path, "copy.csv", once.read_text())
    assert logs.read([once], columns=named).odd == []
    assert [(odd.what, odd.count) for odd in logs.read([twice], columns=named).odd] == [
        ("the same as the line above", 20)
    ]
    [odd] = logs.read([once, copy], columns=named).odd
    assert (odd.what, odd.count) == ("the same as another log", 20)


def test_a_table_is_read_back(tmp_path: Path) -> None:
    rows = "".join(f"{at * 7},{'put' if at % 3 else 'get'},f{at},{1000 + at},1\n" for at in range(50))
    named = {"time": "t", "op": "op", "file": "f", "bytes": "b", "seconds": "s"}
    log = logs.read([written(tmp_path, "once.csv", "t,op,f,b,s\n" + rows)], columns=named)
    logs.convert(log, tmp_path / "once.parquet")
    again = logs.read([tmp_path / "once.parquet"])
    assert again.table.drop("log").equals(log.table.drop("log"))
    assert logs.analyse(again)["transfers"] == logs.analyse(log)["transfers"]
    whole = (tmp_path / "once.parquet").read_bytes()
    for damaged in (whole[:-20], whole[:40] + bytes(len(whole) // 3) + whole[40 + len(whole) // 3 :]):
        (tmp_path / "damaged.parquet").write_bytes(damaged)
        with pytest.raises(ScenarioError, match="is no whole Parquet file"):
            logs.read([tmp_path / "damaged.parquet"])


def test_sessions_and_files_of_cta_are_read(tmp_path: Path) -> None:
    log = logs.read([written(tmp_path, "taped.json", CTA)])
    assert list(log.formats.values()) == ["cta"]
    table = log.table.sort("line")
    assert table.select("op", "user", "host", "job", "file", "bytes", "outcome").rows() == [
        (None, None, None, None, None, None, "other"),
        ("stage", "cms", None, "42", "4711", 3_000_000_000, "done"),
        ("session", "cms", "D1", "42", "V1", 9, "done"),
        ("session", None, "D1", None, None, None, "failed"),
    ]
    assert table.select("cartridge", "position", "seconds", "mount_s", "position_s", "transfer_s").rows()[1:3] == [
        ("V1", 12, None, None, 20.5, 9.5),
        ("V1", None, 460.0, 24.5, 81.2, 310.0),
    ]
    assert table["time"][2] == at("2023-11-14 22:13:20.250")  # The drive was free 2 s before the line.
    taken = {one["what"]: one["mean_s"] for one in logs.analyse(log)["durations"]}
    assert (taken["mount"], taken["session"], taken["staging"]) == (24.5, 460.0, 31.0)
    assert taken["position"] == 81.2  # That of the file is part of it.
    told = logs.convert(log, tmp_path / "replayed.csv")
    assert (told["rows"], told["left_out"]["session of a cartridge: files are replayed"]) == (1, 1)
    assert told["locations"][replayed.UNASKED] == 1
    assert pl.read_csv(tmp_path / "replayed.csv")["measured_s"].null_count() == 1, "users waited for longer"
    prefixed = "".join(f"Nov 14 22:13:20 tpsrv01 cta-taped[7]: {line}" for line in CTA.splitlines(keepends=True))
    by_syslog = logs.read([written(tmp_path, "syslog", prefixed)])
    assert by_syslog.table.sort("line").drop("log").equals(table.drop("log"))
    alone = "".join(line for line in CTA.splitlines(keepends=True) if "File successfully" not in line)
    told = logs.convert(logs.read([written(tmp_path, "taped.json", alone)]), tmp_path / "replayed.csv")
    assert (told["rows"], told["left_out"]["session of a cartridge: files are replayed"]) == (1, 0)


def test_transfers_of_enstore_are_read(tmp_path: Path) -> None:
    log = logs.read([written(tmp_path, "LOG-2002-08-27", ENSTORE)])
    assert list(log.formats.values()) == ["enstore"]
    table = log.table.sort("line")
    assert table.select("op", "user", "file", "bytes", "total_s", "staged", "cartridge", "outcome").rows() == [
        ("get", "ann", "/pnfs/f", 10485760, 49.375, True, "ST1", "done"),
        (None, "root", None, None, None, None, None, "other"),
        ("put", "ann", "/pnfs/g", 5, 20.0, None, "ST2", "done"),
    ]
    assert table["requested"][0] == at("2002-08-27 11:23:25.625")
    # The transfer is what comes last, and before it the drive is waited for.
    assert table["time"][0] == at("2002-08-27 11:24:12.500")
    assert (table["seconds"][0], table["stage_s"][0]) == (2.5, 46.875)
    assert table["drive"][0] == "r.mover"
    # Without a rate, it is not known when data moved.
    unknown = logs.read([written(tmp_path, "LOG-2002-08-28", ENSTORE.replace("at 4 MB/S", "at 0 MB/S"))]).table.sort(
        "line"
    )
    assert unknown.select("seconds", "stage_s", "total_s").row(0) == (None, None, 49.375)


def test_an_inventory_has_positions_and_sizes_and_no_operations(tmp_path: Path) -> None:
    log = logs.read([written(tmp_path, "VR3025M8.csv", INVENTORY)])
    stored = log.table.filter(pl.col("op") == "stored")
    assert stored.select("cartridge", "position", "file", "bytes").rows() == [
        ("VR3025M8", 1, "/pnfs/a", 3310025131),
        ("VR3025M8", 2, "/pnfs/b,c", 7),
    ]
    assert logs.convert(log, tmp_path / "x.csv")["rows"] == 0
    assert logs.analyse(log)["transfers"] is None


def test_files_lie_where_an_inventory_has_them(headrace: Run, tmp_path: Path) -> None:
    lines = "CD1,0000_000000000_{number},{size},1,{file}\n"
    inventory = "bfid,location_cookie,size,crc,pnfs_path\n"
    of = {"V1": [(11, 500, "/x"), (12, 7, "/y")], "ST1": [(2, 9, "/pnfs/f"), (1, 30, "/pnfs/e")]}
    for tape, files in of.items():
        text = "".join(lines.format(number=number, size=size, file=file) for number, size, file in files)
        written(tmp_path, f"{tape}.csv", inventory + text)
    written(tmp_path, "taped.json", CTA)
    written(tmp_path, "LOG-2002-08-27", ENSTORE)
    for log, place in (("taped.json", "V1,500"), ("LOG-2002-08-27", "ST1,30")):
        ran = headrace("logs", "convert", log, "V1.csv", "ST1.csv", "-o", f"{log}.ops.csv", cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
        header, *rows = (tmp_path / f"{log}.ops.csv").read_text().splitlines()
        assert header.endswith(",cartridge,position_bytes")
        assert [row.endswith(place) for row in rows].count(True) == 1, rows
        assert all(row.endswith((place, ",,")) for row in rows), rows


def test_cells_in_quotes_and_without_are_read_in_the_order_of_lines(tmp_path: Path) -> None:
    text = 'time,size,file\n1,5,a\n2,6,"b,""c"""\n3,7,d,e\n4,8,f\n"5",9,g\n6,1\n'
    wanted = {"time": "time", "bytes": "size", "file": "file"}
    log = logs.read([written(tmp_path, "x.csv", text)], columns=wanted, skip_bad=True)
    assert log.table.select("line", "bytes", "file").rows() == [(2, 5, "a"), (3, 6, 'b,"c"'), (5, 8, "f"), (6, 9, "g")]
    assert log.skipped == {"not a line of this format": 2}


@given(st.lists(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5)), max_size=30), max_size=6))
@settings(max_examples=60, deadline=None)
def test_rows_in_order_are_those_of_a_stable_sort(parts: list[list[tuple[int, int]]]) -> None:
    rows, begin = Rows(), datetime.datetime(2024, 1, 1)
    frames = [
        table.tidy(pl.DataFrame({
            "time": [begin + datetime.timedelta(seconds=one) for one, _ in part],
            "requested": [begin + datetime.timedelta(seconds=one - before) for one, before in part],
            "bytes": [100 * at + number for number in range(len(part))],
        }, schema={"time": pl.Datetime("us"), "requested": pl.Datetime("us"), "bytes": pl.Int64}))
        for at, part in enumerate(parts)
    ]  # fmt: skip
    for frame in frames:
        rows.add(frame)
    whole = pl.concat([table.empty(), *frames])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("headrace.logs.rows.BATCH", 2048)
        patch.setattr("headrace.logs.rows.SAMPLED", 2)
        for key in ("time", "asked"):
            batches = list(rows.in_order(key, ["bytes"]))
            expected = whole.sort(KEYS[key], "time", maintain_order=True)["bytes"].to_list()
            assert [one for batch in batches for one in batch["bytes"]] == expected
    assert rows.scan().collect().height == rows.height == whole.height


def test_the_rows_of_a_log_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    log = logs.read([written(tmp_path, "nft", TRANSFERS)])
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    logs.convert(log, tmp_path / "x.parquet")
    del log
    assert list((tmp_path / "temporary").iterdir()) == []


HISTOGRAM = "bin,count,least,same\n0,10,0,5\n1,30,1,5\n2,0,1024,5\n3,60,1048576,5\n"


def measured(folder: Path, histogram: str = "{file: sizes.csv, from: least}") -> Path:
    """Write a description whose puts have sizes of a histogram."""
    text = (ROOT / "examples" / "logs" / "department.yaml").read_text()
    assert "text: {median: 30 kB, ln_sd: 1.5}" in text
    (folder / "sizes.csv").write_text(HISTOGRAM)
    text = text.replace("text: {median: 30 kB, ln_sd: 1.5}", f"text: {{histogram: {histogram}}}")
    return written(
        folder,
        "mine.yaml",
        text.replace(
            "files: 3000, session: 20, sizes: {text: 0.7, data: 0.3}", "files: 30000, session: 20, sizes: {text: 1}"
        ),
    )


@pytest.mark.parametrize("between", [0, 0.5])
def test_sizes_of_a_histogram_have_its_shares(tmp_path: Path, between: float) -> None:
    file = measured(tmp_path)
    file.write_text(file.read_text() + f"between: {between}\n")
    puts = logs.operations(file).filter(pl.col("op") == "put")["bytes"]
    share = [
        puts.is_between(low, high, closed="left").mean()
        for low, high in ((1, 2), (2, 1024), (1024, 2**20), (2**20, 2**21 + 1))
    ]
    # Bins 0 and 1 both have files of 1 B: ln(size) is uniform from 1 B to 1 KiB, so those that round to 1 are 6 %.
    assert share == pytest.approx([0.1 + 0.3 * 0.0585, 0.3 * 0.9415, 0, 0.6], abs=0.02 if not between else 0.06)


@pytest.mark.parametrize(
    ("histogram", "said"),
    [
        ("{file: absent.csv}", "absent.csv is no histogram: No such file"),
        ("{file: sizes.csv}", "has no column 'from'; it has bin, count, least, same"),
        ("{file: sizes.csv, from: same}", "bins must begin at different sizes"),
        ("{file: mine.yaml, from: least}", "has no column"),
        ("{file: 7}", "not a text"),
        ("7", "not a mapping of fields"),
    ],
)
def test_a_histogram_with_a_mistake_is_refused_with_its_place(tmp_path: Path, histogram: str, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        logs.operations(measured(tmp_path, histogram))
    assert said in str(refused.value)
    assert "sizes.text.histogram" in str(refused.value)


def test_compressed_logs_are_read(tmp_path: Path) -> None:
    (tmp_path / "nft.bz2").write_bytes(bz2.compress(TRANSFERS.encode()))
    assert logs.read([tmp_path / "nft.bz2"]).table.height == 3


@pytest.mark.parametrize("how", [bytes, bz2.compress])
def test_a_log_may_come_through_a_pipe(tmp_path: Path, how: Callable[[bytes], bytes]) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(how(TRANSFERS.encode())))
    writer.start()
    log = logs.read([tmp_path / "pipe"])
    writer.join()
    assert log.table.height == 3


def test_bad_lines_are_told_with_file_line_reason_and_what_would_do(headrace: Run, tmp_path: Path) -> None:
    bad = TRANSFERS + "x\n001194 97/13/01 00:01:42 js 5 1.0\n001194 97/10/01 00:01:42 jd 5 1.0\n"
    written(tmp_path, "nft", bad + "001194 97/10/01 00:01:42 js 99999999999999999999 1.0\n")
    ran = headrace("logs", "convert", "nft", "-o", "x.parquet", cwd=tmp_path)
    assert ran.returncode == 2
    assert "error: nft, line 4: not a line of this format\n  x" in ran.stderr
    assert "error: nft, line 5: no date" in ran.stderr
    assert "help: a date is YY/MM/DD" in ran.stderr
    assert "error: nft, line 6: storage is at neither end" in ran.stderr
    assert "error: nft, line 7: no size" in ran.stderr
    assert "4 bad lines" in ran.stderr
    assert "`--skip-bad` passes over such lines and counts them" in ran.stderr
    told = headrace("logs", "convert", "nft", "-o", "x.parquet", "--skip-bad", "--json", cwd=tmp_path)
    assert json.loads(told.stdout)["rows"] == 3
    assert set(json.loads(told.stdout)["skipped"].values()) == {1}
    problems = json.loads(headrace("logs", "convert", "nft", "-o", "x.parquet", "--json", cwd=tmp_path).stdout)
    assert [problem["line"] for problem in problems["problems"]] == [4, 5, 6, 7]


def test_what_is_odd_is_counted_and_kept(tmp_path: Path) -> None:
    text = TRANSFERS + "001 97/10/01 00:05:20 js 0 1.0\n001 97/10/01 00:06:00 js 5000000000 100.0\n"
    log = logs.read([written(tmp_path, "nft", text)])
    assert [(odd.what, odd.count, odd.first) for odd in log.odd] == [
        ("the clock runs backwards", 1, "nft, line 4"),
        ("size 0", 1, "nft, line 4"),
        ("file over the maximum", 1, "nft, line 5"),
    ]
    assert "by up to 10.000 s" in log.odd[0].note
    assert log.table.height == 5
    assert [odd.what for odd in logs.read([tmp_path / "nft"], largest=10**7).odd][2:] == ["file over the maximum"]


@pytest.mark.parametrize(
    ("content", "arguments", "said"),
    [
        (b"", [], "is empty"),
        (b"# only a comment\n", [], "is empty"),
        (b"hello\n", [], "is in no format known here: it begins `hello`"),
        (b"\x1f\x8bbroken", [], "cannot be"),
        (b"BZh9broken", [], "cannot be"),
        (b"\x28\xb5\x2f\xfd", [], "zstd"),
        (b"\x00" * (9 << 20), [], "a line has more than 1 MiB"),
        (b"a,b\n1,2\n", ["--columns", "time=c"], "has no column `c`"),
        (b"a,b\n1,2\n", ["--columns", "when=a"], "unknown field `when`"),
        (b"a,b\n1,2\n", ["--columns", "bytes=b"], "no column for `time`"),
        (b"a,b\n1,2\n", ["--columns", "time=a,bytes=b:parsec"], "bytes:"),
        (b"a,b\n1,2\n", ["--columns", "time"], "is not FIELD=COLUMN"),
        (b"a,size_mb\n1,2\n", ["--columns", "time=a,bytes=size_mb"], "`bytes=size_mb:MB`, or `:B`"),
        (b"a,took (ms)\n1,2\n", ["--columns", "time=a,seconds=took (ms)"], "its name says ms"),
        (b"a,b\n1,2\n", ["--format", "nonsense"], "unknown format `nonsense`"),
        (COND.encode(), [], "no date in its name"),
        (b"a,b\n", ["--columns", "time=a"], "has no line that can be read"),
    ],
)
def test_what_cannot_be_read_is_refused(
    headrace: Run, tmp_path: Path, content: bytes, arguments: list[str], said: str
) -> None:
    (tmp_path / "log").write_bytes(content)
    ran = headrace("logs", "convert", "log", "-o", "x.parquet", *arguments, cwd=tmp_path, columns=200)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr


def test_folders_devices_and_absent_files_are_refused(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("empty", "/dev/zero", "absent"):
        ran = headrace("logs", "convert", name, "-o", "x.parquet", cwd=tmp_path)
        assert ran.returncode == 2
        assert "error:" in ran.stderr
        assert "Traceback" not in ran.stderr


def test_a_log_is_not_written_over(headrace: Run, tmp_path: Path) -> None:
    written(tmp_path, "log.csv", TRANSFERS)
    ran = headrace("logs", "convert", "log.csv", "-o", "log.csv", cwd=tmp_path)
    assert "would be overwritten" in ran.stderr
    assert (tmp_path / "log.csv").read_text() == TRANSFERS


EVERY = (TRANSFERS, COND, STAT, BILLING, CTA, ENSTORE, INVENTORY)
WORDS = st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\n\r"), max_size=60)
LINES = st.one_of(WORDS, *(st.sampled_from(text.splitlines()) for text in EVERY))


@given(st.lists(LINES, min_size=1, max_size=8), st.sampled_from([*BY_NAME, None]))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: list[str], form: str | None
) -> None:
    file = tmp_path_factory.mktemp("any") / "log.980505"
    file.write_text("\n".join(text))
    for skip in (False, True):
        try:
            log = logs.read([file], format=form, skip_bad=skip)
        except ScenarioError as error:
            assert "log.980505" in str(error)  # noqa: PT017 - it may be read as well
        else:
            assert log.table.height + sum(log.skipped.values()) <= len("\n".join(text).split("\n"))


@pytest.mark.parametrize("seed", range(60))
def test_damaged_logs_are_read_or_refused(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    raw = bytearray("".join(dice.sample(EVERY, 2)).encode())
    for _ in range(dice.randrange(1, 40)):
        place = dice.randrange(len(raw))
        if dice.random() < 0.5:
            raw[place] = dice.randrange(256)
        else:
            del raw[place : place + dice.randrange(3)]
    (tmp_path / "x.980505").write_bytes(raw)
    (tmp_path / "y.980505").write_bytes(raw[: dice.randrange(1, len(raw))])
    for form in (None, *BY_NAME):
        try:
            log = logs.read([tmp_path / "x.980505", tmp_path / "y.980505"], format=form, skip_bad=True)
            logs.convert(log, tmp_path / "out.csv")
        except ScenarioError as error:
            assert "980505" in str(error)  # noqa: PT017 - it may be read as well


NAMES = st.text(alphabet="abcdefgh0123456789", min_size=1, max_size=6)


@given(
    st.lists(
        st.tuples(
            NAMES, st.sampled_from(["get", "put"]), st.sampled_from("dijlrwy"), st.integers(0, 2**62),
            st.integers(0, 10**8), st.integers(0, 10**6), st.integers(1000, 99999),
        ),
        min_size=1, max_size=20,
    )
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_what_is_written_in_a_format_is_read_back(rows: list[tuple[str, str, str, int, int, int, int]]) -> None:
    begin = datetime.datetime(1998, 5, 5)
    frame = pl.DataFrame(
        {
            "user": [row[0] for row in rows], "op": [row[1] for row in rows], "host": [row[2] for row in rows],
            "bytes": [row[3] for row in rows], "seconds": [row[5] / 1000 for row in rows],
            "time": [begin + datetime.timedelta(milliseconds=row[4]) for row in rows],
            "job": [str(row[6]) for row in rows], "stage_s": pl.Series([None] * len(rows), dtype=pl.Float64),
            "file": [row[0] for row in rows],
        }
    ).with_columns(requested="time")  # fmt: skip
    from headrace.logs.formats import dcache, stat, transfers

    for form, columns, write in (
        ("transfers", ["user", "op", "host", "bytes", "seconds"], transfers.written),
        ("stat", ["job", "op", "host", "bytes", "seconds"], stat.written),
        ("dcache", ["file", "op", "host", "bytes", "seconds"], dcache.written),
    ):
        text = write(frame).select("text").with_row_index("line", 1)
        parsed = BY_NAME[form].parse(text)
        assert parsed["reason"].null_count() == len(rows), parsed.select("text", "reason")
        assert sorted(parsed.select(columns).rows()) == sorted(frame.select(columns).rows())


def test_synthetic_operations_have_the_published_counts() -> None:
    made = logs.operations("llnl-unitree", seed=3)
    puts, gets = made.filter(pl.col("op") == "put"), made.filter(pl.col("op") == "get")
    assert (puts.height, gets.height, gets["staged"].sum()) == (24441, 3061, 999)
    assert puts["bytes"].sum() == pytest.approx(440e9, rel=1e-6)
    assert made["user"].n_unique() == 60
    assert puts["file"].n_unique() == puts.height
    assert gets.filter("staged")["bytes"].max() <= 770_000_000  # type: ignore[operator]
    assert made["time_s"].is_sorted()
    again = gets.filter(pl.col("file").is_in(puts["file"].implode()))
    assert again.height > 0.7 * 2062
    sizes = dict(puts.select("file", "bytes").iter_rows())
    assert all(sizes[file] == size for file, size in again.select("file", "bytes").iter_rows())


def test_the_same_seed_gives_the_same_bytes_and_another_others(tmp_path: Path) -> None:
    [first] = logs.write("llnl-unitree", tmp_path / "a", seed=5)
    [second] = logs.write("llnl-unitree", tmp_path / "b", seed=5)
    [other] = logs.write("llnl-unitree", tmp_path / "b", seed=6)
    assert first.read_bytes() == second.read_bytes() != other.read_bytes()
    assert first.name.startswith("synthetic-")
    assert first.read_text().splitlines()[0].endswith(",synthetic")


def test_synthetic_unitree_logs_are_merged_back_into_what_they_were_made_of(tmp_path: Path) -> None:
    files = logs.write("llnl-unitree", tmp_path, to="unitree", seed=2)
    assert len(files) == 28
    log = logs.read(files)
    made = jobs(description.load("llnl-unitree"), seed=2)
    assert log.rules["jobs whose persona is not unique that day: told apart by their times"] > 500
    assert log.rules["jobs without a line in STAT: dropped"] == 0
    columns = ["user", "op", "bytes", "staged"]
    assert sorted(log.table.select(columns).rows()) == sorted(made.select(columns).rows())
    assert log.table["stage_s"].sum() == made["stage_s"].sum()


CLIENTS = """user_limit: 10, client_rate: 1 MB/s, between_hosts: {rate: 0.5, latency: 0.3}, whole_seconds: 0.3,
  stalls: {share: 0.02, mean: 100 s}, failures: {share: 0.1, retry_after: 30 s, attempts: 2}}"""


def with_clients(tmp_path: Path) -> Path:
    text = (description.FOLDER / "llnl-unitree.yaml").read_text()
    return written(tmp_path, "mine.yaml", text.replace("user_limit: 10}", CLIENTS) + "empty: 0.01\n")


def test_slow_hosts_and_stalls_lengthen_transfers_of_the_same_operations(tmp_path: Path) -> None:
    plain, made = (jobs(description.load(one), seed=2) for one in ("llnl-unitree", with_clients(tmp_path)))
    same = ["time_s", "op", "user", "host", "file", "staged"]
    assert plain.select(same).equals(made.select(same))
    empty = made.filter((pl.col("op") == "put") & (pl.col("bytes") == 0)).height
    assert empty == pytest.approx(0.01 * 24441, rel=0.3)
    assert logs.operations(with_clients(tmp_path), seed=2)["bytes"].min() == 1
    large = made.filter(pl.col("bytes") > 100_000_000)
    rates = large.group_by("host").agg(rate=(pl.col("bytes") / pl.col("measured_s")).max())["rate"]
    assert len(rates) == 7
    assert rates.max() / rates.min() > 1.2  # type: ignore[operator]
    stood = made.filter(pl.col("bytes").is_between(1, 10_000))["measured_s"]
    assert (stood > 20).mean() == pytest.approx(0.02 * 0.82, rel=0.5)


def test_filters_find_the_failures_and_whole_seconds_of_a_synthetic_log(tmp_path: Path) -> None:
    mine = with_clients(tmp_path)
    made = jobs(description.load(mine), seed=2)
    log = logs.read(logs.write(mine, tmp_path / "unitree", to="unitree", seed=2))
    lost, failed = int(made["lost"].sum()), int(made["failed"].sum())
    assert failed == pytest.approx(0.11 * made.height, rel=0.1)
    assert lost == pytest.approx(0.01 * made.height, rel=0.2)
    assert log.table.height == made.height - lost
    assert log.rules["failures with a successful retry: kept"] == failed - 2 * lost
    assert log.rules["failures without one: dropped"] == 2 * lost
    assert log.rules["size 0: taken as 1 byte"] == made.filter(~pl.col("lost") & (pl.col("bytes") == 0)).height
    found = logs.analyse(logs.read(logs.write(mine, tmp_path, to="transfers", seed=2)))
    [rounded] = [one for one in found["filters"] if one["rule"].startswith("rounded by FTP")]
    kept = made.filter(~pl.col("lost"))
    short = kept.filter(pl.col("by_ftp") & (pl.col("measured_s").round() < 10)).height
    assert rounded["removed"] == pytest.approx(short, rel=0.01)
    assert rounded["removed"] > 0.1 * kept.height


@pytest.mark.parametrize("to", ["operations", "transfers", "dcache", "cartridges", "parquet"])
def test_synthetic_logs_are_marked_and_read_back(headrace: Run, tmp_path: Path, to: str) -> None:
    ran = headrace("logs", "synthesise", "llnl-unitree", "--to", to, "-o", "made", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "Synthetic, no record of a real system" in ran.stdout
    [file] = (tmp_path / "made").iterdir()
    assert file.name.startswith("synthetic-llnl-unitree-seed1.")
    if to == "parquet":
        assert pl.read_parquet(file).height == 27502
        return
    assert "synthetic" in file.read_text().splitlines()[0]
    table = logs.read([file]).table
    expected = {"cartridges": 999, "dcache": 27502 + 999}
    assert table.height == expected.get(to, 27502)


def test_transfers_share_a_chain_as_a_fluid_does() -> None:
    import numpy as np

    of = description.Transfers(put_latency=0, get_latency=0, rate=10.0, shared=10.0, user_limit=2)
    none, user = np.zeros(3), np.array([7, 7, 7])
    start, end = share_out(np.array([0.0, 1.0, 1.5]), user, none, np.array([20, 20, 20]), of)
    # Two share from 1 s on; the first ends at 3 s with 10 + 10, then the third starts, and each gets half again.
    assert start.tolist() == [0.0, 1.0, 3.0]
    assert end.tolist() == pytest.approx([3.0, 5.0, 6.0])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("users: 60", "users: many", "`users` is `many`, not a number of 0 or more"),
        ("users: 60", "user: 60", "unknown field `user`; fields are name, start"),
        ("users: 60\n", "", "`users` is missing"),
        ("days: 14", "days: 0", "`days` is 0"),
        ("start: 1998-05-01", "start: soon", "not a date such as 1998-05-01"),
        ("median: 50 kB", "median: 50 parsecs", "`sizes.small.median`"),
        ("small: 0.4, recalled", "small: 0.35, recalled", "add up to 0.95, not 1"),
        ("reread: 0.8", "reread: 8", "give a share from 0 to 1"),
        ("companions: {body: 1.5}", "companions: {boby: 1.5}", "`companions` names `boby`"),
        ("op: put, files: 587", "op: take, files: 587", "operations are get and put"),
        ("hosts: [d, i, j, l, r, w, y]", "hosts: [s]", "letters other than `s`"),
        ("hosts: [d, i, j, l, r, w, y]", "hosts: 7", "`hosts` is `7`, not a list"),
        ("rate: 4.7 MB/s", "rate: 0 MB/s", "must be more than zero"),
        ("user_limit: 10}", "between_hosts: {rate: 1}}", "there is no `client_rate` that could differ"),
        ("user_limit: 10}", "failures: {share: 2}}", "`transfers.failures.share` is 2; give a share from 0 to 1"),
        ("user_limit: 10}", "stalls: {share: 0.1}}", "`mean` is missing in `transfers.stalls`"),
        ("share: 0.224", "share: 0.3", "`staging`: shares add up"),
        ("scaled: {sizes: huge", "scaled: {sizes: vast", "`scaled` names no class"),
        ("name: llnl-unitree", "name: ../../etc", "give a word of letters"),
        ("name: llnl-unitree", "name: [", "is not YAML"),
    ],
)
def test_a_description_with_a_mistake_is_refused_with_its_place(tmp_path: Path, old: str, new: str, said: str) -> None:
    text = (description.FOLDER / "llnl-unitree.yaml").read_text()
    assert old in text
    file = written(tmp_path, "mine.yaml", text.replace(old, new, 1))
    with pytest.raises(ScenarioError) as refused:
        logs.operations(file)
    assert said in str(refused.value)
    assert "mine.yaml" in str(refused.value)


def test_operations_are_what_a_simulation_replays(headrace: Run, tmp_path: Path) -> None:
    written(tmp_path, "cond.980505", COND)
    written(tmp_path, "stat.980505", STAT)
    ran = headrace("logs", "convert", "cond.980505", "stat.980505", "-o", "ops.csv", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "- failures without one: dropped: 1" in ran.stdout
    lines = (tmp_path / "ops.csv").read_text().splitlines()
    assert lines[0] == ",".join(replayed.COLUMNS)
    assert lines[2] == "1231.000000,put,005641,j,f0000001,34713600,0,27.000000,"
    assert logs.read([tmp_path / "ops.csv"]).table.height == 6


def test_the_log_of_a_real_library_is_read(measured_data: Path, tmp_path: Path) -> None:
    log = logs.read([measured_data / "tape-ecmwf" / "io_events_sample_250k.csv.bz2"])
    table = log.table
    assert (table.height, table["file"].n_unique(), log.odd) == (250_000, 7022, [])
    assert table["seconds"].mean() == pytest.approx(406, abs=0.5)
    assert table["seconds"].median() == 182
    told = logs.convert(log, tmp_path / "library.yaml")
    assert told["rows"] == 250_000
    assert "drives: 119" in (tmp_path / "library.yaml").read_text()
    first = (tmp_path / "library.csv").read_text().splitlines()[1]
    assert first == "0.000000,session,,,CB1172,1,,,304.000000"
    found = load(tmp_path / "library.yaml").with_({"workload.sessions.arrivals.log.first": 2000}).run()
    assert found.data["streams"][0]["completed"] == 2000


def test_a_folder_stands_for_the_logs_in_it(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    written(tmp_path / "logs", "cond.980505", COND)
    written(tmp_path / "logs", "stat.980505", STAT)
    assert logs.read([tmp_path / "logs"]).table.height == 6


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples" / "logs").glob("*.yaml")), ids=lambda example: example.name
)
def test_an_example_opens_with_its_question_and_makes_a_log(tmp_path: Path, example: Path) -> None:
    assert "?" in example.read_text().splitlines()[0]
    [file] = logs.write(example, tmp_path, to="transfers")
    assert logs.read([file]).table.height == 3860


def test_a_scenario_replays_a_log(headrace: Run, tmp_path: Path) -> None:
    logs.write("llnl-unitree", tmp_path / "logs", to="unitree")
    ran = headrace("logs", "convert", "logs", "-o", "replay.yaml", cwd=tmp_path)
    assert ran.stdout.startswith("replay.yaml replays replay.csv, which has 27,502 operations.")
    text = (tmp_path / "replay.yaml").read_text()
    assert "# How long do the operations of synthetic-llnl-unitree-seed1.cond.980501 and 27 more logs take?" in text
    assert "put_latency: 0.752 s, get_latency: 0.202 s, client_rate: 4.658 MB/s" in text
    if "FileLogSpec" not in json.dumps(schema()):
        pytest.skip("this build has no archive")
    ran = headrace("run", "replay.yaml", "--json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    operations = json.loads(ran.stdout)["streams"][0]["operations"]
    # 0.752 s and the bytes at 4.658 MB/s are 4.617 s on average for puts alone; those that share a chain take longer.
    assert operations["put"]["mean_ms"] >= 4617


def test_a_log_without_rates_makes_no_scenario_and_leaves_nothing(headrace: Run, tmp_path: Path) -> None:
    name = "billing-2024.03.01"
    written(tmp_path, name, BILLING)
    ran = headrace("logs", "convert", name, "-o", "replay.yaml", cwd=tmp_path)
    assert ran.returncode == 2
    assert f"no latency and rate can be found in {name}" in ran.stderr
    assert [file.name for file in tmp_path.iterdir()] == [name]


PURGED = """\
2024-03-01 12:00:10 [pool:p1:transfer] [00AB,1000000000] [/f] a:b@osm 1000000000 10000 true {NFS4,node1} [d:x] {0:""}
2024-03-01 15:00:00 [pool:p1:remove] [00AB,1000000000] [/f] a:b@osm {0:"sweeper making space for new data"}
2024-03-02 09:01:00 [pool:p1:restore] [00AB,1000000000] [/f] a:b@osm 50000 9000 {0:""}
2024-03-02 09:01:10 [pool:p1:transfer] [00AB,1000000000] [/f] a:b@osm 5000000 500 false {Xrootd,node1} [d:x] {0:""}
2024-03-03 09:00:00 [door:d1:remove] [00AB,1000000000] [/f] a:b@osm {0:""}
"""


@pytest.mark.parametrize("owner", ['["/O=x, y/CN=me":1000:1000:10.0.0.1] ', "[root:0:0:10.0.0.1] ", "[unknown] ", ""])
def test_a_door_deletes_for_whoever_it_names(tmp_path: Path, owner: str) -> None:
    line = f'2024-03-03 09:00:00 [door:d1:remove] {owner}[00AB,1000000000] [/f] a:b@osm 0 0 {{0:""}}\n'
    (tmp_path / "billing.log").write_text(PURGED + line)
    log = logs.read([tmp_path / "billing.log"])
    assert log.table["op"].to_list() == ["put", "purge", "stage", "get", "delete", "delete"]


def test_recalls_that_end_in_order_do_not_run_backwards(tmp_path: Path) -> None:
    line = (
        '{{"epoch_time":{end}.0,"program":"cta-taped","message":"{message}","tapeDrive":"D1","tapeVid":"V{n}","mountId":"{n}",'
        '"fSeq":1,"fileId":"{n}","fileSize":4000,"dataVolume":4000,"totalTime":{took},"transferTime":1,"status":"success"}}'
    )
    read, wrote = "File successfully read from tape", "File successfully transmitted to drive"
    all_ = [(1_700_000_100, read, 31), (1_700_000_105, read, 101), (1_700_000_107, wrote, 60)]
    text = [line.format(end=end, message=message, n=n, took=took) for n, (end, message, took) in enumerate(all_)]
    (tmp_path / "cta.json").write_text("\n".join(text) + "\n")
    log = logs.read([tmp_path / "cta.json"])
    assert not [odd for odd in log.odd if "backwards" in odd.what]
    told = logs.convert(log, tmp_path / "o.csv")
    [migrated] = [count for why, count in told["left_out"].items() if why.startswith("migration to tape")]
    assert (migrated, told["left_out"]["no operation on a file"]) == (0, 0)
    # The log has no puts, so what went to tape was put when it was written there.
    assert told["locations"][replayed.UNPUT] == 1
    ops = pl.read_csv(tmp_path / "o.csv")
    assert sorted(ops["op"]) == ["put", "stage", "stage"]
    assert ops.filter(pl.col("op") == "put")["measured_s"].to_list() == [None]


def test_a_log_whose_files_have_no_times_replays_sessions(tmp_path: Path) -> None:
    line = (
        '{{"epoch_time":{end}.0,"program":"cta-taped","message":"{message}","tapeDrive":"D1","tapeVid":"V{n}","mountId":"{n}",'
        '"fSeq":1,"fileId":"{n}","fileSize":4000,"dataVolume":4000,"mountTime":20,"positionTime":30,"transferTime":10,'
        '"status":"success"}}'
    )
    messages = ["File successfully read from tape", "Tape session finished"]
    text = [line.format(end=1_700_000_000 + 100 * n, message=message, n=n) for n in range(3) for message in messages]
    log = logs.read([written(tmp_path, "cta.json", "\n".join(text) + "\n")])
    sessions = log.table.filter(pl.col("op") == "session")
    assert sessions["seconds"].to_list() == [60.0] * 3, "without `totalTime`, that of its parts"
    told = logs.convert(log, tmp_path / "cta.yaml")
    assert told["left_out"]["file without times: sessions of cartridges are replayed"] == 3
    assert set(pl.read_csv(tmp_path / "cta.csv")["op"]) == {"session"}
    ran = load(tmp_path / "cta.yaml").run().data
    assert ran["streams"][0]["completed"] == 3
    # The time of a session contains its mount, so robots take no more of it.
    assert ran["streams"][0]["response"]["mean_ms"] == pytest.approx(60_000)
    assert "move:" not in (tmp_path / "cta.yaml").read_text()


def test_what_a_log_stores_to_tape_its_scenario_stores(tmp_path: Path) -> None:
    lines = []
    for n in range(600):
        size = 1_000_000 << n % 12
        took = 200 + size // 100_000
        clock = f"2024-03-01 {10 + n // 60:02}:{n % 60:02}"
        file = f"[00{n:04X},{size}] [/f{n}] cms:raw@cta"
        client = f"{{Xrootd-5.0:192.0.2.{n % 9}:1094}}"
        lines.append(f'{clock}:20 [pool:p1:transfer] {file} {size} {took} true {client} [d:x] {{0:""}}')
        lines.append(f'{clock}:50 [pool:p1:store] {file} 20000 5000 {{0:""}}')
    log = logs.read([written(tmp_path, "billing-2024.03.01", "\n".join(lines) + "\n")])
    assert set(log.table.filter(pl.col("op") == "put")["host"]) == {f"192.0.2.{at}" for at in range(9)}
    assert set(log.table["user"]) == {"cms:raw"}
    logs.convert(log, tmp_path / "replay.yaml")
    assert "migrate: {every: 1 min, streams: 1}" in (tmp_path / "replay.yaml").read_text()
    run = load(tmp_path / "replay.yaml").run(theory=False)
    [tapes] = [one for one in run.data["components"] if one["path"] == "tapes"]
    # The run ends with its last put, before the last files are on tape.
    assert (tapes["meters"]["bytes_written"] or 0) > 0.95 * sum(1_000_000 << n % 12 for n in range(600))


def test_a_wait_for_tape_of_no_time_is_none_and_positions_have_columns(tmp_path: Path) -> None:
    text = (
        "time,op,file,bytes,seconds,stage_s,tape,offset\n1,put,a,10,1,0,,\n2,get,b,10,1,0,,\n3,get,c,10,1,30,VR1,4096\n"
    )
    columns = {name: name for name in ("time", "op", "file", "bytes", "seconds", "stage_s")}
    columns |= {"cartridge": "tape", "position_bytes": "offset"}
    log = logs.read([written(tmp_path, "hpss.csv", text)], columns=columns)
    assert log.table["stage_s"].to_list() == [None, None, 30.0]
    logs.convert(log, tmp_path / "ops.csv")
    ops = pl.read_csv(tmp_path / "ops.csv")
    assert ops.select("cartridge", "position_bytes").rows() == [(None, None), (None, None), ("VR1", 4096)]


def test_dcache_gets_move_what_they_read_and_pools_remove_copies(tmp_path: Path) -> None:
    (tmp_path / "billing.log").write_text(PURGED)
    log = logs.read([tmp_path / "billing.log"])
    assert log.table["op"].to_list() == ["put", "purge", "stage", "get", "delete"]
    read = log.table.filter(pl.col("op") == "get")
    assert read.select("bytes", "file_bytes", "seconds").rows() == [(5_000_000, 1_000_000_000, 0.5)]
    told = logs.convert(log, tmp_path / "jobs.csv")
    assert told["left_out"]["purge of a copy: the archive purges by itself"] == 1
    assert told["left_out"]["no operation on a file"] == 0
    jobs = pl.read_csv(tmp_path / "jobs.csv")
    assert jobs.select("op", "bytes", "file_bytes").rows() == [
        ("put", 10**9, None),
        ("stage", 10**9, None),
        ("get", 5_000_000, 10**9),
        ("delete", 10**9, None),
    ]
    assert jobs["staged"].to_list() == [0, 1, 0, 0]
    assert told["locations"]["gets and stages of files on tape"] == 1


def test_dcache_lines_with_a_utc_offset_are_of_one_clock(tmp_path: Path) -> None:
    # Twenty seconds apart, while summer time begins.
    line = '{} [pool:p1:transfer] [00A{},4096] [/f] a:b@c 4096 1000 true {{NFS4,node1}} [d:x] {{0:""}}'
    times = ("2024-03-31T01:59:50.000+01:00", "2024-03-31T03:00:10.000+02:00", "2024-03-31 01:00:30.000")
    (tmp_path / "billing.log").write_text("".join(line.format(at, nth) + "\n" for nth, at in enumerate(times)))
    begins = logs.read([tmp_path / "billing.log"]).table["time"]
    assert [(at - begins[0]).total_seconds() for at in begins] == [0, 20, 40]


@pytest.mark.parametrize(("columns", "staged"), [("", ["", ""]), (",staged", ["1", "0"]), (",stage_s", ["1", ""])])
def test_a_get_is_a_hit_only_if_the_log_says_so(tmp_path: Path, columns: str, staged: list[str]) -> None:
    cells = {"": ("", ""), ",staged": (",1", ",0"), ",stage_s": (",30", ",")}[columns]
    lines = [f"2024-03-01 10:0{at}:00,get,1000,f{at},5{cell}" for at, cell in enumerate(cells)]
    header = f"time,op,bytes,file,seconds{columns}"
    log = written(tmp_path, "log.csv", "\n".join([header, *lines, ""]))
    told = logs.convert(logs.read([log], columns={name: name for name in header.split(",")}), tmp_path / "ops.csv")
    rows = csv.DictReader((tmp_path / "ops.csv").open())
    assert [row["staged"] for row in rows] == staged
    assert list(told["locations"].values()) == [staged.count("1"), staged.count(""), 0, 0, 0, 0]


def test_writes_to_tape_alone_are_puts(tmp_path: Path) -> None:
    log = written(
        tmp_path,
        "log.csv",
        "when,op,file,bytes\n2025-01-01 00:00:00,archive,a,1000\n2025-01-01 00:05:00,archive,b,2000\n",
    )
    columns = {"time": "when", "op": "op", "file": "file", "bytes": "bytes"}
    told = logs.convert(logs.read([log], columns=columns), tmp_path / "ops.csv")
    rows = list(csv.DictReader((tmp_path / "ops.csv").open()))
    assert [(row["op"], row["file"], row["bytes"]) for row in rows] == [("put", "a", "1000"), ("put", "b", "2000")]
    assert told["left_out"] == {} or not any(told["left_out"].values())


def test_sessions_are_said_to_lack_what_they_waited(tmp_path: Path) -> None:
    lines = [f"2025-01-01 00:0{at}:00,session,C{at},10" for at in range(3)]
    log = written(tmp_path, "log.csv", "\n".join(["when,op,cartridge,seconds", *lines, ""]))
    columns = {"time": "when", "op": "op", "cartridge": "cartridge", "seconds": "seconds"}
    told = logs.convert(logs.read([log], columns=columns), tmp_path / "library.yaml")
    [reason] = [name for name, many in told["locations"].items() if many]
    assert "what they had waited for a drive is missing" in reason
    text = (tmp_path / "library.yaml").read_text()
    assert "what it had waited is missing" in " ".join(text.replace("#", " ").split())


def test_reads_from_tape_of_files_that_the_log_puts_are_said(tmp_path: Path) -> None:
    """A replay has them in its pool, unless that purges them."""
    lines = ["10:00:00,put,1000,a,5,", "10:01:00,get,1000,a,5,1", "10:02:00,get,1000,b,5,1", "10:03:00,put,1000,b,5,"]
    text = "\n".join(["time,op,bytes,file,seconds,staged", *(f"2024-03-01 {line}" for line in lines), ""])
    log = logs.read(
        [written(tmp_path, "log.csv", text)], columns={name: name for name in text.split("\n")[0].split(",")}
    )
    assert logs.convert(log, tmp_path / "ops.csv")["locations"][replayed.REREAD] == 1


def test_what_recalls_take_is_the_time_of_the_tape(tmp_path: Path) -> None:
    lines = [f"2024-03-01 10:{at:02}:00,recall,1000000,f{at},{60 + at}" for at in range(30)]
    text = "\n".join(["start,operation,bytes,file,duration", *lines, ""])
    columns = {"time": "start", "op": "operation", "bytes": "bytes", "file": "file", "seconds": "duration"}
    log = logs.read([written(tmp_path, "log.csv", text)], columns=columns)
    [staging] = [one for one in logs.analyse(log)["durations"] if one["what"] == "staging"]
    assert staging["mean_s"] == pytest.approx(74.5)


def test_a_carriage_return_within_the_header_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "mac.csv"
    log.write_bytes(b"time,op,bytes\r2024-03-01 10:00:00,get,1\r")
    with pytest.raises(ScenarioError, match="a carriage return within its first line"):
        logs.read([log], columns={"time": "time", "bytes": "bytes"})


def test_no_cell_of_operations_is_run_by_a_spreadsheet(tmp_path: Path) -> None:
    runs = ["=1+1", "+a", "-a", "@SUM(A1)", "\t=1", "=HYPERLINK(A1)"]
    names = [*runs, "plain", "-5", "+1e3", "a=b"]
    rows = len(names)
    operations = pl.DataFrame(
        {
            "time_s": [float(-at) for at in range(rows)], "op": ["get"] * rows, "user": names, "host": names,
            "file": names, "bytes": [1] * rows, "staged": [True] * rows, "measured_s": [None] * rows,
        }
    )  # fmt: skip
    replayed.write([operations], tmp_path / "a.csv")
    with open(tmp_path / "a.csv", newline="") as file:
        cells = list(csv.DictReader(file))
    for column in ("user", "host", "file"):
        assert [row[column] for row in cells] == [f"'{name}" if name in runs else name for name in names]
    assert [float(row["time_s"]) for row in cells] == operations["time_s"].to_list()


def test_no_device_of_a_trace_is_run_by_a_spreadsheet(tmp_path: Path) -> None:
    columns = {"op": ["read"], "address": [0], "bytes": [512]}
    trace.write(tmp_path / "a.csv", columns | {"device": ["-1"]})
    with pytest.raises(ValueError, match="a spreadsheet would run them"):
        trace.write(tmp_path / "a.csv", columns | {"device": ["=1+1"]})


def test_a_csv_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbftime,size\n0,5\n1,0\n")
    log = logs.read([tmp_path / "bom.csv"], columns={"time": "time", "bytes": "size"})
    assert log.table["bytes"].to_list() == [5, 0]
    assert [odd.note for odd in log.odd] == ["kept; `logs convert` to .csv or .yaml writes them as 1 byte"]


def test_times_with_an_offset_are_in_utc(tmp_path: Path) -> None:
    times = ("2026-03-29T02:00:00+02:00", "2026-03-29 02:00:00.5 +0200", "20260328T223000-0130", "2026-03-29T00:00:00Z")
    file = tmp_path / "x.csv"
    file.write_text("when,size\n" + "".join(f"{time},5\n" for time in times))
    log = logs.read([file], columns={"time": "when", "bytes": "size"})
    assert [str(time) for time in log.table.sort("line")["time"]] == [
        "2026-03-29 00:00:00",
        "2026-03-29 00:00:00.500000",
        "2026-03-29 00:00:00",
        "2026-03-29 00:00:00",
    ]
