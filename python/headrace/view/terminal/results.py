"""A run: the answer first, then where the time went, then the tables."""

from typing import Any

from rich.console import Console

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
    console.print(parts.sentence(_origin(found), style="dim"))


def _stream(console: Console, stream: Json, theory: Json) -> None:
    console.print()
    _path(console, stream)
    columns, rows = tables.response_table(stream, theory)
    of = tables.unit_of_responses(stream).name
    console.print(parts.table(["", *columns], rows, title=f"response time of {stream['name']}, {of}"))
    unit, columns, rows = tables.operations(stream)
    if rows:
        console.print(parts.table(columns, rows, title=f"response time of {stream['name']} by operation, {unit.name}"))
    console.print(parts.sentence(tables.theory_in_words(theory), style="dim"))


def _path(console: Console, stream: Json) -> None:
    console.print(f"where the time of {stream['name']} went")
    legs = tables.legs(stream)
    lines = [
        parts.Bar((f"  {component}", what), share, f"{time} ({share:.0%})", "blue" if what == "service" else "magenta")
        for (component, what, _, share), time in zip(legs, tables.times_of(legs), strict=True)
    ]
    parts.bars(console, lines)


def _origin(found: Json) -> str:
    how = "by recursion" if found["engine"] == "recursion" else f"{found['events']:,} events"
    warm_up = f"{times.span(found['warm_up_s'])} of" if found["warm_up_s"] else "no"
    return (
        f"seed {found['scenario']['run']['seed']}, {words.counted(found['replications'], 'replication')}, {how}, "
        f"{times.span(found['simulated_s'])} simulated after {warm_up} warm-up; "
        f"headrace {found['headrace']}"
    )
