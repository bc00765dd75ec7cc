"""The log of CTA's tape daemon (`cta-taped`) as JSON: a line for each message, of which three are read.

`Tape session finished` is a session of a cartridge, with the times for which its drive was mounted, positioned and read
or written, and the virtual organisation (VO). `File successfully read from tape` and `File successfully transmitted to
drive` are a file each: staged, or migrated. Fields are those of CTA's `TapeSessionReporter`, `TapeReadTask` and
`TapeWriteTask`; numbers may be in quotes, as older versions wrote them.
"""

import polars as pl

from headrace.logs.formats.form import Format, before, is_date, is_duration

SESSION, READ, WRITTEN = (
    "Tape session finished", "File successfully read from tape", "File successfully transmitted to drive",
)  # fmt: skip
OPS = {SESSION: "session", READ: "stage", WRITTEN: "migrate"}
_READ_HERE = pl.col("message").is_in(list(OPS))
_IS_SESSION = pl.col("message") == SESSION


# The fields that are read: each is looked up in a line once, however many columns it is used in.
FIELDS = (
    *("vo", "tapeDrive", "drive_name", "unitName", "mountId", "volReqId", "tapeVid", "fileId", "fSeq", "dataVolume"),
    *("fileSize", "totalTime", "transferTime", "drainingTime", "mountTime", "positionTime", "readWriteTime", "status"),
)


def _field(name: str) -> pl.Expr:
    """Return the text of a field of the messages that are read; empty where it is not there, or null."""
    return pl.col(f"field {name}")


def _number(*names: str) -> pl.Expr:
    return pl.coalesce(*(_field(name).cast(pl.Float64, strict=False) for name in names))


def _whole(*names: str) -> pl.Expr:
    return pl.coalesce(*(_field(name).cast(pl.Int64, strict=False) for name in names))


# A session that does not give the time of the whole took at least that of its parts.
_PARTS = pl.sum_horizontal(_number(name).fill_null(0) for name in ("mountTime", "positionTime", "transferTime"))
_OF_PARTS = pl.when(_number("transferTime").is_not_null()).then(
    pl.when(_IS_SESSION).then(_PARTS).otherwise(_number("transferTime"))
)
_TAKEN = pl.coalesce(_number("totalTime"), _OF_PARTS)
_DRIVE = pl.coalesce(_field("tapeDrive"), _field("drive_name"), _field("unitName"))
# A session is logged once what it read lies on disk, after its drive is free.
_DRAINED = pl.when(_IS_SESSION).then(_number("drainingTime")).otherwise(0.0).fill_null(0.0)
_END = (
    (pl.col("epoch").cast(pl.Float64, strict=False) * 1e6).round().cast(pl.Int64, strict=False).cast(pl.Datetime("us"))
)

# True of a line without a time, or with none that something can take.
_HAS_NO_TIME = pl.when(pl.col("message") == READ).then(is_duration("stage_s")[0]).otherwise(is_duration()[0])

# A log that came by syslog has that one's time, host and program before the object.
PATTERN = r'^[^{]*\{.*"epoch_time"\s*:\s*"?\d.*"message"\s*:\s*".*\}$'


def _split(lines: pl.DataFrame) -> pl.DataFrame:
    """Return the lines with their time, message and fields.

    They are found one by one, which is several times as fast as all at once.
    """
    text = pl.col("text").str

    def value(name: str) -> pl.Expr:
        return text.extract(rf'"{name}"\s*:\s*"?([^",}}]*)')

    split = lines.with_columns(
        epoch=value("epoch_time").str.strip_chars(), message=text.extract(r'"message"\s*:\s*"([^"\\]*)')
    )
    is_object = text.contains(r"^[^{]*\{") & text.ends_with("}")
    found = split.with_columns(
        *(value(name).alias(f"field {name}") for name in FIELDS),
        is_line=is_object & pl.col("epoch").str.contains(r"^\d") & pl.col("message").is_not_null(),
    )
    fields = pl.col("^field .*$").str.strip_chars()
    return found.with_columns(
        pl.when(_READ_HERE & ~fields.is_in(["null", ""])).then(fields), pl.col("is_line").fill_null(False)
    )


CTA = Format(
    name="cta",
    about='a JSON object of `cta-taped`: `"epoch_time":…` and `"message":"…"` with its fields',
    example='{"epoch_time":1700000000.250000000,"local_time":"2023-11-14T22:13:20+0000","hostname":"tpsrv01",'
    '"program":"cta-taped","log_level":"INFO","pid":7,"tid":9,"message":"Tape session finished","tapeDrive":"D1",'
    '"tapeVid":"V00101","mountId":"42","vo":"cms","mountTime":24.5,"positionTime":81.2,"readWriteTime":310.0,'
    '"totalTime":460.1,"drainingTime":2.0,"dataVolume":90000000000,"filesCount":31,"status":"success"}',
    pattern=PATTERN,
    split=_split,
    columns={
        "time": before(before(_END, _DRAINED), _TAKEN.fill_null(0)),
        "op": pl.col("message").replace_strict(OPS, default=None, return_dtype=pl.String),
        "user": _field("vo"),
        "host": _DRIVE,
        "job": pl.coalesce(_field("mountId"), _field("volReqId")),
        "file": pl.when(_IS_SESSION).then(_field("tapeVid")).otherwise(_field("fileId")),
        "cartridge": _field("tapeVid"),
        "drive": _DRIVE,
        "position": pl.when(~_IS_SESSION).then(_whole("fSeq")),
        "bytes": pl.when(_IS_SESSION).then(_whole("dataVolume")).otherwise(_whole("dataVolume", "fileSize")),
        # Of a file that was read, the time is that of the drive: when it was asked for is not in this log.
        "seconds": pl.when(pl.col("message") != READ).then(_TAKEN),
        "staged": pl.when(pl.col("message") == READ).then(True),
        "stage_s": pl.when(pl.col("message") == READ).then(_TAKEN),
        "mount_s": _number("mountTime"),
        "position_s": _number("positionTime"),
        "transfer_s": _number("readWriteTime", "transferTime"),
        "total_s": pl.when(_IS_SESSION).then(_TAKEN + _DRAINED),
        "outcome": pl.when(~_READ_HERE)
        .then(pl.lit("other"))
        .when(_field("status").fill_null("success") == "success")
        .then(pl.lit("done"))
        .otherwise(pl.lit("failed")),
    },
    wrong={
        # A session without a cartridge has no times: it failed before it began.
        "no time taken": (
            _READ_HERE & ~(_TAKEN.is_null() & (pl.col("outcome") == "failed")) & _HAS_NO_TIME,
            f"`totalTime` of `{SESSION}`: {is_duration()[1]}",
        ),
        "no date": is_date("`epoch_time` is the number of seconds since 1970"),
        "no cartridge": (
            _READ_HERE & pl.col("cartridge").is_null() & (pl.col("outcome") == "done"),
            "`tapeVid` names the cartridge",
        ),
    },
    stamped_at_end=True,
)
