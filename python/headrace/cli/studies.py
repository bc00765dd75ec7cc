"""`headrace study`."""

import json
from typing import Annotated

import typer

from headrace._core import ScenarioError
from headrace.cli.options import AsJson, refuse

commands = typer.Typer(no_args_is_help=True, help="Published systems, claim by claim.")


@commands.command("list")
def study_list(as_json: AsJson = False) -> None:
    """List the published systems that can be run."""
    from headrace import study  # noqa: PLC0415

    studies = study.all_studies()
    if as_json:
        print(json.dumps([{"study": found.name, "title": found.title} for found in studies], indent=2))
        return
    for found in studies:
        print(f"{found.name}\n  {found.title}")


@commands.command("run")
def study_run(
    name: Annotated[str, typer.Argument(help="The study's name; `all` for every one.", show_default=False)],
    as_json: AsJson = False,
    small: Annotated[bool, typer.Option(help="Fewer requests: quick, and less sure of its verdicts.")] = False,
) -> None:
    """Run a study and give a verdict on each of its claims."""
    from headrace import study  # noqa: PLC0415
    from headrace.view.terminal import progress  # noqa: PLC0415
    from headrace.view.terminal import studies as terminal  # noqa: PLC0415

    try:
        studies = study.all_studies() if name == "all" else [study.find(name)]
    except ScenarioError as error:
        refuse(error, as_json)
    reports = []
    for found in studies:
        with progress.of_study(found, quiet=as_json) as tell:
            reports.append(found.run(small=small, tell=tell))
    if as_json:
        print(json.dumps(reports if name == "all" else reports[0], indent=2))
    else:
        for report in reports:
            terminal.show(report)
    if not all(study.stands(report) for report in reports):
        raise typer.Exit(1)
