use super::*;
use crate::archive::tape_library::TapePosition;
use proptest::prelude::*;

const HOUR: u64 = 3_600_000_000_000;

/// A file: size in kB, when it was last used in quarters of an hour, whether it is on tape, whether it is read.
type File = (u64, u64, bool, bool);

/// The files of a pool, used in order of time.
fn pool(weight: &str, files: &[File]) -> (FileCatalogue, PurgeOrder) {
    let weight = Expression::parse(weight, &VARIABLES).unwrap();
    let (mut catalogue, mut order) = (FileCatalogue::default(), PurgeOrder::by(&weight));
    for (name, (kb, ..)) in (0..).zip(files) {
        catalogue.create(name, kb * 1000, Nanos::ZERO);
        order.touch(&mut catalogue, name as u32, true);
    }
    let mut uses: Vec<(u64, usize)> = files.iter().enumerate().map(|(at, file)| (file.1, at)).collect();
    uses.sort();
    for (quarter, at) in uses {
        let entry = &mut catalogue[at as u32];
        let (_, _, on_tape, is_read) = files[at];
        entry.used = Nanos(quarter * HOUR / 4);
        entry.on_disk = true;
        entry.tape = on_tape.then_some(TapePosition { cartridge: 0, offset: 0 });
        entry.pins = u32::from(is_read);
        order.touch(&mut catalogue, at as u32, false);
    }
    (catalogue, order)
}

fn purged(catalogue: &FileCatalogue, order: &PurgeOrder, now: Nanos, most: usize) -> Vec<u32> {
    let mut taken = Vec::new();
    let mut take = |file| {
        taken.push(file);
        taken.len() < most
    };
    order.purge(catalogue, Purge { buffer: 0, now, min_age: Nanos(HOUR), take: &mut take });
    taken
}

/// The order of the paper's weight, M·H^1.5, by whole numbers: M²·H³.
fn sorted_by_whole_numbers(files: &[File], now: Nanos) -> Vec<u32> {
    let mut all: Vec<(u128, u64, u32)> = Vec::new();
    for (at, &(kb, quarter, on_tape, is_read)) in (0..).zip(files) {
        let age = now.0 - quarter * HOUR / 4;
        if on_tape && !is_read && age >= HOUR {
            let (m, h) = (u128::from((kb * 1000).div_ceil(1_000_000)), u128::from(age.div_ceil(HOUR)));
            all.push((m * m * h * h * h, quarter, at));
        }
    }
    all.sort_by_key(|(weight, used, at)| (std::cmp::Reverse(*weight), *used, *at));
    all.into_iter().map(|(.., at)| at).collect()
}

const PAPER: &str = "ceil(size_mb) * ceil(hours_since_access) ** 1.5";

fn files() -> impl Strategy<Value = Vec<File>> {
    prop::collection::vec(
        (1u64..40_000, 0u64..400, prop::bool::weighted(0.8), prop::bool::weighted(0.1)),
        1..300,
    )
}

proptest! {
    #[test]
    fn the_order_is_that_of_whole_numbers(files in files(), late in 0u64..50, most in 1usize..300) {
        let now = Nanos(100 * HOUR + late * HOUR / 7);
        let (catalogue, order) = pool(PAPER, &files);
        prop_assert!(matches!(order, PurgeOrder::Classes(_)));
        let wanted = sorted_by_whole_numbers(&files, now);
        prop_assert_eq!(purged(&catalogue, &order, now, most), &wanted[..most.min(wanted.len())]);
    }

    /// A weight that the lists can serve gives the same order by a heap of all.
    #[test]
    fn lists_and_heap_agree(files in files(), at in 0usize..3) {
        let weight = ["hours_since_access", "size_mb * sqrt(hours_since_access)", "if(size_mb > 5, 2, 1) * hours_since_access"][at];
        let (catalogue, order) = pool(weight, &files);
        prop_assert!(matches!(order, PurgeOrder::Classes(_)));
        let heap = PurgeOrder::Heap(Expression::parse(weight, &VARIABLES).unwrap());
        let now = Nanos(103 * HOUR);
        prop_assert_eq!(purged(&catalogue, &order, now, 300), purged(&catalogue, &heap, now, 300));
    }
}

#[test]
fn weights_that_lists_cannot_know_take_the_heap() {
    for weight in ["-hours_since_access", "size_mb / hours_on_disk", "hours_since_access / accesses"] {
        let (catalogue, order) = pool(weight, &[(5, 8, true, false), (9, 4, true, false)]);
        assert!(matches!(order, PurgeOrder::Heap(_)), "{weight}");
        assert_eq!(purged(&catalogue, &order, Nanos(10 * HOUR), 9).len(), 2);
    }
    let (catalogue, order) = pool("-hours_since_access", &[(5, 4, true, false), (9, 8, true, false)]);
    assert_eq!(purged(&catalogue, &order, Nanos(10 * HOUR), 9), [1, 0]);
}

#[test]
fn lists_follow_files_that_go_and_come_again() {
    let (mut catalogue, mut order) =
        pool("hours_since_access", &[(1, 1, true, false), (1, 2, true, false), (1, 3, true, false)]);
    order.remove(&mut catalogue, 1);
    catalogue[1].used = Nanos(2 * HOUR);
    order.touch(&mut catalogue, 1, true);
    order.touch(&mut catalogue, 0, false);
    catalogue[0].used = Nanos(3 * HOUR);
    assert_eq!(purged(&catalogue, &order, Nanos(9 * HOUR), 9), [2, 1, 0]);
}
