"""A log in another form: the table as Parquet, operations as CSV, or a scenario that replays them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from headrace.files import as_parquet, whole, write_whole
from headrace.logs import replayed, scenario
from headrace.logs.reading import Log

Json = dict[str, Any]


def convert(log: Log, to: str | Path) -> Json:
    """Write a log whole, or not at all: its table where `to` ends in `.parquet`, a scenario beside its operations
    where it ends in `.yaml`, else operations as CSV.

    Returns the number of rows written, of those left out by reason, of reads by location of their files, and what was
    odd.
    """
    told: Json = {"rows": log.table.height, "left_out": {}, "locations": {}}
    if Path(to).suffix == ".parquet":
        with whole(to) as part:
            part.write_bytes(as_parquet(log.table))
    else:
        made, left_out = replayed.of(log.table)
        csv = Path(to).with_suffix(".csv")
        if Path(to).suffix == ".yaml":
            write_whole(to, scenario.of(log, made, csv.name, Path(to)))
        replayed.write(made, csv)
        told = {"rows": made.height, "left_out": left_out, "locations": replayed.locations(made)}
    return told | {"skipped": log.skipped, "rules": log.rules, "odd": [asdict(odd) for odd in log.odd]}
