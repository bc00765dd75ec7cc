//! Scrubbing: all units of each stripe are read and compared, chunk by chunk, while hosts go on.

use std::cell::Cell;

use headrace_kernel::Sim;
use headrace_units::{Bytes, BytesPerSecond, Fraction, Nanos};
use headrace_work::{Breakdown, Cause, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Array;
use super::layout::{DiskAccesses, Units, add};
use crate::block::paced_work::{Pace, PacedWork, Precedence, RETRY};
use crate::core::health::Event;

/// A scrub: all units of each stripe are read and compared with its parity, or with each other if they are copies. Disks that have failed
/// are skipped. A scrub pauses while the array rebuilds, and corrects nothing, because latent errors are not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScrubSpec {
    /// Time at which it begins.
    pub starts: Nanos,
    /// Share of the stripes before the one that is scrubbed first; after the last stripe it goes on with the first. Disks
    /// are slower towards their last stripes, so half stands for the mean of a scrub that takes longer than the run.
    pub position: Fraction,
    /// Maximum rate at which each disk is read. Default: limited by the disks only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Minimum rate at which each disk is read while hosts keep the array busy. Only for `foreground_first`. The default is
    /// that of Linux md.
    pub at_least: BytesPerSecond,
    /// Priority of the scrub against host requests.
    pub priority: Precedence,
    /// Number of bytes of a disk that are read together. The default is that of rebuilds, an estimate.
    pub chunk: Bytes,
    /// Number of chunks in progress at a time. The default is that of rebuilds, an estimate.
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: u32,
}

impl Default for ScrubSpec {
    fn default() -> Self {
        Self {
            starts: Nanos::ZERO,
            position: Fraction(0.0),
            rate: None,
            at_least: BytesPerSecond(1e6),
            priority: Precedence::default(),
            chunk: Bytes(1 << 20),
            in_flight: 2,
        }
    }
}

impl ScrubSpec {
    pub(super) const fn pace(&self) -> Pace {
        Pace { rate: self.rate, at_least: self.at_least, priority: self.priority, cause: Cause::Scrub }
    }
}

/// A scrub, and what is recorded of it.
pub(super) struct Scrub<'m> {
    spec: ScrubSpec,
    pub background: PacedWork<'m>,
    /// Stripes that were begun, and those that are done.
    begun: Cell<u64>,
    pub done: Cell<u64>,
    /// Bytes read.
    pub bytes: Cell<u64>,
}

impl<'m> Scrub<'m> {
    pub fn new(sim: &'m Sim<'m>, spec: ScrubSpec) -> Self {
        let background = PacedWork::new(sim, spec.pace());
        Self { spec, background, begun: Cell::new(0), done: Cell::new(0), bytes: Cell::new(0) }
    }
}

impl<'m> Array<'m> {
    /// Begins the scrub at its time.
    pub(super) async fn begin_scrub(&'m self, scrub: &'m Scrub<'m>) {
        self.context.shared.sim.until(scrub.spec.starts).await;
        self.context.shared.note(self.context.id, Event::Begins("scrub"));
        self.go_on_scrubbing();
    }

    /// Goes on with the scrub, if there is one that has begun and is not done.
    pub(super) fn go_on_scrubbing(&'m self) {
        let Some(scrub) = &self.scrub else { return };
        let sim = self.context.shared.sim;
        if sim.now() < scrub.spec.starts || scrub.begun.get() == self.members.stripes() {
            return;
        }
        let at_work = scrub.background.workers.replace(scrub.spec.in_flight);
        (at_work..scrub.spec.in_flight).for_each(|_| sim.spawn(self.scrub_chunks(scrub)));
    }

    async fn scrub_chunks(&'m self, scrub: &'m Scrub<'m>) {
        while let Some((from, to)) = self.next_to_scrub(scrub) {
            scrub.background.give_way(self.bytes_each(to - from), &self.hosts).await;
            self.scrub_chunk(scrub, from, to).await;
        }
        let is_last = scrub.background.leave();
        if is_last && scrub.background.end() && scrub.done.get() == self.members.stripes() {
            self.context.shared.note(self.context.id, Event::Ends("scrub"));
        }
    }

    /// The stripes to scrub next; none during a rebuild, where data cannot be read, and where all are begun.
    fn next_to_scrub(&self, scrub: &Scrub) -> Option<(u64, u64)> {
        let (begun, stripes) = (scrub.begun.get(), self.members.stripes());
        let waits = self.rebuild.background.workers.get() > 0 || !self.bay.is_reachable();
        if begun == stripes || waits || !self.members.have_all() || self.context.shared.is_interrupted() {
            return None;
        }
        let first = (scrub.spec.position.0 * stripes as f64) as u64;
        let from = (first + begun) % stripes;
        let many = self.stripes_of_chunk(scrub.spec.chunk).min(stripes - from).min(stripes - begun);
        scrub.begun.set(begun + many);
        Some((from, from + many))
    }

    /// Bytes that a number of stripes have on each disk, in the mean.
    fn bytes_each(&self, stripes: u64) -> Bytes {
        let layout = &self.plan.layout;
        Bytes(stripes * layout.unit() * layout.width() / layout.disks())
    }

    async fn scrub_chunk(&'m self, scrub: &'m Scrub<'m>, from: u64, to: u64) {
        let (sim, unit) = (self.context.shared.sim, self.plan.layout.unit());
        let _held = self.stripes.lock(from * unit, to * unit).await;
        let began = sim.now();
        scrub.background.begin();
        scrub.background.spend(self.bytes_each(to - from));
        let (reads, bytes) = self.units_to_scrub(from, to);
        let request = scrub.background.access(self.context.stream("scrub"));
        let mut breakdown = Breakdown::from(began);
        let lost = self.have_done(reads, &request, 0, &mut breakdown).await;
        let bytes = bytes - lost.iter().map(|lost| lost.block.bytes).sum::<u64>();
        self.compute(if self.plan.layout.computes() { bytes } else { 0 }, &request, &mut breakdown).await;
        if sim.now() == began {
            sim.delay(RETRY).await;
        }
        scrub.done.set(scrub.done.get() + to - from);
        scrub.bytes.set(scrub.bytes.get() + bytes);
    }

    /// Returns the reads of all units that can be read of the stripes `from` to before `to`, and their bytes.
    fn units_to_scrub(&self, from: u64, to: u64) -> (DiskAccesses, u64) {
        let (layout, mut reads) = (&self.plan.layout, DiskAccesses::new());
        for (stripe, n) in (from..to).flat_map(|stripe| (0..layout.width()).map(move |n| (stripe, n))) {
            let (disk, row) = layout.at(stripe, n);
            if let Some(device) = self.members.device(stripe, disk, row) {
                add(&mut reads, device, Op::Read, row * layout.unit(), layout.unit());
            }
        }
        let bytes = reads.iter().map(|(_, read)| read.bytes).sum();
        (reads, bytes)
    }
}
