"""Logs of Darshan, which records the I/O of a job on a supercomputer: as a trace, or as a scenario.

Where the job ran with Darshan's extended tracing (DXT), a log has each request, and becomes a trace. Otherwise it has
counters of each file, of which a scenario is made. Counters: https://www.mcs.anl.gov/research/projects/darshan/docs/
"""

from headrace.measurement.darshan.load import JobScenario, scenario
from headrace.measurement.darshan.log import Log, read
from headrace.measurement.darshan.traced import trace

__all__ = ["JobScenario", "Log", "read", "scenario", "trace"]
