"""Engines that run tasks: local threads, or a cluster. Records arrive in any order and do not depend on the engine."""

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

from headrace.errors import refusal
from headrace.experiment.task import Record, Task


class Engine(Protocol):
    """Does tasks."""

    @property
    def workers(self) -> int:
        """Number of tasks that run at once."""
        ...

    def do(self, tasks: Iterable[Task]) -> Iterator[Record]:
        """Give the record of each task, as soon as it is done."""
        ...


class Local:
    """Threads of this process: a run does not hold the interpreter's lock.

    `cancelled` is asked every 50 ms of a run; once it says so, the run raises `task.Cancelled`.
    """

    def __init__(self, workers: int | None = None, *, cancelled: Callable[[], bool] = lambda: False) -> None:
        self._workers = workers or os.cpu_count() or 1
        self._cancelled = cancelled

    @property
    def workers(self) -> int:
        """Number of threads."""
        return self._workers

    def do(self, tasks: Iterable[Task]) -> Iterator[Record]:
        """Give the record of each task, as soon as it is done; who stops asking stops the tasks."""
        stopped = False

        def is_cancelled() -> bool:
            return stopped or self._cancelled()

        with ThreadPoolExecutor(self.workers) as pool:
            try:
                yield from _windowed(tasks, lambda task: pool.submit(task.run, is_cancelled), 2 * self.workers)
            finally:
                stopped = True
                pool.shutdown(cancel_futures=True)


def _windowed(tasks: Iterable[Task], submit: Callable[[Task], "Future[Record]"], most: int) -> Iterator[Record]:
    """Limit the tasks in flight, so that tasks that others finish meanwhile are not repeated."""
    waiting = iter(tasks)
    under_way: set[Future[Record]] = set()
    exhausted = False
    while True:
        while not exhausted and len(under_way) < most:
            if (task := next(waiting, None)) is None:
                exhausted = True
            else:
                under_way.add(submit(task))
        if not under_way:
            return
        done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
        for future in done:
            yield future.result()


class Dask:
    """A dask cluster: a scheduler by its address, or workers as jobs of a batch system (`slurm`, `htcondor`, …).

    The scenario goes to the workers as text; traces and devices beside it must be where they can read them. A worker
    that dies has its tasks done again by others. What jobs ask for is in dask's own configuration, and so are the
    certificates for a scheduler at `tls://`.
    """

    def __init__(self, address: str | None = None, *, jobs: str | None = None, workers: int | None = None) -> None:
        try:
            import distributed
        except ImportError:
            raise refusal("dask", "dask is not installed", "pip install 'headrace[dask]'") from None
        self._cluster = _jobs(jobs, workers or 1) if jobs else None
        if self._cluster is None and address is None:
            raise refusal("dask", "there is no scheduler to ask", "name its address, or a batch system")
        if address and address.startswith("tls://"):
            _refuse_without_certificates(address)
        try:
            self.client = distributed.Client(self._cluster or address, timeout="10s")
        except OSError as error:
            if self._cluster is not None:
                self._cluster.close()
            raise refusal(str(address), f"no scheduler answers at {address}: {error}", "start it first") from None
        self._asked = workers

    @property
    def workers(self) -> int:
        """Current number of threads: jobs come and go."""
        threads = self.client.nthreads().values()
        return sum(int(many) for many in threads)

    def do(self, tasks: Iterable[Task]) -> Iterator[Record]:
        """Give the record of each task, as soon as it is done."""
        from distributed import as_completed

        waiting = iter(tasks)
        under_way: Any = as_completed()
        self._fill(waiting, under_way)
        try:
            for future in under_way:
                record: Record = future.result()
                self._fill(waiting, under_way)
                yield record
        finally:
            self.client.cancel(list(under_way.futures))

    def _fill(self, waiting: Iterator[Task], under_way: Any) -> None:
        """Keep a few tasks in progress for each worker."""
        while len(under_way.futures) < 4 * max(self.workers, self._asked or 1):
            if (task := next(waiting, None)) is None:
                return
            under_way.add(self.client.submit(Task.run, task, pure=False, retries=3))

    def close(self) -> None:
        """Let go of the scheduler, and of the jobs that were started."""
        self.client.close()
        if self._cluster is not None:
            self._cluster.close()


TLS_HELP = (
    "name them in dask's configuration under `distributed.comm.tls`, or by DASK_DISTRIBUTED__COMM__TLS__CA_FILE, "
    "…__CLIENT__CERT and …__CLIENT__KEY"
)


def _refuse_without_certificates(address: str) -> None:
    """Refuse a scheduler that is asked over TLS if dask's configuration names no certificates that can be read."""
    from distributed.security import Security

    try:
        context = Security().get_connection_args("client").get("ssl_context")
    except OSError as error:
        raise refusal(address, f"the certificates for TLS cannot be read: {error}", TLS_HELP) from None
    if context is None:
        raise refusal(address, "there are no certificates for TLS", TLS_HELP)


SYSTEMS = {"slurm": "SLURMCluster", "htcondor": "HTCondorCluster", "pbs": "PBSCluster", "sge": "SGECluster"}


def _jobs(system: str, workers: int) -> Any:
    import dask_jobqueue

    if system not in SYSTEMS:
        raise refusal(system, f"`{system}` is no batch system", f"there are {', '.join(SYSTEMS)}")
    try:
        cluster = getattr(dask_jobqueue, SYSTEMS[system])()
    except ValueError as error:
        help_ = f"say what a job asks for in dask's configuration, under `jobqueue.{system}`: cores, memory"
        raise refusal(system, f"no jobs can be started: {str(error).splitlines()[0]}", help_) from None
    cluster.scale(jobs=workers)
    return cluster
