"""The shape of every answer: a report, made of blocks.

What finds something returns a `Report`. A renderer (`headrace.view`) shows it on a terminal, as a page or in a
notebook; it knows the blocks, and nothing of what was found.
"""

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Flag, auto
from typing import TYPE_CHECKING, Literal

from headrace.quantities import number

if TYPE_CHECKING:
    from altair.typing import ChartType


class Medium(Flag):
    """Where a block is shown."""

    PAGE = auto()
    TERMINAL = auto()
    NOTEBOOK = auto()
    ALL = PAGE | TERMINAL | NOTEBOOK


@dataclass(frozen=True, kw_only=True)
class Block:
    """A part of a report."""

    title: str = ""
    heading: str = ""
    """Title on a page; default: `title` with a capital letter."""
    aside: str = ""
    """Explanation beside the heading of a page."""
    below: bool = False
    """True if the block belongs to the one before it: the same panel on a page, no blank line on a terminal."""
    on: Medium = Medium.ALL

    @property
    def headed(self) -> str:
        """The heading of a page."""
        return self.heading or capitalised(self.title)


def capitalised(text: str) -> str:
    """Return text with a capital first letter.

    >>> capitalised("where the time of CPU went")
    'Where the time of CPU went'
    """
    return text[:1].upper() + text[1:]


@dataclass(frozen=True)
class Mark:
    """A table cell that means something: a verdict, by which it is coloured, or a link to a page."""

    text: str
    kind: str = ""
    link: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Level:
    """A table cell that is a bar: shares of 1, for hosts and for background work. Pages draw it; it has no text."""

    hosts: float
    background: float = 0.0

    def __str__(self) -> str:
        return ""


Cell = str | Mark | Level
Rows = Sequence[Sequence[Cell]]


@dataclass(frozen=True)
class Table(Block):
    """Columns and rows; without `columns`, names and values."""

    columns: Sequence[str]
    rows: Rows
    words: Collection[str] = ("",)
    """Columns that a terminal sets to the left; a page sees from the cells which are words."""
    least: Sequence[str] = ()
    """Columns that are left out first where the table is too wide."""
    look: Literal["", "text", "claims"] = ""
    """Look on a page: numbers, texts, or claims with their verdicts."""
    beside: bool = False
    """True if the table may stand beside others on a page, if it takes half of the width."""


@dataclass(frozen=True)
class Bar:
    """A bar: what it stands for, its share of the longest bar or of the whole, and its number."""

    words: tuple[str, ...]
    share: float
    number: str
    kind: str = ""
    """What it is coloured by: `waiting`, `service`, `blocked` or `other`."""
    nth: int | None = None
    """Which of its kind it is, counted from 1, where bars elsewhere stand for the same; by default, by its place."""


@dataclass(frozen=True)
class Bars(Block):
    """Bars below each other; `parts` if they are the parts of a whole."""

    bars: Sequence[Bar]
    parts: bool = False


def curve(title: str, points: Sequence[tuple[str, float]]) -> Bars:
    """Return values along an axis as bars, for terminals: they show no charts."""
    most = max((value for _, value in points), default=1.0) or 1.0
    bars = [Bar((place,), value / most, number(value)) for place, value in points]
    return Bars(bars, title=title, on=Medium.TERMINAL)


@dataclass(frozen=True)
class Chart(Block):
    """An Altair chart, drawn when it is shown: Altair takes long to load, and terminals do without."""

    draw: "Callable[[], ChartType]"
    name: str = ""
    """Its name among the charts of the result; empty if it has none."""
    on: Medium = field(default=Medium.PAGE | Medium.NOTEBOOK, kw_only=True)

    @functools.cached_property
    def drawn(self) -> "ChartType":
        """The chart itself: drawn once, though a page shows it as a picture and as a script."""
        return self.draw()


@dataclass(frozen=True)
class Diagram(Block):
    """An SVG that follows the colours of its page, drawn across or, for narrow pages, `down`; pages show it."""

    draw: Callable[[bool], str]
    on: Medium = field(default=Medium.PAGE, kw_only=True)


@dataclass(frozen=True)
class Text(Block):
    """A sentence, a remark, or a file. Backquotes enclose code."""

    text: str
    look: Literal["", "dim", "warning", "verdict", "file"] = ""
    """`file`: as it is, folded away on a page; terminals and notebooks leave it out."""
    lead: str = ""
    """What the text is about, in bold before it."""


@dataclass(frozen=True)
class Tile:
    """One of the numbers that a reader looks for first."""

    name: str
    value: str
    beside: str = ""


@dataclass(frozen=True)
class Report:
    """An answer, as it is shown on a terminal, as a page and in a notebook."""

    title: str
    answer: str
    subtitle: str = ""
    """What was done."""
    notes: Sequence[Text] = ()
    """What to know before trusting the answer."""
    tiles: Sequence[Tile] = ()
    blocks: Sequence[Block] = ()

    def also(self, *blocks: Block) -> "Report":
        """Return the report with further blocks at its end."""
        return replace(self, blocks=(*self.blocks, *blocks))

    def charts(self) -> "dict[str, ChartType]":
        """Return the charts that have a name, in colours of their own."""
        from headrace.charts.style import alone

        charts = (block for block in self.blocks if isinstance(block, Chart))
        return {chart.name: alone(chart.drawn) for chart in charts if chart.name}


def files(texts: Mapping[str, str]) -> list[Text]:
    """Return files as blocks, by their names."""
    return [Text(text, "file", heading=name, on=Medium.PAGE) for name, text in texts.items()]


def noted(texts: Sequence[str], on: Medium = Medium.ALL) -> list[Text]:
    """Return texts as the notes of a report."""
    return [Text(text, on=on) for text in texts]
