"""Groups of commands, whose help shows a flag by its name alone: `--json`, not `--json <bool>`."""

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def _flags_alone(params: list[Any]) -> list[Any]:
    for one in params:
        if getattr(one, "is_flag", False):
            one.metavar = ""
    return params


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_alone(super().get_params(ctx))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _flags_alone(super().get_params(ctx))


class Commands(typer.Typer):
    """A group of commands."""

    def __init__(self, **how: Any) -> None:
        super().__init__(cls=_Group, **how)

    def command(self, name: str | None = None, **how: Any) -> Callable[[Any], Any]:
        """Return what adds a function as a command."""
        return super().command(name, cls=_Command, **how)
