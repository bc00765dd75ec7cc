"""The manual page, from the command line itself: one page for all commands."""

from enum import Enum
from typing import Any

import typer

from headrace._core import __version__
from headrace.cli import app

ABOUT = "simulate and solve storage systems described in one file"


def page() -> str:
    """Return `headrace.1` as roff."""
    program = typer.main.get_command(app)
    lines = [f'.TH HEADRACE 1 "" "headrace {__version__}" "User Commands"', ".SH NAME", f"headrace \\- {_text(ABOUT)}"]
    lines += [".SH SYNOPSIS", ".B headrace", r"\fICOMMAND\fR [\fIOPTION\fR]..."]
    lines += [".SH DESCRIPTION", *_paragraphs(program.help), ".SH COMMANDS", *_commands(program, "headrace")]
    lines += [".SH SEE ALSO", r"\fBheadrace\fR \fICOMMAND\fR \fB\-\-help\fR. \fBfio\fR(1)."]
    return "\n".join(lines) + "\n"


def _commands(group: Any, name: str) -> list[str]:
    lines: list[str] = []
    for word, command in group.commands.items():
        whole = f"{name} {word}"
        if hasattr(command, "commands"):
            lines += _commands(command, whole)
            continue
        arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
        shown = " ".join(rf"\fI{_text(_value(one))}\fR" for one in arguments)
        lines += [f'.SS "{_text(whole)} {shown}"', *_paragraphs(command.help)]
        for parameter in command.params:
            lines += _option(parameter)
    return lines


def _option(parameter: Any) -> list[str]:
    if parameter.name == "help" or not getattr(parameter, "help", ""):
        return []
    if parameter.param_type_name == "argument":
        name = rf"\fI{_text(_value(parameter))}\fR"
    else:
        value = "" if parameter.is_flag else rf" \fI{_text(_value(parameter))}\fR"
        name = ", ".join(rf"\fB{_text(word)}\fR" for word in parameter.opts) + value
    return [".TP", name, *_paragraphs(parameter.help)]


def _value(parameter: Any) -> str:
    annotation = parameter.type_descriptor.annotation
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return "|".join(str(choice.value) for choice in annotation)
    return str(parameter.metavar or parameter.name.upper())


def _paragraphs(text: str | None) -> list[str]:
    """Return the paragraphs of a text, between lines of `.PP`."""
    whole = [_text(" ".join(part.split())) for part in (text or "").split("\n\n")]
    return [line for at, part in enumerate(whole) for line in ([".PP"] * (at > 0) + [part])]


def _text(words: str) -> str:
    """Return words as roff takes them: its own signs escaped, names of commands and values in bold."""
    plain = words.replace("\\", "\\\\").replace("-", "\\-")
    pieces = plain.split("`")
    marked = "".join(rf"\fB{piece}\fR" if at % 2 else piece for at, piece in enumerate(pieces))
    return "\\&" + marked if marked.startswith((".", "'")) else marked
