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
from headrace import document, study, trace
from headrace._core import ScenarioError, __version__
from headrace.embedded import Completion, Storage
from headrace.experiment import Experiment, Interrupted, Precision, Table, sweep
from headrace.experiment.capacity import Capacity, capacity
from headrace.experiment.compare import Comparison, compare
from headrace.experiment.optimise import Optimum, optimise
from headrace.experiment.sensitivity import Sensitivity, sensitivity
from headrace.results import Results
from headrace.scenario import Scenario, check, load, run, schema, solve
from headrace.solution import Solution

__all__ = [
    "Capacity",
    "Comparison",
    "Completion",
    "Experiment",
    "Interrupted",
    "Optimum",
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
]
