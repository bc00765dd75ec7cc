"""headrace simulates storage systems described in one file, and compares the results with theory.

>>> import headrace
>>> scenario = headrace.Scenario('''
... system: {clerk: {type: station, service: {exponential: 8 ms}}}
... workload: {customers: {to: clerk, arrivals: {poisson: 100 /s}}}
... run: {requests: 20000}
... ''')
>>> results = scenario.run(seed=7)
>>> round(results.theory["mean_ms"][0], 6)
40.0
>>> half_the_load = scenario.with_({"workload.customers.arrivals.poisson": "50 /s"}).run(seed=7)
>>> half_the_load.components["utilisation"][0] < results.components["utilisation"][0]
True
"""

# First, while all else is still to be imported.
import headrace.importing  # noqa: F401

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headrace._core import ScenarioError, __version__

if TYPE_CHECKING:
    from headrace import document, study, trace
    from headrace.durability import Durability
    from headrace.embedded import Completion, LostWrite, PowerLoss, Storage
    from headrace.experiment import Experiment, Interrupted, Precision, Table, sweep
    from headrace.experiment.capacity import Capacity, capacity
    from headrace.experiment.compare import Comparison, compare
    from headrace.experiment.optimise import Optimum, optimise
    from headrace.experiment.sensitivity import Sensitivity, sensitivity
    from headrace.frames import units
    from headrace.results import Results
    from headrace.scenario import Scenario, check, load, run, schema, solve
    from headrace.solution import Solution

# Where each name is, for it is imported when it is first used: no command and no program needs all.
PLACES = {
    "durability": "Durability",
    "embedded": "Completion LostWrite PowerLoss Storage",
    "frames": "units",
    "experiment": "Experiment Interrupted Precision Table sweep",
    "experiment.capacity": "Capacity capacity",
    "experiment.compare": "Comparison compare",
    "experiment.optimise": "Optimum optimise",
    "experiment.sensitivity": "Sensitivity sensitivity",
    "results": "Results",
    "scenario": "Scenario check load run schema solve",
    "solution": "Solution",
}
MODULES = {"document", "study", "trace"}


def __getattr__(name: str) -> Any:
    place = next((place for place, names in PLACES.items() if name in names.split()), None)
    if place is None and name not in MODULES:
        raise AttributeError(f"module `headrace` has no attribute `{name}`")
    module = import_module(f"headrace.{place or name}")
    found = getattr(module, name) if place else module
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


__all__ = [
    "Capacity",
    "Comparison",
    "Completion",
    "Durability",
    "Experiment",
    "Interrupted",
    "LostWrite",
    "Optimum",
    "PowerLoss",
    "Precision",
    "Results",
    "Scenario",
    "ScenarioError",
    "Sensitivity",
    "Solution",
    "Storage",
    "Table",
    "__version__",
    "capacity",
    "check",
    "compare",
    "document",
    "load",
    "optimise",
    "run",
    "schema",
    "sensitivity",
    "solve",
    "study",
    "sweep",
    "trace",
    "units",
]
