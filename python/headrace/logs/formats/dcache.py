"""dCache's billing log, in its own text form: transfers, and what goes to tape and comes from it.

A transfer is `date [pool:name:transfer] [pnfsid,size] [path] storageClass@hsm bytes connection_ms created {protocol}
[initiator] {rc:"message"}`, a put where `created` is true. Its bytes are those moved: often a part of the file. Stores
(to tape) and restores (from it) have `transfer_ms queuing_ms` instead of bytes. A pool's `remove` is that of its copy,
such as a purge; a door's is that of the file. The date is `YYYY-MM-DD HH:MM:SS`, or `MM.DD HH:MM:SS` with
the year in the name of the file; a UTC offset may follow. The user is the storage class, without its HSM.
"""

import polars as pl

from headrace.logs.formats.form import Format, before, is_date, is_duration, number, stamp, whole

DATES = "a date is YYYY-MM-DD HH:MM:SS, or MM.DD HH:MM:SS in a file whose name has the year: billing-2024.03.01"
_PLAIN = pl.coalesce(pl.col("year"), pl.col("day").dt.year().cast(pl.String).str.zfill(4))
_DATED = _PLAIN + "-" + pl.coalesce(pl.col("month"), pl.col("mm")) + "-" + pl.coalesce(pl.col("dom"), pl.col("dd"))
_SIGN = pl.when(pl.col("zone").str.starts_with("-")).then(-1).otherwise(1)
# What the clock is ahead of UTC, where a line says so.
_AHEAD = pl.duration(
    hours=_SIGN * pl.col("zone").str.slice(1, 2).cast(pl.Int64, strict=False).fill_null(0),
    minutes=_SIGN * pl.col("zone").str.slice(-2).cast(pl.Int64, strict=False).fill_null(0),
)
_WHEN = stamp(_DATED + " " + pl.col("clock"), "%Y-%m-%d %H:%M:%S%.f") - _AHEAD
_TRANSFER = pl.col("what") == "transfer"
_TAKEN = (pl.when(_TRANSFER).then(number("second")).otherwise(number("first")) / 1000).round(3)
_HAS_QUEUED = pl.col("what").is_in(["store", "restore"])
_WITH_QUEUE = ((number("first") + number("second")) / 1000).round(3)
_OPS = {"store": "migrate", "restore": "stage"}
_ASKED = pl.col("asked").is_not_null()
_OP = (
    pl.when(_TRANSFER & (pl.col("created") == "true"))
    .then(pl.lit("put"))
    .when(_TRANSFER)
    .then(pl.lit("get"))
    .when(pl.col("what") == "remove")
    .then(pl.when(pl.col("where") == "pool").then(pl.lit("purge")).otherwise(pl.lit("delete")))
    .otherwise(pl.col("what").replace(_OPS))
)

DCACHE = Format(
    name="dcache",
    about="a billing line: date [pool:name:kind] [pnfsid,size] [path] class numbers … {code:message}",
    example='2024-03-01 12:00:05 [pool:p1:transfer] [00AB,4096] [/f] a:b@c 4096 250 false {NFS4,node1} [d:x] {0:""}',
    pattern=r"^(?:(?<year>\d{4})-(?<month>\d\d)-(?<dom>\d\d)|(?<mm>\d\d)\.(?<dd>\d\d))[ T]"
    r"(?<clock>\d\d:\d\d:\d\d(?:[.,]\d+)?)(?<zone>[+-]\d\d:?\d\d)?\S*\s+\[(?<where>pool|door):[^\]]*?:(?:(?<asked>request|hit)\]\s.*|"
    r"(?<what>transfer|store|restore|remove)\]\s+"
    # A door writes for whom: name, uid and gid.
    r"(?:\[(?:\"[^\"]*\"|[^\],]*):-?\d+:-?\d+[^\]]*\]\s+|\[unknown\]\s+)?\[(?<id>[^,\]]+),(?<size>-?\d+)\]\s+(?:\[(?<path>.*?)\]\s+)?"
    r"(?<class>\S+)(?:\s+(?<first>\d+)\s+(?<second>\d+))?(?:\s+(?<created>true|false))?(?:\s+\{(?<protocol>[^}]*)\})?"
    r"(?:\s+\[(?<initiator>[^\]]*)\])?.*?\{(?<code>-?\d+):(?<said>.*)\})\s*$",
    columns={
        "time": before(_WHEN, _TAKEN.fill_null(0)),
        # What goes to tape and comes from it waits in a queue before.
        "requested": pl.when(_HAS_QUEUED).then(before(_WHEN, _WITH_QUEUE)),
        "op": _OP,
        # `{NFS4,node1}`, `{Xrootd-5.0:192.0.2.1:1094}`, `{GFtp-2.0 192.0.2.1 5000}`.
        "host": pl.col("protocol").str.extract(r"^[^,: ]+[,: ]+(\[[^\]]+\]|[^,: ]+)"),
        # The line of a transfer names no user; its storage class is whose files it moves.
        "user": pl.col("class").str.extract(r"^([^@<]+)@"),
        "job": pl.col("initiator"),
        "file": pl.col("id"),
        "bytes": pl.when(_TRANSFER).then(whole("first")).otherwise(whole("size")),
        "file_bytes": whole("size"),
        "seconds": _TAKEN,
        "stage_s": pl.when(pl.col("what") == "restore").then(_TAKEN),
        "total_s": pl.when(_HAS_QUEUED).then(_WITH_QUEUE),
        "staged": pl.col("what") == "restore",
        "outcome": pl.when(_ASKED)
        .then(pl.lit("other"))
        .when(pl.col("code") == "0")
        .then(pl.lit("done"))
        .otherwise(pl.lit("failed")),
    },
    wrong={
        "no time taken": (
            is_duration()[0] & (pl.col("what") != "remove") & ~_ASKED,
            "the times are whole milliseconds, and less than ten years",
        ),
        "no date": is_date(DATES),
        "no size": (
            pl.any_horizontal(pl.col(one).is_null() | (pl.col(one) < 0) for one in ("bytes", "file_bytes")) & ~_ASKED,
            "a size is a whole number of bytes, 0 or more and below 2^63",
        ),
    },
    stamped_at_end=True,
)


def written(table: pl.DataFrame) -> pl.DataFrame:
    """Return the billing lines of these operations, each with its `end`: a restore of what was staged, the transfer."""
    file = [_text("[", "file", ",", "bytes", "]"), _text("[/", "file", "]"), pl.lit("any:any@osm")]
    done = pl.lit('{0:""}')
    put = pl.when(pl.col("op") == "put").then(pl.lit("true")).otherwise(pl.lit("false"))
    moved = [pl.lit("[pool:synthetic:transfer]"), *file, _text("bytes"), _ms("seconds"), put]
    moved += [_text("{NFS4,", "host", "}"), _text("[door:", "job", "]"), done]
    taped = [pl.lit("[pool:synthetic:restore]"), *file, _ms("stage_s"), pl.lit("0"), done]
    staged = table.filter(pl.col("stage_s").is_not_null())
    return pl.concat(
        [_lines(staged, _after("requested", "stage_s"), taped), _lines(table, _after("time", "seconds"), moved)]
    )


def _lines(table: pl.DataFrame, end: pl.Expr, said: list[pl.Expr]) -> pl.DataFrame:
    when = end.dt.strftime("%Y-%m-%d %H:%M:%S%.3f")
    return table.select(end.alias("end"), pl.concat_str([when, *said], separator=" ").alias("text"))


def _after(begin: str, seconds: str) -> pl.Expr:
    return pl.col(begin) + pl.duration(microseconds=(pl.col(seconds) * 1e6).cast(pl.Int64))


def _text(*parts: str) -> pl.Expr:
    """Return the text made of columns and of what stands between them."""
    columns = ("file", "bytes", "host", "job")
    return pl.concat_str([pl.col(part).cast(pl.String) if part in columns else pl.lit(part) for part in parts])


def _ms(column: str) -> pl.Expr:
    return (pl.col(column) * 1000).round().cast(pl.Int64).cast(pl.String)
