"""`headrace logs`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from headrace._core import ScenarioError, quantity
from headrace.cli.options import AsJson, ReportFile, cannot_write, refuse, show
from headrace.files import keep_apart

Json = dict[str, Any]


Files = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Log files, or folders of them; plain, or compressed with gzip, bzip2 or xz. COND and STAT are merged.",
        show_default=False,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of the files: transfers (UniTree's NFT/FTP log), cond, stat, dcache, cartridges, cta, enstore, "
        "inventory, csv. "
        "[default: detected]",
        show_default=False,
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="FIELD=COLUMN,...",
        help="Which column of a CSV file holds what: `time=when,bytes=size:KiB,seconds=took:ms,op=method`. Fields are "
        "time, requested, end, op, user, host, job, file, cartridge, drive, bytes, file_bytes, position_bytes, "
        "position, seconds, stage_s, total_s, drive_s, staged, outcome; a date may have its form: "
        "`'time=when:%d/%m/%Y %H:%M'`.",
        show_default=False,
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip lines that cannot be read; count them by reason.")]
MaxFile = Annotated[
    str | None,
    typer.Option(
        "--max-file",
        metavar="SIZE",
        help="Report larger files as suspicious. [default: 4 GB for UniTree, no limit for others]",
        show_default=False,
    ),
]


def named_columns(given: str | None) -> dict[str, str] | None:
    """Return what `--columns` was given."""
    found = {}
    for one in (given or "").split(",") if given else []:
        field, equals, column = one.partition("=")
        if not equals or not field.strip() or not column.strip():
            raise typer.BadParameter(f"`{one}` is not FIELD=COLUMN, such as bytes=size", param_hint="--columns")
        found[field.strip()] = column.strip()
    return found or None


def size_of(given: str | None, option: str) -> int | None:
    """Return the size that an option was given, bytes."""
    try:
        return None if given is None else int(quantity("size", given))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def pair_of(given: str | None, option: str) -> dict[str, int] | None:
    """Return two numbers of transfers, of puts and of gets."""
    try:
        put, get = (int(one) for one in (given or "").split(",")) if given else (1, 1)
    except ValueError:
        put = get = 0
    if put < 1 or get < 1:
        raise typer.BadParameter(f"`{given}` is not PUTS,GETS, such as 100,25", param_hint=option)
    return {"put": put, "get": get} if given else None


def analyse(
    files: Files,
    as_json: AsJson = False,
    report: ReportFile = None,
    format: Format = None,
    columns: Columns = None,
    skip_bad: SkipBad = False,
    max_file: MaxFile = None,
    strata: Annotated[
        str | None,
        typer.Option(
            "--strata", metavar="PUTS,GETS", help="Number of transfers in a stratum of the fit. [default: 100,25]"
        ),
    ] = None,
    blocks: Annotated[
        str | None,
        typer.Option(
            "--blocks", metavar="PUTS,GETS", help="Number of transfers in a block of delays. [default: 1000,200]"
        ),
    ] = None,
    fit_up_to: Annotated[
        str | None, typer.Option("--fit-up-to", metavar="SIZE", help="Exclude larger files from the fit: `100 MB`.")
    ] = None,
    break_s: Annotated[
        str | None,
        typer.Option(
            "--break", metavar="TIME", help="Boundary between the two branches of the tape time. [default: fitted]"
        ),
    ] = None,
) -> None:
    """Summarise the logs of an archive: latency, rate, delays, concurrency, and tape times."""
    named, largest = named_columns(columns), size_of(max_file, "--max-file")
    per_stratum, per_block = pair_of(strata, "--strata"), pair_of(blocks, "--blocks")
    up_to, cut = size_of(fit_up_to, "--fit-up-to"), _time(break_s)
    from headrace import logs

    try:
        keep_apart({"--report": report}, files)
        log = logs.read(files, format=format, columns=named, skip_bad=skip_bad, largest=largest)
        found = logs.analyse(log, strata=per_stratum, blocks=per_block, fit_up_to=up_to, break_s=cut)
    except ScenarioError as error:
        refuse(error, as_json)
    show(found, logs.report(found, title=files[0].name), report, as_json=as_json)


def _time(given: str | None) -> float | None:
    try:
        return None if given is None else quantity("time", given) / 1e9
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--break") from None


def convert(
    files: Files,
    to: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="FILE.parquet: the table; FILE.csv: operations to replay; FILE.yaml: a scenario, and FILE.csv for it.",
        ),
    ],
    as_json: AsJson = False,
    format: Format = None,
    columns: Columns = None,
    skip_bad: SkipBad = False,
    max_file: MaxFile = None,
) -> None:
    """Convert logs to one table (Parquet), to file operations to replay (CSV), or to a scenario (YAML)."""
    named, largest = named_columns(columns), size_of(max_file, "--max-file")
    if to.suffix not in (".parquet", ".csv", ".yaml"):
        raise typer.BadParameter(f"{to} ends in none of .parquet, .csv and .yaml", param_hint="--output")
    from headrace import logs

    try:
        beside = {"the operations": to.with_suffix(".csv")} if to.suffix == ".yaml" else {}
        keep_apart({"--output": to} | beside, files)
        log = logs.read(files, format=format, columns=named, skip_bad=skip_bad, largest=largest)
        told = logs.convert(log, to)
    except ScenarioError as error:
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, to)
    if as_json:
        print(json.dumps(told, indent=2))
        return
    kind = "lines" if to.suffix == ".parquet" else "operations"
    beside_it = f" replays {to.with_suffix('.csv')}, which" if to.suffix == ".yaml" else ""
    print(f"{to}{beside_it} has {told['rows']:,} {kind}.")
    for what in ("skipped", "left_out", "rules", "locations"):
        for reason, count in told[what].items():
            if count:
                print(f"- {'bad lines passed over: ' if what == 'skipped' else ''}{reason}: {count:,}")
    for odd in told["odd"]:
        print(f"- {odd['what']}: {odd['count']:,} ({odd['first']} is the first); {odd['note']}")


def synthesise(
    description: Annotated[
        str,
        typer.Argument(
            metavar="DESCRIPTION.yaml",
            help="Description of users, sessions, bursts, sizes and times; or `llnl-unitree`, which is built in.",
            show_default=False,
        ),
    ],
    folder: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Folder to write to.")],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            help="Format: operations, parquet, transfers, unitree (COND and STAT), dcache or cartridges.",
        ),
    ] = "operations",
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed; the same seed gives the same bytes.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Generate logs from a description. Their names and first lines say that they are synthetic."""
    from headrace import logs

    if to not in logs.SYNTHETIC:
        raise typer.BadParameter(f"unknown format `{to}`; there are {', '.join(logs.SYNTHETIC)}", param_hint="--to")
    try:
        written = logs.write(description, folder, to=to, seed=seed)
    except ScenarioError as error:
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, error.filename or folder)
    if as_json:
        print(json.dumps({"files": [str(file) for file in written]}, indent=2))
    else:
        shown = (
            str(written[0]) if len(written) == 1 else f"{len(written)} files in {folder}, {written[0].name} the first"
        )
        print(f"Synthetic, no record of a real system: {shown}.")
