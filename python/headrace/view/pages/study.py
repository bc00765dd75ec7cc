"""A study as one page: how many claims hold, the figures, each claim with its verdict."""

from pathlib import Path

from headrace.study import SMALL, Report, in_a_sentence
from headrace.view.pages import page
from headrace.view.pictures import study as pictures
from headrace.view.pictures.chart import svg
from headrace.view.tables import studies as tables


def write(report: Report, file: str | Path) -> None:
    """Write the page to a file: whole, or not at all."""
    columns, rows = tables.claims(report)
    drawn = {"How far each claim is off; shaded: within its tolerance": pictures.offs(report)}
    drawn |= {figure["title"]: pictures.of(figure) for figure in report["figures"]}
    page.write(
        file,
        "study.html",
        title=report["title"],
        subtitle=f"study {report['study']}",
        answer=in_a_sentence(report),
        notes=[SMALL] if report["small"] else [],
        argued=[{"id": claim["id"], "said": tables.in_a_sentence(claim)} for claim in report["claims"] if claim["why"]],
        pictures=[(title, svg(chart)) for title, chart in drawn.items() if chart is not None],
        columns=columns,
        rows=rows,
        verdicts=[claim["verdict"].replace(" ", "-") for claim in report["claims"]],
    )
