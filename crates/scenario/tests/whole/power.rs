//! What a loss of power leaves of writes that a storage system inside another program has answered.

use std::collections::BTreeSet;

use headrace_scenario::embedded::{PowerLoss, Storage, StorageError};
use headrace_units::Nanos;
use headrace_work::{Block, Op};
use proptest::prelude::*;

/// A disk with a write-back cache, a solid-state drive without power-loss protection, and one with it.
const PARTS: &str = "
parts:
  drive: {type: disk, device: maxtor-7y250p0, positioning: mechanical}
  client: {type: ssd, device: {capacity: 64 MiB, interface: sata_6g, read_latency: 20 us, write_latency: 10 us, flash: {over_provisioning: 28 %,
    channels: 2, dies: 4, page: 16 KiB, planes: 2, block_pages: 16, read: 50 us, program: 500 us, erase: 2 ms, channel_rate: 1 GB/s},
    buffer: {size: 1 MiB}}}
  server: {type: ssd, device: micron-7450-pro-1920gb}
system:
";

/// Systems whose component `t` may lose what it answered.
const VOLATILE: [&str; 16] = [
    "{t: {type: disk, device: maxtor-7y250p0, positioning: mechanical}}",
    "{t: {type: array, level: raid5, of: drive, disks: 4, stripe_unit: 16 KiB}}",
    "{t: {type: array, level: raid1, of: drive, disks: 2}}",
    "{t: {type: array, level: raid0, of: client, disks: 2, stripe_unit: 8 KiB}}",
    "{t: {type: array, level: raid5, of: client, disks: 3, stripe_unit: 16 KiB, cache: {size: 2 MiB, writes: back, volatile: true}}}",
    "{c: {type: ssd, device: micron-7450-pro-1920gb}, d: {type: disk, device: maxtor-7y250p0, positioning: mechanical},
      t: {type: device_cache, to: d, on: c}}",
    "{d: {type: disk, device: maxtor-7y250p0, positioning: mechanical}, t: {type: file_system, of: d, memory: 8 MB, call: 10 us}}",
    "{d: {type: disk, device: maxtor-7y250p0, positioning: mechanical}, t: {type: limiter, to: d, operations: {rate: 200 /s}}}",
    "{d: {type: disk, device: maxtor-7y250p0, positioning: mechanical}, s: {type: shares, to: d, depth: 4}, t: {type: share, of: s}}",
    "{l: {type: fc_loop, rate: 1 Gb/s}, t: {type: array, level: raid0, of: drive, disks: 4, stripe_unit: 8 KiB, via: l}}",
    "{b: {type: scsi_bus, preset: fast}, t: {type: array, level: raid5, of: drive, disks: 3, stripe_unit: 8 KiB, via: b}}",
    "{c: {type: controller, command: 50 us, cache: {size: 1 MB, writes: through}},
      t: {type: array, level: raid6, of: drive, disks: 5, stripe_unit: 64 KiB, controllers: [c]}}",
    "{a: {type: array, level: raid1, of: client, disks: 2}, b: {type: array, level: raid1, of: client, disks: 2},
      t: {type: array, level: raid0, of: [a, b], stripe_unit: 16 KiB}}",
    "{t: {type: disk, device: quantum-atlas-10k, positioning: mechanical, queue_depth: 16}}",
    "{t: {type: disk, device: exos-x18, positioning: mechanical, queue_depth: 32}}",
    "{c: {type: ssd, device: micron-7450-pro-1920gb}, d: {type: disk, device: maxtor-7y250p0, positioning: mechanical},
      t: {type: copy, from: c, to: d, bytes: 1 GB}}",
];

/// Systems whose component `t` loses nothing that it answered.
const STABLE: [&str; 6] = [
    "{t: {type: ssd, device: micron-7450-pro-1920gb}}",
    "{t: {type: disk, device: maxtor-7y250p0, positioning: independent}}",
    "{t: {type: array, level: raid5, of: server, disks: 4, stripe_unit: 16 KiB}}",
    "{t: {type: array, level: raid5, of: drive, disks: 4, stripe_unit: 16 KiB, cache: {size: 64 MiB, writes: back}}}",
    "{d: {type: disk, device: maxtor-7y250p0, positioning: mechanical}, t: {type: write_ahead_log, to: d, size: 1 GiB}}",
    "{d: {type: disk, device: maxtor-7y250p0, positioning: mechanical}, w: {type: write_ahead_log, to: d, at: 100 GB, size: 1 GiB},
      t: {type: lsm_tree, to: d, log: w, keys: 1 GB}}",
];

fn load(system: &str) -> Storage {
    let text = format!("{PARTS}  {system}\n");
    let mut storage = Storage::load(&text, "power.yaml", &[], 1)
        .unwrap_or_else(|problems| panic!("{system}: {}", problems.rendered()));
    storage.remember_writes().unwrap();
    storage
}

/// Number of the component that is asked.
fn target(storage: &Storage) -> usize {
    storage.target("t").unwrap()
}

fn write(storage: &mut Storage, address: u64, bytes: u64) -> u64 {
    let (now, t) = (storage.now(), target(storage));
    storage.submit(now, t, Block { op: Op::Write, address, bytes }, false).unwrap()
}

fn flush(storage: &mut Storage) -> u64 {
    let (now, t) = (storage.now(), target(storage));
    storage.submit(now, t, Block::FLUSH, false).unwrap()
}

/// Waits for all answers.
fn settle(storage: &mut Storage) {
    while storage.next_completion(Nanos::MAX).unwrap().is_some() {}
}

fn lost(loss: &PowerLoss) -> BTreeSet<u64> {
    loss.lost.iter().map(|write| write.ticket).collect()
}

/// What a host does: writes 4 to 64 KiB, flushes, or waits.
#[derive(Clone, Copy, Debug)]
enum Step {
    Write { place: u64, blocks: u64, durable: bool },
    Flush,
    Wait { us: u64 },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0u64..2000, 1u64..16, prop::bool::weighted(0.1))
            .prop_map(|(place, blocks, durable)| Step::Write { place, blocks, durable }),
        1 => Just(Step::Flush),
        3 => (0u64..40_000).prop_map(|us| Step::Wait { us }),
    ];
    prop::collection::vec(step, 1..80)
}

/// The requests of a host, and what it knows of them.
#[derive(Default)]
struct Known {
    writes: BTreeSet<u64>,
    /// Durable writes, and all flushes each with the writes that were answered before it was submitted.
    durable: BTreeSet<u64>,
    flushes: Vec<(u64, BTreeSet<u64>)>,
    answered: BTreeSet<u64>,
}

impl Known {
    fn act(&mut self, storage: &mut Storage, step: Step) {
        match step {
            Step::Write { place, blocks, durable } => {
                let block = Block { op: Op::Write, address: place * 4096, bytes: blocks * 4096 };
                let (now, t) = (storage.now(), target(storage));
                let ticket = storage.submit(now, t, block, durable).unwrap();
                if durable {
                    self.durable.insert(ticket)
                } else {
                    self.writes.insert(ticket)
                };
            }
            Step::Flush => {
                let covered = self.writes.intersection(&self.answered).copied().collect();
                self.flushes.push((flush(storage), covered));
            }
            Step::Wait { us } => {
                let until = storage.now() + Nanos(us * 1000);
                while let Some(found) = storage.next_completion(until).unwrap() {
                    assert!(!found.failed);
                    self.answered.insert(found.ticket);
                }
            }
        }
    }

    /// The writes that may not be lost: durable ones, and those covered by a flush that was answered.
    fn stable(&self) -> BTreeSet<u64> {
        let flushes = self.flushes.iter().filter(|(flush, _)| self.answered.contains(flush));
        let durable = self.durable.intersection(&self.answered).copied();
        flushes.flat_map(|(_, covered)| covered.iter().copied()).chain(durable).collect()
    }

    fn check(&self, loss: &PowerLoss) {
        let lost = lost(loss);
        assert!(lost.is_disjoint(&self.stable()), "lost: {lost:?}, stable: {:?}", self.stable());
        assert!(lost.iter().all(|ticket| self.writes.contains(ticket) && self.answered.contains(ticket)));
        for write in &loss.lost {
            assert!(!write.parts.is_empty());
            let within = |(at, bytes): &(u64, u64)| {
                *bytes > 0 && *at >= write.block.address && at + bytes <= write.block.end()
            };
            assert!(write.parts.iter().all(within), "{write:?}");
        }
        let all = self.writes.iter().chain(&self.durable).chain(self.flushes.iter().map(|(flush, _)| flush));
        let open: Vec<u64> =
            all.copied().collect::<BTreeSet<_>>().difference(&self.answered).copied().collect();
        assert_eq!(loss.unanswered, open);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_is_lost_that_a_flush_covered(steps in steps()) {
        for system in VOLATILE.iter().chain(&STABLE) {
            let (mut storage, mut known) = (load(system), Known::default());
            steps.iter().for_each(|step| known.act(&mut storage, *step));
            known.act(&mut storage, Step::Wait { us: 0 });
            known.check(&storage.lose_power().unwrap());
            // It goes on, and what is written and flushed then is stable.
            let again = write(&mut storage, 0, 65536);
            settle(&mut storage);
            let covered = flush(&mut storage);
            let found = storage.next_completion(Nanos::MAX).unwrap().expect("a flush is answered");
            prop_assert!(found.ticket == covered && covered > again && !found.failed, "{system}");
            prop_assert_eq!(storage.lose_power().unwrap(), PowerLoss::default(), "{}", system);
        }
    }

    #[test]
    fn what_has_power_loss_protection_or_no_volatile_memory_loses_nothing(steps in steps()) {
        for system in STABLE {
            let (mut storage, mut known) = (load(system), Known::default());
            steps.iter().for_each(|step| known.act(&mut storage, *step));
            known.act(&mut storage, Step::Wait { us: 0 });
            prop_assert!(storage.lose_power().unwrap().lost.is_empty(), "{system}");
        }
    }
}

/// Writes 16 scattered pieces of 64 KiB and loses power after `wait`.
fn after(system: &str, wait: Nanos) -> PowerLoss {
    let mut storage = load(system);
    for number in 0..16 {
        write(&mut storage, (number * 7 % 16) << 20, 65536);
    }
    settle(&mut storage);
    let until = storage.now() + wait;
    storage.advance(until).unwrap();
    storage.lose_power().unwrap()
}

/// Devices write back by themselves, so the later power fails, the less is lost, and after seconds nothing.
#[test]
fn less_is_lost_the_later_power_fails() {
    for system in [VOLATILE[0], VOLATILE[1], VOLATILE[2], VOLATILE[9]] {
        let mut before = BTreeSet::from_iter(0..16);
        let mut sizes = BTreeSet::new();
        for ms in (0..400).step_by(20).chain([10_000]) {
            let now = lost(&after(system, Nanos(ms * 1_000_000)));
            assert!(now.is_subset(&before), "{system}, {ms} ms: {now:?} after {before:?}");
            sizes.insert(now.len());
            before = now;
        }
        assert!(before.is_empty() && sizes.len() > 3, "{system}: {sizes:?}");
    }
}

/// A second failure right after the first loses nothing more, and one amid a flush what is not stable yet.
#[test]
fn power_may_fail_again_and_while_a_flush_waits() {
    for system in VOLATILE {
        let mut storage = load(system);
        let first = write(&mut storage, 1 << 20, 65536);
        settle(&mut storage);
        let flush = flush(&mut storage);
        let soon = storage.now() + Nanos(1000);
        storage.advance(soon).unwrap();
        let loss = storage.lose_power().unwrap();
        assert!(loss.unanswered == [flush] || loss.lost.is_empty(), "{system}: {loss:?}");
        assert!(lost(&loss).is_subset(&BTreeSet::from([first])));
        assert_eq!(storage.lose_power().unwrap(), PowerLoss::default(), "{system}");
        assert!(storage.next_completion(Nanos::MAX).unwrap().is_none(), "{system}: answered without power");
    }
}

/// A write over several disks is torn where one of them has written its part and another has not.
#[test]
fn a_write_over_several_disks_can_be_torn() {
    let system = "{t: {type: array, level: raid0, of: drive, disks: 2, stripe_unit: 32 KiB}}";
    let losses = (0..60).map(|ms| after(system, Nanos(ms * 1_000_000)));
    let torn: Vec<_> = losses.flat_map(|loss| loss.lost).filter(|write| write.is_torn()).collect();
    assert!(!torn.is_empty());
    for write in torn {
        assert!(write.parts.iter().all(|(_, bytes)| *bytes == 32768), "whole units: {write:?}");
    }
}

/// A read of what a cache has takes no time of the disk's; after a loss of power it has to come from the platter.
#[test]
fn a_cache_is_empty_after_a_loss_of_power() {
    for system in [VOLATILE[0], VOLATILE[6]] {
        let mut storage = load(system);
        let t = target(&storage);
        let read = |storage: &mut Storage| {
            let (now, block) = (storage.now(), Block { op: Op::Read, address: 0, bytes: 4096 });
            storage.submit(now, t, block, false).unwrap();
            storage.next_completion(Nanos::MAX).unwrap().expect("it is answered").at - now
        };
        let [first, again] = [read(&mut storage), read(&mut storage)];
        storage.lose_power().unwrap();
        let after = read(&mut storage);
        assert!(again < Nanos(600_000) && after > Nanos(1_000_000), "{system}: {first}, {again}, {after}");
    }
}

/// A request that is submitted for later comes later, with power.
#[test]
fn what_is_submitted_for_later_is_answered() {
    let mut storage = load(VOLATILE[0]);
    let t = target(&storage);
    let read = Block { op: Op::Read, address: 0, bytes: 4096 };
    let now = storage.submit(Nanos(0), t, read, false).unwrap();
    let later = storage.submit(Nanos(1_000_000_000), t, read, false).unwrap();
    storage.advance(Nanos(10_000)).unwrap();
    assert_eq!(storage.lose_power().unwrap(), PowerLoss { lost: vec![], unanswered: vec![now] });
    let found = storage.next_completion(Nanos::MAX).unwrap().expect("it is answered");
    assert!(found.ticket == later && found.at > Nanos(1_000_000_000));
    assert!(storage.next_completion(Nanos::MAX).unwrap().is_none());
}

#[test]
fn a_mistake_is_an_error() {
    let text = format!("{PARTS}  {}\n", VOLATILE[0]);
    let mut storage = Storage::load(&text, "power.yaml", &[], 1).unwrap();
    assert!(matches!(storage.lose_power(), Err(StorageError::CannotLosePower(_))));
    write(&mut storage, 0, 4096);
    assert_eq!(storage.remember_writes(), Err(StorageError::TooLateToRemember));
    let busy =
        format!("{text}workload: {{others: {{to: t, arrivals: {{closed: {{depth: 1}}}}, size: 4 KiB}}}}\n");
    let mut storage = Storage::load(&busy, "power.yaml", &[], 1).unwrap();
    assert!(matches!(storage.remember_writes(), Err(StorageError::CannotLosePower(_))));
    assert!(matches!(storage.lose_power(), Err(StorageError::CannotLosePower(_))));
}

/// A host that never flushes keeps no more in memory than what can be lost.
#[test]
fn writes_that_are_stable_are_forgotten() {
    let mut storage = load(STABLE[0]);
    for number in 0..200_000 {
        write(&mut storage, number % 1000 * 4096, 4096);
        settle(&mut storage);
    }
    assert!(storage.lose_power().unwrap().lost.is_empty());
}
