"""What all that is printed is made of: a console, tables, bars."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from headrace.mistakes import printable
from headrace.view.terminal.fitted import Fitted
from headrace.view.words import unbroken

BAR = "█"
# Stands for a space at which no line breaks: it is as wide, and becomes a space when lines are made.
UNBROKEN = "\N{BRAILLE PATTERN BLANK}"
LEAST_DRAWN = 0.005


class Plain(Console):
    """A console that shows what would steer the terminal (ESC in a device's text) instead of passing it on."""

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


def bar(share: float, *, style: str = "blue") -> Text:
    """Return a bar that is as long as a share of the longest; none below half a per cent."""
    return Text(BAR * max(share >= LEAST_DRAWN, round(share * 30)), style=style)


def table(
    columns: Sequence[str],
    rows: Iterable[Iterable[str | Text]],
    *,
    title: str | None = None,
    words: Collection[str] = ("",),
    least: Sequence[str] = (),
) -> Fitted:
    """Return a table: numbers to the right, the columns that hold `words` to the left.

    Where it is too wide, headings break at spaces and after `/`, then words do; numbers never. Columns that still
    do not fit are left out, those of `least` first, then from the right; a line below names them.
    """
    return Fitted(columns, rows, title=title, words=words, least=least)


def curve(on: Console, title: str, points: list[tuple[str, float]]) -> None:
    """Print values as bars below each other."""
    on.print(f"\n{title}")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    most = max((value for _, value in points), default=1.0) or 1.0
    for place, value in points:
        grid.add_row(f"  {place}", bar(value / most), f"{value:.4g}")
    on.print(grid)
