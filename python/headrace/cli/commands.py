"""Groups of commands: how their flags are shown, and how they end on Ctrl-C or behind a reader that has gone.

Help shows a flag by its name alone: `--json`, not `--json <bool>`.
"""

import os
import sys
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from headrace.cli.options import INTERRUPTED, UsageError

# Words of another English.
SPELLINGS = {"optimize": "optimise", "analyze": "analyse", "synthesize": "synthesise"}
OPTIONS = {"--minimize": "--minimise", "--maximize": "--maximise"}
# Commands that a message names.
MOST_NAMED = 4
# What does what a command was expected to do that there is none of.
INSTEAD = {
    "list": "`headrace devices` lists drives, `headrace study list` published systems",
    "simulate": "`headrace run`",
    "plot": "`headrace run SCENARIO --report FILE.html` has charts",
    "validate-trace": "`headrace validate --device NAME --trace FILE`",
    "replay": "`arrivals: {replay: {trace: FILE}}` in a scenario replays a trace, and `headrace run` runs it",
    "trace": "`headrace trace info` and `headrace trace convert`",
    "import": "`headrace logs convert` makes a scenario or a table of an archive's log",
    "logs": "`headrace logs analyse` and `headrace logs convert`",
    "blktrace": "`blkparse -i FILE` writes its output as text, which `headrace trace info` reads",
    "blkparse": "`headrace trace info` reads it, and `arrivals: {replay: {trace: FILE}}` in a scenario replays it",
}

# Options by the names that other programs have for them.
ALIKE = {
    "--out": ("--output", "--report"),
    "--output": ("--report",),
    "--html": ("--report",),
    "--format": ("--json",),
    "--jobs": ("--threads",),
    "--parallel": ("--threads",),
    "--workers": ("--threads",),
    "--repeat": ("--replications",),
    "--vary": ("--increase",),
    "--increase": ("--vary",),
    "--metric": ("--metrics",),
}


def _flags_alone(params: list[Any]) -> list[Any]:
    for one in params:
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return params


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the arguments; of an unknown option that is a field of the scenario, say how a field is set."""
        given = list(args)
        args = [_spelt(one) for one in args]
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            # Only an unknown option has possibilities.
            if hasattr(error, "possibilities"):
                self._suggest(error, given)
            raise

    def _suggest(self, error: Any, given: list[str]) -> None:
        from headrace.cli.unknown_option import instead

        own = {name for one in self.params for name in one.opts}
        if alike := [name for name in ALIKE.get(error.option_name, ()) if name in own]:
            error.possibilities = alike[:1]
        elif "--set" in own and (meant := instead(error.option_name, given)):
            error.possibilities = None
            error.message = f"{error.message}. Did you mean {meant}?"

    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_alone(super().get_params(ctx))


def _spelt(argument: str) -> str:
    """Return an argument as this program spells it.

    >>> _spelt("--minimize=disks"), _spelt("--report")
    ('--minimise=disks', '--report')
    """
    name, equals, value = argument.partition("=")
    return OPTIONS.get(name, name) + equals + value


class _Group(TyperGroup):
    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of this name, however it is spelt."""
        return super().get_command(ctx, SPELLINGS.get(cmd_name, cmd_name))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command; of a word that is none, say what does what was probably wanted."""
        try:
            return super().resolve_command(ctx, args)
        except UsageError as error:
            if instead := INSTEAD.get(args[0]):
                raise UsageError(f"No such command '{args[0]}'. Instead: {instead}.", ctx) from None
            if os.path.exists(args[0]):
                # `init` makes a file.
                names = [f"`{name}`" for name in self.list_commands(ctx) if name != "init"][:MOST_NAMED]
                told = f"'{args[0]}' is a file; put a command before it, such as {', '.join(names)}."
                raise UsageError(told, ctx) from None
            raise error from None

    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_alone(super().get_params(ctx))

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # `headrace … | head` has seen enough; nothing is left to flush at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None


class Commands(typer.Typer):
    """A group of commands."""

    def __init__(self, **how: Any) -> None:
        super().__init__(cls=_Group, **how)

    def command(self, name: str | None = None, **how: Any) -> Callable[[Any], Any]:
        """Return what adds a function as a command."""
        return super().command(name, cls=_Command, **how)
