"""What all that is printed is made of: a console, tables, bars."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from headrace.errors import printable
from headrace.quantities import unbroken
from headrace.view.terminal.fitted import UNBROKEN, Fitted

BAR = "█"
LEAST_DRAWN = 0.005
LONGEST = 30


class Plain(Console):
    """A console that shows what would steer the terminal (ESC in a device's text) instead of passing it on."""

    def on_broken_pipe(self) -> None:
        """Leave a reader that has gone to the command, which ends in peace; a plain console would exit with 1."""
        raise  # noqa: PLE0704 - it is called where the error is handled

    def render_str(self, text: str, **how: Any) -> Text:
        """Return text as it is printed; every string comes by here, those in tables too."""
        return super().render_str(printable(text), **how)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return what is printed, in lines; spaces at which they must not break are spaces now."""
        for segment in super().render(renderable, options):
            yield segment._replace(text=segment.text.replace(UNBROKEN, " "))


def console(*, width: int | None = None) -> Console:
    """Return a console that prints text as it is."""
    return Plain(highlight=False, markup=False, width=width)


def bold(text: str) -> Text:
    """Return the line that stands on top."""
    return sentence(text, style="bold")


def sentence(text: str, *, style: str = "") -> Text:
    """Return a text whose lines do not break between a number and its unit."""
    return Text(unbroken(printable(text), UNBROKEN), style=style)


def bar(share: float, *, style: str = "blue", longest: int = LONGEST) -> Text:
    """Return a bar that is as long as a share of the longest; none below half a per cent."""
    return Text(BAR * max(share >= LEAST_DRAWN, round(share * longest)), style=style)


@dataclass
class Bar:
    """A line: words, a bar of this share of the longest, and its number."""

    words: tuple[str, ...]
    share: float
    number: str
    style: str = "blue"


def bars(on: Console, lines: Sequence[Bar], *, justify: JustifyMethod = "left") -> None:
    """Print bars below each other; where the terminal is narrow they are shorter, and words and numbers whole."""
    beside = [max(map(len, column)) + 1 for column in zip(*((*line.words, line.number) for line in lines), strict=True)]
    longest = min(LONGEST, max(1, on.width - sum(beside)))
    grid = Table.grid(padding=(0, 1))
    for _ in beside[:-1]:
        grid.add_column(justify=justify, overflow="fold")
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right" if justify == "left" else "left", no_wrap=True)
    for line in lines:
        grid.add_row(*line.words, bar(line.share, style=line.style, longest=longest), line.number)
    on.print(grid)


def table(
    columns: Sequence[str],
    rows: Iterable[Iterable[str | Text]],
    *,
    title: str | None = None,
    words: Collection[str] = ("",),
    least: Sequence[str] = (),
) -> Fitted:
    """Return a table: numbers to the right, the columns that hold `words` to the left.

    Where it is too wide, headings break at spaces and within paths, then words do; numbers and units never. Columns
    that still do not fit are left out, those of `least` first, then from the right; a line below names them.
    """
    return Fitted(columns, rows, title=title, words=words, least=least)
