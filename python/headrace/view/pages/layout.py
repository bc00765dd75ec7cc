"""How tables are laid out on a page: which columns are words, and which tables fit the screen of a telephone."""

import re
from collections.abc import Sequence
from typing import Literal

from headrace.report import Level, Rows, Table

# A number, perhaps behind a sign; and what stands for none.
NUMBER = re.compile(r"[<>≤≥~±+−-]?\s?\d|—$")
# Characters of numbers that stand beside each other at 420 px, and those that the gap before a column takes.
NARROW, GAP = 47, 1.2
# Characters of a name and its value that fit on half a card.
PAIR = 20
# The first column has this width at least, and breaks its lines beyond.
FIRST = 18


def is_words(rows: Rows, at: int) -> bool:
    """Return true if most cells of a column are words, which are set to the left.

    >>> is_words([["a", "meets", "1"], ["b", "", "—"]], 1), is_words([["a", "+3 %"], ["b", "—"]], 1)
    (True, False)
    """
    cells = [str(row[at]) for row in rows if str(row[at])]
    return sum(bool(NUMBER.match(cell)) for cell in cells) < len(cells) / 2


def width_of(table: Table) -> Literal["", "fold", "cards"]:
    """Return how a table fits the screen of a telephone: as it is, without its least columns, or a card for each row.

    >>> width_of(Table(["", "simulated"], [["mean", "30.16 ± 0.19"]]))
    ''
    >>> from dataclasses import replace
    >>> wide = Table([f"rather long {at}" for at in range(5)], [["12.3 ± 0.4"] * 5])
    >>> width_of(wide), width_of(replace(wide, least=wide.columns[2:]))
    ('cards', 'fold')
    """
    if any(isinstance(cell, Level) for row in table.rows for cell in row):
        return "fold"
    if table.look == "text" or fits(table.columns, table.rows):
        return ""
    chosen = [at for at, name in enumerate(table.columns) if name not in table.least]
    rows = [[row[at] for at in chosen] for row in table.rows]
    folds = len(chosen) < len(table.columns) and fits([table.columns[at] for at in chosen], rows)
    return "fold" if folds else "cards"


def classes_of(table: Table, width: str) -> list[str]:
    """Return the classes of the columns of a table that fits a telephone like `width_of` says.

    >>> classes_of(Table(["", "disk", "busy"], [["a", "left", "1 %"]], least=["busy"]), "fold")
    ['', 'words', 'extra']
    """
    classes = []
    for at, name in enumerate(table.columns or (table.rows and table.rows[0])):
        level = bool(table.rows) and isinstance(table.rows[0][at], Level)
        named = {
            "words": at > 0 and is_words(table.rows, at),
            "extra": width == "fold" and name in table.least,
            "level": level,
        }
        classes.append(" ".join(kind for kind, applies in named.items() if applies))
    return classes


def fits(columns: Sequence[str], rows: Rows) -> bool:
    """Return true if a table fits the screen of a telephone.

    >>> fits(["", "simulated"], [["mean", "30.16 ± 0.19"]]), fits(["a rather long name"] * 5, [["12.3 ± 0.4"] * 5])
    (True, False)
    """
    return sum(_widths(columns, rows)) + GAP * (len(columns) - 1) <= NARROW


def pairs(columns: Sequence[str], rows: Rows) -> bool:
    """Return true if two cells with their names fit beside each other on a card.

    >>> pairs(["day", "puts", "gets"], [["1998-05-01", "1,778", "200"]]), pairs(["", "goal"], [["4", "undecided: why"]])
    (True, True)
    >>> pairs(["disks", "readers: mean, ms"], [["4", "18.810 ± 0.038"]])
    False
    """
    cells = ((name, str(cell)) for row in rows for name, cell in zip(columns[1:], row[1:], strict=True))
    return all(len(name) + len(cell) <= PAIR for name, cell in cells)


def _widths(columns: Sequence[str], rows: Rows) -> list[int]:
    """Return how many characters each column takes: its headings break at spaces, its cells do not."""
    names = [max(map(len, re.split(r"[\s/]", name))) for name in columns]
    cells = [[str(row[at]) for row in rows] for at in range(len(columns))]
    longest = [max((len(line) for cell in of for line in cell.split("\n")), default=0) for of in cells]
    widths = [max(name, cell) for name, cell in zip(names, longest, strict=True)]
    return [FIRST, *widths[1:]]
