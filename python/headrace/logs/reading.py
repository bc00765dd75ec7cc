"""Logs as one table: which format they are in, what cannot be read, and what is odd about the rest."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TypeVar

import polars as pl

from headrace.errors import refusal
from headrace.logs import lines, table
from headrace.logs.faults import Fault, Faults
from headrace.logs.formats import BY_NAME, Format, named, parquet
from headrace.logs.merge import merge
from headrace.logs.rows import Rows

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

    rows: Rows
    formats: dict[str, str]  # Of each file.
    skipped: dict[str, int] = field(default_factory=dict)
    odd: list[Odd] = field(default_factory=list)
    rules: dict[str, int] = field(default_factory=dict)  # Of merging COND and STAT, where that was done.
    largest: int | None = None  # The largest file that the system could hold, bytes.
    rounded: bool = False  # True if FTP's rounded times are among these.

    @cached_property
    def table(self) -> pl.DataFrame:
        """The whole log in memory, sorted by time."""
        return pl.concat([table.empty(), *self.rows.in_order("time")])


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
    faults, odd, rows, formats, rounded = Faults(), list[Odd](), Rows(), dict[str, str](), False
    limit, read_before = largest, dict[Content, str]()
    for file in _within(files):
        form, parsed = _parsed(file, format, columns)
        limit = form.largest if largest is None else largest
        repeated = Repeated()
        seen: list[Backwards | Sizes | Repeated] = [Backwards(form), Sizes(limit), repeated]
        for part in _good(file, form, parsed, faults):
            rows.add(part)
            for one in seen:
                one.look(part)
        odd += [found for one in seen for found in one.found()]
        if other := read_before.get(repeated.content):
            note = f"as many operations, bytes and times as in {other}: is it the same log? Both are read"
            odd.append(Odd("the same as another log", repeated.rows, f"{file.name}, line 1", note))
        read_before[repeated.content] = file.name
        formats[str(file)] = form.name
        rounded |= form.rounded
    if not skip_bad:
        faults.refuse()
    if {"cond", "stat"} <= set(formats.values()):
        rows, rules = merge(rows, formats)
    else:
        rules = {}
    if not rows.height:
        raise refusal(files[0], f"{files[0]} has no line that can be read", "name a log that is not empty")
    return Log(rows, formats, dict(faults.counts), odd, rules, limit, rounded)


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


def _parsed(file: Path, given: str | None, columns: Mapping[str, str] | None) -> tuple[Format, Iterator[pl.DataFrame]]:
    """Return the format of a file, and its rows, bad ones with a `reason`. It is read once: it may be a pipe."""
    if parquet.is_parquet(file):
        return parquet.read(file)
    parts, day = lines.read(file), day_of(file)
    first = next(parts, None)
    if first is None or first.is_empty():
        raise refusal(file, f"{file} is empty", "name a log with at least one line")
    form = _format(file, first.head(LOOKED_AT), given, columns)
    if form.needs_day and day is None:
        raise refusal(
            file, f"{file} has times without a date, and no date in its name", "name it with its day: `cond.980505`"
        )
    return form, ahead(lambda part: form.parse(part, day), chain([first], parts))


def _format(file: Path, head: pl.DataFrame, given: str | None, columns: Mapping[str, str] | None) -> Format:
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
        help_ = f"name its format with `--format` ({known}), or its columns with `--columns time=NAME,bytes=NAME:MB`"
        raise refusal(file, f"{file} is in no format known here: it begins `{str(head['text'][0])[:80]}`", help_)
    return best


def _good(file: Path, form: Format, parsed: Iterable[pl.DataFrame], faults: Faults) -> Iterator[pl.DataFrame]:
    """Yield the good rows of a file; note the others."""
    for part in parsed:
        _note(part.filter(pl.col("reason").is_not_null()), str(file), form, faults)
        good = part.filter(pl.col("reason").is_null())
        of = {"cartridge": pl.lit(file.stem)} if form.of_cartridge else {}
        yield good.select(table.SCHEMA.names()).with_columns(log=pl.lit(file.name), **of)


T = TypeVar("T")
U = TypeVar("U")


def ahead(how: Callable[[T], U], items: Iterable[T], workers: int = 2) -> Iterator[U]:
    """Yield what `how` makes of each item, in order, working on the next ones meanwhile."""
    with ThreadPoolExecutor(workers) as pool:
        made: deque[Future[U]] = deque()
        for item in items:
            made.append(pool.submit(how, item))
            if len(made) > workers:
                yield made.popleft().result()
        while made:
            yield made.popleft().result()


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


# Clocks are put back by an hour, between two lines that are some time apart.
LEAST_OF_AN_HOUR, AN_HOUR = 3000, 3600


class Backwards:
    """Counts lines whose logged time is before that of the line above."""

    def __init__(self, form: Format) -> None:
        # Of a recall without its request, the time begins where a drive began to read.
        # A session is logged once what it read lies on disk, after its drive is free.
        of_session = pl.when(pl.col("op") == "session").then("total_s")
        taken = pl.coalesce(of_session, "seconds", "stage_s", pl.lit(0.0))
        at_end = form.stamped_at_end and not form.needs_day
        logged = table.after(pl.col("time"), taken) if at_end else pl.col("time")
        self.logged = table.after(pl.col("time"), pl.col("total_s")) if form.needs_day else logged
        self.above: datetime | None = None
        self.count, self.most, self.first = 0, 0.0, ""

    def look(self, part: pl.DataFrame) -> None:
        """Count those of the next lines of a file."""
        logged = part.select("log", "line", logged=self.logged)
        above = pl.col("logged").shift(1, fill_value=self.above)
        steps = logged.with_columns(step=(pl.col("logged") - above).dt.total_microseconds() / 1e6)
        back = steps.filter(pl.col("step") < -0.001)
        self.first = self.first or _place(back)
        self.count += back.height
        self.most = max(self.most, -float(back["step"].min() or 0.0))  # type: ignore[arg-type]
        self.above = logged["logged"][-1] if logged.height else self.above

    def found(self) -> list[Odd]:
        """Return them."""
        autumn = ", as where summer time ends" if LEAST_OF_AN_HOUR < self.most <= AN_HOUR and self.count == 1 else ""
        note = f"by up to {self.most:,.3f} s{autumn}; the order of operations around these lines is unreliable"
        return [Odd("the clock runs backwards", self.count, self.first, note)] if self.count else []


# What two logs have in common that are one: lines, bytes, and the sums of their times.
Content = tuple[int, int, int]
# Fewer lines like the line above may be operations that are alike.
OFTEN = 0.1


class Repeated:
    """Counts lines that say the same as the line above, and what a log contains."""

    def __init__(self) -> None:
        self.rows, self.bytes, self.times, self.count, self.first = 0, 0, 0, 0, ""

    def look(self, part: pl.DataFrame) -> None:
        """Count those of the next lines of a file."""
        what = map(pl.col, ("time", "op", "user", "file", "bytes", "seconds", "outcome"))
        again = part.filter(pl.all_horizontal(one.eq_missing(one.shift(1)) for one in what))
        self.first = self.first or _place(again)
        self.count += again.height
        self.rows += part.height
        self.bytes += int(part["bytes"].sum() or 0)
        self.times += int(part["time"].to_physical().sum() or 0)

    @property
    def content(self) -> Content:
        """What tells one log from another."""
        return self.rows, self.bytes, self.times

    def found(self) -> list[Odd]:
        """Return them, if they are many."""
        note = "kept; if they were written twice, every number here is too high"
        return [Odd("the same as the line above", self.count, self.first, note)] * (self.count > OFTEN * self.rows)


class Sizes:
    """Counts files without bytes, and those larger than the system can hold."""

    def __init__(self, largest: int | None) -> None:
        self.odd = {"size 0": pl.col("bytes") == 0}
        self.notes = {"size 0": "kept; `logs convert` to .csv or .yaml writes them as 1 byte"}
        if largest is not None:
            self.odd["file over the maximum"] = pl.col("bytes") > largest
            said = f"larger than {largest:,} bytes, the most that the system can hold; residual delays leave them out"
            self.notes["file over the maximum"] = said
        self.counts, self.first = Counter[str](), dict[str, str]()

    def look(self, part: pl.DataFrame) -> None:
        """Count those of the next lines of a file."""
        for what, where in self.odd.items():
            rows = part.filter(where)
            self.counts[what] += rows.height
            self.first[what] = self.first.get(what) or _place(rows)

    def found(self) -> list[Odd]:
        """Return them."""
        return [
            Odd(what, self.counts[what], self.first[what], self.notes[what]) for what in self.odd if self.counts[what]
        ]


def _place(rows: pl.DataFrame) -> str:
    """Return where the first of these rows is in its log; empty without rows."""
    return "" if rows.is_empty() else f"{rows['log'][0]}, line {rows['line'][0]}"
