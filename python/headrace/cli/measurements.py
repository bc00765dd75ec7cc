"""`headrace import fio` and `headrace measure`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace._core import ScenarioError
from headrace.cli.options import AsJson, refuse, write
from headrace.files import keep_apart, write_whole
from headrace.mistakes import printable, refusal

if TYPE_CHECKING:
    from headrace.measurement import Measurement

Json = dict[str, Any]


def import_fio(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="JSON or JSON+ results of fio 3; or one log (latency, --write_iolog, blkparse); or one job file.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="What to write: a measurement (.json, .parquet), a trace (.csv), or a scenario (.yaml).",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="NAME", help="For a job file: the disk that stands for the real storage."),
    ] = None,
    section: Annotated[
        str | None, typer.Option("--section", metavar="JOB", help="For a job file: the one job to take.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a measurement of fio's results, a trace of its logs, or a scenario of a job file."""
    from headrace.measurement import fio  # noqa: PLC0415

    try:
        keep_apart({"--output": to}, files)
        kinds = {path: fio.kind(path) for path in files}
        if set(kinds.values()) == {fio.RESULT}:
            _measurement(fio.measurement(files), to, as_json)
            return
        _one_file(kinds)
        [(file, kind)] = kinds.items()
        if to is None:
            raise refusal(file, f"{file} is a {kind}, but there is no --output", "name the file to write with -o")
        found = _scenario(file, to, device, section) if kind == fio.JOB else _trace(file, to)
    except ScenarioError as error:
        refuse(error, as_json)
    if as_json:
        print(json.dumps({"ok": True} | found, indent=2))
        return
    print(printable(found.pop("answer")))
    for remark in found["remarks"]:
        print(f"  {printable(remark)}")


def _one_file(kinds: dict[Path, str]) -> None:
    if len(kinds) > 1:
        told = ", ".join(f"{path} is a {kind}" for path, kind in kinds.items())
        raise refusal(
            next(iter(kinds)), told, "several results can be imported together; logs and job files one at a time"
        )


def _measurement(found: "Measurement", to: Path | None, as_json: bool) -> None:
    from headrace.view.terminal import measurement as terminal  # noqa: PLC0415

    if to:
        write(found.save, to)
    if as_json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        terminal.show(found)


def _trace(file: Path, to: Path) -> Json:
    from headrace.measurement import fio  # noqa: PLC0415

    found = fio.trace(file)
    told: Json = {}
    write(lambda path: told.update(found.save(path)), to)
    return {"answer": f"{to} has {told['requests']:,} requests.", "trace": str(to)} | told


def _scenario(file: Path, to: Path, device: str | None, section: str | None) -> Json:
    from headrace.devices import device_file  # noqa: PLC0415
    from headrace.measurement import fio  # noqa: PLC0415

    made = fio.job(file, device=device, section=section)
    text = device_file.text(made.document, [f"the load of {file.name}, made by `headrace import fio`", *made.remarks])
    write(lambda path: write_whole(path, text), to)
    answer = f"{to} has the load of {file.name}: {', '.join(made.document['workload'])}."
    return {"answer": answer, "scenario": str(to), "remarks": made.remarks}
