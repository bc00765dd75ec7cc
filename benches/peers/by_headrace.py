"""The workloads as scenarios of headrace. Its means are those after warm-up."""

import headrace

MM1 = """
system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {customers: {to: clerk, arrivals: {poisson: 0.8 /s}}}
run: {engine: events}
"""
# A seek of 1 ms + 0.08 ms · √cylinders, half a revolution on average of 6 ms, and a transfer of 0.3 ms.
FORK_JOIN = """
parts:
  spindle:
    type: disk
    positioning: independent
    device:
      capacity: 1 GB
      cylinders: 10000
      rotation: 10000 rpm
      media_rate_outer: 4 KiB/0.3 ms
      media_rate_inner: 4 KiB/0.3 ms
      seek_read: {track_to_track: 1.08 ms, full_stroke: 9 ms}
      seek_write: {track_to_track: 1.08 ms, full_stroke: 9 ms}
      overhead: 0 ms
system: {volume: {type: array, level: raid0, of: spindle, disks: 4, stripe_unit: 4 KiB}}
workload: {jobs: {to: volume, arrivals: {poisson: 0.07 /ms}, op: read, size: 16 KiB, align: 16 KiB}}
run: {engine: events}
"""


def mm1(customers: int, seed: int) -> float:
    """Return the mean response in seconds of M/M/1 at λ = 0.8 /s, μ = 1 /s."""
    return mean_ms(MM1, customers, seed) / 1e3


def fork_join(jobs: int, seed: int) -> float:
    """Return the mean response in milliseconds of jobs at λ = 0.07 /ms, one part to each of four disks."""
    return mean_ms(FORK_JOIN, jobs, seed)


def mean_ms(scenario: str, requests: int, seed: int) -> float:
    """Return the mean response of one run."""
    found = headrace.Scenario(scenario).with_({"run.requests": requests}).run(seed=seed)
    return float(found.streams["mean_ms"][0])
