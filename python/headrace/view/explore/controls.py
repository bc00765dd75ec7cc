"""The sliders and lists: one group a component, a stream, or the run."""

import itertools
import json
from collections.abc import Callable

from nicegui import context, ui
from nicegui.events import GenericEventArguments

from headrace.explore.fields import Field, Value
from headrace.scenario import Scenario
from headrace.view.explore import shown
from headrace.view.explore.elements import part

# Groups that are open from the first: streams and the first components. The run's come last, and closed.
OPEN = 4
# Movements of a slider are sent no more often than this.
OFTEN_S = 0.03


class Controls:
    """The fields of a design. Sliders belong to the browser: while one is moved, nothing here sets it back."""

    def __init__(
        self,
        change: Callable[[str, Value, bool], object],
        settle: Callable[[], object],
        sweep: Callable[[Field], object],
    ) -> None:
        self.change, self.settle, self.sweep = change, settle, sweep
        self.fields: dict[str, Field] = {}
        self._groups: dict[str, ui.html] = {}
        self._drawn: dict[str, list[object]] = {}
        """Of each group, the fields that it was drawn with."""
        self._touched: set[str] = set()
        """Places that a user changed since fields were shown: what was typed there may be no value of a design."""
        self.holder = ui.element("div").classes("controls")
        self.holder.on("input", self._slid, js_handler="(e) => headrace.slid(e, emit)", throttle=OFTEN_S)
        self.holder.on("change", self._changed, js_handler="(e) => headrace.changed(e, emit)")
        self.holder.on("click", self._swept, js_handler="(e) => headrace.swept(e, emit)")

    def forget(self) -> None:
        """Begin again: other fields, other stops."""
        self.fields, self._drawn = {}, {}

    def show(self, fields: dict[str, Field], scenario: Scenario, *, moving: str | None) -> None:
        """Show these fields. `moving` is the place of a slider that a user moves, and has moved on."""
        before, self.fields = self.fields, fields
        groups = {name: list(of) for name, of in itertools.groupby(fields.values(), lambda field: field.group)}
        for name, of in groups.items():
            if self._drawn.get(name) == (shapes := [_shape(one) for one in of]):
                moved = {one.place for one in of if one.at != before[one.place].at} | self._touched
                self._move([one for one in of if one.place in moved], moving)
            else:
                self._put(name, shown.group(name, of, scenario.filled()))
                self._drawn[name] = shapes
        for name in self._groups.keys() - groups.keys():
            self._groups.pop(name).delete()
            self._drawn.pop(name, None)
        self._touched.clear()

    def _move(self, fields: list[Field], moving: str | None) -> None:
        """Have the browser show these fields where they are now."""
        for one in fields:
            told = [one.place, one.at, str(one.value), one.place == moving]
            context.client.run_javascript(f"headrace.show(...{json.dumps(told)})")

    def _put(self, name: str, content: str) -> None:
        if name not in self._groups:
            with self.holder:
                self._groups[name] = part("details")
            if len(self._groups) <= OPEN and name != "run":
                self._groups[name].props("open")
        self._groups[name].set_content(content)

    def _slid(self, event: GenericEventArguments) -> None:
        place, at = event.args
        self._choose(place, at)

    def _changed(self, event: GenericEventArguments) -> None:
        place, how, what = event.args
        if place not in self.fields:  # It was taken away meanwhile.
            return
        self._touched.add(place)
        if how == "typed":
            self.change(place, _typed(what, self.fields[place]), False)
        else:
            self._choose(place, int(what))
        self.settle()

    def _choose(self, place: str, at: int) -> None:
        field = self.fields.get(place)
        if field and at < len(field.stops):
            self.change(place, field.stops[at], True)

    def _swept(self, event: GenericEventArguments) -> None:
        if field := self.fields.get(str(event.args)):
            self.sweep(field)


def _shape(field: Field) -> object:
    return field.place, field.stops


def _typed(text: str, field: Field) -> Value:
    """Return what was typed, as a scenario has it; whether it is valid, the scenario's check says."""
    if field.kind in ("whole number", "number"):
        for read in (int, float):
            try:
                return read(text)
            except ValueError:
                continue
    return text.strip()
