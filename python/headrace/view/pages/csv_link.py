"""A table of a page as CSV, in the link itself: it needs no script and no network."""

import csv
import io
import re
from collections.abc import Iterator
from urllib.parse import quote

from headrace.report import Cell, Level, Table

# A value with its interval, such as `30.16 ± 0.19`, perhaps with a unit behind it.
VALUE = re.compile(r"(?P<middle>[^±]+?) ± (?P<half>[\d.,]+)(?P<unit>\D*)")
# A number in full: with commas between its thousands.
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


def link(table: Table) -> str:
    """Return the address that holds a table as CSV."""
    return f"data:text/csv;charset=utf-8,{quote(text(table))}"


def name(table: Table) -> str:
    """Return the name of the file that a browser saves a table to.

    >>> name(Table(["a"], [], title="response time of users, ms"))
    'response-time-of-users-ms.csv'
    """
    words = re.findall(r"\w+", table.headed.lower())
    return f"{'-'.join(words) or 'table'}.csv"


def text(table: Table) -> str:
    """Return a table as CSV: intervals in columns of their own, numbers without commas, bars left out.

    >>> print(text(Table(["", "mean, ms", "requests"], [["reads", "30.16 ± 0.19", "1,200"], ["writes", "—", "7"]])))
    ,"mean, ms",± mean,requests
    reads,30.16,0.19,1200
    writes,,,7
    <BLANKLINE>
    """
    columns = [_column(name, [row[at] for row in table.rows]) for at, name in enumerate(table.columns)]
    told = io.StringIO()
    csv.writer(told, lineterminator="\n").writerows(zip(*(one for of in columns for one in of), strict=True))
    return told.getvalue()


def _column(name: str, cells: list[Cell]) -> Iterator[list[str]]:
    """Yield a column as CSV has it, and that of its intervals if it has some."""
    if any(isinstance(cell, Level) for cell in cells):
        return
    found = [VALUE.fullmatch(str(cell)) for cell in cells]
    middles = [one["middle"] + one["unit"] if one else str(cell) for one, cell in zip(found, cells, strict=True)]
    yield [name, *map(_plain, middles)]
    if any(found):
        yield [f"± {name.partition(',')[0]}", *(_plain(one["half"]) if one else "" for one in found)]


def _plain(cell: str) -> str:
    if cell == "—":
        return ""
    return cell.replace(",", "") if THOUSANDS.fullmatch(cell) else cell
