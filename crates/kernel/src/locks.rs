//! Locks on ranges of numbers, of which only those in use take memory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::Future;
use std::ops::RangeInclusive;
use std::pin::Pin;
use std::task::{Context, Poll};

use headrace_stats::Tally;
use headrace_units::Nanos;
use smallvec::SmallVec;

use crate::signal::Waits;
use crate::sim::Sim;
use crate::tasks::TaskId;

/// Locks on ranges of numbers. Ranges that overlap are held one after another, first come, first served; a range waits only for
/// those that came before it, so nobody can wait in a circle.
///
/// ```
/// use headrace_kernel::{Locks, Sim};
/// use headrace_units::Nanos;
///
/// let sim = Sim::new();
/// let parity = Locks::new(&sim, 64);
/// let (sim, parity) = (&sim, &parity);
/// for (from, to) in [(0, 8), (4, 12), (16, 24)] {
///     sim.spawn(async move {
///         let _held = parity.lock(from, to).await;
///         sim.delay(Nanos(5)).await;
///     });
/// }
/// sim.run(Nanos::MAX, u64::MAX);
/// assert_eq!(sim.now(), Nanos(10)); // The third overlaps neither of the others.
/// sim.finish();
/// ```
pub struct Locks<'m> {
    sim: &'m Sim<'m>,
    /// Ranges are looked up by the blocks of this many numbers that they touch.
    block: u64,
    state: RefCell<LockState>,
}

/// Use of locks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LockUse {
    /// Waiting ranges and their waiting times; zero for a range that did not wait.
    pub waits: Waits,
    /// Times for which ranges were held.
    pub holds: Tally,
    /// The time, in ns, for which somebody waited for a range in the most contended block.
    pub contended_ns: u64,
}

#[derive(Default)]
struct LockState {
    claims: Vec<RangeClaim>,
    free: Vec<u32>,
    blocks: BTreeMap<u64, BlockClaims>,
    /// The time for which blocks that nobody uses now were contended, of those with the longest.
    contended: BTreeMap<u64, u64>,
    used: LockUse,
}

/// A range that is held or waited for.
#[derive(Clone, Copy)]
struct RangeClaim {
    from: u64,
    to: u64,
    /// Earlier claims that overlap it, once for each block that they share.
    blockers: u32,
    task: TaskId,
    /// When it came; when it was granted, from then on.
    since: Nanos,
}

/// The claims on a block, in the order in which they came.
#[derive(Default)]
struct BlockClaims {
    claims: SmallVec<[u32; 4]>,
    /// Number of claims that wait, counted in the first block of each.
    waiting: u32,
    since: Nanos,
    contended_ns: u64,
}

/// Blocks whose time of contention is remembered when nobody uses them.
const REMEMBERED: usize = 64;

impl BlockClaims {
    fn contended_ns(&self, now: Nanos) -> u64 {
        let current = if self.waiting > 0 { (now - self.since).0 } else { 0 };
        self.contended_ns + current
    }

    fn waits(&mut self, now: Nanos, more: i32) {
        self.contended_ns = self.contended_ns(now);
        self.since = now;
        self.waiting = self.waiting.saturating_add_signed(more);
    }
}

impl LockState {
    fn new_claim(&mut self, claim: RangeClaim) -> u32 {
        let Some(free) = self.free.pop() else {
            self.claims.push(claim);
            return (self.claims.len() - 1) as u32;
        };
        self.claims[free as usize] = claim;
        free
    }

    /// Puts a claim behind those that came before it; counts which of them it waits for.
    fn enter(&mut self, number: u32, blocks: RangeInclusive<u64>) {
        let RangeClaim { from, to, .. } = self.claims[number as usize];
        let mut blockers = 0;
        for at in blocks {
            let block = self.blocks.entry(at).or_default();
            let overlaps = |other: &&u32| {
                let other = &self.claims[**other as usize];
                other.from < to && from < other.to
            };
            blockers += block.claims.iter().filter(overlaps).count() as u32;
            block.claims.push(number);
        }
        self.claims[number as usize].blockers = blockers;
    }

    /// Takes a claim away. Gives those who waited for nothing else.
    fn leave(&mut self, number: u32, blocks: RangeInclusive<u64>) -> Vec<TaskId> {
        let RangeClaim { from, to, .. } = self.claims[number as usize];
        let mut freed = Vec::new();
        for at in blocks {
            let Some(block) = self.blocks.get_mut(&at) else { continue };
            let Some(place) = block.claims.iter().position(|claim| *claim == number) else { continue };
            block.claims.remove(place);
            for &later in &block.claims[place..] {
                let later = &mut self.claims[later as usize];
                if later.from < to && from < later.to {
                    later.blockers -= 1;
                    if later.blockers == 0 {
                        freed.push(later.task);
                    }
                }
            }
            if block.claims.is_empty() {
                self.forget(at);
            }
        }
        self.free.push(number);
        freed
    }

    /// Removes a block that nobody uses; keeps in mind for how long it was contended.
    fn forget(&mut self, at: u64) {
        let breakdown = self.blocks.remove(&at).map_or(0, |block| block.contended_ns);
        if breakdown == 0 {
            return;
        }
        *self.contended.entry(at).or_default() += breakdown;
        if self.contended.len() > REMEMBERED
            && let Some((&least, _)) = self.contended.iter().min_by_key(|(_, breakdown)| **breakdown)
        {
            self.contended.remove(&least);
        }
    }

    fn most_contended_ns(&self, now: Nanos) -> u64 {
        let before = |at: &u64| self.contended.get(at).copied().unwrap_or_default();
        let used = self.blocks.iter().map(|(at, block)| before(at) + block.contended_ns(now));
        used.chain(self.contended.values().copied()).max().unwrap_or_default()
    }
}

impl<'m> Locks<'m> {
    /// Locks of which none is held. Ranges that share no block of `block` numbers are not compared.
    ///
    /// # Panics
    /// If `block` is zero.
    pub fn new(sim: &'m Sim<'m>, block: u64) -> Self {
        assert!(block > 0, "a block has at least one number");
        Self { sim, block, state: RefCell::default() }
    }

    /// Waits for the numbers `from` to before `to`, and holds them until what this gives is dropped.
    ///
    /// # Panics
    /// If the range is empty.
    pub fn lock(&'m self, from: u64, to: u64) -> Locking<'m> {
        assert!(from < to, "a lock on {from}..{to} holds nothing");
        Locking { locks: self, from, to, claim: None }
    }

    /// Returns the number of ranges held or waited for.
    pub fn held(&self) -> usize {
        let state = self.state.borrow();
        state.claims.len() - state.free.len()
    }

    /// Returns the use of the locks up to `now`.
    pub fn usage(&self, now: Nanos) -> LockUse {
        let state = self.state.borrow();
        LockUse { contended_ns: state.most_contended_ns(now), ..state.used }
    }

    fn blocks(&self, from: u64, to: u64) -> RangeInclusive<u64> {
        from / self.block..=(to - 1) / self.block
    }

    /// A claim begins to wait (`+1`) or no longer waits (`-1`).
    fn waits(&self, state: &mut LockState, from: u64, more: i32) {
        let now = self.sim.now();
        if more > 0 {
            state.used.waits.queue.up(now, 1);
        } else {
            state.used.waits.queue.down(now, 1);
        }
        state.blocks.entry(from / self.block).or_default().waits(now, more);
    }

    /// Takes a claim away, and lets those go on that waited for it alone.
    fn leave(&self, number: u32, from: u64, to: u64) {
        let freed = self.state.borrow_mut().leave(number, self.blocks(from, to));
        freed.into_iter().for_each(|task| self.sim.wake(task));
    }
}

/// A wait for a range. One that is dropped leaves the queue.
#[must_use = "nothing is waited for unless this is awaited"]
pub struct Locking<'m> {
    locks: &'m Locks<'m>,
    from: u64,
    to: u64,
    claim: Option<u32>,
}

impl<'m> Locking<'m> {
    /// Claims the range; returns true if it is held at once, false if it waits.
    fn enter(&mut self) -> bool {
        let (sim, from, to) = (self.locks.sim, self.from, self.to);
        let mut state = self.locks.state.borrow_mut();
        let number =
            state.new_claim(RangeClaim { from, to, blockers: 0, task: sim.current(), since: sim.now() });
        state.enter(number, self.locks.blocks(from, to));
        self.claim = Some(number);
        let at_once = state.claims[number as usize].blockers == 0;
        if at_once {
            state.used.waits.waits.record(Nanos::ZERO);
        } else {
            self.locks.waits(&mut state, from, 1);
        }
        at_once
    }

    /// Returns true if a range that was waited for is held now.
    fn look(&self, number: u32) -> bool {
        let mut state = self.locks.state.borrow_mut();
        let claim = state.claims[number as usize];
        if claim.blockers > 0 {
            return false;
        }
        let now = self.locks.sim.now();
        state.used.waits.waits.record(now - claim.since);
        self.locks.waits(&mut state, self.from, -1);
        state.claims[number as usize].since = now;
        true
    }
}

impl<'m> Future for Locking<'m> {
    type Output = Lock<'m>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Lock<'m>> {
        let granted = match self.claim {
            None => self.enter(),
            Some(number) => self.look(number),
        };
        if !granted {
            return Poll::Pending;
        }
        let claim = self.claim.take().expect("a range that is held was claimed");
        Poll::Ready(Lock { locks: self.locks, from: self.from, to: self.to, claim })
    }
}

impl Drop for Locking<'_> {
    fn drop(&mut self) {
        if let Some(claim) = self.claim
            && !self.locks.sim.is_finished()
        {
            self.locks.waits(&mut self.locks.state.borrow_mut(), self.from, -1);
            self.locks.leave(claim, self.from, self.to);
        }
    }
}

/// A range held; dropping it lets the next in.
#[must_use = "a lock dropped at once protects nothing"]
pub struct Lock<'m> {
    locks: &'m Locks<'m>,
    from: u64,
    to: u64,
    claim: u32,
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        if self.locks.sim.is_finished() {
            return;
        }
        let mut state = self.locks.state.borrow_mut();
        let held = self.locks.sim.now() - state.claims[self.claim as usize].since;
        state.used.holds.record(held);
        drop(state);
        self.locks.leave(self.claim, self.from, self.to);
    }
}
