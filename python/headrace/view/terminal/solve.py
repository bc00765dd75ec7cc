"""A network of queues: the answer, a table against load, bars, and which assumptions fail."""

from typing import Any

from headrace.view.tables import solve as tables
from headrace.view.terminal import parts

Json = dict[str, Any]


def show(found: Json, *, drawn: bool) -> None:
    """Print what formulas say of a scenario; with `drawn`, throughput and response as bars."""
    console = parts.console()
    console.print(parts.bold(found["answer"]))
    console.print()
    console.print(parts.table(*tables.against_load(found)))
    console.print()
    console.print(parts.table(*tables.limits(found), title="what limits it, the bottleneck first", words=("", "kind")))
    if drawn:
        _draw(console, found)
    console.print()
    console.print(parts.sentence(tables.method(found)))
    for fails in found["fails"]:
        console.print(parts.sentence(f"- {fails}"))


def _draw(console: Any, found: Json) -> None:
    answered = [point for point in found["points"] if point["throughput_per_s"] is not None]
    for title, what in (
        ("throughput by formula, 1/s", "throughput_per_s"),
        ("mean response by formula, ms", "response_ms"),
    ):
        loads = [(f"{point['load']:,.4g}", point[what]) for point in answered]
        parts.curve(console, f"{title}, by {'1/s offered' if found['open'] else 'clients'}", loads)
