"""How far things are, on a terminal; elsewhere nothing."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from headrace.quantities import format_time

if TYPE_CHECKING:
    from headrace.experiment.rounds import Standing, Watch
    from headrace.experiment.task import Record
    from headrace.study import Study


class _Left(TimeRemainingColumn):
    """How long it will take, once that is known."""

    def render(self, task: Task) -> Text:
        """Return it, or nothing."""
        known = task.total is not None and task.time_remaining is not None
        return Text.assemble(super().render(task), " left") if known else Text("")


@contextmanager
def of_run(*, quiet: bool) -> Iterator[Callable[[int, int, list[tuple[str, int]]], object] | None]:
    """Show how far a run is, how long it will take, and its longest queues, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[so_far]}"),
        _Left(),
        TextColumn("{task.fields[queues]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None, so_far="", queues="")

        def watch(so_far: int, wanted: int, queues: list[tuple[str, int]]) -> None:
            what = _phase(so_far, wanted)
            waiting = ", ".join(f"{count:,} wait for {path}" for path, count in queues)
            done = f"{so_far:,} of {wanted:,} requests" if wanted else f"{so_far:,} requests"
            bar.update(task, description=what, completed=so_far, total=wanted or None, so_far=done, queues=waiting)

        yield watch


@contextmanager
def of_rebuilds(*, quiet: bool) -> Iterator[Callable[[int, int, list[tuple[str, int]]], object] | None]:
    """Show how many rebuilds are simulated, and how long the others take, on a terminal; elsewhere nothing."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[so_far]}"), _Left())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating rebuilds", total=None, so_far="")

        def watch(so_far: int, wanted: int, _: list[tuple[str, int]]) -> None:
            what = "simulating failures" if wanted and so_far >= wanted else "simulating rebuilds"
            done = f"{so_far:,} of {wanted:,}" if wanted else ""
            bar.update(task, description=what, completed=so_far, total=wanted or None, so_far=done)

        yield watch


def _phase(so_far: int, wanted: int) -> str:
    """Return what a run does: after its last request it simulates more load, and computes theory."""
    if not wanted:
        return "reading the trace"
    return "simulating" if so_far < wanted else "finding headroom and theory"


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
        TextColumn("{task.fields[runs]}{task.fields[running]}{task.fields[failed]}{task.fields[least]}"),
        _Left(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, runs="starting", running="", failed="", least="")
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
                runs=f"{standing.done:,} of {standing.wanted:,} runs",
                running=f", {standing.running} running",
                failed=f", {failed} failed" if failed else "",
                least=f", lowest mean so far {format_time(least)}" if least < float("inf") else "",
            )

        yield watch
