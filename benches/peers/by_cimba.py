"""The workloads in Cimba: a process for each server, and customers that pass through stores."""

import math

import cimba

DISKS = 4


class MM1(cimba.Model):
    """M/M/1 at λ = 0.8 /s, μ = 1 /s. The queue holds times of arrival."""

    customers: cimba.Param[int]
    queue: cimba.Store[float]
    total: cimba.Output[float] = 0.0

    @cimba.process
    def source(self):
        """Let customers arrive."""
        for _ in range(self.customers):
            cimba.hold(cimba.random.exponential(1 / 0.8))
            self.queue.put(cimba.now())

    @cimba.process
    def server(self):
        """Serve customers in order of arrival."""
        while True:
            arrived = self.queue.get()
            cimba.hold(cimba.random.exponential(1.0))
            self.total += cimba.now() - arrived


class Disk(cimba.Model):
    """A disk, whose queue holds numbers of jobs."""

    system: cimba.Ref["ForkJoin"]
    queue: cimba.Store[int]

    @cimba.process
    def server(self):
        """Serve parts of jobs. The last part completes its job."""
        while True:
            job = self.queue.get()
            distance = 1e4 * abs(cimba.random.uniform() - cimba.random.uniform())
            cimba.hold(1.0 + 0.08 * math.sqrt(distance) + 6.0 * cimba.random.uniform() + 0.3)
            self.system.left[job] -= 1
            if self.system.left[job] == 0:
                self.system.total += cimba.now() - self.system.arrived[job]


class ForkJoin(cimba.Model):
    """Jobs at λ = 0.07 /ms, one part to each of four disks."""

    jobs: cimba.Param[int]
    disks: list[Disk]
    arrived: cimba.Array[float]
    left: cimba.Array[int]
    total: cimba.Output[float] = 0.0

    @cimba.process
    def source(self):
        """Let jobs arrive."""
        for job in range(self.jobs):
            cimba.hold(cimba.random.exponential(1 / 0.07))
            self.arrived[job] = cimba.now()
            self.left[job] = len(self.disks)
            for disk in range(len(self.disks)):
                self.disks[disk].queue.put(job)


def mm1(customers: int, seed: int) -> float:
    """Return the mean response in seconds."""
    model = MM1()
    model.customers = customers
    return total(model, seed) / customers


def fork_join(jobs: int, seed: int) -> float:
    """Return the mean response in milliseconds."""
    model = ForkJoin()
    model.jobs, model.arrived, model.left = jobs, cimba.Array(jobs), cimba.Array(jobs)
    model.disks = [Disk() for _ in range(DISKS)]
    for disk in model.disks:
        disk.system = model
    return total(model, seed) / jobs


def total(model: cimba.Model, seed: int) -> float:
    """Return the sum of responses of a run until no customer is left."""
    found = cimba.Experiment(model, window=cimba.Window.until_idle(), seed=seed).run(on_failure="raise")
    return float(found[model].total.values.item())
