//! Wakes and timers that came to nothing: no other process feels them, and time does not run on to them.

use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;

use crate::common::{ms, run};
use headrace_kernel::{Pause, Resource, Sim, WorkerPool};
use headrace_units::Nanos;
use proptest::prelude::*;

/// Counts how often it is polled, and never ends.
async fn counted(polls: &Cell<u32>) {
    poll_fn(|_| {
        polls.set(polls.get() + 1);
        Poll::Pending
    })
    .await
}

#[test]
fn an_old_wake_does_not_poll_the_process_that_has_the_slot_now() {
    let sim = Sim::new();
    let (server, polls) = (Resource::fcfs(&sim, 1), Cell::new(0));
    let (s, r, p) = (&sim, &server, &polls);
    let workers = WorkerPool::new(s, move |()| async move { drop(r.acquire(()).await) });
    let c = &workers;
    s.spawn(async move {
        let held = r.acquire(()).await;
        let waiting = c.all([()]);
        s.delay(ms(1)).await;
        drop(held); // Wakes the job, which is ended before its turn; the next process has its slot.
        drop(waiting);
        s.spawn(counted(p));
    });
    run(s);
    assert_eq!((polls.get(), r.usage().busy.value()), (1, 0));
    s.finish();
}

#[test]
fn an_old_wake_does_not_poll_the_next_job_of_a_member() {
    let sim = Sim::new();
    let (server, polls) = (Resource::fcfs(&sim, 1), Cell::new(0));
    let (s, r, p) = (&sim, &server, &polls);
    let workers = WorkerPool::new(s, move |wait: bool| async move {
        if wait {
            assert!(s.within(ms(1), pending_after(r.acquire(()))).await.is_none());
        } else {
            counted(p).await;
        }
    });
    let c = &workers;
    s.spawn(async move {
        let held = r.acquire(()).await;
        s.until(ms(1)).await;
        drop(held); // Wakes the first job, which gives up before its turn.
    });
    s.spawn(async move { c.start(true) });
    s.spawn(async move {
        s.until(ms(1)).await;
        c.start(false);
    });
    run(s);
    assert_eq!((polls.get(), c.members()), (1, 1));
    s.finish();
}

/// Polls `future` for its effect, and never ends.
async fn pending_after(future: impl Future) {
    let mut future = pin!(future);
    poll_fn(|context| {
        _ = future.as_mut().poll(context);
        Poll::Pending
    })
    .await
}

#[test]
fn time_does_not_run_on_to_a_timer_that_was_given_up() {
    let sim = Sim::new();
    let s = &sim;
    s.spawn(async move {
        assert_eq!(s.within(ms(1000), s.delay(ms(1))).await, Some(()));
    });
    assert_eq!(s.run(ms(10), u64::MAX), Pause::Idle);
    assert_eq!(s.now(), ms(1));
    // The same beside more events than are few.
    for timer in 0..100 {
        s.spawn(async move {
            assert_eq!(s.within(ms(2000 + timer), s.until(ms(2 + timer / 10))).await, Some(()));
        });
    }
    assert_eq!(s.run(ms(5), u64::MAX), Pause::Time);
    assert_eq!(s.run(ms(100), u64::MAX), Pause::Idle);
    assert_eq!(s.now(), ms(11));
    s.finish();
}

#[test]
fn a_wait_ends_by_what_it_is_for_or_at_the_deadline() {
    let sim = Sim::new();
    let s = &sim;
    s.spawn(async move {
        assert_eq!(s.within(ms(5), async { 1 }).await, Some(1));
        assert_eq!(s.within(ms(5), s.until(ms(5))).await, Some(()), "the deadline is in time");
        assert_eq!(s.within(ms(7), pending::<()>()).await, None);
        assert_eq!(s.now(), ms(7));
        assert_eq!(s.within(ms(6), pending::<()>()).await, None, "it passed before");
        assert_eq!(s.within(ms(6), async { 2 }).await, Some(2), "ready at once is in time");
    });
    assert_eq!(run(s), ms(7));
    s.finish();
}

#[test]
fn timeouts_nest() {
    let sim = Sim::new();
    let (server, ends) = (Resource::fcfs(&sim, 1), RefCell::new(Vec::new()));
    let (s, r, e) = (&sim, &server, &ends);
    s.spawn(async move {
        let inner_given_up = async {
            assert_eq!(s.within(ms(2), s.delay(ms(5))).await, None);
            s.delay(ms(3)).await;
            7
        };
        assert_eq!(s.within(ms(10), inner_given_up).await, Some(7));
        e.borrow_mut().push(s.now());
        let held = r.acquire(()).await;
        let outer = s.within(ms(8), s.within(ms(20), r.serve(ms(1)))).await;
        assert_eq!((outer, r.usage().queue.value()), (None, 0));
        e.borrow_mut().push(s.now());
        drop(held);
    });
    assert_eq!(run(s), ms(8));
    assert_eq!(*ends.borrow(), [ms(5), ms(8)]);
    s.finish();
}

/// A server granted at the instant at which its request is dropped goes to the next, and nobody's time runs on.
#[test]
fn a_service_granted_and_dropped_at_one_instant_leaves_nothing() {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 1);
    let (s, r) = (&sim, &server);
    let workers = WorkerPool::new(s, move |span: Nanos| r.serve(span));
    let c = &workers;
    s.spawn(async move {
        let held = r.acquire(()).await;
        let long = c.all([ms(1000)]);
        c.start(ms(2));
        s.delay(ms(1)).await;
        drop(held);
        drop(long);
    });
    assert_eq!(s.run(ms(10), u64::MAX), Pause::Idle);
    assert_eq!(s.now(), ms(3));
    let usage = *r.usage();
    assert_eq!((usage.busy.value(), usage.services.count()), (0, 3));
    assert_eq!(usage.services.sum_ns(), u128::from(ms(1 + 2).0));
    s.finish();
}

/// A request: to which resource, how long its service is, and how long it waits for that at most, in steps of 2 ns.
type Step = (usize, u64, u64);

/// Who was done when, by what, and what the resources recorded.
type Log = (Vec<(usize, Nanos, bool)>, Vec<headrace_kernel::Usage>);

fn log_of(plans: &[(u64, Vec<Step>)], in_one: bool) -> Log {
    let sim = Sim::new();
    let resources = [1, 1, 2].map(|servers| Resource::fcfs(&sim, servers));
    let log = RefCell::new(Vec::new());
    let (s, rs, l) = (&sim, &resources, &log);
    for (number, (start, steps)) in plans.iter().enumerate() {
        let steps = steps.clone();
        s.spawn(async move {
            s.delay(Nanos(2 * start)).await;
            for (resource, service, patience) in steps {
                let r = &rs[resource];
                // Odd, so that no deadline falls on what is waited for.
                let (deadline, service) = (Nanos((s.now().0 + 2 * patience) | 1), Nanos(2 * service));
                let done = if in_one {
                    s.within(deadline, r.serve(service)).await
                } else {
                    let served = async {
                        let server = r.acquire(()).await;
                        s.delay(service).await;
                        server.waited
                    };
                    s.within(deadline, served).await
                };
                l.borrow_mut().push((number, s.now(), done.is_some()));
                s.until(Nanos(s.now().0.next_multiple_of(2))).await;
            }
        });
    }
    run(s);
    s.finish();
    (log.take(), resources.iter().map(|resource| *resource.usage()).collect())
}

proptest! {
    /// A service in one future is the same as an acquisition and a delay, in order and to the nanosecond, however many
    /// things happen at one instant.
    #[test]
    fn a_service_is_an_acquisition_and_a_delay(
        plans in prop::collection::vec(
            (0u64..4, prop::collection::vec((0usize..3, 0u64..4, prop_oneof![2u64..9, Just(1000)]), 1..6)),
            1..25,
        )
    ) {
        prop_assert_eq!(log_of(&plans, true), log_of(&plans, false));
    }
}
