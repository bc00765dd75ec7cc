"""A run: the answer first, then where the time went, then the tables."""

from typing import Any

from rich.console import Console
from rich.table import Table

from headrace import times
from headrace.view import words
from headrace.view.tables import run as tables
from headrace.view.terminal import parts

Json = dict[str, Any]


def show(found: Json) -> None:
    """Print results."""
    console = parts.console()
    console.print(parts.bold(found["answer"]))
    for note in found["notes"]:
        console.print(parts.sentence(f"note: {note}", style="yellow"))
    theories = {theory["stream"]: theory for theory in found["theory"]}
    for stream in found["streams"]:
        if stream["response"]["count"]:
            _stream(console, stream, theories[stream["name"]])
    if found["phases"]:
        console.print()
        console.print(parts.table(*tables.phases(found), title="before and after each fault"))
    console.print()
    console.print(parts.table(*tables.components(found), title="components"))
    if metrics := tables.meters(found):
        console.print(parts.table(["", "metric", "value"], metrics, title="metrics of components"))
    console.print(_origin(found), style="dim")


def _stream(console: Console, stream: Json, theory: Json) -> None:
    console.print()
    _path(console, stream)
    columns, rows = tables.response_table(stream, theory)
    of = tables.unit_of_responses(stream).name
    console.print(parts.table(["", *columns], rows, title=f"response time of {stream['name']}, {of}"))
    unit, columns, rows = tables.operations(stream)
    if rows:
        console.print(parts.table(columns, rows, title=f"response time of {stream['name']} by operation, {unit.name}"))
    console.print(tables.theory_in_words(theory), style="dim")


def _path(console: Console, stream: Json) -> None:
    console.print(f"where the time of {stream['name']} went")
    grid = Table.grid(padding=(0, 1))
    for justify in ("left", "left", "left", "right"):
        grid.add_column(justify=justify)
    legs = tables.legs(stream)
    written = tables.times_of(legs)
    for (component, what, _, share), time in zip(legs, written, strict=True):
        bar = parts.bar(share, style="blue" if what == "service" else "magenta")
        grid.add_row(f"  {component}", what, bar, f"{time} ({share:.0%})")
    console.print(grid)


def _origin(found: Json) -> str:
    how = "by recursion" if found["engine"] == "recursion" else f"{found['events']:,} events"
    warm_up = f"{times.span(found['warm_up_s'])} of" if found["warm_up_s"] else "no"
    return (
        f"seed {found['scenario']['run']['seed']}, {words.counted(found['replications'], 'replication')}, {how}, "
        f"{times.span(found['simulated_s'])} simulated after {warm_up} warm-up; "
        f"headrace {found['headrace']}"
    )
