"""UniTree's transfer log, of NFT and FTP: a line for each transfer, written at its end.

`005041 97/10/01 00:01:41 js 7700 0.425`: user, date and time of the end, source and destination, bytes, seconds.
Storage is `s`, so `js` is a put from machine `j`, and `sj` a get. FTP's times are whole seconds, and 0.499 below one.
"""

import polars as pl

from headrace.logs.formats.form import Format, before, is_date, is_duration, is_size, milliseconds, number, stamp, whole

STORAGE = "s"
DATES = "a date is YY/MM/DD and a time HH:MM:SS, such as 97/10/01 00:01:41"
_WHEN = stamp(pl.col("at").str.replace_all(r"\s+", " "), "%y/%m/%d %H:%M:%S")
_PUT = pl.col("to") == STORAGE

TRANSFERS = Format(
    name="transfers",
    about="user, date, time of the end, source and destination, bytes, seconds",
    example="005041 97/10/01 00:01:41 js 7700 0.425",
    pattern=r"^\s*(?<user>\w+)\s+(?<at>\d\d/\d\d/\d\d\s+\d\d:\d\d:\d\d)\s+(?<from>[A-Za-z])(?<to>[A-Za-z])\s+"
    r"(?<bytes>\d+)\s+(?<seconds>\d+(?:\.\d+)?)$",
    columns={
        "time": before(_WHEN, number("seconds")),
        "op": pl.when(_PUT).then(pl.lit("put")).otherwise(pl.lit("get")),
        "host": pl.when(_PUT).then("from").otherwise("to"),
        "bytes": whole("bytes"),
        "seconds": number("seconds"),
        "outcome": pl.lit("done"),
    },
    wrong={
        "no time taken": is_duration(),
        "no date": is_date(DATES),
        "no size": is_size(),
        "storage is at neither end": (
            (pl.col("from") == STORAGE) == (pl.col("to") == STORAGE),
            "one of the two letters is `s`, for storage: `js` is a put from machine j, `sj` a get",
        ),
    },
    stamped_at_end=True,
    largest=4 * 10**9,
    rounded=True,
)


def written(table: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of these transfers, each with its `end`."""
    ends = (pl.col("time") + pl.duration(microseconds=(pl.col("seconds") * 1e6).cast(pl.Int64))).alias("end")
    done = table.filter(pl.col("op").is_in(["get", "put"])).with_columns(ends)
    put = pl.col("op") == "put"
    letters = pl.when(put).then(pl.col("host") + STORAGE).otherwise(STORAGE + pl.col("host"))
    parts = [
        pl.col("user"),
        pl.col("end").dt.strftime("%y/%m/%d %H:%M:%S"),
        letters,
        pl.col("bytes").cast(pl.String),
        milliseconds(pl.col("seconds")),
    ]
    return done.select("end", pl.concat_str(parts, separator=" ").alias("text"))
