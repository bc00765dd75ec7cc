"""Phrases that read as translated, in any text that users or contributors read, and what to write instead."""

import re
from collections.abc import Iterator
from pathlib import Path

from conftest import ROOT

INSTEAD = {
    r"\bso many\b": "at most N, the number of, N of them",
    r"\banswers a second\b": "requests/s",
    r"\bbeaten by none\b": "Pareto-optimal",
    r"\bno kind of\b": "unknown",
    r"\bcome to pass\b": "happen",
    r"\breckon": "compute, estimate",
    r"\bworked out\b": "computed",
    r"\bunder way\b": "in progress, in flight",
    r"\b(is|are) told\b(?! apart)": "is reported",
    r"\bat the most\b": "at most",
    r"\bplays? no part\b": "has no effect, is ignored",
    r"\bevery mistake\b": "all errors",
    r"\bin no time\b": "no time",
    r"\bnot to be trusted\b": "cannot be trusted",
    r"\bleft to happen\b": "no more events",
    r"\bbears? (at most )?\d": "sustains",
    r"\bthe busiest at\b": "bottleneck: …, 69 % busy",
    r"\bthis disk cannot be\b": "invalid disk parameters",
    r"\bheld against\b": "compared with",
    r"\bin the place of\b": "instead of, replaces",
    r"\bthe same luck\b": "the same random numbers",
    r"\bwhat would do\b": "the fix",
    r"\bone's own\b": "your own",
    r"\banew\b": "again",
    r"\bfurthest off\b": "worst, with the largest error",
    r"\bdo(es)? not tell\b": "is undecided, does not show",
    r"\bplayed no part\b": "was not used for",
    r"\bnobody sees\b": "is not visible",
    r"\b[Gg]ives whether\b": "Returns true if",
    r"\bcannot be read is refused\b": "fails to parse",
}
FOLDERS = "benches", "catalog", "crates", "docs", "examples", "python", "tests"
TEXTS = {".md", ".py", ".rs", ".yaml", ".html", ".toml"}


def texts() -> Iterator[Path]:
    """Give the files that somebody reads, without this one."""
    yield from ROOT.glob("*.md")
    for folder in FOLDERS:
        yield from (file for file in (ROOT / folder).rglob("*") if file.suffix in TEXTS and file != Path(__file__))


def running(file: Path) -> str:
    """Return a text without line breaks and the signs of comments, which may stand inside a phrase."""
    lines = (re.sub(r"^\s*(//[/!]?|#)", "", line) for line in file.read_text(encoding="utf-8").splitlines())
    return re.sub(r"\s+", " ", " ".join(lines))


def test_no_phrase_reads_as_translated() -> None:
    found = []
    for file in texts():
        text = running(file)
        for phrase, better in INSTEAD.items():
            for match in re.finditer(phrase, text, re.IGNORECASE):
                around = text[max(0, match.start() - 40) : match.end() + 40]
                found.append(f"{file.relative_to(ROOT)}: “…{around}…”: write {better}")
    assert not found, "\n".join(sorted(found))
