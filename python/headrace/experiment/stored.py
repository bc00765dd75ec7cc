"""What stands in the folder of a store: its manifest, and its records as frames."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.experiment.task import Record
from headrace.mistakes import refusal

if TYPE_CHECKING:
    import polars

Json = dict[str, Any]

PLAIN = ("point", "replication", "ok", "reason", "overloaded", "saturated", "final", "trusted", "seconds", "host")

OTHERS = {
    "headrace": "another version of headrace",
    "scenario": "another scenario",
    "changes": "another scenario",
    "beside": "other devices or traces beside the scenario",
}


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
        if records := appended(journal, 0)[0]:
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


def appended(journal: Path, begin: int) -> tuple[list[Record], int]:
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


def compacted(folder: Path) -> "polars.DataFrame":
    """Return the records that are no longer in a journal."""
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


def unflattened(rows: "polars.DataFrame") -> Iterator[Record]:
    """Give the records that `flattened` made a frame of."""
    for row in rows.iter_rows(named=True):
        plain = {name: row.pop(name) for name in PLAIN}
        values = json.loads(row.pop("values"))
        metrics = {name: value for name, value in row.items() if isinstance(value, float) and name not in values}
        yield Record(values=values, metrics=metrics, **plain)  # type: ignore[typeddict-item]
