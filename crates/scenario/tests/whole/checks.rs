//! A sound run breaks no law; each law catches a run that breaks it.

use headrace_kernel::Sim;
use headrace_storage::{Arena, Edge, NodeContext, SimContext, Slots, Timeline};
use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, NodeId, Op, Request};

use headrace_scenario::checks::{Evidence, broken};
use headrace_scenario::progress::Progress;
use headrace_scenario::record::Record;

const TEXT: &str = "
system: {clerk: {type: station, service: 8 ms}}
workload: {users: {to: clerk, arrivals: {every: 10 ms}}}
";

/// What a run does, right or wrong.
type Act = fn(Arena, &Edge, &mut Record);

/// The laws that a run breaks that ends after 100 ms.
fn laws_broken_by(act: Act) -> Vec<String> {
    let plan = headrace_scenario::prepare(TEXT, "bank.yaml", &[], &Progress::default()).unwrap();
    let sim = Sim::new();
    let shared = SimContext::new(&sim, 1, Timeline::default());
    let (places, slots) = (NodeContext::of_all(&plan.graph, &shared), Slots::of(&plan.graph));
    let arena = Arena::build(&plan.graph, &shared, &places, &slots);
    let edge = arena.edge_to(NodeId(0));
    let mut record = Record::new(&plan, arena, 100, None);
    act(arena, &edge, &mut record);
    let streams = vec![("users", &record.streams[0], &edge)];
    let files = Vec::new();
    broken(&Evidence { files, graph: &plan.graph, arena, streams, callers: &[], now: Nanos(100_000_000) })
}

const ASK: Request<Block> =
    Request { work: Block { op: Op::Read, address: 0, bytes: 4096 }, ..Request::BLANK };

/// One request, made at `born`, answered when its account says.
fn answer(edge: &Edge, record: &mut Record, born: Nanos) {
    let mut breakdown = Breakdown::from(born);
    record.begin(0, born);
    edge.pass(&ASK, &mut breakdown);
    record.end(0, &ASK, &breakdown, breakdown.until());
}

#[track_caller]
fn only(act: Act, says: &str) {
    let found = laws_broken_by(act);
    assert!(found.len() == 1 && found[0].contains(says), "{found:?}");
}

#[test]
fn a_sound_run_breaks_none() {
    let found = laws_broken_by(|_, edge, record| {
        (0..9).for_each(|i| answer(edge, record, Nanos(i * 10_000_000)));
        record.drop(0);
        record.begin(0, Nanos(90_000_000));
        record.fail(0, Nanos(95_000_000), Nanos(90_000_000));
    });
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn work_that_comes_from_nowhere_is_caught() {
    only(
        |arena, edge, record| {
            answer(edge, record, Nanos(0));
            // Someone asks on a way that nobody knows.
            arena.edge_to(NodeId(0)).pass(&ASK, &mut Breakdown::from(Nanos(20_000_000)));
        },
        "clerk: 1 requests (4096 B) were sent to it, and it received 2 (8192 B)",
    );
}

#[test]
fn a_lost_request_is_caught() {
    only(
        |_, edge, record| {
            answer(edge, record, Nanos(0));
            record.streams[0].born += 1;
        },
        "users: 2 requests issued, 1 completed, 0 in flight, 0 dropped, 0 expired, 0 failed",
    );
}

#[test]
fn a_request_that_fails_twice_is_caught() {
    only(
        |_, edge, record| {
            answer(edge, record, Nanos(0));
            record.begin(0, Nanos(10_000_000));
            record.fail(0, Nanos(10_000_000), Nanos(10_000_000));
            record.streams[0].failed += 1;
        },
        "users: 2 requests issued, 1 completed, 0 in flight, 0 dropped, 0 expired, 2 failed",
    );
}

#[test]
fn time_that_no_request_spent_is_caught() {
    only(
        |_, edge, record| {
            answer(edge, record, Nanos(0));
            // A request counts as in flight for longer than it lived.
            record.streams[0].in_flight.add(Nanos(5));
        },
        "users: Little's law: 8000005 request-ns in the system, 8000000 ns spent by requests",
    );
}

#[test]
fn an_account_with_a_hole_is_caught() {
    let found = laws_broken_by(|_, edge, record| {
        let mut breakdown = Breakdown::from(Nanos(0));
        record.begin(0, Nanos(0));
        edge.pass(&ASK, &mut breakdown);
        // The answer comes a millisecond after what the account knows.
        record.end(0, &ASK, &breakdown, Nanos(9_000_000));
    });
    assert!(found[0].contains("Little's law"), "the time is missing there too: {found:?}");
    assert!(found[1].contains("a response took 9000000 ns, and its account has 8000000 ns"), "{found:?}");
}

#[test]
fn a_server_that_serves_two_at_once_is_caught() {
    only(
        |_, edge, record| {
            for _ in 0..13 {
                let mut breakdown = Breakdown::from(Nanos(0));
                edge.pass(&ASK, &mut breakdown);
                record.pass_all(0, &[(ASK, breakdown)]);
            }
            // Thirteen services of 8 ms have no room in 100 ms.
        },
        "clerk: in use for 104000000 server-ns of 100000000",
    );
}

/// Charges cannot overlap: an account refuses to run backwards.
#[test]
#[should_panic(expected = "a charge at 5 ns after one at 9 ns")]
fn an_account_does_not_run_backwards() {
    let mut breakdown = Breakdown::from(Nanos(0));
    breakdown.waited(NodeId(0), Nanos(9));
    breakdown.served(NodeId(0), Nanos(5));
}
