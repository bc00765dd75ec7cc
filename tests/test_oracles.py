"""Other simulators as oracles: Ciw for queues, SimPy for fork-join. Independent code, independent random numbers."""

import random
from statistics import fmean
from typing import Any

import ciw
import pytest
import simpy

import headrace

JOBS = 40_000


def ours(system: str, arrivals: str, **more: str) -> float:
    """Return the mean response of our simulation, in ms."""
    text = f"system: {system}\nworkload: {{users: {{to: target, arrivals: {arrivals}, {more.get('stream', '')}}}}}\n"
    results = headrace.run(text=text + "run: {requests: 400000, replications: 4}")
    return float(results.streams["mean_ms"][0])


@pytest.mark.parametrize(("servers", "rate", "mean_ms"), [(1, 70, 10), (3, 250, 10)])
def test_ciw_agrees_on_stations(servers: int, rate: float, mean_ms: float) -> None:
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate)],
        service_distributions=[ciw.dists.Uniform(0, 2 * mean_ms / 1e3)],
        number_of_servers=[servers],
    )
    ciw.seed(3)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(JOBS / rate)
    records: list[Any] = simulation.get_all_records()
    theirs = fmean(record.waiting_time + record.service_time for record in records) * 1e3
    service = f"{{uniform: {{from: 0 ms, to: {2 * mean_ms} ms}}}}"
    mine = ours(f"{{target: {{type: station, servers: {servers}, service: {service}}}}}", f"{{poisson: {rate} /s}}")
    assert mine == pytest.approx(theirs, rel=0.05)


def fork_join_by_simpy(disks: int, rate_per_ms: float, mean_ms: float) -> float:
    """Return the mean response of a fork-join queue with uniform services."""
    draws = random.Random(5)
    environment = simpy.Environment()
    queues = [simpy.Resource(environment) for _ in range(disks)]
    responses: list[float] = []

    def part(queue: simpy.Resource) -> Any:
        with queue.request() as turn:
            yield turn
            yield environment.timeout(draws.uniform(0, 2 * mean_ms))

    def job() -> Any:
        born = environment.now
        yield environment.all_of([environment.process(part(queue)) for queue in queues])
        responses.append(environment.now - born)

    def source() -> Any:
        for _ in range(JOBS):
            yield environment.timeout(draws.expovariate(rate_per_ms))
            environment.process(job())

    environment.process(source())
    environment.run()
    return fmean(responses)


def test_simpy_agrees_on_fork_join() -> None:
    theirs = fork_join_by_simpy(4, 0.06, 10)
    leaf = "{type: station, service: {uniform: {from: 0 ms, to: 20 ms}}}"
    system = f"{{target: {{type: array, level: raid0, of: {leaf}, disks: 4, stripe_unit: 1 KiB}}}}"
    mine = ours(system, "{poisson: 60 /s}", stream="size: 4 KiB")
    assert mine == pytest.approx(theirs, rel=0.04)
