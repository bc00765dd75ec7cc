"""The tables of docs/background/accuracy.md, from what each study recorded of its last run at full size."""

import json
import re
from collections.abc import Iterable
from typing import Any

from headrace import study

Json = dict[str, Any]

ERRORS = "| system | fitted | predicted | points | median | 90 % | bar | held |"
CLAIMS = "| study | claims that hold | missed |"


def page(text: str) -> str:
    """Return the page with both tables in place of those that it has."""
    recorded = {
        of: json.loads(file.read_text(encoding="utf-8"))
        for of in study.all_studies()
        if (file := of.folder / study.RECORD).exists()
    }
    errors = [_errors(of, row) for of, kept in recorded.items() for row in kept.get("accuracy", [])]
    text = _replaced(text, ERRORS, errors)
    return _replaced(text, CLAIMS, [_claims(of, kept) for of, kept in recorded.items()])


def _errors(of: study.Study, row: Json) -> str:
    held = "holds" if row["held"] == row["tried"] else f"**missed**: {row['held']} of {row['tried']} claims hold"
    sizes = (f"{row[name]:.1f} %" for name in ("median_percent", "p90_percent"))
    told = (f"{row['system']} ({of.name})", row["fitted"], row["predicted"], str(row["points"]), *sizes, row["bar"])
    return f"| {' | '.join((*told, held))} |"


def _claims(of: study.Study, kept: Json) -> str:
    said = kept["said"].partition(": ")[2].removesuffix(".")
    return f"| {of.title} ({of.name}) | {said} | {'; '.join(kept['missed']) or 'none'} |"


def _replaced(text: str, head: str, rows: Iterable[str]) -> str:
    table = "\n".join([head, re.sub(r"[^|]+", "---", head), *rows])
    return re.sub(rf"^{re.escape(head)}.*?(?=\n\n)", lambda _: table, text, count=1, flags=re.MULTILINE | re.DOTALL)
