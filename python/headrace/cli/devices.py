"""`headrace devices`, `validate`, `calibrate` and `import`."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace._core import ScenarioError
from headrace.cli.options import (
    MISTAKE,
    AsJson,
    Beside,
    ReportFile,
    Requests,
    Sets,
    Stream,
    changes,
    refuse,
    show,
    texts,
    write,
)
from headrace.errors import is_path, printable
from headrace.files import keep_apart, write_whole
from headrace.report import files

Json = dict[str, Any]


class Clock(StrEnum):
    """When the requests of a measured trace are issued again."""

    simulated = "simulated"
    measured = "measured"


def _own(beside: Path, device: str) -> list[Path]:
    """Return your own device files, among them the one that is named by its path."""
    return [*sorted((beside / "devices").glob("*.yaml")), *([Path(device)] if is_path(device) else [])]


def devices(
    name: Annotated[
        str | None,
        typer.Argument(help="Device, or path of a device file. [default: list all]", show_default=False),
    ] = None,
    as_json: AsJson = False,
    beside: Beside = Path(),
    report: ReportFile = None,
) -> None:
    """Show the devices in the catalogue: each parameter with its source, zone rates, and the seek curve."""
    from headrace.devices import catalogue

    if report and not name:
        raise typer.BadParameter("a report shows one device: name it", param_hint="--report")
    if not name:
        _list(beside, as_json)
        return
    try:
        keep_apart({"--report": report}, _own(beside, name))
        found = catalogue.device(name, beside)
    except ScenarioError as error:
        refuse(error, as_json)
    show(found, catalogue.report(found), report, as_json=as_json)


def _list(beside: Path, as_json: bool) -> None:
    """Print all devices; what is wrong with some hides no other, and is said below."""
    from headrace.devices import catalogue
    from headrace.reports import device as reports
    from headrace.view.terminal import report as terminal

    found, broken = [], []
    for name in catalogue.names(beside):
        try:
            found.append(catalogue.device(name, beside))
        except ScenarioError as error:
            broken.append((name, error))
    if as_json:
        mistakes = [{"name": name, "problems": json.loads(wrong.problems)} for name, wrong in broken]
        print(json.dumps([*found, *mistakes], indent=2))
    else:
        terminal.show_table(reports.catalogue(found))
    for _, wrong in broken:
        print(printable(str(wrong)), file=sys.stderr)
    if broken:
        raise typer.Exit(MISTAKE)


def validate(
    scenario: Annotated[
        Path | None, typer.Argument(help="Scenario to compare with a measurement.", show_default=False)
    ] = None,
    measurement: Annotated[
        Path | None,
        typer.Argument(
            help="File written by `headrace measure` or `headrace import`, or by fio as JSON.", show_default=False
        ),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option("--device", metavar="NAME", help="Device to compare with a trace, or path of its file."),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option("--trace", metavar="FILE", help="A trace with measured responses.")
    ] = None,
    clock: Annotated[
        Clock,
        typer.Option(
            help="When requests are issued. `simulated`: after the previous simulated completion and its think time; "
            "`measured`: at its measured time."
        ),
    ] = Clock.simulated,
    sets: Sets = None,
    stream: Stream = None,
    requests: Requests = 20_000,
    as_json: AsJson = False,
    beside: Beside = Path(),
    report: ReportFile = None,
) -> None:
    """Compare a scenario with a measurement, load by load, or a device with a trace, request by request."""
    if scenario and measurement and _is_measurement(scenario):
        raise typer.BadParameter(f"{scenario} is a measurement: it comes second, behind the scenario")
    if scenario and measurement and not (device or trace):
        _validate_scenario((scenario, changes(sets)), measurement, stream, requests, as_json, report)
    elif device and trace and not (scenario or sets):
        _validate_device(device, trace, clock, as_json, beside, report)
    else:
        raise typer.BadParameter("give SCENARIO and MEASUREMENT, or --device and --trace")


def _is_measurement(path: Path) -> bool:
    from headrace.measurement import reading

    return reading.is_one(path)


def _validate_scenario(
    changed: tuple[Path, dict[str, str]],
    measured: Path,
    stream: str | None,
    requests: int,
    as_json: bool,
    report: Path | None,
) -> None:
    import headrace
    from headrace import measurement
    from headrace.measurement import comparison
    from headrace.view.terminal import progress

    file, sets = changed
    try:
        scenario = headrace.load(file).with_(sets)
        keep_apart({"--report": report}, [measured, *scenario.inputs()])
        with progress.saying(quiet=as_json) as tell:
            points = measurement.load(measured)
            found = comparison.compare(scenario, points, stream=stream, requests=requests, tell=tell)
    except ScenarioError as error:
        refuse(error, as_json)
    show(found, comparison.report(found).also(*files(texts(file))), report, as_json=as_json)


def _validate_device(device: str, trace: Path, clock: Clock, as_json: bool, beside: Path, report: Path | None) -> None:
    from headrace.devices import validation

    own = Path(device) if is_path(device) else None
    try:
        keep_apart({"--report": report}, [trace, *_own(beside, device)])
        found = validation.validate(device, trace, clock=clock.value, beside=beside)
    except ScenarioError as error:
        refuse(error, as_json)
    show(found, validation.report(found).also(*files(texts(own))), report, as_json=as_json)


def calibrate_disk(
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="Device to start from, or path of its file.")],
    trace: Annotated[Path, typer.Option("--trace", metavar="FILE", help="A trace with measured responses.")],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="DEVICE.yaml", help="The device file to write.")],
    as_json: AsJson = False,
    beside: Beside = Path(),
    report: ReportFile = None,
) -> None:
    """Fit a disk to one half of a measured trace, validate it on the other half, and write it as a device file."""
    from headrace.devices import calibration
    from headrace.view.terminal import progress

    try:
        keep_apart({"--output": to, "--report": report}, [trace, *_own(beside, device)])
        with progress.saying(quiet=as_json) as tell:
            found = calibration.calibrate(device, trace, beside=beside, tell=tell)
    except ScenarioError as error:
        refuse(error, as_json)
    write(lambda path: write_whole(path, calibration.file_text(found)), to)
    show(found, calibration.report(found), report, as_json=as_json)


def import_disksim(
    file: Annotated[
        Path,
        typer.Argument(
            help="DiskSim 4 parameter file; files that it includes must be in the same folder.", metavar="FILE.parv"
        ),
    ],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="DEVICE.yaml", help="The device file to write.")],
    as_json: AsJson = False,
) -> None:
    """Convert the disk in a DiskSim parameter file to a device file; scenarios find it in `devices/` beside them."""
    from headrace.devices import disksim

    try:
        text = disksim.read(file)
        keep_apart({"--output": to}, disksim.inputs(file))
    except ScenarioError as error:
        refuse(error, as_json)
    write(lambda path: write_whole(path, text), to)
    remarks = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")]
    if as_json:
        print(json.dumps({"ok": True, "device": to.stem, "remarks": remarks}, indent=2))
        return
    print(f"{to} describes the device `{to.stem}`.")
    for remark in remarks:
        print(f"  {printable(remark)}")
