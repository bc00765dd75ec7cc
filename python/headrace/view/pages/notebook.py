"""A report as part of a notebook: the answer, its notes, charts and tables, light or dark."""

from headrace.report import Medium, Report
from headrace.view.pages.page import fragment


def render(report: Report) -> str:
    """Return a report as HTML that fits into a notebook."""
    blocks = [block for block in report.blocks if Medium.NOTEBOOK in block.on]
    notes = [note for note in report.notes if Medium.NOTEBOOK in note.on]
    return fragment("notebook.html", answer=report.answer, notes=notes, blocks=blocks)
