"""The browser's own elements, which a server's side of the page puts together; and pictures, which take a while."""

import asyncio
import html
from collections.abc import Callable

from nicegui import background_tasks, ui


def part(tag: str = "div", content: str = "") -> ui.html:
    """Return an element whose content is HTML that we made ourselves: names in it are escaped."""
    return ui.html(content, tag=tag, sanitize=False)


def button(text: str, press: Callable[[], object] | None) -> ui.html:
    """Return a button; a `press` of none is for who listens to it otherwise."""
    made = part("button", html.escape(text)).props("type=button")
    return made.on("click", lambda _: press()) if press else made


class Drawer:
    """Draws pictures off the server's thread, one after another; of those for one element only the newest."""

    def __init__(self) -> None:
        self._wanted: dict[ui.html, Callable[[], str]] = {}
        self._busy = False
        self._forgotten = 0

    def forget(self) -> None:
        """Draw nothing of what was asked for until now: it is of an earlier design."""
        self._wanted.clear()
        self._forgotten += 1

    def draw(self, where: ui.html, make: Callable[[], str]) -> None:
        """Have an element show what `make` returns, unless something newer comes for it."""
        self._wanted[where] = make
        if not self._busy:
            self._busy = True
            background_tasks.create(self._go())

    async def _go(self) -> None:
        try:
            while self._wanted:
                where, make = next(iter(self._wanted.items()))
                del self._wanted[where]
                asked = self._forgotten
                made = await asyncio.to_thread(make)
                if asked == self._forgotten and where not in self._wanted and not where.is_deleted:
                    where.set_content(made)
                    where.classes(remove="earlier")
        finally:
            self._busy = False
