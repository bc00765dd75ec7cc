"""Synthetic logs as files: in a log's own format, marked as synthetic in their names and first lines."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

from headrace._core import __version__
from headrace.errors import refusal
from headrace.files import whole
from headrace.logs.clients import logged_seconds, succeeded
from headrace.logs.description import Description, load
from headrace.logs.formats import cartridges, cond, dcache, stat, transfers
from headrace.logs.replayed import write as write_operations
from headrace.logs.rows import write_parquet
from headrace.logs.synthesise import drawn, named

CARTRIDGE = 1_200_000_000  # Bytes; so much of what is staged lies on one cartridge of a synthetic cartridge log.
WRITERS: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "transfers": transfers.written,
    "stat": stat.written,
    "cond": cond.written,
    "dcache": dcache.written,
    "cartridges": cartridges.written,
}
DAILY = ("cond", "stat")
SLICE = 1 << 16  # Operations that are written at once: their names take more memory than their numbers.
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
    """Yield the operations with names, some at a time."""
    for batch in succeeded(made).iter_slices(SLICE):
        yield named(batch, described).with_columns(pl.col("bytes").clip(1))


def _texts(made: pl.DataFrame, described: Description, file: Path, to: str, mark: str) -> list[Path]:
    if to == "unitree":
        days = (_logged(of_day, described) for of_day in _by_day(made, described))
        return sorted(
            _text([WRITERS[form](day).sort("end", maintain_order=True)], file, f".{form}.{day['day'][0]:%y%m%d}", mark)
            for day in days
            for form in DAILY
        )
    if to == "cartridges":
        staged = made.filter(pl.col("stage_s").is_not_null())
        return [_text([WRITERS[to](_sessions(_logged(staged, described)))], file, f".{to}", mark)]
    logged = (
        _logged(part, described).with_columns(seconds=logged_seconds(part))
        for part in succeeded(made).iter_slices(SLICE)
    )
    lines = ((WRITERS[to](part), part["requested"][-1]) for part in logged)
    return [_text(_by_end(lines), file, f".{to}", mark)]


def _by_end(parts: Iterable[tuple[pl.DataFrame, datetime]]) -> Iterator[pl.DataFrame]:
    """Yield rows in the order of `end`, some at a time; no later row ends before the time beside a part."""
    held = None
    for part, until in parts:
        rows = part if held is None else pl.concat([held, part])
        # Logged times are rounded to the millisecond.
        over = pl.col("end") < until - timedelta(milliseconds=1)
        yield rows.filter(over).sort("end", maintain_order=True)
        held = rows.filter(~over)
    if held is not None:
        yield held.sort("end", maintain_order=True)


def _by_day(made: pl.DataFrame, described: Description) -> Iterator[pl.DataFrame]:
    """Yield the operations that ended on each `day`."""
    asked = pl.lit(described.start).cast(pl.Datetime("us")) + _span(pl.col("time_s"))
    dated = (part.with_columns(asked=asked, end=asked + _span(RESPONSE)) for part in made.iter_slices(SLICE))
    held = None
    for part in _by_end((part, part["asked"][-1]) for part in dated):
        rows = part.with_columns(day=pl.col("end").dt.date())
        rows = rows if held is None else pl.concat([held, rows])
        *over, held = rows.partition_by("day", maintain_order=True) or [rows]
        yield from over
    if held is not None:
        yield held


def _text(parts: Iterable[pl.DataFrame], file: Path, ending: str, mark: str) -> Path:
    to = file.with_name(file.name + ending)
    with whole(to) as part, part.open("wb") as out:
        out.write(f"{mark}\n".encode())
        for lines in parts:
            lines.select("text").write_csv(out, include_header=False, quote_style="never")
    return to


def _logged(made: pl.DataFrame, described: Description) -> pl.DataFrame:
    """Return the operations with names, and times on the clock of the log."""
    start = pl.lit(described.start).cast(pl.Datetime("us"))
    return named(made, described).with_columns(
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
