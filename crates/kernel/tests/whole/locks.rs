//! Locks on ranges: order, waits that are dropped, what is recorded, and no circle.

use std::cell::RefCell;

use crate::common::{ms, run};
use headrace_kernel::{Locks, Sim};
use proptest::prelude::*;

#[test]
fn a_lock_goes_to_those_who_wait_in_order() {
    let sim = Sim::new();
    let (locks, order) = (Locks::new(&sim, 4), RefCell::new(Vec::new()));
    for (name, number, at) in [('a', 1, 0), ('b', 1, 2), ('c', 1, 1), ('d', 2, 3)] {
        let (sim, locks, order) = (&sim, &locks, &order);
        sim.spawn(async move {
            sim.delay(ms(at)).await;
            let _held = locks.lock(number, number + 1).await;
            order.borrow_mut().push((name, sim.now()));
            sim.delay(ms(10)).await;
        });
    }
    run(&sim);
    assert_eq!(*order.borrow(), [('a', ms(0)), ('d', ms(3)), ('c', ms(10)), ('b', ms(20))]);
    assert_eq!(locks.held(), 0, "a lock that nobody holds takes no memory");
    sim.finish();
}

/// One wait is given up in the queue, another at the very instant at which it was given the lock.
#[test]
fn a_wait_that_is_dropped_leaves_nothing() {
    let sim = Sim::new();
    let locks = Locks::new(&sim, 4);
    let (s, l) = (&sim, &locks);
    s.spawn(async move {
        let _held = l.lock(5, 6).await;
        s.delay(ms(10)).await;
    });
    for patience in [4, 10] {
        s.spawn(async move {
            s.delay(ms(1)).await;
            drop(s.within(ms(patience - 1), l.lock(5, 6)).await);
        });
    }
    s.spawn(async move {
        s.delay(ms(2)).await;
        let _held = l.lock(5, 6).await;
        assert_eq!(s.now(), ms(10));
    });
    assert_eq!(run(&sim), ms(10));
    assert_eq!(locks.held(), 0);
    sim.finish();
}

/// Ranges that overlap wait for each other, others do not; the contended time is that of the block for which somebody waited longest.
#[test]
fn only_ranges_that_overlap_wait() {
    let sim = Sim::new();
    let (locks, order) = (Locks::new(&sim, 16), RefCell::new(Vec::new()));
    for (name, from, to) in [('a', 0, 8), ('b', 8, 16), ('c', 4, 20), ('d', 16, 18), ('e', 32, 40)] {
        let (sim, locks, order) = (&sim, &locks, &order);
        sim.spawn(async move {
            let _held = locks.lock(from, to).await;
            order.borrow_mut().push((name, sim.now()));
            sim.delay(ms(10)).await;
        });
    }
    run(&sim);
    assert_eq!(*order.borrow(), [('a', ms(0)), ('b', ms(0)), ('e', ms(0)), ('c', ms(10)), ('d', ms(20))]);
    let used = locks.usage(sim.now());
    assert_eq!((used.waits.waits.count(), used.waits.waits.sum_ns()), (5, 30_000_000));
    assert_eq!((used.holds.count(), used.holds.sum_ns()), (5, 50_000_000));
    assert_eq!(used.contended_ns, 20_000_000, "somebody waited for numbers 16 to 31 from 0 to 20 ms");
    sim.finish();
}

proptest! {
    /// Processes that lock ranges all end, never hold the same number at once, and nobody waits who could go on.
    #[test]
    fn ranges_never_block_each_other_for_ever(
        ranges in prop::collection::vec((0u64..12, 1u64..5, 0u64..9, 1u64..9), 1..40), block in 1u64..6,
    ) {
        let sim = Sim::new();
        let (locks, held, done) = (Locks::new(&sim, block), RefCell::new(vec![0; 16]), RefCell::new(0));
        for &(from, many, at, patience) in &ranges {
            let (sim, locks, held, done) = (&sim, &locks, &held, &done);
            sim.spawn(async move {
                sim.delay(ms(at)).await;
                let Some(_mine) = sim.within(sim.now() + ms(patience * 4), locks.lock(from, from + many)).await else {
                    *done.borrow_mut() += 1;
                    return;
                };
                for number in from..from + many {
                    held.borrow_mut()[number as usize] += 1;
                    assert_eq!(held.borrow()[number as usize], 1, "two hold {number}");
                }
                sim.delay(ms(3)).await;
                (from..from + many).for_each(|number| held.borrow_mut()[number as usize] -= 1);
                *done.borrow_mut() += 1;
            });
        }
        run(&sim);
        prop_assert_eq!(*done.borrow(), ranges.len());
        prop_assert_eq!(locks.held(), 0);
        let used = locks.usage(sim.now());
        prop_assert_eq!(used.waits.queue.value(), 0);
        prop_assert!(used.contended_ns <= sim.now().0);
        sim.finish();
    }
}
