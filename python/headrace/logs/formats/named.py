"""CSV with named columns: any log that has a line for each operation, and a header."""

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from headrace import _core
from headrace.errors import refusal
from headrace.logs.formats import cells
from headrace.logs.formats.form import Format, Split, before, is_duration

OURS = {
    "time": "time_s", "op": "op", "user": "user", "host": "host", "file": "file", "bytes": "bytes",
    "seconds": "measured_s", "staged": "staged", "cartridge": "cartridge", "position_bytes": "position_bytes",
    "file_bytes": "file_bytes", "drive_s": "drive_s",
}  # fmt: skip
TEXTS = ("user", "host", "job", "file", "cartridge", "drive")
# `drive_s` is for how long a session has its drive.
NUMBERS = ("seconds", "stage_s", "total_s", "drive_s")
SIZES_IN, WHOLE, TIMES_OF = ("bytes", "file_bytes", "position_bytes"), ("position",), ("time", "requested", "end")
FIELDS = (*TIMES_OF, "op", *TEXTS, *SIZES_IN, *WHOLE, *NUMBERS, "staged", "outcome")
OPS = {
    "get": ("get", "read", "r", "download"),
    "put": ("put", "write", "w", "store", "upload"),
    "stage": ("stage", "recall", "restore", "retrieve"),
    "migrate": ("migrate", "archive"),
    "delete": ("delete", "remove", "rm"),
    "session": ("session", "mount"),
    "purge": ("purge", "evict"),
    "cancel": ("cancel", "abort"),
}
_WORDS = {word: op for op, words in OPS.items() for word in words}
TIMES = (
    "a time is a number of seconds until the year 9999, or a date such as 2024-03-01 12:00:05; "
    "`--columns time=NAME:ms` reads numbers of milliseconds, `--columns 'time=NAME:%d/%m/%Y %H:%M:%S'` other dates"
)
SIZES = (
    "a size is a number of bytes, 0 or more and below 2^63, or has a unit, such as 1.5 MB; "
    "`--columns bytes=NAME:MB` reads numbers of MB"
)

PART_OF_BYTE = r"^\d+\.\d*[1-9]\d*$"
# Where a comma begins a fraction, points stand between groups of three digits.
PART_OF_BYTE_OR_GROUPS = r"^\d+,\d*[1-9]\d*$|^\d{1,3}(\.\d{3})+$"
PARTS = "a size without a unit is a whole number of bytes; `--columns bytes=NAME:MB` reads numbers of MB"


@dataclass(frozen=True)
class Place:
    """The column that holds a field, how much 1 means there, and the form of its dates; `None` for the usual ones."""

    column: str
    scale: float = 1.0
    form: str | None = None


def named(header: str, given: Mapping[str, str] | None, file: str | Path) -> Format:
    """Return the format of a CSV file with this header; `given` says which column holds what: see `FIELDS`.

    A column may have a unit behind a colon, `bytes=size:KiB` or `seconds=ms:ms`. Raises `ScenarioError` where a column
    is not there, or a unit is none.
    """
    if "\r" in header.rstrip("\r"):
        message = f"{file}: there is a carriage return within its first line"
        raise refusal(file, message, "end lines with a line feed, such as by tr '\\r' '\\n' <FILE")
    delimiter = _delimiter(header)
    columns = [name.strip() for name in next(csv.reader([header], delimiter=delimiter), [])]
    where, comma = _places(columns, given, file), delimiter == ";"
    return Format(
        name="csv",
        about=f"a CSV line with {len(columns)} fields",
        example=header,
        pattern="",
        columns=_columns(where, comma=comma),
        wrong=_wrong(where, comma=comma),
        stamped_at_end="time" not in where,
        split=_splitter(delimiter, columns, header),
    )


def _delimiter(header: str) -> str:
    return max(",;\t|", key=header.count)


def _unit_in(name: str, kind: str) -> str | None:
    """Return the unit of a size, but not bytes, or of a time, but not seconds, that the name of a column ends in."""
    if kind == "size":
        found = re.search(r"(?:_|\b)([kmgt])(i?)b\)?$", name, re.IGNORECASE)
        letter = found[1].upper() if found else ""
        return found and (f"{letter}iB" if found[2] else f"{'k' if letter == 'K' else letter}B")
    found = re.search(r"(?:_|\b)(ms|us|ns|min)\)?$", name)
    return found and found[1]


def is_ours(header: str) -> bool:
    """Return true for the header of headrace's own file of operations."""
    return {"time_s", "op", "bytes"} <= {name.strip() for name in header.split(",")}


def _places(columns: list[str], given: Mapping[str, str] | None, file: str | Path) -> dict[str, Place]:
    """Return the place of each field."""
    known = ", ".join(f"`{name}`" for name in columns)
    wanted = given or {field: name for field, name in OURS.items() if name in columns}
    places = {field: _place(field, text, columns, file) for field, text in wanted.items()}
    if "time" not in places and not {"end", "seconds"} <= places.keys():
        message = "say `--columns time=NAME,bytes=NAME`, or `end=NAME,seconds=NAME`; there are "
        raise refusal(file, "--columns: no column for `time`", message + known)
    return places


def _place(field: str, text: str, columns: list[str], file: str | Path) -> Place:
    if field not in FIELDS:
        raise refusal(file, f"--columns: unknown field `{field}`", f"fields are {', '.join(FIELDS)}")
    name, colon, form = text.partition(":%") if field in TIMES_OF else (text, "", "")
    if colon and name in columns:
        return Place(name, form=f"%{form}")
    name, colon, unit = text.rpartition(":") if text not in columns else (text, "", "")
    if (name if colon else text) not in columns:
        known = ", ".join(f"`{name}`" for name in columns)
        raise refusal(file, f"--columns: {file} has no column `{text}`", f"its columns are {known}")
    if not colon and field not in TEXTS and (meant := _unit_in(text, _kind(field))):
        read = "bytes" if field in SIZES_IN else "seconds"
        message = f"--columns: `{text}` would be read as {read}, but its name says {meant}"
        raise refusal(
            file, message, f"say its unit: `{field}={text}:{meant}`, or `:{'B' if field in SIZES_IN else 's'}`"
        )
    return Place(name, _scale(field, unit, file)) if colon else Place(text)


def _kind(field: str) -> str:
    return "size" if field in SIZES_IN else "time"


def _scale(field: str, unit: str, file: str | Path) -> float:
    kind = _kind(field)
    try:
        return _core.quantity(kind, f"1 {unit}") / (1 if kind == "size" else 1e9)
    except ValueError as error:
        raise refusal(file, f"--columns: {field}: {error}", "say a unit such as ms or KiB") from None


def _columns(where: dict[str, Place], *, comma: bool) -> dict[str, pl.Expr]:
    made = {field: _cell(where[field]).replace("", None) for field in TEXTS if field in where}
    made |= {field: _duration(where[field], comma=comma) for field in NUMBERS if field in where}
    if "drive_s" in made:
        held = made.pop("drive_s")
        made["seconds"] = pl.coalesce(made["seconds"], held) if "seconds" in made else held
    made |= _times(where, made)
    word = _cell(where["op"]).str.to_lowercase() if "op" in where else pl.lit("get")
    made["op"] = word.replace_strict(_WORDS, default=None, return_dtype=pl.String)
    if "seconds" in made:
        # What a stage takes is the time of the tape.
        of_stage = pl.when(made["op"] == "stage").then(made["seconds"])
        made["stage_s"] = pl.coalesce(made["stage_s"], of_stage) if "stage_s" in made else of_stage
    # A wait for tape of 0 s is none.
    if "stage_s" in made:
        made["stage_s"] = pl.when((made["stage_s"] != 0) & made["op"].is_in(["get", "stage"])).then(made["stage_s"])
    for field in (*SIZES_IN, *WHOLE):
        if field in where:
            size = partial(cells.sizes, scale=where[field].scale, comma=comma)
            made[field] = _mapped(where[field], size).round().cast(pl.Int64, strict=False)
    made["outcome"] = _outcome(where)
    if "staged" in where:
        made["staged"] = _said(where["staged"]).is_in(ON_TAPE)
    return made


def _times(where: dict[str, Place], made: dict[str, pl.Expr]) -> dict[str, pl.Expr]:
    """Return when operations were asked for and began, and how long they took, by when they ended."""
    said = {field: _time(where[field]) for field in TIMES_OF if field in where}
    found: dict[str, pl.Expr] = {field: said[field] for field in ("time", "requested") if field in said}
    if (end := said.get("end")) is None:
        return found
    if "time" not in found:
        found["time"] = before(end, made["seconds"])
    elif "seconds" not in made:
        found["seconds"] = _between(found["time"], end)
    if "total_s" not in made:
        found["total_s"] = _between(pl.coalesce(*(found[name] for name in ("requested", "time") if name in found)), end)
    return found


def _between(begin: pl.Expr, end: pl.Expr) -> pl.Expr:
    return (end - begin).dt.total_microseconds() / 1e6


# Words of outcomes; of numbers, 0 and those of HTTP from 200 to 299 are good.
DONE = ("", "0", "done", "ok", "success", "successful", "succeeded", "complete", "completed", "finished", "true", "yes")
FAILED = (
    *("failed", "failure", "fail", "error", "err", "aborted", "abort", "cancelled", "canceled", "timeout", "timed out"),
    *("denied", "refused", "rejected", "false", "no"),
)


def _outcome(where: dict[str, Place]) -> pl.Expr:
    if "outcome" not in where:
        return pl.lit("done")
    word = _cell(where["outcome"]).str.to_lowercase()
    code = word.cast(pl.Int64, strict=False)
    good, bad = word.is_in(DONE) | code.is_between(200, 299), word.is_in(FAILED) | code.is_not_null()
    return pl.when(good).then(pl.lit("done")).when(bad).then(pl.lit("failed"))


# Words of where a file lay when it was read.
ON_TAPE = ("1", "true", "yes", "y", "t", "tape", "miss", "nearline")
ON_DISK = ("0", "false", "no", "n", "f", "disk", "hit", "cache", "cached", "online")
# What programs write into a cell that has nothing to say.
EMPTY = ("-", "--", "NULL", "null", "None", "NA", "N/A", "NaN", "nan")


def _said(place: Place) -> pl.Expr:
    """Return a word in small letters; empty where there is none."""
    return _cell(place).str.to_lowercase().replace("", None)


def _cell(place: Place) -> pl.Expr:
    return pl.col(f"cell {place.column}").str.strip_chars().replace(EMPTY, "")


def _mapped(
    place: Place, how: Callable[[pl.Series], pl.Series], kind: pl.DataType | type[pl.DataType] = pl.Float64
) -> pl.Expr:
    return _cell(place).map_batches(how, return_dtype=kind)


def _duration(place: Place, *, comma: bool) -> pl.Expr:
    return _mapped(place, partial(cells.durations, scale=place.scale, comma=comma))


def _time(place: Place) -> pl.Expr:
    return _mapped(place, partial(cells.times, scale=place.scale, form=place.form), pl.Datetime("us"))


def _wrong(where: dict[str, Place], *, comma: bool) -> dict[str, tuple[pl.Expr, str]]:
    wrong: dict[str, tuple[pl.Expr, str]] = {}
    for field in TIMES_OF:
        if field in where and field != "time":
            is_wrong = _time(where[field]).is_null() & (_cell(where[field]) != "")
            wrong[f"no time ({field})"] = is_wrong, TIMES
    wrong |= {
        "no time": (pl.col("time").is_null(), TIMES),
        "unknown outcome": (pl.col("outcome").is_null(), f"outcomes are {', '.join((*DONE[1:], *FAILED))}, or a code"),
        "unknown operation": (pl.col("op").is_null(), f"operations are {', '.join(sorted(_WORDS))}"),
    }
    for field in SIZES_IN:
        if field in where:
            wrong |= _wrong_size(field, where[field], comma=comma)
    if "staged" in where:
        word = _said(where["staged"])
        is_wrong = word.is_not_null() & ~word.is_in([*ON_TAPE, *ON_DISK])
        wrong["neither on tape nor on disk (staged)"] = (
            is_wrong, f"words for tape are {', '.join(ON_TAPE)}; for disk {', '.join(ON_DISK)}"
        )  # fmt: skip
    for field in NUMBERS:
        if field in where:
            filled = _cell(where[field]) != ""
            is_wrong, why = is_duration(_duration(where[field], comma=comma))
            wrong[f"no time taken ({field})"] = is_wrong & filled, f"{why}, or has a unit, or is such as 0:01:35"
    if {"time", "end"} <= where.keys():
        ends_before = _between(pl.col("time"), _time(where["end"])) < 0
        wrong["ends before it begins"] = ends_before, "an operation ends at its `time` or later"
    return wrong


def _wrong_size(field: str, place: Place, *, comma: bool) -> dict[str, tuple[pl.Expr, str]]:
    """Return what is wrong with a size; only those of `bytes` are needed, and not of what failed."""
    size, cell, of = pl.col(field), _cell(place), "" if field == "bytes" else f" ({field})"
    is_needed = cell != ""
    if field == "bytes":
        is_needed |= pl.col("outcome") == "done"
    wrong = {f"no size{of}": ((size.is_null() & is_needed) | (size < 0), SIZES)}
    if place.scale == 1:
        form = PART_OF_BYTE_OR_GROUPS if comma else PART_OF_BYTE
        wrong[f"a part of a byte{of}"] = cell.str.contains(form), PARTS
    return wrong


def _splitter(delimiter: str, columns: list[str], header: str) -> Split:
    numbers = [str(at) for at in range(len(columns))]
    names = {f"cell {name}": str(at) for at, name in enumerate(columns)}

    def split(lines: pl.DataFrame) -> pl.DataFrame:
        lines = lines.filter(pl.col("text") != header)
        is_quoted = pl.col("text").str.contains('"', literal=True)
        parts = pl.col("text").str.split_exact(delimiter, len(columns)).struct.rename_fields([*numbers, "beyond"])
        plain = lines.filter(~is_quoted).with_columns(parts.alias("parts")).unnest("parts")
        is_line = pl.col(numbers[-1]).is_not_null() & pl.col("beyond").is_null()
        quoted = lines.filter(is_quoted)
        rows = [_cells(text, delimiter) for text in quoted["text"]]
        good = pl.Series([len(row) == len(columns) for row in rows], dtype=pl.Boolean)
        cells = [row if len(row) == len(columns) else [None] * len(columns) for row in rows]
        read = pl.DataFrame(cells, schema=dict.fromkeys(numbers, pl.String), orient="row")
        quoted = pl.concat([quoted.with_columns(is_line=good), read], how="horizontal")
        both = pl.concat([plain.with_columns(is_line=is_line).select(quoted.columns), quoted])
        return both.sort("line").with_columns(pl.col(at).alias(name) for name, at in names.items()).drop(numbers)

    return split


def _cells(text: str, delimiter: str) -> list[str | None]:
    try:
        return list(next(csv.reader([text], delimiter=delimiter), []))
    except csv.Error:
        return []
