//! Transfers that share links: fairness, capacity, against a simulation of blocks and against filling done again for each transfer.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use headrace_kernel::{Fluid, LinkId, Moved, Sim};
use headrace_units::{BytesPerSecond, Nanos};
use proptest::prelude::*;

/// A transfer: when it begins in ms, bytes, links by number, own limit in MB/s.
type Job = (u64, u64, Vec<usize>, f64);

const MB: f64 = 1e6;

/// Runs until no events are left; returns the time.
fn run(sim: &Sim) -> Nanos {
    sim.run(Nanos::MAX, u64::MAX);
    sim.now()
}

/// When each job ends, and what it met.
#[track_caller]
fn ends(rates: &[f64], jobs: &[Job]) -> Vec<(Nanos, Moved)> {
    let (sim, found) = (Sim::new(), RefCell::new(vec![(Nanos::ZERO, Moved::default()); jobs.len()]));
    let fluid = Fluid::new(&sim);
    let links: Vec<LinkId> = rates.iter().map(|rate| fluid.link(BytesPerSecond(rate * MB))).collect();
    let (s, fluid, found_ref) = (&sim, &fluid, &found);
    for (at, (begin, bytes, way, most)) in jobs.iter().cloned().enumerate() {
        let way: Vec<LinkId> = way.iter().map(|link| links[*link]).collect();
        s.spawn(async move {
            s.delay(Nanos(begin * 1_000_000)).await;
            let moved = fluid.transfer(bytes, &way, most * MB, 0).await;
            found_ref.borrow_mut()[at] = (s.now(), moved);
        });
    }
    run(s);
    assert_eq!(fluid.transfers(), 0);
    for (link, rate) in links.iter().zip(rates) {
        let usage = fluid.usage(*link);
        let carried: u64 =
            jobs.iter().filter(|job| job.2.iter().any(|at| links[*at] == *link)).map(|job| job.1).sum();
        let busy = usage.busy[0] as f64 * 1e-9 * rate * MB;
        assert!((busy - carried as f64).abs() < 1e-3 * carried as f64 + 1000.0, "{busy} of {carried} bytes");
        assert!(usage.busy[0] <= u128::from(s.now().0));
    }
    s.finish();
    found.into_inner()
}

/// No link carries more than it can; and each rate is at its own limit, or at the top of a link that is full.
fn is_fair(links: &[(LinkId, f64)], rates: &[(Vec<LinkId>, f64, u64)], most: f64) -> Result<(), String> {
    let load = |link: LinkId| -> f64 {
        let on = rates.iter().filter(|(way, ..)| way.contains(&link));
        on.map(|(_, rate, running)| rate * *running as f64).sum()
    };
    for (link, rate) in links {
        if load(*link) > rate * (1.0 + 1e-9) {
            return Err(format!("{} on a link of {rate}", load(*link)));
        }
    }
    for (way, rate, _) in rates {
        let tops = |link: LinkId| {
            let of = links.iter().find(|(other, _)| *other == link).expect("it is a link").1;
            let on = rates.iter().filter(|(way, ..)| way.contains(&link));
            load(link) >= of * (1.0 - 1e-9)
                && on.fold(0.0f64, |top, (_, rate, _)| top.max(*rate)) <= rate * (1.0 + 1e-9)
        };
        if *rate < most * (1.0 - 1e-9) && !way.iter().any(|link| tops(*link)) {
            return Err(format!("{rate} over {way:?} could be more"));
        }
    }
    Ok(())
}

fn jobs(links: usize) -> impl Strategy<Value = Vec<Job>> {
    let job = (
        0u64..4000,
        1u64..8_000_000,
        prop::collection::vec(0..links, 1..4),
        prop::sample::select(vec![0.7, f64::INFINITY]),
    );
    prop::collection::vec(job, 1..40)
}

/// When jobs end where every rate is recomputed for each transfer by itself, step by step.
fn reference(rates: &[f64], jobs: &[Job]) -> Vec<f64> {
    let mut left: Vec<f64> = jobs.iter().map(|job| job.1 as f64).collect();
    let (mut ended, mut now) = (vec![0.0; jobs.len()], 0.0);
    loop {
        let live: Vec<usize> =
            (0..jobs.len()).filter(|&at| left[at] > 0.0 && jobs[at].0 as f64 / 1e3 <= now + 1e-12).collect();
        let shares = filled(rates, jobs, &live);
        let next_begin = jobs.iter().map(|job| job.0 as f64 / 1e3).filter(|begin| *begin > now + 1e-12);
        let next_end = live.iter().zip(&shares).map(|(at, share)| now + left[*at] / share);
        let next = next_begin.chain(next_end).fold(f64::INFINITY, f64::min);
        if next.is_infinite() {
            return ended;
        }
        for (at, share) in live.iter().zip(&shares) {
            left[*at] -= share * (next - now);
            if left[*at] < 1e-6 * share.max(1.0) {
                (left[*at], ended[*at]) = (0.0, next);
            }
        }
        now = next;
    }
}

/// All rates rise by small common steps until they are stopped: each step is the least that stops one.
fn filled(rates: &[f64], jobs: &[Job], live: &[usize]) -> Vec<f64> {
    let mut share = vec![0.0; live.len()];
    let mut open = vec![true; live.len()];
    while open.contains(&true) {
        let mut step = f64::INFINITY;
        let uses = |at: usize, link: usize| jobs[live[at]].2.contains(&link);
        for (link, rate) in rates.iter().enumerate() {
            let used: f64 = (0..live.len()).filter(|&at| uses(at, link)).map(|at| share[at]).sum();
            let rising = (0..live.len()).filter(|&at| open[at] && uses(at, link)).count();
            if rising > 0 {
                step = step.min((rate * MB - used).max(0.0) / rising as f64);
            }
        }
        let own = (0..live.len()).filter(|&at| open[at]).map(|at| jobs[live[at]].3 * MB - share[at]);
        step = own.fold(step, f64::min);
        (0..live.len()).filter(|&at| open[at]).for_each(|at| share[at] += step);
        for at in 0..live.len() {
            let full = |link: usize| {
                let used: f64 = (0..live.len()).filter(|&at| uses(at, link)).map(|at| share[at]).sum();
                used >= rates[link] * MB * (1.0 - 1e-12)
            };
            let stopped = share[at] >= jobs[live[at]].3 * MB * (1.0 - 1e-12)
                || jobs[live[at]].2.iter().any(|link| full(*link));
            open[at] &= !stopped;
        }
    }
    share
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn transfers_end_when_filling_each_by_itself_says(jobs in jobs(4), rates in prop::collection::vec(0.5f64..5.0, 4)) {
        for ((found, _), wanted) in ends(&rates, &jobs).iter().zip(reference(&rates, &jobs)) {
            prop_assert!((found.secs() - wanted).abs() < 1e-6 * wanted + 1e-6, "{} s, {wanted} s", found.secs());
        }
    }

    /// At every instant: never over capacity, and no rate could be more without one that is no higher being less.
    #[test]
    fn rates_are_fair_and_links_never_overfull(jobs in jobs(5), rates in prop::collection::vec(0.5f64..5.0, 5)) {
        let sim = Sim::new();
        let fluid = Fluid::new(&sim);
        let links: Vec<(LinkId, f64)> = rates.iter().map(|rate| (fluid.link(BytesPerSecond(rate * MB)), rate * MB)).collect();
        let (s, fluid) = (&sim, &fluid);
        for (begin, bytes, way, _) in jobs {
            let way: Vec<LinkId> = way.iter().map(|at| links[*at].0).collect();
            s.spawn(async move {
                s.delay(Nanos(begin * 1_000_000)).await;
                fluid.transfer(bytes, &way, 0.9 * MB, 0).await;
            });
        }
        let mut until = Nanos::ZERO;
        loop {
            // Half a ms after the last change, rates are settled.
            until += Nanos(37_500_000);
            let pause = s.run(until, u64::MAX);
            prop_assert_eq!(is_fair(&links, &fluid.rates(), 0.9 * MB), Ok(()));
            if pause == headrace_kernel::Pause::Idle {
                break;
            }
        }
        s.finish();
    }
}

/// Blocks of a transfer pass its links one after another, first come first served at each, at most `window` of them in flight:
/// when each transfer ends, in s.
fn in_blocks(rates: &[f64], jobs: &[Job], block: u64, window: u64) -> Vec<f64> {
    let (mut events, mut number) = (BinaryHeap::new(), 0u64);
    let mut send = |events: &mut BinaryHeap<_>, at: u64, job: usize, hop: usize| {
        number += 1;
        events.push(Reverse((at, number, job, hop)));
    };
    let mut left: Vec<(u64, u64)> =
        jobs.iter().map(|job| (job.1.div_ceil(block), job.1.div_ceil(block))).collect();
    for (at, job) in jobs.iter().enumerate() {
        for _ in 0..window.min(left[at].0) {
            left[at].0 -= 1;
            send(&mut events, job.0 * 1_000_000, at, 0);
        }
    }
    let (mut free_at, mut ended) = (vec![0u64; rates.len()], vec![0.0; jobs.len()]);
    while let Some(Reverse((now, _, job, hop))) = events.pop() {
        if let Some(link) = jobs[job].2.get(hop) {
            free_at[*link] = free_at[*link].max(now) + (block as f64 / (rates[*link] * MB) * 1e9) as u64;
            send(&mut events, free_at[*link], job, hop + 1);
            continue;
        }
        left[job].1 -= 1;
        ended[job] = now as f64 * 1e-9;
        if left[job].0 > 0 {
            left[job].0 -= 1;
            send(&mut events, now, job, 0);
        }
    }
    ended
}

/// What movers do, with pseudo-blocks and flow control of two or four in flight: over a network of 7.5 MB/s, chains of 4.7 MB/s and a tape chain of 1 MB/s
/// transfers end when blocks of 64 kB say, within 3 %: at most 0.6 % with two, 1.2 % with four. With eight it is up to 3.2 %, since
/// first come, first served gives more of a link to those with more blocks before it.
#[test]
fn blocks_with_flow_control_take_as_long() {
    let (network, chain, other, tape) = (0, 1, 2, 3);
    let rates = [7.5, 4.7, 4.7, 1.0];
    let free = f64::INFINITY;
    let mut jobs: Vec<Job> = vec![
        (0, 60_000_000, vec![network, chain], free),
        (1000, 20_000_000, vec![network, chain], free),
        (2000, 30_000_000, vec![network, other], free),
        (2500, 15_000_000, vec![tape, network, other], free),
        (9000, 10_000_000, vec![tape, network, chain], free),
        (12_000, 25_000_000, vec![network, other], free),
    ];
    let fluid = ends(&rates, &jobs);
    for window in [2, 4] {
        for ((found, _), wanted) in fluid.iter().zip(in_blocks(&rates, &jobs, 64_000, window)) {
            assert!(
                (found.secs() / wanted - 1.0).abs() < 0.03,
                "{} s, blocks {wanted} s, window {window}",
                found.secs()
            );
        }
    }
    // With one block in flight a transfer does not fill its links: what the fluid leaves out.
    jobs.truncate(1);
    let alone = in_blocks(&rates, &jobs, 64_000, 1)[0];
    assert!(alone > 1.5 * ends(&rates, &jobs)[0].0.secs(), "{alone} s");
}

/// What limited a transfer, for how long, and how long it would have taken alone.
#[test]
fn a_transfer_learns_where_its_time_went() {
    let jobs = vec![
        (0, 6_000_000, vec![0, 1], f64::INFINITY),
        (0, 2_000_000, vec![0], f64::INFINITY),
        (0, 3_000_000, vec![], 0.5),
    ];
    let found = ends(&[4.0, 3.0], &jobs);
    // Two share 4 MB/s for a second; then the first has the 3 MB/s of its other link for the 4 MB left.
    let s = Nanos::from_secs;
    assert!(found[0].0.0.abs_diff(s(1.0 + 4.0 / 3.0).0) <= 1);
    let [(Some(first), shared, alone), (Some(second), sole, same)] = found[0].1.limited[..] else {
        panic!("{found:?}")
    };
    assert_eq!((shared, alone), (s(1.0), s(0.5)));
    assert!(first < second && sole == same && sole.0.abs_diff(s(4.0 / 3.0).0) <= 1, "{sole} {same}");
    assert_eq!(found[2].1.limited, [(None, s(6.0), s(6.0))]);
}

/// A transfer that is dropped leaves its share to the others and nothing behind.
#[test]
fn a_transfer_that_is_dropped_stops() {
    let sim = Sim::new();
    let fluid = Fluid::new(&sim);
    let link = fluid.link(BytesPerSecond(1e6));
    let (s, fluid) = (&sim, &fluid);
    s.spawn(async move {
        assert_eq!(
            s.within(Nanos::from_secs(1.0), fluid.transfer(9_000_000, &[link], f64::INFINITY, 0)).await,
            None
        );
    });
    s.spawn(async move {
        fluid.transfer(1_000_000, &[link], f64::INFINITY, 1).await;
        assert_eq!(s.now(), Nanos::from_secs(1.5));
    });
    assert_eq!(run(s), Nanos::from_secs(1.5));
    let usage = fluid.usage(link);
    assert_eq!((usage.busy[0], usage.busy[1], usage.ended), (500_000_000, 1_000_000_000, 1));
    s.finish();
}

/// Transfers over the same links are one class: ten times as many cost about ten times as much, not a hundred.
#[test]
fn many_transfers_end_in_order() {
    let jobs: Vec<Job> =
        (0..20_000).map(|at| (0, 1000 + at, vec![at as usize % 6, 6], f64::INFINITY)).collect();
    let found = ends(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 4.0], &jobs);
    assert!(found.windows(7).all(|some| some[0].0 <= some[6].0));
}
