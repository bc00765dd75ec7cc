"""Synthetic logs as files: in a log's own format, marked as synthetic in their names and first lines."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from headrace._core import __version__
from headrace.errors import refusal
from headrace.files import whole
from headrace.logs.description import Description, load
from headrace.logs.formats import cartridges, cond, dcache, stat, transfers
from headrace.logs.replayed import write as write_operations
from headrace.logs.rows import BATCH, write_parquet
from headrace.logs.synthesise import drawn, named

CARTRIDGE = 1_200_000_000  # Bytes; so much of what is staged lies on one cartridge of a synthetic cartridge log.
WRITERS: dict[str, Callable[[pl.DataFrame], pl.Series]] = {
    "transfers": transfers.written,
    "stat": stat.written,
    "cond": cond.written,
    "dcache": dcache.written,
    "cartridges": cartridges.written,
}
DAILY = ("cond", "stat")
# From the request to the end, s.
RESPONSE = pl.col("start_s") - pl.col("time_s") + pl.col("measured_s")
KINDS = ("operations", "parquet", "transfers", "unitree", "dcache", "cartridges")


def write(
    description: str | Path | Description, folder: str | Path, *, to: str = "operations", seed: int = 1
) -> list[Path]:
    """Make operations from a description and write them into a folder; return the files.

    `to` is one of `KINDS`; `unitree` is a COND and a STAT log for each day. Raises `ScenarioError` where the
    description is wrong, or does not say how long things take in a format that has times.
    """
    described = description if isinstance(description, Description) else load(description)
    made, name = drawn(described, seed=seed), f"synthetic-{described.name}-seed{seed}"
    mark = f"# synthetic: headrace {__version__}, description {described.name}, seed {seed}; no record of a real system"
    file = Path(folder) / name
    Path(folder).mkdir(parents=True, exist_ok=True)
    if to == "operations":
        batches = (_with_response(batch) for batch in _batches(made, described))
        write_operations(batches, file.with_name(f"{name}.csv"), synthetic=True)
        return [file.with_name(f"{name}.csv")]
    if to == "parquet":
        to_parquet = file.with_name(f"{name}.parquet")
        columns = ["time_s", "op", "user", "host", "file", "bytes", "staged"]
        write_parquet((batch.select(columns) for batch in _batches(made, described)), to_parquet)
        return [to_parquet]
    if "measured_s" not in made.columns:
        raise refusal(str(description), f"{described.name} does not say how long transfers take", "add `transfers:`")
    return _texts(made, described, file, to, mark)


def _batches(made: pl.DataFrame, described: Description) -> Iterator[pl.DataFrame]:
    """Yield the operations with names, some at a time: names take more memory than numbers."""
    for batch in made.iter_slices(BATCH):
        yield named(batch, described)


def _texts(made: pl.DataFrame, described: Description, file: Path, to: str, mark: str) -> list[Path]:
    if to == "unitree":
        start = pl.lit(described.start).cast(pl.Datetime("us"))
        ended = made.select(day=(start + _span(pl.col("time_s")) + _span(RESPONSE)).dt.date())["day"]
        days = [(day, made.filter(ended == day)) for day in ended.unique().sort()]
        files = [(f".{form}.{day:%y%m%d}", form, part) for form in DAILY for day, part in days]
        return sorted(_text([_lines(form, part, described)], file, ending, mark) for ending, form, part in files)
    if to == "transfers":
        parts = (_lines(to, part, described) for part in _by_end(made))
        return [_text(parts, file, f".{to}", mark)]
    return [_text([_lines(to, made, described)], file, f".{to}", mark)]


def _by_end(made: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield the operations in the order of their ends as a log has them, some at a time."""
    end = _microseconds(pl.col("start_s")) + _microseconds(pl.col("measured_s").round(3))
    ends = [part.select(end).to_series().to_numpy() for part in made.iter_slices(BATCH)]
    order = np.argsort(np.concatenate(ends), kind="stable").astype(np.uint32)
    for first in range(0, len(order), BATCH):
        yield made[order[first : first + BATCH]]


def _lines(form: str, part: pl.DataFrame, described: Description) -> pl.Series:
    """Return the lines of some operations."""
    logged = _as_logged(named(part, described), described)
    return WRITERS[form](_sessions(logged) if form == "cartridges" else logged)


def _text(parts: Iterable[pl.Series], file: Path, ending: str, mark: str) -> Path:
    to = file.with_name(file.name + ending)
    with whole(to) as part, part.open("wb") as out:
        out.write(f"{mark}\n".encode())
        for lines in parts:
            lines.to_frame().write_csv(out, include_header=False, quote_style="never")
    return to


def _as_logged(made: pl.DataFrame, described: Description) -> pl.DataFrame:
    """Return the operations with times on the clock of the log."""
    start = pl.lit(described.start).cast(pl.Datetime("us"))
    return made.with_columns(
        requested=start + _span(pl.col("time_s")),
        time=start + _span(pl.col("start_s")),
        seconds=pl.col("measured_s").round(3),
        total_s=RESPONSE,
    )


def _with_response(made: pl.DataFrame) -> pl.DataFrame:
    """Let `measured_s` be the time from the request to the end."""
    return made.with_columns(measured_s=RESPONSE) if "start_s" in made.columns else made


def _span(seconds: pl.Expr) -> pl.Expr:
    return pl.duration(microseconds=_microseconds(seconds))


def _microseconds(seconds: pl.Expr) -> pl.Expr:
    return (seconds * 1e6).cast(pl.Int64)


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
