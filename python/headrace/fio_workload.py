"""`workload: {fio: job.fio}`: the jobs of a job file of fio as the streams of a scenario."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headrace.errors import refusal

Json = dict[str, Any]

FIELD = "fio"
PATH = f"workload.{FIELD}"
NAMES = ("job", "to", "from", "section")
ASKED = "`fio:` takes {job: FILE, to: COMPONENT, from: SERVER, section: JOB}, all but `job` optional"


@dataclass(frozen=True)
class FioWorkload:
    """What a scenario says of a job file, and what else it has."""

    job: str
    to: str | None
    server: str | None
    section: str | None
    system: Mapping[str, Any]
    run: frozenset[str]
    """Fields of `run` that the scenario gives."""

    def uses(self, path: str) -> bool:
        """Whether a change is of the job file rather than of its streams."""
        return path == PATH or path.removeprefix(f"{PATH}.") in NAMES

    def lowered(self, folder: Path) -> tuple[Json, list[str]]:
        """Return the changes that put its streams into the scenario, in `folder`, and which options are ignored."""
        from headrace.measurement.fio import jobs  # noqa: PLC0415 - few scenarios have one

        made = jobs.workload(folder / self.job, self._component, server=self.server, section=self.section)
        run = {f"run.{field}": value for field, value in made.run.items() if not self.run & _ends(field)}
        remarks = [remark for remark in made.remarks if not (self._has_cache() and "page cache" in remark)]
        return {PATH: None} | {f"workload.{name}": one for name, one in made.streams.items()} | run, remarks

    def _component(self, device: str) -> str | None:
        """Return the component that stands for a block device: the one that is named, of its name, or the only one."""
        if self.to or device in self.system:
            return self.to or device
        holding = [name for name, component in self.system.items() if _holds_data(component)]
        used = {str(component.get("of")) for component in self.system.values() if isinstance(component, dict)}
        free = [name for name in holding if name not in used]
        return free[0] if len(free) == 1 else None

    def _has_cache(self) -> bool:
        """Whether its requests go through a page cache: what fio leaves to the operating system is simulated then."""
        component = self.system.get(self.to or self._component("") or "")
        return isinstance(component, dict) and component.get("type") == "file_system"


def _ends(field: str) -> set[str]:
    """Return the fields that say the same as one of `run`: a scenario that ends by time needs no requests."""
    return {"requests", "time"} if field in {"requests", "time"} else {field}


def _holds_data(component: Any) -> bool:
    kinds = {"switch", "link", "server", "fc_loop", "controller"}
    return isinstance(component, dict) and component.get("type") not in kinds


def found(text: str, changes: Mapping[str, object]) -> FioWorkload | None:
    """Return what a scenario, with changes, says of a job file; None where it has none.

    A stream may be called `fio`: only a text, or a mapping with `job`, is a job file.
    """
    if FIELD not in text and not any(path.startswith(PATH) for path in changes):
        return None
    import yaml  # noqa: PLC0415 - it takes longer to load than `headrace --help` may

    document: Any = {}
    with suppress(yaml.YAMLError, RecursionError):  # `check` reports a file that cannot be parsed.
        document = yaml.load(text, yaml.BaseLoader)
    if not isinstance(document, dict):
        return None
    value = _mapping(document.get("workload")).get(FIELD)
    if isinstance(put := changes.get(PATH), str | Path):
        value = yaml.load(str(put), yaml.BaseLoader)
    given = _given(value, changes)
    if "job" not in given:
        return None
    unknown = [name for name in given if name not in NAMES]
    if unknown:
        raise refusal(given["job"], f"workload.fio: unknown field `{unknown[0]}`", ASKED)
    run = {*_mapping(document.get("run")), *(path.removeprefix("run.") for path in changes if path.startswith("run."))}
    return FioWorkload(
        given["job"], given.get("to"), given.get("from"), given.get("section"),
        _mapping(document.get("system")), frozenset(run),
    )  # fmt: skip


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _given(value: Any, changes: Mapping[str, object]) -> dict[str, str]:
    """Return the fields of `fio:` after changes."""
    given = {"job": value} if isinstance(value, str) else dict(_mapping(value))
    given |= {name: changes[f"{PATH}.{name}"] for name in NAMES if f"{PATH}.{name}" in changes}
    return {name: str(value) for name, value in given.items()}


def in_schema(schema: Json) -> Json:
    """Return the schema of a scenario with `fio: FILE` among its streams, for editors."""
    workload = schema["properties"]["workload"]
    stream = workload["additionalProperties"]
    text = {"type": "string"}
    about = {
        "job": "Job file of fio, beside the scenario.",
        "to": "Component that stands for what fio was run on. Default: the one of its name, or the only one.",
        "from": "Server that the requests come from; each copy of a job is a thread of it.",
        "section": "The only job to take. Default: all jobs, which run at once.",
    }
    fields = {name: text | {"description": words} for name, words in about.items()}
    mapping = {"type": "object", "properties": fields, "required": ["job"], "additionalProperties": False}
    choice = {"description": "Job file of fio: each job is a stream.", "anyOf": [text, mapping, stream]}
    properties = schema["properties"] | {"workload": workload | {"patternProperties": {f"^{FIELD}$": choice}}}
    return schema | {"properties": properties}
