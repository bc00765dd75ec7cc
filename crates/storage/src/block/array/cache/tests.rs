//! The parts of a cache against sets of bytes and lists.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proptest::prelude::*;

use super::dirty::Dirty;
use super::lines::CacheLines;
use super::span::ByteSpan;
use super::streams::{ReadStreams, Rules};
use crate::core::replacement::ReplacementSpec;

const STRIPE: u64 = 16;

/// A span of one stripe of sixteen bytes.
fn span() -> impl Strategy<Value = ByteSpan> {
    (0u64..5, 0u64..STRIPE, 1u64..=STRIPE).prop_map(|(stripe, from, bytes)| {
        let from = stripe * STRIPE + from;
        ByteSpan { from, to: (from + bytes).min((stripe + 1) * STRIPE) }
    })
}

proptest! {
    /// Dirty data is the set of bytes that were written and not taken; stripes are taken oldest first, whole ones known as such.
    #[test]
    fn dirty_data_is_a_set_of_bytes(steps in prop::collection::vec((span(), 0u32..4), 1..60)) {
        let mut dirty = Dirty::of_stripes(STRIPE);
        let mut bytes: BTreeSet<u64> = BTreeSet::new();
        let mut ages: BTreeMap<u64, usize> = BTreeMap::new();
        for (step, (span, take)) in steps.into_iter().enumerate() {
            let stripe = span.from / STRIPE;
            let new = (span.from..span.to).filter(|byte| bytes.insert(*byte)).count() as u64;
            prop_assert_eq!(dirty.add(span), new);
            ages.entry(stripe).or_insert(step);
            prop_assert!(dirty.holds(span) && dirty.touches(span));
            if take == 0 {
                let taken: u64 = dirty.take(stripe).iter().map(|span| span.bytes()).sum();
                let before = bytes.len() as u64;
                bytes.retain(|byte| byte / STRIPE != stripe);
                ages.remove(&stripe);
                prop_assert_eq!(taken, before - bytes.len() as u64);
            }
            let is_whole = |stripe: &u64| bytes.range(stripe * STRIPE..(stripe + 1) * STRIPE).count() as u64 == STRIPE;
            let oldest = |whole: bool| {
                let of_kind = ages.iter().filter(|(stripe, _)| is_whole(stripe) == whole);
                of_kind.min_by_key(|(_, age)| **age).map(|(stripe, _)| *stripe)
            };
            prop_assert_eq!(dirty.bytes(), bytes.len() as u64);
            prop_assert_eq!(dirty.oldest_full(), oldest(true));
            prop_assert_eq!(dirty.oldest_partial(), oldest(false));
            let in_parts = bytes.iter().filter(|byte| !is_whole(&(*byte / STRIPE))).count() as u64;
            prop_assert_eq!(dirty.in_parts(), in_parts);
        }
    }

    /// Lines are a list, the one used last at its end.
    #[test]
    fn lines_leave_in_the_order_of_their_use(steps in prop::collection::vec((0u32..4, 0u64..12), 1..80)) {
        let order = Rc::new(RefCell::new(ReplacementSpec::Lru.of(12)));
        let mut lines = CacheLines::of(4, 0, Rc::clone(&order));
        let mut list: Vec<u64> = Vec::new();
        for (what, number) in steps {
            let line = ByteSpan { from: number * 4, to: number * 4 + 4 };
            let known = list.iter().position(|other| *other == number);
            match what {
                0 => {
                    prop_assert_eq!(lines.insert(line.from), known.is_none());
                    if let Some(at) = known { list.remove(at); }
                    list.push(number);
                }
                1 => {
                    lines.touch(line);
                    if let Some(at) = known { list.remove(at); list.push(number); }
                }
                2 => {
                    prop_assert_eq!(lines.invalidate(line), if known.is_some() { 4 } else { 0 });
                    if let Some(at) = known { list.remove(at); }
                }
                _ => {
                    let evicted = order.borrow_mut().evict(None, |_| true);
                    prop_assert_eq!(evicted, list.first().map(|number| (0, *number)));
                    if !list.is_empty() { list.remove(0); prop_assert_eq!(lines.gave_way(), 4); }
                }
            }
            prop_assert_eq!(lines.bytes(), 4 * list.len() as u64);
            prop_assert_eq!(lines.hold(line), list.contains(&number));
        }
    }
}

fn streams(run: u64) -> ReadStreams {
    ReadStreams::new(Rules { window: 32, run, stripe: STRIPE, most: 1 << 20, joins: false, capacity: 1000 })
}

fn picks(streams: &mut ReadStreams) -> Vec<(u64, u64)> {
    std::iter::from_fn(|| streams.pick()).map(|span| (span.from, span.to)).collect()
}

#[test]
fn the_second_read_of_a_stream_sets_reading_ahead_going() {
    let mut streams = streams(64);
    streams.note(ByteSpan { from: 100, to: 108 });
    assert_eq!(picks(&mut streams), [], "one read is no stream");
    streams.note(ByteSpan { from: 108, to: 116 });
    // Up to 116 + 32, in stripes of 16.
    assert_eq!(picks(&mut streams), [(108, 112), (112, 128), (128, 144), (144, 160)]);
    streams.note(ByteSpan { from: 116, to: 124 });
    assert_eq!(picks(&mut streams), [], "it has got there");
    assert!(!streams.will_fetch(ByteSpan { from: 150, to: 152 }), "that was picked");
    streams.note(ByteSpan { from: 500, to: 600 });
    assert_eq!(picks(&mut streams), [], "a read elsewhere");
}

#[test]
fn neighbouring_stripes_are_fetched_as_one_up_to_the_target_and_the_run() {
    let joined = |run| {
        let rules = Rules { window: 32, run, stripe: STRIPE, most: 1 << 20, joins: true, capacity: 1000 };
        let mut streams = ReadStreams::new(rules);
        streams.note(ByteSpan { from: 100, to: 108 });
        streams.note(ByteSpan { from: 108, to: 116 });
        picks(&mut streams)
    };
    assert_eq!(joined(64), [(108, 160)], "up to 116 + 32, in whole stripes");
    assert_eq!(joined(32), [(108, 128), (128, 144), (144, 160)], "a run ends with a stripe");
}

#[test]
fn streams_take_turns_of_a_run_each() {
    let mut streams = streams(32);
    for from in [0, 400] {
        streams.note(ByteSpan { from, to: from + 16 });
        streams.note(ByteSpan { from: from + 16, to: from + 32 });
    }
    let begins: Vec<u64> = picks(&mut streams).iter().map(|span| span.0).collect();
    assert_eq!(begins, [16, 32, 416, 432, 48, 448], "two stripes each, and then the rest");
}
