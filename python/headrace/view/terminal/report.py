"""Reports on a terminal: the answer, its notes, then tables, bars and texts. Charts and diagrams are for pages."""

import os
import sys

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text as Line

from headrace.quantities import counted
from headrace.report import Bars, Block, Cell, Mark, Medium, Report, Table, Text
from headrace.view.terminal import parts

# Colours of what a cell means, and of texts.
STYLES = {
    "holds": "green",
    "fails": "bold red",
    "undecided": "yellow",
    "disputed": "cyan",
    "not-testable": "dim",
    "warning": "yellow",
    "dim": "dim",
}
# Columns folded to a few letters help nobody: lines in a file or a pipe may be this long.
WIDE = 250
# Laying out a table takes a millisecond a row, and nobody reads more.
MOST_ROWS = 1000


def show(report: Report) -> None:
    """Print a report. Where no terminal limits them, its tables may be wide; sentences keep to short lines."""
    console = parts.console()
    console.print(parts.bold(report.answer))
    for note in report.notes:
        if Medium.TERMINAL in note.on:
            console.print(parts.sentence(f"note: {note.text}", style="yellow"))
    for block in report.blocks:
        if Medium.TERMINAL in block.on:
            _show(console, block)


def show_table(table: Table) -> None:
    """Print a table."""
    is_limited = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = parts.console(width=None if is_limited else WIDE)
    if table.columns:
        rows = [[_cell(cell) for cell in row] for row in table.rows[:MOST_ROWS]]
        title = table.title or None
        console.print(parts.table(table.columns, rows, title=title, words=table.words, least=table.least))
        if more := len(table.rows) - len(rows):
            console.print(parts.sentence(f"and {counted(more, 'more row')}; reports and --json have all"))
        return
    grid = Grid(box=None, pad_edge=False, show_header=False)
    for row in table.rows:
        grid.add_row(*(parts.sentence(str(cell)) for cell in row))
    console.print(grid)


def _show(console: Console, block: Block) -> None:
    if not block.below or (isinstance(block, Text) and block.lead):
        console.print()
    if isinstance(block, Table):
        show_table(block)
    elif isinstance(block, Bars):
        _show_bars(console, block)
    elif isinstance(block, Text) and block.look != "file":
        _show_text(console, block)


def _cell(cell: Cell) -> str | Line:
    return Line(cell.text, style=STYLES.get(cell.kind, "")) if isinstance(cell, Mark) else str(cell)


def _show_bars(console: Console, shown: Bars) -> None:
    console.print(shown.title)
    lines = []
    for bar in shown.bars:
        first, *rest = bar.words
        number = f"{bar.number} ({bar.share:.0%})" if shown.parts else bar.number
        style = "blue" if bar.kind in ("", "service") else "magenta"
        lines.append(parts.Bar((f"  {first}", *rest), bar.share, number, style))
    parts.bars(console, lines, justify="left" if shown.parts else "right")


def _show_text(console: Console, text: Text) -> None:
    if text.lead:
        console.print(f"{text.lead} {text.text}")
    else:
        console.print(parts.sentence(text.text, style=STYLES.get(text.look, "")))
