"""Pages that need no network and no script: light and dark, wide and narrow, on screen and on paper."""

from pathlib import Path
from typing import Any

import jinja2

from headrace.files import write_whole


def render(template: str, *, title: str, answer: str, notes: list[str], **values: Any) -> str:
    """Return the page made of a template in `templates/`: `answer` stands on top, `notes` below it."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace.view.pages", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(template).render(title=title, answer=answer, notes=notes, **values)


def write(file: str | Path, template: str, **values: Any) -> None:
    """Write the page made of a template to a file: whole, or not at all."""
    write_whole(file, render(template, **values))
