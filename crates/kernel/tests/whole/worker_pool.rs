//! Worker pools: members are hired once, jobs begin at once, and a join that is dropped leaves nothing behind.

use std::cell::{Cell, OnceCell, RefCell};
use std::future::{Future, poll_fn};
use std::rc::Rc;
use std::task::Poll;

use crate::common::{ms, run};
use headrace_kernel::{Resource, Sim, WorkerPool};
use headrace_units::Nanos;

#[test]
fn members_are_hired_for_the_most_jobs_at_once_and_used_again() {
    let sim = Sim::new();
    let done = Cell::new(0);
    let (s, d) = (&sim, &done);
    let workers = WorkerPool::new(s, move |span: Nanos| async move {
        s.delay(span).await;
        d.set(d.get() + 1);
    });
    let c = &workers;
    s.spawn(async move {
        for _ in 0..1000 {
            (1..=3).for_each(|span| c.start(ms(span)));
            s.delay(ms(3)).await;
            assert!(s.processes() <= 2, "the longest job may end after this");
            s.delay(ms(1)).await;
            assert_eq!(s.processes(), 1, "members that rest do not count");
        }
    });
    run(s);
    assert_eq!((done.get(), workers.members(), s.processes()), (3000, 3, 0));
    s.finish();
}

#[test]
fn a_job_runs_at_once_up_to_its_first_wait() {
    let sim = Sim::new();
    let order = RefCell::new(Vec::new());
    let (s, o) = (&sim, &order);
    let workers = WorkerPool::new(s, move |name: &'static str| async move {
        o.borrow_mut().push(name);
        s.delay(ms(1)).await;
        o.borrow_mut().push("it goes on");
    });
    let c = &workers;
    s.spawn(async move {
        s.spawn(async move { o.borrow_mut().push("spawned") });
        c.start("job");
        o.borrow_mut().push("after the start");
    });
    run(s);
    assert_eq!(*order.borrow(), ["job", "after the start", "spawned", "it goes on"]);
    s.finish();
}

#[test]
fn a_join_gives_what_the_last_or_the_kth_job_gave() {
    let sim = Sim::new();
    let got = RefCell::new(Vec::new());
    let (s, g) = (&sim, &got);
    let workers = WorkerPool::new(s, move |at: u64| async move {
        s.delay(ms(at)).await;
        at
    });
    let c = &workers;
    s.spawn(async move {
        for (k, expected) in [(1, 3), (2, 5), (3, 7)] {
            let start = s.now();
            let output = c.first(k, [3, 7, 5]).await;
            g.borrow_mut().push((output, s.now() - start, ms(expected)));
            s.delay(ms(10)).await;
        }
        let start = s.now();
        let last = c.all([3, 7, 5]).await;
        g.borrow_mut().push((last, s.now() - start, ms(7)));
        assert_eq!((c.all([]).await, c.first(0, []).await), (None, None));
        assert_eq!(c.first(0, [20]).await, None);
    });
    run(s);
    let got = got.borrow();
    assert_eq!(got.iter().map(|got| got.0).collect::<Vec<_>>(), [Some(3), Some(5), Some(7), Some(7)]);
    assert!(got.iter().all(|(_, took, expected)| took == expected), "{got:?}");
    assert_eq!(c.members(), 3);
    s.finish();
}

#[test]
fn jobs_that_need_no_time_are_done_at_the_first_poll() {
    let sim = Sim::new();
    let workers = WorkerPool::new(&sim, |n: u32| async move { n });
    let (s, c) = (&sim, &workers);
    s.spawn(async move {
        let mut join = std::pin::pin!(c.all([1, 2, 3]));
        let ready = poll_fn(|context| Poll::Ready(join.as_mut().poll(context))).await;
        assert_eq!(ready, Poll::Ready(Some(3)));
        assert_eq!(c.first(2, [1, 2, 3]).await, Some(2));
        s.stop();
    });
    s.run(Nanos::MAX, u64::MAX);
    assert_eq!((sim.events(), workers.members()), (1, 1), "one process, one event, one member");
    s.finish();
}

#[test]
#[should_panic(expected = "2 of 1 jobs are waited for")]
fn a_quorum_of_more_than_there_are_is_refused() {
    let sim = Sim::new();
    let workers = WorkerPool::new(&sim, |(): ()| async {});
    _ = workers.first(2, [()]);
}

/// The jobs of a race that is given up leave the queue, and the server where they had it; others go on.
#[test]
fn a_join_dropped_ends_its_jobs() {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 1);
    let (s, r) = (&sim, &server);
    let workers = WorkerPool::new(s, move |span: Nanos| r.serve(span));
    let c = &workers;
    s.spawn(async move {
        c.start(ms(10));
        let given_up = s.within(ms(4), c.all([ms(1), ms(1)])).await;
        assert_eq!(given_up, None);
        assert_eq!(s.processes(), 2, "this one and the job that nobody waits for");
        c.start(ms(2));
        s.delay(ms(8)).await; // All are done at 12 ms.
        let given_up = s.within(ms(15), c.all([ms(100), ms(100)])).await;
        assert_eq!(given_up, None);
        c.start(ms(3));
    });
    assert_eq!(run(s), ms(18));
    let usage = *r.usage();
    assert_eq!((usage.queue.value(), usage.busy.value(), s.processes()), (0, 0, 0));
    assert_eq!(usage.given_up.count(), 3);
    assert_eq!(usage.given_up.sum_ns(), u128::from(ms(4 + 4 + 3).0));
    assert_eq!(usage.services.sum_ns(), u128::from(ms(10 + 2 + 3 + 3).0));
    assert_eq!(usage.waits.count(), 4);
    assert_eq!(c.members(), 1, "those whose jobs ended before their time are gone");
    s.finish();
}

#[test]
fn jobs_that_are_done_or_not_waited_for_survive_the_join() {
    let sim = Sim::new();
    let done = RefCell::new(Vec::new());
    let (s, d) = (&sim, &done);
    let workers = WorkerPool::new(s, move |at: u64| async move {
        s.until(ms(at)).await;
        d.borrow_mut().push(at);
    });
    let c = &workers;
    s.spawn(async move {
        c.first(1, [1, 4]).await;
        // The member of the first job does another while the join of its first is given up.
        let join = c.all([2, 5]);
        s.until(ms(2)).await;
        s.delay(ms(1)).await;
        c.start(6);
        drop(join);
    });
    assert_eq!(run(s), ms(6));
    assert_eq!(*done.borrow(), [1, 2, 4, 6]);
    s.finish();
}

#[test]
fn a_job_may_drop_the_join_it_belongs_to() {
    let sim = Sim::new();
    let (join, done) = (Rc::new(RefCell::new(None)), Cell::new(0));
    let (s, j, d) = (&sim, Rc::clone(&join), &done);
    let workers = WorkerPool::new(s, move |at: u64| {
        let j = Rc::clone(&j);
        async move {
            s.until(ms(at)).await;
            drop(j.take());
            s.delay(ms(at)).await; // The end of the first comes here.
            d.set(d.get() + 1);
        }
    });
    let c = &workers;
    s.spawn(async move {
        join.replace(Some(c.all([1, 2])));
    });
    s.spawn(async move {
        s.until(ms(5)).await;
        c.start(6);
    });
    assert_eq!(run(s), ms(12));
    assert_eq!((done.get(), s.processes()), (1, 0));
    s.finish();
}

/// A disk, or an array of what is behind other numbers.
struct Device<'m> {
    disk: Resource<'m>,
    parts: WorkerPool<'m, usize, Nanos>,
    children: Vec<usize>,
}

type Devices<'m> = OnceCell<Vec<Device<'m>>>;

async fn serve<'m>(sim: &'m Sim<'m>, devices: &'m Devices<'m>, number: usize) -> Nanos {
    let device = &devices.get().expect("devices are made before requests")[number];
    if device.children.is_empty() {
        device.disk.serve(ms(number as u64)).await;
        return sim.now();
    }
    device.parts.all(device.children.iter().copied()).await.expect("an array has disks")
}

#[test]
fn arrays_of_arrays_recurse_through_their_crews() {
    let sim = Sim::new();
    let devices = Devices::new();
    let done = RefCell::new(Vec::new());
    let (s, ds, d) = (&sim, &devices, &done);
    let children = [vec![1, 2], vec![3, 4], vec![5, 6], vec![], vec![], vec![], vec![]];
    let made = children.map(|children| Device {
        disk: Resource::fcfs(s, 1),
        parts: WorkerPool::new(s, move |number| serve(s, ds, number)),
        children,
    });
    assert!(devices.set(Vec::from(made)).is_ok());
    for _ in 0..2 {
        s.spawn(async move {
            let end = serve(s, ds, 0).await;
            d.borrow_mut().push(end);
        });
    }
    s.spawn(async move { assert_eq!(s.within(ms(7), serve(s, ds, 0)).await, None) });
    assert_eq!(run(s), ms(12));
    assert_eq!(*done.borrow(), [ms(6), ms(12)]);
    for device in &ds.get().unwrap()[3..] {
        assert_eq!((device.disk.usage().queue.value(), device.disk.usage().busy.value()), (0, 0));
    }
    s.finish();
}
