"""How tables are laid out on a page: which columns are words, and which tables fit the screen of a telephone."""

import re
from collections.abc import Sequence

Rows = Sequence[Sequence[str]]

# A number, perhaps behind a sign; and what stands for none.
NUMBER = re.compile(r"[<>≤≥~±+−-]?\s?\d|—$")
# Characters of numbers that stand beside each other at 420 px, and those that the gap before a column takes.
NARROW, GAP = 47, 1.2
# Characters of a name and its value that fit on half a card.
PAIR = 20
# The first column has this width at least, and breaks its lines beyond.
FIRST = 18


def is_words(rows: Rows, at: int) -> bool:
    """Whether most cells of a column are words, which are set to the left.

    >>> is_words([["a", "meets", "1"], ["b", "", "—"]], 1), is_words([["a", "+3 %"], ["b", "—"]], 1)
    (True, False)
    """
    cells = [row[at] for row in rows if row[at]]
    return sum(bool(NUMBER.match(cell)) for cell in cells) < len(cells) / 2


def fits(columns: Sequence[str], rows: Rows) -> bool:
    """Whether a table fits the screen of a telephone; of others each row becomes a card there.

    >>> fits(["", "simulated"], [["mean", "30.16 ± 0.19"]]), fits(["a rather long name"] * 5, [["12.3 ± 0.4"] * 5])
    (True, False)
    """
    return sum(_widths(columns, rows)) + GAP * (len(columns) - 1) <= NARROW


def pairs(columns: Sequence[str], rows: Rows) -> bool:
    """Whether two cells with their names fit beside each other on a card.

    >>> pairs(["day", "puts", "gets"], [["1998-05-01", "1,778", "200"]]), pairs(["", "goal"], [["4", "undecided: why"]])
    (True, True)
    >>> pairs(["disks", "readers: mean, ms"], [["4", "18.810 ± 0.038"]])
    False
    """
    return all(len(name) + len(cell) <= PAIR for row in rows for name, cell in zip(columns[1:], row[1:], strict=True))


def _widths(columns: Sequence[str], rows: Rows) -> list[int]:
    """Return how many characters each column takes: its headings break at spaces, its cells do not."""
    names = [max(map(len, re.split(r"[\s/]", name))) for name in columns]
    cells = [[row[at] for row in rows] for at in range(len(columns))]
    longest = [max((len(line) for cell in of for line in cell.split("\n")), default=0) for of in cells]
    widths = [max(name, cell) for name, cell in zip(names, longest, strict=True)]
    return [FIRST, *widths[1:]]
