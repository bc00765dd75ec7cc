"""Files of a store: its manifest, and its records as frames."""

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import ScenarioError
from headrace.errors import read_text, refusal
from headrace.experiment.journal import PLAIN, appended, beginning
from headrace.experiment.task import Record
from headrace.files import as_parquet, whole, write_whole

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]

TRIES = 5
OTHERS = {
    "headrace": "another version of headrace",
    "scenario": "another scenario",
    "changes": "another scenario",
    "beside": "other devices or traces beside the scenario",
}


def files(folder: str | Path | None) -> list[Path]:
    """Return the files that a store is, or will be."""
    if folder is None:
        return []
    own = [Path(folder) / name for name in ("manifest.json", "records.parquet", ".lock", "optuna.log")]
    return [*own, *sorted((Path(folder) / "journal").glob("*.jsonl"))]


def manifest(folder: str | Path) -> Json:
    """Return what a store says of itself; raise `ScenarioError` where there is none, or it is damaged."""
    file = Path(folder) / "manifest.json"
    if not file.exists():
        within = ", ".join(str(store.parent) for store in sorted(Path(folder).glob("*/manifest.json")))
        help_ = f"name one of the stores in it: {within}" if within else "name the folder that `--store` named"
        raise refusal(folder, f"{folder} holds no records of a sweep", help_)
    try:
        told = json.loads(read_text(file))
    except (ValueError, ScenarioError) as error:
        why = str(error).removeprefix("error: ").splitlines()[0]
        raise refusal(file, f"{file} is damaged: {why}", "restore it, or name another folder") from None
    if not isinstance(told, dict) or not {*OTHERS, "file", "places"} <= told.keys():
        raise refusal(file, f"{file} is damaged: it lacks what a store says of itself", "name another folder")
    if told.pop("sum", None) != _sum_of(told):
        raise refusal(file, f"{file} is damaged: its checksum does not fit", "restore it, or name another folder")
    return told


def write_manifest(folder: Path, told: Json) -> None:
    """Write what a store says of itself, with a checksum."""
    write_whole(folder / "manifest.json", json.dumps(told | {"sum": _sum_of(told)}, indent=1))


def _sum_of(told: Json) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def write_compacted(folder: Path, records: list[Record]) -> None:
    """Write `records.parquet`, and its checksum into the manifest; who is killed between leaves both in order."""
    before, rows = manifest(folder), as_parquet(flattened(records))
    made = hashlib.sha256(rows).hexdigest()
    with whole(folder / "records.parquet") as part:
        part.write_bytes(rows)
        # Until the file has its name, the old one counts too.
        write_manifest(folder, before | {"records": [*before.get("records", [])[-1:], made]})
    write_manifest(folder, before | {"records": [made]})


def check_sum(folder: Path) -> None:
    """Refuse a `records.parquet` that is not the one which was written."""
    for _ in range(TRIES):  # Another process may just be writing both.
        try:
            found = hashlib.sha256((folder / "records.parquet").read_bytes()).hexdigest()
        except OSError as error:
            raise _damaged(folder, error.strerror or str(error)) from None
        if found in manifest(folder).get("records", []):
            return
        time.sleep(0.05)
    raise _damaged(folder, "its checksum is not the one in manifest.json")


def _damaged(folder: Path, why: str) -> ScenarioError:
    file = folder / "records.parquet"
    return refusal(file, f"{file} is damaged: {why}", "restore it, or remove it: its runs are done again")


def frame(folder: str | Path) -> "polars.DataFrame":
    """Return all records of a store, one a row: point, replication, …, the places varied, the metrics."""
    import polars

    folder = Path(folder)
    manifest(folder)
    frames = []
    for journal in sorted((folder / "journal").glob("*.jsonl")):
        if records := appended(journal, beginning(journal))[0]:
            frames.append(flattened(records))
    # After the journals, since one may just have gone into it.
    if (folder / "records.parquet").exists():
        frames.append(compacted(folder))
    if not frames:
        raise refusal(folder, f"{folder} holds no records yet", "wait for the first")
    together = polars.concat(frames, how="diagonal_relaxed")
    return together.unique(["point", "replication"], keep="first", maintain_order=True)


def everything(folder: str | Path) -> tuple[Json, list[Record]]:
    """Return what a store says of itself, and all its records."""
    told = manifest(folder)
    return told, list(unflattened(frame(folder)))


def compacted(folder: Path) -> "polars.DataFrame":
    """Return the records that are no longer in a journal."""
    import polars

    check_sum(folder)
    try:
        rows = polars.read_parquet(folder / "records.parquet")
    except (polars.exceptions.PolarsError, OSError) as error:
        raise _damaged(folder, str(error).splitlines()[0]) from None
    if not {*PLAIN, "values"} <= set(rows.columns):
        raise _damaged(folder, "it lacks what records have")
    return rows


def flattened(records: list[Record]) -> "polars.DataFrame":
    """Return records as a frame: a column for each place that varies, and for each metric.

    A column has one type, values may have several: as they were told they stand in the column `values`, as JSON.
    """
    import polars

    rows: list[Json] = []
    for record in records:
        plain: Json = {name: value for name, value in record.items() if name in PLAIN}
        rows.append(plain | {"values": json.dumps(record["values"])} | record["values"] | record["metrics"])
    return polars.DataFrame(rows, infer_schema_length=None, strict=False)


def unflattened(rows: "polars.DataFrame") -> Iterator[Record]:
    """Give the records that `flattened` made a frame of."""
    for row in rows.iter_rows(named=True):
        plain = {name: row.pop(name) for name in PLAIN}
        values = json.loads(row.pop("values"))
        metrics = {name: value for name, value in row.items() if isinstance(value, float) and name not in values}
        yield Record(values=values, metrics=metrics, **plain)  # type: ignore[typeddict-item]
