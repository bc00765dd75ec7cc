"""The command line: `headrace run|check|schema|devices|trace|validate|…`."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace import scenario
from headrace._core import ScenarioError, __version__
from headrace.experiment.commands import experiments
from headrace.options import (
    CUT_SHORT,
    INTERRUPTED,
    AsJson,
    Beside,
    File,
    ReportFile,
    Sets,
    cannot_write,
    changes,
    refuse,
    write,
)

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Simulate a storage system described in one file, and see what theory says of it.

    Exit codes: 0 done; 1 a study's claim fails or stays undecided; 2 a mistake in what was given; 3 a limit ended
    the run early; 130 interrupted. What a run found until then is printed in both cases, and marked.""",
)
study_app = typer.Typer(no_args_is_help=True, help="Published systems, claim by claim.")
app.add_typer(study_app, name="study")
calibrate_app = typer.Typer(no_args_is_help=True, help="Fit devices to what was measured of them.")
app.add_typer(calibrate_app, name="calibrate")
import_app = typer.Typer(no_args_is_help=True, help="Devices from other programs' files.")
app.add_typer(import_app, name="import")
trace_app = typer.Typer(no_args_is_help=True, help="Traces of requests: what they are like, and in other formats.")
app.add_typer(trace_app, name="trace")
app.add_typer(experiments)


class Clock(StrEnum):
    """When the requests of a measured trace are issued again."""

    simulated = "simulated"
    measured = "measured"


@app.command()
def run(
    file: File,
    as_json: AsJson = False,
    sets: Sets = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Another seed than the file's.")] = None,
    replications: Annotated[int | None, typer.Option(min=1, metavar="N", help="So many independent runs.")] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most so many at once. [default: all]")
    ] = None,
    requests: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write every request as Parquet, a million a file.")
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Write the way of the first requests, for Perfetto or chrome://tracing."
        ),
    ] = None,
    first: Annotated[int, typer.Option(min=1, metavar="N", help="How many requests the timeline shows.")] = 100,
    report: ReportFile = None,
) -> None:
    """Simulate the system in FILE and print what it does, beside what theory says."""
    changed: dict[str, object] = dict(changes(sets))
    changed |= {"run.seed": seed} if seed is not None else {}
    changed |= {"run.replications": replications} if replications is not None else {}
    from headrace import show  # noqa: PLC0415 - rich takes longer to load than --help may

    try:
        with show.progress(quiet=as_json) as watch:
            loaded = scenario.load(file).with_(changed)
            found = loaded.run(threads=threads, watch=watch, requests=requests, timeline=timeline, first=first)
    except ScenarioError as error:
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, error.filename or requests or timeline)
    results = found.data
    if report:
        write(found.report, report)
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        show.results(results)
    _exit_unless_complete(results)


def _exit_unless_complete(results: dict[str, Any]) -> None:
    if not results["complete"]:
        raise typer.Exit(INTERRUPTED if results["ended"] == "cancelled" else CUT_SHORT)


@app.command()
def check(file: File, as_json: AsJson = False, sets: Sets = None) -> None:
    """Look FILE over without running it: every mistake, each with its place and what would do."""
    try:
        checked = scenario.check(file, changes=changes(sets))
    except ScenarioError as error:
        refuse(error, as_json)
    if as_json:
        print(json.dumps({"ok": True, "scenario": checked}, indent=2))
    else:
        streams, components = len(checked["workload"]), len(checked["system"])
        print(f"{file} is in order: {streams} stream(s), {components} component(s).")


class Document(StrEnum):
    """A document that headrace reads."""

    scenario = "scenario"
    experiment = "experiment"
    device = "device"


@app.command()
def schema(
    document: Annotated[Document, typer.Argument(help="Of what.")] = Document.scenario, as_json: AsJson = True
) -> None:
    """Print the JSON Schema of a document, for editors that complete and check as you type."""
    del as_json  # A schema is JSON either way.
    print(json.dumps(scenario.schema(document.value), indent=2))


@app.command()
def devices(
    name: Annotated[
        str | None, typer.Argument(help="A device; without it, all are listed.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    beside: Beside = Path(),
    report: ReportFile = None,
) -> None:
    """Show the devices that scenarios can name: each number with its source, zone rates, seek curve."""
    from headrace import devices as catalogue  # noqa: PLC0415
    from headrace import show  # noqa: PLC0415

    try:
        found = [catalogue.device(one, beside) for one in ([name] if name else catalogue.names(beside))]
    except ScenarioError as error:
        refuse(error, as_json)
    if report and not name:
        raise typer.BadParameter("a report shows one device: name it", param_hint="--report")
    if report:
        write(lambda file: catalogue.report(found[0], file), report)
    if as_json:
        print(json.dumps(found[0] if name else found, indent=2))
    elif name:
        show.device(found[0])
    else:
        show.device_list(found)


Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="How FILE is written: validate, ascii, msr, spc, blkparse, fio_latency, fio_bandwidth, headrace, or the "
        "columns of a CSV file: `{csv: {time: {column: t, unit: 1 s}, op: rw, address: {column: lba, unit: 512 B}, "
        "size: {column: kib, unit: 1 KiB}}}`. [default: as its first lines tell]",
        show_default=False,
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Pass over lines that cannot be read, and count them.")]
TraceFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="The trace; plain, or compressed with gzip, zstd or bzip2.", show_default=False
    ),
]


@trace_app.command("info")
def trace_info(
    file: TraceFile,
    as_json: AsJson = False,
    format: Format = None,
    skip_bad: SkipBad = False,
    report: ReportFile = None,
) -> None:
    """Tell what a trace is like: when its requests come, how large they are, where they go, how long they took."""
    from headrace import show, trace  # noqa: PLC0415

    try:
        with show.progress(quiet=as_json) as watch:
            found = trace.info(file, format=format, skip_bad=skip_bad, watch=watch)
    except ScenarioError as error:
        refuse(error, as_json)
    if report:
        write(lambda page: trace.report(found, page, title=file.name), report)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        show.trace(found, file.name)


@trace_app.command("convert")
def trace_convert(
    file: TraceFile,
    to: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to; compressed as its ending (.gz, .zst, .bz2) says."
        ),
    ],
    to_format: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="How to write it: headrace, ascii, spc, msr or validate.")
    ] = "headrace",
    as_json: AsJson = False,
    format: Format = None,
    skip_bad: SkipBad = False,
) -> None:
    """Write a trace in another format."""
    from headrace import show, trace  # noqa: PLC0415

    try:
        with show.progress(quiet=as_json) as watch:
            written = trace.convert(file, to, to_format=to_format, format=format, skip_bad=skip_bad, watch=watch)
    except ScenarioError as error:
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, to)
    if as_json:
        print(json.dumps(written, indent=2))
    else:
        passed_over = f"; {written['skipped']} bad lines were passed over" if written["skipped"] else ""
        print(f"{to} has {written['requests']:,} requests, in the format {to_format}{passed_over}.")


@app.command()
def validate(
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="The device to be held against the trace.")],
    trace: Annotated[Path, typer.Option("--trace", metavar="FILE", help="A trace with measured responses.")],
    clock: Annotated[
        Clock,
        typer.Option(
            help="`simulated`: a request follows its predecessor's simulated completion by the trace's think time; "
            "`measured`: it is issued at the instant at which it really was."
        ),
    ] = Clock.simulated,
    as_json: AsJson = False,
    beside: Beside = Path(),
    report: ReportFile = None,
) -> None:
    """Replay a measured trace on a device, request by request, and say how far off it is."""
    from headrace import show, validation  # noqa: PLC0415

    try:
        found = validation.validate(device, trace, clock=clock.value, beside=beside)
    except ScenarioError as error:
        refuse(error, as_json)
    if report:
        write(lambda page: validation.report(found, page), report)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        show.validation(found)


@calibrate_app.command("disk")
def calibrate_disk(
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="The device to begin from.")],
    trace: Annotated[Path, typer.Option("--trace", metavar="FILE", help="A trace with measured responses.")],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="DEVICE.yaml", help="The device file to write.")],
    as_json: AsJson = False,
    beside: Beside = Path(),
) -> None:
    """Fit a disk to one half of a measured trace, judge it on the other, and write it as a device."""
    from headrace import calibration, files, show  # noqa: PLC0415

    try:
        with show.saying(quiet=as_json) as tell:
            found = calibration.calibrate(device, trace, beside=beside, tell=tell)
    except ScenarioError as error:
        refuse(error, as_json)
    write(lambda path: files.write_whole(path, calibration.file_text(found)), to)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        show.calibration(found)


@import_app.command("disksim")
def import_disksim(
    file: Annotated[
        Path, typer.Argument(help="A DiskSim 4 parameter file, its others beside it.", metavar="FILE.parv")
    ],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="DEVICE.yaml", help="The device file to write.")],
    as_json: AsJson = False,
) -> None:
    """Make a device of the disk in a DiskSim parameter file. In `devices/` beside a scenario it can be named."""
    from headrace import disksim, files  # noqa: PLC0415

    try:
        text = disksim.read(file)
    except ScenarioError as error:
        refuse(error, as_json)
    write(lambda path: files.write_whole(path, text), to)
    print(
        json.dumps({"ok": True, "device": to.stem}, indent=2) if as_json else f"{to} describes the device `{to.stem}`."
    )


@study_app.command("list")
def study_list(as_json: AsJson = False) -> None:
    """List the published systems that can be run."""
    from headrace import study  # noqa: PLC0415

    studies = study.all_studies()
    if as_json:
        print(json.dumps([{"study": found.name, "title": found.title} for found in studies], indent=2))
        return
    for found in studies:
        print(f"{found.name}\n  {found.title}")


@study_app.command("run")
def study_run(
    name: Annotated[str, typer.Argument(help="The study's name; `all` for every one.", show_default=False)],
    as_json: AsJson = False,
    small: Annotated[bool, typer.Option(help="Fewer requests: quick, and less sure of its verdicts.")] = False,
) -> None:
    """Run a study and give a verdict on each of its claims."""
    from headrace import show, study  # noqa: PLC0415

    try:
        studies = study.all_studies() if name == "all" else [study.find(name)]
    except ScenarioError as error:
        refuse(error, as_json)
    reports = []
    for found in studies:
        with show.study_progress(found, quiet=as_json) as tell:
            reports.append(found.run(small=small, tell=tell))
    if as_json:
        print(json.dumps(reports if name == "all" else reports[0], indent=2))
    else:
        for report in reports:
            show.study(report)
    if not all(study.stands(report) for report in reports):
        raise typer.Exit(1)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"headrace {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line."""
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None
