"""`headrace devices`, `validate`, `calibrate` and `import`."""

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from headrace import files
from headrace._core import ScenarioError
from headrace.cli.options import AsJson, Beside, ReportFile, refuse, write

calibrate = typer.Typer(no_args_is_help=True, help="Fit devices to what was measured of them.")
imports = typer.Typer(no_args_is_help=True, help="Devices from other programs' files.")


class Clock(StrEnum):
    """When the requests of a measured trace are issued again."""

    simulated = "simulated"
    measured = "measured"


def devices(
    name: Annotated[
        str | None, typer.Argument(help="A device; without it, all are listed.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    beside: Beside = Path(),
    report: ReportFile = None,
) -> None:
    """Show the devices that scenarios can name: each number with its source, zone rates, seek curve."""
    from headrace.devices import catalogue  # noqa: PLC0415
    from headrace.view.terminal import devices as terminal  # noqa: PLC0415

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
        terminal.show(found[0])
    else:
        terminal.show_all(found)


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
    from headrace.devices import validation  # noqa: PLC0415
    from headrace.view.terminal import devices as terminal  # noqa: PLC0415

    try:
        found = validation.validate(device, trace, clock=clock.value, beside=beside)
    except ScenarioError as error:
        refuse(error, as_json)
    if report:
        write(lambda page: validation.report(found, page), report)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        terminal.show_validation(found)


@calibrate.command("disk")
def calibrate_disk(
    device: Annotated[str, typer.Option("--device", metavar="NAME", help="The device to begin from.")],
    trace: Annotated[Path, typer.Option("--trace", metavar="FILE", help="A trace with measured responses.")],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="DEVICE.yaml", help="The device file to write.")],
    as_json: AsJson = False,
    beside: Beside = Path(),
) -> None:
    """Fit a disk to one half of a measured trace, judge it on the other, and write it as a device."""
    from headrace.devices import calibration  # noqa: PLC0415
    from headrace.view.terminal import devices as terminal  # noqa: PLC0415
    from headrace.view.terminal import progress  # noqa: PLC0415

    try:
        with progress.saying(quiet=as_json) as tell:
            found = calibration.calibrate(device, trace, beside=beside, tell=tell)
    except ScenarioError as error:
        refuse(error, as_json)
    write(lambda path: files.write_whole(path, calibration.file_text(found)), to)
    if as_json:
        print(json.dumps(found, indent=2))
    else:
        terminal.show_calibration(found)


@imports.command("disksim")
def import_disksim(
    file: Annotated[
        Path, typer.Argument(help="A DiskSim 4 parameter file, its others beside it.", metavar="FILE.parv")
    ],
    to: Annotated[Path, typer.Option("--output", "-o", metavar="DEVICE.yaml", help="The device file to write.")],
    as_json: AsJson = False,
) -> None:
    """Make a device of the disk in a DiskSim parameter file. In `devices/` beside a scenario it can be named."""
    from headrace.devices import disksim  # noqa: PLC0415

    try:
        text = disksim.read(file)
    except ScenarioError as error:
        refuse(error, as_json)
    write(lambda path: files.write_whole(path, text), to)
    print(
        json.dumps({"ok": True, "device": to.stem}, indent=2) if as_json else f"{to} describes the device `{to.stem}`."
    )
