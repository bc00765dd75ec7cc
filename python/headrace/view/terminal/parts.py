"""What all that is printed is made of: a console, tables, bars."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from headrace.mistakes import printable

BAR = "█"


class Plain(Console):
    """A console that shows what would steer the terminal (ESC in a device's text) instead of passing it on."""

    def render_str(self, text: str, **how: Any) -> Text:
        """Return text as it is printed; every string comes by here, those in tables too."""
        return super().render_str(printable(text), **how)


def console(*, width: int | None = None) -> Console:
    """Return a console that prints text as it is."""
    return Plain(highlight=False, markup=False, width=width)


def bold(text: str) -> Text:
    """Return the line that stands on top."""
    return Text(printable(text), style="bold")


def bar(share: float, *, style: str = "blue") -> Text:
    """Return a bar that is as long as a share of the longest."""
    return Text(BAR * max(1, round(share * 30)), style=style)


def table(
    columns: Sequence[str],
    rows: Iterable[Iterable[str | Text]],
    *,
    title: str | None = None,
    words: Collection[str] = ("",),
) -> Table:
    """Return a table: numbers to the right, the columns that hold `words` to the left."""
    made = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        made.add_column(column, justify="left" if column in words else "right", overflow="fold")
    for row in rows:
        made.add_row(*row)
    return made


def curve(on: Console, title: str, points: list[tuple[str, float]]) -> None:
    """Print values as bars below each other."""
    on.print(f"\n{title}")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right")
    most = max((value for _, value in points), default=1.0) or 1.0
    for place, value in points:
        grid.add_row(f"  {place}", bar(value / most), f"{value:.4g}")
    on.print(grid)
