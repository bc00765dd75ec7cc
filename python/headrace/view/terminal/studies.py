"""Studies: how many claims hold, then each."""

from rich.text import Text

from headrace.study import Report
from headrace.view.terminal import parts

VERDICT_STYLE = {
    "holds": "green",
    "fails": "bold red",
    "undecided": "yellow",
    "disputed": "cyan",
    "not testable": "dim",
}

IN_PLURAL = {
    "holds": "hold",
    "fails": "fail",
    "undecided": "are undecided",
    "disputed": "are disputed",
    "not testable": "are not testable",
}


def show(report: Report) -> None:
    """Print a study: how many claims hold, then each."""
    console = parts.console()
    counts = dict.fromkeys(VERDICT_STYLE, 0)
    for claim in report["claims"]:
        counts[claim["verdict"]] += 1
    said = ", ".join(f"{count} {IN_PLURAL[verdict]}" for verdict, count in counts.items() if count)
    console.print(parts.bold(f"{report['study']}: of {len(report['claims'])} claims {said}."))
    rows: list[tuple[str | Text, ...]] = []
    for claim in report["claims"]:
        verdict = Text(claim["verdict"], style=VERDICT_STYLE[claim["verdict"]])
        shown = [_shown(claim["published"]), _shown(claim["obtained"])]
        rows.append((claim["id"], claim["text"], claim["kind"], *shown, claim["tolerance"], verdict))
    columns = ("claim", "", "held against", "", "obtained", "tolerance", "verdict")
    console.print(parts.table(columns, rows, words=("claim", "", "held against", "tolerance", "verdict")))
    for claim in report["claims"]:
        if claim["why"]:
            console.print(f"\n{claim['id']} is {claim['verdict']}: {claim['why']}")


def _shown(value: object, *, digits: int = 5) -> str:
    if value is None:
        return "—"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
