//! A copy of one component to another, while hosts use it: a migration to new disks, or a restore that serves users before it is done.
//!
//! The design is that of dm-clone in Linux (Documentation/admin-guide/device-mapper/dm-clone.rst): the source is never written. What is not
//! copied yet is read from the source. A write goes to the destination; where it covers a chunk that is not copied only in part, the chunk
//! is copied first.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use headrace_kernel::{Locks, Sim, WorkerPool};
use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Block, Breakdown, Cause, Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::paced_work::{Pace, PacedWork, Precedence, RETRY};
use crate::core::component::{Component, Plan, Spec, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::Lowering;
use crate::core::health::Event;
use crate::core::meter::{Meter, add};
use crate::core::ranges::Ranges;
use crate::core::theory::Features;
use crate::core::work::Serve;

/// A copy of one component to another, chunk by chunk, while hosts use it. It can be used from the start: what is not copied yet is read from
/// the source, and writes go to the destination.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CopySpec {
    /// Component to copy, by its name in `system`. It is only read.
    pub from: String,
    /// Component that becomes its copy.
    pub to: String,
    /// Bytes to copy, from the first. Default: all that `from` holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Bytes>,
    /// Time at which copying begins. Until then, chunks are only copied because hosts write to them.
    #[serde(default)]
    pub starts: Nanos,
    /// Maximum rate of the copy. Default: limited by the components only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<BytesPerSecond>,
    /// Minimum rate while hosts keep the component busy. Only for `foreground_first`. The default is that of rebuilds in Linux md.
    #[serde(default = "megabyte_per_second")]
    pub at_least: BytesPerSecond,
    /// Priority of the copy against host requests that come through it.
    #[serde(default)]
    pub priority: Precedence,
    /// Number of bytes that are read, then written, together. The default is that of rebuilds, an estimate.
    #[serde(default = "mib")]
    pub chunk: Bytes,
    /// Number of chunks in progress at a time. The default is that of rebuilds, an estimate: one is read while the other is written.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 1024))]
    pub in_flight: u32,
}

/// After this time a worker whose chunk could not be copied takes another, as a client does whose request fails: a rule of ours.
const AFTER_FAILURE: Nanos = Nanos(1_000_000_000);

/// Maximum number of blocks by which locks on chunks are looked up, an estimate: few of them are in use at a time, and a write of any size
/// touches at most this many.
const MOST_LOCK_BLOCKS: u64 = 1024;

const fn megabyte_per_second() -> BytesPerSecond {
    BytesPerSecond(1e6)
}

const fn mib() -> Bytes {
    Bytes(1 << 20)
}

const fn two() -> u32 {
    2
}

impl Spec for CopySpec {
    type Plan = CopyPlan;

    fn lower(&self, at: &mut Lowering) -> Option<CopyPlan> {
        let (from, to) = (at.reached("from", &self.from)?, at.reached("to", &self.to)?);
        if self.from == self.to {
            return at.refuse("to", "a component cannot be copied to itself", Some("name another component"));
        }
        let (there, room) = (at.capacity(from), at.capacity(to));
        let bytes = self.bytes.unwrap_or(there);
        if bytes.0 == 0 || self.chunk.0 == 0 {
            let field = if self.chunk.0 == 0 { "chunk" } else { "bytes" };
            return at.refuse(field, "there is nothing to copy", Some("give at least 1 B"));
        }
        for (name, holds) in [(&self.from, there), (&self.to, room)] {
            if bytes > holds {
                let message = format!("{bytes} are to be copied, and `{name}` holds {holds}");
                return at.refuse("bytes", message, Some("give at most what both hold"));
            }
        }
        let plan = CopyPlan { spec: self.clone(), bytes: bytes.0 };
        at.uses(vec![from, to]);
        at.holds(bytes);
        Some(plan)
    }
}

/// A copy whose size is known.
#[derive(Clone, Debug)]
pub struct CopyPlan {
    spec: CopySpec,
    bytes: u64,
}

impl CopyPlan {
    const fn pace(&self) -> Pace {
        let CopySpec { rate, at_least, priority, .. } = self.spec;
        Pace { rate, at_least, priority, cause: Cause::Migration }
    }

    const fn chunks(&self) -> u64 {
        self.bytes.div_ceil(self.spec.chunk.0)
    }

    /// The bytes of the chunks `from` to before `to`.
    fn block(&self, op: Op, from: u64, to: u64) -> Block {
        let (address, chunk) = (from * self.spec.chunk.0, self.spec.chunk.0);
        Block { op, address, bytes: (to * chunk).min(self.bytes) - address }
    }

    /// The chunks that an access touches: the first, and the one after the last.
    fn touched(&self, block: Block) -> (u64, u64) {
        (block.address / self.spec.chunk.0, block.end().div_ceil(self.spec.chunk.0))
    }

    /// The chunks that an access covers.
    fn covered(&self, block: Block) -> (u64, u64) {
        let from = block.address.div_ceil(self.spec.chunk.0);
        let to = if block.end() == self.bytes { self.chunks() } else { block.end() / self.spec.chunk.0 };
        (from, to.max(from))
    }

    /// The parts of an access that lie in chunks that are `copied`, and those that do not, in turn.
    fn parts(&self, block: Block, copied: &Ranges) -> SmallVec<[(bool, Block); 2]> {
        let (mut parts, mut address, chunk) = (SmallVec::new(), block.address, self.spec.chunk.0);
        while address < block.end() {
            let here = address / chunk;
            let border = copied.next_border(here).map_or(u64::MAX, |border| border.saturating_mul(chunk));
            let end = border.min(block.end());
            parts.push((copied.contains(here), Block { address, bytes: end - address, ..block }));
            address = end;
        }
        parts
    }
}

impl Theory for CopyPlan {
    fn features(&self) -> Features {
        Features { changes: true, ..Features::default() }
    }
}

/// A copy in a simulation.
pub struct Copy<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m CopyPlan,
    source: &'m Edge<'m>,
    destination: &'m Edge<'m>,
    work: PacedWork<'m>,
    /// Chunks that the destination has, and those that are being copied in the background.
    copied: RefCell<Ranges>,
    taken: RefCell<Ranges>,
    /// The chunk to go on with.
    next: Cell<u64>,
    /// True if a chunk was copied since `next` was last the first one.
    progressed: Cell<bool>,
    /// Held by who copies or writes chunks that are not copied.
    locks: Locks<'m>,
    /// Requests of hosts in flight.
    hosts: Cell<u64>,
    /// Bytes copied, and bytes of them for which a write waited.
    bytes: Cell<u64>,
    bytes_first: Cell<u64>,
    parts: OnceCell<WorkerPool<'m, Part, Breakdown>>,
}

/// A part of a read.
struct Part {
    is_copied: bool,
    request: Request<Block>,
    /// True once a part of the read has failed.
    failed: Rc<Cell<bool>>,
}

impl Plan for CopyPlan {
    type Component<'m> = Copy<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Copy<'m> {
        let (uses, sim) = (context.uses(), context.shared.sim);
        Copy {
            context,
            sim,
            plan: self,
            source: &uses[0],
            destination: &uses[1],
            work: PacedWork::new(sim, self.pace()),
            copied: RefCell::default(),
            taken: RefCell::default(),
            next: Cell::default(),
            progressed: Cell::default(),
            locks: Locks::new(sim, self.chunks().div_ceil(MOST_LOCK_BLOCKS)),
            hosts: Cell::default(),
            bytes: Cell::default(),
            bytes_first: Cell::default(),
            parts: OnceCell::new(),
        }
    }
}

impl<'m> Copy<'m> {
    /// Begins to copy at its time.
    async fn start(&'m self) {
        self.sim.until(self.plan.spec.starts).await;
        self.context.shared.note(self.context.id, Event::Begins("copy"));
        self.go_on();
    }

    /// Has as many chunks copied at a time as there may be, where copying has begun and is not done.
    fn go_on(&'m self) {
        if self.sim.now() < self.plan.spec.starts || self.is_done() {
            return;
        }
        self.next.set(0);
        let at_work = self.work.workers.replace(self.plan.spec.in_flight);
        (at_work..self.plan.spec.in_flight).for_each(|_| self.sim.spawn(self.copy_chunks()));
    }

    fn is_done(&self) -> bool {
        self.copied.borrow().count() == self.plan.chunks()
    }

    async fn copy_chunks(&'m self) {
        while let Some(chunk) = self.take_chunk() {
            let bytes = Bytes(self.plan.block(Op::Read, chunk, chunk + 1).bytes);
            self.work.give_way(bytes, &self.hosts).await;
            self.copy_in_background(chunk).await;
            self.taken.borrow_mut().remove(chunk, chunk + 1);
            if !self.copied.borrow().contains(chunk) {
                self.sim.delay(AFTER_FAILURE).await;
            }
        }
        if self.work.leave() && self.work.end() && self.is_done() {
            self.context.shared.note(self.context.id, Event::Ends("copy"));
        }
    }

    /// Takes the next chunk that is neither copied nor taken; after the last, once more from the first where any was copied since.
    fn take_chunk(&self) -> Option<u64> {
        if self.context.shared.is_interrupted() {
            return None;
        }
        let chunk = self.next_chunk(self.next.get());
        let chunk = chunk.or_else(|| self.next_chunk(0).filter(|_| self.progressed.replace(false)))?;
        self.next.set(chunk + 1);
        self.taken.borrow_mut().insert(chunk, chunk + 1);
        Some(chunk)
    }

    /// Returns the first chunk at `from` or after it that is neither copied nor taken.
    fn next_chunk(&self, from: u64) -> Option<u64> {
        let (copied, taken) = (self.copied.borrow(), self.taken.borrow());
        let mut chunk = copied.next_gap(from);
        while taken.contains(chunk) {
            chunk = copied.next_gap(taken.next_gap(chunk));
        }
        (chunk < self.plan.chunks()).then_some(chunk)
    }

    async fn copy_in_background(&'m self, chunk: u64) {
        let _held = self.locks.lock(chunk, chunk + 1).await;
        if self.copied.borrow().contains(chunk) {
            return;
        }
        self.work.begin();
        let began = self.sim.now();
        let request = self.work.access(self.context.stream("copy"));
        self.work.spend(Bytes(self.plan.block(Op::Read, chunk, chunk + 1).bytes));
        self.copy_chunk(chunk, &request, &mut Breakdown::from(began)).await;
        if self.sim.now() == began {
            self.sim.delay(RETRY).await;
        }
    }

    /// Copies a chunk, as work of a request.
    async fn copy_chunk(&'m self, chunk: u64, request: &Request<Block>, breakdown: &mut Breakdown) {
        let block = |op| self.plan.block(op, chunk, chunk + 1);
        self.ask(self.source, &request.child(2 * chunk, block(Op::Read)), breakdown).await;
        if !breakdown.has_failed() {
            self.ask(self.destination, &request.child(2 * chunk + 1, block(Op::Write)), breakdown).await;
        }
        if !breakdown.has_failed() {
            add(&self.bytes, block(Op::Read).bytes);
            self.progressed.set(true);
            self.copied.borrow_mut().insert(chunk, chunk + 1);
        }
    }

    /// Asks one of the two. Boxed, since it is a component as this is.
    async fn ask(&'m self, edge: &'m Edge<'m>, request: &Request<Block>, breakdown: &mut Breakdown) {
        Box::pin(edge.serve(request, breakdown)).await;
    }

    /// Reads each part from where it is.
    async fn read(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let parts = self.plan.parts(request.work, &self.copied.borrow());
        if let [(is_copied, _)] = parts[..] {
            return self.ask(self.place(is_copied), request, breakdown).await;
        }
        self.context.shared.divides(parts.len() as u64).await;
        let pool = self.parts.get_or_init(|| WorkerPool::new(self.sim, move |part| self.part(part)));
        let failed = Rc::new(Cell::new(false));
        let parts = parts.into_iter().zip(0..);
        let all = parts.map(|((is_copied, part), n)| Part {
            is_copied,
            request: request.child(n, part),
            failed: Rc::clone(&failed),
        });
        if let Some(slowest) = pool.all(all).await {
            breakdown.follow(&slowest);
        }
        if failed.get() {
            breakdown.fail();
        }
    }

    async fn part(&'m self, part: Part) -> Breakdown {
        let mut breakdown = Breakdown::from(self.sim.now());
        self.ask(self.place(part.is_copied), &part.request, &mut breakdown).await;
        if breakdown.has_failed() {
            part.failed.set(true);
        }
        breakdown
    }

    const fn place(&self, is_copied: bool) -> &'m Edge<'m> {
        if is_copied { self.destination } else { self.source }
    }

    /// Writes to, or discards from, the destination, and copies first what the access leaves of chunks that are not copied.
    async fn write(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let (from, to) = self.plan.touched(request.work);
        if self.copied.borrow().next_gap(from) >= to {
            return self.ask(self.destination, request, breakdown).await;
        }
        let _held = self.locks.lock(from, to).await;
        breakdown.waited(self.context.id, self.sim.now());
        let (covered, end) = self.plan.covered(request.work);
        let ends = [(from < covered).then_some(from), (end < to).then_some(to - 1)];
        for chunk in ends.into_iter().flatten() {
            self.copy_first(chunk, request, breakdown).await;
        }
        if breakdown.has_failed() {
            return;
        }
        self.ask(self.destination, request, breakdown).await;
        if !breakdown.has_failed() {
            self.copied.borrow_mut().insert(covered, end);
        }
    }

    /// Copies a chunk of which a request writes a part, unless it is copied.
    async fn copy_first(&'m self, chunk: u64, request: &Request<Block>, breakdown: &mut Breakdown) {
        if breakdown.has_failed() || self.copied.borrow().contains(chunk) {
            return;
        }
        self.copy_chunk(chunk, request, breakdown).await;
        if !breakdown.has_failed() {
            add(&self.bytes_first, self.plan.block(Op::Read, chunk, chunk + 1).bytes);
        }
    }
}

impl<'m> Component<'m> for Copy<'m> {
    fn begin(&'m self) {
        self.sim.spawn(self.start());
    }

    fn recovered(&'m self) {
        self.go_on();
    }

    fn state(&self) -> Option<&'static str> {
        (!self.is_done()).then_some("copying")
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("copy_progress", Meter::Share(self.copied.borrow().count(), self.plan.chunks()));
        put("copied_bytes", Meter::Count(self.bytes.get()));
        put("copied_on_write_bytes", Meter::Count(self.bytes_first.get()));
        put("copy_s", Meter::Share(self.work.took(now).0, 1_000_000_000));
    }
}

impl<'m> Serve<'m, Block> for Copy<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.hosts.set(self.hosts.get() + 1);
        match request.work.op {
            Op::Read => self.read(request, breakdown).await,
            Op::Write | Op::Discard => self.write(request, breakdown).await,
            Op::Flush => self.ask(self.destination, request, breakdown).await,
        }
        self.hosts.set(self.hosts.get() - 1);
        if self.hosts.get() == 0 {
            self.work.hosts_are_idle();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each byte of an access is in one part, by whether its chunk is copied; what is covered of the chunks that it touches lies within it.
        #[test]
        fn each_byte_is_where_its_chunk_is(
            (bytes, chunk) in (1u64..200, 1u64..40),
            (at, long) in (0.0f64..1.0, 0.0f64..1.0),
            done in prop::collection::vec((0u64..60, 0u64..9), 0..6),
        ) {
            let spec = serde_json::json!({"from": "a", "to": "b", "chunk": format!("{chunk} B")});
            let plan = CopyPlan { spec: serde_json::from_value(spec).unwrap(), bytes };
            let mut copied = Ranges::default();
            done.iter().for_each(|(from, many)| copied.insert(*from, from + many));
            let address = (at * bytes as f64) as u64;
            let access = Block { op: Op::Read, address, bytes: 1 + (long * (bytes - address - 1) as f64) as u64 };
            let mut next = access.address;
            for (is_copied, part) in plan.parts(access, &copied) {
                prop_assert_eq!(part.address, next);
                prop_assert!((part.address..part.end()).all(|byte| copied.contains(byte / chunk) == is_copied));
                next = part.end();
            }
            prop_assert_eq!(next, access.end());
            let is_within = |n: u64| access.address <= n * chunk && ((n + 1) * chunk).min(bytes) <= access.end();
            let ((from, to), (covered, end)) = (plan.touched(access), plan.covered(access));
            prop_assert!((from..to).all(|n| is_within(n) == (covered..end).contains(&n)), "{access:?} {covered} {end}");
        }
    }
}
