"""A log in another form: the table as Parquet, operations as CSV, or a scenario that replays them."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from headrace.files import write_whole
from headrace.logs import replayed, scenario
from headrace.logs.reading import Log
from headrace.logs.rows import write_parquet

Json = dict[str, Any]


def convert(log: Log, to: str | Path) -> Json:
    """Write a log whole, or not at all: its table where `to` ends in `.parquet`, a scenario beside its operations
    where it ends in `.yaml`, else operations as CSV.

    Returns the number of rows written, of those left out by reason, of reads by location of their files, and what was
    odd.
    """
    told: Json = {"rows": log.rows.height, "left_out": {}, "locations": {}}
    if Path(to).suffix == ".parquet":
        write_parquet(log.rows.in_order(), to)
    else:
        made, csv = replayed.Operations(log.rows), Path(to).with_suffix(".csv")
        if Path(to).suffix == ".yaml":
            if made.is_of_sessions:
                made = replayed.Operations(log.rows, sessions_alone=True)
            write_whole(to, scenario.of(log, made, csv.name, Path(to)))
        replayed.write(made.batches(), csv)
        told = {"rows": made.height, "left_out": made.left_out, "locations": made.locations}
    return told | {"skipped": log.skipped, "rules": log.rules, "odd": [asdict(odd) for odd in log.odd]}
