"""Reports as pages that need no network: light and dark, wide and narrow, on screen and paper, scripts or none."""

import functools
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from headrace._core import __version__
from headrace.charts import interactive
from headrace.charts.style import svg
from headrace.files import write_whole
from headrace.quantities import unbroken
from headrace.report import Bar, Bars, Block, Chart, Diagram, Level, Mark, Medium, Report, Table, Text
from headrace.view.pages import csv_link
from headrace.view.pages.layout import classes_of, pairs, width_of


@dataclass(frozen=True)
class Section:
    """Panels beside and below each other; `look` is the class of their frame."""

    look: str
    panels: list[list[Block]]


def write(report: Report, file: str | Path, *, command: str | None = None) -> None:
    """Write a report to a file: whole, or not at all. `command` is how it was made."""
    charts = [block for section in sections(report.blocks) for panel in section.panels for block in panel]
    scripts = _scripts([block for block in charts if isinstance(block, Chart)])
    write_whole(file, fragment("page.html", report=report, body=body(report, command=command), **scripts))


def _scripts(charts: Sequence[Chart]) -> dict[str, Markup]:
    """Return what a page needs to draw its charts again in a browser, in the order in which they stand."""
    names = ("charts", "variables", "library")
    if not charts:
        return dict.fromkeys(names, Markup(""))
    texts = interactive.specs([chart.drawn for chart in charts]), interactive.variables(), interactive.library()
    return dict(zip(names, map(Markup, texts), strict=True))


def body(report: Report, *, command: str | None = None) -> Markup:
    """Return what stands in the body of a report's page."""
    shown = [note for note in report.notes if Medium.PAGE in note.on]
    html = fragment(
        "body.html", report=report, notes=shown, blocks=blocks(report.blocks), command=command, version=__version__
    )
    return Markup(html)


def blocks(shown: Iterable[Block]) -> Markup:
    """Return blocks as panels of a page."""
    return Markup(fragment("blocks.html", sections=list(sections(shown))))


def block(shown: Block) -> Markup:
    """Return a block without a panel."""
    return Markup(fragment("block.html", of=shown))


def sections(shown: Iterable[Block]) -> Iterator[Section]:
    """Yield panels in rows: charts and bars take half of the width, others all of it."""
    panels: list[list[Block]] = []
    for block in shown:
        if Medium.PAGE not in block.on:
            continue
        if block.below and panels:
            panels[-1].append(block)
        else:
            panels.append([block])
    for look, some in itertools.groupby(_ordered(panels), _look):
        together = list(some)
        yield Section("panels" if look == "beside" and len(together) == 1 else look, together)


def _ordered(panels: list[list[Block]]) -> Iterator[list[Block]]:
    """Yield panels, of tables that may stand beside each other those first that do."""
    for beside, some in itertools.groupby(panels, lambda panel: isinstance(panel[0], Table) and panel[0].beside):
        together = list(some)
        yield from sorted(together, key=_look) if beside else together


def _look(panel: list[Block]) -> str:
    first = panel[0]
    if isinstance(first, Chart | Bars):
        return "panels"
    return "beside" if isinstance(first, Table) and first.beside and not width_of(first) else "panels whole"


def fragment(template: str, **values: object) -> str:
    """Return what a template makes of these values: a page, or a part of one."""
    return _templates().get_template(template).render(**values)


@functools.cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace.view.pages", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters |= {"unbroken": unbroken, "written": written, "strengths": strengths}
    made.globals |= {"width_of": width_of, "classes_of": classes_of, "pairs": pairs}
    made.globals["csv"] = csv_link
    made.globals["svg"] = lambda chart: Markup(svg(chart.drawn))
    made.globals["drawn"] = lambda diagram, down: Markup(diagram.draw(down))
    for kind in (Bars, Chart, Diagram, Table, Text, Level, Mark):
        made.tests[kind.__name__.lower()] = _is(kind)
    return made


def _is(kind: type[object]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, kind)


def written(text: str) -> Markup:
    """Return a sentence as HTML: what stands between backquotes is code.

    >>> written("`headrace capacity` finds more than 1 < 2")
    Markup('<code>headrace capacity</code> finds more than 1 &lt; 2')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def strengths(bars: Sequence[Bar]) -> list[tuple[Bar, str]]:
    """Return bars with the strengths of their colours, by which those of one kind differ."""
    seen: dict[str, int] = {}
    shown = []
    for bar in bars:
        seen[bar.kind] = seen.get(bar.kind, 0) + 1
        nth = bar.nth or seen[bar.kind]
        shown.append((bar, f"{max(0.25, 1.25 - 0.25 * nth):.2f}"))
    return shown
