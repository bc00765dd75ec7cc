//! A write-ahead log with group commit: a write is a record that commits. While one group of commits is being made stable others gather, and
//! are the next group: its records are appended in one write, and one flush makes them stable (DeWitt and others, "Implementation techniques
//! for main memory database systems", 1984).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use headrace_kernel::{Condition, Round, Sim};
use headrace_stats::Gauge;
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Breakdown, Op, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::core::component::{Component, Plan, Spec, Theory};
use crate::core::context::{Edge, NodeContext};
use crate::core::graph::{Lowering, View};
use crate::core::meter::{Activity, Meter, add, by_hosts};
use crate::core::ranges::Ranges;
use crate::core::theory::{Features, Load};
use crate::core::work::Serve;

/// A write-ahead log on another component. Each write to it is a record that commits: it is appended, and answered when it is stable, at
/// whatever address. Commits that come while others are being made stable gather, and share the next write and flush (group commit).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WriteAheadLogSpec {
    /// Component that holds the log.
    pub to: String,
    /// First byte of the log there.
    #[serde(default)]
    pub at: Bytes,
    /// Size of the log, after which it begins again. Default: to the end of the component.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Bytes>,
    /// Unit of writes to the log. A group begins with the block that the group before filled in part. Default: 4 KiB.
    #[serde(default = "four_kib")]
    pub block: Bytes,
    /// Time for which the first commit of a group waits for others: PostgreSQL's `commit_delay`, MySQL's `binlog_group_commit_sync_delay`.
    /// Default: 0; a group is what came during the flush before.
    #[serde(default)]
    pub window: Nanos,
    /// Maximum number of commits in a group, which then waits no longer; 1 makes each stable by itself. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub most: Option<u32>,
}

const fn four_kib() -> Bytes {
    Bytes(4096)
}

impl Spec for WriteAheadLogSpec {
    type Plan = WriteAheadLogPlan;

    fn lower(&self, at: &mut Lowering) -> Option<WriteAheadLogPlan> {
        let target = at.reached("to", &self.to)?;
        let (room, block) = (at.capacity(target).0.saturating_sub(self.at.0), self.block.0);
        let size = self.size.map_or(room, |size| size.0);
        if block == 0 {
            return at.refuse("block", "must be at least 1 B", None);
        }
        if size > room || size < block {
            let message = format!(
                "a log of {} does not fit: `{}` has {} from there on",
                Bytes(size),
                self.to,
                Bytes(room)
            );
            return at.refuse("size", message, Some("give at least one `block`, and at most what is there"));
        }
        if self.most == Some(0) {
            return at.refuse("most", "must be at least 1", None);
        }
        let plan = WriteAheadLogPlan {
            at: self.at.0,
            size: size / block * block,
            block,
            window: self.window,
            most: self.most,
        };
        let capacity = Bytes(plan.size);
        at.uses(vec![target]);
        at.holds(capacity);
        Some(plan)
    }
}

/// A log whose place is known.
#[derive(Clone, Debug)]
pub struct WriteAheadLogPlan {
    at: u64,
    /// Whole blocks.
    size: u64,
    block: u64,
    window: Nanos,
    /// Commits in a group; `None` for no limit.
    most: Option<u32>,
}

impl Theory for WriteAheadLogPlan {
    fn features(&self) -> Features {
        Features {
            stands_before: Some(0),
            is_limit: self.most.is_some(),
            shares_work: true,
            ..Features::default()
        }
    }

    fn time_fields(&self) -> &'static [&'static str] {
        &["window"]
    }

    /// Commits that come together share writes and flushes.
    fn scales(&self, _: View, _: &Load) -> bool {
        false
    }
}

/// A log in a simulation.
pub struct WriteAheadLog<'m> {
    context: &'m NodeContext<'m>,
    sim: &'m Sim<'m>,
    plan: &'m WriteAheadLogPlan,
    device: &'m Edge<'m>,
    /// Bytes of the records that no group has taken, and when they came, in that order.
    waiting: RefCell<VecDeque<(u64, Nanos)>>,
    /// Number of commits that wait, and of those in the group that is being made stable.
    queue: RefCell<Gauge>,
    group: RefCell<Gauge>,
    /// Time that commits waited for their group, in ns.
    waited: Cell<u128>,
    /// Where the time of the last group went.
    account: RefCell<Breakdown>,
    /// Commits that came, and those of them whose group is done: their numbers are below it.
    came: Cell<u64>,
    done: Cell<u64>,
    /// The commits of the last group that failed, from the first to one behind the last.
    failed: Cell<(u64, u64)>,
    is_full: Round<'m>,
    is_done: Condition<'m>,
    /// End of the last record, from the beginning of the log.
    end: Cell<u64>,
    groups: Cell<u64>,
    written: Cell<u64>,
    appended: Cell<u64>,
}

impl Plan for WriteAheadLogPlan {
    type Component<'m> = WriteAheadLog<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> WriteAheadLog<'m> {
        let uses = context.uses();
        let sim = context.shared.sim;
        WriteAheadLog {
            context,
            sim,
            plan: self,
            device: &uses[0],
            waiting: RefCell::default(),
            queue: RefCell::default(),
            group: RefCell::default(),
            waited: Cell::default(),
            account: RefCell::new(Breakdown::from(Nanos::ZERO)),
            came: Cell::default(),
            done: Cell::default(),
            failed: Cell::default(),
            is_full: Round::new(sim),
            is_done: Condition::new(sim),
            end: Cell::default(),
            groups: Cell::default(),
            written: Cell::default(),
            appended: Cell::default(),
        }
    }
}

impl<'m> WriteAheadLog<'m> {
    /// Answers a commit: waits until its group is stable. The first of a group leads it: it writes and flushes for all.
    async fn commit(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let mine = self.came.replace(self.came.get() + 1);
        self.waiting.borrow_mut().push_back((request.work.bytes, self.sim.now()));
        self.queue.borrow_mut().up(self.sim.now(), 1);
        if self.has_full_group() {
            self.is_full.end();
        }
        self.is_done.wait_until(|| self.done.get() >= mine).await;
        if self.done.get() == mine {
            self.lead(request).await;
        }
        // Every commit of a group waits for it to begin, and then for its write and its flush.
        let group = self.account.borrow();
        breakdown.waited(self.context.id, group.began());
        breakdown.follow(&group);
        let (first, end) = self.failed.get();
        if (first..end).contains(&mine) {
            breakdown.fail();
        }
    }

    fn has_full_group(&self) -> bool {
        self.plan.most.is_some_and(|most| self.waiting.borrow().len() >= most as usize)
    }

    /// Makes the next group stable, for all in it.
    async fn lead(&'m self, request: &Request<Block>) {
        self.gather().await;
        let mut account = Breakdown::from(self.sim.now());
        let (commits, bytes) = self.take_group();
        let first = self.done.get();
        self.group.borrow_mut().up(self.sim.now(), commits);
        self.append(bytes, request, &mut account).await;
        self.group.borrow_mut().down(self.sim.now(), commits);
        if account.has_failed() {
            self.failed.set((first, first + commits));
        }
        self.account.replace(account);
        add(&self.groups, 1);
        self.done.set(first + commits);
        self.is_done.has_changed();
    }

    /// Waits for the window, unless the group is full before; and for all that commits at this instant.
    async fn gather(&'m self) {
        if !self.has_full_group() && self.plan.window > Nanos::ZERO {
            self.sim.within(self.sim.now() + self.plan.window, self.is_full.wait()).await;
        }
        let mut seen = 0;
        while seen < self.came.get() {
            seen = self.came.get();
            self.sim.settled().await;
        }
    }

    /// Takes the commits that come next, as many as a group may have and the log can hold: how many, and their bytes.
    fn take_group(&self) -> (u64, u64) {
        let (now, mut waiting) = (self.sim.now(), self.waiting.borrow_mut());
        let most = self.plan.most.map_or(u64::MAX, u64::from);
        let (mut commits, mut bytes) = (0, 0);
        while let Some((next, came)) = waiting.front().copied() {
            let fits = commits < most && bytes + next <= self.plan.size - self.plan.block;
            if commits > 0 && !fits {
                break;
            }
            waiting.pop_front();
            self.waited.set(self.waited.get() + u128::from((now - came).0));
            (commits, bytes) = (commits + 1, bytes + next);
        }
        self.queue.borrow_mut().down(now, commits);
        (commits, bytes)
    }

    /// Appends records of this number of bytes in one write, and flushes the device.
    async fn append(&'m self, bytes: u64, request: &Request<Block>, breakdown: &mut Breakdown) {
        let write = self.next_write(bytes);
        add(&self.appended, bytes);
        add(&self.written, write.bytes);
        self.ask(&request.child(0, write), breakdown).await;
        if !breakdown.has_failed() {
            self.ask(&request.child(1, Block::FLUSH), breakdown).await;
        }
    }

    /// The write of the next records: from the block that is filled in part, or from the beginning again.
    fn next_write(&self, bytes: u64) -> Block {
        let WriteAheadLogPlan { at, size, block, .. } = *self.plan;
        let end = self.end.get();
        let from = if (end + bytes).next_multiple_of(block) > size { 0 } else { end };
        self.end.set(from + bytes);
        let first = from / block * block;
        Block {
            op: Op::Write,
            address: at + first,
            bytes: (from + bytes).next_multiple_of(block).min(size) - first,
        }
    }

    /// Asks the device. Boxed, since the device is a component as this is.
    async fn ask(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        Box::pin(self.device.serve(request, breakdown)).await;
    }
}

impl<'m> Component<'m> for WriteAheadLog<'m> {
    /// Places in a group, and the commits that wait for one; nothing where groups have no limit.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let (queue, group) = (*self.queue.borrow(), *self.group.borrow());
        let held = group.area(now);
        Some(Activity {
            servers: self.plan.most?.into(),
            busy: by_hosts(held),
            queue: queue.area(now),
            waiting: queue.value(),
            visits: self.came.get() - queue.value(),
            waited: self.waited.get(),
            served: self.done.get(),
            service: held,
            ..Activity::default()
        })
    }

    /// What it answered was flushed.
    fn at_risk(&self, _: &Ranges, _: &dyn Fn(usize, &Ranges) -> Ranges) -> Option<Ranges> {
        Some(Ranges::default())
    }

    fn meters(&self, _: Nanos, put: &mut dyn FnMut(&'static str, Meter)) {
        put("commits_per_flush", Meter::Share(self.done.get(), self.groups.get()));
        put("write_amplification", Meter::Share(self.written.get(), self.appended.get()));
    }
}

impl<'m> Serve<'m, Block> for WriteAheadLog<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let Block { op, address, bytes } = request.work;
        match op {
            Op::Write => self.commit(request, breakdown).await,
            // What was acknowledged is stable.
            Op::Flush => {}
            Op::Read | Op::Discard => {
                let there = Block { op, address: self.plan.at + address, bytes };
                self.ask(&request.with(there), breakdown).await;
            }
        }
    }
}
