"""Pages that need no network and no script: light and dark, wide and narrow, on screen and on paper."""

import functools
import re
from pathlib import Path
from typing import Any

import jinja2

from headrace import reports
from headrace._core import __version__
from headrace.files import write_whole


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


def unbroken(text: str) -> str:
    """Return a text whose lines do not break between a number and its unit or its interval.

    >>> unbroken("d, 27 % busy: 77 ± 36 s, 4 disks").replace("\N{NO-BREAK SPACE}", "~")
    'd, 27~% busy: 77~±~36~s, 4 disks'
    """
    apart = r"(?<=\d) (?=(%|±|µs|ms|s|min|h|d|/s|[kMGT]?i?B(/s)?)(?!\w))|(?<=±) "
    return re.sub(apart, "\N{NO-BREAK SPACE}", text)


def write(file: str | Path, template: str, **values: Any) -> None:
    """Write the page made of a template to a file: whole, or not at all."""
    write_whole(file, render(template, **values))
