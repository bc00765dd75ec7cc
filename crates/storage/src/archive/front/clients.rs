//! Clients of a front: how fast their hosts are, and which of their attempts stand still or fail.

use std::cell::Cell;

use headrace_kernel::RngStream;
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{FileAct, FileOp, Request};

use super::spec::{BetweenHosts, FrontSpec};
use crate::core::context::NodeContext;

/// Clients in a simulation. What belongs to an attempt is drawn by its key, so that nothing else changes it.
pub(crate) struct Clients<'m> {
    spec: &'m FrontSpec,
    hosts: RngStream,
    latencies: RngStream,
    stalls: RngStream,
    failures: RngStream,
    /// Attempts that failed.
    pub failed: Cell<u64>,
}

/// What an attempt that fails does.
pub(crate) struct FailedAttempt {
    /// Share of its data that it moves.
    pub moves: f64,
    /// Time until the next attempt.
    pub retry_after: Nanos,
}

impl<'m> Clients<'m> {
    pub fn of(spec: &'m FrontSpec, context: &NodeContext) -> Self {
        let stream = |purpose| context.stream(purpose);
        Self {
            spec,
            hosts: stream("hosts"),
            latencies: stream("latencies"),
            stalls: stream("stalls"),
            failures: stream("failures"),
            failed: Cell::new(0),
        }
    }

    /// The most that a client of a host sends or receives, in bytes a second.
    pub fn rate(&self, host: u64) -> f64 {
        self.spec.client_rate.map_or(f64::INFINITY, BytesPerSecond::get) * self.factors(host)[0]
    }

    /// Bytes of the only block of a file that is in flight; `None` for any number of them.
    pub fn block(&self) -> Option<u64> {
        self.spec.block_in_flight.map(|Bytes(block)| block)
    }

    /// Time from the port to the first byte: the latency of the host, and perhaps a stall.
    pub(super) fn latency(&self, request: &Request<FileOp>) -> Nanos {
        let FileOp { act, host, .. } = request.work;
        let latency = if act == FileAct::Put { &self.spec.put_latency } else { &self.spec.get_latency };
        let drawn = latency.draw(&mut self.latencies.of(request.key));
        let of_host = match self.factors(host)[1] {
            1.0 => drawn,
            factor => Nanos::from_ns(drawn.ns() * factor),
        };
        of_host + self.stall(request)
    }

    fn stall(&self, request: &Request<FileOp>) -> Nanos {
        let Some(stalls) = &self.spec.stalls else { return Nanos::ZERO };
        let mut draws = self.stalls.of(request.key);
        let share = stalls.share_of(request.work.bytes);
        if draws.chance(share) { stalls.time.draw(&mut draws) } else { Nanos::ZERO }
    }

    /// Maximum number of attempts.
    pub fn attempts(&self) -> u32 {
        self.spec.failures.as_ref().map_or(0, |failures| failures.attempts)
    }

    /// What an attempt does if it fails; `None` if it succeeds.
    pub fn failure(&self, attempt: &Request<FileOp>) -> Option<FailedAttempt> {
        let failures = self.spec.failures.as_ref()?;
        let mut draws = self.failures.of(attempt.key);
        if !draws.chance(failures.share.get()) {
            return None;
        }
        self.failed.set(self.failed.get() + 1);
        Some(FailedAttempt { moves: draws.uniform(), retry_after: failures.retry_after.draw(&mut draws) })
    }

    /// Factors of the rate and the latencies of a host: lognormal with mean one.
    fn factors(&self, host: u64) -> [f64; 2] {
        let Some(BetweenHosts { rate, latency }) = self.spec.between_hosts else { return [1.0; 2] };
        let mut draws = self.hosts.of(host);
        [rate, latency].map(|cv| {
            let variance = libm::log1p(cv * cv);
            libm::exp(variance.sqrt() * draws.normal() - variance / 2.0)
        })
    }
}
