"""The one table that every log becomes: a row for each operation, the same columns whatever the format."""

import polars as pl

# Column: its type, its unit, what it holds. A log that does not say leaves it empty.
COLUMNS: dict[str, tuple[type[pl.DataType] | pl.DataType, str, str]] = {
    "log": (pl.String, "", "the file it comes from"),
    "line": (pl.Int64, "", "line number, from 1"),
    "time": (pl.Datetime("us"), "log's clock", "start of the operation"),
    "requested": (pl.Datetime("us"), "log's clock", "time of the request, if logged"),
    "op": (
        pl.String,
        "",
        "get, put, stage (tape to disk), migrate (disk to tape), purge (of a copy), delete, session, stored",
    ),
    "user": (pl.String, "", "user"),
    "host": (pl.String, "", "client host"),
    "job": (pl.String, "", "identifier shared by the lines of a request: UniTree's persona"),
    "file": (pl.String, "", "the file, or the cartridge"),
    "bytes": (pl.Int64, "B", "bytes moved, or the size of the file if none were moved"),
    "file_bytes": (pl.Int64, "B", "size of the file, if logged in addition to the bytes moved"),
    "seconds": (pl.Float64, "s", "duration"),
    "staged": (pl.Boolean, "", "true if it had to be read from tape first"),
    "stage_s": (pl.Float64, "s", "time for tape before the transfer, if the file was staged"),
    "cartridge": (pl.String, "", "cartridge of the file, if logged"),
    "position": (pl.Int64, "", "sequence number on the cartridge, from 1"),
    "position_bytes": (pl.Int64, "B", "where the file begins on its cartridge, if logged"),
    "drive": (pl.String, "", "drive of the tape, if logged"),
    "mount_s": (pl.Float64, "s", "mount time"),
    "position_s": (pl.Float64, "s", "positioning time"),
    "transfer_s": (pl.Float64, "s", "time to read or write"),
    "total_s": (pl.Float64, "s", "time from request to completion, including queueing"),
    "outcome": (pl.String, "", "done, failed, len failure (UniTree's), or other (moves no file)"),
}
SCHEMA = pl.Schema({name: kind for name, (kind, _, _) in COLUMNS.items()})
LONGEST_S = 10 * 366 * 86400.0  # A longer operation than ten years is a mistake in the log.


def tidy(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with all columns of the table in their order and type; those that it lacks are empty."""
    missing = [pl.lit(None, kind).alias(name) for name, kind in SCHEMA.items() if name not in frame.columns]
    return frame.with_columns(missing).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def empty() -> pl.DataFrame:
    """Return the table without rows."""
    return pl.DataFrame(schema=SCHEMA)


def after(time: pl.Expr, seconds: pl.Expr) -> pl.Expr:
    """Return the time that is this number of seconds later, to the microsecond."""
    return time + pl.duration(microseconds=(seconds * 1e6).round().cast(pl.Int64))


def ended() -> pl.Expr:
    """Return when each operation ended."""
    return after(pl.col("time"), pl.col("seconds").fill_null(0))
