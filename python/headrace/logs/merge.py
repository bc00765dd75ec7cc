"""COND and STAT as one table: which job moved which file, and how long the tape took. Each rule counts what it did.

The key is persona and date. A job's `File transfer` in STAT gives size and time taken, `File staged` the tape's time,
and COND gives user, request and completion.
"""

import polars as pl

from headrace.logs import table

SLACK_S = 2  # COND has whole seconds, STAT milliseconds, and a job is logged after its transfer.
INVALID_S = 86300  # A job that ends "before" it starts ran over midnight, unless that makes it longer than this.


def merge(cond: pl.DataFrame, stat: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the transfers of both logs as one table with `file` named, and what each rule did."""
    jobs = cond.filter(pl.col("outcome") == "done").with_row_index("of")
    lines = _assigned(stat.with_row_index("stat_line"), jobs)
    moved = lines.filter((pl.col("op") != "stage") & (pl.col("outcome") == "done") & pl.col("of").is_not_null())
    failed = lines.filter((pl.col("outcome") == "failed") & pl.col("of").is_not_null())
    length = lines.filter(pl.col("outcome") == "len failure")["of"].drop_nulls().unique()
    moved = moved.filter(~pl.col("of").is_in(length.implode()))
    in_cond = cond.filter(pl.col("outcome") == "len failure").height
    rules = _rules(cond, jobs, lines, moved, failed) | {"LEN failures: dropped": len(length) + in_cond}
    records = _records(jobs, moved, lines.filter((pl.col("op") == "stage") & pl.col("of").is_not_null()))
    invalid = pl.col("total_s") > INVALID_S
    rules["times that cannot be (completion before the request): total time left empty"] = records.filter(
        invalid
    ).height
    rules["size 0: taken as 1 byte"] = records.filter(pl.col("bytes") == 0).height
    records = records.with_columns(
        total_s=pl.when(~invalid).then("total_s"),
        requested=pl.when(~invalid).then("requested"),
        bytes=pl.col("bytes").clip(1),
    )
    named = with_files(records)
    return table.tidy(named).sort("time", maintain_order=True), rules | file_rules(named)


def _assigned(stat: pl.DataFrame, jobs: pl.DataFrame) -> pl.DataFrame:
    """Give each line of STAT its job: by persona and date where that is one job, else by when the job ran."""
    ends = pl.col("time") + pl.duration(microseconds=(pl.col("total_s") * 1e6).cast(pl.Int64))
    dated = jobs.with_columns(day=ends.dt.date(), ends=ends)
    key = ["job", "day"]
    alone = dated.filter(pl.len().over(key) == 1).select(*key, pl.col("of").alias("alone"))
    logged = stat.with_columns(ended=table.ended()).with_columns(day=pl.col("ended").dt.date())
    by_key = logged.join(alone, on=key, how="left", maintain_order="left")
    return by_key.join(_running(logged, dated), on="stat_line", how="left", maintain_order="left").with_columns(
        of=pl.coalesce("alone", "running")
    )


def _running(lines: pl.DataFrame, jobs: pl.DataFrame) -> pl.DataFrame:
    """Find the job with a line's persona and operation that ran when the line was written; of several, the next to end.

    A job ends on the day of its line, or where it runs over midnight, on the day after.
    """
    slack, op = pl.duration(seconds=SLACK_S), pl.col("op").replace("stage", "get")
    ran = jobs.select("job", "ends", "day", "op", begin=pl.col("time"), running="of")
    said = lines.filter(pl.col("op").is_not_null()).select("stat_line", "job", "ended", "day", op=op)
    next_day = said.with_columns(day=pl.col("day").dt.offset_by("1d"))
    found = pl.concat([said, next_day]).join(ran, on=["job", "op", "day"])
    within = found.filter(pl.col("ended").is_between(pl.col("begin") - slack, pl.col("ends") + slack))
    return within.sort("ends", maintain_order=True).group_by("stat_line").agg(pl.col("running").first())


def _rules(
    cond: pl.DataFrame, jobs: pl.DataFrame, lines: pl.DataFrame, moved: pl.DataFrame, failed: pl.DataFrame
) -> dict[str, int]:
    again = failed.filter(pl.col("of").is_in(moved["of"].implode()))
    days = jobs.select("job", pl.col("time").dt.date().alias("day"))
    heard_of = lines.filter(pl.col("op").fill_null("") != "stage")["of"].drop_nulls().unique().len()
    return {
        "jobs in COND": cond.height,
        "jobs other than put and get: dropped": cond.filter(pl.col("outcome") == "other").height,
        "jobs whose persona is not unique that day: told apart by their times": days.filter(
            days.is_duplicated()
        ).height,
        "jobs without a line in STAT: dropped": jobs.height - heard_of,
        "lines of STAT without a job: dropped": lines["of"].null_count(),
        "failures with a successful retry: kept": again.height,
        "failures without one: dropped": failed.height - again.height,
    }


def _records(jobs: pl.DataFrame, moved: pl.DataFrame, staged: pl.DataFrame) -> pl.DataFrame:
    """Return a record for each transfer: user and times of its job, the tape's time before it."""
    tape = staged.group_by("of").agg(stage_s=pl.col("stage_s").sum())
    asked = jobs.select("of", "user", "requested", "total_s", "log", "line", "job")
    done = moved.select("of", "time", "op", "host", "bytes", "seconds", "outcome")
    joined = done.join(asked, on="of", maintain_order="left").join(tape, on="of", how="left", maintain_order="left")
    return joined.with_columns(staged=pl.col("stage_s").is_not_null())


def asked() -> pl.Expr:
    """Return when each operation was asked for, as far as the log says."""
    return pl.coalesce("requested", "time")


def with_files(records: pl.DataFrame) -> pl.DataFrame:
    """Name the files of operations whose log has no names, by the paper's rule; sorted by time.

    A put is a new file, and so is what was staged. Any other get is of the latest put of the same size, or of a file
    that was there from the beginning, one for each size.
    """
    order = records.with_columns(asked=asked()).sort("asked", maintain_order=True).with_row_index("row")
    number = pl.col("row").cast(pl.String).str.zfill(7)
    new = order.filter(pl.col("op") == "put").select("asked", "bytes", put="f" + number)
    found = order.join_asof(new, on="asked", by="bytes", check_sortedness=False)
    there = "p" + pl.col("bytes").cast(pl.String)
    name = (
        pl.when(pl.col("op") == "put").then("f" + number)
        .when(pl.col("staged").fill_null(False)).then("t" + number)
        .otherwise(pl.coalesce("put", there))
    )  # fmt: skip
    return found.with_columns(file=name).drop("put", "row", "asked")


def file_rules(named: pl.DataFrame) -> dict[str, int]:
    """Count what naming the files did."""
    gets = named.filter(pl.col("op") == "get")
    first = gets["file"].str.slice(0, 1)
    return {
        "puts: a new file each": named.filter(pl.col("op") == "put").height,
        "staged gets: a new file each, on tape": int((first == "t").sum()),
        "other gets: the latest put of the same size": int((first == "f").sum()),
        "other gets: a file that was there before": int((first == "p").sum()),
    }
