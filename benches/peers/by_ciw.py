"""The workloads in Ciw: a network of queues. Its customers visit one node at a time, so it has no fork-join."""

from statistics import fmean

import ciw


def mm1(customers: int, seed: int) -> float:
    """Return the mean response in seconds of M/M/1 at λ = 0.8 /s, μ = 1 /s."""
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(0.8)],
        service_distributions=[ciw.dists.Exponential(1.0)],
        number_of_servers=[1],
    )
    ciw.seed(seed)
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(customers, method="Finish")
    return fmean(record.exit_date - record.arrival_date for record in simulation.get_all_records())
