"""Parquet files: the table that `headrace logs convert` writes, and the requests of a simulated archive or library.

The latter are as `headrace run --save-requests` writes them.

Times count from 1970-01-01. A transfer begins after the time for which limits, ports and the tape held it back; a
session takes the time for which it has a drive.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl

from headrace.errors import refusal
from headrace.logs.formats.form import Format
from headrace.logs.table import SCHEMA, tidy

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


TABLE = Format(name="table", about="a Parquet file of `headrace logs convert`", example="", pattern="", columns={})
PART = 1 << 19  # Rows that are read at once.


def is_parquet(file: Path) -> bool:
    """Return true for a Parquet file."""
    with suppress(OSError):  # Who reads it as lines says what is wrong.
        if file.is_file():  # A pipe is read once.
            with file.open("rb") as opened:
                return opened.read(4) == b"PAR1"
    return False


def read(file: Path) -> tuple[Format, Iterator[pl.DataFrame]]:
    """Return what a file has, and its rows, with `text` and `reason` as of lines.

    Raises `ScenarioError` where they are neither a table nor those of one replication of an archive or a library.
    """
    try:
        columns = pl.scan_parquet(file).collect_schema()
    except pl.exceptions.ComputeError as error:
        raise refusal(file, f"{file} is no whole Parquet file: {error}", "write it again") from None
    return (TABLE, _table(file)) if set(SCHEMA.names()) <= set(columns) else (REQUESTS, _requests(file))


def _as_lines(rows: pl.DataFrame) -> pl.DataFrame:
    return tidy(rows).with_columns(text=pl.lit(""), reason=pl.lit(None, pl.String))


def _table(file: Path) -> Iterator[pl.DataFrame]:
    whole, at = pl.scan_parquet(file), 0
    while (part := whole.slice(at, PART).collect()).height:
        yield _as_lines(part)
        at += PART


def _requests(file: Path) -> Iterator[pl.DataFrame]:
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
    rows = found.filter(pl.col("op").is_in(OPS)).with_row_index("line", 1).with_columns(**REQUESTS.columns)
    yield _as_lines(rows)
