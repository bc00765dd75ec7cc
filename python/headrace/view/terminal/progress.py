"""How far things are, on a terminal; elsewhere nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

if TYPE_CHECKING:
    from headrace.experiment.rounds import Standing, Watch
    from headrace.experiment.task import Record
    from headrace.study import Study


@contextmanager
def of_run(*, quiet: bool) -> Iterator[Callable[[int, int, list[tuple[str, int]]], object] | None]:
    """Show how far a run is, how long it will take, and its longest queues, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("requests,"),
        TimeRemainingColumn(),
        TextColumn("left {task.fields[queues]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None, queues="")

        def watch(so_far: int, wanted: int, queues: list[tuple[str, int]]) -> None:
            what = "simulating" if wanted else "reading the trace"
            waiting = ", ".join(f"{count:,} wait for {path}" for path, count in queues)
            bar.update(task, description=what, completed=so_far, total=wanted or None, queues=waiting)

        yield watch


@contextmanager
def of_study(study: "Study", *, quiet: bool) -> Iterator[Callable[[str], object] | None]:
    """Say which case of a study is being run, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status(study.name) as status:
        yield lambda case: status.update(f"{study.name}: {case}")


@contextmanager
def saying(*, quiet: bool) -> Iterator[Callable[[str], object] | None]:
    """Say what is being done, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    with Console(stderr=True).status("starting") as status:
        yield status.update


@contextmanager
def of_tasks(*, quiet: bool) -> Iterator["Watch | None"]:
    """Show how many runs are done, run and failed, and how long the others take, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("runs{task.fields[running]}{task.fields[failed]},"),
        TimeRemainingColumn(),
        TextColumn("left{task.fields[least]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, running="", failed="", least="")
        failed, least = 0, float("inf")

        def watch(record: "Record", standing: "Standing") -> None:
            nonlocal failed, least
            failed += not record["ok"]
            means = [value for name, value in record["metrics"].items() if name.endswith(".mean_ms") and value]
            least = min([*means[:1], least])
            bar.update(
                task,
                completed=standing.done,
                total=standing.wanted,
                running=f", {standing.running} running",
                failed=f", {failed} failed" if failed else "",
                least=f", least mean {least:.4g} ms" if least < float("inf") else "",
            )

        yield watch
