"""What decisions rest on, each as one page: the answer, a picture, the table."""

from pathlib import Path

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison
from headrace.experiment.optimise import Optimum
from headrace.experiment.sensitivity import Sensitivity
from headrace.reports import NONE, Texts
from headrace.view.pages import page
from headrace.view.pictures import decisions as pictures
from headrace.view.pictures.chart import Drawing, svg
from headrace.view.tables import decisions as tables

Rows = tuple[list[str], list[list[str]]]


def write_comparison(found: Comparison, file: str | Path, *, scenarios: Texts = NONE) -> None:
    """Write by how much two scenarios differ: whole, or not at all."""
    drawn = {"Difference of B from A, with 95 % intervals": pictures.differences(found)}
    told = {f"A: {found.a}; B: {found.b}": tables.differences(found)}
    _write(file, f"{found.b} against {found.a}", found.answer, drawn, told, scenarios)


def write_capacity(found: Capacity, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
    """Write which values meet the objectives: whole, or not at all."""
    drawn = {f"Goal: {goal.goal}": pictures.tried(found, goal) for goal in found.goals}
    _write(file, title, found.answer, drawn, {"Values that were tried": tables.loads(found)}, scenarios)


def write_optimum(found: Optimum, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
    """Write the Pareto-optimal designs: whole, or not at all."""
    drawn = {"All designs, by the first two goals": pictures.front(found)} if len(found.goals) > 1 else {}
    heading = "Pareto-optimal designs" if found.front else "Designs, the closest to the constraints first"
    _write(file, title, found.answer, drawn, {heading: tables.front(found)}, scenarios)


def write_sensitivity(found: Sensitivity, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
    """Write which ranges matter: whole, or not at all."""
    drawn = {"How much each range matters, with 95 % intervals": pictures.effects(found)}
    _write(file, title, found.answer, drawn, {"Effects": tables.effects(found)}, scenarios)


def _write(
    file: str | Path, title: str, answer: str, drawn: dict[str, Drawing], told: dict[str, Rows], scenarios: Texts
) -> None:
    shown = {"pictures": {name: svg(chart) for name, chart in drawn.items()}, "tables": told, "scenarios": scenarios}
    page.write(file, "tables.html", title=title, answer=answer, notes=[], **shown)
