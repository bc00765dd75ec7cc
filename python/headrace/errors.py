"""Errors in files, as users read them."""

import json
import re
from pathlib import Path

from headrace._core import ScenarioError

MOST = 64 << 20  # A document is shorter; what never ends (`/dev/zero`) is not.


def printable(text: str) -> str:
    """Return a text without what would steer a terminal: what a file says is shown, not obeyed."""
    return "".join(sign if sign in "\n\t" or sign.isprintable() else repr(sign)[1:-1] for sign in text)


def is_path(device: str) -> bool:
    """Return true if a device is named by the path of its file: it ends in `.yaml` or has a `/`."""
    return device.endswith(".yaml") or "/" in device


def read_text(path: str | Path, kind: str = "a scenario is a YAML document") -> str:
    """Read a file's text; say in words what is wrong where it cannot be read; `kind` says what it should be."""
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST + 1)
        if len(raw) > MOST:
            raise refusal(
                path, f"{path} is too large for a document: it has more than {MOST >> 20} MiB", "name the scenario file"
            )
        # Lines end as Python's text files have them.
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except IsADirectoryError:
        raise refusal(path, f"{path} is a directory", "name a file in it") from None
    except FileNotFoundError:
        is_document = ": " in str(path)
        help_ = "in Python, `Scenario(text)` takes the text of one" if is_document else _neighbours(Path(path))
        raise refusal(path, f"{path} does not exist", help_) from None
    except UnicodeDecodeError:
        raise refusal(path, f"{path} is not text (UTF-8)", kind) from None
    except OSError as error:
        raise refusal(path, f"{path} cannot be read: {error.strerror}", "check its permissions") from None
    except ValueError:  # No system has such a file.
        shown = printable(str(path))
        raise refusal(shown, f"{shown} cannot be the name of a file: it has a NUL byte", "check the name") from None


# Files that are no scenario: how their text begins, what they are, and which command reads them.
OTHERS = (
    (r"experiment:", "an experiment", "run it with `headrace sweep`, or name the scenario that it varies"),
    (
        r"\[[^\]\n]*\][ \t]*$",
        "a job file of fio",
        "name it in a scenario, `workload: {fio: FILE}`, or convert it with `headrace import fio`",
    ),
    (
        r"[^:{\n]*,[^:{\n]*,[^:{\n]*$",
        "a table of values",
        "`headrace trace info` reads traces, `headrace import fio` logs of fio, `headrace logs` logs of archives",
    ),
)
# What measurements have near their beginning, and what they are: no scenarios.
KIND = "headrace measurement"
OF_FIO, OF_HEADRACE = '"fio version"', f'"{KIND}"'
MEASURED = {OF_FIO: "a result of fio", OF_HEADRACE: "a measurement"}
HEAD = 1 << 16


def refuse_other(path: str | Path, text: str) -> None:
    """Refuse a text that is plainly another file than a scenario, and name the command that reads it."""
    said = (line for line in text.splitlines() if line.strip() and not re.match(r"\s*[#;]|---", line))
    first = next(said, "")
    for begins, what, help_ in OTHERS:
        if re.match(begins, first):
            raise refusal(path, f"{path} is {what}, not a scenario", help_)
    for name, what in MEASURED.items():
        if name in text[:HEAD]:
            raise refusal(
                path, f"{path} is {what}, not a scenario", "give it behind the scenario that it is compared with"
            )


def refuse_endless(file: Path) -> None:
    """Refuse what is there, but no plain file: reading it may never end (`/dev/zero`), or wait for someone."""
    if file.exists() and not file.is_file():
        raise refusal(file, f"{file} cannot be read: it is not a plain file", "name a plain file")


def _neighbours(path: Path) -> str:
    beside = sorted(str(other) for other in path.parent.glob("*.yaml"))
    return f"beside it are {', '.join(beside[:5])}" if beside else "check the path"


def refusal(file: str | Path, message: str, help_: str) -> ScenarioError:
    """Return the error that says what is wrong with `file` as a whole, and the fix."""
    nowhere = {"line": None, "column": None, "path": "", "overload": False}
    problem = {"file": str(file), "message": message, "help": help_} | nowhere
    error = ScenarioError(f"error: {message}\n  = help: {help_}")
    error.problems = json.dumps([problem])
    return error


def is_overload(error: ScenarioError) -> bool:
    """Return true if overload is the only problem of a scenario."""
    return all(problem["overload"] for problem in json.loads(error.problems))
