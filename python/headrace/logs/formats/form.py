"""Formats of logs: the pattern of a line, the columns made of its parts, and the possible errors."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date

import polars as pl

from headrace.logs.table import LONGEST_S, tidy

Split = Callable[[pl.DataFrame], pl.DataFrame]
# What is wrong where an expression is true: (what is found, the fix).
Wrong = dict[str, tuple[pl.Expr, str]]

OTHER = "not a line of this format"
# The most characters of an example that an error shows.
LONGEST_EXAMPLE = 200


@dataclass(frozen=True)
class Format:
    """A format of logs: one small file each."""

    name: str
    about: str
    example: str
    pattern: str  # A line, with a named group for each part.
    columns: dict[str, pl.Expr]  # The table's columns, from the parts.
    wrong: Wrong = field(default_factory=dict)
    stamped_at_end: bool = False  # True if the logged time is that of the end: lines are in that order.
    needs_day: bool = False  # True if lines have times without a date, which is in the name of the file.
    largest: int | None = None  # The largest file that the system could hold, bytes.
    of_cartridge: bool = False  # True if a file is about one cartridge, whose name it has.
    rounded: bool = False  # True if some of its times are whole seconds, those below one written as 0.499.
    split: Split | None = None

    def parse(self, lines: pl.DataFrame, day: date | None = None) -> pl.DataFrame:
        """Return the table of these lines, with `text` and `reason`: why a line is bad, empty where it is not."""
        parts = (self.split or self._groups)(lines)
        read = parts.with_columns(pl.lit(day, pl.Date).alias("day")).with_columns(**self.columns)
        reasons = [pl.when(where).then(pl.lit(name)) for name, (where, _) in self.wrong.items()]
        other = pl.when(pl.col("is_line").not_()).then(pl.lit(OTHER))
        judged = read.select(pl.col("text"), pl.coalesce(other, *reasons).alias("reason"))
        return pl.concat([tidy(read), judged], how="horizontal")

    def help(self, reason: str) -> str:
        """Say how to fix a bad line."""
        if reason == OTHER:
            whole = len(self.example) <= LONGEST_EXAMPLE
            example = self.example if whole else f"{self.example[:LONGEST_EXAMPLE]}…"
            return f"a line of `{self.name}` is {self.about}, such as `{example}`"
        return self.wrong[reason][1]

    def matches(self, lines: pl.DataFrame) -> int:
        """Return how many of these lines look like this format."""
        return int(lines["text"].str.contains(self.pattern).sum()) if self.pattern else 0

    def _groups(self, lines: pl.DataFrame) -> pl.DataFrame:
        found = lines.with_columns(pl.col("text").str.extract_groups(self.pattern).alias("parts"))
        return found.with_columns(is_line=pl.col("text").str.contains(self.pattern)).unnest("parts")


def is_size(column: str = "bytes") -> tuple[pl.Expr, str]:
    """Return what is wrong with a size that is no whole number of bytes."""
    return pl.col(column).is_null(), "a size is a whole number of bytes below 2^63"


def is_duration(of: str | pl.Expr = "seconds") -> tuple[pl.Expr, str]:
    """Return what is wrong with a time taken that cannot be: of a column, or of an expression."""
    value = pl.col(of) if isinstance(of, str) else of
    wrong = value.is_null() | value.is_nan() | (value < 0) | (value > LONGEST_S)
    return wrong, "a time taken is 0 or more seconds, and less than ten years"


def is_date(about: str) -> tuple[pl.Expr, str]:
    """Return what is wrong with a time that is none."""
    return pl.col("time").is_null(), about


def before(end: pl.Expr, seconds: pl.Expr) -> pl.Expr:
    """Return when something began that ended then and took so long; empty where it took impossibly long."""
    taken = pl.when(seconds.is_between(0, LONGEST_S)).then(seconds)
    return end - pl.duration(microseconds=(taken * 1e6).round().cast(pl.Int64))


def stamp(text: pl.Expr, form: str) -> pl.Expr:
    """Return the time that a text says; empty where it is none."""
    return text.str.to_datetime(form, strict=False, time_unit="us")


def number(name: str) -> pl.Expr:
    """Return a part as a number; empty where it is none."""
    return pl.col(name).cast(pl.Float64, strict=False)


def whole(name: str) -> pl.Expr:
    """Return a part as a whole number; empty where it is none."""
    return pl.col(name).cast(pl.Int64, strict=False)


def milliseconds(seconds: pl.Expr) -> pl.Expr:
    """Return a time in seconds as text with three decimals."""
    ms = (seconds * 1000).round().cast(pl.Int64)
    return (ms // 1000).cast(pl.String) + "." + (ms % 1000).cast(pl.String).str.zfill(3)
