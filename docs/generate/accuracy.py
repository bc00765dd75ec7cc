"""The tables of docs/background/accuracy.md, from what each study recorded of its last run at full size."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from headrace import study

Json = dict[str, Any]

ERRORS = "| system | fitted | predicted | error: median, 90 % | bar | held |"
CLAIMS = "| study | claims that hold | missed |"


def page(text: str) -> str:
    """Return the page with both tables in place of those that it has."""
    recorded = {
        of: json.loads(file.read_text(encoding="utf-8"))
        for of in study.all_studies()
        if (file := of.folder / study.RECORD).exists()
    }
    errors = [line for of, kept in recorded.items() for line in _errors(of, kept.get("accuracy", []))]
    text = _replaced(text, ERRORS, errors)
    return _replaced(text, CLAIMS, [_claims(of, kept) for of, kept in recorded.items()])


def _errors(of: study.Study, rows: list[Json]) -> Iterator[str]:
    """Yield the rows of a study; a system, and what was fitted, are named where they begin."""
    above = ("", "")
    for row in rows:
        named = (f"{row['system']} ({of.name})", row["fitted"])
        shown = ("" if cell == before else cell for cell, before in zip(named, above, strict=True))
        above = named
        size = f"{row['median_percent']:.1f} %, {row['p90_percent']:.1f} %"
        told = f"{row['predicted']} ({row['points']} points)"
        held = (
            "holds"
            if row["held"] == row["tried"]
            else f"**{row['tried'] - row['held']} of {row['tried']} claims missed**"
        )
        yield f"| {' | '.join((*shown, told, size, row['bar'], held))} |"


def _claims(of: study.Study, kept: Json) -> str:
    said = kept["said"].partition(": ")[2].removesuffix(".")
    return f"| {of.title} ({of.name}) | {said} | {'; '.join(kept['missed']) or 'none'} |"


def _replaced(text: str, head: str, rows: Iterable[str]) -> str:
    table = "\n".join([head, re.sub(r"[^|]+", "---", head), *rows])
    return re.sub(rf"^{re.escape(head)}.*?(?=\n\n)", lambda _: table, text, count=1, flags=re.MULTILINE | re.DOTALL)
