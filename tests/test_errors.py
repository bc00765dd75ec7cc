"""Each kind of mistake a user makes, and the message they read: location, cause and fix."""

import json
from pathlib import Path

import pytest

from conftest import ROOT, Run

SOUND = """\
parts:
  spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}
system:
  tds: {type: array, level: raid0, of: spindle, disks: 3, stripe_unit: 128 KiB}
workload:
  users: {to: tds, arrivals: {poisson: 10 /s}, size: 128 KiB}
run: {requests: 1000}
"""

OLD = "system:\n  spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}\n"

INLINE = (
    "{capacity: 500 GB, cylinders: 60801, rotation: 7200 rpm, media_rate_outer: 80 MB/s, media_rate_inner: 40 MB/s, "
    "seek_read: {track_to_track: 1 ms, full_stroke: 17 ms}, seek_write: {track_to_track: 1 ms, full_stroke: 17 ms}}"
)

MISTAKES = {
    "unknown field": (
        ("stripe_unit", "strip_unit"),
        ["4:59", "`tds` has no field `strip_unit`", "did you mean `stripe_unit`?"],
    ),
    "wrong unit": (
        ("128 KiB}\nworkload", "128 ms}\nworkload"),
        ["4:72", "unknown unit of size `ms`", "KiB"],
    ),
    "unit of another tool": (("10 /s", "200 iops"), ["6:40", "unknown unit of frequency `iops`", "write `200 /s`"]),
    "field of another tool": (
        ("size: 128 KiB}", "bs: 128 KiB}"),
        ["6:48", "`users` has no field `bs`", "write `size: 4 KiB`; possible are"],
    ),
    "type of another tool": (
        ("type: array, level: raid0", "type: raid10"),
        ["4:15", "there is no type `raid10`", "write `type: array, level: raid10`"],
    ),
    "a component named by its type": (
        ("tds: {type: array, ", "array: {"),
        ["4:10", "`array` needs a `type`", "did you mean `array`?"],
    ),
    "the load under another name": (
        ("workload:", "load:"),
        ["no field `load`", "write `workload: {NAME: {arrivals: …}}`"],
    ),
    "a size for a capacity": (
        ("independent}", "independent, size: 20 TB}"),
        ["no field `size`", "write `device: {like: NAME, capacity: 1 TB}`"],
    ),
    "a level by its number": (("level: raid0", "level: 5"), ["unknown level: `5`", "did you mean `raid5`?"]),
    "two kinds of arrivals": (
        ("poisson: 10 /s", "poisson: 10 /s, every: 3 ms"),
        ["`arrivals` names 2 kinds, `poisson` and `every`; it must name one"],
    ),
    "a component called as a type": (("to: tds", "to: raid0"), ["there is no component `raid0`", "possible are `tds`"]),
    "law of another library": (
        ("size: 128 KiB", "size: {const: 128 KiB}"),
        ["6:55", "unknown size: `const`", ", or a size by itself"],
    ),
    "size as fio has it": (
        ("size: 128 KiB", "size: 64k"),
        ["6:54", "unknown unit of size `k`", "write `64 KiB` (1024s) or `64 kB` (1000s)"],
    ),
    "drive of another type": (
        ("seagate-st3500630ns", "samsung-pm883-480gb"),
        ["2:33", "`samsung-pm883-480gb` is a solid-state drive", "write `type: ssd`"],
    ),
    "no unit": (("10 /s", "10"), ["6:40", "`10` has no unit", "10 /s"]),
    "ambiguous unit": (("size: 128 KiB", "size: 128 KB"), ["6:54", "could mean 1000 or 1024", "KiB"]),
    "a device of another size": (
        ("seagate-st3500630ns", "exos-x99"),
        ["no device `exos-x99`", "possible are `seagate-st18000nm000j`, `seagate-st24000nm007h`"],
    ),
    "missing device": (
        ("seagate-st3500630ns", "segate-st3500630ns"),
        ["2:33", "no device `segate-st3500630ns`", "did you mean `seagate-st3500630ns`?"],
    ),
    "missing component": (("to: tds", "to: tsd"), ["6:15", "no component `tsd`", "did you mean `tds`?"]),
    "impossible geometry": (
        ("seagate-st3500630ns", INLINE.replace("cylinders: 60801", "cylinders: 1")),
        ["invalid disk parameters", "1 cylinders", "give at least 2"],
    ),
    "zones inside out": (
        ("seagate-st3500630ns", INLINE.replace("80 MB/s", "30 MB/s")),
        ["outermost track", "swapped?"],
    ),
    "unstable load": (
        ("poisson: 10 /s", "poisson: 300 /s"),
        ["6:30", "`tds` is overloaded", "% utilisation", "must stay below", "lower the rate below"],
    ),
    "two definitions of one name": (
        ("  tds:", "  tds: {type: station, service: 1 ms}\n  tds:"),
        ["5:3", "`tds` is defined twice; the first definition is on line 4"],
    ),
    "the old form, with parts in `system`": (
        ("parts:\n  spindle: {type: disk, device: seagate-st3500630ns, positioning: independent}\nsystem:\n", OLD),
        ["3:40", "`spindle` is defined in `system`", "move `spindle` from `system:` to `parts:`", "`of: [spindle]`"],
    ),
    "an array of an array of system": (("of: spindle", "of: tds"), ["4:40", "`tds` is defined in `system`"]),
    "an array that uses itself": (("of: spindle, disks: 3", "of: [tds]"), ["circular reference: tds → tds"]),
    "a part that contains itself": (
        ("parts:\n", "parts:\n  shelf: {type: array, level: raid0, of: shelf, disks: 2, stripe_unit: 1 MiB}\n"),
        ["2:42", "`shelf` would contain itself: shelf → shelf"],
    ),
    "no such part": (("of: spindle", "of: spindel"), ["there is no part `spindel`", "did you mean `spindle`?"]),
    "no number of copies": (("disks: 3, ", ""), ["an array of copies needs a field `disks`"]),
    "a stream to a part": (("to: tds", "to: spindle"), ["6:15", "`spindle` is a part", "under `system:`"]),
    "a stream to a link": (
        (
            "  tds: {type: array, level: raid0, of: spindle, disks: 3, stripe_unit: 128 KiB}",
            "  tds: {type: link, rate: 1 Gb/s}",
        ),
        ["`tds` holds no data"],
    ),
    "an array of links": (("of: spindle", "of: {type: link, rate: 1 Gb/s}"), ["components that hold data"]),
    "a disk for a link": (
        ("stripe_unit: 128 KiB}\n", "stripe_unit: 128 KiB, via: one}\n  one: {type: station, service: 1 ms}\n"),
        ["`one` is not a link: it holds data"],
    ),
    "a disk listed twice": (("of: spindle, disks: 3", "of: [one, one]"), ["a disk is listed twice"]),
    "too many copies": (
        (
            "of: spindle, disks: 3",
            "of: {type: array, level: raid0, of: spindle, disks: 9999, stripe_unit: 1 MiB}, disks: 11",
        ),
        ["at most 100000 can be simulated"],
    ),
    "closed and limited": (
        ("arrivals: {poisson: 10 /s}", "arrivals: {closed: {depth: 4}}, outstanding: 4"),
        ["a closed stream has `depth` requests in flight"],
    ),
    "full without a limit": (
        ("size: 128 KiB", "size: 128 KiB, when_full: drop"),
        ["has no effect without `outstanding`", "outstanding: 32"],
    ),
    "too large a stripe unit": (("stripe_unit: 128 KiB", "stripe_unit: 2 TB"), ["stripe unit of 2 TB does not fit"]),
    "too large a request": (("size: 128 KiB", "size: 3 TB"), ["does not fit into"]),
    "a region beyond the end": (
        ("size: 128 KiB", "size: 128 KiB, region: {from: 1.4 TB, size: 200 GB}"),
        ["6:71", "200 GB from 1400 GB exceed the capacity of", "`tds`", "at most the bytes from `from` to the end"],
    ),
    "a region and a footprint": (
        ("size: 128 KiB", "size: 128 KiB, footprint: 1 GB, region: {from: 1 GB, size: 1 GB}"),
        ["`region` and `footprint` both set", "remove one"],
    ),
    "a region smaller than a request": (
        ("size: 128 KiB", "size: 128 KiB, region: {from: 1 B, size: 100 kB}"),
        ["a request of 128 KiB does not fit into the"],
    ),
    "a word for a map": (("{poisson: 10 /s}", "poisson"), ["6:30", "`poisson` needs a value"]),
    "a word and its value in one": (("{poisson: 10 /s}", "poisson 10 /s"), ["6:30", "write `{poisson: 10 /s}`"]),
    "a number for a map": (
        ("{poisson: 10 /s}", "{closed: 8}"),
        ["`closed` is `8`; it must be a map of fields such as `{depth: …}`", "write `{depth: 8}`"],
    ),
    "a level of two levels": (("level: raid0", "level: 60"), ["`level` is `60`", "level: raid0, of: LEG, disks: 2"]),
    "a value for a word": (
        ("size: 128 KiB}\nrun", "size: 128 KiB, op: {read: 70%}}\nrun"),
        ["`read` takes no value", "write `op: read`, or `op: {reads: …}`"],
    ),
    "a word for a number": (("disks: 3", "disks: four"), ["`disks` is `four`; it must be a whole number from 1 to"]),
    "capital letters": (("level: raid0", "level: RAID0"), ["did you mean `raid0`?"]),
    "out of bounds": (("disks: 3", "disks: 0"), ["`disks` is 0", "at least 1"]),
    "no YAML": (("{poisson: 10 /s}", "{poisson: 10 /s"), ["invalid YAML", "scenario.yaml:"]),
    "nothing to do": (
        ("  users: {to: tds, arrivals: {poisson: 10 /s}, size: 128 KiB}", "  {}"),
        ["no streams are defined"],
    ),
    "recursion that does not apply": (
        ("requests: 1000", "requests: 1000, engine: recursion"),
        ["the recursion does not apply", "may answer requests out of order"],
    ),
}


def refused(headrace: Run, file: Path, *more: str) -> str:
    """Run a file that must be refused; return the message."""
    ran = headrace("run", file, *more)
    assert ran.returncode == 2, ran.stdout
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr
    assert "panicked" not in ran.stderr
    return ran.stderr


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_told(headrace: Run, tmp_path: Path, mistake: str) -> None:
    (right, wrong), says = MISTAKES[mistake]
    assert right in SOUND
    file = tmp_path / "scenario.yaml"
    file.write_text(SOUND.replace(right, wrong))
    message = refused(headrace, file)
    for part in says:
        assert part in message, message


@pytest.mark.parametrize("mistake", ["unstable load", "recursion that does not apply"])
def test_what_run_refuses_check_refuses(headrace: Run, tmp_path: Path, mistake: str) -> None:
    (right, wrong), _ = MISTAKES[mistake]
    file = tmp_path / "scenario.yaml"
    file.write_text(SOUND.replace(right, wrong))
    assert headrace("check", file).stderr == headrace("run", file).stderr != ""


def test_the_sound_scenario_is_sound(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(SOUND)
    assert headrace("run", file).returncode == 0
    assert "is a valid scenario: 1 stream, 4 components" in headrace("check", file).stdout


def test_several_mistakes_are_told_together_in_the_order_of_the_file(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(
        SOUND.replace("stripe_unit", "strip_unit").replace("10 /s", "10").replace("type: disk", "type: dsk")
    )
    ran = headrace("check", file, "--json")
    assert ran.returncode == 2
    problems = json.loads(ran.stdout)["problems"]
    assert [problem["line"] for problem in problems] == sorted(problem["line"] for problem in problems)
    messages = " ".join(problem["message"] for problem in problems)
    assert "no type `dsk`" in messages
    assert "no field `strip_unit`" in messages
    assert "`10` has no unit" in messages
    assert all(
        {"file", "line", "column", "path", "message", "help", "overload"} == set(problem) for problem in problems
    )


def test_a_directory_for_a_file(headrace: Run, tmp_path: Path) -> None:
    message = refused(headrace, tmp_path)
    assert "is a directory" in message


def test_a_file_that_is_not_there_names_its_neighbours(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "raid.yaml").write_text(SOUND)
    message = refused(headrace, tmp_path / "riad.yaml")
    assert "does not exist" in message
    assert "raid.yaml" in message


def test_a_file_that_is_no_text(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_bytes(bytes(range(256)))
    assert "is not text" in refused(headrace, file)


REPLAY = """\
system:
  spindle: {type: disk, positioning: addressed, device: seagate-st3500630ns}
workload:
  host: {to: spindle, arrivals: {replay: {trace: some.trace, format: validate}}}
"""
LINES = "R Hit 2992396 4 13670.0 35942.0\nW Hit 3865568 8 1971.0 29108.0\n"


@pytest.mark.parametrize(
    ("trace", "says"),
    [
        ("", "is empty"),
        (LINES[:-10], "truncated"),
        (LINES + "R Hit x 4 1.0 1.0\n", "line 3: `x` is not a valid sector number"),
        (LINES + "R Hit 9999999999 4 1.0 1.0\n", "the trace extends to byte 5120000001536"),
    ],
)
def test_a_bad_trace_is_told_with_its_line(headrace: Run, tmp_path: Path, trace: str, says: str) -> None:
    (tmp_path / "scenario.yaml").write_text(REPLAY)
    (tmp_path / "some.trace").write_text(trace)
    message = refused(headrace, tmp_path / "scenario.yaml")
    assert says in message
    assert "scenario.yaml:4:" in message


def test_a_trace_that_is_missing_or_a_directory(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(REPLAY)
    assert "No such file" in refused(headrace, tmp_path / "scenario.yaml")
    (tmp_path / "some.trace").mkdir()
    assert "it is a directory" in refused(headrace, tmp_path / "scenario.yaml")


def test_bad_lines_can_be_passed_over_and_are_counted(headrace: Run, tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(REPLAY.replace("format: validate", "format: validate, skip_bad: true"))
    (tmp_path / "some.trace").write_text(LINES * 50 + "nonsense\n")
    ran = headrace("run", tmp_path / "scenario.yaml")
    assert ran.returncode == 0, ran.stderr
    assert "1 bad line of the trace skipped" in ran.stdout


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "the document is empty"),
        ("# nothing yet\n", "the document is empty"),
        (
            "experiment:\n  scenario: a.yaml\n",
            "is an experiment, not a scenario\n  = help: run it with `headrace sweep`",
        ),
        ("; made by hand\n[global]\nrw=read\n", "is a job file of fio, not a scenario"),
        ("128166372003061629,hm,0,Read,383496192,32768,413\n", "`headrace trace info` reads traces"),
        ('{"kind": "headrace measurement", "format": 1}\n', "is a measurement, not a scenario"),
        ('{"fio version": "fio-3.33", "jobs": []}\n', "is a result of fio, not a scenario"),
        ("just words\n", "the document is `just words`; it must be a map of fields"),
    ],
)
def test_a_file_that_is_no_scenario_is_named_for_what_it_is(
    headrace: Run, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "file"
    file.write_text(text)
    assert said in refused(headrace, file)


def test_device_files_of_every_kind_are_checked(headrace: Run, tmp_path: Path) -> None:
    files = [*sorted((ROOT / "catalog").glob("*.yaml")), tmp_path / "like.yaml"]
    files[-1].write_text("like: samsung-pm883-480gb\ncapacity: 240 GB\n")
    for file in files:
        ran = headrace("check", file)
        assert f"{file} is a valid device" in ran.stdout, ran.stderr
    files[-1].write_text("like: samsung-pm883-480gb\nflash: {dice: 4}\n")
    assert "`flash` has no field `dice`" in headrace("check", files[-1]).stderr


def test_a_bad_set_is_told(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(SOUND)
    assert "not PATH=VALUE" in headrace("run", file, "--set", "seed").stderr
    assert "has no field `sead`" in refused(headrace, file, "--set", "run.sead=3")
    assert "there is no `usres`; did you mean `users`?" in refused(headrace, file, "--set", "workload.usres.size=4 KiB")
    misspelt = refused(headrace, file, "--set", "workload.users.arrivals.poison=9 /s")
    assert "there is no `poison`; did you mean `poisson`?" in misspelt
    (tmp_path / "faulty.yaml").write_text(SOUND + "faults: [{component: 'tds/spindle[0]', fails: 1 s}]\n")
    beyond = refused(headrace, tmp_path / "faulty.yaml", "--set", "faults.1.fails=1 s")
    assert "there is no item 1 in `faults`, which has 1, numbered from 0" in beyond
    listed = refused(headrace, file, "--set", "faults[0].fails=1 s")
    assert "`faults[0].fails`: an item of a list is set by its number: `faults.0.fails`" in listed
    assert "`seed` cannot be set" in refused(headrace, file, "--set", "workload.users.to.seed=3")
    for short, whole in {"poisson": "workload.users.arrivals.poisson", "tds.disks": "system.tds"}.items():
        told = refused(headrace, file, "--set", f"{short}=4")
        assert f"write the whole path: `{whole}`" in told
    assert "write `{poisson: 9 /s}`" in refused(headrace, file, "--set", "workload.users.arrivals=poisson 9 /s")
    assert "write `{poisson: 9/s}`" in refused(headrace, file, "--set", "workload.users.arrivals=9/s")
    assert "possible are `{poisson: …}`" in refused(headrace, file, "--set", "workload.users.arrivals=often")
    assert "did you mean `raid5`? possible are `raid0`, " in refused(headrace, file, "--set", "system.tds.level=5")
    assert "did you mean `70 %`?" in refused(headrace, file, "--set", "workload.users.op={reads: 70}")
    assert "`run.seed` was set on the command line" in refused(headrace, file, "--set", "run.seed=many")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("level: raid6, disks: 3", "raid6 needs at least 4 disks; there are 3"),
        ("level: raid10, disks: 5", "raid10 needs at least 2 disks, and an even number; there are 5"),
        ("level: {erasure: {parity: 4}}, disks: 4", "needs at least 5 disks"),
        ("level: raid4, disks: 4, rotation: left_symmetric", "the parity of raid4 has no rotation"),
        ("level: raid5, disks: 4, read_from: nearest", "has one copy of each unit"),
        ("level: raid5, disks: 4, first_unit: first_disk", "begin where their address lies"),
        ("level: raid5, disks: 4, failed: [1, 2]", "raid5 loses data when these disks fail"),
        ("level: raid01, disks: 4, failed: [0, 3]", "raid01 loses data when these disks fail"),
        ("level: raid5, disks: 4, failed: [0, 0]", "disk 0 is named twice"),
        ("level: raid5, disks: 4, failed: [4]", "there is no disk 4; they are numbered from 0 to 3"),
        ("level: raid7, disks: 4", "did you mean `raid"),
    ],
)
def test_an_array_that_cannot_be_is_refused(headrace: Run, tmp_path: Path, wrong: str, said: str) -> None:
    file = tmp_path / "scenario.yaml"
    file.write_text(
        "parts: {spindle: {type: disk, positioning: addressed, device: seagate-st3500630ns}}\n"
        f"system: {{volume: {{type: array, of: spindle, stripe_unit: 64 KiB, {wrong}}}}}\n"
        "workload: {users: {to: volume, arrivals: {poisson: 1 /s}}}\n"
    )
    assert said in refused(headrace, file)


def test_an_unknown_study_is_told(headrace: Run) -> None:
    ran = headrace("study", "run", "raid5")
    assert ran.returncode == 2
    assert (
        "data-sheets, ecmwf-library, llnl-unitree, measured-arrays, measured-disks, mlperf-storage, raid-levels"
        in " ".join(ran.stderr.split())
    )


def test_a_limit_keeps_what_was_found_and_marks_it(headrace: Run, tmp_path: Path) -> None:
    file = tmp_path / "scenario.yaml"
    # Sequential addresses: theory cannot tell the load beforehand, and the disk does not keep up.
    file.write_text(
        "system: {spindle: {type: disk, positioning: addressed, device: seagate-st3500630ns}}\n"
        "workload: {users: {to: spindle, arrivals: {poisson: 500 /s}, pattern: sequential}}\n"
        "run: {requests: 1000000, engine: events, limits: {in_flight: 2000}}\n"
    )
    ran = headrace("run", file)
    assert ran.returncode == 3
    assert "INCOMPLETE" in ran.stdout
    assert "more than 2,000 requests were in flight (limits.in_flight)" in " ".join(ran.stdout.split())


def test_a_fault_that_would_change_nothing_is_refused(headrace: Run) -> None:
    ran = headrace("check", ROOT / "examples" / "archive.yaml", "--set", "faults=[{component: pool, fails: 1 h}]")
    assert ran.returncode == 2
    assert "`pool` fails in parts, not as a whole" in " ".join(ran.stderr.split())
    ran = headrace("check", ROOT / "examples" / "archive.yaml", "--set", "faults=[{component: front, fails: 1 h}]")
    assert ran.returncode == 2
    assert "`front` neither serves nor carries blocks; only components that do can fail yet" in " ".join(
        ran.stderr.split()
    )
