"""What a log says of its archive: the sentences, then table by table."""

from typing import Any

from headrace.view.tables import logs as tables
from headrace.view.terminal import parts

Json = dict[str, Any]


def show(found: Json) -> None:
    """Print what a log says."""
    console = parts.console()
    console.print(parts.bold(tables.in_a_sentence(found)))
    for note in tables.notes(found):
        console.print(parts.sentence(f"note: {note}"))
    for title, rows in tables.shown(found).items():
        console.print()
        words = {rows[0][0], "share: from + mean, s"}
        console.print(parts.table(*rows, title=title, words=words))
    if found["staging"]:
        console.print()
        console.print(parts.sentence(found["staging"]["verdict"]))
