"""`headrace trace`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from headrace._core import ScenarioError
from headrace.cli.options import AsJson, ReportFile, cannot_write, refuse, show
from headrace.files import keep_apart

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="FORMAT",
        help="Format of FILE: validate, ascii, msr, spc, alibaba, tencent, systor, fiu, blkparse, blkparse_queued, "
        "fio_latency, fio_bandwidth, vscsi1, vscsi2, oracle_general, oracle_objects, headrace, or columns of a CSV "
        "file: `{csv: {time: {column: t, unit: 1 s}, op: rw, address: {column: lba, unit: 512 B}, "
        "size: {column: kib, unit: 1 KiB}}}`. [default: detected]",
        show_default=False,
    ),
]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Skip lines that cannot be read, and count them.")]
TraceFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="Trace; plain, or compressed with gzip, zstd or bzip2.", show_default=False),
]


def trace_info(
    file: TraceFile,
    as_json: AsJson = False,
    format: Format = None,
    skip_bad: SkipBad = False,
    report: ReportFile = None,
) -> None:
    """Summarise a trace: arrivals, sizes, addresses, and measured response times."""
    from headrace import trace
    from headrace.view.terminal import progress

    try:
        keep_apart({"--report": report}, [file])
        with progress.of_run(quiet=as_json) as watch:
            found = trace.info(file, format=format, skip_bad=skip_bad, watch=watch)
    except ScenarioError as error:
        refuse(error, as_json)
    show(found, trace.report(found, title=file.name), report, as_json=as_json)


# Formats without response times.
UNTIMED = ("ascii", "spc")


def trace_convert(
    file: TraceFile,
    to: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write; `.gz`, `.zst` or `.bz2` at the end selects compression.",
        ),
    ],
    to_format: Annotated[
        str, typer.Option("--to", metavar="FORMAT", help="Format to write: headrace, ascii, spc, msr or validate.")
    ] = "headrace",
    as_json: AsJson = False,
    format: Format = None,
    skip_bad: SkipBad = False,
) -> None:
    """Convert a trace to another format."""
    from headrace import trace
    from headrace.view.terminal import progress

    try:
        with progress.of_run(quiet=as_json) as watch:
            written = trace.convert(file, to, to_format=to_format, format=format, skip_bad=skip_bad, watch=watch)
    except ScenarioError as error:
        refuse(error, as_json)
    except OSError as error:
        cannot_write(error, to)
    if as_json:
        print(json.dumps(written, indent=2))
    else:
        passed_over = f"; {written['skipped']} bad lines were passed over" if written["skipped"] else ""
        without = ", which has no response times" if to_format in UNTIMED else ""
        print(f"{to} has {written['requests']:,} requests, in the format {to_format}{without}{passed_over}.")
