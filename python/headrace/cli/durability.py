"""`headrace durability`."""

from typing import Annotated

import typer

from headrace import scenario
from headrace._core import ScenarioError
from headrace.cli.options import (
    INTERRUPTED,
    AsJson,
    File,
    ReportFile,
    Sets,
    cannot_write,
    changes,
    note,
    refuse,
    show,
    texts,
)
from headrace.files import keep_apart
from headrace.report import files
from headrace.reports import durability as reports


def durability(
    file: File,
    years: Annotated[
        float,
        typer.Option(min=0.001, max=1000, metavar="YEARS", help="Also print the chance of data loss within this time."),
    ] = 5.0,
    stretch: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Longest simulated part of a rebuild; a longer rebuild is extrapolated from its rate. Default: 1 min, "
            "or about 3 million events.",
        ),
    ] = None,
    replications: Annotated[int, typer.Option(min=1, max=1000, metavar="R", help="Simulations of each rebuild.")] = 8,
    within: Annotated[
        float,
        typer.Option(min=0.001, max=0.5, metavar="SHARE", help="Target for the relative half-width of the interval."),
    ] = 0.05,
    report: ReportFile = None,
    as_json: AsJson = False,
    sets: Sets = None,
) -> None:
    """Estimate the chance that FILE loses data, from its failure `rates` and rebuilds simulated under its load.

    Drives are lost while the streams run, and the times of their rebuilds measured; failures and repairs are then
    simulated by importance sampling. The answer says what the losses consist of, beside a formula where one applies.
    """
    from headrace.view.terminal import progress

    try:
        loaded = scenario.load(file).with_(changes(sets) or {})
        plan = loaded.plan()
        note(plan.remarks)
        keep_apart({"--report": report}, plan.inputs)
        with progress.of_rebuilds(quiet=as_json) as watch:
            found = plan.durability(years=years, stretch=stretch, replications=replications, within=within, watch=watch)
    except ScenarioError as error:
        refuse(error, as_json)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--stretch") from None
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        cannot_write(error, error.filename or report)
    told = reports.report(found.data, file.stem)
    show(found.data, told.also(*files(texts(file))), report, as_json=as_json)
