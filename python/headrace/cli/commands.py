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


def _flags_alone(params: list[Any]) -> list[Any]:
    for one in params:
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return params


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> Any:
        """Read the arguments; of an unknown option that is a field of the scenario, say how a field is set."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except UsageError as error:
            # Only an unknown option has possibilities.
            if hasattr(error, "possibilities") and any("--set" in one.opts for one in self.params):
                self._suggest(error, given)
            raise

    @staticmethod
    def _suggest(error: Any, given: list[str]) -> None:
        from headrace.cli.unknown_option import instead  # noqa: PLC0415 - few commands need it

        if meant := instead(error.option_name, given):
            error.possibilities = None
            error.message = f"{error.message}. Did you mean {meant}?"

    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_alone(super().get_params(ctx))


class _Group(TyperGroup):
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
