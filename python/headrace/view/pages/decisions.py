"""What decisions rest on, each as one page: the answer, a picture, the table."""

from pathlib import Path

from headrace.experiment.capacity import Capacity
from headrace.experiment.compare import Comparison
from headrace.experiment.objective import asked_for
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
    done = f"comparison, {found.replications} paired replications with the same random numbers"
    _write(file, f"{found.b} against {found.a}", done, found.answer, drawn, told, scenarios)


def write_capacity(found: Capacity, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
    """Write which values meet the objectives: whole, or not at all."""
    drawn = {f"Goal: {goal.goal}": pictures.tried(found, goal) for goal in found.goals}
    done = f"capacity: which {found.path} meets {' and '.join(goal.goal for goal in found.goals)}"
    _write(file, title, done, found.answer, drawn, {"Values that were tried": tables.loads(found)}, scenarios)


def write_optimum(found: Optimum, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
    """Write the best designs, and all that were tried: whole, or not at all."""
    title_of_picture, picture = _designs(found)
    told = {"Pareto-optimal designs": tables.front(found)} if len(found.goals) > 1 and found.front else {}
    told |= {"All designs that were run": tables.tried(found)}
    _write(file, title, _asked(found), found.answer, {title_of_picture: picture}, told, scenarios)


def _designs(found: Optimum) -> tuple[str, Drawing]:
    """Return the picture of the designs with its title: by two of what was asked for, or by the only goal."""
    if len(found.goals) > 1:
        return "All designs, by the first two goals", pictures.front(found)
    if found.constraints:
        return "All designs, by the goal and the first constraint", pictures.front(found)
    return "Designs by the goal", pictures.ranked(found)


def _asked(found: Optimum) -> str:
    """Return what was asked for: goals and constraints."""
    goals = [f"{'maximise' if more else 'minimise'} {goal.bare}" for goal, more in found.goals]
    within = f", subject to {' and '.join(one.text for one in found.constraints)}" if found.constraints else ""
    return f"optimisation: {', '.join(goals)}{within}"


def write_sensitivity(found: Sensitivity, file: str | Path, *, title: str, scenarios: Texts = NONE) -> None:
    """Write which ranges matter: whole, or not at all."""
    drawn = {"How much each range matters, with 95 % intervals": pictures.effects(found)}
    done = f"sensitivity of {asked_for(found.metric)}, method of {found.method.capitalize()}"
    _write(file, title, done, found.answer, drawn, {"Effects": tables.effects(found)}, scenarios)


def _write(
    file: str | Path,
    title: str,
    done: str,
    answer: str,
    drawn: dict[str, Drawing],
    told: dict[str, Rows],
    scenarios: Texts,
) -> None:
    shown = {"pictures": {name: svg(chart) for name, chart in drawn.items()}, "tables": told, "scenarios": scenarios}
    page.write(file, "tables.html", title=title, subtitle=done, answer=answer, notes=[], **shown)
