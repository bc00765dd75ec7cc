"""`python -m generate pages FOLDER` writes the generated pages of the site.

`types`, `result-types`, `results`, `accuracy` (docs/results.md and docs/background/accuracy.md, read in docs) and `man`
print those files.
"""

import sys
from pathlib import Path

from generate import accuracy, commands, gallery, man, notebooks, reference, results, types
from headrace import schema

# By this the style sheet knows a page whose tables are of fields.
FIELDS = '\n<div class="fields"></div>\n'


def main() -> None:
    """Do what the command line says."""
    if sys.argv[1:] == ["types"]:
        print(types.module(schema()), end="")
        return
    if sys.argv[1:] == ["result-types"]:
        roots = {"ResultsData": schema("results"), "SolutionData": schema("solution")}
        roots["DurabilityData"] = schema("durability")
        print(results.module(schema(), **roots), end="")
        return
    if sys.argv[1:] == ["results"]:
        print(results.page(Path("results.md").read_text(encoding="utf-8"), schema("results")), end="")
        return
    if sys.argv[1:] == ["accuracy"]:
        print(accuracy.page(Path("background/accuracy.md").read_text(encoding="utf-8")), end="")
        return
    if sys.argv[1:] == ["man"]:
        print(man.page(), end="")
        return
    folder = Path(sys.argv[2])
    (folder / "scenario").mkdir()
    pages = {f"scenario/{name}": text for name, text in reference.pages(schema()).items()}
    pages |= {"experiment": reference.page(schema("experiment"), "Experiment reference"), "commands": commands.page()}
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text + FIELDS, encoding="utf-8")
    notebooks.write(folder / "notebooks")
    for name, text in gallery.pages(folder / "gallery").items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


main()
