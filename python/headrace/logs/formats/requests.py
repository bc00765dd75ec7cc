"""The requests of a simulated archive or tape library, as `headrace run --save-requests` writes them: Parquet.

Times count from 1970-01-01. A transfer begins after the time for which limits, ports and the tape held it back; a
session takes the time for which it has a drive.
"""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from headrace.errors import refusal
from headrace.logs.formats.form import Format
from headrace.logs.table import tidy

NEEDED = (
    "replication", "stream", "op", "address", "bytes", "issued_ns", "completed_ns", "user",
    "queued_ns", "tape_waiting_ns", "tape_service_ns",
)  # fmt: skip
OPS = ("get", "put", "stage", "delete", "session")
_ISSUED, _COMPLETED, _QUEUED, _WAITED, _TAPE = (pl.col(f"{name}_ns").cast(pl.Int64) for name in (
    "issued", "completed", "queued", "tape_waiting", "tape_service"
))  # fmt: skip
_OP, _RESPONSE = pl.col("op"), _COMPLETED - _ISSUED
_TAKEN = pl.when(_OP == "stage").then(_RESPONSE).when(_OP == "session").then(_TAPE).otherwise(
    _RESPONSE - _QUEUED - _WAITED - _TAPE
)  # fmt: skip
# A get that only waits at the tape waits for the recall of another request.
_STAGED = pl.when(_OP == "stage").then(_RESPONSE).when((_OP == "get") & (_TAPE > 0)).then(_WAITED + _TAPE)


def _time(ns: pl.Expr) -> pl.Expr:
    return (ns // 1000).cast(pl.Datetime("us"))


REQUESTS = Format(
    name="requests",
    about="a Parquet file of `headrace run --save-requests`",
    example="",
    pattern="",
    columns={
        "time": _time(_COMPLETED - _TAKEN),
        "requested": _time(_ISSUED),
        "user": pl.coalesce(pl.col("user").cast(pl.String), "stream"),
        "file": pl.col("address").cast(pl.String),
        "bytes": pl.when(_OP != "session").then("bytes"),
        "seconds": _TAKEN / 1e9,
        "staged": pl.when(_OP == "get").then(_WAITED + _TAPE > 0),
        "stage_s": _STAGED / 1e9,
        "total_s": _RESPONSE / 1e9,
        "outcome": pl.lit("done"),
    },
    stamped_at_end=True,
)


def rows(file: Path) -> Iterator[pl.DataFrame]:
    """Yield the requests of a file as rows of the table.

    Raises `ScenarioError` where they are not those of one replication of an archive or a library.
    """
    found = pl.read_parquet(file)
    if missing := [name for name in NEEDED if name not in found.columns]:
        help_ = "name files that `headrace run --save-requests FOLDER` wrote for an archive or a tape library"
        raise refusal(file, f"{file} has no column `{missing[0]}`", help_)
    if (found["replication"] > 0).any():
        raise refusal(
            file,
            f"{file} is of another replication than the first, whose requests have the same times",
            "name the files of one, `replication-00000-*.parquet`, or run it with `--replications 1`",
        )
    asked = found.filter(pl.col("op").is_in(OPS)).with_row_index("line", 1).with_columns(**REQUESTS.columns)
    yield tidy(asked)
