//! The kernel alone, its own statistics and those of responses on.

use std::cell::RefCell;

use cpu_time::ProcessTime;
use headrace_kernel::{Draws, EventQueue, Resource, RngStream, Sim, WorkerPool};
use headrace_stats::Series;
use headrace_units::Nanos;

use crate::sized;

/// M/M/1 at λ = 0.8, μ = 1, each of `n` customers a job of a worker pool. Gives the mean response in ns.
pub fn mm1(n: u64, seed: u64) -> f64 {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 1);
    let responses = RefCell::new(Series::default());
    let services = RefCell::new(RngStream::named(seed, "server", "services").draws());
    let (sim, server, responses, services) = (&sim, &server, &responses, &services);
    let customers = WorkerPool::new(sim, move |()| async move {
        let born = sim.now();
        let service = Nanos::from_secs(services.borrow_mut().exponential());
        server.serve(service).await;
        responses.borrow_mut().record(sim.now() - born);
    });
    let customers = &customers;
    sim.spawn(async move {
        let mut arrivals = RngStream::named(seed, "source", "arrivals").draws();
        for _ in 0..n {
            sim.delay(Nanos::from_secs(arrivals.exponential() / 0.8)).await;
            customers.start(());
        }
    });
    sim.run(Nanos::MAX, u64::MAX);
    sim.finish();
    responses.borrow().tally().mean_ns()
}

/// The same queue without events.
pub fn mm1_recursion(n: u64) -> f64 {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 1);
    let mut responses = Series::default();
    let mut services = RngStream::named(1, "server", "services").draws();
    let mut arrivals = RngStream::named(1, "source", "arrivals").draws();
    let mut now = Nanos::ZERO;
    for _ in 0..n {
        now += Nanos::from_secs(arrivals.exponential() / 0.8);
        let service = Nanos::from_secs(services.exponential());
        responses.record(server.pass(now, |start| start + service).end - now);
    }
    responses.tally().mean_ns()
}

/// One service of the disks of [`fork_join`].
pub fn disk_service(u: &mut Draws) -> Nanos {
    let seek = 1.0 + 0.08 * (1e4 * (u.uniform() - u.uniform()).abs()).sqrt();
    Nanos::from_ms(seek + 6.0 * u.uniform() + 0.3)
}

/// Jobs of four parts, each to a disk of its own: service ms = 1 + 0.08·√(10⁴·|U−U′|) + 6·U″ + 0.3, λ = 0.07 /ms. Gives
/// the mean response in ns; it is 19.84 ms.
pub fn fork_join(n: u64, seed: u64) -> f64 {
    let sim = Sim::new();
    let disks: Vec<Resource> = (0..4).map(|_| Resource::fcfs(&sim, 1)).collect();
    let draws = RefCell::new(RngStream::named(seed, "disks", "services").draws());
    let responses = RefCell::new(Series::default());
    let (sim, disks, draws, responses) = (&sim, &disks, &draws, &responses);
    let parts = WorkerPool::new(sim, |disk: usize| disks[disk].serve(disk_service(&mut draws.borrow_mut())));
    let parts = &parts;
    let jobs = WorkerPool::new(sim, move |()| async move {
        let born = sim.now();
        parts.all(0..disks.len()).await;
        responses.borrow_mut().record(sim.now() - born);
    });
    let jobs = &jobs;
    sim.spawn(async move {
        let mut arrivals = RngStream::named(seed, "source", "arrivals").draws();
        for _ in 0..n {
            sim.delay(Nanos::from_ms(arrivals.exponential() / 0.07)).await;
            jobs.start(());
        }
    });
    sim.run(Nanos::MAX, u64::MAX);
    sim.finish();
    responses.borrow().tally().mean_ns()
}

/// Nanoseconds to take the next event and schedule another, with `pending` events in the queue: the hold model, with
/// exponential delays.
pub fn hold_ns(pending: u64) -> f64 {
    let holds = sized(4_000_000);
    let mut queue = EventQueue::default();
    let mut draws = RngStream::named(1, "hold", "delays").draws();
    for task in 0..pending {
        queue.push(Nanos::from_secs(draws.exponential()), task);
    }
    let start = ProcessTime::now();
    for _ in 0..holds {
        let task = queue.pop(Nanos::MAX).expect("as many are pending as ever");
        queue.push(queue.now() + Nanos::from_secs(draws.exponential()), task);
    }
    start.elapsed().as_secs_f64() * 1e9 / holds as f64
}
