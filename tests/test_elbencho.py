"""Results of elbencho as measurements."""

import random
from pathlib import Path

import pytest

from attacks import damaged
from conftest import Run
from headrace import ScenarioError
from headrace.measurement import elbencho, load

# The columns in the order in which elbencho 3.0 writes them.
NAMES = """ISO date,label,path type,paths,hosts,threads,dirs,files,file size,block size,direct IO,random,random aligned,
random amount,IO depth,shared paths,truncate,operation,time ms [first],time ms [last],entries/s [first],
entries/s [last],
IOPS [first],IOPS [last],MiB/s [first],MiB/s [last],CPU% [first],CPU% [last],entries [first],entries [last],MiB [first],
MiB [last],Ent lat us [min],Ent lat us [avg],Ent lat us [max],IO lat us [min],IO lat us [avg],IO lat us [max],
rwmix read IOPS [last],rwmix read IO lat us [avg],version,command""".replace("\n", "").split(",")
RUN = {"threads": "8", "file size": "1073741824", "block size": "4096", "direct IO": "1", "random": "1"}
RUN |= {"IO depth": "16", "time ms [last]": "20000", "version": "3.0-26"}
READ = {"operation": "READ", "IOPS [last]": "512000", "IO lat us [avg]": "249"}
MIX = {"operation": "RWMIX25", "IOPS [last]": "3000", "IO lat us [avg]": "90", "hosts": "2"}
MIX |= {"rwmix read IOPS [last]": "1000", "rwmix read IO lat us [avg]": "240"}


def written(folder: Path, *phases: dict[str, str]) -> Path:
    file = folder / "results.csv"
    lines = [",".join((RUN | phase).get(name, "") for name in NAMES) for phase in phases]
    file.write_text("\n".join([",".join(NAMES), *lines]) + "\n")
    return file


def test_each_phase_is_a_point_for_each_operation(tmp_path: Path) -> None:
    found = elbencho.read([written(tmp_path, READ, {"operation": "MKDIRS"}, MIX)])
    read, mixed_read, mixed_write = found.points
    assert read["op"] == "read"
    assert read["pattern"] == "random"
    assert (read["iodepth"], read["numjobs"], read["block_bytes"]) == (16, 8, 4096)
    assert (read["iops"], read["mean_ms"], read["ios"]) == (512000, 0.249, 10_240_000)
    assert (mixed_read["op"], mixed_read["iops"], mixed_read["mean_ms"]) == ("read", 1000, 0.24)
    assert (mixed_write["op"], mixed_write["iops"], mixed_write["mean_ms"]) == ("write", 3000, 0.09)
    assert mixed_read["read_share"] == mixed_write["read_share"] == 0.25
    assert mixed_read["numjobs"] == 16
    assert "results.csv: MKDIRS: left out, it reads and writes no blocks" in found.remarks


def test_threads_share_a_device_and_have_files_of_their_own(tmp_path: Path) -> None:
    device = READ | {"path type": "blockdev", "file size": "480103981056"}
    folder = READ | {"path type": "dir", "dirs": "4", "files": "10", "file size": "1048576"}
    in_turn = device | {"random": "0"}
    shared, own, part = elbencho.read([written(tmp_path, device, folder, in_turn)]).points
    assert (part["file"], part["file_bytes"]) == (None, 480103981056 // 8)
    assert (shared["file"], shared["file_bytes"]) == ("blockdev", 480103981056)
    assert (own["file"], own["file_bytes"]) == (None, 40 << 20)


def test_a_mix_without_reads_has_writes(tmp_path: Path) -> None:
    none = MIX | {"operation": "RWMIX0", "rwmix read IOPS [last]": "0", "rwmix read IO lat us [avg]": "0"}
    [only] = elbencho.read([written(tmp_path, none)]).points
    assert (only["op"], only["read_share"]) == ("write", 0.0)


def test_the_command_writes_a_measurement(headrace: Run, tmp_path: Path) -> None:
    written(tmp_path, READ | {"direct IO": "0"})
    ran = headrace("import", "elbencho", "results.csv", "-o", "found.json", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "page cache" in ran.stdout
    assert load(tmp_path / "found.json").points[0]["iops"] == 512000


@pytest.mark.parametrize(
    ("phase", "said"),
    [
        ({"operation": "MKDIRS"}, "no phase that read or wrote"),
        (READ | {"IO lat us [avg]": ""}, "line 2: `IO lat us \\[avg\\]` of READ is 0(.|\n)*run elbencho with --lat"),
        (READ | {"threads": "eight"}, "`threads` of READ is eight"),
        (READ | {"IOPS [last]": "nan"}, "`IOPS \\[last\\]` of READ is nan"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, phase: dict[str, str], said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        elbencho.read([written(tmp_path, phase)])


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ScenarioError, match="is no result of elbencho: its first line has no column `operation`"):
        elbencho.read([tmp_path / "other.csv"])


def test_damaged_results_are_read_or_refused(tmp_path: Path) -> None:
    sound = written(tmp_path, READ, MIX).read_bytes()
    for number in range(200):
        (tmp_path / "results.csv").write_bytes(damaged(sound, random.Random(number)))
        try:
            points = elbencho.read([tmp_path / "results.csv"]).points
        except ScenarioError:
            continue
        assert all(point["iops"] > 0 and point["mean_ms"] > 0 for point in points)
