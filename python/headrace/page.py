"""Pages that need no network and no script: light and dark, wide and narrow, on screen and on paper."""

from typing import Any

import jinja2


def render(template: str, *, title: str, answer: str, notes: list[str], **values: Any) -> str:
    """Return the page made of a template in `pages/`: `answer` stands on top, `notes` below it."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("headrace", "pages"), autoescape=True, undefined=jinja2.StrictUndefined
    )
    return environment.get_template(template).render(title=title, answer=answer, notes=notes, **values)
