"""Enstore's log: a line for each message of a server, of which those of `encp`'s transfers are read.

`11:24:15 node 002492 user I ENCP  MSG_TYPE=ENCP_XFER read_from_hsm /pnfs/f -> /dev/null: 10485760 bytes copied from
STORM1 at 4.94 MB/S (5.85 MB/S network) … elapsed=49.375 {…}`. The time is that of the end. It has no date; the file's
name has it: `LOG-2002-08-27`. `elapsed` is from the request to the end, with queueing, mount and positioning. The first
rate, whose MB is 2^20 bytes, is that from the answer of the mover to the end; a mover has one drive.
"""

import polars as pl

from headrace.logs.formats.form import Format, before, is_duration, number, stamp, whole

MB = 2**20
TIMES = "a time is HH:MM:SS, such as 11:24:15"
_IS_XFER = pl.col("what").is_not_null()
_END = stamp(pl.col("day").dt.strftime("%Y-%m-%d ") + pl.col("at"), "%Y-%m-%d %H:%M:%S")
_ELAPSED = number("elapsed")
_RATE = pl.when(number("rate") > 0).then(number("rate") * MB)
# Rates are rounded: no transfer began before its request.
_MOVED = pl.when(_RATE.is_not_null()).then(pl.min_horizontal(whole("size") / _RATE, _ELAPSED))
_IS_READ = pl.col("what") == "read_from_hsm"

ENSTORE = Format(
    name="enstore",
    about="time, node, process, user, severity, server, and a message; read are those with MSG_TYPE=ENCP_XFER",
    example="11:24:15 water.fnal.gov 002492 zalokar I ENCP  MSG_TYPE=ENCP_XFER  read_from_hsm /pnfs/mist/f -> "
    "/dev/null: 10485760 bytes copied from STORM1 at 4.94 MB/S (5.85 MB/S network) mover=rain.mover elapsed=49.375 {}",
    pattern=r"^(?<at>\d\d:\d\d:\d\d)\s+(?<host>\S+)\s+(?<pid>\d+)\s+(?<user>\S+)\s+[A-Z]\s+\S+\s.*?"
    r"(?:MSG_TYPE=ENCP_XFER\s+(?<what>read_from_hsm|write_to_hsm)\s+(?<from>.+?)\s+->\s+(?<to>.+?):\s+(?<size>\d+)\s+"
    r"bytes\s+copied\s+(?:from|to)\s+(?<cartridge>\S+)\s+at\s+(?<rate>[\d.]+(?:[eE][-+]?\d+)?)\s+MB/S"
    r"(?:.*?\smover=(?<mover>\S+))?.*?elapsed=(?<elapsed>[\d.]+).*)?$",
    columns={
        "time": before(_END, pl.coalesce(_MOVED, _ELAPSED, pl.lit(0.0))),
        "requested": pl.when(_IS_XFER).then(before(_END, _ELAPSED)),
        "op": pl.when(_IS_READ).then(pl.lit("get")).when(_IS_XFER).then(pl.lit("put")),
        "file": pl.when(_IS_READ).then("from").otherwise("to"),
        "bytes": whole("size"),
        "seconds": _MOVED,
        "total_s": _ELAPSED,
        "staged": pl.when(_IS_READ).then(True),
        "stage_s": pl.when(_IS_READ & _MOVED.is_not_null()).then(_ELAPSED - _MOVED),
        "drive": pl.col("mover"),
        "outcome": pl.when(_IS_XFER).then(pl.lit("done")).otherwise(pl.lit("other")),
    },
    wrong={
        "no time": (pl.col("time").is_null(), TIMES),
        "no size": (pl.col("bytes").is_null() & _IS_XFER, "a size is a whole number of bytes below 2^63"),
        "no time taken": (is_duration("total_s")[0] & _IS_XFER, f"`elapsed`: {is_duration()[1]}"),
    },
    stamped_at_end=True,
    needs_day=True,
)
