"""UniTree's COND log: a line for each job of a user, in one file a day.

`005641 00:20:29 00:20:56 2360 103 35 put -d/usr/tmp/001314/…`: user, start, completion, persona, session number, job
number, description, status. Times have no date: the file's name has it, that of the completion.
"""

import polars as pl

from headrace.logs.formats.form import Format, stamp

TIMES = "a time is HH:MM:SS, such as 00:20:29"
_START, _END = (
    stamp(pl.col("day").dt.strftime("%Y-%m-%d ") + pl.col(name), "%Y-%m-%d %H:%M:%S") for name in ("start", "end")
)
_BEGUN = pl.when(_START > _END).then(_START - pl.duration(days=1)).otherwise(_START)
_MOVES = pl.col("does").is_in(["get", "put"])

COND = Format(
    name="cond",
    about="user, start, completion, persona, session, job, description",
    example="005641 00:20:29 00:20:56 2360 103 35 put -d/usr/tmp/001314",
    pattern=r"^\s*(?<user>\w+)\s+(?<start>\d\d:\d\d:\d\d)\s+(?<end>\d\d:\d\d:\d\d)\s+(?<job>\d{1,5})\s*(?<session>\d{3})"
    r"\s+(?<number>\d+)\s+(?<does>\S+)(?:\s+(?<file>.*))?$",
    columns={
        "time": _BEGUN,
        "requested": _BEGUN,
        "op": pl.when(_MOVES).then("does"),
        "total_s": (_END - _BEGUN).dt.total_microseconds() / 1e6,
        "outcome": pl.when(pl.col("file").str.contains("LEN failure"))
        .then(pl.lit("len failure"))
        .when(_MOVES)
        .then(pl.lit("done"))
        .otherwise(pl.lit("other")),
    },
    wrong={"no time": (_START.is_null() | _END.is_null(), TIMES)},
    stamped_at_end=True,
    needs_day=True,
)


def written(table: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of these jobs, each with its `end`."""
    end = pl.col("requested") + pl.duration(microseconds=(pl.col("total_s") * 1e6).cast(pl.Int64))
    parts = [
        pl.col("user"),
        pl.col("requested").dt.strftime("%H:%M:%S"),
        end.dt.strftime("%H:%M:%S"),
        pl.col("job"),
        pl.col("session"),
        pl.col("number"),
        pl.col("op"),
        "/" + pl.col("file"),
    ]
    return table.select(end.alias("end"), pl.concat_str(parts, separator=" ").alias("text"))
