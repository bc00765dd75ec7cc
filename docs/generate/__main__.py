"""`python -m generate pages FOLDER` writes the generated pages of the site.

`types`, `result-types`, `results` (docs/results.md, read in docs) and `man` print those files.
"""

import sys
from pathlib import Path

from generate import commands, gallery, man, notebooks, reference, results, types
from headrace import schema


def main() -> None:
    """Do what the command line says."""
    if sys.argv[1:] == ["types"]:
        print(types.module(schema()), end="")
        return
    if sys.argv[1:] == ["result-types"]:
        roots = {"ResultsData": schema("results"), "SolutionData": schema("solution")}
        print(results.module(schema(), **roots), end="")
        return
    if sys.argv[1:] == ["results"]:
        print(results.page(Path("results.md").read_text(encoding="utf-8"), schema("results")), end="")
        return
    if sys.argv[1:] == ["man"]:
        print(man.page(), end="")
        return
    folder = Path(sys.argv[2])
    (folder / "scenario").mkdir()
    for name, text in reference.pages(schema()).items():
        (folder / "scenario" / f"{name}.md").write_text(text, encoding="utf-8")
    experiment = reference.page(schema("experiment"), "Experiment reference")
    (folder / "experiment.md").write_text(experiment, encoding="utf-8")
    (folder / "commands.md").write_text(commands.page(), encoding="utf-8")
    notebooks.write(folder / "notebooks")
    (folder / "examples.md").write_text(gallery.page(folder / "gallery"), encoding="utf-8")


main()
