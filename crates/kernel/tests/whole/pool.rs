//! Pools: order, cancellation, and that nothing is lost or made.

use std::cell::RefCell;

use crate::common::{ms, run};
use headrace_kernel::{Pool, RngStream, Sim, WorkerPool};
use headrace_units::Nanos;
use proptest::prelude::*;

/// Takers of these amounts, one after another at one instant, and when each got its own.
fn takers<'m>(sim: &'m Sim<'m>, pool: &'m Pool<'m>, got: &'m RefCell<Vec<(u64, Nanos)>>, amounts: &[u64]) {
    for &n in amounts {
        sim.spawn(async move {
            let waited = pool.take(n).await;
            assert_eq!(waited, sim.now());
            got.borrow_mut().push((n, sim.now()));
        });
    }
}

#[test]
fn a_large_request_blocks_smaller_ones_behind_it() {
    let sim = Sim::new();
    let (pool, got) = (Pool::new(&sim, 10, 3), RefCell::new(Vec::new()));
    let (s, p) = (&sim, &pool);
    takers(s, p, &got, &[2, 6, 1, 2]);
    s.spawn(async move {
        assert!(!p.try_take(1), "others wait for the one that is left");
        s.delay(ms(1)).await;
        p.put(4);
        s.delay(ms(1)).await;
        p.put(2);
        s.delay(ms(1)).await;
        p.put(8);
        s.delay(ms(1)).await;
        assert!(p.try_take(6) && !p.try_take(1));
    });
    run(s);
    assert_eq!(*got.borrow(), [(2, ms(0)), (6, ms(2)), (1, ms(2)), (2, ms(3))]);
    assert_eq!((p.held(), p.level().value(), p.level().max()), (0, 0, 8));
    assert_eq!(p.level().area(s.now()), u128::from(ms(1).0) * (1 + 5 + 6));
    let waits = p.waits();
    assert_eq!((waits.waits.count(), waits.waits.sum_ns()), (4, u128::from(ms(2 + 2 + 3).0)));
    s.finish();
}

#[test]
fn a_take_that_is_given_up_lets_the_next_go_on() {
    let sim = Sim::new();
    let (pool, got) = (Pool::new(&sim, 10, 1), RefCell::new(Vec::new()));
    let (s, p) = (&sim, &pool);
    s.spawn(async move {
        assert_eq!(s.within(ms(3), p.take(5)).await, None);
        p.put(1);
    });
    takers(s, p, &got, &[1, 1]);
    assert_eq!(run(s), ms(3));
    assert_eq!(*got.borrow(), [(1, ms(3)), (1, ms(3))]);
    let waits = p.waits();
    assert_eq!((waits.queue.value(), waits.given_up.count(), waits.given_up.max()), (0, 1, ms(3)));
    s.finish();
}

#[test]
#[should_panic(expected = "a pool of 4 units does not hold 5")]
fn a_pool_does_not_overflow() {
    let sim = Sim::new();
    let pool = Pool::new(&sim, 4, 3);
    pool.put(2);
}

proptest! {
    /// What is in the pool and what is taken make up the whole, at every step; who comes first goes first; and the area
    /// under the queue is the sum of all waits.
    #[test]
    fn nothing_is_lost_or_made(
        capacity in 5u64..20,
        plans in prop::collection::vec((0u64..30, 0u64..6, 0u64..9, 1u64..15), 1..40),
    ) {
        let sim = Sim::new();
        let (pool, out) = (Pool::new(&sim, capacity, capacity), RefCell::new((0, Vec::new())));
        let (s, p, o) = (&sim, &pool, &out);
        let whole = move || assert_eq!(p.held() + o.borrow().0, capacity);
        let workers = WorkerPool::new(s, move |(number, at, n, hold, patience): (usize, u64, u64, u64, u64)| async move {
            s.until(Nanos(at)).await;
            if s.within(Nanos(at + patience), p.take(n)).await.is_some() {
                o.borrow_mut().0 += n;
                o.borrow_mut().1.push((at, number));
                whole();
                s.delay(Nanos(hold)).await;
                o.borrow_mut().0 -= n;
                p.put(n);
            }
            whole();
        });
        let c = &workers;
        s.spawn(async move {
            let jobs = plans.into_iter().enumerate();
            c.all(jobs.map(|(number, (at, n, hold, patience))| (number, at, n, hold, patience))).await;
        });
        run(s);
        let waits = p.waits();
        prop_assert_eq!((p.held(), waits.queue.value(), s.processes()), (capacity, 0, 0));
        prop_assert!(o.borrow().1.is_sorted(), "first come, first served");
        prop_assert_eq!(waits.queue.area(s.now()), waits.waits.sum_ns() + waits.given_up.sum_ns());
        s.finish();
    }
}

/// A source of credits, a blocked one and a fast one: a run of a hundred thousand leaves the pool whole.
#[test]
fn credits_flow_in_a_long_run() {
    let sim = Sim::new();
    let pool = Pool::new(&sim, 8, 8);
    let (s, p) = (&sim, &pool);
    let workers = WorkerPool::new(s, move |(n, hold): (u64, Nanos)| async move {
        s.delay(hold).await;
        p.put(n);
    });
    let c = &workers;
    s.spawn(async move {
        let mut draws = RngStream::named(1, "test", "credits").draws();
        for _ in 0..100_000 {
            let n = 1 + draws.below(8);
            p.take(n).await;
            c.start((n, Nanos::from_ms(draws.exponential())));
        }
    });
    run(s);
    assert_eq!((p.held(), p.waits().waits.count(), c.members() <= 8), (8, 100_000, true));
    s.finish();
}
