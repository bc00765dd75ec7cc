//! Doing several things at once and going on when the last is done.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::queue::TaskId;
use crate::sim::{NOBODY, Sim};

/// What the branches of a join share.
struct Scope<T> {
    pending: usize,
    parent: TaskId,
    last: Option<T>,
}

impl<'m> Sim<'m> {
    /// Runs all `branches` at once and gives, when the last is done, what that last one gave: it is the branch the
    /// others waited for. `None` where there are no branches.
    ///
    /// Each branch is a process of its own, so an event of one does not touch the others. A join dropped before it is
    /// over drops its branches.
    pub fn join_all<T: 'm, B: Future<Output = T> + 'm>(
        &'m self,
        branches: impl IntoIterator<Item = B>,
    ) -> JoinAll<'m, T> {
        let scope = Rc::new(RefCell::new(Scope { pending: 0, parent: self.current(), last: None }));
        let mut newest = NOBODY;
        for branch in branches {
            scope.borrow_mut().pending += 1;
            newest = self.spawn_branch(Box::pin(arrive(self, Rc::clone(&scope), branch)), newest);
        }
        JoinAll { sim: self, scope, newest }
    }
}

async fn arrive<'m, T, B: Future<Output = T>>(sim: &'m Sim<'m>, scope: Rc<RefCell<Scope<T>>>, branch: B) {
    let output = branch.await;
    let mut scope = scope.borrow_mut();
    scope.last = Some(output);
    scope.pending -= 1;
    if scope.pending == 0 {
        sim.wake(scope.parent);
    }
}

/// A join under way: see [`Sim::join_all`].
#[must_use = "branches are waited for only when the join is awaited"]
pub struct JoinAll<'m, T> {
    sim: &'m Sim<'m>,
    scope: Rc<RefCell<Scope<T>>>,
    /// The branch started last; each names the one before it.
    newest: TaskId,
}

impl<T> Future for JoinAll<'_, T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<T>> {
        let mut scope = self.scope.borrow_mut();
        if scope.pending == 0 {
            return Poll::Ready(scope.last.take());
        }
        scope.parent = self.sim.current();
        Poll::Pending
    }
}

impl<T> Drop for JoinAll<'_, T> {
    fn drop(&mut self) {
        if !self.sim.is_finished() {
            self.sim.end_branches(self.newest);
        }
    }
}
