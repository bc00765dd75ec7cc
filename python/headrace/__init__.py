"""headrace simulates whole storage systems from one file, beside what theory says of them.

>>> import headrace
>>> results = headrace.run(text='''
... system: {clerk: {type: station, service: {exponential: 8 ms}}}
... workload: {customers: {to: clerk, arrivals: {poisson: 100 /s}}}
... run: {requests: 20000}
... ''')
>>> round(results["theory"][0]["mean_ms"], 6)
40.0
"""

from headrace._core import ScenarioError, __version__
from headrace.scenario import check, run, schema

__all__ = ["ScenarioError", "__version__", "check", "run", "schema"]
