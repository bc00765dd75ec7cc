"""Parquet files as logs: the table that `headrace logs convert` writes, and the requests of a simulation."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import polars as pl

from headrace.errors import refusal
from headrace.logs.formats import requests
from headrace.logs.formats.form import Format
from headrace.logs.table import SCHEMA, tidy

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

    Raises `ScenarioError` where they are neither a table nor requests, or the file is damaged.
    """
    try:
        is_table = set(SCHEMA.names()) <= set(pl.scan_parquet(file).collect_schema())
    except pl.exceptions.ComputeError as error:
        raise _damaged(file, error) from None
    return (TABLE, _whole(file, _table(file))) if is_table else (requests.REQUESTS, _whole(file, requests.rows(file)))


def _damaged(file: Path, error: Exception) -> Exception:
    return refusal(file, f"{file} is no whole Parquet file: {error}", "write it again")


def _whole(file: Path, parts: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    try:
        for part in parts:
            yield part.with_columns(text=pl.lit(""), reason=pl.lit(None, pl.String))
    except pl.exceptions.ComputeError as error:
        raise _damaged(file, error) from None


def _table(file: Path) -> Iterator[pl.DataFrame]:
    whole, at = pl.scan_parquet(file), 0
    while (part := whole.slice(at, PART).collect()).height:
        yield tidy(part)
        at += PART
