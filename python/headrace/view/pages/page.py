"""Pages that need no network and no script: light and dark, wide and narrow, on screen and on paper."""

import functools
import re
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from headrace import reports
from headrace._core import __version__
from headrace.files import write_whole
from headrace.view.pages.layout import fits, is_words, pairs
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
    made.filters |= {"unbroken": unbroken, "written": written}
    made.globals |= {"fits": fits, "is_words": is_words, "pairs": pairs}
    return made


def written(text: str) -> Markup:
    """Return a sentence as HTML: what stands between backquotes is code.

    >>> written("`headrace capacity` finds more than 1 < 2")
    Markup('<code>headrace capacity</code> finds more than 1 &lt; 2')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def write(file: str | Path, template: str, **values: Any) -> None:
    """Write the page made of a template to a file: whole, or not at all."""
    write_whole(file, render(template, **values))
