"""`headrace explore`."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from headrace._core import ScenarioError
from headrace.cli.options import MISTAKE, File, Sets, changes, refuse
from headrace.errors import read_text, refusal


def explore(
    file: File,
    sets: Sets = None,
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="TCP port on the loopback interface. [default: a free one]",
            show_default=False,
        ),
    ] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    allow: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="Save designs to this folder too, not to FILE's alone. May be repeated."),
    ] = None,
) -> None:
    """Explore FILE in a browser: a slider for each number, with the answer as it moves.

    The page is served on this machine only, at an address that contains a secret token. Ctrl-C ends it.
    """
    try:
        if file.exists() and not file.is_file():  # A pipe would be read to its end, and has none of it again.
            raise refusal(file, f"{file} is not a file", "name a scenario file")
        read_text(file)
        try:
            from headrace.view.explore.server import serve
        except ImportError as error:
            if not (error.name or "").startswith(("nicegui", "fastapi", "uvicorn")):
                raise
            message = "the explorer needs NiceGUI, which is not installed"
            raise refusal("explore", message, "pip install 'headrace[explore]'") from None
        serve(file, dict(changes(sets)), allow or [], port, lambda address: _tell(address, open_))
    except ScenarioError as error:
        refuse(error, as_json=False)
    except OSError as error:
        typer.echo(f"error: port {port} cannot be listened on: {error.strerror}", err=True)
        raise typer.Exit(MISTAKE) from None


def _tell(address: str, open_: bool) -> None:
    print(f"Exploring at {address} (Ctrl-C to stop)", flush=True)
    if open_:
        webbrowser.open(address)
