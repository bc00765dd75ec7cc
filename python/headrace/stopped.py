"""Ctrl-C in the middle of what takes several runs."""

from typing import Any


class Interrupted(KeyboardInterrupt):
    """Ctrl-C in the middle of several runs. `found` is what was found until then; none where that tells nothing."""

    def __init__(self, found: Any) -> None:
        super().__init__()
        self.found = found
