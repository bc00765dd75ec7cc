//! Wait lists: who gets what is offered, and that nothing is lost with those who give up.

use std::cell::{Cell, RefCell};

use crate::common::{ms, run};
use headrace_kernel::{Sim, WaitList};

/// Counts what comes back.
struct Gift<'g>(&'g Cell<u32>);

impl Drop for Gift<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn the_first_who_suits_gets_it_and_the_head_blocks_where_that_is_asked() {
    let sim = Sim::new();
    let (list, got) = (WaitList::<u32, &str>::new(&sim), RefCell::new(Vec::new()));
    let (s, list, got_ref) = (&sim, &list, &got);
    for key in [5, 3, 4] {
        s.spawn(async move {
            let gift = list.wait(key).await;
            got_ref.borrow_mut().push((key, gift, s.now()));
        });
    }
    s.spawn(async move {
        s.delay(ms(1)).await;
        assert!(!list.offer_first(|key| (*key < 5).then_some("small")));
        assert!(
            list.offer(|key| (*key < 5).then_some("small"))
                && !list.offer(|key| (*key > 5).then_some("large"))
        );
        s.delay(ms(1)).await;
        assert!(list.offer_first(|_| Some("any")) && list.any(|key| *key == 4));
    });
    run(s);
    assert_eq!(*got.borrow(), [(3, "small", ms(1)), (5, "any", ms(2))]);
    let waits = list.waits();
    assert_eq!((waits.waits.count(), waits.waits.sum_ns()), (2, u128::from(ms(3).0)));
    assert_eq!((waits.queue.value(), waits.queue.area(s.now())), (1, u128::from(ms(5).0)));
    s.finish();
}

/// One leaves before it is given anything; another is given something at the instant at which it gives up.
#[test]
fn who_gives_up_leaves_the_list_and_its_gift() {
    let sim = Sim::new();
    let returned = Cell::new(0);
    let list = WaitList::<u32, Gift>::new(&sim);
    let (s, list, returned) = (&sim, &list, &returned);
    for (key, patience) in [(1, ms(2)), (2, ms(5))] {
        s.spawn(async move {
            assert!(s.within(patience, list.wait(key)).await.is_none());
        });
    }
    s.spawn(async move {
        s.delay(ms(3)).await;
        assert!(!list.offer(|key| (*key == 1).then(|| Gift(returned))));
        let waiting = list.wait(3);
        let mut waiting = Box::pin(waiting);
        assert!(s.within(s.now(), waiting.as_mut()).await.is_none());
        assert!(list.offer(|key| (*key == 3).then(|| Gift(returned))));
        drop(waiting);
        assert_eq!(returned.get(), 1);
    });
    run(s);
    assert!(list.is_empty());
    assert_eq!(list.waits().given_up.count(), 2);
    s.finish();
}

/// Most leave from the middle, by their tickets. Those that are left get what is offered in their order, and nobody gets anything twice.
#[test]
fn tickets_find_who_waits_in_the_middle() {
    let sim = Sim::new();
    let (list, got) = (WaitList::<u64, u64>::new(&sim), RefCell::new(Vec::new()));
    let (s, list, got_ref) = (&sim, &list, &got);
    for key in 1..=100 {
        s.spawn(async move {
            assert_eq!(list.next_ticket(), key);
            let gift = list.wait(key).await;
            got_ref.borrow_mut().push((gift, key));
        });
    }
    s.spawn(async move {
        s.delay(ms(1)).await;
        for ticket in (1..=100).filter(|ticket| ticket % 5 != 2) {
            assert!(list.offer_to(ticket, |key| *key) && !list.offer_to(ticket, |key| *key));
        }
        assert!(!list.any(|key| key % 5 != 2) && list.len() == 20 && !list.offer_to(101, |key| *key));
        (0..20).for_each(|_| assert!(list.offer(|key| Some(*key))));
    });
    run(s);
    let all = got.borrow();
    assert!(list.is_empty() && all.len() == 100 && all.iter().all(|(gift, key)| gift == key));
    s.finish();
}
