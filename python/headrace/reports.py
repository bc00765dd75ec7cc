"""Who writes reports and draws charts. What finds something asks here for its page, and knows nothing of the view.

The view knows both, and nobody imports it for a report: `headrace` itself names it here, and it is loaded when the
first page is asked for, since pictures take longer to load than tables.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from altair.typing import ChartType

Texts = Mapping[str, str]
"""The texts of scenarios, by the names of their files."""
NONE: Texts = MappingProxyType({})


class Pages(Protocol):
    """What writes each kind of report as one HTML page, whole or not at all, and draws the charts of it."""

    def in_notebook(self, found: Any) -> str:
        """Return what was found as HTML that fits into a notebook."""
        ...

    def run_charts(self, results: Any) -> "dict[str, ChartType]":
        """Return every chart of a run by its name."""
        ...

    def experiment_chart(self, table: Any, metric: str) -> "ChartType":
        """Return a metric as a chart over the places that vary."""
        ...

    def write_run(self, results: Any, file: str | Path, *, title: str | None = None) -> None:
        """Write what a run says."""

    def write_experiment(self, table: Any, file: str | Path, *, runs: bool = False) -> None:
        """Write what an experiment found; with `runs`, the first run of each point too."""

    def write_comparison(self, found: Any, file: str | Path, *, scenarios: Texts = NONE) -> None:
        """Write by how much two scenarios differ; `scenarios` are their texts, for whoever wants to run it again."""

    def write_capacity(self, found: Any, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
        """Write which values meet objectives."""

    def write_optimum(self, found: Any, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
        """Write which designs are best."""

    def write_sensitivity(self, found: Any, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
        """Write which ranges matter."""

    def write_solution(self, found: Any, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
        """Write what formulas say of a scenario."""

    def write_study(self, report: Any, file: str | Path) -> None:
        """Write a study: its figures, and the verdict on each claim."""

    def write_trace(self, found: Any, file: str | Path, *, title: str) -> None:
        """Write what a trace is like."""

    def write_log(self, found: Any, file: str | Path, *, title: str) -> None:
        """Write what a log says of its archive."""

    def write_device(self, found: Any, file: str | Path) -> None:
        """Write what a device is."""

    def write_comparison_with_measurement(self, found: Any, file: str | Path, *, scenarios: Texts = NONE) -> None:
        """Write how far a scenario is off a measurement."""

    def write_fit(self, found: Any, file: str | Path, *, title: str) -> None:
        """Write what fitting a scenario to a measurement reached."""

    def write_validation(self, found: Any, file: str | Path, *, devices: Texts = NONE) -> None:
        """Write how far a device is off a measured trace."""

    def write_calibration(self, found: Any, file: str | Path) -> None:
        """Write what fitting a device to a measured trace reached."""


class InNotebook:
    """What a notebook displays: the answer, its picture, its tables."""

    def _repr_html_(self) -> str:
        return pages().in_notebook(self)


_views: list[Callable[[], Pages]] = []


def made_by(view: Callable[[], Pages]) -> None:
    """Name who makes pages and charts; it is called when one is asked for."""
    _views[:] = [view]


def pages() -> Pages:
    """Return what writes pages and draws charts."""
    [view] = _views
    return view()


_command: list[str] = []


def asked_by(command: str) -> None:
    """Name the command that asks for reports: they say how they were made."""
    _command[:] = [command]


def command() -> str | None:
    """Return the command that asks for reports; none where Python does."""
    return _command[0] if _command else None
