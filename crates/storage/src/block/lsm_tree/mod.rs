//! A store of keys and values as a log-structured merge tree: puts gather in memory and are merged into larger and larger levels later, by
//! compactions, which slow puts down where they fall behind (O'Neil and others, "The log-structured merge-tree", 1996; RocksDB's leveled
//! compaction and write stalls).

mod levels;
mod spec;

use std::cell::{Cell, OnceCell, RefCell};

use headrace_kernel::{Pool, Round, Sim, WorkerPool, subkey};
use headrace_stats::Gauge;
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Cause, Op, Request};

use crate::core::component::{Component, Plan, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::meter::{Activity, Meter, add};
use crate::core::ranges::Ranges;
use crate::core::theory::Features;
use crate::core::work::Serve;
use levels::{Compaction, Levels, Newest, Shape, Table};
pub use spec::LsmTreeSpec;

/// A store in which nothing is left to go wrong.
#[derive(Clone, Debug)]
pub struct LsmTreePlan {
    spec: LsmTreeSpec,
    shape: Shape,
    /// Size of the component that puts are logged to, after which records begin at its start again; 0 where there is none.
    log: u64,
}

impl Theory for LsmTreePlan {
    fn features(&self) -> Features {
        Features { addressed: false, ..Features::default() }
    }
}

/// The log among the components that a store uses.
const LOG: usize = 1;

/// Tables moved between two looks at whether the run must end.
const MOVES_BETWEEN_LOOKS: u64 = 256;

/// A store in a simulation.
pub struct LsmTree<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m LsmTreePlan,
    device: &'m Edge<'m>,
    /// The device of the first levels, where there is one.
    fast: Option<&'m Edge<'m>>,
    log: Option<&'m Edge<'m>>,
    /// End of the last record of the log.
    log_end: Cell<u64>,
    levels: RefCell<Levels<'m>>,
    /// Bytes in the memtable that is written to, and in those that are full, oldest first.
    active: Cell<u64>,
    full: RefCell<Vec<u64>>,
    is_flushing: Cell<bool>,
    /// Number of memtables that became tables, and of those that were full.
    flushed: Cell<u64>,
    filled: Cell<u64>,
    /// The head of the line of puts that wait: it alone looks at what has changed.
    line: Pool<'m>,
    /// When the next put may be made while puts are slowed down.
    slow_until: Cell<Nanos>,
    /// When a table could not be read or written: no put is taken from then on.
    broken: Cell<Option<Nanos>>,
    changed: Round<'m>,
    pools: OnceCell<Pools<'m>>,
    counts: Counts,
}

/// Workers beside the callers: one makes tables of memtables, others merge them.
struct Pools<'m> {
    flushes: WorkerPool<'m, ()>,
    compactions: WorkerPool<'m, ()>,
}

#[derive(Default)]
struct Counts {
    put: Cell<u64>,
    written: Cell<u64>,
    compactions: Cell<u64>,
    gets: Cell<u64>,
    /// Compactions at work, tables of level 0, bytes to be compacted; and 1 while puts are slowed down, or stopped.
    working: RefCell<Gauge>,
    level0: RefCell<Gauge>,
    debt: RefCell<Gauge>,
    /// Bytes of tables that found no room on the device of the first levels.
    spilled: RefCell<Gauge>,
    slowed: RefCell<Gauge>,
    stopped: RefCell<Gauge>,
    requests: Cell<u64>,
}

impl Plan for LsmTreePlan {
    type Component<'m> = LsmTree<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> LsmTree<'m> {
        let uses = context.uses();
        let sim = context.shared.sim;
        LsmTree {
            context,
            sim,
            plan: self,
            device: &uses[0],
            fast: self.spec.fast.as_ref().and_then(|_| uses.last()),
            log: self.spec.log.as_ref().and_then(|_| uses.get(LOG)),
            log_end: Cell::default(),
            levels: RefCell::new(Levels::new(&self.shape)),
            active: Cell::default(),
            full: RefCell::default(),
            is_flushing: Cell::default(),
            flushed: Cell::default(),
            filled: Cell::default(),
            line: Pool::new(sim, 1, 1),
            slow_until: Cell::default(),
            broken: Cell::default(),
            changed: Round::new(sim),
            pools: OnceCell::new(),
            counts: Counts::default(),
        }
    }
}

/// Sets a level.
fn set(gauge: &RefCell<Gauge>, now: Nanos, value: u64) {
    let mut gauge = gauge.borrow_mut();
    let old = gauge.value();
    gauge.down(now, old);
    gauge.up(now, value);
}

/// A part of a table that is read or written at once.
struct Piece {
    table: Table,
    /// Its first byte from the table's on, and its size.
    first: u64,
    bytes: u64,
    /// The last key in it: compactions go by keys.
    last: f64,
}

/// The pieces of a table.
fn pieces(table: Table, most: u64) -> impl Iterator<Item = Piece> {
    (0..table.bytes.div_ceil(most)).map(move |n| {
        let bytes = most.min(table.bytes - n * most);
        let end = (n * most + bytes) as f64 / table.bytes as f64;
        Piece { table, first: n * most, bytes, last: table.from + (table.to - table.from) * end }
    })
}

impl<'m> LsmTree<'m> {
    /// The device of a table.
    fn home(&self, table: Table) -> &'m Edge<'m> {
        self.fast.filter(|_| self.plan.shape.is_fast(table)).unwrap_or(self.device)
    }

    /// Takes a put: it is logged, and is in the memtable then.
    async fn put(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let bytes = request.work.bytes;
        self.wait_for_compactions(bytes, breakdown).await;
        if let Some(log) = self.log {
            let bytes = bytes.min(self.plan.log);
            let record = Block { op: Op::Write, address: self.next_record(bytes), bytes };
            Box::pin(log.serve(&request.with(record), breakdown)).await;
        }
        if breakdown.has_failed() || self.is_broken() {
            return breakdown.fail();
        }
        add(&self.counts.put, bytes);
        self.active.set(self.active.get() + bytes);
        if self.active.get() >= self.plan.spec.memtable.0 {
            self.fill();
        }
    }

    /// First byte of the next record of the log, which has its records one after another.
    fn next_record(&self, bytes: u64) -> u64 {
        let end = self.log_end.get();
        let address = if end + bytes > self.plan.log { 0 } else { end };
        self.log_end.set(address + bytes);
        address
    }

    fn is_broken(&self) -> bool {
        self.broken.get().is_some()
    }

    /// Waits while puts are stopped, and takes a turn while they are slowed down.
    async fn wait_for_compactions(&'m self, bytes: u64, breakdown: &mut Breakdown) {
        self.line.take(1).await;
        while self.is_stopped() && !self.is_broken() {
            self.changed.wait().await;
        }
        self.line.put(1);
        if self.is_slowed() {
            let turn = self.slow_until.get().max(self.sim.now());
            self.slow_until.set(turn + self.plan.spec.slow_rate.time_for(Bytes(bytes)));
            self.sim.until(turn).await;
        }
        breakdown.waited(self.context.id, self.sim.now());
    }

    fn is_stopped(&self) -> bool {
        let (spec, levels) = (&self.plan.spec, self.levels.borrow());
        let memory =
            self.full.borrow().len() + 1 >= spec.memtables as usize && self.active.get() >= spec.memtable.0;
        memory || levels.in_level0() >= spec.level0.stop_at as usize || levels.debt() >= spec.debt.stop_at.0
    }

    fn is_slowed(&self) -> bool {
        let (spec, levels) = (&self.plan.spec, self.levels.borrow());
        levels.in_level0() >= spec.level0.slow_at as usize || levels.debt() >= spec.debt.slow_at.0
    }

    /// Takes the memtable that is written to as full, if another may follow it.
    fn fill(&'m self) {
        if self.active.get() > 0 && self.full.borrow().len() + 1 < self.plan.spec.memtables as usize {
            self.full.borrow_mut().push(self.active.replace(0));
            add(&self.filled, 1);
            self.go_on();
        } else {
            self.note_levels();
        }
    }

    /// Notes the levels that are measured.
    fn note_levels(&self) {
        let now = self.sim.now();
        set(&self.counts.level0, now, self.levels.borrow().in_level0() as u64);
        set(&self.counts.debt, now, self.levels.borrow().debt());
        set(&self.counts.spilled, now, self.levels.borrow().spilled());
        set(&self.counts.stopped, now, self.is_stopped().into());
        set(&self.counts.slowed, now, self.is_slowed().into());
    }

    /// Tells those who wait that something has changed, and starts what can be done now.
    fn go_on(&'m self) {
        self.note_levels();
        self.changed.end();
        let Some(pools) = self.pools.get() else { return };
        if !self.is_broken() && !self.is_flushing.get() && !self.full.borrow().is_empty() {
            self.is_flushing.set(true);
            pools.flushes.start(());
        }
        if !self.is_broken() && self.counts.working.borrow().value() < u64::from(self.plan.spec.compactions) {
            pools.compactions.start(());
        }
    }

    /// The size of the oldest full memtable.
    fn oldest(&self) -> Option<u64> {
        self.full.borrow().first().copied()
    }

    /// Makes tables of full memtables, oldest first, each flushed on the device.
    async fn flush_memtables(&'m self) {
        while let Some(bytes) = self.oldest() {
            let Some(table) = self.levels.borrow_mut().reserve(bytes) else { break };
            for piece in self.pieces(&[table]) {
                self.ask(Op::Write, &piece, Cause::Destage).await;
            }
            self.flush(&[table], Cause::Destage).await;
            if self.is_broken() {
                break;
            }
            self.full.borrow_mut().remove(0);
            self.levels.borrow_mut().add(table);
            add(&self.flushed, 1);
            if self.active.get() >= self.plan.spec.memtable.0 {
                self.full.borrow_mut().push(self.active.replace(0));
                add(&self.filled, 1);
            }
            self.go_on();
        }
        self.is_flushing.set(false);
    }

    /// Moves tables that have no others to be merged with, and returns the compaction that is most due then, if one is.
    fn next_merge(&self) -> Option<Compaction> {
        for moved in 1_u64.. {
            let begun = self.levels.borrow_mut().begin()?;
            if !begun.only_moves() {
                return Some(begun);
            }
            self.levels.borrow_mut().end(begun);
            if moved % MOVES_BETWEEN_LOOKS == 0 && self.context.shared.is_interrupted() {
                return None;
            }
        }
        None
    }

    /// Does the compaction that is most due, if one is.
    async fn compact(&'m self) {
        let Some(begun) = self.next_merge() else { return };
        self.counts.working.borrow_mut().up(self.sim.now(), 1);
        self.go_on();
        self.merge(&begun).await;
        // On a device that takes no time the next compaction would begin within this one.
        self.sim.settled().await;
        self.counts.working.borrow_mut().down(self.sim.now(), 1);
        if !self.is_broken() {
            add(&self.counts.compactions, 1);
            self.levels.borrow_mut().end(begun);
            self.go_on();
        }
    }

    /// Reads tables in the order of their keys, and writes what they become as soon as all keys before are read; then they are flushed.
    async fn merge(&'m self, compaction: &Compaction) {
        let read = [&compaction.upper[..], &compaction.lower[..]].concat();
        let mut writes = self.pieces(&compaction.made).into_iter().peekable();
        for piece in self.pieces(&read) {
            self.ask(Op::Read, &piece, Cause::Compaction).await;
            if let Some(rate) = self.plan.spec.merge_rate {
                self.sim.delay(rate.time_for(Bytes(piece.bytes))).await;
            }
            while let Some(made) = writes.next_if(|made| made.last <= piece.last) {
                self.ask(Op::Write, &made, Cause::Compaction).await;
            }
        }
        for made in writes {
            self.ask(Op::Write, &made, Cause::Compaction).await;
        }
        self.flush(&compaction.made, Cause::Compaction).await;
    }

    /// The pieces of tables, in the order of their last keys.
    fn pieces(&self, tables: &[Table]) -> Vec<Piece> {
        let most = self.plan.spec.request.0;
        let mut all: Vec<_> = tables.iter().flat_map(|table| pieces(*table, most)).collect();
        all.sort_by(|a, b| a.last.total_cmp(&b.last));
        all
    }

    /// Reads or writes a piece of a table. One that is larger than its room, made by a large put, begins there anew.
    async fn ask(&'m self, op: Op, piece: &Piece, cause: Cause) {
        let room = self.plan.shape.slot;
        let first = (piece.first % room).min(room.saturating_sub(piece.bytes));
        let address = self.plan.shape.address(piece.table) + first;
        self.ask_of(self.home(piece.table), Block { op, address, bytes: piece.bytes }, cause).await;
    }

    /// Makes tables stable, wherever they are.
    async fn flush(&'m self, tables: &[Table], cause: Cause) {
        let are_fast = |is_fast| tables.iter().any(|table| self.plan.shape.is_fast(*table) == is_fast);
        if let Some(fast) = self.fast.filter(|_| are_fast(true)) {
            self.ask_of(fast, Block::FLUSH, cause).await;
        }
        if self.fast.is_none() || are_fast(false) {
            self.ask_of(self.device, Block::FLUSH, cause).await;
        }
    }

    /// Asks a device. An error breaks the store, as it does RocksDB's, which takes no put after one.
    async fn ask_of(&'m self, device: &'m Edge<'m>, piece: Block, cause: Cause) {
        if self.is_broken() {
            return;
        }
        let key = self.context.stream("tables").key(self.counts.requests.get());
        add(&self.counts.requests, 1);
        let mut breakdown = Breakdown::from(self.sim.now());
        Box::pin(device.serve(&Request::new(key, piece).because(cause), &mut breakdown)).await;
        if piece.op == Op::Write {
            add(&self.counts.written, piece.bytes);
        }
        if breakdown.has_failed() {
            self.broken.set(Some(self.sim.now()));
            self.changed.end();
        }
    }

    /// Answers a get: reads the block of a table that has the key, unless a memtable has it.
    async fn get(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        add(&self.counts.gets, 1);
        let mut draws = self.context.stream("gets").of(subkey(request.key, 0));
        let memory = self.active.get() + self.full.borrow().iter().sum::<u64>();
        let (key, chance) = (draws.uniform(), draws.uniform());
        let newest = self.levels.borrow().newest(memory, key, chance);
        let Newest::Table(table) = newest else {
            return breakdown.served(self.context.id, self.sim.now());
        };
        let block = self.plan.spec.block.0;
        let bytes = request.work.bytes.next_multiple_of(block).min(self.plan.shape.slot);
        let first = draws.below((self.plan.shape.slot - bytes) / block + 1) * block;
        let there = Block { op: Op::Read, address: self.plan.shape.address(table) + first, bytes };
        Box::pin(self.home(table).serve(&request.with(there), breakdown)).await;
    }

    /// Makes what was put before stable: by the log, or as tables.
    async fn make_stable(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        if let Some(log) = self.log {
            return Box::pin(log.serve(request, breakdown)).await;
        }
        let wanted = self.filled.get() + u64::from(self.active.get() > 0);
        while self.flushed.get() < wanted && !self.is_broken() {
            if self.filled.get() < wanted {
                self.fill();
            }
            self.changed.wait().await;
        }
        breakdown.waited(self.context.id, self.sim.now());
        if self.is_broken() {
            return breakdown.fail();
        }
        let device = self.fast.unwrap_or(self.device);
        Box::pin(device.serve(&request.child(u64::MAX, Block::FLUSH), breakdown)).await;
    }

    /// Returns the bytes that are left to compact, if there are more and more of them although compactions hardly rest.
    fn growing_debt(&self, now: Nanos) -> Option<u64> {
        let mean = |gauge: &RefCell<Gauge>| gauge.borrow().area(now) as f64 / (now.0 as f64).max(1.0);
        let busy = mean(&self.counts.working) / f64::from(self.plan.spec.compactions);
        let debt = self.counts.debt.borrow().value();
        let is_much = debt > LITTLE_DEBT * self.plan.spec.table.0 && busy > MOSTLY_BUSY;
        (is_much && debt as f64 > GROWS * mean(&self.counts.debt)).then_some(debt)
    }
}

/// A debt above its mean by this ratio grows: from nothing, and evenly, it ends at twice its mean.
const GROWS: f64 = 1.5;
/// A debt of fewer tables comes and goes.
const LITTLE_DEBT: u64 = 16;
/// Number of times that level 0 is compacted before devices are about as busy as in the long run.
const CYCLES: u64 = 4;
/// Compactions that are at work for this share of the time have hardly any left for a debt.
const MOSTLY_BUSY: f64 = 0.75;

impl<'m> Component<'m> for LsmTree<'m> {
    /// Nothing, if all that its log could hold is stable; else it cannot tell which puts have become tables.
    fn at_risk(&self, _: &Ranges, ask: &dyn Fn(usize, &Ranges) -> Ranges) -> Option<Ranges> {
        self.log?;
        let mut records = Ranges::default();
        records.insert(0, self.plan.log);
        ask(LOG, &records).is_empty().then(Ranges::default)
    }

    fn remarks(&self, now: Nanos) -> Vec<String> {
        let grows = self.growing_debt(now).map(|debt| {
            format!(
                "{}: {} are left to compact, and there are more and more: in the long run puts wait for compactions",
                self.context.path,
                Bytes(debt)
            )
        });
        let broken = self.broken.get().map(|at| {
            format!(
                "{}: at {at} its device failed to read or write a table; all puts fail from then on, as those of RocksDB do until it is reopened",
                self.context.path
            )
        });
        let partly = self.plan.spec.partly_fast().map(|held| format!("{}: {held}", self.context.path));
        broken.into_iter().chain(grows).chain(partly).collect()
    }

    /// What puts cause comes later: before some compactions of level 0, it is not known.
    fn is_settled(&self) -> bool {
        let spec = &self.plan.spec;
        let cycle = u64::from(spec.level0.compact_at) * spec.memtable.0;
        let put = self.counts.put.get();
        (put == 0 || put >= CYCLES.saturating_mul(cycle)) && self.growing_debt(self.sim.now()).is_none()
    }

    /// The compactions that may run at once, which wait for the device for most of their time.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let working = *self.counts.working.borrow();
        let busy = Cause::ALL.map(|cause| if cause == Cause::Compaction { working.area(now) } else { 0 });
        let done = self.counts.compactions.get();
        Some(Activity {
            servers: self.plan.spec.compactions.into(),
            busy,
            visits: done + working.value(),
            served: done,
            service: working.area(now),
            ..Activity::default()
        })
    }

    fn meters(&self, now: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        let of = |gauge: &RefCell<Gauge>| gauge.borrow().area(now);
        put("stopped", Meter::Fill(of(&self.counts.stopped) as u64, now.0));
        put("slowed_down", Meter::Fill(of(&self.counts.slowed) as u64, now.0));
        put("write_amplification", Meter::Share(self.counts.written.get(), self.counts.put.get()));
        put("level0_tables", Meter::Area(of(&self.counts.level0)));
        put("bytes_to_compact", Meter::Area(of(&self.counts.debt)));
        put("compactions", Meter::Count(self.counts.compactions.get()));
        if self.fast.is_some() {
            put("spilled_bytes", Meter::Area(of(&self.counts.spilled)));
        }
    }

    fn begin(&'m self) {
        self.pools.get_or_init(|| Pools {
            flushes: WorkerPool::new(self.sim, move |()| self.flush_memtables()),
            compactions: WorkerPool::new(self.sim, move |()| self.compact()),
        });
    }
}

impl<'m> Serve<'m, Block> for LsmTree<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        match request.work.op {
            Op::Read => self.get(request, breakdown).await,
            Op::Write | Op::Discard => {
                self.put(request, breakdown).await;
                if self.log.is_none() && request.is_durable() && !breakdown.has_failed() {
                    self.make_stable(request, breakdown).await;
                }
            }
            Op::Flush => self.make_stable(request, breakdown).await,
        }
    }
}
