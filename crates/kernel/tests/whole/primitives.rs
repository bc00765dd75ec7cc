//! Resources and rounds as a model uses them: order, and what they record of themselves.

use std::cell::RefCell;

use crate::common::{ms, run};
use headrace_kernel::{Priority, Resource, RngStream, Round, Sim};
use headrace_units::Nanos;

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
fn a_service_by_priority_is_the_same() {
    let sim = Sim::new();
    let (server, order) = (Resource::new(&sim, 1, Priority::default()), RefCell::new(Vec::new()));
    for (name, priority) in [('a', 5), ('b', 2), ('c', 1), ('d', 2)] {
        let (sim, server, order) = (&sim, &server, &order);
        sim.spawn(async move {
            let waited = server.serve_by(priority, ms(1)).await;
            order.borrow_mut().push((name, waited, sim.now()));
        });
    }
    run(&sim);
    let expected = ['a', 'c', 'b', 'd'].iter().zip(0..).map(|(&name, i)| (name, ms(i), ms(i + 1)));
    assert_eq!(*order.borrow(), expected.collect::<Vec<_>>());
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
        let mut draws = RngStream::named(1, "test", "").draws();
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
        let arrivals = RngStream::named(1, "test", "arrivals");
        let service = move |i: usize| {
            Nanos::from_ms(
                0.8 * servers as f64 * RngStream::named(1, "test", "service").of(i as u64).exponential(),
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

/// Two servers, four jobs of 10 ms. At 5 ms both are taken away, at 30 ms one returns: two jobs end at 10 ms, the others at 40 and 50 ms.
#[test]
fn servers_that_are_taken_away_finish_and_take_no_more() {
    let sim = Sim::new();
    let (servers, ends) = (Resource::fcfs(&sim, 2), RefCell::new(Vec::new()));
    for _ in 0..4 {
        let (sim, servers, ends) = (&sim, &servers, &ends);
        sim.spawn(async move {
            servers.serve(ms(10)).await;
            ends.borrow_mut().push(sim.now());
        });
    }
    for (at, left) in [(5, 0), (30, 1)] {
        let (sim, servers) = (&sim, &servers);
        sim.spawn(async move {
            sim.delay(ms(at)).await;
            servers.set_servers(left);
        });
    }
    let end = run(&sim);
    assert_eq!(*ends.borrow(), [10, 10, 40, 50].map(ms));
    let usage = servers.usage();
    assert_eq!(usage.busy.area(end), u128::from(ms(40).0));
    // Both from 10 to 30 ms, one from then on.
    assert_eq!(usage.away.area(end), u128::from(ms(60).0));
}
