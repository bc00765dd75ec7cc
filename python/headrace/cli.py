"""The command line: `headrace run|check|schema|study`."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from headrace import scenario
from headrace._core import ScenarioError, __version__
from headrace.results import Results

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="""Simulate a storage system described in one file, and see what theory says of it.

    Exit codes: 0 done; 1 a study's claim fails or stays undecided; 2 a mistake in what was given; 3 a limit ended
    the run early; 130 interrupted. What was found until then is printed in both cases, and marked.""",
)
study_app = typer.Typer(no_args_is_help=True, help="Published systems, claim by claim.")
app.add_typer(study_app, name="study")

File = Annotated[Path, typer.Argument(help="The scenario, a YAML document.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, as docs/results.md describes it.")]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Put a value in the place of what the file has: `--set run.seed=7`. May be repeated.",
    ),
]

MISTAKE, CUT_SHORT, INTERRUPTED = 2, 3, 130


def _changes(sets: list[str] | None) -> dict[str, str]:
    changes = {}
    for given in sets or []:
        path, equals, value = given.partition("=")
        if not equals or not path:
            raise typer.BadParameter(f"`{given}` is not PATH=VALUE, such as run.seed=7", param_hint="--set")
        changes[path.strip()] = value.strip()
    return changes


def _refuse(error: ScenarioError, as_json: bool) -> NoReturn:
    told, problems = error.args
    if as_json:
        print(json.dumps({"ok": False, "problems": json.loads(problems)}, indent=2))
    else:
        print(told, file=sys.stderr)
    raise typer.Exit(MISTAKE)


@app.command()
def run(
    file: File,
    as_json: AsJson = False,
    sets: Sets = None,
    seed: Annotated[int | None, typer.Option(help="Another seed than the file's.")] = None,
    replications: Annotated[int | None, typer.Option(min=1, help="So many independent runs.")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="At most so many at once. [default: all]")] = None,
    requests: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write every request as Parquet, a million a file.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write the results as one page, for a browser.")
    ] = None,
) -> None:
    """Simulate the system in FILE and print what it does, beside what theory says."""
    changes: dict[str, object] = dict(_changes(sets))
    changes |= {"run.seed": seed} if seed is not None else {}
    changes |= {"run.replications": replications} if replications is not None else {}
    from headrace import show  # noqa: PLC0415 - rich takes longer to load than --help may

    try:
        with show.progress(quiet=as_json) as watch:
            found = scenario.run(file, changes=changes, threads=threads, watch=watch, requests=requests)
    except ScenarioError as error:
        _refuse(error, as_json)
    except OSError as error:
        print(f"error: the requests cannot be written to {requests}: {error.strerror}", file=sys.stderr)
        raise typer.Exit(MISTAKE) from None
    results = found.data
    if report:
        _write_report(found, report)
    if as_json:
        print(json.dumps(results, indent=2))
    else:
        show.results(results)
    _exit_unless_complete(results)


def _write_report(found: Results, file: Path) -> None:
    try:
        found.report(file)
    except OSError as error:
        print(f"error: the report cannot be written to {file}: {error.strerror}", file=sys.stderr)
        raise typer.Exit(MISTAKE) from None


def _exit_unless_complete(results: dict[str, Any]) -> None:
    if not results["complete"]:
        raise typer.Exit(INTERRUPTED if results["ended"] == "cancelled" else CUT_SHORT)


@app.command()
def check(file: File, as_json: AsJson = False, sets: Sets = None) -> None:
    """Look FILE over without running it: every mistake, each with its place and what would do."""
    try:
        checked = scenario.check(file, changes=_changes(sets))
    except ScenarioError as error:
        _refuse(error, as_json)
    if as_json:
        print(json.dumps({"ok": True, "scenario": checked}, indent=2))
    else:
        streams, components = len(checked["workload"]), len(checked["system"])
        print(f"{file} is in order: {streams} stream(s), {components} component(s).")


@app.command()
def schema(as_json: AsJson = True) -> None:
    """Print the JSON Schema of a scenario, for editors that complete and check as you type."""
    del as_json  # A schema is JSON either way.
    print(json.dumps(scenario.schema(), indent=2))


@app.command()
def devices(
    name: Annotated[
        str | None, typer.Argument(help="A device; without it, all are listed.", show_default=False)
    ] = None,
    as_json: AsJson = False,
    beside: Annotated[Path, typer.Option(help="The folder whose `devices/` holds your own.")] = Path(),
) -> None:
    """Show the devices that scenarios can name: each number with its source, zone rates, seek curve."""
    from headrace import devices as catalogue  # noqa: PLC0415
    from headrace import show  # noqa: PLC0415

    try:
        found = [catalogue.device(one, beside) for one in ([name] if name else catalogue.names(beside))]
    except ScenarioError as error:
        _refuse(error, as_json)
    if as_json:
        print(json.dumps(found[0] if name else found, indent=2))
    elif name:
        show.device(found[0])
    else:
        show.device_list(found)


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
        _refuse(error, as_json)
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
