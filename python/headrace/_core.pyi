from collections.abc import Callable

__version__: str

Watch = Callable[[int, int, list[tuple[str, int]]], object]

class ScenarioError(Exception):
    problems: str

def schema() -> str: ...
def check(text: str, file: str, sets: list[tuple[str, str]]) -> str: ...
def device_names(beside: str) -> str: ...
def device(name: str, beside: str) -> str | None: ...
def run(
    text: str,
    file: str,
    sets: list[tuple[str, str]],
    threads: int,
    watch: Watch | None,
    requests: Callable[[int, int, list[bytes], list[tuple[bytes, bytes]]], object] | None,
    first: int,
) -> tuple[str, str]: ...
def trace_info(path: str, format: str | None, skip_bad: bool, watch: Watch | None) -> str: ...
def trace_convert(
    path: str, format: str | None, skip_bad: bool, to: str, to_format: str, watch: Watch | None
) -> str: ...
