//! The policies against the pseudo-code of their papers, carried out on plain lists.

use std::collections::BTreeSet;

use headrace_kernel::RngStream;
use proptest::prelude::*;

use super::{Item, ReplacementSpec};

/// A cache of `capacity` items that is asked for `trace`: for each access, true for a hit.
fn hits(spec: ReplacementSpec, capacity: usize, trace: &[u64]) -> Vec<bool> {
    let (mut policy, mut held) = (spec.of(capacity), 0);
    let access = |number: &u64| {
        let item = (0, *number);
        if policy.touch(item) {
            return true;
        }
        if held == capacity {
            policy.evict(Some(item), |_| true).expect("a full cache holds something");
        } else {
            held += 1;
        }
        policy.insert(item);
        false
    };
    trace.iter().map(access).collect()
}

/// Accesses with Zipf's popularity over 2,000 items, interrupted by scans of items that are not wanted again.
fn trace() -> Vec<u64> {
    let mut draws = RngStream::named(1, "replacement", "trace").draws();
    let weights: Vec<f64> = (1..=2000).map(|rank| 1.0 / f64::from(rank)).collect();
    let sums: Vec<f64> = weights
        .iter()
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    let mut trace = Vec::new();
    for scan in 0..60 {
        for _ in 0..2500 {
            let at = draws.uniform() * sums[sums.len() - 1];
            trace.push(sums.partition_point(|sum| *sum < at) as u64);
        }
        trace.extend((0..300).map(|n| 10_000 + 300 * (scan / 2) + n));
    }
    assert!(trace.len() > 100_000);
    trace
}

/// Takes an item out of a list, the newest item of which is the last. Returns true if it was there.
fn take(list: &mut Vec<u64>, item: u64) -> bool {
    let at = list.iter().position(|other| *other == item);
    at.map(|at| list.remove(at)).is_some()
}

fn naive_lru(c: usize, trace: &[u64]) -> Vec<bool> {
    let mut list = Vec::new();
    let access = |x: &u64| {
        let hit = take(&mut list, *x);
        if !hit && list.len() == c {
            list.remove(0);
        }
        list.push(*x);
        hit
    };
    trace.iter().map(access).collect()
}

/// Figure 2 of Johnson and Shasha: `Kin` a quarter of the cache, `Kout` half of it.
fn naive_2q(c: usize, trace: &[u64]) -> Vec<bool> {
    let (k_in, k_out) = (c / 4, c / 2);
    let (mut a1_in, mut a1_out, mut am) = (Vec::new(), Vec::new(), Vec::new());
    let access = |x: &u64| {
        if take(&mut am, *x) {
            am.push(*x);
            return true;
        }
        if a1_in.contains(x) {
            return true;
        }
        let again = a1_out.contains(x);
        if a1_in.len() + am.len() == c {
            if a1_in.len() > k_in {
                a1_out.push(a1_in.remove(0));
                if a1_out.len() > k_out {
                    a1_out.remove(0);
                }
            } else {
                am.remove(0);
            }
        }
        if again {
            take(&mut a1_out, *x);
            am.push(*x);
        } else {
            a1_in.push(*x);
        }
        false
    };
    trace.iter().map(access).collect()
}

/// Figure 4 of Megiddo and Modha.
fn naive_arc(c: usize, trace: &[u64]) -> Vec<bool> {
    let (mut t1, mut t2, mut b1, mut b2) = (Vec::new(), Vec::new(), Vec::<u64>::new(), Vec::<u64>::new());
    let mut p = 0.0;
    let mut hits = Vec::new();
    for x in trace.iter().copied() {
        // Case I.
        if take(&mut t1, x) || take(&mut t2, x) {
            t2.push(x);
            hits.push(true);
            continue;
        }
        hits.push(false);
        let (in_b1, in_b2) = (b1.contains(&x), b2.contains(&x));
        let mut replace = false;
        if in_b1 {
            // Case II.
            let delta = if b1.len() >= b2.len() { 1.0 } else { b2.len() as f64 / b1.len() as f64 };
            p = f64::min(p + delta, c as f64);
            replace = true;
        } else if in_b2 {
            // Case III.
            let delta = if b2.len() >= b1.len() { 1.0 } else { b1.len() as f64 / b2.len() as f64 };
            p = f64::max(p - delta, 0.0);
            replace = true;
        } else if t1.len() + b1.len() == c {
            // Case IV A.
            if t1.len() < c {
                b1.remove(0);
                replace = true;
            } else {
                t1.remove(0);
            }
        } else if t1.len() + t2.len() + b1.len() + b2.len() >= c {
            // Case IV B.
            if t1.len() + t2.len() + b1.len() + b2.len() == 2 * c {
                b2.remove(0);
            }
            replace = true;
        }
        if replace {
            let size = t1.len() as f64;
            if !t1.is_empty() && ((in_b2 && size == p) || size > p) {
                b1.push(t1.remove(0));
            } else {
                b2.push(t2.remove(0));
            }
        }
        if take(&mut b1, x) || take(&mut b2, x) {
            t2.push(x);
        } else {
            t1.push(x);
        }
    }
    hits
}

#[test]
fn policies_are_those_of_their_papers() {
    let trace = trace();
    for capacity in [4, 37, 100, 400] {
        assert!(hits(ReplacementSpec::Lru, capacity, &trace) == naive_lru(capacity, &trace), "{capacity}");
        assert!(hits(ReplacementSpec::TwoQ, capacity, &trace) == naive_2q(capacity, &trace), "{capacity}");
        assert!(hits(ReplacementSpec::Arc, capacity, &trace) == naive_arc(capacity, &trace), "{capacity}");
    }
}

/// Scans displace what is used again under LRU, and hardly under the others.
#[test]
fn scans_hurt_lru_most() {
    let trace = trace();
    let ratio = |spec| hits(spec, 200, &trace).iter().filter(|hit| **hit).count() as f64 / trace.len() as f64;
    let [lru, arc, two_q] = [ReplacementSpec::Lru, ReplacementSpec::Arc, ReplacementSpec::TwoQ].map(ratio);
    assert!(arc > lru + 0.03 && two_q > lru + 0.03, "LRU {lru}, ARC {arc}, 2Q {two_q}");
}

proptest! {
    /// Whatever leaves, and whatever may not go, a policy holds what was inserted and neither evicted nor removed; it evicts if anything
    /// may go.
    #[test]
    fn policies_hold_what_was_inserted(steps in prop::collection::vec((0u64..40, 0u32..2, 0u8..6), 0..300)) {
        for spec in ReplacementSpec::ALL {
            let (mut policy, mut held) = (spec.of(8), BTreeSet::<Item>::new());
            for (number, owner, what) in &steps {
                let item = (*owner, *number);
                let may_go = |item: Item| !item.1.is_multiple_of(3);
                if *what == 0 {
                    prop_assert_eq!(policy.remove(item), held.remove(&item));
                } else if !policy.touch(item) {
                    if held.len() >= 8 {
                        let incoming = (*what > 2).then_some(item);
                        let evicted = policy.evict(incoming, may_go);
                        prop_assert_eq!(evicted.is_some(), held.iter().any(|item| may_go(*item)));
                        prop_assert!(evicted.is_none_or(|item| may_go(item) && held.remove(&item)));
                    }
                    policy.insert(item);
                    held.insert(item);
                }
                prop_assert!((0..80).map(|n| (n % 2, u64::from(n / 2))).all(|item| policy.holds(item) == held.contains(&item)));
            }
        }
    }
}
