//! Locks by number: order, waits that are dropped, and no circle.

mod common;

use std::cell::RefCell;

use common::{ms, run};
use headrace_kernel::{Locks, Sim};
use proptest::prelude::*;

#[test]
fn a_lock_goes_to_those_who_wait_in_order() {
    let sim = Sim::new();
    let (locks, order) = (Locks::new(&sim), RefCell::new(Vec::new()));
    for (name, number, at) in [('a', 1, 0), ('b', 1, 2), ('c', 1, 1), ('d', 2, 3)] {
        let (sim, locks, order) = (&sim, &locks, &order);
        sim.spawn(async move {
            sim.delay(ms(at)).await;
            let _held = locks.lock(number).await;
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
    let locks = Locks::new(&sim);
    let (s, l) = (&sim, &locks);
    s.spawn(async move {
        let _held = l.lock(5).await;
        s.delay(ms(10)).await;
    });
    for patience in [4, 10] {
        s.spawn(async move {
            s.delay(ms(1)).await;
            drop(s.within(ms(patience - 1), l.lock(5)).await);
        });
    }
    s.spawn(async move {
        s.delay(ms(2)).await;
        let _held = l.lock(5).await;
        assert_eq!(s.now(), ms(10));
    });
    assert_eq!(run(&sim), ms(10));
    assert_eq!(locks.held(), 0);
    sim.finish();
}

proptest! {
    /// Processes that take ranges of locks in order all end, and never hold the same lock at once.
    #[test]
    fn ranges_taken_in_order_never_block_each_other_for_ever(ranges in prop::collection::vec((0u64..8, 1u64..5, 0u64..9), 1..30)) {
        let sim = Sim::new();
        let (locks, held, done) = (Locks::new(&sim), RefCell::new(vec![0; 16]), RefCell::new(0));
        for &(from, many, at) in &ranges {
            let (sim, locks, held, done) = (&sim, &locks, &held, &done);
            sim.spawn(async move {
                sim.delay(ms(at)).await;
                let mut mine = Vec::new();
                for number in from..from + many {
                    mine.push(locks.lock(number).await);
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
        sim.finish();
    }
}
