"""Pages that need no network and no script: light and dark, wide and narrow, on screen and on paper."""

import functools
from pathlib import Path
from typing import Any

import jinja2

from headrace import reports
from headrace._core import __version__
from headrace.files import write_whole
from headrace.view.words import unbroken


def render(
    template: str, *, title: str, answer: str, notes: list[str], subtitle: str | None = None, **values: Any
) -> str:
    """Return the page made of a template in `templates/`: what it is about, then `answer`, `notes` and the rest."""
    return fragment(
        template,
        title=title,
        subtitle=subtitle,
        answer=answer,
        notes=notes,
        command=reports.command(),
        version=__version__,
        **values,
    )


def fragment(template: str, **values: Any) -> str:
    """Return what a template makes of these values: a page, or a part of one."""
    return _templates().get_template(template).render(**values)


@functools.cache
def _templates() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace.view.pages", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["unbroken"] = unbroken
    return made


def write(file: str | Path, template: str, **values: Any) -> None:
    """Write the page made of a template to a file: whole, or not at all."""
    write_whole(file, render(template, **values))
