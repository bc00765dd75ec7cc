"""Logs as one table: which format they are in, what cannot be read, and what is odd about the rest."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polars as pl

from headrace.errors import refusal
from headrace.logs import lines, table
from headrace.logs.faults import Fault, Faults
from headrace.logs.formats import BY_NAME, Format, named
from headrace.logs.merge import merge

LOOKED_AT = 200  # Number of lines from which the format is detected.


@dataclass(frozen=True)
class Odd:
    """Anomaly of lines that are readable and stay in the table."""

    what: str
    count: int
    first: str  # Where the first such line is.
    note: str


@dataclass
class Log:
    """One or more logs, read."""

    table: pl.DataFrame
    formats: dict[str, str]  # Of each file.
    skipped: dict[str, int] = field(default_factory=dict)
    odd: list[Odd] = field(default_factory=list)
    rules: dict[str, int] = field(default_factory=dict)  # Of merging COND and STAT, where that was done.
    largest: int | None = None  # The largest file that the system could hold, bytes.
    rounded: bool = False  # Whether FTP's rounded times are among these.


def read(
    files: Sequence[str | Path],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    largest: int | None = None,
) -> Log:
    """Read logs into one table, sorted by time; a folder stands for all files in it.

    `format` is a name of `formats.BY_NAME` or `csv`; by default each file's first lines tell. `columns` says which
    column of a CSV file holds what. `largest` is the size in bytes beyond which a file is odd; by default that of the
    system whose format it is. Raises `ScenarioError` with every bad line's place, unless `skip_bad`.
    """
    faults, odd, frames, formats, rounded = Faults(), list[Odd](), [table.empty()], dict[str, str](), False
    limit = largest
    for file in _within(files):
        form = _format(file, format, columns)
        found = _read_one(file, form, faults)
        limit = form.largest if largest is None else largest
        odd += [*_backwards(found, form), *_sizes(found, limit)]
        frames.append(found)
        formats[str(file)] = form.name
        rounded |= form.rounded
    if not skip_bad:
        faults.refuse()
    whole, rules = _merged(pl.concat(frames).sort("time", maintain_order=True), formats)
    if whole.is_empty():
        raise refusal(files[0], f"{files[0]} has no line that can be read", "name a log that is not empty")
    return Log(whole, formats, dict(faults.counts), odd, rules, limit, rounded)


def _within(files: Sequence[str | Path]) -> list[Path]:
    """Return these files, and instead of a folder all files in it."""
    found = []
    for file in map(Path, files):
        inner = (
            sorted(one for one in file.iterdir() if one.is_file() and one.name[0] != ".") if file.is_dir() else [file]
        )
        if not inner:
            raise refusal(file, f"{file} is a folder without files", "name the logs, or a folder that holds them")
        found += inner
    return found


def _merged(whole: pl.DataFrame, formats: Mapping[str, str]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Merge COND and STAT where both are there; lines of other logs stay as they are."""
    if not {"cond", "stat"} <= set(formats.values()):
        return whole, {}
    of = {name: [Path(file).name for file, form in formats.items() if form == name] for name in ("cond", "stat")}
    cond, stat = (whole.filter(pl.col("log").is_in(of[name])) for name in ("cond", "stat"))
    found, rules = merge(cond, stat)
    rest = whole.filter(~pl.col("log").is_in([*of["cond"], *of["stat"]]))
    return pl.concat([found, rest]).sort("time", maintain_order=True), rules


def _format(file: Path, given: str | None, columns: Mapping[str, str] | None) -> Format:
    head = next((part.head(LOOKED_AT) for part in lines.read(file)), None)
    if head is None or head.is_empty():
        raise refusal(file, f"{file} is empty", "name a log with at least one line")
    header = str(head["text"][0])
    if columns or given == "csv" or (given is None and named.is_ours(header)):
        return named.named(header, columns, file)
    if given is not None and given not in BY_NAME:
        raise refusal(file, f"--format: unknown format `{given}`", f"formats are {', '.join(BY_NAME)} and csv")
    return BY_NAME[given] if given else _recognised(file, head)


def _recognised(file: Path, head: pl.DataFrame) -> Format:
    best = max(BY_NAME.values(), key=lambda form: form.matches(head))
    if not best.matches(head):
        known = ", ".join(BY_NAME)
        help_ = f"name its format with `--format` ({known}), or its columns with `--columns time=NAME,bytes=NAME`"
        raise refusal(file, f"{file} is in no format known here: it begins `{str(head['text'][0])[:80]}`", help_)
    return best


def _read_one(file: Path, form: Format, faults: Faults) -> pl.DataFrame:
    day, frames = day_of(file), [table.empty()]
    if form.needs_day and day is None:
        raise refusal(
            file, f"{file} has times without a date, and no date in its name", "name it with its day: `cond.980505`"
        )
    for part in lines.read(file):
        parsed = form.parse(part, day)
        _note(parsed.filter(pl.col("reason").is_not_null()), str(file), form, faults)
        good = parsed.filter(pl.col("reason").is_null())
        frames.append(good.select(table.SCHEMA.names()).with_columns(log=pl.lit(file.name)))
    return pl.concat(frames)


def _note(bad: pl.DataFrame, file: str, form: Format, faults: Faults) -> None:
    faults.counts += Counter(dict(bad["reason"].value_counts().iter_rows()))
    for line, text, reason in bad.select("line", "text", "reason").head(5).iter_rows():
        faults.add(Fault(file, line, text, reason, form.help(reason)))


def day_of(file: Path) -> date | None:
    """Return the date in a file's name, the last one there: YYYYMMDD or YYMMDD, with or without `-`, `_` or `.`.

    >>> day_of(Path("cond.980505")), day_of(Path("cond-1998-05-05.log")), day_of(Path("cond"))
    (datetime.date(1998, 5, 5), datetime.date(1998, 5, 5), None)
    """
    found = None
    for one in re.finditer(r"(?<!\d)(\d{4}|\d\d)([-_.]?)(\d\d)\2(\d\d)(?!\d)", file.name):
        year, month, of_month = int(one[1]), int(one[3]), int(one[4])
        century = 0 if len(one[1]) == 4 else 1900 if year > 68 else 2000
        try:
            found = date(year + century, month, of_month)
        except ValueError:
            continue
    return found


def _backwards(found: pl.DataFrame, form: Format) -> list[Odd]:
    """Find lines whose logged time is before that of the line above."""
    logged = table.ended() if form.stamped_at_end and not form.needs_day else pl.col("time")
    if form.needs_day:
        logged = pl.col("time") + pl.duration(microseconds=(pl.col("total_s") * 1e6).cast(pl.Int64))
    steps = found.with_columns(step=logged.diff().dt.total_microseconds() / 1e6).filter(pl.col("step") < -0.001)
    most = f"by up to {-steps['step'].min():,.3f} s" if len(steps) else ""  # type: ignore[operator]
    return _odd(steps, "the clock runs backwards", f"{most}; concurrency around these lines is unreliable")


def _sizes(found: pl.DataFrame, largest: int | None) -> list[Odd]:
    none = _odd(
        found.filter(pl.col("bytes") == 0), "size 0", "kept; `logs convert` to .csv or .yaml writes them as 1 byte"
    )
    if largest is None:
        return none
    note = f"larger than {largest:,} bytes, the most that the system can hold; residual delays leave them out"
    return none + _odd(found.filter(pl.col("bytes") > largest), "file over the maximum", note)


def _odd(rows: pl.DataFrame, what: str, note: str) -> list[Odd]:
    if rows.is_empty():
        return []
    first = rows.row(0, named=True)
    return [Odd(what, len(rows), f"{first['log']}, line {first['line']}", note)]
