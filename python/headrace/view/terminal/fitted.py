"""A table that fits the width of the terminal without breaking a number."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

# Stands for a space at which no line breaks: it is as wide, and becomes a space when lines are made.
UNBROKEN = "\N{BRAILLE PATTERN BLANK}"
GAP = 2  # Blanks between columns.
# A number, perhaps with its interval and its unit.
NUMBER = re.compile(r"[-+±>≥<≤~→]?\s?\d\S*(\s±\s\S+)?(\s\S+)?|—")
# Words break at spaces, and within a path: behind a slash (not that of `MB/s`) and behind a dot before a letter.
PIECE = re.compile(r"\S+?(?:/(?!s\b)|\.(?=[a-zA-Z]))|\S+")


class Fitted:
    """A table that is laid out once the width is known; see `parts.table`."""

    def __init__(
        self,
        columns: Sequence[str],
        rows: Iterable[Iterable[str | Text]],
        *,
        title: str | None,
        words: Collection[str],
        least: Sequence[str],
    ) -> None:
        self._title, self._words, self._least = title, words, least
        lines = [list(row) for row in rows]
        self._columns = [_Column(name, [line[at] for line in lines]) for at, name in enumerate(columns)]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """Lay it out."""
        if self._title:  # As wide as the terminal, not as the table; its last word, the unit, is never alone.
            yield Text(UNBROKEN.join(self._title.rsplit(" ", 1)), style="italic")
        shown, left_out = self._chosen(options.max_width)
        made = Table(box=None, pad_edge=False)
        for column, width in zip(shown, _widths(shown, options.max_width), strict=True):
            made.add_column(
                _broken(column.name, width),
                justify="left" if column.name in self._words else "right",
                min_width=width,
                overflow="fold",
            )
            column.width = width
        for at in range(len(shown[0].cells) if shown else 0):
            made.add_row(*(_cell(column.cells[at], column.width) for column in shown))
        yield made
        if left_out:
            yield Text(f"too wide for this terminal, left out: {', '.join(left_out)}", style="dim")

    def _chosen(self, width: int) -> tuple[list["_Column"], list[str]]:
        """Return the columns that fit, and the names of the others."""
        shown = list(self._columns)
        going = [column for name in self._least for column in self._columns if column.name == name]
        # A column without a name says why a row has no numbers: it goes last.
        going += [column for column in reversed(self._columns[1:]) if column not in going and column.name]
        going += [column for column in self._columns[1:] if column not in going]
        while going and _total([column.least for column in shown]) > width:
            shown.remove(going.pop(0))
        return shown, [column.name for column in self._columns if column.name and column not in shown]


class _Column:
    """A column with its widths: as narrow as it can be, with its words in one line, with its heading too."""

    def __init__(self, name: str, cells: list[str | Text]) -> None:
        self.name, self.cells, self.width = name, cells, 0
        texts = [str(cell) for cell in cells]
        heading = max(map(len, PIECE.findall(name)), default=0)
        self.least = max([heading, *map(_least, texts)])
        self.body = max([heading, *map(_longest, texts)])
        self.full = max(self.body, len(name))


def _longest(text: str) -> int:
    return max(map(len, text.splitlines()), default=0)


def _least(text: str) -> int:
    """Return to how few signs a cell can be broken."""
    if NUMBER.fullmatch(text):
        return _longest(text)
    return max(map(len, PIECE.findall(text)), default=0)


def _total(widths: list[int]) -> int:
    return sum(widths) + GAP * max(len(widths) - 1, 0)


def _widths(shown: list[_Column], width: int) -> list[int]:
    """Return how wide columns are: headings give way first, then words, the widest before others."""
    widths = [column.full for column in shown]
    for floors in ([column.body for column in shown], [column.least for column in shown]):
        while _total(widths) > width:
            wide = [at for at, floor in enumerate(floors) if widths[at] > floor]
            if not wide:
                break
            widths[max(wide, key=lambda at: widths[at])] -= 1
    return widths


def _cell(cell: str | Text, width: int) -> str | Text:
    if _longest(str(cell)) <= width or NUMBER.fullmatch(str(cell)):
        return cell
    broken = "\n".join(_broken(line, width) for line in str(cell).splitlines())
    return Text(broken, style=cell.style) if isinstance(cell, Text) else broken


def _broken(text: str, width: int) -> str:
    """Return text in lines of at most `width`, as far as its pieces allow."""
    lines = [""]
    for piece in re.finditer(PIECE, text):
        before = " " if lines[-1] and text[piece.start() - 1] == " " else ""
        if lines[-1] and len(lines[-1]) + len(before) + len(piece[0]) > width:
            lines.append(piece[0])
        else:
            lines[-1] += before + piece[0]
    return "\n".join(lines)
