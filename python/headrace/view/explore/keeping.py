"""The design as a scenario and as a command, and saving it."""

import html
from collections.abc import Callable, Sequence
from pathlib import Path

from nicegui import run, ui

from headrace._core import ScenarioError
from headrace.explore import saving
from headrace.explore.design import command
from headrace.explore.document import edited
from headrace.scenario import Scenario
from headrace.view.explore import shown
from headrace.view.explore.elements import button, part


class Keeping:
    """The panel that shows what would be saved, and saves it."""

    def __init__(
        self,
        file: Path,
        allowed: Sequence[Path],
        present: Callable[[], tuple[Scenario | None, str]],
        hear: Callable[[Path, str], object],
    ) -> None:
        """Make the panel; `present` gives the design as it is now, and the text of the file as it was read.

        `hear` gets each file that was written, and its text.
        """
        self.allowed, self.present, self.hear = allowed, present, hear
        with ui.element("section").classes("panel wide saving").props('aria-label="Save"'):
            part("h2", "This design<small>the file with its changes</small>")
            self.yaml = part("pre").props('tabindex=0 aria-label="The scenario as YAML"')
            self.command = part("pre").props('tabindex=0 aria-label="The command"')
            with ui.element("div").classes("buttons"):
                part("label", "Save as").props("for=save-name")
                name = html.escape(f"{file.stem}-explored.yaml")
                part(content=f'<input id="save-name" type="text" autocomplete="off" spellcheck="false" value="{name}">')
                asked = "() => emit(headrace.value('save-name'))"
                button("Save", None).on("click", lambda event: self.save(str(event.args)), js_handler=asked)
            self.said = ui.element("div").props("role=status")

    def show(self, design: Scenario, pinned: Scenario | None) -> None:
        """Show a design, and the command that gives its answer or compares it with A."""
        try:
            self.yaml.set_content(html.escape(edited(design)))
            self.command.set_content(html.escape(command(design, pinned)))
        except ScenarioError:
            self.clear()

    def clear(self) -> None:
        """Show nothing: the design is not valid."""
        self.yaml.set_content("")
        self.command.set_content("")

    async def save(self, name: str, *, replaced: bool = False) -> None:
        """Write the design to a file; ask before one is replaced."""
        self.said.clear()
        design, read = self.present()
        if design is None:
            return
        try:
            saved = await run.io_bound(saving.save, design, name, read, allowed=self.allowed, replaced=replaced)
            if saved is None:  # The server is ending.
                return
            self.hear(saved, edited(design))
            self._say(f"saved to {html.escape(str(saved))}")
        except saving.Asked as question:
            self._say(html.escape(str(question)))
            with self.said:
                button("Replace it", lambda: self.save(name, replaced=True))
                button("Keep it", self.said.clear)
        except ScenarioError as error:
            self._say(shown.problems(error))
        except OSError as error:
            self._say(html.escape(str(error)))

    def _say(self, what: str) -> None:
        with self.said:
            part("span", what)
