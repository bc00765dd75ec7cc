//! The primitives as a model uses them: order, cancellation, and what they record of themselves.

use std::cell::RefCell;

use headrace_kernel::{Channel, Fcfs, Gate, Link, Priority, Resource, Round, ShortestFirst, Sim, Stream};
use headrace_units::{Bytes, BytesPerSecond, Nanos};

const fn ms(ms: u64) -> Nanos {
    Nanos(ms * 1_000_000)
}

fn run(sim: &Sim) -> Nanos {
    sim.run(Nanos::MAX, u64::MAX);
    sim.now()
}

#[test]
fn a_priority_queue_serves_the_smallest_number_first_and_equals_in_order() {
    let sim = Sim::new();
    let (server, order) = (Resource::new(&sim, 1, Priority::default()), RefCell::new(Vec::new()));
    for (name, priority) in [('a', 5), ('b', 2), ('c', 1), ('d', 2)] {
        let (sim, server, order) = (&sim, &server, &order);
        sim.spawn(async move {
            let _held = server.acquire(priority).await;
            order.borrow_mut().push(name);
            sim.delay(ms(1)).await;
        });
    }
    run(&sim);
    assert_eq!(*order.borrow(), ['a', 'c', 'b', 'd']);
}

#[test]
fn shortest_first_chooses_by_where_the_arm_is_when_it_is_free() {
    let sim = Sim::new();
    let (arm, order) = (std::cell::Cell::new(50u64), RefCell::new(Vec::new()));
    let server = Resource::new(&sim, 1, ShortestFirst::by(|cylinder: &u64| cylinder.abs_diff(arm.get())));
    for cylinder in [50, 90, 45, 10, 52] {
        let (sim, server, arm, order) = (&sim, &server, &arm, &order);
        sim.spawn(async move {
            let _held = server.acquire(cylinder).await;
            arm.set(cylinder);
            order.borrow_mut().push(cylinder);
            sim.delay(ms(1)).await;
        });
    }
    run(&sim);
    assert_eq!(*order.borrow(), [50, 52, 45, 10, 90]);
    sim.finish();
}

#[test]
fn a_cancelled_wait_leaves_its_queue_and_a_cancelled_service_frees_the_server() {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 1);
    let (s, r) = (&sim, &server);
    s.spawn(async move { _ = r.serve(ms(10)).await });
    s.spawn(async move {
        // Both branches wait behind the first; the race is given up at 4 ms.
        let mut both = std::pin::pin!(s.join_all([r.serve(ms(1)), r.serve(ms(1))]));
        let mut patience = std::pin::pin!(s.delay(ms(4)));
        std::future::poll_fn(|context| {
            assert!(both.as_mut().poll(context).is_pending());
            patience.as_mut().poll(context)
        })
        .await;
    });
    s.spawn(async move { _ = r.serve(ms(2)).await });
    assert_eq!(run(s), ms(12));
    let usage = *r.usage();
    assert_eq!((usage.queue.value(), usage.busy.value()), (0, 0));
    assert_eq!(usage.given_up.count(), 2);
    assert_eq!(usage.given_up.sum_ns(), 2 * u128::from(ms(4).0));
    assert_eq!(usage.waits.count(), 2);
    assert_eq!(s.processes(), 0);
}

#[test]
fn a_join_gives_what_the_last_branch_gave() {
    let sim = Sim::new();
    let got = RefCell::new((None, Some(9)));
    let (s, g) = (&sim, &got);
    s.spawn(async move {
        let branch = |at: u64| async move {
            s.delay(ms(at)).await;
            at
        };
        let last = s.join_all([3, 7, 5].map(branch)).await;
        let none = s.join_all(Vec::<std::future::Ready<u64>>::new()).await;
        *g.borrow_mut() = (last, none);
    });
    assert_eq!(run(s), ms(7));
    assert_eq!(*got.borrow(), (Some(7), None));
}

#[test]
fn a_link_carries_one_transfer_at_a_time_and_latency_overlaps() {
    let sim = Sim::new();
    let link = Link::new(&sim, BytesPerSecond(1e6), ms(5), Fcfs::default());
    for _ in 0..3 {
        let link = &link;
        sim.spawn(async move { _ = link.transfer(Bytes(1000), ()).await });
    }
    assert_eq!(run(&sim), ms(3 + 5));
    assert_eq!(link.carried(), Bytes(3000));
    assert_eq!(link.wire.usage().busy.area(sim.now()), u128::from(ms(3).0));
}

#[test]
fn a_channel_holds_its_capacity_and_keeps_order() {
    let sim = Sim::new();
    let (channel, got) = (Channel::new(&sim, 2), RefCell::new(Vec::new()));
    let (s, c, g) = (&sim, &channel, &got);
    s.spawn(async move {
        for item in 0..5 {
            c.send(item).await;
        }
    });
    s.spawn(async move {
        for _ in 0..5 {
            s.delay(ms(1)).await;
            let item = c.receive().await;
            g.borrow_mut().push(item);
        }
    });
    run(s);
    assert_eq!(*got.borrow(), [0, 1, 2, 3, 4]);
    assert_eq!(c.stored().max(), 2);
    assert_eq!(c.sends().waits.max(), ms(1));
    assert_eq!(c.receives().waits.max(), Nanos::ZERO);
}

#[test]
fn a_gate_lets_all_pass_in_order_when_it_opens() {
    let sim = Sim::new();
    let (gate, passed) = (Gate::new(&sim, false), RefCell::new(Vec::new()));
    let (s, g, p) = (&sim, &gate, &passed);
    for name in 0..3 {
        s.spawn(async move {
            g.pass().await;
            p.borrow_mut().push((name, s.now()));
        });
    }
    s.spawn(async move {
        s.delay(ms(3)).await;
        g.open();
    });
    run(s);
    assert_eq!(*passed.borrow(), [(0, ms(3)), (1, ms(3)), (2, ms(3))]);
    assert_eq!(g.waits().waits.sum_ns(), 3 * u128::from(ms(3).0));
}

/// Who waits takes part in the present round, whether others of a later one wait already or not.
#[test]
fn a_round_ends_for_those_who_take_part() {
    let sim = Sim::new();
    let (round, passed) = (Round::new(&sim), RefCell::new(Vec::new()));
    let (s, r, p) = (&sim, &round, &passed);
    for (name, comes) in [(0, 1), (1, 2), (2, 5)] {
        s.spawn(async move {
            s.delay(ms(comes)).await;
            r.wait().await;
            p.borrow_mut().push((name, s.now()));
        });
    }
    s.spawn(async move {
        s.delay(ms(3)).await;
        r.end();
        s.delay(ms(4)).await;
        r.end();
    });
    run(s);
    assert_eq!(*passed.borrow(), [(0, ms(3)), (1, ms(3)), (2, ms(7))]);
}

/// Little's law holds to the nanosecond: the area under the queue is the sum of the waits, and that under the servers
/// in use the sum of the services.
#[test]
fn areas_equal_the_sums_of_waits_and_services() {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 3);
    let (s, r) = (&sim, &server);
    s.spawn(async move {
        let mut draws = Stream::named(1, "test", "").draws();
        for _ in 0..10_000 {
            s.delay(Nanos::from_ms(draws.exponential())).await;
            let service = Nanos::from_ms(2.8 * draws.exponential());
            s.spawn(async move { _ = r.serve(service).await });
        }
    });
    run(s);
    let usage = *r.usage();
    assert_eq!(usage.queue.area(s.now()), usage.waits.sum_ns());
    assert_eq!(usage.busy.area(s.now()), usage.services.sum_ns());
    assert_eq!(usage.services.count(), 10_000);
}

#[test]
fn processes_left_over_drop_quietly_at_the_end() {
    let sim = Sim::new();
    let server = Resource::fcfs(&sim, 1);
    for _ in 0..3 {
        let server = &server;
        sim.spawn(async move { _ = server.serve(ms(10)).await });
    }
    sim.run(ms(5), u64::MAX);
    assert_eq!(sim.processes(), 3);
    sim.finish();
    assert_eq!(server.usage().services.count(), 0);
}

/// Passing without events is the same as waiting with them, request by request, for one server and for several.
#[test]
fn the_recursion_gives_what_events_give() {
    for servers in [1, 3] {
        let sim = Sim::new();
        let (by_events, by_passing) = (Resource::fcfs(&sim, servers), Resource::fcfs(&sim, servers));
        let ends = RefCell::new(vec![Nanos::ZERO; 2000]);
        let (s, r, e) = (&sim, &by_events, &ends);
        let arrivals = Stream::named(1, "test", "arrivals");
        let service = move |i: usize| {
            Nanos::from_ms(
                0.8 * servers as f64 * Stream::named(1, "test", "service").of(i as u64).exponential(),
            )
        };
        s.spawn(async move {
            let mut draws = arrivals.draws();
            for i in 0..2000 {
                s.delay(Nanos::from_ms(draws.exponential())).await;
                s.spawn(async move {
                    r.serve(service(i)).await;
                    e.borrow_mut()[i] = s.now();
                });
            }
        });
        run(s);
        let (mut now, mut draws) = (Nanos::ZERO, arrivals.draws());
        for i in 0..2000 {
            now += Nanos::from_ms(draws.exponential());
            assert_eq!(by_passing.pass(now, |start| start + service(i)).end, ends.borrow()[i], "request {i}");
        }
        let (events, passed) = (*by_events.usage(), *by_passing.usage());
        assert_eq!((events.waits, events.services), (passed.waits, passed.services));
        assert_eq!(events.queue.area(s.now()), passed.queue.area(s.now()));
    }
}
