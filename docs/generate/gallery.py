"""The gallery: every example with its question, its command and a picture of its answer."""

from pathlib import Path

import headrace
from headrace.charts.run import response_cdf
from headrace.charts.style import alone, svg

ROOT = Path(__file__).parents[2]


def page(folder: Path) -> str:
    """Return the gallery as Markdown; its pictures are written into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    entries = [_entry(example, folder) for example in sorted((ROOT / "examples").glob("*.yaml"))]
    return "\n\n".join(["# Examples", "Each is a file in `examples/`, with the question it answers.", *entries]) + "\n"


def _entry(example: Path, folder: Path) -> str:
    text = example.read_text(encoding="utf-8")
    comment = [_said(line) for line in text.splitlines() if line.startswith("#")]
    question, _, more = " ".join(comment).partition("? ")
    parts = [
        f"## {question.rstrip('?')}? {{ #{example.stem} }}",
        more,
        f"```console\n$ headrace run examples/{example.name}\n```",
    ]
    if "replay" not in example.stem:  # It needs a measured trace, which is not ours to give.
        results = headrace.load(example).run()
        drawn = svg(alone(response_cdf({**results.data}, 0)))
        (folder / f"{example.stem}.svg").write_text(drawn, encoding="utf-8")
        results.report(folder / f"{example.stem}.html", title=example.stem)
        parts += [f"> {results.answer}", f"![the cdf of the response time](gallery/{example.stem}.svg)"]
        parts.append(f"[Its whole report](gallery/{example.stem}.html)")
    document = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    parts.append(f"```yaml\n{document}\n```")
    return "\n\n".join(part for part in parts if part)


def _said(line: str) -> str:
    """Return a line of the comment on top as Markdown: what is indented there is code."""
    said = line.lstrip("# ")
    return f"`{said}`" if line.startswith("#  ") else said
