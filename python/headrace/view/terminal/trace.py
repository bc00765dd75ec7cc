"""A trace: in a sentence, its rate over time, the table."""

from typing import Any

from rich.table import Table

from headrace.view.tables import trace as tables
from headrace.view.terminal import parts

Json = dict[str, Any]


def show(found: Json, name: str) -> None:
    """Print what a trace is like."""
    console = parts.console()
    console.print(parts.bold(f"{name}: {tables.in_a_sentence(found)}"))
    arrivals = found["info"]["arrivals"]
    if arrivals and arrivals["over_time"]:  # One request alone has no rate.
        parts.curve(console, "requests/s over time", _rates(arrivals["over_time"]))
    console.print()
    table = Table(box=None, pad_edge=False, show_header=False)
    for row in tables.rows(found):
        table.add_row(*map(parts.sentence, row))
    console.print(table)


def _rates(points: list[list[float]], most: int = 16) -> list[tuple[str, float]]:
    """Merge rates over time into at most this many intervals: (end, mean rate)."""
    together = -(-len(points) // most)
    rates, begin = [], 0.0
    for at in range(0, len(points), together):
        group = points[at : at + together]
        ends = [begin, *(end for end, _ in group)]
        requests = sum(rate * (b - a) for (_, rate), a, b in zip(group, ends, ends[1:], strict=False))
        rates.append((f"{ends[-1]:,.4g} s", requests / max(ends[-1] - begin, 1e-9)))
        begin = ends[-1]
    return rates
