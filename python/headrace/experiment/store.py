"""Where the records of an experiment are kept.

A folder with `manifest.json` (the scenario, the version), `records.parquet` (all records when a sweep ended), and in
`journal/` one file a process, to which it appends a line as soon as a task is done. So a process may be killed at any
moment, and several may fill one store: a record counts from the moment its line is whole.
"""

import fcntl
import json
import os
import secrets
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import __version__
from headrace.experiment.design import Experiment
from headrace.experiment.task import Record
from headrace.files import whole, write_whole
from headrace.mistakes import refusal

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]
Key = tuple[str, int]

PLAIN = ("point", "replication", "ok", "reason", "overloaded", "trusted", "seconds", "host")


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
        (self.folder / "journal").mkdir(parents=True, exist_ok=True)
        self._agree(experiment)
        name = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        self._own = self.folder / "journal" / name
        self._read: dict[Path, int] = {}
        if (self.folder / "records.parquet").exists():
            for record in _unflattened(_parquet(self.folder), self.manifest["places"]):
                super().add(record)
        self.refresh()

    def _agree(self, experiment: Experiment) -> None:
        scenario = experiment.scenario
        wanted = {"headrace": __version__, "scenario": scenario.text, "changes": scenario.changes}
        with self._locked():
            file = self.folder / "manifest.json"
            if not file.exists():
                made = {"file": scenario.file, "host": socket.gethostname(), "made": datetime.now(UTC).isoformat()}
                write_whole(file, json.dumps(wanted | made | {"places": []}, indent=1))
            self.manifest = manifest(self.folder)
            for what, value in json.loads(json.dumps(wanted)).items():
                if self.manifest[what] != value:
                    message = (
                        f"{self.folder} holds records of another {'version' if what == 'headrace' else 'scenario'}"
                    )
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
        """Keep a record: it counts as soon as this returns, whatever happens then."""
        super().add(record)
        line = (json.dumps(record) + "\n").encode()
        with open(self._own, "ab", buffering=0) as journal:
            journal.write(line)

    def refresh(self) -> None:
        """Learn what other processes have added."""
        for journal in sorted((self.folder / "journal").glob("*.jsonl")):
            if journal != self._own and journal.stat().st_size > self._read.get(journal, 0):
                records, self._read[journal] = _lines(journal, self._read.get(journal, 0))
                for record in records:
                    super().add(record)

    def compact(self) -> None:
        """Put all records into `records.parquet`, and give up this process's own journal."""
        with self._locked():
            self.refresh()
            if (self.folder / "records.parquet").exists():
                # Another process may have put its journal there since.
                for record in _unflattened(_parquet(self.folder), manifest(self.folder)["places"]):
                    super().add(record)
            if self.records:
                with whole(self.folder / "records.parquet") as file:
                    flattened(list(self.records.values())).write_parquet(file)
            self._own.unlink(missing_ok=True)
            # Those who wrote these are gone; what they wrote is safe now.
            for journal in list(self._read):
                if not _alive(journal):
                    journal.unlink(missing_ok=True)
                    del self._read[journal]


def _alive(journal: Path) -> bool:
    """Whether the process that writes a journal may still be there."""
    host, process, _ = journal.stem.rsplit("-", 2)
    return host != socket.gethostname() or Path(f"/proc/{process}").exists()


def _lines(journal: Path, begin: int) -> tuple[list[Record], int]:
    """Return the records from a place in a journal on, and where the last whole line ends."""
    with open(journal, "rb") as file:
        file.seek(begin)
        text = file.read()
    end = text.rfind(b"\n") + 1
    return [json.loads(line) for line in text[:end].splitlines()], begin + end


def manifest(folder: str | Path) -> Json:
    """Return what a store says of itself; raise `ScenarioError` where there is none."""
    file = Path(folder) / "manifest.json"
    if not file.exists():
        raise refusal(folder, f"{folder} holds no records of a sweep", "name the folder that `--store` named")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def frame(folder: str | Path) -> "polars.DataFrame":
    """Return all records of a store, one a row: point, replication, …, the places varied, the metrics."""
    import polars  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    manifest(folder)
    frames = [_parquet(Path(folder))] if (Path(folder) / "records.parquet").exists() else []
    for journal in sorted((Path(folder) / "journal").glob("*.jsonl")):
        if records := _lines(journal, 0)[0]:
            frames.append(flattened(records))
    if not frames:
        raise refusal(folder, f"{folder} holds no records yet", "wait for the first")
    return polars.concat(frames, how="diagonal_relaxed").unique(
        ["point", "replication"], keep="first", maintain_order=True
    )


def everything(folder: str | Path) -> tuple[Json, list[Record]]:
    """Return what a store says of itself, and all its records."""
    told = manifest(folder)
    return told, list(_unflattened(frame(folder), told["places"]))


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
            return [column[0] for column in found.description or []], found.fetchall()
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

    return polars.read_parquet(folder / "records.parquet")


def flattened(records: list[Record]) -> "polars.DataFrame":
    """Return records as a frame: a column for each place that varies, and for each metric."""
    import polars  # noqa: PLC0415

    rows = [{name: record[name] for name in PLAIN} | record["values"] | record["metrics"] for record in records]  # type: ignore[literal-required]
    return polars.DataFrame(rows, infer_schema_length=None, strict=False)


def _unflattened(rows: "polars.DataFrame", places: list[str]) -> Iterator[Record]:
    for row in rows.iter_rows(named=True):
        plain = {name: row.pop(name) for name in PLAIN}
        values = {place: row.pop(place) for place in places if row.get(place) is not None}
        metrics = {name: value for name, value in row.items() if value is not None and name not in places}
        yield Record(values=values, metrics=metrics, **plain)  # type: ignore[typeddict-item]
