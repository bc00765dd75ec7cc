use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::block::array::FirstUnit;

const ROTATIONS: [Rotation; 5] = [
    Rotation::LeftSymmetric,
    Rotation::LeftAsymmetric,
    Rotation::RightSymmetric,
    Rotation::RightAsymmetric,
    Rotation::Fixed,
];

fn parity(disks: u64, redundant: u64, rotation: Rotation) -> Parity {
    Parity {
        width: disks,
        unit: 16,
        redundant,
        placement: UnitPlacement::Rotated(rotation),
        small_writes: SmallWrites::Cheaper,
    }
}

fn mirror(columns: u64, copies: u64, pairing: Pairing) -> Mirror {
    let columns = Stripes { disks: columns, unit: 16, first_unit: FirstUnit::Addressed };
    Mirror { columns, copies, pairing }
}

fn bytes(parts: &DiskAccesses) -> BTreeSet<(usize, u64)> {
    parts
        .iter()
        .flat_map(|(disk, part)| (part.address..part.address + part.bytes).map(|at| (*disk, at)))
        .collect()
}

fn total(parts: &DiskAccesses) -> u64 {
    parts.iter().map(|(_, part)| part.bytes).sum()
}

/// Position of a byte of data by the rules of the layout.
fn place(layout: &Parity, byte: u64) -> (usize, u64) {
    let (unit, offset) = (byte / layout.unit, byte % layout.unit);
    let (stripe, unit) = (unit / layout.data(), unit % layout.data());
    let (disk, row) = layout.at(stripe, unit);
    (disk, row * layout.unit + offset)
}

fn any_parity() -> impl Strategy<Value = Parity> {
    (1u64..4, 1u64..7, 0..ROTATIONS.len())
        .prop_map(|(redundant, data, at)| parity(redundant + data, redundant, ROTATIONS[at]))
}

/// Accesses of a write to a whole array.
#[track_caller]
fn whole_write(layout: &Parity, request: Block) -> Accesses {
    let accesses = layout.write(request, &Whole).expect("nothing has failed");
    assert!(accesses.missed.is_empty());
    accesses
}

/// Linux md's left-symmetric RAID 5 over four disks: 0 1 2 P, 4 5 P 3, 8 P 6 7, P 9 10 11.
#[test]
fn left_symmetric_is_that_of_md() {
    let layout = parity(4, 1, Rotation::LeftSymmetric);
    let disks: Vec<Vec<usize>> =
        (0..4).map(|stripe| (0..3).map(|unit| layout.at(stripe, unit).0).collect()).collect();
    assert_eq!(disks, [[0, 1, 2], [3, 0, 1], [2, 3, 0], [1, 2, 3]]);
    assert_eq!([0, 1, 2, 3].map(|stripe| layout.at(stripe, 3).0), [3, 2, 1, 0]);
}

/// FACTS of Chen, Lee, Gibson, Katz and Patterson (1994): of N data units, w written take 2(w + 1) accesses by read-modify-write,
/// N + 1 by reconstruct-write, and a full stripe N + 1 writes.
#[test]
fn a_write_takes_as_many_accesses_as_the_rules_say() {
    for (redundant, small) in [(1, 4), (2, 6)] {
        for data in 2..9 {
            let layout = parity(data + redundant, redundant, Rotation::LeftSymmetric);
            for written in 1..=data {
                let request = Block { op: Op::Write, address: 0, bytes: written * layout.unit };
                let accesses = whole_write(&layout, request);
                let found = accesses.first.len() + accesses.then.len();
                let modify = 2 * (written + redundant);
                let reconstruct = data + redundant;
                let expected = if written == data { data + redundant } else { modify.min(reconstruct) };
                assert_eq!(found as u64, expected, "{written} of {data} + {redundant}");
                if written == 1 && data > redundant + 2 {
                    assert_eq!(found, small);
                }
            }
        }
    }
}

/// Full stripes that follow each other are one write to each disk.
#[test]
fn a_long_write_is_one_access_a_disk() {
    let layout = parity(5, 1, Rotation::LeftSymmetric);
    let request = Block { op: Op::Write, address: 64, bytes: 64 * 10 };
    let accesses = whole_write(&layout, request);
    assert!(accesses.first.is_empty());
    assert_eq!(accesses.then.len(), 5);
    assert!(accesses.then.iter().all(|(_, part)| (part.address, part.bytes) == (16, 160)));
}

#[test]
fn mirrors_survive_what_their_level_promises() {
    let ten = mirror(3, 2, Pairing::Neighbours);
    let sides = mirror(3, 2, Pairing::Sides);
    let failed = |lost: &[usize]| (0..6).map(|disk| lost.contains(&disk)).collect::<Vec<_>>();
    assert!(ten.survives(&failed(&[0, 2, 5])) && !ten.survives(&failed(&[2, 3])));
    assert!(
        sides.survives(&failed(&[0, 1, 2])) && !sides.survives(&failed(&[0, 4])),
        "one disk of each side"
    );
    let one = mirror(1, 3, Pairing::Neighbours);
    assert!(one.survives(&[true, false, true]) && !one.survives(&[true; 3]));
}

proptest! {
    /// No two units of a stripe share a disk, and every disk has one.
    #[test]
    fn a_stripe_has_one_unit_on_each_disk(layout in any_parity(), stripe in 0u64..40) {
        let disks: BTreeSet<usize> = (0..layout.width).map(|n| layout.at(stripe, n).0).collect();
        prop_assert_eq!(disks, (0..layout.disks() as usize).collect());
    }

    /// A read takes every byte from its place, and no other.
    #[test]
    fn a_read_takes_each_byte_from_its_place(layout in any_parity(), address in 0u64..500, size in 1u64..400) {
        let request = Block { op: Op::Read, address, bytes: size };
        let parts = layout.read(request, &Whole).unwrap();
        let expected: BTreeSet<(usize, u64)> = (address..address + size).map(|byte| place(&layout, byte)).collect();
        prop_assert_eq!(total(&parts.then), size, "nothing is read twice");
        prop_assert_eq!(bytes(&parts.then), expected);
    }

    /// A write puts every byte in its place, and the parity that covers it beside; what is read before suffices to compute it.
    #[test]
    fn a_write_knows_what_its_parity_takes(
        layout in any_parity(), address in 0u64..500, size in 1u64..400, lost in prop::collection::vec(any::<bool>(), 10),
    ) {
        let mut failed: Vec<bool> = (0..layout.disks() as usize).map(|disk| lost[disk]).collect();
        while failed.iter().filter(|lost| **lost).count() as u64 > layout.redundant {
            let first = failed.iter().position(|lost| *lost).unwrap();
            failed[first] = false;
        }
        let accesses = layout.write(Block { op: Op::Write, address, bytes: size }, failed.as_slice()).unwrap();
        let (read, written) = (bytes(&accesses.first), bytes(&accesses.then));
        prop_assert!(accesses.first.iter().chain(&accesses.then).all(|(disk, _)| !failed[*disk]));
        let places: BTreeSet<(usize, u64)> = (address..address + size).map(|byte| place(&layout, byte)).collect();
        prop_assert!(places.iter().filter(|(disk, _)| !failed[*disk]).all(|at| written.contains(at)));
        for &(_, at) in &places {
            let stripe = at / layout.unit;
            let data: Vec<usize> = (0..layout.data()).map(|n| layout.at(stripe, n).0).collect();
            let parity = (layout.data()..layout.width).map(|n| layout.at(stripe, n).0);
            let usable: Vec<usize> = parity.filter(|disk| !failed[*disk]).collect();
            prop_assert!(usable.iter().all(|disk| written.contains(&(*disk, at))));
            let new = |disk: &usize| places.contains(&(*disk, at));
            let old = |disk: &usize| read.contains(&(*disk, at));
            let reconstructed = data.iter().all(|disk| new(disk) || old(disk));
            let modified = data.iter().filter(|disk| new(disk)).chain(&usable).all(old);
            let computed = data.iter().chain(&usable).filter(|disk| old(disk)).count() as u64 >= layout.data();
            prop_assert!(usable.is_empty() || reconstructed || modified || computed, "{:?} at {}", layout, at);
        }
    }

    /// Data of a failed disk is computed from as many units as it takes.
    #[test]
    fn a_degraded_read_has_enough_to_compute_what_is_lost(
        layout in any_parity(), address in 0u64..500, size in 1u64..400, lost in 0usize..10,
    ) {
        let mut failed = vec![false; layout.disks() as usize];
        failed[lost % layout.disks() as usize] = true;
        let read = bytes(&layout.read(Block { op: Op::Read, address, bytes: size }, failed.as_slice()).unwrap().then);
        for (disk, at) in (address..address + size).map(|byte| place(&layout, byte)) {
            let known = (0..layout.disks() as usize).filter(|other| read.contains(&(*other, at))).count() as u64;
            prop_assert!(read.contains(&(disk, at)) || known >= layout.data());
        }
        prop_assert!(read.iter().all(|(disk, _)| !failed[*disk]));
    }

    /// Every usable copy of a byte is written, and any of them serves a read.
    #[test]
    fn copies_hold_the_same(columns in 1u64..5, copies in 2u64..4, sides in any::<bool>(), address in 0u64..200, size in 1u64..150) {
        let pairing = if sides { Pairing::Sides } else { Pairing::Neighbours };
        let (layout, request) = (mirror(columns, copies, pairing), Block { op: Op::Write, address, bytes: size });
        let written = layout.write(request, &Whole).unwrap().then;
        prop_assert_eq!(total(&written), size * copies);
        for copy in 0..copies {
            let read = layout.read(request, |column, _| layout.disk(column, copy));
            prop_assert_eq!(total(&read), size);
            prop_assert!(bytes(&read).is_subset(&bytes(&written)));
        }
    }

    /// With failed disks, a request can be served if and only if the level survives the failures: each disk of a stripe counts if it has
    /// a unit of it.
    #[test]
    fn a_layout_serves_what_its_level_promises(
        layout in any_parity(), address in 0u64..500, size in 1u64..100, lost in prop::collection::vec(any::<bool>(), 10),
    ) {
        let failed = &lost[..layout.disks() as usize];
        let survives = failed.iter().filter(|lost| **lost).count() as u64 <= layout.redundant;
        let [read, write] = [Op::Read, Op::Write].map(|op| Block { op, address, bytes: size });
        prop_assert_eq!(layout.write(write, failed).is_some(), survives);
        let touches_failed = (address..address + size).any(|byte| failed[place(&layout, byte).0]);
        prop_assert_eq!(layout.read(read, failed).is_some(), survives || !touches_failed);
    }

    /// Writes change the parity between the offsets that they lock, and none outside.
    #[test]
    fn a_write_changes_the_parity_that_it_locks(layout in any_parity(), address in 0u64..500, size in 1u64..400) {
        let request = Block { op: Op::Write, address, bytes: size };
        let (from, to) = layout.changed(request);
        let written = bytes(&whole_write(&layout, request).then);
        let parity = |at: u64| {
            let stripe = at / layout.unit;
            (layout.data()..layout.width).any(|n| written.contains(&(layout.at(stripe, n).0, at)))
        };
        let last = layout.disks() * 600;
        prop_assert!((0..last).all(|at| parity(at) == (from..to).contains(&at)), "{from}..{to}");
    }

    /// Declustered: a stripe has its units on as many disks; two units share no place; free units are on no stripe's place; a place knows
    /// its stripe; and over as many slices as disks, each disk has the same number of units of each kind.
    #[test]
    fn a_declustered_placement_is_one_to_one(
        disks in 3u64..14, width in 2u64..8, spares in 0u64..3, units in 1u64..4
    ) {
        prop_assume!(width + spares <= disks);
        let placement = Declustered::new(disks, width, spares).in_rows_of(units);
        let (rows, slices) = ((1..).find(|rows| placement.stripes(*rows) > 0).unwrap(), disks);
        let stripes = placement.stripes(rows * slices);
        let mut taken = BTreeSet::new();
        let mut of_kind = vec![vec![0u64; disks as usize]; width as usize + 1];
        for stripe in 0..stripes {
            let mut of_stripe = BTreeSet::new();
            for n in 0..width {
                let (disk, row) = placement.at(stripe, n);
                prop_assert!(of_stripe.insert(disk) && taken.insert((disk, row)) && row < rows * slices);
                prop_assert_eq!(placement.stripe_of(row, disk), Some(stripe));
                of_kind[n as usize][disk] += 1;
            }
        }
        for row in 0..rows * slices {
            for n in 0..spares {
                let disk = placement.spare(row, n);
                prop_assert!(taken.insert((disk, row)));
                prop_assert_eq!(placement.stripe_of(row, disk), None);
                of_kind[width as usize][disk] += 1;
            }
        }
        prop_assert_eq!(taken.len() as u64, disks * rows * slices, "every place is used once");
        prop_assert!(of_kind.iter().all(|of| of.iter().all(|many| *many == of[0])), "{:?}", of_kind);
    }
}

/// When a disk of a declustered array fails, all others read and write about equal shares of its rebuild.
#[test]
fn every_disk_has_its_share_of_a_declustered_rebuild() {
    for (disks, width, redundant, spares, units) in
        [(12, 5, 1, 1, 1), (20, 10, 2, 2, 1), (9, 4, 1, 1, 1), (12, 5, 1, 1, 8)]
    {
        let placement = Declustered::new(disks, width, spares).in_rows_of(units);
        let layout = Parity {
            width,
            unit: 16,
            redundant,
            placement: UnitPlacement::Declustered(placement.clone()),
            small_writes: SmallWrites::Cheaper,
        };
        let mut failed = vec![false; disks as usize];
        failed[1] = true;
        let (mut read, mut written) = (vec![0u64; disks as usize], vec![0u64; disks as usize]);
        let stripes = placement.stripes(64 * disks * width * units);
        for stripe in 0..stripes {
            let lost = (0..width).map(|n| layout.at(stripe, n)).find(|(disk, _)| *disk == 1);
            let Some((_, row)) = lost else { continue };
            let sources = layout.survivors(stripe, failed.as_slice()).unwrap();
            sources.iter().for_each(|(disk, _)| read[*disk] += 1);
            written[placement.spare(row, 0)] += 1;
        }
        for counts in [&read, &written] {
            let others: Vec<f64> =
                (0..disks as usize).filter(|disk| *disk != 1).map(|disk| counts[disk] as f64).collect();
            let mean = others.iter().sum::<f64>() / others.len() as f64;
            assert!(others.iter().all(|many| (many / mean - 1.0).abs() < 0.15), "{disks} disks: {others:?}");
        }
        assert_eq!((read[1], written[1]), (0, 0));
    }
}

/// A mirror that lost a disk reads as one of fewer copies: one access of a column, from one of those left.
#[test]
fn a_degraded_mirror_reads_each_column_at_once() {
    for (columns, copies) in [(1, 3), (4, 2)] {
        let layout = mirror(columns, copies, Pairing::Neighbours);
        let mut failed = vec![false; (columns * copies) as usize];
        failed[0] = true;
        let turn = std::cell::Cell::new(0);
        let choose = |column, stripe, _| {
            let holders: Vec<usize> =
                layout.holders(column, stripe, &failed[..]).map(|(_, device)| device).collect();
            turn.set(turn.get() + 1);
            Some(holders[turn.get() % holders.len()])
        };
        let request = Block { op: Op::Read, address: 0, bytes: 16 * 16 };
        let parts = layout.read_units(request, &failed[..], choose).unwrap();
        assert_eq!(parts.len() as u64, columns, "{parts:?}");
        assert_eq!(total(&parts), request.bytes);
        assert!(parts.iter().all(|(device, _)| *device != 0));
    }
}
