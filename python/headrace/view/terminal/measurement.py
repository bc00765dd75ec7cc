"""A measurement on a terminal."""

from headrace.measurement import Measurement
from headrace.view.tables import measurement as tables
from headrace.view.terminal import parts


def show(found: Measurement) -> None:
    """Print what was measured: in a sentence, remarks, every point."""
    console = parts.console()
    console.print(parts.bold(tables.in_a_sentence(found.points, found.machine)))
    for remark in found.remarks:
        console.print(f"note: {remark}")
    console.print()
    console.print(parts.table(*tables.rows(found.points), words=("op", "pattern")))
