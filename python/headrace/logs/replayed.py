"""The file operations that a simulation replays: a CSV file, or a frame of the same columns."""

from pathlib import Path

import polars as pl

from headrace.files import whole
from headrace.logs.merge import asked, with_files

# `bytes` is what is moved, at least 1, and `file_bytes` the size of the file, a column only where they differ;
# `staged` is 1 where a file was read from tape, 0 where it was on disk, and empty where the log does not say;
# `measured_s` is the response time; `drive_s` is for how long a session uses a drive.
COLUMNS = ("time_s", "op", "user", "host", "file", "bytes", "staged", "measured_s", "drive_s")
WITH_SIZES = (*COLUMNS, "file_bytes")
REPLAYED = ("get", "put", "stage", "delete", "session")


def of(table: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return a log's table as operations, and how many lines were left out or changed, by reason.

    `time_s` counts from the first operation.
    """
    known, is_session = table, pl.col("op") == "session"
    is_purge = pl.col("op").eq("purge") & pl.col("outcome").eq("done")
    kept = known.filter(pl.col("op").is_in(REPLAYED) & (pl.col("outcome") == "done"))
    counts = {
        "failed": known.filter(pl.col("outcome") == "failed").height,
        "purge of a copy: the archive purges by itself": known.filter(is_purge).height,
        "no operation on a file": known.filter(
            (pl.col("outcome") == "other") | (pl.col("outcome").eq("done") & ~pl.col("op").is_in(REPLAYED) & ~is_purge)
        ).height,
        "size 0 or unknown: written as 1 byte": kept.filter((pl.col("bytes").fill_null(0) < 1) & ~is_session).height,
    }
    named = with_files(kept) if kept["file"].null_count() else kept
    size = pl.coalesce("file_bytes", "bytes")
    since = (asked() - asked().min()).dt.total_microseconds() / 1e6
    made = named.sort(asked(), maintain_order=True).with_columns(
        time_s=since,
        # A put, or what comes from tape, is the whole file.
        bytes=pl.when(pl.col("op") == "get").then("bytes").otherwise(size).fill_null(1).clip(1),
        file_bytes=pl.when(pl.col("op") == "get").then(size.clip(1)),
        staged=from_tape(),
        measured_s=pl.when(~is_session).then(_response()),
        drive_s=pl.when(is_session).then("seconds"),
    )
    is_partial = made.filter(pl.col("bytes") != pl.col("file_bytes")).height > 0
    return made.select(WITH_SIZES if is_partial else COLUMNS), counts


def from_tape() -> pl.Expr:
    """Return true where a file came from tape: it was staged, or the log has a time for its staging.

    Otherwise what the log says; null where it says nothing.
    """
    return pl.when((pl.col("op") == "stage") | pl.col("stage_s").is_not_null()).then(True).otherwise("staged")


def locations(operations: pl.DataFrame) -> dict[str, int]:
    """Return the number of reads whose file was on tape, and of those for which the log does not say."""
    staged = operations.filter(pl.col("op").is_in(["get", "stage"]))["staged"]
    return {
        "gets and stages of files on tape": int(staged.sum()),
        "gets of files whose location the log does not give: `unseen` of the scenario decides": staged.null_count(),
    }


def _response() -> pl.Expr:
    """Return the time from the request to the end: by the log, or of tape and transfer where that is more.

    UniTree's COND has whole seconds, so a short transfer takes 0 s by it.
    """
    moves = pl.col("op").is_in(["get", "put"])
    parts = pl.col("seconds") + pl.when(moves).then("stage_s").otherwise(None).fill_null(0)
    return pl.max_horizontal("total_s", parts)


def write(operations: pl.DataFrame, file: str | Path, *, synthetic: bool = False) -> None:
    """Write operations as CSV: whole, or not at all. Synthetic ones have a column that says so.

    A name that a spreadsheet would run is written behind a `'`, wherever it stands, so that it remains one name.
    """
    missing = [pl.lit(None, pl.Float64).alias(name) for name in COLUMNS if name not in operations.columns]
    marked = [pl.lit(1).alias("synthetic")] if synthetic else []
    columns = WITH_SIZES if "file_bytes" in operations.columns else COLUMNS
    frame = operations.with_columns(missing).with_columns(pl.col("staged").cast(pl.Int8)).select(*columns, *marked)
    names = [_as_text(name) for name, kind in frame.schema.items() if kind == pl.String]
    with whole(file) as part, part.open("wb") as out:
        frame.with_columns(names).write_csv(out, float_precision=6)


def _as_text(column: str) -> pl.Expr:
    """Return a column of names, a `'` before those that begin as a formula does; what is a number is none."""
    name = pl.col(column)
    is_formula = name.str.contains(r"^[=+\-@\t\r]") & name.cast(pl.Float64, strict=False).is_null()
    return pl.when(is_formula).then(pl.lit("'") + name).otherwise(name).alias(column)
