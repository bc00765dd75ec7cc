//! Limiters: against token buckets by another formula, request by request; over any window; and against published credits.

use super::common::{Coming, by_events, by_recursion, drive, graph, lowered};
use crate::{ComponentSpec, Graph};
use headrace_units::Nanos;
use headrace_work::{Block, Op};
use proptest::prelude::*;

fn component(text: &str) -> ComponentSpec {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A limiter before a target that takes no longer for many requests than for one.
fn limited(limits: &str) -> Graph {
    let target =
        component(r#"{"type": "station", "servers": 100000, "service": "1 ms", "capacity": "1 TiB"}"#);
    let limiter = component(&format!(r#"{{"type": "limiter", "to": "target", {limits}}}"#));
    graph(&[("target", target), ("volume", limiter)], &drive())
}

/// A bucket by the time at which it is full: ns per token, tokens saved, and tokens of a request.
struct Reference {
    token_ns: u64,
    saves: u64,
    tokens: fn(u64) -> u64,
}

/// When each request goes on, with buckets as [`Reference`] has them: the generic cell rate algorithm (ITU-T I.371), in whole ns.
fn goes_on(buckets: &[Reference], requests: &[(u64, u64)]) -> Vec<u64> {
    let (mut full_at, mut last) = (vec![0; buckets.len()], 0);
    let one = |&(came, bytes): &(u64, u64)| {
        let first: u64 = last.max(came);
        let all = || buckets.iter().zip(&full_at);
        let paid = |(bucket, full_at): (&Reference, &u64)| {
            (first.max(*full_at) + (bucket.tokens)(bytes) * bucket.token_ns)
                .saturating_sub(bucket.saves * bucket.token_ns)
        };
        last = all().map(paid).fold(first, u64::max);
        let later = |(bucket, full_at): (&Reference, &u64)| {
            let (tokens, ns) = ((bucket.tokens)(bytes), bucket.token_ns);
            (first.max(*full_at) + tokens * ns).max(last + tokens.min(bucket.saves) * ns)
        };
        full_at = all().map(later).collect();
        last
    };
    requests.iter().map(one).collect()
}

/// When each request goes on in a simulation.
fn simulated(graph: &Graph, requests: &[(u64, u64)]) -> Vec<u64> {
    let coming: Vec<Coming> = requests
        .iter()
        .map(|&(at, bytes)| (Nanos(at), 0, Block { op: Op::Read, address: 0, bytes }))
        .collect();
    let accounts = by_events(graph, &["volume"], &coming);
    assert_eq!(by_recursion(graph, "volume", &coming), accounts, "events and the recursion give the same");
    accounts.iter().map(|breakdown| breakdown.until().0 - 1_000_000).collect()
}

/// Requests with gaps of up to 2 ms, some of none, and sizes of up to 8 KiB.
fn traffic() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let gap = prop_oneof![Just(0), 0u64..2_000_000, 0u64..20_000_000];
    prop::collection::vec((gap, 1u64..8192), 1..120).prop_map(|all| {
        let mut now = 0;
        let coming = |(gap, bytes)| {
            now += gap;
            (now, bytes)
        };
        all.into_iter().map(coming).collect()
    })
}

proptest! {
    /// 1 MB/s and 1000 operations/s of 4 KiB, with bursts of any size: also of nothing, and smaller than a request.
    #[test]
    fn requests_go_on_when_the_formula_says(
        requests in traffic(), saved in 0u64..20_000, operations in 0u64..8,
    ) {
        let graph = limited(&format!(
            r#""bytes": {{"rate": "1 MB/s", "burst": "{saved} B"}},
               "operations": {{"rate": "1000 /s", "burst": {operations}, "unit": "4 KiB"}}"#
        ));
        let buckets = [
            Reference { token_ns: 1000, saves: saved, tokens: |bytes| bytes },
            Reference { token_ns: 1_000_000, saves: operations, tokens: |bytes| bytes.div_ceil(4096) },
        ];
        let found = simulated(&graph, &requests);
        for (found, expected) in found.iter().zip(goes_on(&buckets, &requests)) {
            prop_assert!(found.abs_diff(expected) <= 2, "{found} instead of {expected}");
        }
    }

    /// Over any window from one request to another, no more goes on than what was saved at its start and what came in it. What a request
    /// larger than the bucket waits for counts as saved for it.
    #[test]
    fn no_window_has_more_than_was_saved_and_came(requests in traffic(), saved in 0u64..20_000) {
        let limits = format!(r#""bytes": {{"rate": "1.7 MB/s", "burst": "{saved} B", "peak": "3.1 MB/s"}}"#);
        let at = simulated(&limited(&limits), &requests);
        for from in 0..at.len() {
            let mut sum = 0;
            for to in from..at.len() {
                sum += requests[to].1;
                let window = (at[to] - at[from]) as f64 * 1e-9;
                for (rate, saved) in [(1.7e6, saved as f64), (3.1e6, 3.1e5)] {
                    let most = saved.max(requests[from].1 as f64) + rate * window;
                    prop_assert!(sum as f64 <= most + 0.01, "{sum} in {window} s, {most} at most");
                }
            }
        }
    }

    /// From the first wait on, a source that is never short of requests gets the rate, to one request.
    #[test]
    fn the_long_run_rate_is_the_limit_to_one_request(bytes in 1u64..100_000, many in 1u64..300) {
        let requests: Vec<_> = (0..many).map(|_| (0, bytes)).collect();
        let at = simulated(&limited(r#""bytes": {"rate": "3.3 MB/s", "burst": "40 kB"}"#), &requests);
        let gone = (many * bytes) as f64;
        let most = 40e3 + 3.3e6 * (*at.last().unwrap() as f64 * 1e-9);
        prop_assert!(gone <= most.max(bytes as f64) + 0.01 && gone > most - bytes as f64 - 40e3);
    }
}

/// In ns.
const TENTH: u64 = 100_000_000;

/// Seconds after which a `gp2` volume of some GiB that is asked 3,000 operations every second has used up its credits, by the table
/// in Amazon's user guide, and those in which it has saved all again.
#[test]
fn credits_last_as_long_as_published() {
    for (gib, lasts_s, refilled_s) in [(100, 2000, 18_000), (334, 2703, 5389), (750, 7200, 2400)] {
        let rate = 3 * gib;
        let graph = limited(&format!(
            r#""operations": {{"rate": "{rate} /s", "burst": 5400000, "peak": "3000 /s", "unit": "1 KiB"}}"#
        ));
        let tenths = |from: u64| (1..=10 * lasts_s + 50).map(move |at| (from + at * TENTH, 300 * 1024));
        let used_up = |burst: &[(u64, u64)], at: &[u64]| {
            let waits = |((came, _), at): (&(u64, u64), &u64)| at - came > 1_000_000;
            burst.iter().zip(at).position(waits).unwrap() as f64 / 10.0
        };
        let burst: Vec<_> = tenths(0).collect();
        let at = simulated(&graph, &burst);
        let found = used_up(&burst, &at);
        assert!((found - lasts_s as f64).abs() <= 1.0, "{gib} GiB: {found} s");
        // The last of the burst leaves nothing behind.
        let again: Vec<_> = tenths(at.last().unwrap() + refilled_s * 10 * TENTH).collect();
        let at = simulated(&graph, &[burst, again.clone()].concat());
        let found = used_up(&again, &at[at.len() - again.len()..]);
        assert!((found - lasts_s as f64).abs() <= 1.0, "{gib} GiB: {found} s after {refilled_s} s of rest");
    }
}

/// Requests that come at once, beyond what is saved.
#[test]
fn a_limiter_that_refuses_keeps_nobody_waiting() {
    let system = [
        ("target", component(r#"{"type": "station", "servers": 9, "service": "1 ms", "capacity": "1 GiB"}"#)),
        (
            "volume",
            component(
                r#"{"type": "limiter", "to": "target", "operations": {"rate": "10 /s", "burst": 2}, "excess": "refuse"}"#,
            ),
        ),
    ];
    let graph = graph(&system, &drive());
    let block = Block { op: Op::Write, address: 0, bytes: 512 };
    let coming = [0, 0, 0, 99_999_999, 100_000_001].map(|at| (Nanos(at), 0, block));
    let failed: Vec<_> = by_events_of_some(&graph, &coming);
    assert_eq!(failed, [false, false, true, true, false]);
}

/// Whether each request failed; edges to the target carry the others alone.
fn by_events_of_some(graph: &Graph, coming: &[Coming]) -> Vec<bool> {
    use crate::{Arena, NodeContext, SimContext, Slots, Timeline};
    use headrace_kernel::Sim;
    use headrace_work::{Breakdown, Request};
    let sim = Sim::new();
    let shared = SimContext::new(&sim, 1, Timeline::default());
    let (contexts, slots) = (NodeContext::of_all(graph, &shared), Slots::of(graph));
    let edge = Arena::build(graph, &shared, &contexts, &slots).edge_to(graph.named("volume").unwrap());
    let failed = std::cell::RefCell::new(vec![false; coming.len()]);
    let (s, e, f) = (&sim, &edge, &failed);
    for (number, &(at, _, block)) in coming.iter().enumerate() {
        s.spawn(async move {
            s.until(at).await;
            let mut breakdown = Breakdown::from(at);
            e.serve(&Request::new(number as u64, block), &mut breakdown).await;
            f.borrow_mut()[number] = breakdown.has_failed();
        });
    }
    s.run(Nanos::MAX, u64::MAX);
    s.finish();
    failed.take()
}

#[test]
fn mistakes_are_told() {
    let target = component(r#"{"type": "station", "service": "1 ms"}"#);
    for (limits, field, says) in [
        ("", "operations", "nothing is limited"),
        (r#", "bytes": {"rate": "1 MB/s", "peak": "1 MB/s"}"#, "bytes.peak", "must be above `rate`"),
        (r#", "operations": {"rate": "1 /s", "burst": -1}"#, "operations.burst", "must be from 0"),
        (r#", "operations": {"rate": "1 /s", "unit": "0 B"}"#, "operations.unit", "at least 1 B"),
    ] {
        let limiter = component(&format!(r#"{{"type": "limiter", "to": "target"{limits}}}"#));
        let errors = lowered(&[("target", target.clone()), ("volume", limiter)], &drive()).unwrap_err();
        assert_eq!(errors[0].field.join("."), format!("system.volume.{field}"));
        assert!(errors[0].message.contains(says), "{}", errors[0].message);
    }
}
