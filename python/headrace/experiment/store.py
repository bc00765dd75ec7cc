"""Store of the records of an experiment.

A folder with `manifest.json` (the scenario, the version), `records.parquet` (all records when a sweep ended), and in
`journal/` one journal a process. So a process may be killed at any moment, and several may fill one store: a record
counts from the moment its line is whole. All of it has checksums, without which nothing is read.
"""

import fcntl
import hashlib
import json
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from headrace._core import ScenarioError, __version__
from headrace.errors import refusal
from headrace.experiment import stored
from headrace.experiment.design import Experiment
from headrace.experiment.journal import Journal, Place, appended, beginning
from headrace.experiment.task import Record
from headrace.files import NotKept, is_free, keep_apart, sync, tidy

Json = dict[str, Any]
Key = tuple[str, int]


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
        keep_apart({str(file): file for file in (self.folder, *stored.files(folder))}, experiment.inputs())
        try:
            (self.folder / "journal").mkdir(parents=True, exist_ok=True)
            self._agree(experiment)
            sync(self.folder.parent)
            sync(self.folder)
            self._journal = Journal(self.folder / "journal")
        except OSError as error:
            message = f"{folder} cannot hold a store: {error.strerror}"
            raise refusal(folder, message, "name a folder that can be written") from None
        self._read: dict[Path, Place] = {}
        self.refresh()
        self._take_compacted()

    def _agree(self, experiment: Experiment) -> None:
        wanted = json.loads(json.dumps(_identity(experiment)))
        with self._locked():
            file = self.folder / "manifest.json"
            if not file.exists():
                made = {"host": socket.gethostname(), "made": datetime.now(UTC).isoformat(), "places": []}
                told = {"file": experiment.scenario.file, "resolved": _resolved(experiment)}
                stored.write_manifest(self.folder, wanted | told | made)
            self.manifest = stored.manifest(self.folder)
            for what, value in wanted.items():
                if self.manifest[what] != value:
                    message = f"{self.folder} holds records of {stored.OTHERS[what]}"
                    raise refusal(self.folder, message, "name another folder, or remove it")
            places = dict.fromkeys([*self.manifest["places"], *experiment.places])
            if list(places) != self.manifest["places"]:
                self.manifest["places"] = list(places)
                stored.write_manifest(self.folder, self.manifest)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep others from changing what all share."""
        with open(self.folder / ".lock", "a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            tidy(self.folder)
            yield

    def add(self, record: Record) -> None:
        """Keep a record: it counts as soon as this returns, whatever happens to the process.

        What failed for reasons of this machine is known to this process only, and tried again by the next.
        """
        super().add(record)
        if record["final"]:
            with self._warning():
                self._journal.append(record)

    @contextmanager
    def _warning(self) -> Iterator[None]:
        """Warn if runs cannot be kept; what is found of them is not lost for this process."""
        try:
            yield
        except OSError as error:
            message = (
                f"{self.folder} cannot keep every run: {error.strerror}; free some room, and run what is left again"
            )
            warnings.warn(message, NotKept, stacklevel=4)

    def refresh(self) -> None:
        """Learn what other processes have added."""
        for journal in sorted((self.folder / "journal").glob("*.jsonl")):
            if journal == self._journal.path:
                continue
            records, self._read[journal] = appended(journal, self._read.get(journal) or beginning(journal))
            for record in records:
                super().add(record)

    def _take_compacted(self) -> None:
        """Learn what is in `records.parquet`; after the journals, since one may just have gone into it."""
        if (self.folder / "records.parquet").exists():
            for record in stored.unflattened(stored.compacted(self.folder)):
                super().add(record)

    def compact(self) -> None:
        """Put all records into `records.parquet`, and give up this process's own journal: all is on disk then.

        Where there is no room for that, they stay in the journals.
        """
        try:
            with self._warning(), self._locked():
                self._gather()
        finally:
            with self._warning():
                self._journal.close()

    def _gather(self) -> None:
        gone = [journal for journal in (self.folder / "journal").glob("*.jsonl") if is_free(journal)]
        self.refresh()
        self._take_compacted()
        if kept := [record for record in self.records.values() if record["final"]]:
            stored.write_compacted(self.folder, kept)
        for journal in (*gone, self._journal.path):
            journal.unlink(missing_ok=True)
            self._read.pop(journal, None)


def _refuse_foreign(folder: Path) -> None:
    """Refuse a folder with files of someone else; another process may just be making a store of it."""
    # Whoever has a journal has made the manifest before.
    journals = sorted(f"journal/{journal.name}" for journal in folder.glob("journal/*"))
    names = sorted(file.name for file in folder.glob("*"))
    others = journals + [name for name in names if name[0] != "." and name != "journal"]
    if others and "manifest.json" not in names:
        message = f"{folder} is no store: it has {', '.join(others[:3])}, and no manifest.json"
        raise refusal(folder, message, "name a new folder")


def _identity(experiment: Experiment) -> Json:
    """Return what records must have in common to stand in one store."""
    scenario = experiment.scenario
    return {
        "headrace": __version__,
        "scenario": scenario.text,
        "changes": scenario.changes,
        "beside": _beside(experiment),
    }


def _resolved(experiment: Experiment) -> Json | None:
    """Return the scenario of the first point that can be run, defaults and seed filled in."""
    for point in experiment.points:
        try:
            return experiment.scenario.with_(point.values).check()
        except ScenarioError:
            continue
    return None


def _beside(experiment: Experiment) -> str:
    """Return a digest of the files that a scenario names: devices by what is in them, traces by their size and time."""
    found = hashlib.sha256()
    for file in sorted(set(experiment.inputs()) - {Path(experiment.scenario.file)}):
        if file.suffix == ".yaml" and file.is_file():
            found.update(file.name.encode() + file.read_bytes())
        elif file.is_file():
            found.update(f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}".encode())
    return found.hexdigest()
