"""Pages of examples: each with its question, its command and a chart of its answer; and the gallery of the charts."""

import html
import re
from pathlib import Path

import headrace
from headrace.charts.style import alone, svg
from headrace.report import Chart

ROOT = Path(__file__).parents[2]
# The chart that shows the answer of an example, where that is not the distribution of response times.
CHARTS = {
    "acquisition": "utilisation_series",
    "archive": "fill_series_pool",
    "bursts": "response_series",
    "controller-cache": "utilisation_series",
    "daily-curve": "response_series",
    "file-system": "utilisation_series",
    "library": "drives_series_library",
    "rebuild": "p99_series",
    "recall-order": "drives_series_library",
    "san": "utilisation_series",
    "shared-link": "utilisation_series",
    "tape-writes": "response_series",
}


def pages(folder: Path) -> dict[str, str]:
    """Return the pages of examples and of the gallery as Markdown; charts and reports are written into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    _front(folder)
    examples = sorted((ROOT / "examples").glob("*.yaml"))
    entries = [_entry(example, folder) for example in examples]
    about = "Each is a file in `examples/`, with the question it answers."
    return {"examples": "\n\n".join(["# Examples", about, *entries]) + "\n", "gallery": _gallery(examples, folder)}


def _front(folder: Path) -> None:
    """Write the report of the scenario on the front page, which shows it."""
    front = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    scenario = re.search(r"<!-- file: stripe.yaml -->\n+```yaml\n(.*?)```", front, re.DOTALL)
    assert scenario, "the front page has a scenario"
    headrace.Scenario(scenario[1]).run().report(folder / "front.html", title="stripe")


def _gallery(examples: list[Path], folder: Path) -> str:
    """Return the charts of all examples that have one, each with its question and a link to its report."""
    figures = [
        f'<a href="gallery/{example.stem}.html"><img src="gallery/{example.stem}.svg" alt="{question}" loading="lazy">'
        f"<span>{question}</span></a>"
        for example in examples
        if (folder / f"{example.stem}.svg").exists()
        for question in [html.escape(_question(example)[0])]
    ]
    about = "The [examples](examples.md), and a chart of each answer. Each leads to its whole report."
    return "\n".join(["# Gallery", "", about, "", '<div class="gallery">', *figures, "</div>", ""])


def _question(example: Path) -> tuple[str, str]:
    """Return the question that an example opens with, and what follows it, as Markdown."""
    comment = [_said(line) for line in example.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    question, _, more = " ".join(comment).partition("? ")
    return f"{question.rstrip('?')}?", more


def _entry(example: Path, folder: Path) -> str:
    text = example.read_text(encoding="utf-8")
    question, more = _question(example)
    parts = [
        f"## {question} {{ #{example.stem} }}",
        more,
        f"```console\n$ headrace run examples/{example.name}\n```",
    ]
    if "replay" not in example.stem:  # It needs a measured trace, which is not ours to give.
        results = headrace.load(example).run()
        report = results.report(folder / f"{example.stem}.html", title=example.stem)
        charts = [block for block in report.blocks if isinstance(block, Chart)]
        shown = CHARTS.get(example.stem, "response_cdf_")
        drawn = next(chart.drawn for chart in charts if chart.name.startswith(shown))
        (folder / f"{example.stem}.svg").write_text(svg(alone(drawn)), encoding="utf-8")
        parts += [f"> {results.answer}", f"![a chart of the answer](gallery/{example.stem}.svg)"]
        parts.append(f"[Its whole report](gallery/{example.stem}.html)")
    document = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    parts.append(f"```yaml\n{document}\n```")
    return "\n\n".join(part for part in parts if part)


def _said(line: str) -> str:
    """Return a line of the comment on top as Markdown: what is indented there is code."""
    said = line.lstrip("# ")
    return f"`{said}`" if line.startswith("#  ") else said
