from collections.abc import Callable

__version__: str

class ScenarioError(Exception):
    args: tuple[str, str]

def schema() -> str: ...
def check(text: str, file: str, sets: list[tuple[str, str]]) -> str: ...
def device_names(beside: str) -> str: ...
def device(name: str, beside: str) -> str | None: ...
def run(
    text: str,
    file: str,
    sets: list[tuple[str, str]],
    threads: int,
    watch: Callable[[int, int], object] | None,
    requests: Callable[[int, int, list[bytes], list[tuple[bytes, bytes]]], object] | None,
) -> str: ...
