"""COND and STAT read together: each transfer has its user, its request, and the tape's time before it.

The key is persona and date. A job's `File transfer` in STAT gives size and time taken, `File staged` the tape's time,
and COND gives user, request and completion. A job ends on the day of its lines in STAT or on the next, so that two days
are in memory at a time.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

from headrace.logs import naming, table
from headrace.logs.rows import KEYS, Rows

SLACK_S = 2  # COND has whole seconds, STAT milliseconds, and a job is logged after its transfer.
INVALID_S = 86300  # A job that ends "before" it starts ran over midnight, unless that makes it longer than this.
DAY = timedelta(days=1)
NARROW = ["time", "requested", "op", "bytes"]


def merge(rows: Rows, formats: Mapping[str, str]) -> tuple[Rows, dict[str, int]]:
    """Return the transfers of both logs with `file` named, rows of other logs as they are, and what each rule did.

    `formats` has the format of each file.
    """
    of = {Path(file).name: form for file, form in formats.items()}
    logged, found = {"cond": Rows(), "stat": Rows()}, Rows()
    for part in rows.parts:  # Each has rows of one log.
        form = of[pl.read_parquet(part.file, columns=["log"], n_rows=1).item()]
        if form in logged:
            logged[form].parts.append(part)
        else:
            found.add(pl.read_parquet(part.file))
    records, rules = _records(**logged)
    rules.update(naming.counted(table.empty()))
    for named in naming.names(records.in_order("asked"), naming.latest_puts(records.in_order("asked", NARROW))):
        rules.update(naming.counted(named))
        found.add(table.tidy(named))
    return found, dict(rules)


def _records(cond: Rows, stat: Rows) -> tuple[Rows, Counter[str]]:
    """Return a record for each transfer, and what each rule did."""
    records, carried, number = Rows(), None, 0
    rules = _counts(table.empty(), table.empty())
    for day in _days(cond, stat):
        of_day = cond.between("ended", day, day + DAY)
        jobs = _done(of_day, number)
        number += jobs.height
        next_jobs = _done(cond.between("ended", day + DAY, day + 2 * DAY), number)
        said = _assigned(stat.between("ended", day, day + DAY), pl.concat([jobs, next_jobs]))
        mine = pl.concat([said.clear() if carried is None else carried, said])
        carried = said.filter(pl.col("of") >= number)
        mine = mine.filter(pl.col("of") < number)
        rules.update(_counts(of_day, cond.between("time", day, day + DAY)))
        rules["lines of STAT without a job: dropped"] += said["of"].null_count()
        records.add(table.tidy(_of_a_day(jobs, mine, rules)))
    return records, rules


def _days(cond: Rows, stat: Rows) -> list[datetime]:
    """Return all days on which a job began or ended, or STAT has a line."""
    keys = [KEYS["ended"], KEYS["time"]]
    days = [rows.scan().select(day=key.dt.truncate("1d")).unique().collect() for rows in (cond, stat) for key in keys]
    return pl.concat(days)["day"].unique().sort().to_list()


def _done(cond: pl.DataFrame, number: int) -> pl.DataFrame:
    """Return the jobs that moved a file, numbered."""
    return cond.filter(pl.col("outcome") == "done").with_row_index("of", number)


def _of_a_day(jobs: pl.DataFrame, lines: pl.DataFrame, rules: Counter[str]) -> pl.DataFrame:
    """Return a record for each transfer of these jobs, and count what each rule did."""
    moved = lines.filter((pl.col("op") != "stage") & (pl.col("outcome") == "done"))
    failed = lines.filter(pl.col("outcome") == "failed")
    length = lines.filter(pl.col("outcome") == "len failure")["of"].unique()
    moved = moved.filter(~pl.col("of").is_in(length.implode()))
    again = failed.filter(pl.col("of").is_in(moved["of"].implode())).height
    records = _joined(jobs, moved, lines.filter(pl.col("op") == "stage"))
    invalid = pl.col("total_s") > INVALID_S
    heard_of = lines.filter(pl.col("op").fill_null("") != "stage")["of"].n_unique()
    rules.update({
        "jobs without a line in STAT: dropped": jobs.height - heard_of,
        "failures with a successful retry: kept": again,
        "failures without one: dropped": failed.height - again,
        "LEN failures: dropped": len(length),
        "impossible times (completion before the request): total time left empty": records.filter(invalid).height,
        "size 0: taken as 1 byte": records.filter(pl.col("bytes") == 0).height,
    })  # fmt: skip
    return records.with_columns(
        total_s=pl.when(~invalid).then("total_s"),
        requested=pl.when(~invalid).then("requested"),
        bytes=pl.col("bytes").clip(1),
    )


def _counts(ended: pl.DataFrame, begun: pl.DataFrame) -> Counter[str]:
    """Count what is dropped of the jobs that ended on a day, and whose persona is not unique among those that began."""
    personas = begun.filter(pl.col("outcome") == "done")["job"]
    return Counter({
        "jobs in COND": ended.height,
        "jobs other than put and get: dropped": ended.filter(pl.col("outcome") == "other").height,
        "jobs whose persona is not unique that day: told apart by their times": int(personas.is_duplicated().sum()),
        "jobs without a line in STAT: dropped": 0,
        "lines of STAT without a job: dropped": 0,
        "failures with a successful retry: kept": 0,
        "failures without one: dropped": 0,
        "LEN failures: dropped": ended.filter(pl.col("outcome") == "len failure").height,
    })  # fmt: skip


def _assigned(stat: pl.DataFrame, jobs: pl.DataFrame) -> pl.DataFrame:
    """Give each line of STAT its job: by persona and date where that is one job, else by when the job ran."""
    dated = jobs.with_columns(day=KEYS["ended"].dt.date(), ends=KEYS["ended"])
    key = ["job", "day"]
    alone = dated.filter(pl.len().over(key) == 1).select(*key, pl.col("of").alias("alone"))
    logged = stat.sort("time", maintain_order=True).with_row_index("stat_line").with_columns(ended=table.ended())
    logged = logged.with_columns(day=pl.col("ended").dt.date())
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


def _joined(jobs: pl.DataFrame, moved: pl.DataFrame, staged: pl.DataFrame) -> pl.DataFrame:
    """Return a record for each transfer: user and times of its job, the tape's time before it."""
    tape = staged.group_by("of").agg(stage_s=pl.col("stage_s").sum())
    asked = jobs.select("of", "user", "requested", "total_s", "log", "line", "job")
    done = moved.select("of", "time", "op", "host", "bytes", "seconds", "outcome")
    joined = done.join(asked, on="of", maintain_order="left").join(tape, on="of", how="left", maintain_order="left")
    return joined.with_columns(staged=pl.col("stage_s").is_not_null())
