"""`headrace study`."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from headrace._core import ScenarioError
from headrace.cli.options import AsJson, LivePage, ReportFile, page_first, refuse
from headrace.cli.runner import served

if TYPE_CHECKING:
    from headrace.study import Verdicts


def study_list(as_json: AsJson = False) -> None:
    """List the published systems that can be run."""
    from headrace import study

    studies = study.all_studies()
    if as_json:
        print(json.dumps([{"study": found.name, "title": found.title} for found in studies], indent=2))
        return
    for found in studies:
        print(f"{found.name}\n  {found.title}")


def study_run(
    name: Annotated[str, typer.Argument(help="Name of a study, or `all`.", show_default=False)],
    as_json: AsJson = False,
    small: Annotated[
        bool, typer.Option("--small", help="Run fewer requests: faster, with less certain verdicts.")
    ] = False,
    report: ReportFile = None,
    live: LivePage = False,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the counts in the study's folder, for its README.", hidden=True)
    ] = False,
) -> None:
    """Run a study and give a verdict on each of its claims."""
    from headrace import study
    from headrace.reports import study as reports
    from headrace.view.terminal import progress
    from headrace.view.terminal import report as terminal

    if live and name == "all":
        raise typer.BadParameter("a live page is of one study: name it instead of `all`", param_hint="--live")
    try:
        studies = study.all_studies() if name == "all" else [study.find(name)]
    except ScenarioError as error:
        refuse(error, as_json)
    found: list[study.Verdicts] = []
    with showing(live) as (show, end):
        for one in studies:
            with progress.of_study(one, quiet=as_json) as tell:
                found.append(one.run(small=small, tell=tell, show=show))
            if record and not small:
                study.record(found[-1])
        end(found[-1])
    with page_first(lambda: reports.overview(found) if name == "all" else reports.report(found[0]), report):
        if as_json:
            print(json.dumps(found if name == "all" else found[0], indent=2))
        else:
            for told in found:
                terminal.show(reports.report(told))
    if not all(map(study.stands, found)):
        raise typer.Exit(1)


Show = Callable[["Verdicts"], None]


@contextmanager
def showing(live: bool) -> Iterator[tuple[Show | None, Show]]:
    """Give what shows the claims so far on a live page, and what shows all; without `live`, nothing."""
    if not live:
        yield None, lambda report: None
        return
    from headrace.reports import study as reports

    with served() as page:
        yield (
            lambda report: page.offer(lambda: reports.report(report), _so_far(report)),
            lambda report: page.finish(lambda: reports.report(report), "done"),
        )


def _so_far(report: "Verdicts") -> str:
    return f"{len(report['claims'])} claims so far"
