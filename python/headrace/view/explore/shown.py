"""What the explorer shows of a design, as parts of a page: those of a report."""

import html
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from headrace._core import ScenarioError
from headrace.errors import printable
from headrace.experiment.compare import Comparison
from headrace.experiment.table import Table
from headrace.explore.design import Json
from headrace.explore.fields import Field
from headrace.report import Chart, Text
from headrace.report import Table as Columns
from headrace.reports import components, run
from headrace.results import Results
from headrace.scenario import Scenario
from headrace.view.pages.page import block, blocks, fragment, written

# Metrics of a sweep that are drawn.
DRAWN = (".mean_ms", ".p99_ms")
SHORTENED = "INCOMPLETE. "


def answer(results: Results) -> str:
    """Return the answer of a run, without its remark that a first look is short: the line below says so."""
    return written(results.answer.removeprefix(SHORTENED))


def notes(results: Results, *, first: bool) -> str:
    """Return what to know before trusting a run; of a first look only what longer runs would not clear up."""
    shown = [note for note in results.notes if not first or not note.startswith(PASSING)]
    return "".join(f'<p class="note">{written(note)}</p>' for note in shown)


# What is said of a run because it is short.
PASSING = ("cut short after", "the run is too short to find")


def problems(error: ScenarioError) -> str:
    """Return the errors of a scenario, each with its location and fix."""
    return "".join(map(_problem, json.loads(error.problems)))


def _problem(one: Json) -> str:
    place = one["path"] or (f"line {one['line']}" if one["line"] else "")
    where = f" <small>({_plain(place)})</small>" if place else ""
    what_to_do = f"<br>{_plain(one['help'])}" if one["help"] else ""
    return f'<p class="note"><strong>{_plain(one["message"])}</strong>{where}{what_to_do}</p>'


def _plain(text: str) -> str:
    return written(printable(text))


def tiles(results: Results) -> str:
    """Return the numbers that a reader looks for first."""
    return fragment("tiles.html", tiles=run.tiles({**results.data}))


def diagram(results: Results) -> str:
    """Return the system, each component a button."""
    return block(run.diagram({**results.data}, choose=True))


def streams(results: Results) -> str:
    """Return response times beside theory, and where the time went."""
    return blocks(run.streams({**results.data}))


def over_time(results: Results) -> str:
    """Return utilisation and response times over simulated time if a stretch is busier than the rest; else nothing."""
    return blocks(run.series({**results.data})) if results.data["busiest_stretch"] else ""


def headroom(results: Results) -> str:
    """Return how far each component is from saturation."""
    return blocks([components.headroom({**results.data})])


def part(results: Results, group: str) -> str:
    """Return the numbers of a component, or of all that are alike; nothing where there is none of the name."""
    members = [one for one in results.data["components"] if one["group"] == group]
    if not members:
        return ""
    alone: Json = {**results.data, "components": members}
    aside = f"{members[0]['kind'].replace('_', ' ')}, written at {members[0]['written']}"
    tables = [Columns(*components.components(alone), heading=group, aside=aside)]
    for (kind, *names), rows in components.metrics_by_kind(alone):
        tables.append(Columns(["", *names], rows, heading=f"metrics of {kind}", below=True))
    return blocks(tables)


def comparison(found: Comparison, doing: str) -> str:
    """Return by how much the present design differs from A."""
    [chart, table] = found.report().blocks
    answer = Text(found.answer, "verdict", heading="B, the present design, against A", aside=doing)
    paired = replace(table, heading="Paired differences", aside="95 % intervals, of all together")
    return blocks([answer, replace(chart, heading="", below=True), paired])


def sweep(found: Table, place: str, command: str) -> str:
    """Return what was found along a field."""
    shown, aside = found.shown().blocks, f"along {place}, with 95 % intervals"
    charts = [replace(one, aside=aside) for one in shown if isinstance(one, Chart) and one.name.endswith(DRAWN)]
    answer = Text(found.answer, "verdict", heading=f"Swept along {place}")
    tables = [replace(one, heading="", below=True) for one in shown if isinstance(one, Columns)]
    notes = [Text(note, "warning", below=True) for note in found.notes]
    return blocks([*charts, answer, *tables, *notes, Text(f"For longer runs: `{command}`", "dim", below=True)])


def group(name: str, of: list[Field], scenario: Json) -> str:
    """Return the fields of a component, a stream or the run, to be changed."""
    return fragment("explore_fields.html", name=_name_of(name, scenario), kind=_kind_of(name, scenario), fields=of)


def _at(name: str, scenario: Json) -> Any:
    of: Any = scenario
    for step in name.split("."):
        of = of[int(step)] if isinstance(of, list) else of.get(step, {})
    return of


def _name_of(name: str, scenario: Json) -> str:
    of = _at(name, scenario)
    return f"fault of {of['component']}" if name.startswith("faults.") else name.partition(".")[2] or name


def _kind_of(name: str, scenario: Json) -> str:
    if name.startswith("workload."):
        return "stream"
    kind = str(_at(name, scenario).get("type", "")).replace("_", " ")
    return f"part: {kind}" if name.startswith("parts.") else kind


def title(scenario: Scenario) -> str:
    """Return what is explored."""
    return html.escape(Path(scenario.file).stem)


def style() -> str:
    """Return the style sheet of reports."""
    return fragment("style.css")
