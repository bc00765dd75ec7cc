"""The cartridge log of ECMWF's library: a line for each session of a cartridge on a drive.

`CB1172;20110819T001558;304`: cartridge, beginning of the session, seconds of drive use.
"""

import polars as pl

from headrace.logs.formats.form import Format, is_date, is_duration, number, stamp

CARTRIDGES = Format(
    name="cartridges",
    about="cartridge, date and time, seconds of drive use, with `;` between them",
    example="CB1172;20110819T001558;304",
    pattern=r"^\s*(?<file>[^;\s]+);(?<at>\d{8}T\d{6});(?<seconds>\d+(?:\.\d+)?)$",
    columns={
        "time": stamp(pl.col("at"), "%Y%m%dT%H%M%S"),
        "op": pl.lit("session"),
        "seconds": number("seconds"),
        "outcome": pl.lit("done"),
    },
    wrong={
        "no time taken": is_duration(),
        "no date": is_date("a date and time is YYYYMMDDThhmmss, such as 20110819T001558"),
    },
)


def written(table: pl.DataFrame) -> pl.DataFrame:
    """Return the lines of these sessions, by `time`: of a frame with `cartridge`, `time` and whole `seconds`."""
    when = pl.col("time").dt.strftime("%Y%m%dT%H%M%S")
    taken = pl.col("seconds").round().cast(pl.Int64).cast(pl.String)
    return table.sort("time").select(pl.concat_str([pl.col("cartridge"), when, taken], separator=";").alias("text"))
