"""Writing a design to a file: in allowed folders only, never over inputs, and over other files only if told to."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from headrace._core import ScenarioError
from headrace.errors import read_text, refusal
from headrace.explore.document import edited
from headrace.explore.fields import Value
from headrace.files import keep_apart, write_whole
from headrace.scenario import Scenario


class Asked(Exception):
    """A file would be replaced: the text says which."""


def save(scenario: Scenario, name: str, read: str, *, allowed: Sequence[Path] = (), replaced: bool = False) -> Path:
    """Write a design to a file in the folder of its own or in an `allowed` one; return its path.

    `read` is the text of the design's own file as it was read. Raises `Asked` if the file exists, unless `replaced` is
    true; `ScenarioError` for a design that cannot be read, a file in another folder, a file that is not a regular one,
    and a file that the design is made from other than its own.
    """
    own = Path(scenario.file)
    if not name.strip():
        raise refusal("save", "the file has no name", "write one, such as mine.yaml")
    if "\0" in name:  # No system has such a file.
        raise refusal("save", "the file's name has a NUL byte", "write another name")
    to, text = own.parent / name.strip(), edited(scenario)
    keep_apart({"save": to}, [one for one in scenario.inputs() if one != own])
    if not any(to.resolve().is_relative_to(folder.resolve()) for folder in (own.parent, *allowed)):
        raise refusal(
            to, f"{to} is not in {own.parent.resolve()}", "allow its folder: `headrace explore --allow FOLDER`"
        )
    if to.exists() and not (to.is_file() or to.is_dir()):
        raise refusal(to, f"{to} is a pipe or a device", "name a file")
    if to.is_dir() or not to.parent.is_dir():
        raise refusal(
            to, f"{to} {'is a folder' if to.is_dir() else 'is in a folder that does not exist'}", "name a file"
        )
    if to.name == "devices":
        raise refusal(to, f"{to} is where a folder of device files is looked for", f"name the file {to.name}.yaml")
    if to.exists() and not replaced:
        raise Asked(_question(to, own, read))
    write_whole(to, text)
    return to


def _question(to: Path, own: Path, read: str) -> str:
    if not to.samefile(own):
        return f"{to} is there already."
    newer = " It has changed since it was read: those changes would be lost." if text_of(own) != read else ""
    return f"{to} is the file that you explore.{newer}"


def text_of(file: Path) -> str | None:
    """Return the text of a file; none where it cannot be read now, or is none: reading a pipe would wait."""
    if not file.is_file():
        return None
    try:
        return read_text(file)
    except ScenarioError:
        return None


def sweep_command(scenario: Scenario, place: str, stops: Sequence[Value]) -> str:
    """Return the command that sweeps a place over these values with the scenario's own length."""
    sets = [part for path, value in scenario.changes.items() if path != place for part in ("--set", f"{path}={value}")]
    values = ",".join(str(stop) for stop in stops)
    return shlex.join(["headrace", "sweep", scenario.file, *sets, "--vary", f"{place}={values}"])
