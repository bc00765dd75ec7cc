"""The door from an answer to its renderers, which load when something is shown."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.report import Report

if TYPE_CHECKING:
    from altair.typing import ChartType


class InNotebook(ABC):
    """An answer that a notebook shows."""

    @abstractmethod
    def report(self) -> Report:
        """Return the report of the answer."""

    def charts(self) -> "dict[str, ChartType]":
        """Return the charts of the report by their names, to be changed, combined or saved with Altair."""
        return self.report().charts()

    def _repr_html_(self) -> str:
        from headrace.view.pages import notebook

        return notebook.render(self.report())


def written(report: Report, file: str | Path | None) -> Report:
    """Return a report, and write it to a file as one HTML page if there is one: whole, or not at all."""
    if file is not None:
        from headrace.view.pages import page

        page.write(report, file)
    return report
