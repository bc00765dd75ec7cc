"""`headrace init`: a commented scenario to start from."""

import json
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from headrace import scenario
from headrace.cli.options import write
from headrace.files import write_whole

# The name that the first line of each starting scenario gives its schema.
SCHEMA = "scenario.schema.json"


class Start(StrEnum):
    """A system to start from."""

    disk = "disk"
    array = "array"
    san = "san"


def init(
    file: Annotated[Path, typer.Argument(help="File to write the scenario to.", show_default=False)] = Path(
        "scenario.yaml"
    ),
    start: Annotated[Start, typer.Option("--system", help="System to start from.")] = Start.array,
) -> None:
    """Write a commented scenario to start from, and its JSON Schema beside it for completion in editors."""
    if file.exists():
        raise typer.BadParameter(f"{file} exists; choose another name", param_hint="FILE")
    text = (resources.files("headrace") / "starts" / f"{start.value}.yaml").read_text(encoding="utf-8")
    schema = file.parent / SCHEMA
    write(lambda path: write_whole(path, text.replace("FILE", str(file))), file)
    write(lambda path: write_whole(path, json.dumps(scenario.schema(), indent=2) + "\n"), schema)
    print(f"{file} is ready: headrace run {file}")
    print(f"{schema} completes and checks it in editors with a YAML language server.")
