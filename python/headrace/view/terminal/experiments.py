"""Experiments: an answer above its table."""

import os
import sys
from collections.abc import Iterable, Sequence

from headrace.experiment.table import Table
from headrace.view.tables import experiment as tables
from headrace.view.terminal import parts


def show_rows(columns: Sequence[str], cells: Iterable[Sequence[str]], *, answer: str | None = None) -> None:
    """Print a table, with the answer above it where there is one."""
    # In a file or a pipe lines may be long; columns folded to a few letters help nobody there.
    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 250
    console = parts.console(width=wide)
    if answer:
        console.print(parts.bold(answer))
        console.print()
    console.print(parts.table(columns, cells, least=("runs",)))


def show(found: Table) -> None:
    """Print what an experiment found: in a sentence, then every point."""
    show_rows(*tables.as_rows(found, tables.shown_metrics(found)), answer=found.answer)
    for note in tables.notes(found):
        parts.console().print(parts.sentence(note, style="yellow"))
