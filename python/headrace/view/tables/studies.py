"""A study as a table: each claim, the verdict, what was obtained and its reference value."""

import re

from headrace.study import Judged, Report, group

COLUMNS = ("claim", "verdict", "quantity", "obtained", "reference", "tolerance", "kind")


def claims(report: Report) -> tuple[tuple[str, ...], list[list[str]]]:
    """Return the claims as columns and rows, what matters most first: a narrow terminal leaves out the last columns."""
    rows = [
        [
            claim["id"],
            f"{claim['verdict']}{', at its bound' if claim['at_bound'] else ''}",
            claim["text"],
            _shown(claim["obtained"]),
            _shown(claim["published"]),
            claim["tolerance"],
            group(claim),
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


def off(claim: Judged) -> float | None:
    """Return how far what was obtained is off its reference, in tolerances; none where the claim has no tolerance.

    >>> claim = {"obtained": 10.2, "published": 10.0, "tolerance": "± 1 %"}
    >>> off(claim), off(claim | {"tolerance": "± 0.4"}), off(claim | {"tolerance": "9 to 11"})
    (2.0, 0.5, 0.2)
    >>> off(claim | {"tolerance": "exactly"})
    """
    obtained, reference = claim["obtained"], claim["published"]
    if not (isinstance(obtained, int | float) and isinstance(reference, int | float)):
        return None
    middle, slack = _tolerated(claim["tolerance"], reference)
    return round((obtained - middle) / slack, 3) if slack else None


def _tolerated(tolerance: str, reference: float) -> tuple[float, float]:
    """Return the middle of what a tolerance allows, and half its width; that is nothing where there is none."""
    if found := re.fullmatch(r"≤ (\S+)", tolerance):
        return 0.0, float(found[1])
    if found := re.fullmatch(r"(\S+) to (\S+)", tolerance):
        low, high = map(float, found.groups())
        return (low + high) / 2, (high - low) / 2
    found = re.fullmatch(r"± (\S+)( %)?", tolerance)
    if not found:
        return reference, 0.0
    return reference, float(found[1]) * (abs(reference) / 100 if found[2] else 1)


def _shown(value: object, *, digits: int = 5) -> str:
    """Write what was obtained or its reference.

    >>> [_shown(value) for value in (19.56, 2.0, [3.0, 2.0], True)]
    ['19.56', '2', '3, 2', 'yes']
    """
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(_shown(one) for one in value)
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
