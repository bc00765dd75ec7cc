use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::array::FirstUnit;

const ROTATIONS: [Rotation; 5] = [
    Rotation::LeftSymmetric,
    Rotation::LeftAsymmetric,
    Rotation::RightSymmetric,
    Rotation::RightAsymmetric,
    Rotation::Fixed,
];

fn parity(disks: u64, redundant: u64, rotation: Rotation) -> Parity {
    Parity { disks, unit: 16, redundant, rotation }
}

fn mirror(columns: u64, copies: u64, pairing: Pairing) -> Mirror {
    let columns = Stripes { disks: columns, unit: 16, first_unit: FirstUnit::Addressed };
    Mirror { columns, copies, pairing }
}

fn bytes(parts: &Parts) -> BTreeSet<(usize, u64)> {
    parts
        .iter()
        .flat_map(|(disk, part)| (part.address..part.address + part.bytes).map(|at| (*disk, at)))
        .collect()
}

fn total(parts: &Parts) -> u64 {
    parts.iter().map(|(_, part)| part.bytes).sum()
}

/// Where the layout's rules put a byte of data.
fn place(layout: &Parity, byte: u64) -> (usize, u64) {
    let (unit, offset) = (byte / layout.unit, byte % layout.unit);
    let (stripe, unit) = (unit / layout.data(), unit % layout.data());
    (layout.data_disk(stripe, unit), stripe * layout.unit + offset)
}

fn any_parity() -> impl Strategy<Value = Parity> {
    (1u64..4, 1u64..7, 0..ROTATIONS.len())
        .prop_map(|(redundant, data, at)| parity(redundant + data, redundant, ROTATIONS[at]))
}

/// Linux md's left-symmetric RAID 5 over four disks: 0 1 2 P, 4 5 P 3, 8 P 6 7, P 9 10 11.
#[test]
fn left_symmetric_is_that_of_md() {
    let layout = parity(4, 1, Rotation::LeftSymmetric);
    let disks: Vec<Vec<usize>> =
        (0..4).map(|stripe| (0..3).map(|unit| layout.data_disk(stripe, unit)).collect()).collect();
    assert_eq!(disks, [[0, 1, 2], [3, 0, 1], [2, 3, 0], [1, 2, 3]]);
    assert_eq!([0, 1, 2, 3].map(|stripe| layout.parity_disk(stripe, 0)), [3, 2, 1, 0]);
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
                let accesses = layout.write(request, &vec![false; layout.disks as usize]);
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
    let accesses = layout.write(request, &[false; 5]);
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
        let data = (0..layout.data()).map(|unit| layout.data_disk(stripe, unit));
        let parity = (0..layout.redundant).map(|n| layout.parity_disk(stripe, n));
        let disks: BTreeSet<usize> = data.chain(parity).collect();
        prop_assert_eq!(disks, (0..layout.disks as usize).collect());
    }

    /// A read takes every byte from its place, and no other.
    #[test]
    fn a_read_takes_each_byte_from_its_place(layout in any_parity(), address in 0u64..500, size in 1u64..400) {
        let request = Block { op: Op::Read, address, bytes: size };
        let parts = layout.read(request, &vec![false; layout.disks as usize]);
        let expected: BTreeSet<(usize, u64)> = (address..address + size).map(|byte| place(&layout, byte)).collect();
        prop_assert_eq!(total(&parts), size, "nothing is read twice");
        prop_assert_eq!(bytes(&parts), expected);
    }

    /// A write puts every byte in its place, and the parity that covers it beside; what is read before suffices to compute it.
    #[test]
    fn a_write_knows_what_its_parity_takes(
        layout in any_parity(), address in 0u64..500, size in 1u64..400, lost in prop::collection::vec(any::<bool>(), 10),
    ) {
        let mut failed: Vec<bool> = (0..layout.disks as usize).map(|disk| lost[disk]).collect();
        while failed.iter().filter(|lost| **lost).count() as u64 > layout.redundant {
            let first = failed.iter().position(|lost| *lost).unwrap();
            failed[first] = false;
        }
        let accesses = layout.write(Block { op: Op::Write, address, bytes: size }, &failed);
        let (read, written) = (bytes(&accesses.first), bytes(&accesses.then));
        prop_assert!(accesses.first.iter().chain(&accesses.then).all(|(disk, _)| !failed[*disk]));
        let places: BTreeSet<(usize, u64)> = (address..address + size).map(|byte| place(&layout, byte)).collect();
        prop_assert!(places.iter().filter(|(disk, _)| !failed[*disk]).all(|at| written.contains(at)));
        for &(_, at) in &places {
            let stripe = at / layout.unit;
            let data: Vec<usize> = (0..layout.data()).map(|unit| layout.data_disk(stripe, unit)).collect();
            let parity = (0..layout.redundant).map(|n| layout.parity_disk(stripe, n));
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

    /// What cannot be read because its disk failed is computed from as many units as it takes.
    #[test]
    fn a_degraded_read_has_enough_to_compute_what_is_lost(
        layout in any_parity(), address in 0u64..500, size in 1u64..400, lost in 0usize..10,
    ) {
        let mut failed = vec![false; layout.disks as usize];
        failed[lost % layout.disks as usize] = true;
        let read = bytes(&layout.read(Block { op: Op::Read, address, bytes: size }, &failed));
        for (disk, at) in (address..address + size).map(|byte| place(&layout, byte)) {
            let known = (0..layout.disks as usize).filter(|other| read.contains(&(*other, at))).count() as u64;
            prop_assert!(read.contains(&(disk, at)) || known >= layout.data());
        }
        prop_assert!(read.iter().all(|(disk, _)| !failed[*disk]));
    }

    /// Every usable copy of a byte is written, and any of them serves a read.
    #[test]
    fn copies_hold_the_same(columns in 1u64..5, copies in 2u64..4, sides in any::<bool>(), address in 0u64..200, size in 1u64..150) {
        let pairing = if sides { Pairing::Sides } else { Pairing::Neighbours };
        let (layout, request) = (mirror(columns, copies, pairing), Block { op: Op::Write, address, bytes: size });
        let failed = vec![false; (columns * copies) as usize];
        let written = layout.write(request, &failed);
        prop_assert_eq!(total(&written), size * copies);
        for copy in 0..copies {
            let read = layout.read(request, |column, _| layout.disk(column, copy));
            prop_assert_eq!(total(&read), size);
            prop_assert!(bytes(&read).is_subset(&bytes(&written)));
        }
    }
}
