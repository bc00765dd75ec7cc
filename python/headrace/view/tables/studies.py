"""A study as a table: each claim, the verdict, what was obtained and its reference value."""

from headrace.study import Judged, Report

COLUMNS = ("claim", "verdict", "quantity", "obtained", "reference", "tolerance", "kind")


def claims(report: Report) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the claims as columns and rows, what matters most first: a narrow terminal leaves out the last columns."""
    rows = [
        [
            claim["id"],
            claim["verdict"],
            claim["text"],
            _shown(claim["obtained"]),
            _shown(claim["published"]),
            claim["tolerance"],
            claim["kind"],
        ]
        for claim in report["claims"]
    ]
    return COLUMNS, rows


# Verdicts that are no verbs.
SAID = {verdict: f"is {verdict}" for verdict in ("undecided", "disputed", "not testable")}


def in_a_sentence(claim: Judged) -> str:
    """Say the verdict on a claim and what its study says of it."""
    end = "" if claim["why"].endswith((".", "?")) else "."
    return f"{SAID.get(claim['verdict'], claim['verdict'])}: {claim['why']}{end}"


def _shown(value: object, *, digits: int = 5) -> str:
    if value is None:
        return "—"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
