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
    for *cells, verdict in tables.claims(report)[1]:
        rows.append((*cells, Text(verdict, style=VERDICT_STYLE[verdict])))
    console.print(parts.table(tables.COLUMNS, rows, words=("claim", "", "compared with", "tolerance", "verdict")))
    for claim in report["claims"]:
        if claim["why"]:
            console.print(f"\n{claim['id']} is {claim['verdict']}: {claim['why']}")
