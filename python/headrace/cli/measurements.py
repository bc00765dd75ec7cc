"""`headrace import fio`, `measure`, and `calibrate scenario`."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headrace._core import ScenarioError
from headrace.cli.options import AsJson, ReportFile, Requests, Stream, refuse, show, write
from headrace.errors import printable, refusal
from headrace.files import keep_apart, write_whole

if TYPE_CHECKING:
    from headrace.measurement import Measurement
    from headrace.measurement.fio.traced import Traced

Json = dict[str, Any]


def import_fio(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="JSON or JSON+ results of fio 3, or one log (latency, `--write_iolog`, blkparse), or one job file.",
            show_default=False,
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: a measurement (.json, .parquet), a trace (.csv), or a scenario (.yaml).",
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            "--device", metavar="NAME", help="For a job file: the device that takes the place of the real storage."
        ),
    ] = None,
    section: Annotated[
        str | None, typer.Option("--section", metavar="JOB", help="For a job file: import only this job.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert fio's results to a measurement, its logs to a trace, or a job file to a scenario."""
    from headrace.measurement import fio

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
    _say(found, as_json=as_json)


def _say(found: Json, *, as_json: bool) -> None:
    """Print what an import wrote, and remarks on it."""
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


# Endings of the files that measurements are written to.
MEASUREMENTS = (".json", ".parquet")


def _measurement(found: "Measurement", to: Path | None, as_json: bool) -> None:
    from headrace.measurement.loads import left_out
    from headrace.view.terminal import report as terminal

    if to and to.suffix not in MEASUREMENTS:
        raise typer.BadParameter(f"`{to}`: a measurement is a file {' or '.join(MEASUREMENTS)}", param_hint="--output")
    if to:
        write(found.save, to)
    if as_json:
        print(json.dumps(found.as_json(), indent=2))
    else:
        terminal.show(replace(found, remarks=[*found.remarks, *left_out(found)]).report())


def import_elbencho(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="CSV that elbencho wrote (`--csvfile`, `--lat`).", show_default=False),
    ],
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Measurement to write (.json, .parquet)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert elbencho's results to a measurement."""
    from headrace.measurement import elbencho

    try:
        keep_apart({"--output": to}, files)
        found = elbencho.read(files)
    except ScenarioError as error:
        refuse(error, as_json)
    _measurement(found, to, as_json)


def import_iostat(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What `iostat -x` printed, text or JSON.", show_default=False)
    ],
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Measurement to write (.json, .parquet)."),
    ] = None,
    disk: Annotated[
        str | None, typer.Option("--disk", metavar="NAME", help="Device. [default: the only one that read or wrote]")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert the reports of `iostat -x` to a measurement: each report is a load of its own rate."""
    from headrace.measurement import iostat

    try:
        keep_apart({"--output": to}, [file])
        found = iostat.read(file, disk)
    except ScenarioError as error:
        refuse(error, as_json)
    _measurement(found, to, as_json)


def _trace(file: Path, to: Path) -> Json:
    from headrace.measurement import fio

    return _saved(fio.trace(file), to)


def _saved(found: "Traced", to: Path) -> Json:
    told: Json = {}
    write(lambda path: told.update(found.save(path)), to)
    return {"answer": f"{to} has {told['requests']:,} requests.", "trace": str(to)} | told


def _scenario(file: Path, to: Path, device: str | None, section: str | None) -> Json:
    from headrace.devices import device_file
    from headrace.measurement import fio

    made = fio.job(file, device=device, section=section)
    text = device_file.text(made.document, [f"the load of {file.name}, made by `headrace import fio`", *made.remarks])
    write(lambda path: write_whole(path, text), to)
    answer = f"{to} has the load of {file.name}: {', '.join(made.document['workload'])}."
    return {"answer": answer, "scenario": str(to), "remarks": made.remarks}


def import_dlio(
    file: Annotated[
        Path, typer.Argument(help="Configuration of DLIO, as MLPerf Storage has them (YAML).", show_default=False)
    ],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Scenario to write (.yaml).")],
    accelerators: Annotated[
        int,
        typer.Option("--accelerators", metavar="N", min=1, max=65536, help="Number of processes DLIO is started with."),
    ] = 1,
    device: Annotated[
        str | None, typer.Option("--device", metavar="NAME", help="Device that takes the place of the real storage.")
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            metavar="OPTION=VALUE",
            help="Replace an option of the file: `dataset.num_files_train=5600`. May be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert a configuration of DLIO, the benchmark of training I/O, to a scenario."""
    from headrace.devices import device_file
    from headrace.measurement import dlio

    try:
        keep_apart({"--output": to}, [file])
        made = dlio.scenario(file, accelerators=accelerators, device=device, params=params or ())
    except ScenarioError as error:
        refuse(error, as_json)
    text = device_file.text(made.document, [f"the load of {file.name}, made by `headrace import dlio`", *made.remarks])
    write(lambda path: write_whole(path, text), to)
    answer = f"{to} has the load of {file.name}: training."
    _say({"answer": answer, "scenario": str(to), "remarks": made.remarks}, as_json=as_json)


def import_darshan(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Log of Darshan (.darshan).", show_default=False)],
    to: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Trace to write (.csv), if the job ran with DXT; or scenario to write (.yaml), from counters.",
        ),
    ],
    device: Annotated[
        str | None,
        typer.Option(
            "--device", metavar="NAME", help="For a scenario: the device that takes the place of the real storage."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert a log of Darshan, which records the I/O of a job, to a trace or a scenario."""
    from headrace.devices import device_file
    from headrace.measurement import darshan

    try:
        keep_apart({"--output": to}, [file])
        if not {".csv", ".yaml", ".yml"} & set(to.suffixes):
            what = f"{to} is neither a trace nor a scenario by its name"
            raise refusal(file, what, "write to a .csv, or to a .yaml")
        if to.suffix in (".yaml", ".yml"):
            made = darshan.scenario(file, device=device)
            source = f"the load of {file.name}, made by `headrace import darshan`"
            text = device_file.text(made.document, [source, *made.remarks])
            write(lambda path: write_whole(path, text), to)
            answer = f"{to} has the load of {file.name}: {', '.join(made.document['workload'])}."
            _say({"answer": answer, "scenario": str(to), "remarks": made.remarks}, as_json=as_json)
        else:
            _say(_saved(darshan.trace(file), to), as_json=as_json)
    except ScenarioError as error:
        refuse(error, as_json)


def measure(
    target: Annotated[Path, typer.Argument(help="Folder on the storage to measure.", show_default=False)],
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="File to write the measurement to, .json or .parquet."),
    ] = None,
    records: Annotated[
        str, typer.Option("--record-sizes", metavar="SIZE,…", help="Sizes of a transfer.")
    ] = "4 KiB,64 KiB,1 MiB",
    files: Annotated[str, typer.Option("--file-sizes", metavar="SIZE,…", help="Sizes of a file.")] = "64 MiB",
    streams: Annotated[
        str, typer.Option("--streams", metavar="N,…", help="Numbers of concurrent processes, each with its own file.")
    ] = "1",
    ops: Annotated[
        str, typer.Option("--ops", metavar="OP,…", help="Operations: write, read, mixed.")
    ] = "write,read,mixed",
    repeat: Annotated[int, typer.Option(min=1, max=1000, help="Number of measurements of each point.")] = 3,
    random: Annotated[bool, typer.Option("--random", help="Access records in random order, not sequentially.")] = False,
    buffered: Annotated[bool, typer.Option("--buffered", help="Go through the page cache, as lmdd does.")] = False,
    transfers: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Keep fio's log of each transfer in this folder.")
    ] = None,
    fio: Annotated[
        str | None, typer.Option("--fio", metavar="PATH", help="Path of the fio program.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure the storage under a directory with fio: record size × file size × streams × operation.

    Files are made in a folder of their own, and removed at the end and on Ctrl-C. Devices and files that are there
    already are never written to.
    """
    from headrace.measurement import benchmark
    from headrace.view.terminal import progress

    plan = benchmark.Plan(
        records=_sizes(records, "--record-sizes"),
        files=_sizes(files, "--file-sizes"),
        streams=_counts(streams, "--streams"),
        ops=_ops(ops),
        repeat=repeat,
        random=random,
        buffered=buffered,
    )
    try:
        with progress.saying(quiet=as_json) as tell:
            found = benchmark.measure(target, plan, fio=fio, transfers=transfers, tell=tell)
    except ScenarioError as error:
        refuse(error, as_json)
    _measurement(found, to, as_json)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _sizes(text: str, option: str) -> tuple[int, ...]:
    from headrace import _core

    try:
        found = tuple(int(_core.quantity("size", part)) for part in _parts(text))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None
    if not found or min(found) < 1:
        raise typer.BadParameter("give at least one size above 0 B, such as 64KiB", param_hint=option)
    return found


def _counts(text: str, option: str) -> tuple[int, ...]:
    found = _parts(text)
    if not found or not all(part.isascii() and part.isdigit() and 1 <= int(part[:6]) <= 1000 for part in found):
        raise typer.BadParameter(f"`{text}` is not a list of numbers from 1 to 1000", param_hint=option)
    return tuple(int(part) for part in found)


def _ops(text: str) -> tuple[str, ...]:
    from headrace.measurement.benchmark import OPS

    found = tuple(_parts(text))
    if not found or not set(found) <= set(OPS):
        raise typer.BadParameter(f"`{text}`: the operations are {', '.join(OPS)}", param_hint="--ops")
    return found


def calibrate(
    file: Annotated[Path, typer.Argument(metavar="SCENARIO", help="Scenario to start from.", show_default=False)],
    measured: Annotated[
        Path,
        typer.Argument(
            metavar="MEASUREMENT",
            help="File written by `headrace measure` or `headrace import`, or by fio as JSON.",
            show_default=False,
        ),
    ],
    vary: Annotated[
        list[str],
        typer.Option(
            "--vary",
            metavar="PATH=LOW..HIGH",
            help="Field to fit and its bounds: `system.drive.service=50 us..500 us`. May be repeated.",
        ),
    ],
    to: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE.yaml", help="File to write the fitted scenario to.")
    ] = None,
    stream: Stream = None,
    requests: Requests = 20_000,
    as_json: AsJson = False,
    report: ReportFile = None,
) -> None:
    """Fit fields of a scenario to a measurement, with standard errors, and cross-validate on loads left out."""
    import headrace
    from headrace import measurement
    from headrace.measurement import fitting
    from headrace.view.terminal import progress

    try:
        scenario = headrace.load(file)
        keep_apart({"--output": to, "--report": report}, [measured, *scenario.inputs()])
        with progress.saying(quiet=as_json) as tell:
            points = measurement.load(measured)
            found = fitting.fit(scenario, points, vary, stream=stream, requests=requests, tell=tell)
    except ScenarioError as error:
        refuse(error, as_json)
    if to:
        write(lambda path: write_whole(path, fitting.file_text(found)), to)
    show(found, fitting.report(found, title=file.stem), report, as_json=as_json)
