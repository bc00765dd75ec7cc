"""UniTree's STAT log: what became of each job, at the time at which it did.

`98/05/05 00:20:56.383 2360 File transfer (j-s) 34713600 bytes in 25.115 seconds`: date, time, persona, and one of
three texts: `File transfer (from-to) N bytes in S seconds`, `File failure …` with codes behind it,
`File staged in S seconds`. A line may say `LEN failure` instead.
"""

import polars as pl

from headrace.logs.clients import attempts_that_failed, succeeded
from headrace.logs.formats.form import Format, before, is_date, is_duration, milliseconds, number, stamp, whole
from headrace.logs.formats.transfers import STORAGE

DATES = "a date is YY/MM/DD and a time HH:MM:SS.mmm, such as 98/05/05 00:20:56.383"
_WHEN = stamp(pl.col("at").str.replace_all(r"\s+", " "), "%y/%m/%d %H:%M:%S%.f")
_STAGED, _PUT = pl.col("staged").is_not_null(), pl.col("to") == STORAGE
_LENGTH = pl.col("length").is_not_null() | pl.col("codes").str.contains("LEN failure")
_NO_FILE = _STAGED | pl.col("length").is_not_null()
_TAKEN = pl.coalesce(number("staged"), number("taken"))

STAT = Format(
    name="stat",
    about="date, time, persona, and `File transfer`, `File failure` or `File staged`",
    example="98/05/05 00:20:56.383 2360 File transfer (j-s) 34713600 bytes in 25.115 seconds",
    pattern=r"^\s*(?<at>\d\d/\d\d/\d\d\s+\d\d:\d\d:\d\d(?:\.\d+)?)\s+(?<job>\d+)\s+(?:File\s+)?(?:"
    r"(?<what>transfer|failure)\s+\((?<from>[A-Za-z])-(?<to>[A-Za-z])\)\s+(?<bytes>\d+)\s+bytes\s+in\s+"
    r"(?<taken>\d+(?:\.\d+)?)\s+seconds(?<codes>.*)|staged\s+in\s+(?<staged>\d+(?:\.\d+)?)\s+seconds.*|"
    r"(?<length>LEN failure).*)$",
    columns={
        "time": before(_WHEN, pl.when(pl.col("length").is_null()).then(_TAKEN).otherwise(0)),
        "op": pl.when(_LENGTH)
        .then(None)
        .when(_STAGED)
        .then(pl.lit("stage"))
        .when(_PUT)
        .then(pl.lit("put"))
        .otherwise(pl.lit("get")),
        "host": pl.when(_PUT).then("from").otherwise("to"),
        "bytes": whole("bytes"),
        "seconds": _TAKEN,
        "stage_s": number("staged"),
        "staged": _STAGED,
        "outcome": pl.when(_LENGTH)
        .then(pl.lit("len failure"))
        .when(pl.col("what") == "failure")
        .then(pl.lit("failed"))
        .otherwise(pl.lit("done")),
    },
    wrong={
        "no time taken": (is_duration()[0] & pl.col("length").is_null(), is_duration()[1]),
        "no date": is_date(DATES),
        "no size": (pl.col("bytes").is_null() & ~_NO_FILE, "a size is a whole number of bytes below 2^63"),
        "storage is at neither end": (
            ((pl.col("from") == STORAGE) == (pl.col("to") == STORAGE)) & ~_NO_FILE,
            "one of the two letters is `s`, for storage: (j-s) is a put from machine j, (s-j) a get",
        ),
    },
    stamped_at_end=True,
    largest=4 * 10**9,
)


def written(table: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of these jobs, each with its `end`: of staging, of attempts that failed, and of the transfer."""
    staged = table.filter(pl.col("stage_s").is_not_null())
    tape = [pl.lit("File staged in"), pl.col("stage_s").round().cast(pl.Int64).cast(pl.String), pl.lit("seconds")]
    tried = [
        _lines(rows, pl.col("time") + _span(pl.col("seconds")), [*_moved(what), *codes])
        for what, rows, codes in (
            ("failure", attempts_that_failed(table), [pl.lit("-192 (Ftp 1000)")]),  # The codes of the report's example.
            ("transfer", succeeded(table), []),
        )
    ]
    return pl.concat([_lines(staged, pl.col("requested") + _span(pl.col("stage_s")), tape), *tried])


def _moved(what: str) -> list[pl.Expr]:
    to_storage, to_host = pl.col("host") + f"-{STORAGE}", f"{STORAGE}-" + pl.col("host")
    ends = pl.when(pl.col("op") == "put").then(to_storage).otherwise(to_host)
    size, taken = pl.col("bytes").cast(pl.String), milliseconds(pl.col("seconds"))
    return [pl.lit(f"File {what}"), "(" + ends + ")", size, pl.lit("bytes in"), taken, pl.lit("seconds")]


def _lines(table: pl.DataFrame, end: pl.Expr, said: list[pl.Expr]) -> pl.DataFrame:
    when = end.dt.strftime("%y/%m/%d %H:%M:%S%.3f")
    return table.select(end.alias("end"), pl.concat_str([when, pl.col("job"), *said], separator=" ").alias("text"))


def _span(seconds: pl.Expr) -> pl.Expr:
    return pl.duration(microseconds=(seconds * 1e6).cast(pl.Int64))
