//! The joins of a worker pool: how many jobs each still waits for, and who waits.

use std::task::Poll;

use crate::tasks::{NOBODY, TaskId};

/// The number of no join: nobody waits for the job.
pub(crate) const NO_JOIN: u32 = u32::MAX;

/// A slab of joins; those that are over are used again.
pub(crate) struct Joins<T> {
    joins: Vec<JoinState<T>>,
    free: Vec<u32>,
}

struct JoinState<T> {
    /// Number of jobs that must still complete.
    wanted: usize,
    /// Number of jobs in flight.
    pending: usize,
    parent: TaskId,
    /// The output of the last wanted job.
    last: Option<T>,
    /// The members that began a job, each by a wake that is stale once the job is done.
    members: Vec<TaskId>,
    /// True while the [`Join`](crate::Join) exists.
    open: bool,
}

impl<T> Default for Joins<T> {
    fn default() -> Self {
        Self { joins: Vec::new(), free: Vec::new() }
    }
}

impl<T> Joins<T> {
    /// A join that waits for `wanted` jobs.
    #[inline]
    pub fn open(&mut self, wanted: usize) -> u32 {
        let join = self.free.pop().unwrap_or_else(|| self.add());
        let state = &mut self.joins[join as usize];
        (state.wanted, state.parent, state.open) = (wanted, NOBODY, true);
        join
    }

    #[cold]
    fn add(&mut self) -> u32 {
        let members = Vec::new();
        self.joins.push(JoinState {
            wanted: 0,
            pending: 0,
            parent: NOBODY,
            last: None,
            members,
            open: false,
        });
        (self.joins.len() - 1) as u32
    }

    #[inline]
    pub fn job_begins(&mut self, join: u32, member: TaskId) {
        let state = &mut self.joins[join as usize];
        state.pending += 1;
        state.members.push(member);
    }

    /// Makes the join wait for all jobs in flight.
    #[inline]
    pub fn wait_for_all(&mut self, join: u32) {
        let state = &mut self.joins[join as usize];
        state.wanted = state.pending;
    }

    /// Makes the join wait for no further jobs.
    pub fn want_no_more(&mut self, join: u32) {
        self.joins[join as usize].wanted = 0;
    }

    /// Counts a job as done. Gives the parent if its wait is over, and an output that nobody wants.
    #[inline]
    pub fn job_done(&mut self, join: u32, output: T) -> (Option<TaskId>, Option<T>) {
        let state = &mut self.joins[join as usize];
        state.pending -= 1;
        if state.wanted == 0 {
            self.free_if_over(join);
            return (None, Some(output));
        }
        state.wanted -= 1;
        let unwanted = state.last.replace(output);
        let ends = state.wanted == 0 && state.parent != NOBODY;
        (ends.then_some(state.parent), unwanted)
    }

    #[inline]
    pub fn poll(&mut self, join: u32, parent: TaskId) -> Poll<Option<T>> {
        let state = &mut self.joins[join as usize];
        if state.wanted == 0 {
            return Poll::Ready(state.last.take());
        }
        state.parent = parent;
        Poll::Pending
    }

    /// Notes that nobody waits any more. The first value is true if the join is over; the second is the output that was not taken, if there is one.
    #[inline]
    pub fn close(&mut self, join: u32) -> (bool, Option<T>) {
        let state = &mut self.joins[join as usize];
        let (over, unused) = (state.wanted == 0, state.last.take());
        state.open = !over;
        self.free_if_over(join);
        (over, unused)
    }

    /// Forgets a join that is not over. Gives the members to be ended.
    pub fn cancel(&mut self, join: u32) -> Vec<TaskId> {
        let state = &mut self.joins[join as usize];
        let members = std::mem::take(&mut state.members);
        (state.wanted, state.pending, state.open) = (0, 0, false);
        self.free_if_over(join);
        members
    }

    #[inline]
    fn free_if_over(&mut self, join: u32) {
        let state = &mut self.joins[join as usize];
        if state.pending == 0 && !state.open {
            state.members.clear();
            self.free.push(join);
        }
    }
}
