"""A study as a table: each claim, its reference value, what was obtained, the verdict."""

from headrace.study import Report

COLUMNS = ("claim", "", "reference", "", "obtained", "tolerance", "verdict")


def claims(report: Report) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the claims as columns and rows; the verdict stands last."""
    rows = [
        [
            claim["id"],
            claim["text"],
            claim["kind"],
            _shown(claim["published"]),
            _shown(claim["obtained"]),
            claim["tolerance"],
            claim["verdict"],
        ]
        for claim in report["claims"]
    ]
    return COLUMNS, rows


def _shown(value: object, *, digits: int = 5) -> str:
    if value is None:
        return "—"
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
