"""Where the records of an experiment are kept.

A folder with `manifest.json` (the scenario, the version), `records.parquet` (all records when a sweep ended), and in
`journal/` one file a process, to which it appends a line as soon as a task is done. So a process may be killed at any
moment, and several may fill one store: a record counts from the moment its line is whole.
"""

import fcntl
import hashlib
import json
import os
import re
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import ScenarioError, __version__
from headrace.experiment.design import Experiment
from headrace.experiment.task import Record
from headrace.files import whole, write_whole
from headrace.mistakes import refusal

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]
Key = tuple[str, int]

PLAIN = ("point", "replication", "ok", "reason", "overloaded", "saturated", "final", "trusted", "seconds", "host")


class Memory:
    """Records that nobody wants to keep."""

    def __init__(self) -> None:
        self.records: dict[Key, Record] = {}

    def add(self, record: Record) -> None:
        """Keep a record."""
        self.records.setdefault((record["point"], record["replication"]), record)

    def refresh(self) -> None:
        """Nobody else fills this."""

    def compact(self) -> None:
        """Leave it as it is: it takes no room that matters."""


class Store(Memory):
    """Records in a folder, which is made where there is none."""

    def __init__(self, folder: str | Path, experiment: Experiment) -> None:
        super().__init__()
        self.folder = Path(folder)
        _refuse_foreign(self.folder)
        try:
            (self.folder / "journal").mkdir(parents=True, exist_ok=True)
            self._agree(experiment)
            self._open()
        except OSError as error:
            message = f"{folder} cannot hold a store: {error.strerror}"
            raise refusal(folder, message, "name a folder that can be written") from None
        self._read: dict[Path, int] = {}
        self.refresh()
        self._take_compacted()

    def _open(self) -> None:
        """Begin a journal; it is locked as long as this process lives, so that others know that it does."""
        name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._own = self.folder / "journal" / name
        self._journal = open(self._own, "ab", buffering=0)  # noqa: SIM115 - it is held until `compact`
        fcntl.flock(self._journal, fcntl.LOCK_EX)

    def _agree(self, experiment: Experiment) -> None:
        wanted = json.loads(json.dumps(_identity(experiment)))
        with self._locked():
            file = self.folder / "manifest.json"
            if not file.exists():
                made = {"host": socket.gethostname(), "made": datetime.now(UTC).isoformat(), "places": []}
                told = {"file": experiment.scenario.file, "resolved": _resolved(experiment)}
                write_whole(file, json.dumps(wanted | told | made, indent=1))
            self.manifest = manifest(self.folder)
            for what, value in wanted.items():
                if self.manifest[what] != value:
                    message = f"{self.folder} holds records of {OTHERS[what]}"
                    raise refusal(self.folder, message, "name another folder, or remove it")
            places = dict.fromkeys([*self.manifest["places"], *experiment.places])
            if list(places) != self.manifest["places"]:
                self.manifest["places"] = list(places)
                write_whole(file, json.dumps(self.manifest, indent=1))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep others from changing what all share."""
        with open(self.folder / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def add(self, record: Record) -> None:
        """Keep a record: it counts as soon as this returns, whatever happens then.

        What failed for reasons of this machine is known to this process only, and tried again by the next.
        """
        super().add(record)
        if record["final"]:
            self._journal.write((json.dumps(record) + "\n").encode())

    def refresh(self) -> None:
        """Learn what other processes have added."""
        for journal in sorted((self.folder / "journal").glob("*.jsonl")):
            if journal == self._own:
                continue
            records, self._read[journal] = _lines(journal, self._read.get(journal, 0))
            for record in records:
                super().add(record)

    def _take_compacted(self) -> None:
        """Learn what is in `records.parquet`; after the journals, since one may just have gone into it."""
        if (self.folder / "records.parquet").exists():
            for record in _unflattened(_parquet(self.folder)):
                super().add(record)

    def compact(self) -> None:
        """Put all records into `records.parquet`, and give up this process's own journal."""
        with self._locked():
            gone = [journal for journal in (self.folder / "journal").glob("*.jsonl") if _is_free(journal)]
            self.refresh()
            self._take_compacted()
            if kept := [record for record in self.records.values() if record["final"]]:
                with whole(self.folder / "records.parquet") as file:
                    flattened(kept).write_parquet(file)
            for journal in (*gone, self._own):
                journal.unlink(missing_ok=True)
                self._read.pop(journal, None)
            self._journal.close()


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files of someone else; another process may just be making a store of it."""
    # Whoever has a journal has made the manifest before.
    journals = sorted(f"journal/{journal.name}" for journal in folder.glob("journal/*"))
    names = sorted(file.name for file in folder.glob("*"))
    others = journals + [name for name in names if name[0] != "." and name != "journal"]
    if others and "manifest.json" not in names:
        message = f"{folder} is no store: it has {', '.join(others[:3])}, and no manifest.json"
        raise refusal(folder, message, "name a new folder")


OTHERS = {
    "headrace": "another version of headrace",
    "scenario": "another scenario",
    "changes": "another scenario",
    "beside": "other devices or traces beside the scenario",
}


def _identity(experiment: Experiment) -> Json:
    """Return what records must have in common to stand in one store."""
    scenario = experiment.scenario
    return {
        "headrace": __version__,
        "scenario": scenario.text,
        "changes": scenario.changes,
        "beside": _beside(Path(scenario.file).parent, scenario.text),
    }


def _resolved(experiment: Experiment) -> Json | None:
    """Return the scenario of the first point that can be run, defaults and seed filled in."""
    for point in experiment.points:
        try:
            return experiment.scenario.with_(point.values).check()
        except ScenarioError:
            continue
    return None


def _beside(folder: Path, text: str) -> str:
    """Return a digest of the files that a scenario may name: one's own devices, and traces by their size and time."""
    found = hashlib.sha256()
    for device in sorted((folder / "devices").glob("*.yaml")):
        found.update(device.name.encode() + device.read_bytes())
    for name in sorted(set(re.findall(r"trace:\s*[\"']?([^\"'\s,}]+)", text))):
        file = folder / name
        if file.is_file():
            found.update(f"{name} {file.stat().st_size} {file.stat().st_mtime_ns}".encode())
    return found.hexdigest()


def _is_free(journal: Path) -> bool:
    """Whether the process that wrote a journal has ended: it held a lock on it."""
    try:
        with open(journal, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _lines(journal: Path, begin: int) -> tuple[list[Record], int]:
    """Return the records from a place in a journal on, and where the last whole line ends."""
    try:
        with open(journal, "rb") as file:
            file.seek(begin)
            text = file.read()
    except FileNotFoundError:
        return [], begin  # Its process has just put it into `records.parquet`.
    end = text.rfind(b"\n") + 1
    try:
        records = [json.loads(line) for line in text[:end].splitlines()]
    except ValueError as error:
        raise refusal(journal, f"{journal} has a line that is no record: {error}", "remove that line") from None
    return records, begin + end


def manifest(folder: str | Path) -> Json:
    """Return what a store says of itself; raise `ScenarioError` where there is none."""
    file = Path(folder) / "manifest.json"
    if not file.exists():
        within = ", ".join(str(store.parent) for store in sorted(Path(folder).glob("*/manifest.json")))
        help_ = f"name one of the stores in it: {within}" if within else "name the folder that `--store` named"
        raise refusal(folder, f"{folder} holds no records of a sweep", help_)
    try:
        told = dict(json.loads(file.read_text(encoding="utf-8")))
    except ValueError as error:
        raise refusal(file, f"{file} is damaged: {error}", "restore it, or name another folder") from None
    if not {*OTHERS, "file", "places"} <= told.keys():
        raise refusal(file, f"{file} is damaged: it lacks what a store says of itself", "name another folder")
    return told


def frame(folder: str | Path) -> "polars.DataFrame":
    """Return all records of a store, one a row: point, replication, …, the places varied, the metrics."""
    import polars  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    folder = Path(folder)
    manifest(folder)
    frames = []
    for journal in sorted((folder / "journal").glob("*.jsonl")):
        if records := _lines(journal, 0)[0]:
            frames.append(flattened(records))
    # After the journals, since one may just have gone into it.
    if (folder / "records.parquet").exists():
        frames.append(_parquet(folder))
    if not frames:
        raise refusal(folder, f"{folder} holds no records yet", "wait for the first")
    together = polars.concat(frames, how="diagonal_relaxed")
    return together.unique(["point", "replication"], keep="first", maintain_order=True)


def everything(folder: str | Path) -> tuple[Json, list[Record]]:
    """Return what a store says of itself, and all its records."""
    told = manifest(folder)
    return told, list(_unflattened(frame(folder)))


def query(folder: str | Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Ask a store by SQL (DuckDB's): the table `records` has all of them, `points` their means by point.

    Returns the names of the columns and the rows. Raises `ScenarioError` with DuckDB's words where it does not
    understand.
    """
    import duckdb  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    with _as_parquet(Path(folder)) as file, duckdb.connect() as database:
        try:
            database.execute(f"CREATE VIEW records AS SELECT * FROM read_parquet('{_quoted(file)}')")
            database.execute(f"CREATE VIEW points AS {_by_point(database, manifest(folder)['places'])}")
            found = database.execute(sql)
            if found is None or not found.description:
                raise refusal(sql, "there is no question", "such as `select * from points`")
            return [column[0] for column in found.description], found.fetchall()
        except duckdb.Error as error:
            help_ = 'the tables are `records` and `points`; names with dots stand in "…"'
            raise refusal(sql, str(error), help_) from None


@contextmanager
def _as_parquet(folder: Path) -> Iterator[Path]:
    """Give one Parquet file with all records: the store's own where no journal has more."""
    file = folder / "records.parquet"
    if file.exists() and not any((folder / "journal").glob("*.jsonl")):
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="headrace-") as made:
        frame(folder).write_parquet(Path(made) / "records.parquet")
        yield Path(made) / "records.parquet"


def _quoted(file: Path) -> str:
    return str(file).replace("'", "''")


def _by_point(database: Any, places: list[str]) -> str:
    """Return the query that takes the mean of every metric by point."""
    columns = {name: kind for name, kind, *_ in database.execute("DESCRIBE records").fetchall()}
    by = ", ".join(f'"{name}"' for name in ("point", *places) if name in columns)
    means = [f'avg("{name}") AS "{name}"' for name, kind in columns.items() if kind == "DOUBLE" and name not in places]
    about = ["count(*) AS runs", "bool_and(ok) AS ok", "any_value(reason) AS reason"]
    return f"SELECT {by}, {', '.join(about + means)} FROM records GROUP BY {by}"


def _parquet(folder: Path) -> "polars.DataFrame":
    import polars  # noqa: PLC0415

    try:
        return polars.read_parquet(folder / "records.parquet")
    except (polars.exceptions.PolarsError, OSError) as error:
        message = f"{folder / 'records.parquet'} is damaged: {str(error).splitlines()[0]}"
        raise refusal(folder, message, "remove it: its runs are done again") from None


def flattened(records: list[Record]) -> "polars.DataFrame":
    """Return records as a frame: a column for each place that varies, and for each metric.

    A column has one type, values may have several: as they were told they stand in the column `values`, as JSON.
    """
    import polars  # noqa: PLC0415

    rows: list[Json] = []
    for record in records:
        plain: Json = {name: value for name, value in record.items() if name in PLAIN}
        rows.append(plain | {"values": json.dumps(record["values"])} | record["values"] | record["metrics"])
    return polars.DataFrame(rows, infer_schema_length=None, strict=False)


def _unflattened(rows: "polars.DataFrame") -> Iterator[Record]:
    for row in rows.iter_rows(named=True):
        plain = {name: row.pop(name) for name in PLAIN}
        values = json.loads(row.pop("values"))
        metrics = {name: value for name, value in row.items() if isinstance(value, float) and name not in values}
        yield Record(values=values, metrics=metrics, **plain)  # type: ignore[typeddict-item]
