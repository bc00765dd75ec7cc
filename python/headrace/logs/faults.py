"""Lines that cannot be read: which, why, and the fix."""

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from headrace._core import ScenarioError
from headrace.errors import printable
from headrace.quantities import counted

Json = dict[str, object]

SHOWN = 5  # Number of bad lines shown in full; the rest are counted.
WIDEST = 100
SKIP = "`--skip-bad` passes over such lines and counts them"


@dataclass(frozen=True)
class Fault:
    """A line that cannot be read."""

    file: str
    line: int
    text: str
    reason: str
    help: str

    def problem(self) -> Json:
        """Return it as `--json` tells it."""
        shown = printable(self.text if len(self.text) <= WIDEST else self.text[:WIDEST] + "…")
        message = f"{self.file}, line {self.line}: {self.reason}\n  {shown}"
        where: Json = {"file": self.file, "line": self.line, "column": None, "path": "", "overload": False}
        return where | {"message": message, "help": self.help}


@dataclass
class Faults:
    """The bad lines of some logs: the first few whole, all by reason."""

    first: list[Fault] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, fault: Fault) -> None:
        """Keep a line to be shown, where few are kept yet."""
        if len(self.first) < SHOWN:
            self.first.append(fault)

    def refuse(self) -> None:
        """Raise `ScenarioError` with all reasons where there is a bad line."""
        if not self.counts:
            return
        problems = [fault.problem() for fault in self.first]
        told = []
        for help_, alike in groupby(problems, key=itemgetter("help")):
            told += [*(f"error: {one['message']}" for one in alike), f"  = help: {help_}"]
        by_reason = ", ".join(f"{reason}: {count:,}" for reason, count in self.counts.most_common())
        error = ScenarioError("\n".join([*told, f"{counted(self.counts.total(), 'bad line')} ({by_reason}); {SKIP}"]))
        error.problems = json.dumps(problems)
        raise error
