"""The report of a study: its figures, and each claim with its verdict, what was obtained and its reference value."""

import re
from collections.abc import Mapping, Sequence
from types import ModuleType

from headrace.charts import lines
from headrace.charts.data import Axis, Form
from headrace.report import Cell, Chart, Mark, Medium, Report, Table, Text
from headrace.study import DECIDED, KINDS, SMALL, Figure, Judged, PrintedTable, Verdicts, counts, group
from headrace.study import in_a_sentence as counted

COLUMNS = ("claim", "verdict", "quantity", "obtained", "reference", "tolerance", "kind")


def report(found: Verdicts) -> Report:
    """Return the report of a study."""
    return Report(
        found["title"],
        f"{SMALL} {counted(found)}" if found["small"] else counted(found),
        f"study {found['study']}",
        blocks=[*charts(found), *map(_printed, found["tables"]), _table(found, "Claims"), *_remarks(found)],
    )


def _form(figure: Figure) -> Form:
    """Return how numbers along the axis are laid out: a few whole ones each, such as a number of disks."""
    if figure["log"]:
        return "bytes" if figure["log"] == 2 else "apart"
    places = {x for curve in (*figure["curves"].values(), *figure["points"].values()) for x, _ in curve}
    return "whole" if len(places) <= FEW_PLACES and all(x == int(x) for x in places) else "apart"


FEW_PLACES = 16


def _printed(table: PrintedTable) -> Table:
    first, *_ = table["columns"]
    columns, said = table["columns"], table["said"]
    return Table(columns, table["rows"], heading=table["title"], aside=said, words=(first,), on=Medium.PAGE)


def _table(found: Verdicts, heading: str) -> Table:
    words = ("claim", "verdict", "quantity", "tolerance", "kind")
    rows: list[list[Cell]] = [
        [name, Mark(verdict, claim["verdict"].replace(" ", "-")), *cells]
        for claim, (name, verdict, *cells) in zip(found["claims"], claims(found)[1], strict=True)
    ]
    return Table(COLUMNS, rows, heading=heading, words=words, look="claims")


def overview(studies: Sequence[Verdicts]) -> Report:
    """Return the report of several studies: how many claims hold, by kind, a figure of each study, and every claim."""
    together = counts(claim for found in studies for claim in found["claims"])
    published = together.get("published", {})
    said = f"{published.get('holds', 0)} of {_decided(published)} published claims hold, in {len(studies)} studies."
    kinds = [kind for kind in KINDS if kind in together]
    rows: list[list[Cell]] = [
        [
            found["study"],
            *(_held(found["counts"].get(kind, {})) for kind in kinds),
            *(_named(found, verdicts) for verdicts in NAMED.values()),
        ]
        for found in studies
    ]
    columns = ("study", *(KINDS[kind] for kind in kinds), *NAMED)
    table = Table(columns, rows, heading="Claims that hold, by kind, and the others", words=("study", *NAMED))
    every = [_table(_by_kind(found), f"{found['study']}: {found['title']}") for found in studies]
    small = any(found["small"] for found in studies)
    figures = [figure for found in studies for figure in _front(found)]
    return Report("Studies", f"{SMALL} {said}" if small else said, "studies", blocks=[table, *figures, *every])


# Columns of claims that are named on the page of all studies, by their verdicts.
NAMED = {"missed": ("fails", "undecided"), "disputed": ("disputed",), "not testable": ("not testable",)}
# Claims of a study that a column names; the tables below have all.
MOST_NAMED = 6


def _front(found: Verdicts) -> list[Chart]:
    """Return the figure that stands for a study, if it has figures."""
    figures = found["figures"]
    chosen = next((figure for figure in figures if figure["front"]), figures[0] if figures else None)
    return [_figure(chosen | {"title": f"{found['study']}: {chosen['title']}"})] if chosen else []


def _by_kind(found: Verdicts) -> Verdicts:
    """Return a study with its claims in the order of their kinds."""
    order = list(KINDS)
    return found | {"claims": sorted(found["claims"], key=lambda claim: order.index(group(claim)))}


def _decided(verdicts: Mapping[str, int]) -> int:
    return sum(verdicts.get(verdict, 0) for verdict in DECIDED)


def _held(verdicts: Mapping[str, int]) -> str:
    return f"{verdicts.get('holds', 0)} of {_decided(verdicts)}" if _decided(verdicts) else ""


def _named(found: Verdicts, verdicts: tuple[str, ...]) -> str:
    ids = list(dict.fromkeys(claim["id"] for claim in found["claims"] if claim["verdict"] in verdicts))
    more = len(ids) - MOST_NAMED
    return ", ".join(ids) if more <= 0 else f"{', '.join(ids[:MOST_NAMED])} and {more} more"


def _remarks(found: Verdicts) -> list[Text]:
    argued = [claim for claim in found["claims"] if claim["why"]]
    return [
        Text(in_a_sentence(claim), lead=claim["id"], heading="" if at else "Remarks", below=at > 0)
        for at, claim in enumerate(argued)
    ]


# Of fewer claims a chart says no more than their table.
FEWEST = 5
# Verdicts that a chart shows.
DRAWN = ("holds", "undecided", "fails", "disputed")


def charts(found: Verdicts) -> list[Chart]:
    """Return how far each claim is off, if several have a tolerance, and the figures."""
    known = [(claim, far) for claim in found["claims"] if claim["verdict"] in DRAWN and (far := off(claim)) is not None]
    heading = "How far each claim is off; shaded: within its tolerance"
    offs = [Chart(lambda: _charts().offs(known), heading=heading)] if len(known) >= FEWEST else []
    return offs + [_figure(figure) for figure in found["figures"]]


def _charts() -> ModuleType:
    from headrace.charts import study

    return study


def _figure(figure: Figure) -> Chart:
    log = figure["log"]
    x = Axis(figure["x"], _form(figure), log=log, tight=not log)
    y = Axis(figure["y"], "apart", log=figure["log_y"])
    return Chart(lines(figure["curves"], x, y, points=figure["points"]), heading=figure["title"], aside=figure["said"])


def claims(report: Verdicts) -> tuple[tuple[str, ...], list[list[str]]]:
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
