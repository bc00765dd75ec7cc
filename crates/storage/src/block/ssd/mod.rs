//! A solid-state drive: a port, electronics, and dies behind channels; a mapping, a buffer for writes, and garbage collection.
//!
//! A read waits for its die and its channel where its data is on flash, and then crosses the port. A write is done when it is in the
//! buffer; each die takes programs from there, and moves data to erase blocks when it runs out of empty ones. Where the flash can
//! suspend programs and erasures, reads do not wait for them.

mod amplification;
mod buffer;
mod die;
mod flash;
mod ftl;
mod geometry;
mod interface;
mod mapping;
mod model;
mod numbers;
mod reading;
mod scattered;
mod spec;
mod victims;

use std::cell::{Cell, RefCell};
use std::sync::OnceLock;

use headrace_kernel::{Pool, Sim};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Cause, Op, Request};

use crate::core::component::{Component, Plan};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Activity, Balance, Meter};
use crate::core::ranges::Ranges;
use crate::core::work::Serve;
use crate::fabric::wire::Wire;

pub use interface::Interface;
pub use numbers::{BufferNumbers, FlashNumbers, SsdNumbers, SuspendNumbers};
pub use spec::SsdSpec;
pub use victims::Collection;

use buffer::PageBuffer;
use flash::{Flash, Row};
use ftl::{DieWork, Ftl, Own, PagesWritten, Past};
use geometry::PAGE;
use mapping::PageLocation;

/// A drive whose numbers are known.
#[derive(Clone, Debug)]
pub struct SsdPlan {
    numbers: SsdNumbers,
    /// Pages that hold data when the run begins.
    filled: u32,
    overwritten: f64,
    wire: Wire,
    /// Write amplification in the steady state, once theory has asked for it.
    amplification: OnceLock<f64>,
}

/// Number of states that drives of one model share which were overwritten before the run.
const STATES: u32 = 4;

impl SsdPlan {
    fn new(numbers: SsdNumbers, spec: &SsdSpec, wire: Wire) -> Self {
        let filled = (numbers.logical_pages() as f64 * spec.written.get()) as u32;
        Self { numbers, filled, overwritten: spec.overwritten, wire, amplification: OnceLock::new() }
    }

    fn latency(&self, op: Op) -> Nanos {
        match op {
            Op::Read => self.numbers.read_latency.get(),
            Op::Write | Op::Discard | Op::Flush => self.numbers.write_latency.get(),
        }
    }

    /// Its translation layer in the state in which a run begins.
    fn ftl(&self, context: &NodeContext) -> Ftl {
        let numbers = &self.numbers;
        let (state, first) = (context.id.0 % STATES, context.id.0 / STATES);
        let past = Past {
            geometry: numbers.geometry(),
            logical: numbers.logical_pages() as u32,
            filled: self.filled,
            overwritten: self.overwritten,
            collection: numbers.flash.collection,
            writes: context.shared.stream(&format!("overwritten {state}")),
        };
        let (choices, places) = (context.stream("collection"), context.stream("overwritten"));
        past.state(Own { choices, places, first }, &|| context.shared.is_interrupted())
    }
}

/// A solid-state drive in a simulation.
pub struct Ssd<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m SsdPlan,
    /// One wire, or one each way.
    ports: &'m [Edge<'m>],
    /// The controller, where it limits commands.
    commands: Option<&'m Edge<'m>>,
    tags: Pool<'m>,
    flash: RefCell<Flash<'m>>,
    buffer: Box<PageBuffer<'m>>,
    ftl: RefCell<Option<Box<Ftl>>>,
    reads: Cell<u64>,
    flash_reads: Cell<u64>,
    /// Reads that found no data on flash.
    empty_reads: Cell<u64>,
    /// Pages that discards covered.
    discarded: Cell<u64>,
}

impl Plan for SsdPlan {
    type Component<'m> = Ssd<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Ssd<'m> {
        let uses = context.uses();
        let (sim, numbers) = (context.shared.sim, &self.numbers);
        let (tags, geometry) = (u64::from(numbers.tags()), numbers.geometry());
        let pages = numbers.buffer.size.get().0 / PAGE;
        let (ports, commands) = uses.split_at(uses.len() - usize::from(numbers.command_time().is_some()));
        Ssd {
            context,
            sim,
            plan: self,
            ports,
            commands: commands.first(),
            tags: Pool::new(sim, tags, tags),
            flash: RefCell::new(Flash::new(numbers, &context.health)),
            buffer: Box::new(PageBuffer::new(sim, pages, geometry.unit, numbers.buffer.halves)),
            ftl: RefCell::default(),
            reads: Cell::default(),
            flash_reads: Cell::default(),
            empty_reads: Cell::default(),
            discarded: Cell::default(),
        }
    }
}

impl<'m> Ssd<'m> {
    fn port(&self, op: Op) -> &'m Edge<'m> {
        &self.ports[if self.ports.len() > 1 { usize::from(op != Op::Read) } else { 0 }]
    }

    /// Returns the latency of its controller.
    fn latency(&self, op: Op) -> Nanos {
        self.context.health.slowed(self.plan.latency(op))
    }

    /// Works with the translation layer, which is made when it is first needed.
    #[inline]
    fn with_ftl<T>(&self, work: impl FnOnce(&mut Ftl) -> T) -> T {
        let mut ftl = self.ftl.borrow_mut();
        work(ftl.get_or_insert_with(|| Box::new(self.plan.ftl(self.context))))
    }

    /// The pages that a request touches.
    fn pages(block: Block) -> std::ops::Range<u32> {
        (block.address / PAGE) as u32..block.end().div_ceil(PAGE) as u32
    }

    /// Takes data in, once there is room for it in the buffer.
    async fn write(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.port(Op::Write).pass(request, breakdown);
        self.sim.until(breakdown.until()).await;
        self.complete_pages(request.work).await;
        for logical in Self::pages(request.work) {
            self.buffer.reserve().await;
            self.take(logical);
        }
        breakdown.waited(self.context.id, self.sim.now());
        self.sim.delay(self.latency(Op::Write)).await;
        breakdown.served(self.context.id, self.sim.now());
        if request.is_durable() {
            self.make_stable(breakdown).await;
        }
    }

    /// Answers a flush.
    async fn flush(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        self.port(Op::Flush).pass(request, breakdown);
        self.sim.until(breakdown.until()).await;
        self.sim.delay(self.latency(Op::Flush)).await;
        breakdown.served(self.context.id, self.sim.now());
        self.make_stable(breakdown).await;
    }

    /// Waits until all that the buffer holds would survive a power failure.
    async fn make_stable(&'m self, breakdown: &mut Breakdown) {
        if !self.plan.numbers.buffer.power_loss_protection {
            self.buffer.flush().await;
            breakdown.waited(self.context.id, self.sim.now());
        }
    }

    /// Forgets the pages that lie wholly in the range. Those that are still in the buffer go to flash all the same.
    async fn discard(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let block = request.work;
        self.port(block.op).pass(&request.with(Block { bytes: 0, ..block }), breakdown);
        self.sim.until(breakdown.until()).await;
        let mut pages = block.address.div_ceil(PAGE) as u32..(block.end() / PAGE) as u32;
        self.discarded.set(self.discarded.get() + pages.len() as u64);
        self.with_ftl(|ftl| pages.by_ref().for_each(|logical| ftl.discard(logical)));
        self.sim.delay(self.latency(block.op)).await;
        breakdown.served(self.context.id, self.sim.now());
    }

    /// Reads the pages that a write covers in part, where they are on flash.
    async fn complete_pages(&'m self, block: Block) {
        let pages = Self::pages(block);
        let (first, last) = (pages.start, pages.end - 1);
        let whole = [block.address.is_multiple_of(PAGE), block.end().is_multiple_of(PAGE)];
        let cut = [!whole[0] || (!whole[1] && first == last), !whole[1] && first != last];
        let ends = [first, last].into_iter().zip(cut).filter(|(_, cut)| *cut);
        let found: Vec<Row> = ends.filter_map(|(page, _)| self.row(page)).collect();
        for (at, row) in self.on_dies(&found, self.sim.now()) {
            self.sim.until(at).await;
            let here = self.flash.borrow_mut().carry(self.sim.now(), row);
            self.sim.until(here).await;
        }
    }

    /// Puts a page into the buffer, for which there is room. One that is there already is overwritten.
    fn take(&self, logical: u32) {
        let there = self.with_ftl(|ftl| {
            let there = ftl.location(logical) == PageLocation::Buffer;
            ftl.take(logical);
            there
        });
        if there { self.buffer.give_back() } else { self.buffer.push(logical) }
    }

    /// Background work of a die: programs what is due, after its part of garbage collection.
    async fn drain(&'m self, die: u32) {
        loop {
            let (first, pages) = self.buffer.next().await;
            let work = self.with_ftl(|ftl| {
                let works = pages.iter().map(|logical| ftl.write(*logical, die));
                works.fold(DieWork::default(), DieWork::and)
            });
            let steps = self.flash.borrow().steps(work);
            for time in steps {
                self.hold(die, time, Cause::GarbageCollection).await;
            }
            let time = self.flash.borrow_mut().program(self.sim.now(), die, pages.len() as u64 * PAGE);
            self.hold(die, time, Cause::Destage).await;
            self.buffer.done(first, pages.len());
        }
    }

    /// Returns what was written since the run began.
    fn written(&self) -> PagesWritten {
        self.ftl.borrow().as_ref().map_or_else(PagesWritten::default, |ftl| ftl.written())
    }

    /// Holds a die for a time when its turn comes: reads that came before go first, and others may suspend it.
    async fn hold(&'m self, die: u32, time: Nanos, cause: Cause) {
        let mut done = self.flash.borrow_mut().hold(self.sim.now(), die, time, cause);
        while self.sim.now() < done {
            self.sim.until(done).await;
            done = self.flash.borrow().held_until(die);
        }
    }
}

impl<'m> Component<'m> for Ssd<'m> {
    fn activity(&self, now: Nanos) -> Option<Activity> {
        Some(self.flash.borrow().activity(now))
    }

    fn at_risk(&self, written: &Ranges, _: &dyn Fn(usize, &Ranges) -> Ranges) -> Option<Ranges> {
        let is_kept = self.plan.numbers.buffer.power_loss_protection;
        Some(if is_kept { Ranges::default() } else { self.buffer.unwritten().intersect(written) })
    }

    fn balance(&self) -> Option<Balance> {
        Some(self.buffer.balance())
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let written = self.written();
        put("write_amplification", Meter::Share(written.host + written.moved, written.host));
        put("buffer", self.buffer.fill(now));
        put("erases", Meter::Count(written.erased));
        put("busiest_channel", Meter::Fill(self.flash.borrow().busiest_channel(now) as u64, now.0));
        self.flash
            .borrow()
            .suspensions()
            .into_iter()
            .for_each(|times| put("suspensions", Meter::Count(times)));
        put("flash_reads_per_read", Meter::Share(self.flash_reads.get(), self.reads.get()));
    }

    /// Where hosts write, once every die has run out of empty blocks.
    fn is_settled(&self) -> bool {
        let collects = self.ftl.borrow().as_ref().is_none_or(|ftl| ftl.collects());
        collects || self.written().host == 0
    }

    fn remarks(&self, _: Nanos) -> Vec<String> {
        let written = self.written();
        let (path, discarded) = (self.context.path, self.discarded.get());
        let help = if self.plan.overwritten > 0.0 { "run longer" } else { "set `overwritten: 4`" };
        let fresh = (!self.is_settled()).then(|| {
            let begun = if written.erased == 0 { "not begun" } else { "begun on some dies only" };
            format!(
                "{path}: garbage collection has {begun}, since writes went to blocks that were erased before the run: its steady state is \
                 slower; {help}"
            )
        });
        let turns = (written.host + discarded) as f64 / self.plan.numbers.logical_pages() as f64;
        let early = (discarded > 0 && turns < 2.0).then(|| {
            format!(
                "{path}: writes and discards have gone over {:.0} % of the drive: garbage collection has not settled before they have gone \
                 over it about twice; run longer",
                turns * 100.0
            )
        });
        fresh.into_iter().chain(early).chain(self.reads_of_nothing()).collect()
    }

    fn begin(&'m self) {
        for die in 0..self.plan.numbers.flash.dies.get() {
            self.sim.spawn(self.drain(die));
        }
    }
}

impl<'m> Serve<'m, Block> for Ssd<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if matches!(request.work.op, Op::Read | Op::Write) {
            self.context.shared.divides(request.work.bytes / PAGE).await;
        }
        self.tags.take(1).await;
        breakdown.waited(self.context.id, self.sim.now());
        if let Some(commands) = self.commands {
            commands.pass(&request.with(Block { bytes: 0, ..request.work }), breakdown);
            self.sim.until(breakdown.until()).await;
        }
        match request.work.op {
            Op::Read => {
                self.reads.set(self.reads.get() + 1);
                self.read(request, breakdown).await;
            }
            Op::Write => self.write(request, breakdown).await,
            Op::Discard => self.discard(request, breakdown).await,
            Op::Flush => self.flush(request, breakdown).await,
        }
        self.tags.put(1);
    }
}
