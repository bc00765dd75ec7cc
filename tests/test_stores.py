"""Stores: damage is seen, questions are only read, and answers are whole."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import ROOT, Run, wait_until
from headrace import Scenario, ScenarioError, sweep
from headrace.experiment import Experiment, Point, Table, journal, stored
from headrace.experiment.query import asked, query
from headrace.experiment.store import Store
from headrace.experiment.stored import everything
from headrace.experiment.task import Record

CLERK = """\
system: {clerk: {type: station, service: {exponential: 8 ms}}}
workload: {users: {to: clerk, arrivals: {poisson: 50 /s}}}
run: {requests: 300}
"""
RATE = "workload.users.arrivals.poisson"


RECORD = Record(
    point="a", replication=0, ok=True, reason=None, overloaded=False, saturated=False, final=True, trusted=True,
    seconds=0.1, host="here", values={}, metrics={"users.mean_ms": 1.5},
)  # fmt: skip


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store; who damages it takes a copy."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "a.yaml").write_text(CLERK)
    sweep(folder / "a.yaml", {RATE: ["10 /s", "20 /s"]}, replications=3, store=folder / "store")
    return folder / "store"


def flipped(file: Path, luck: random.Random) -> None:
    raw = bytearray(file.read_bytes())
    raw[luck.randrange(len(raw))] ^= 1 << luck.randrange(8)
    file.write_bytes(raw)


def replaced(file: Path) -> None:
    """Put a folder where there was a file, and a file where there was a folder."""
    if file.is_dir():
        shutil.rmtree(file)
        file.write_text("")
    else:
        file.unlink()
        file.mkdir()


def journalled(store: Path) -> None:
    """Put the records of a store back into a journal."""
    file = store / "journal" / "host-1-a.jsonl"
    lines, before = b"", journal.beginning(file).sum
    for record in everything(store)[1]:
        more, before = journal.line(record, before)
        lines += more
    file.write_bytes(lines)
    (store / "records.parquet").unlink()


FLIPS = 50


@pytest.mark.parametrize("what", ["records.parquet", "manifest.json", "journal/host-1-a.jsonl"])
def test_no_flipped_bit_changes_an_answer(kept: Path, tmp_path: Path, what: str) -> None:
    luck, whole = random.Random(7), Table.stored(kept).frame.to_dicts()
    refused = unharmed = 0
    for number in range(FLIPS):
        store = Path(shutil.copytree(kept, tmp_path / str(number)))
        if what.startswith("journal"):
            journalled(store)
        flipped(store / what, luck)
        try:
            found = Table.stored(store).frame.to_dicts()
        except ScenarioError as error:
            refused += "is damaged" in str(error) or "has an invalid record" in str(error)
        else:
            # The last line of a journal without its end is one that was just being written.
            assert found == whole or (what.startswith("journal") and sum(row["replications"] for row in found) == 5)
            unharmed += 1
    assert refused + unharmed == FLIPS
    assert refused > 0.86 * FLIPS


@pytest.mark.parametrize(
    "damage",
    [
        lambda store: (store / "manifest.json").write_text("[1]"),
        lambda store: (store / "manifest.json").write_bytes(b"\xff\xfe"),
        lambda store: replaced(store / "manifest.json"),
        lambda store: replaced(store / "records.parquet"),
        lambda store: (store / "records.parquet").write_bytes((store / "records.parquet").read_bytes()[:-9]),
        lambda store: (store / "journal" / "host-1-a.jsonl").write_text("{}\n"),
        lambda store: (store / "journal" / "host-1-a.jsonl").write_text("5\n"),
        lambda store: (store / "journal" / "host-1-a.jsonl").write_bytes(b"\xff\n"),
        lambda store: (store / "journal" / "host-1-a.jsonl").mkdir(),
        lambda store: replaced(store / "journal"),
        lambda store: replaced(store / ".lock"),
    ],
)
def test_whatever_is_damaged_is_said_in_words(
    headrace: Run, kept: Path, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    store = Path(shutil.copytree(kept, tmp_path / "store"))
    damage(store)
    ran = headrace("sweep", kept.parent / "a.yaml", "--vary", f"{RATE}=10 /s,20 /s", "--store", store)
    assert ran.returncode == 2, ran.stdout
    assert "error: " in ran.stderr
    assert str(store) in ran.stderr
    for command in (["results", store], ["results", store, "--sql", "select * from points"]):
        assert "Traceback" not in ran.stderr + headrace(*command).stderr


LOSSES: dict[str, Callable[[list[str]], list[str]]] = {
    "the first": lambda lines: lines[1:],
    "one in the middle": lambda lines: [*lines[:2], *lines[3:]],
    "two in the middle": lambda lines: [*lines[:1], *lines[3:]],
    "doubled": lambda lines: [*lines[:2], lines[1], *lines[2:]],
    "moved": lambda lines: [*lines[:2], lines[3], lines[2], *lines[4:]],
    "a checksum": lambda lines: [*lines[:2], re.sub(r', "sum": \d+', "", lines[2]), *lines[3:]],
}


@pytest.mark.parametrize("of", LOSSES)
def test_lines_that_a_journal_lost_are_noticed(headrace: Run, kept: Path, tmp_path: Path, of: str) -> None:
    store = Path(shutil.copytree(kept, tmp_path / "store"))
    journalled(store)
    file = store / "journal" / "host-1-a.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(LOSSES[of](lines)))
    ran = headrace("results", store)
    assert ran.returncode == 2, ran.stdout
    assert "has an invalid record" in ran.stderr
    assert "remove it: its runs are done again" in ran.stderr
    file.write_text("".join(lines[:4]))  # As if the process was killed before it wrote the others.
    assert sum(Table.stored(store).frame["replications"]) == 4


@pytest.mark.parametrize("which", ["sum", "records"])
def test_a_store_without_checksums_is_damaged(headrace: Run, kept: Path, tmp_path: Path, which: str) -> None:
    store = Path(shutil.copytree(kept, tmp_path / "store"))
    told = json.loads((store / "manifest.json").read_text())
    del told[which]
    if which == "records":
        told.pop("sum")
        stored.write_manifest(store, told)
    else:
        (store / "manifest.json").write_text(json.dumps(told))
    ran = headrace("results", store)
    assert ran.returncode == 2, ran.stdout
    assert "is damaged: its checksum" in ran.stderr


def test_lines_are_on_disk_before_a_store_says_that_it_keeps_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each line is followed by a flush of its file that begins after it was written; several may share one."""
    flushed: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: flushed.append(os.fstat(handle).st_size))
    kept = journal.Journal(tmp_path)
    for replication in range(20):
        kept.append(RECORD | {"replication": replication})
        wait_until(lambda: flushed[-1:] == [kept.path.stat().st_size])
    kept.close()
    records, _ = journal.appended(kept.path, journal.beginning(kept.path))
    assert [record["replication"] for record in records] == list(range(20))


def test_lines_that_could_not_be_flushed_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(handle: int) -> None:
        raise OSError(5, "Input/output error")

    kept = journal.Journal(tmp_path)
    monkeypatch.setattr(os, "fsync", fails)

    def keep() -> None:
        kept.append(RECORD)
        kept.close()

    with pytest.raises(OSError, match="Input/output error"):
        keep()


def test_a_store_killed_while_it_is_gathered_is_in_order(kept: Path, tmp_path: Path) -> None:
    for survives in range(3):
        store = Path(shutil.copytree(kept, tmp_path / str(survives)))
        killed = (
            "import os, sys\nfrom headrace import sweep\nreplace, left = os.replace, int(sys.argv[3])\n"
            "def until(a, b):\n    global left\n    left -= 1\n    os._exit(9) if left < 0 else replace(a, b)\n"
            "os.replace = until\n"
            f"sweep(sys.argv[1], {{'{RATE}': ['10 /s', '20 /s']}}, replications=4, store=sys.argv[2])\n"
        )
        command = [sys.executable, "-c", killed, str(kept.parent / "a.yaml"), str(store), str(survives)]
        assert subprocess.run(command, check=False).returncode == 9
        assert sum(Table.stored(store).frame["replications"]) == 8


def test_a_short_write_does_not_grow_into_the_next_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from headrace.experiment import rounds

    experiment = Experiment(Scenario(CLERK), (Point({RATE: "1 /s"}),), places=(RATE,), replications=2)
    store = Store(tmp_path / "store", experiment)
    [task, other] = next(rounds._rounds(experiment, store, {}))

    class Full:
        """A journal on a disk that is full after a few bytes."""

        def __init__(self, file: object) -> None:
            self.file, self.left = file, 30

        def __getattr__(self, name: str) -> object:
            return getattr(self.file, name)

        def write(self, line: bytes) -> int:
            if not self.left:
                raise OSError(28, "No space left on device")
            written, self.left = self.file.write(line[: self.left]), 0  # type: ignore[attr-defined]
            return int(written)

    whole = store._journal._file
    store._journal._file = Full(whole)  # type: ignore[assignment]
    with pytest.warns(UserWarning, match="cannot keep every run: No space left on device"):
        store.add(task.run())
    assert store._journal.path.stat().st_size == 0
    store._journal._file = whole
    store.add(other.run())
    assert [record["replication"] for record in everything(tmp_path / "store")[1]] == [1]


@pytest.mark.parametrize(
    "sql",
    [
        "create table mine as select 1",
        "insert into records select * from records",
        "with gone as (delete from records returning *) select * from gone",
        "explain analyze delete from records",
        "drop view points",
        "attach ':memory:' as other",
        "attach '{folder}/other.db'",
        "copy records to '{folder}/other.csv'",
        "select * from read_text('{folder}/secret.txt')",
        "select * from '{folder}/secret.txt'",
        "select * from glob('{folder}/*')",
        "install httpfs",
        "load httpfs",
        "set enable_external_access = true",
        "set threads = 1",
        "pragma database_list",
        "select 1; select 2",
        "rollback; delete from records",
        "",
    ],
)
def test_a_question_only_reads(headrace: Run, kept: Path, tmp_path: Path, sql: str) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    ran = headrace("results", kept, "--sql", sql.format(folder=tmp_path))
    assert ran.returncode == 2, ran.stdout
    assert ran.stderr.startswith("error: ")
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert sorted(file.name for file in tmp_path.iterdir()) == ["secret.txt"]


def test_an_answer_says_all_that_was_asked(headrace: Run, kept: Path) -> None:
    sql = (
        "select 1 as x, 2 as x, 'nan'::double as n, '-inf'::float as i, 1.5::decimal(3,1) as d, null as z, "
        "timestamptz '2026-01-02 03:04:05+00' as t, [1, 'nan'::double] as l, {'a': date '2026-01-02'} as s -- all"
    )
    [row] = json.loads(headrace("results", kept, "--json", "--sql", sql).stdout, parse_constant=pytest.fail)
    assert row["t"].startswith("2026-01-0")
    assert row["t"][-3] in "+-"
    assert row | {"t": ""} == {
        "x": 1, "x (2)": 2, "n": None, "i": None, "d": 1.5, "z": None, "t": "", "l": [1, None], "s": {"a": "2026-01-02"}
    }  # fmt: skip
    shown = headrace("results", kept, "--sql", "select 1 as x, 2 as x, now() as t").stdout
    assert shown.split()[:3] == ["x", "x", "(2)"]
    assert json.loads(headrace("results", kept, "--json", "--sql", "select 1 where false").stdout) == []


def test_a_long_answer_comes_as_it_is_found(kept: Path) -> None:
    with asked(kept, "select i from range(100_000_000_000) t(i)") as (columns, rows):
        assert (columns, [next(rows) for _ in range(3)]) == (["i"], [(0,), (1,), (2,)])
    assert query(kept, "select count(*) as n from records") == (["n"], [(6,)])
    ran = subprocess.run(
        f"{Path(sys.executable).with_name('headrace')} results {kept} --json "
        "--sql 'select i from range(100_000_000_000) t(i)' | head -2",
        shell=True, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert ran.stdout == '[\n  {"i": 0},\n'
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize(("file", "count"), [("sweep.py", 6), ("logs.py", 6)])
def test_every_benchmark_works(tmp_path: Path, file: str, count: int) -> None:
    """At its smallest size: no time is asserted. Those of Rust run in the tests of their own crate."""
    command = [sys.executable, str(ROOT / "benches" / file), str(tmp_path / "bench.json"), "--smallest"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    figures = json.loads((tmp_path / "bench.json").read_text())
    assert len(figures) == count
    assert all(number > 0 for number in figures.values())
