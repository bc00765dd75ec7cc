"""Studies: how many claims hold, then each."""

from rich.text import Text

from headrace.study import Report, in_a_sentence
from headrace.view.tables import studies as tables
from headrace.view.terminal import parts

VERDICT_STYLE = {
    "holds": "green",
    "fails": "bold red",
    "undecided": "yellow",
    "disputed": "cyan",
    "not testable": "dim",
}


def show(report: Report) -> None:
    """Print a study: how many claims hold, then each."""
    console = parts.console()
    console.print(parts.bold(in_a_sentence(report)))
    rows: list[tuple[str | Text, ...]] = []
    for name, verdict, *cells in tables.claims(report)[1]:
        rows.append((name, Text(verdict, style=VERDICT_STYLE[verdict]), *cells))
    console.print(parts.table(tables.COLUMNS, rows, words=("claim", "verdict", "quantity", "tolerance", "kind")))
    for claim in report["claims"]:
        if claim["why"]:
            console.print(f"\n{claim['id']} {tables.in_a_sentence(claim)}")
