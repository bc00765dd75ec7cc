"""The notebooks: executed, and turned into pages that show what each cell gave."""

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

FOLDER = Path(__file__).parents[1] / "notebooks"
# A cell that takes longer than this fails, seconds.
LONGEST = 300


def write(folder: Path) -> None:
    """Execute each notebook, and write it as a page into `folder`; a cell that fails raises."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(FOLDER.glob("*.ipynb")):
        (folder / f"{file.stem}.md").write_text(page(file), encoding="utf-8")


def page(file: Path) -> str:
    """Return an executed notebook as Markdown, with a link to the notebook itself."""
    notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=LONGEST, kernel_name="python3").execute()
    text, _ = MarkdownExporter().from_notebook_node(notebook)  # type: ignore[no-untyped-call]
    title, _, rest = text.partition("\n")
    return (
        f"{title}\n\nThis page is a [notebook]({file.name}); its results were computed when the site was built.\n{rest}"
    )
