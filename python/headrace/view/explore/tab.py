"""One tab of the explorer: its design, what is shown of it, and what its user does."""

import asyncio
import html
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from nicegui import context, run, ui
from nicegui.events import GenericEventArguments

from headrace import scenario as scenarios
from headrace._core import ScenarioError
from headrace.errors import refusal
from headrace.explore import saving
from headrace.explore.design import History, Json, command
from headrace.explore.document import edited
from headrace.explore.fields import Field, Value
from headrace.explore.offered import offered
from headrace.explore.progressive import SWEPT, Found, ProgressiveRun, spread
from headrace.view.explore import shown
from headrace.view.explore.controls import Controls
from headrace.view.explore.elements import Drawer, button, part
from headrace.view.explore.keeping import Keeping

STYLE = Path(__file__).with_name("explore.css")
SCRIPT = Path(__file__).with_name("explore.js")
# How often the file is looked at.
LOOK_S = 1.0
# Changes that come within this time are one; texts of a design are shown when none came for longer.
GATHERED_S, SETTLED_S = 0.005, 0.2
# How long the browser may take to copy a text.
COPIED_S = 10.0


class Tab:
    """A tab. All of it runs on the server's own thread, but for runs and pictures."""

    def __init__(self, file: Path, changes: Json, allowed: Sequence[Path]) -> None:
        self.file, self.changes, self.allowed = file, changes, allowed
        self.history: History | None = None
        self.pinned: scenarios.Scenario | None = None
        """What was A when the file became invalid."""
        self.progressive = ProgressiveRun()
        self.found: Found | None = None
        """The last that was found of the present design with results."""
        self.chosen = ""
        """The component whose numbers are shown."""
        self.begun = 0
        """How many designs were begun: what is found of an earlier one is not shown."""
        self.is_loaded = False
        """True once the file was read, valid or not."""
        self.text: str | None = None
        """The file as it was read, and is explored."""
        self.seen: str | None = None
        """The file as it was last seen on disk, where it is another."""
        self.is_sweeping = False
        """True until there is something of a sweep to show."""
        self.due = False
        """True if the runs of the present design are about to begin."""
        self.moving: str | None = None
        """The place of the slider that is moving."""
        self.texts: asyncio.TimerHandle | None = None

    def close(self) -> None:
        """End what runs for it, and show nothing more."""
        self.progressive.stop()
        self.begun += 1

    # The page.

    def build(self) -> None:
        """Make the page, and begin."""
        self.loop, self.client = asyncio.get_running_loop(), context.client
        self.client.on_delete(self.close)  # Not at a lost connection: the browser comes back.
        ui.add_head_html(f"<style>{shown.style()}{STYLE.read_text()}</style><script>{SCRIPT.read_text()}</script>")
        with ui.element("div").classes("explorer"):
            with ui.element("header"):
                self._head()
            with ui.element("nav").props('aria-label="What can be changed"'):
                self.controls = Controls(self.change, self.settle, self.sweep)
            with ui.element("div").classes("found"):
                self._main()
        self.drawer = Drawer()
        ui.on("undo", lambda _: self.undo())
        ui.on("redo", lambda _: self.redo())
        ui.timer(LOOK_S, self.look)

    def _head(self) -> None:
        self.title = part("h1", html.escape(self.file.stem))
        self.answer = part("p").classes("answer").props("role=status")
        self.doing = part("p").classes("dim").props("role=status")
        with ui.element("div").classes("buttons").props('role=toolbar aria-label="The design"'):
            self.undo_button = button("Undo", self.undo)
            self.redo_button = button("Redo", self.redo)
            self.pin_button = button("Pin as A", self.pin)
            button("Copy as YAML", lambda: self.copy(lambda: edited(self.present), "the scenario"))
            button("Copy the command", lambda: self.copy(lambda: command(self.present, self._against()), "the command"))
            button("Save…", lambda: self.client.run_javascript("headrace.focus('save-name')"))
        self.said = part("p").classes("dim").props("role=status")
        self.changed_on_disk = ui.element("div").props("role=alert")

    def _main(self) -> None:
        self.notes = part().props("role=alert")
        self.tiles = part()
        with ui.element("section").classes("panel wide").props('aria-label="The system"'):
            part("h2", "System<small>fill shows utilisation; select a component for details</small>")
            self.diagram = part()
            self.diagram.on("click", self.choose, js_handler="(e) => headrace.chosen(e, emit)")
            self.diagram.on("keydown", self.choose, js_handler="(e) => headrace.keyed(e, emit)")
        self.part = part().props("role=status")
        self.sweeping, self.comparison, self.streams, self.headroom = part(), part(), part(), part()
        self.sweeping.classes("sweeping")
        self.over_time = part()
        self.keeping = Keeping(
            self.file,
            self.allowed,
            lambda: (self.present if self.history else None, self.text or ""),
            self.saved,
        )

    # What its user does.

    @property
    def present(self) -> scenarios.Scenario:
        """The design that is shown."""
        assert self.history is not None
        return self.history.present

    async def load(self) -> None:
        """Read the file, and begin with what it has."""
        try:
            loaded = await run.io_bound(self._loaded)
        except ScenarioError as error:
            self.pinned = self.history.pinned if self.history else self.pinned
            self.history = None
            self.show_problems(error)
            return
        if loaded is None:  # The server is ending.
            return
        self.history = History(loaded, self.history.pinned if self.history else self.pinned)
        self.controls.forget()
        self.say("")
        self.begin()

    def _loaded(self) -> scenarios.Scenario:
        """Return the scenario of the file, whose fields can be read; on another thread, since a disk may be slow."""
        if self.file.exists() and not self.file.is_file():
            raise refusal(self.file, f"{self.file} is not a file", "name a scenario file")
        loaded = scenarios.load(self.file)
        self.text = loaded.text
        loaded = loaded.with_(self.changes)
        offered(loaded)
        return loaded

    def begin(self, *, moving: str | None = None) -> None:
        """Show the present design, once what came with this change is heard too: a slider sends many at once."""
        self.moving = moving
        if not self.due:
            self.due = True
            self.loop.call_later(GATHERED_S, self._in_page, self._begin)

    def _in_page(self, do: Callable[[], object]) -> None:
        if not self.client.is_deleted:
            with self.client:
                do()

    def _begin(self) -> None:
        """Begin the runs, and show the fields meanwhile."""
        self.due = False
        if self.history is None:
            return
        present, against = self.present, self._against()
        if against is None:
            self.comparison.set_content("")
        for earlier in (self.sweeping, self.comparison, self.streams, self.over_time):
            earlier.classes("earlier")
        if self.is_sweeping:
            self.is_sweeping = False
            self.sweeping.set_content("")
        self.drawer.forget()
        self._run(against)
        self._enable()
        try:
            self.controls.show(offered(present, self.controls.fields), present, moving=self.moving)
        except ScenarioError as error:
            self.show_problems(error)
        if self.texts:
            self.texts.cancel()
        self.texts = self.loop.call_later(SETTLED_S, self._in_page, self._show_texts)

    def _run(self, against: scenarios.Scenario | None) -> None:
        self.begun += 1
        begun, tell = self.begun, self.loop.call_soon_threadsafe
        self.progressive.start(self.present, against, lambda found: tell(self.hear, begun, found))

    def _against(self) -> scenarios.Scenario | None:
        """Return A, where the present design is another."""
        pinned = self.history.pinned if self.history else None
        if pinned and (pinned.text, pinned.changes) != (self.present.text, self.present.changes):
            return pinned
        return None

    def _enable(self) -> None:
        """Enable the buttons that do something."""
        assert self.history is not None
        for one, can in ((self.undo_button, self.history.can_undo), (self.redo_button, self.history.can_redo)):
            one.props(remove="disabled") if can else one.props("disabled")
        self.pin_button.set_content("Unpin A" if self.history.pinned else "Pin as A")

    def _show_texts(self) -> None:
        """Show the design as a scenario and as a command: they take longer than an answer may wait."""
        self.keeping.show(self.present, self._against())

    def change(self, place: str, value: Value, moving: bool) -> None:
        """Put a value in a place of the design; `moving` says that its slider is still moving."""
        if self.history and self.history.change(place, value):
            self.say("")
            self.begin(moving=place if moving else None)

    def settle(self) -> None:
        """End a movement: the next change is a step of its own for undo."""
        if self.history:
            self.history.settle()

    def undo(self) -> None:
        """Go back one step."""
        if self.history and self.history.can_undo:
            self.history.undo()
            self.begin()

    def redo(self) -> None:
        """Go forward one step."""
        if self.history and self.history.can_redo:
            self.history.redo()
            self.begin()

    def pin(self) -> None:
        """Make the present design A, with which others are compared; or let go of A."""
        if self.history:
            self.history.pinned = None if self.history.pinned else self.present
            self.say("A is this design: change something, and both run in pairs" if self.history.pinned else "")
            self.begin()

    def sweep(self, field: Field) -> None:
        """Run the present design at stops of a field."""
        if self.history is None:
            return
        self.sweeping.set_content(f'<p class="dim">sweeping {html.escape(field.place)} …</p>')
        self.is_sweeping = True
        self.begun += 1
        begun, tell = self.begun, self.loop.call_soon_threadsafe
        self.progressive.sweep(self.present, field, lambda found: tell(self.hear_sweep, begun, field, found))

    async def copy(self, what: Callable[[], str], name: str) -> None:
        """Put a text about the design on the clipboard, and say so once it is there."""
        if self.history is None:
            return
        try:
            text = what()
        except ScenarioError:
            self.say("this design is not valid: correct it first")
            return
        try:
            done = await self.client.run_javascript(f"return headrace.copy({json.dumps(text)})", timeout=COPIED_S)
        except TimeoutError:
            done = False
        refused = f"the browser does not allow a page to copy: {name} is at the end of the page"
        self.say(f"{name} is on the clipboard" if done else refused)

    def choose(self, event: GenericEventArguments) -> None:
        """Show the numbers of a component."""
        self.chosen = str(event.args)
        self._show_part()

    def _show_part(self) -> None:
        results = self.found.results if self.found else None
        self.part.set_content(shown.part(results, self.chosen) if results and self.chosen else "")

    def say(self, text: str) -> None:
        """Say what was done."""
        self.said.set_content(html.escape(text))

    # What is found.

    def hear(self, begun: int, found: Found) -> None:
        """Show what was found of a design, unless another was begun."""
        if begun != self.begun or self.client.is_deleted:
            return
        with self.client:
            self.doing.set_content(html.escape(found.doing))
            if found.error:
                self.show_problems(found.error)
            if found.results:
                self._show_results(found)
            if found.comparison:
                self.drawer.draw(self.comparison, partial(shown.comparison, found.comparison, found.doing))

    def _show_results(self, found: Found) -> None:
        results = found.results
        assert results is not None
        self.found = found
        self.client.run_javascript("headrace.stale(false)")
        self.answer.set_content(shown.answer(results))
        self.notes.set_content(shown.notes(results, first=found.doing.startswith("first")))
        self.tiles.set_content(shown.tiles(results))
        self.diagram.set_content(shown.diagram(results))
        self.headroom.set_content(shown.headroom(results))
        self._show_part()
        if results.data["theory"]:  # Pictures take longer than a first look may, and wait for theory.
            self.drawer.draw(self.streams, partial(shown.streams, results))
            self.drawer.draw(self.over_time, partial(shown.over_time, results))

    def hear_sweep(self, begun: int, field: Field, found: Found) -> None:
        """Show what was found along a field."""
        if begun != self.begun or self.client.is_deleted:
            return
        self.is_sweeping = False
        with self.client:
            self.doing.set_content(html.escape(found.doing))
            if found.error:
                self.sweeping.set_content(shown.problems(found.error))
            if found.sweep:
                told = saving.sweep_command(self.present, field.place, spread(field, SWEPT))
                self.drawer.draw(self.sweeping, partial(shown.sweep, found.sweep, field.place, told))
            self._run(self._against())  # Where the sweep broke off.

    def show_problems(self, error: ScenarioError) -> None:
        """Say what is wrong; what was found of an earlier design stays, and looks it."""
        self.progressive.stop()
        self.begun += 1
        self.answer.set_content("This design cannot be run.")
        self.notes.set_content(shown.problems(error))
        self.doing.set_content("")
        self.keeping.clear()
        self.client.run_javascript("headrace.stale(true)")

    # The file.

    def saved(self, file: Path, text: str) -> None:
        """Hear of a file that was written: if it is the one that is explored, its text is no news."""
        if file.resolve() == self.file.resolve():
            self.text, self.seen = text, None
            self.changed_on_disk.clear()

    async def look(self) -> None:
        """Load the file; from then on see if it has another text, and where nothing was changed here, take it.

        All of this is of one timer, which waits until it is done: a file loaded twice would undo what was done since.
        """
        if not self.is_loaded:
            self.is_loaded = True
            await self.load()
            return
        text = await run.io_bound(saving.text_of, self.file)
        if text is None or text in (self.text, self.seen) or self.client.is_deleted:
            return
        self.seen = text
        if self.history is None or not self.history.can_undo:
            await self.load()
            return
        self.changed_on_disk.clear()
        with self.changed_on_disk:
            part("span", f"{html.escape(self.file.name)} has changed on disk.")
            button("Load it, and keep my changes", self.reload)

    def reload(self) -> None:
        """Take the file's new text for all designs."""
        self.changed_on_disk.clear()
        if self.history and self.seen is not None:
            self.text, self.seen = self.seen, None
            self.history.reload(self.text)
            self.controls.forget()
            self.begin()
