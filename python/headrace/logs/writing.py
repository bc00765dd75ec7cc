"""Synthetic logs as files: in a log's own format, marked as synthetic in their names and first lines."""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from headrace._core import __version__
from headrace.errors import refusal
from headrace.files import as_parquet, whole, write_whole
from headrace.logs.description import Description, load
from headrace.logs.formats import cartridges, cond, dcache, stat, transfers
from headrace.logs.replayed import write as write_operations
from headrace.logs.synthesise import jobs

CARTRIDGE = 1_200_000_000  # Bytes; so much of what is staged lies on one cartridge of a synthetic cartridge log.
WRITERS: dict[str, Callable[[pl.DataFrame], pl.Series]] = {
    "transfers": transfers.written,
    "stat": stat.written,
    "cond": cond.written,
    "dcache": dcache.written,
    "cartridges": cartridges.written,
}
DAILY = ("cond", "stat")
KINDS = ("operations", "parquet", "transfers", "unitree", "dcache", "cartridges")


def write(
    description: str | Path | Description, folder: str | Path, *, to: str = "operations", seed: int = 1
) -> list[Path]:
    """Make operations from a description and write them into a folder; return the files.

    `to` is one of `KINDS`; `unitree` is a COND and a STAT log for each day. Raises `ScenarioError` where the
    description is wrong, or does not say how long things take in a format that has times.
    """
    described = description if isinstance(description, Description) else load(description)
    made, name = jobs(described, seed=seed), f"synthetic-{described.name}-seed{seed}"
    mark = f"# synthetic: headrace {__version__}, description {described.name}, seed {seed}; no record of a real system"
    file = Path(folder) / name
    Path(folder).mkdir(parents=True, exist_ok=True)
    if to == "operations":
        write_operations([_with_response(made)], file.with_name(f"{name}.csv"), synthetic=True)
        return [file.with_name(f"{name}.csv")]
    if to == "parquet":
        with whole(file.with_name(f"{name}.parquet")) as part:
            part.write_bytes(as_parquet(made.select("time_s", "op", "user", "host", "file", "bytes", "staged")))
        return [file.with_name(f"{name}.parquet")]
    if "measured_s" not in made.columns:
        raise refusal(str(description), f"{described.name} does not say how long transfers take", "add `transfers:`")
    return _texts(_as_logged(made, described), file, to, mark)


def _texts(logged: pl.DataFrame, file: Path, to: str, mark: str) -> list[Path]:
    files = []
    for form in DAILY if to == "unitree" else (to,):
        if form not in DAILY:
            files.append(
                _text(WRITERS[form](_sessions(logged) if form == "cartridges" else logged), file, f".{form}", mark)
            )
            continue
        ended = pl.col("requested") + pl.duration(microseconds=(pl.col("total_s") * 1e6).cast(pl.Int64))
        for (day,), jobs_of_day in logged.group_by(ended.dt.date().alias("day"), maintain_order=True):
            files.append(_text(WRITERS[form](jobs_of_day), file, f".{form}.{day:%y%m%d}", mark))
    return sorted(files)


def _text(lines: pl.Series, file: Path, ending: str, mark: str) -> Path:
    to = file.with_name(file.name + ending)
    write_whole(to, "\n".join([mark, *lines, ""]))
    return to


def _as_logged(made: pl.DataFrame, described: Description) -> pl.DataFrame:
    """Return the operations with times on the clock of the log."""
    start = pl.lit(described.start).cast(pl.Datetime("us"))
    return made.with_columns(
        requested=start + _span("time_s"),
        time=start + _span("start_s"),
        seconds=pl.col("measured_s").round(3),
        total_s=pl.col("start_s") - pl.col("time_s") + pl.col("measured_s"),
    )


def _with_response(made: pl.DataFrame) -> pl.DataFrame:
    """Let `measured_s` be the time from the request to the end."""
    timed = "start_s" in made.columns
    response = pl.col("start_s") - pl.col("time_s") + pl.col("measured_s")
    return made.with_columns(measured_s=response) if timed else made


def _span(column: str) -> pl.Expr:
    return pl.duration(microseconds=(pl.col(column) * 1e6).cast(pl.Int64))


def _sessions(logged: pl.DataFrame) -> pl.DataFrame:
    """Return a session of a cartridge for each file that was staged; files fill cartridges one after another."""
    number = (pl.col("bytes").cum_sum() // CARTRIDGE).cast(pl.String).str.zfill(4)
    staged = logged.filter(pl.col("stage_s").is_not_null()).sort("file").select(
        "requested", cartridge="SY" + number, seconds=pl.col("stage_s").round()
    ).sort("cartridge", "requested", maintain_order=True)  # fmt: skip
    # A session begins when it is asked for, or when the one before it on its cartridge ends.
    used = pl.duration(seconds=pl.col("seconds").cum_sum() - pl.col("seconds"))
    begin = ((pl.col("requested") - used).cum_max() + used).over("cartridge")
    return staged.with_columns(time=begin)
