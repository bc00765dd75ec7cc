"""Studies: how many claims hold, then each."""

from rich.text import Text

from headrace.study import SMALL, Report, in_a_sentence
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
    if report["small"]:
        console.print(SMALL)
    console.print(parts.bold(in_a_sentence(report)))
    rows: list[tuple[str | Text, ...]] = []
    for claim, (name, verdict, *cells) in zip(report["claims"], tables.claims(report)[1], strict=True):
        rows.append((name, Text(verdict, style=VERDICT_STYLE[claim["verdict"]]), *cells))
    console.print(parts.table(tables.COLUMNS, rows, words=("claim", "verdict", "quantity", "tolerance", "kind")))
    for claim in report["claims"]:
        if claim["why"]:
            console.print(f"\n{claim['id']} {tables.in_a_sentence(claim)}")
