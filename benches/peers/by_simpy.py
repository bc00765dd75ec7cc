"""The workloads in SimPy: a process for each server, and customers that pass through stores."""

import math
import random
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import simpy

DISKS = 4


def mm1(customers: int, seed: int) -> float:
    """Return the mean response in seconds of M/M/1 at λ = 0.8 /s, μ = 1 /s."""
    draws, environment = random.Random(seed), simpy.Environment()
    queue = simpy.Store(environment)
    total = 0.0

    def source() -> Generator[simpy.Event, Any, None]:
        for _ in range(customers):
            yield environment.timeout(draws.expovariate(0.8))
            queue.put(environment.now)

    def server() -> Generator[simpy.Event, Any, None]:
        nonlocal total
        while True:
            arrived = yield queue.get()
            yield environment.timeout(draws.expovariate(1.0))
            total += environment.now - arrived

    environment.process(source())
    environment.process(server())
    environment.run()
    return total / customers


@dataclass(slots=True)
class Job:
    """A job, with the number of its parts that are not finished."""

    arrived: float
    left: int = DISKS


def fork_join(jobs: int, seed: int) -> float:
    """Return the mean response in milliseconds of jobs at λ = 0.07 /ms, one part to each of four disks."""
    draws, environment = random.Random(seed), simpy.Environment()
    queues = [simpy.Store(environment) for _ in range(DISKS)]
    total = 0.0

    def source() -> Generator[simpy.Event, Any, None]:
        for _ in range(jobs):
            yield environment.timeout(draws.expovariate(0.07))
            job = Job(environment.now)
            for queue in queues:
                queue.put(job)

    def disk(queue: simpy.Store) -> Generator[simpy.Event, Any, None]:
        nonlocal total
        while True:
            job = yield queue.get()
            distance = 1e4 * abs(draws.random() - draws.random())
            yield environment.timeout(1.0 + 0.08 * math.sqrt(distance) + 6.0 * draws.random() + 0.3)
            job.left -= 1
            if job.left == 0:
                total += environment.now - job.arrived

    environment.process(source())
    for queue in queues:
        environment.process(disk(queue))
    environment.run()
    return total / jobs
