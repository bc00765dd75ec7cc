"""`headrace init`: a commented scenario to start from."""

import json
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from headrace import scenario
from headrace.cli.options import write
from headrace.files import write_whole

# The name that the first line of each starting scenario gives its schema.
SCHEMA = "scenario.schema.json"


STARTS = resources.files("headrace") / "starts"

# The systems to start from: the scenarios in the folder.
NAMES = sorted(file.name.removesuffix(".yaml") for file in STARTS.iterdir() if file.name.endswith(".yaml"))


def init(
    file: Annotated[Path, typer.Argument(help="File to write the scenario to.", show_default=False)] = Path(
        "scenario.yaml"
    ),
    start: Annotated[
        str, typer.Option("--system", metavar="NAME", help=f"System to start from: {', '.join(NAMES)}.")
    ] = "array",
) -> None:
    """Write a commented scenario to start from, and its JSON Schema for completion in editors."""
    if start not in NAMES:
        raise typer.BadParameter(f"there is no `{start}`; there are {', '.join(NAMES)}", param_hint="--system")
    if file.exists():
        raise typer.BadParameter(f"{file} exists; choose another name", param_hint="FILE")
    text = (STARTS / f"{start}.yaml").read_text(encoding="utf-8")
    schema, log = file.parent / SCHEMA, STARTS / f"{start}.csv"
    write(lambda path: write_whole(path, text.replace("FILE", str(file))), file)
    if log.is_file():
        write(lambda path: write_whole(path, log.read_text(encoding="utf-8")), file.parent / log.name)
    write(lambda path: write_whole(path, json.dumps(scenario.schema(), indent=2) + "\n"), schema)
    print(f"{file} is ready: headrace run {file}")
    print(f"{schema} completes and checks it in editors with a YAML language server.")
