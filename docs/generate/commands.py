"""The reference of the command line, from the command line itself."""

from typing import Any

import typer

from headrace.cli import app


def page() -> str:
    """Return every command with its arguments and options, as Markdown."""
    sections = ["# Commands", "Exit codes and options as `headrace --help` tells them."]
    sections += _sections(typer.main.get_command(app), "headrace")
    return "\n\n".join(sections) + "\n"


def _sections(command: Any, name: str) -> list[str]:
    inner = getattr(command, "commands", {})
    about = " ".join((command.help or "").split())
    parts = [f"## {name}", about]
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    if rows:
        parts.append("\n".join(["| | default | |", "|---|---|---|", *rows]))
    for word, of in inner.items():
        parts += _sections(of, f"{name} {word}")
    return parts


def _row(parameter: Any) -> str:
    about = " ".join((getattr(parameter, "help", "") or "").split()).replace("|", "\\|")
    if parameter.param_type_name == "argument":
        shown = parameter.metavar or parameter.name.upper()
        return f"| `{shown}` | {'required' if parameter.required else ''} | {about} |"
    value = "" if parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
    default = "" if parameter.default in {None, False} else f"`{parameter.default}`"
    return f"| `{', '.join(parameter.opts)}{value}` | {default} | {about} |"
