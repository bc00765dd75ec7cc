"""Files: nothing is written over what is read, nothing half is left, and a full disk costs no answer."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT, Run
from headrace import ScenarioError, files, load

CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 500}
"""
TRACE = "time_ns,op,address,bytes,response_ns,think_ns,device\n" + "".join(
    f"{at}000000,read,{at * 4096},4096,900000,,\n" for at in range(50)
)
REPLAY = """\
system: {clerk: {type: station, service: {exponential: 1 ms}}}
workload: {users: {to: clerk, arrivals: {replay: {trace: "my trace.csv", format: headrace}}}}
"""
AGAIN = ", again: {to: clerk, arrivals: {replay: {trace: *file , format: headrace}}}}"
ALIAS = REPLAY.replace('"my trace.csv"', '&file "my trace.csv"').replace("}}}}", "}}}" + AGAIN)
NAMED = """\
system: {d: {type: disk, positioning: addressed, device: ./my drive.yaml}}
workload: {users: {to: d, arrivals: {poisson: 10 /s}, size: 4 KiB}}
run: {requests: 500}
"""
RATE = "workload.users.arrivals.poisson"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text(CLERK)
    (tmp_path / "my trace.csv").write_text(TRACE)
    (tmp_path / "replay.yaml").write_text(REPLAY)
    (tmp_path / "alias.yaml").write_text(ALIAS)
    (tmp_path / "named.yaml").write_text(NAMED)
    (tmp_path / "devices").mkdir()
    shutil.copy(ROOT / "catalog" / "seagate-st3500630ns.yaml", tmp_path / "my drive.yaml")
    shutil.copy(ROOT / "catalog" / "seagate-st3500630ns.yaml", tmp_path / "devices" / "mine.yaml")
    (tmp_path / "hard.html").hardlink_to(tmp_path / "a.yaml")
    (tmp_path / "soft.html").symlink_to(tmp_path / "a.yaml")
    # Reports end in .html: these are other inputs by such names.
    (tmp_path / "trace.html").hardlink_to(tmp_path / "my trace.csv")
    (tmp_path / "drive.html").symlink_to(tmp_path / "my drive.yaml")
    (tmp_path / "mine.html").hardlink_to(tmp_path / "devices" / "mine.yaml")
    return tmp_path


VARY = ["--vary", f"{RATE}=10 /s,20 /s"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "a.yaml", "--report", "hard.html"],
        ["run", "a.yaml", "--report", "soft.html"],
        ["run", "a.yaml", "--timeline", "devices/../a.yaml"],
        ["run", "a.yaml", "--save-requests", "a.yaml"],
        ["run", "replay.yaml", "--report", "trace.html"],
        ["run", "replay.yaml", "--timeline", "devices/mine.yaml"],
        ["run", "alias.yaml", "--report", "trace.html"],
        ["run", "named.yaml", "--report", "drive.html"],
        ["devices", "./my drive.yaml", "--report", "drive.html"],
        ["trace", "info", "my trace.csv", "--report", "trace.html"],
        ["trace", "convert", "my trace.csv", "-o", "my trace.csv"],
        ["validate", "--device", "mine", "--trace", "my trace.csv", "--report", "trace.html"],
        ["validate", "--device", "mine", "--trace", "my trace.csv", "--report", "mine.html"],
        ["validate", "--device", "./my drive.yaml", "--trace", "my trace.csv", "--report", "drive.html"],
        ["calibrate", "disk", "--device", "./my drive.yaml", "--trace", "my trace.csv", "-o", "my drive.yaml"],
        ["calibrate", "disk", "--device", "mine", "--trace", "my trace.csv", "-o", "my trace.csv"],
        ["calibrate", "disk", "--device", "mine", "--trace", "my trace.csv", "-o", "devices/mine.yaml"],
        ["devices", "mine", "--report", "mine.html"],
        ["sweep", "a.yaml", *VARY, "--store", "a.yaml"],
        ["sweep", "a.yaml", *VARY, "--report", "hard.html"],
        ["optimise", "a.yaml", *VARY, "--minimise", "mean(users)", "--report", "soft.html"],
    ],
    ids=" ".join,
)
def test_no_output_overwrites_an_input(headrace: Run, folder: Path, arguments: list[str]) -> None:
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    ran = headrace(*arguments, cwd=folder)
    assert ran.returncode == 2, ran.stdout
    assert "is read by this command, and would be overwritten" in ran.stderr
    assert arguments[-1] in ran.stderr
    assert "name another file to write to" in ran.stderr
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before


def test_an_import_is_not_written_over_what_it_reads(headrace: Run, tmp_path: Path, measured_data: Path) -> None:
    copied = Path(shutil.copytree(measured_data / "disks" / "atlas_III", tmp_path / "disksim"))
    for name in ("parv", "diskspecs", "model", "seek"):
        file = copied / f"atlas_III.{name}"
        before = file.read_bytes()
        ran = headrace("import", "disksim", copied / "atlas_III.parv", "-o", file)
        assert ran.returncode == 2, ran.stdout
        assert "would be overwritten" in ran.stderr
        assert file.read_bytes() == before


def test_a_report_is_not_written_over_its_store(headrace: Run, folder: Path) -> None:
    assert headrace("sweep", "a.yaml", *VARY, "--store", "kept", cwd=folder).returncode == 0
    before = (folder / "kept" / "manifest.json").read_bytes()
    for command in (["report", "kept"], ["sweep", "a.yaml", *VARY, "--store", "kept"]):
        option = "-o" if command[0] == "report" else "--report"
        (folder / "kept.html").unlink(missing_ok=True)
        (folder / "kept.html").symlink_to(folder / "kept" / "manifest.json")
        ran = headrace(*command, option, "kept.html", cwd=folder)
        assert ran.returncode == 2
        assert "would be overwritten" in ran.stderr
    assert (folder / "kept" / "manifest.json").read_bytes() == before


def test_two_outputs_are_two_files(headrace: Run, folder: Path) -> None:
    ran = headrace("run", "a.yaml", "--report", "x.html", "--timeline", "./x.html", cwd=folder)
    assert ran.returncode == 2
    assert "both name" in ran.stderr
    written = headrace("run", "a.yaml", "--report", "/dev/null", "--timeline", "x.json", cwd=folder)
    assert written.returncode == 0, written.stderr
    with pytest.raises(ScenarioError, match="would be overwritten"):
        load(folder / "a.yaml").run(timeline=folder / "hard.html")


def test_what_was_left_half_written_goes(tmp_path: Path) -> None:
    killed = (
        "import os, sys\nfrom headrace import files\n"
        "with files.whole(sys.argv[1]) as part:\n    part.write_text('half')\n    os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", killed, str(tmp_path / "page.html")], check=False)
    [left] = tmp_path.iterdir()
    (tmp_path / ".headrace-of-mine.html").write_text("mine")
    with files.whole(tmp_path / "page.html") as part:  # It is young: someone may just have begun it.
        assert left.exists()
        part.write_text("whole")
    os.utime(left, (0, 0))
    with files.whole(tmp_path / "page.html") as mine:
        os.utime(mine, (0, 0))
        files.write_whole(tmp_path / "page.html", "meanwhile")
        assert mine.exists()  # Whoever still writes holds a lock.
        assert not left.exists()
    assert sorted(file.name for file in tmp_path.iterdir()) == [".headrace-of-mine.html", "page.html"]


def limited(*arguments: object, cwd: Path, most: int, text: bool = True) -> subprocess.CompletedProcess[str]:
    """Run headrace where no file has more than `most` bytes: as on a full disk, writing breaks off in the middle."""
    command = "import resource, signal, sys\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    command += f"resource.setrlimit(resource.RLIMIT_FSIZE, ({most}, {most}))\n"
    command += "import headrace.cli\nheadrace.cli.main()\n"
    return subprocess.run(
        [sys.executable, "-c", command, *map(str, arguments)], cwd=cwd, capture_output=True, text=text, check=False
    )


def test_a_full_disk_under_a_log_keeps_the_answer(folder: Path) -> None:
    for option in (["--save-requests", "log"], ["--timeline", "way.json"]):
        ran = limited("run", "a.yaml", *option, cwd=folder, most=1000)
        assert ran.returncode == 2, ran.stderr
        assert "users: " in ran.stdout
        assert "cannot be written: File too large" in ran.stderr
        assert "Traceback" not in ran.stderr
    assert list((folder / "log").iterdir()) == []
    assert not (folder / "way.json").exists()


@pytest.mark.parametrize("most", [1500, 4000])
def test_a_full_disk_under_a_store_keeps_the_answer_and_no_half_record(headrace: Run, folder: Path, most: int) -> None:
    sweep = ["sweep", "a.yaml", *VARY, "--replications", 3, "--store", "kept"]
    full = limited(*sweep, "--json", cwd=folder, most=most)
    assert full.returncode == 2, full.stderr
    assert "cannot keep every run: File too large" in full.stderr
    assert "Traceback" not in full.stderr
    assert json.loads(full.stdout)["complete"]
    for journal in (folder / "kept" / "journal").glob("*.jsonl"):
        assert journal.read_bytes()[-1:] in (b"", b"\n")
    again = headrace(*sweep, "--json", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == json.loads(full.stdout)


@pytest.mark.parametrize("option", [["--report", "r.html"], ["--live"]])
def test_charts_without_address_space_are_refused_before_anything_runs(folder: Path, option: list[str]) -> None:
    """The library that draws them would end the process."""
    most = 4 << 30
    command = "import resource, sys\n"
    command += f"resource.setrlimit(resource.RLIMIT_AS, ({most}, {most}))\n"
    command += "import headrace.cli\nheadrace.cli.main()\n"
    arguments = ["run", "a.yaml"] if option[0] == "--report" else ["sweep", "a.yaml", *VARY]
    ran = subprocess.run(
        [sys.executable, "-c", command, *arguments, *option], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "address space" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not (folder / "r.html").exists()


def test_what_never_ends_is_refused(headrace: Run, folder: Path) -> None:
    for command in (["run", "/dev/zero"], ["sweep", "/dev/zero", *VARY], ["trace", "info", "/dev/zero"]):
        ran = headrace(*command, cwd=folder)
        assert ran.returncode == 2
        assert "/dev/zero" in ran.stderr
        assert "Traceback" not in ran.stderr


def test_a_replaced_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    secret, new = tmp_path / "secret", tmp_path / "new"
    secret.write_text("old")
    secret.chmod(0o600)
    before = os.umask(0o027)
    try:
        for file in (secret, new):
            files.write_whole(file, "text")
    finally:
        os.umask(before)
    assert [oct(file.stat().st_mode & 0o777) for file in (secret, new)] == ["0o600", "0o640"]
    assert secret.read_text() == new.read_text() == "text"


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "report.html", tmp_path / "latest.html"
    target.write_text("old")
    link.symlink_to("there/report.html")
    files.write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    dangling = tmp_path / "next.html"
    dangling.symlink_to("there/next.html")
    files.write_whole(dangling, "first")
    assert (tmp_path / "there" / "next.html").read_text() == "first"
    assert sorted(file.name for file in (tmp_path / "there").iterdir()) == ["next.html", "report.html"]


def test_a_file_is_on_disk_before_it_takes_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    replace = os.replace

    def replaces(old: Path, new: Path) -> None:
        done.append("replace")
        replace(old, new)

    monkeypatch.setattr(files, "sync", lambda path: done.append(f"sync {'folder' if path.is_dir() else 'file'}"))
    monkeypatch.setattr(os, "replace", replaces)
    files.write_whole(tmp_path / "a", "text")
    assert done == ["sync file", "replace", "sync folder"]


NUL = {
    "device": 'system: {d: {type: disk, device: "./a\\0b.yaml"}}\nworkload: {w: {to: d, arrivals: {poisson: 1 /s}}}\n',
    "trace": "system: {s: {type: station, service: 1 ms}}\n"
    'workload: {w: {to: s, arrivals: {replay: {trace: "a\\0b.csv"}}}}\n',
    "job file": 'system: {s: {type: station, service: 1 ms}}\nworkload: {fio: "a\\0b.fio"}\n',
    "experiment": 'experiment: {scenario: "a\\0b.yaml", vary: {run.seed: [1, 2]}}\n',
}


@pytest.mark.parametrize("of", NUL)
def test_a_name_with_a_nul_byte_is_refused_in_words(headrace: Run, tmp_path: Path, of: str) -> None:
    (tmp_path / "a.yaml").write_text(NUL[of])
    command = ["sweep", "a.yaml"] if of == "experiment" else ["run", "a.yaml", "--report", "out.html"]
    ran = headrace(*command, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "NUL byte" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["a.yaml"]
