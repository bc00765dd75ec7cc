"""The designs that were tried: the present one, undo and redo, and the one that is pinned as A."""

import shlex
from typing import Any

from headrace.explore.fields import Value
from headrace.scenario import Scenario

Json = dict[str, Any]


class History:
    """Scenarios one after another, and which of them is shown.

    >>> history = History(Scenario("system: {}", "a.yaml"))
    >>> history.change("system.a.disks", 8), history.change("system.a.disks", 9), history.change("system.a.disks", 9)
    (True, True, False)
    >>> history.present.changes, history.undo().changes
    ({'system.a.disks': 9}, {})
    >>> history.redo().changes
    {'system.a.disks': 9}
    """

    def __init__(self, scenario: Scenario, pinned: Scenario | None = None) -> None:
        self._designs, self._at = [scenario], 0
        self._moving: str | None = None
        self.pinned = pinned

    @property
    def present(self) -> Scenario:
        """The design that is shown."""
        return self._designs[self._at]

    @property
    def can_undo(self) -> bool:
        """True if there is a design before this one."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """True if there is a design after this one."""
        return self._at + 1 < len(self._designs)

    def change(self, place: str, value: Value) -> bool:
        """Put a value in a place; return false if it has this value already.

        While one place is moved, until `settle`, all of it is one step for `undo`.
        """
        if self.present.changes.get(place) == value:
            return False
        # A value may be invalid: that is what is shown of it.
        changed = Scenario(self.present.text, self.present.file, self.present.changes | {place: value})
        if self._moving != place:
            self._at += 1
        self._designs[self._at :] = [changed]
        self._moving = place
        return True

    def settle(self) -> None:
        """Make the next change a step of its own."""
        self._moving = None

    def undo(self) -> Scenario:
        """Go back to the design before, if there is one, and return it."""
        return self._go(-1)

    def redo(self) -> Scenario:
        """Go on to the design after, if there is one, and return it."""
        return self._go(1)

    def _go(self, steps: int) -> Scenario:
        self.settle()
        self._at = min(max(self._at + steps, 0), len(self._designs) - 1)
        return self.present

    def reload(self, text: str) -> None:
        """Take a new text of the file for all designs; their changes stay. A stays as it was pinned: with the old text.

        >>> history = History(Scenario("system: {}", "a.yaml"))
        >>> history.pinned = history.present
        >>> history.reload("system: {a: 1}")
        >>> history.present.text, history.pinned.text
        ('system: {a: 1}', 'system: {}')
        """
        self._designs = [Scenario(text, one.file, one.changes) for one in self._designs]


def command(scenario: Scenario, pinned: Scenario | None = None) -> str:
    """Return the command that gives the answer of a design, or compares it with another of the same file."""
    if pinned is None or pinned.text != scenario.text:
        return shlex.join(["headrace", "run", scenario.file, *_options("--set", scenario.changes)])
    same = {place: value for place, value in pinned.changes.items() if scenario.changes.get(place) == value}
    # What A alone has different goes back to what the file has in B, so that it must be named for both.
    a = _options("--set", pinned.changes)
    back = {place: _of(scenario.filled(), place) for place in pinned.changes if place not in scenario.changes}
    b = {place: value for place, value in scenario.changes.items() if place not in same} | back
    return shlex.join(["headrace", "compare", scenario.file, *a, *_options("--with", b)])


def _options(option: str, changes: Json) -> list[str]:
    return [part for place, value in changes.items() for part in (option, f"{place}={_written(value)}")]


def _written(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _of(document: Any, place: str) -> Any:
    """Return what a document has at a place."""
    for step in place.split("."):
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document
