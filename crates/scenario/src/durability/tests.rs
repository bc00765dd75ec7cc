//! Cycles against formulas, exact Markov chains, and a plain simulation.

use std::collections::BTreeSet;

use headrace_analytic::reliability::BirthDeath;
use headrace_kernel::{Draws, RngStream};
use headrace_storage::Redundancy;
use headrace_units::Nanos;
use proptest::prelude::*;

use super::process::{FailureProcess, RepairTimes, UnitKind};
use super::repairs::{MeasuredRebuild, RepairLaw, Repairs};
use super::{chance_of_error, sampling};
use crate::progress::Progress;

/// Disks of one stripe, of which `tolerates` may be lost; times are in s.
fn array(disks: u32, tolerates: u32) -> Redundancy {
    Redundancy { tolerates, critical_bytes: 1.0, ..Redundancy::none((0..disks).collect(), 100.0) }
}

fn process(of: &Redundancy, per_s: f64, latent_per_byte: f64, replace_s: f64) -> FailureProcess<'_> {
    let drives = (0..of.drives.len() as u32).map(|drive| vec![drive]).collect();
    FailureProcess::new(
        of,
        vec![UnitKind::new("drive", per_s, drives, &of.groups)],
        latent_per_byte,
        replace_s,
    )
}

/// Rebuilds of this many seconds, of one drive, then of two, three … at once.
fn repairs(seconds: &[f64]) -> Repairs {
    let law = |(at, simulated_s): (usize, &f64)| RepairLaw {
        lost: "drive",
        at_once: at as u32 + 1,
        rebuilds: vec![MeasuredRebuild::ended(Nanos::ZERO, *simulated_s)],
    };
    Repairs { wait_s: 0.0, laws: seconds.iter().enumerate().map(law).collect(), kinds: 1 }
}

fn estimate(process: &FailureProcess, repairs: &Repairs, within: f64) -> (f64, f64) {
    let stream = RngStream::named(7, "test", "durability");
    let found = sampling::of(process, repairs, (stream, within), 2, &Progress::default());
    (1.0 / found.per_s, found.within)
}

/// Asserts that an estimate has this mean time within twice its 95 % interval.
#[track_caller]
fn agrees((mean_s, within): (f64, f64), exact_s: f64) {
    let off = mean_s / exact_s - 1.0;
    assert!(
        off.abs() < 2.0 * within && within < 0.06,
        "{mean_s} s, exactly {exact_s} s: {off} with ± {within}"
    );
}

#[test]
fn exponential_repairs_of_an_array_agree_with_the_markov_chain() {
    // RAID 5, RAID 6, three replicas, eight and three; rare and not so rare; rebuilds that slow each other, and latent errors.
    for (disks, tolerates, rate, times, latent) in [
        (5, 1, 1e-3, &[10.0][..], 0.0),
        (8, 1, 1e-7, &[10.0][..], 1e-2),
        (10, 2, 1e-5, &[10.0, 14.0][..], 0.0),
        (10, 2, 2e-3, &[10.0, 14.0][..], 3e-3),
        (3, 2, 1e-4, &[5.0, 5.0][..], 1e-4),
        (11, 3, 1e-6, &[30.0, 40.0, 55.0][..], 1e-7),
    ] {
        let of = array(disks, tolerates);
        // No replacement is waited for.
        let of = Redundancy { spares: None, ..of };
        let found = estimate(&process(&of, rate, latent, 0.0).exponential(), &repairs(times), 0.01);
        let lost = tolerates as usize;
        let exact = BirthDeath {
            births: (0..=lost).map(|lost| f64::from(disks - lost as u32) * rate).collect(),
            deaths: (1..=lost).map(|lost| lost as f64 / times[lost - 1]).collect(),
            killed: latent / times[lost - 1],
        };
        agrees(found, exact.mean_time());
    }
}

/// Rebuilds side by side are a symmetric queue, so that rare losses depend on their mean time alone (Kelly, 1979).
#[test]
fn rare_losses_depend_on_the_mean_repair_time_alone() {
    for (disks, tolerates, times) in
        [(8, 1, &[10.0][..]), (10, 2, &[10.0, 16.0][..]), (11, 3, &[9.0, 9.0, 9.0][..])]
    {
        let of = Redundancy { spares: None, ..array(disks, tolerates) };
        let process = process(&of, 1e-6, 0.0, 0.0);
        let constant = estimate(&process, &repairs(times), 0.01);
        let lost = tolerates as usize;
        let chain = BirthDeath {
            births: (0..=lost).map(|lost| f64::from(disks - lost as u32) * 1e-6).collect(),
            deaths: (1..=lost).map(|lost| lost as f64 / times[lost - 1]).collect(),
            killed: 0.0,
        };
        // Losses are rare up to the chance that another disk fails during a repair.
        let chance = f64::from(disks) * 1e-6 * times[lost - 1];
        agrees((constant.0, constant.1.max(chance)), chain.mean_time());
    }
}

/// A RAID 5 whose rebuild reads 100 TB with an error in 10¹⁵ bits meets one with a probability of 1 - e^-0.8.
#[test]
fn latent_errors_are_met_with_the_probability_of_data_sheets() {
    let of = Redundancy { critical_bytes: 1e14, spares: None, ..array(6, 1) };
    let process = process(&of, 1e-9, 8e-15, 0.0);
    let tally = process.cycles(
        1,
        (&repairs(&[1e5]).times_as_measured(), true),
        &mut RngStream::named(1, "", "").of(0),
        &Progress::default(),
    );
    let expected = -libm::expm1(-0.8);
    assert!((tally.losses[1] / expected - 1.0).abs() < 1e-3, "{} for {expected}", tally.losses[1]);
}

/// By hand: 1 − e⁻ˣ; 1 − (1 − e⁻ˣ)/x; 1 − 2 (x − 1 + e⁻ˣ)/x².
#[test]
fn errors_are_met_in_what_the_first_rebuild_has_left() {
    for errors in [0.1, 1.5, 20.0] {
        let none = libm::exp(-errors);
        let two = 1.0 - (1.0 - none) / errors;
        let three = 1.0 - 2.0 * (errors - 1.0 + none) / (errors * errors);
        for (lost, expected) in [(1, 1.0 - none), (2, two), (3, three)] {
            let found = chance_of_error(errors, lost);
            assert!((found / expected - 1.0).abs() < 1e-4, "{lost}, {errors}: {found} for {expected}");
        }
    }
}

/// The states of some pairs of disks that fail and are repaired by themselves: the mean time until both of a pair are lost, from the
/// balance of all 2ⁿ states.
fn pairs_exactly(pairs: usize, rate: f64, repair_s: f64) -> f64 {
    let disks = 2 * pairs;
    let is_lost = |state: usize| (0..pairs).any(|pair| (state >> (2 * pair)) & 3 == 3);
    let states: Vec<usize> = (0..1 << disks).filter(|state| !is_lost(*state)).collect();
    let place = |state: usize| states.iter().position(|known| *known == state);
    let mut rows = vec![vec![0.0; states.len() + 1]; states.len()];
    for (row, state) in rows.iter_mut().zip(&states) {
        row[states.len()] = 1.0;
        for disk in 0..disks {
            let per_s = if state >> disk & 1 == 1 { 1.0 / repair_s } else { rate };
            row[place(*state).unwrap()] += per_s;
            if let Some(next) = place(state ^ (1 << disk)) {
                row[next] -= per_s;
            }
        }
    }
    solved(rows)[0]
}

/// Solves linear equations by elimination; each row ends with its right side.
fn solved(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let many = rows.len();
    for at in 0..many {
        let pivot = (at..many).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs())).unwrap();
        rows.swap(at, pivot);
        let own = rows[at].clone();
        for row in rows.iter_mut().enumerate().filter(|(other, _)| *other != at).map(|(_, row)| row) {
            let factor = row[at] / own[at];
            row.iter_mut().zip(&own).for_each(|(value, own)| *value -= factor * own);
        }
    }
    (0..many).map(|at| rows[at][many] / rows[at][at]).collect()
}

#[test]
fn mirrored_pairs_agree_with_the_balance_of_all_states() {
    for (pairs, rate) in [(1, 1e-2), (2, 1e-2), (4, 1e-2), (4, 1e-5)] {
        let groups = (0..pairs as u32).map(|pair| vec![2 * pair, 2 * pair + 1]).collect();
        let of = Redundancy { groups, spares: None, ..array(2 * pairs as u32, 1) };
        let found = estimate(&process(&of, rate, 0.0, 0.0).exponential(), &repairs(&[10.0]), 0.01);
        agrees(found, pairs_exactly(pairs, rate, 10.0));
    }
}

/// Groups of three on nine drives in three servers.
fn pool(tolerates: u32) -> Redundancy {
    let group = |n: u32| vec![n % 3, 3 + (n / 3) % 3, 6 + (n + n / 3) % 3];
    Redundancy {
        groups: (0..9).map(group).collect(),
        objects: Some(100),
        spares: None,
        ..array(9, tolerates)
    }
}

/// One life of a pool, piece by piece: the time of the first loss.
fn life(
    of: &Redundancy,
    servers: (f64, &[Vec<u32>]),
    rate: f64,
    (wait, rebuild): (f64, f64),
    draws: &mut Draws,
) -> f64 {
    let (mut now, mut back) = (0.0, vec![0.0; of.drives.len()]);
    // When each piece is back, by its group and drive; a rebuild of a drive goes by groups in an order of its own.
    let mut pieces = std::collections::BTreeMap::new();
    loop {
        let up = back.iter().filter(|back| **back <= now).count() as f64;
        let all = up * rate + servers.0 * servers.1.len() as f64;
        let next = now + draws.exponential() / all;
        let repaired = back.iter().copied().filter(|back| *back > now).fold(f64::INFINITY, f64::min);
        if repaired < next {
            now = repaired;
            continue;
        }
        now = next;
        let of_servers = draws.uniform() < servers.0 * servers.1.len() as f64 / all;
        let failed: Vec<u32> = if of_servers {
            let server = &servers.1[draws.below(servers.1.len() as u64) as usize];
            // Whose drives are being rebuilt has failed already.
            if server.iter().all(|drive| back[*drive as usize] > now) {
                continue;
            }
            server.iter().copied().filter(|drive| back[*drive as usize] <= now).collect()
        } else {
            let nth = draws.below(up as u64) as usize;
            vec![(0..of.drives.len() as u32).filter(|drive| back[*drive as usize] <= now).nth(nth).unwrap()]
        };
        for drive in failed {
            back[drive as usize] = now + wait + rebuild;
            for group in (0..of.groups.len()).filter(|group| of.groups[*group].contains(&drive)) {
                pieces.insert((group, drive), now + wait + rebuild * draws.uniform());
            }
        }
        let missing =
            |group: usize| pieces.range((group, 0)..(group + 1, 0)).filter(|(_, back)| **back > now).count();
        if (0..of.groups.len()).any(|group| missing(group) > of.tolerates as usize) {
            return now;
        }
    }
}

#[test]
fn a_pool_agrees_with_a_plain_simulation_of_its_pieces() {
    for (tolerates, rate) in [(1, 2e-3), (2, 1e-2)] {
        let of = pool(tolerates);
        let mut repairs = repairs(&[30.0]);
        repairs.wait_s = 5.0;
        let found = estimate(&process(&of, rate, 0.0, 0.0), &repairs, 0.01);
        let stream = RngStream::named(3, "", "lives");
        let lives: Vec<f64> =
            (0..4000).map(|n| life(&of, (0.0, &[]), rate, (5.0, 30.0), &mut stream.of(n))).collect();
        let plain = headrace_stats::Interval::by_replications(&lives, true).unwrap();
        let off = found.0 / plain.mean - 1.0;
        assert!(off.abs() < 2.0 * (found.1 + plain.half_width / plain.mean), "{found:?} and {plain:?}");
    }
}

/// Where servers fail too, biased cycles find what plain ones do: servers with one piece of each group, and racks with two.
#[test]
fn failures_of_servers_and_racks_have_the_same_chance_with_and_without_bias() {
    let of = pool(1);
    for sets in [vec![vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8]], vec![vec![0, 1, 2], (3..9).collect()]] {
        let drives = (0..9).map(|drive| vec![drive]).collect();
        let kinds = vec![
            UnitKind::new("drive", 1e-3, drives, &of.groups),
            UnitKind::new("server", 5e-4, sets, &of.groups),
        ];
        let process = FailureProcess::new(&of, kinds, 0.0, 0.0);
        let times =
            RepairTimes { wait_s: 2.0, of_kind: vec![vec![20.0, 30.0], vec![60.0]], factors: vec![1.0] };
        let draws = RngStream::named(5, "", "");
        let biased = process.cycles(40_000, (&times, true), &mut draws.of(0), &Progress::default());
        let plain = process.cycles(40_000, (&times, false), &mut draws.of(1), &Progress::default());
        for (with, without) in biased.losses.iter().zip(&plain.losses) {
            let off = with / 4e4 - without / 4e4;
            let error = 4.0 * (biased.variance() + plain.variance()).sqrt();
            assert!(off.abs() <= error, "{:?} and {:?}", biased.losses, plain.losses);
        }
        assert!(biased.mean() > 0.0 && (biased.bytes / plain.bytes - 1.0).abs() < 0.1);
    }
}

/// Without a spare the rebuild waits for the replacement; with one it does not, until that is used up.
#[test]
fn spares_shorten_the_time_without_redundancy() {
    let mean = |spares| {
        let of = Redundancy { spares, ..array(8, 1) };
        estimate(&process(&of, 1e-6, 0.0, 90.0), &repairs(&[10.0]), 0.01).0
    };
    let exact = |repair_s: f64| {
        let chain = BirthDeath { births: vec![8e-6, 7e-6], deaths: vec![1.0 / repair_s], killed: 0.0 };
        chain.mean_time()
    };
    assert!((mean(Some(0)) / exact(100.0) - 1.0).abs() < 0.03, "{} for {}", mean(Some(0)), exact(100.0));
    assert!((mean(Some(1)) / exact(10.0) - 1.0).abs() < 0.03);
    assert!((mean(None) / exact(10.0) - 1.0).abs() < 0.03);
}

/// The time until a RAID 5 with a spare loses data. A drive that fails is ordered at once; a rebuild takes the first that is there.
fn life_with_a_spare(disks: f64, rate: f64, (rebuild_s, replace_s): (f64, f64), draws: &mut Draws) -> f64 {
    let (mut now, mut spares) = (0.0, vec![0.0]);
    loop {
        now += draws.exponential() / (disks * rate);
        spares.push(now + replace_s);
        // They come in the order in which they were ordered.
        let rebuilt = f64::max(now, spares.remove(0)) + rebuild_s;
        let next = now + draws.exponential() / ((disks - 1.0) * rate);
        if next < rebuilt {
            return next;
        }
        now = rebuilt;
    }
}

/// Where drives fail as fast as they are replaced, a rebuild takes the spare that comes back first, not the one ordered for it.
#[test]
fn a_spare_that_comes_back_serves_the_rebuild_that_waits() {
    let of = Redundancy { spares: Some(1), ..array(8, 1) };
    let (found, _) = estimate(&process(&of, 1e-3, 0.0, 90.0), &repairs(&[10.0]), 0.01);
    let mut draws = RngStream::named(7, "test", "spares").draws();
    let lives = 100_000;
    let mean_s = (0..lives).map(|_| life_with_a_spare(8.0, 1e-3, (10.0, 90.0), &mut draws)).sum::<f64>();
    let plain = mean_s / f64::from(lives);
    assert!((found / plain - 1.0).abs() < 0.03, "{found} s, by plain simulation {plain} s");
}

/// The interval is as wide as the repair times leave it uncertain: of a RAID 6 twice as wide as theirs.
#[test]
fn uncertain_repair_times_widen_the_interval() {
    let of = Redundancy { spares: None, ..array(10, 2) };
    let process = process(&of, 1e-6, 0.0, 0.0);
    let times = [8.0, 9.5, 10.0, 10.5, 12.0, 9.0, 11.0, 10.0];
    let rebuilds = |factor: f64| {
        times
            .map(|time| MeasuredRebuild {
                stretch: Nanos::ZERO,
                simulated_s: 0.1 * factor * time,
                done: 0.1,
                whole_s: factor * time,
            })
            .to_vec()
    };
    let law = |at_once, factor| RepairLaw { lost: "drive", at_once, rebuilds: rebuilds(factor) };
    let repairs = Repairs { wait_s: 0.0, laws: vec![law(1, 1.0), law(2, 1.0)], kinds: 1 };
    let measured = headrace_stats::Interval::by_replications(&times, true).unwrap();
    let (_, within) = estimate(&process, &repairs, 0.01);
    let expected = 2.0 * measured.half_width / measured.mean;
    assert!((0.5..1.6).contains(&(within / expected)), "{within} for {expected}");
    assert!(repairs.laws[0].is_extrapolated() && repairs.times_as_measured().of_kind[0].len() == 1);
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_number_of_threads() {
    let of = pool(1);
    let process = process(&of, 1e-5, 1e-4, 0.0);
    let at = |threads| {
        let stream = RngStream::named(9, "p", "durability");
        let found = sampling::of(&process, &repairs(&[30.0]), (stream, 0.05), threads, &Progress::default());
        (found.per_s.to_bits(), found.within.to_bits(), found.cycles)
    };
    assert_eq!(at(1), at(3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Data is lost more often where drives fail more often, where rebuilds take longer, and with less redundancy.
    #[test]
    fn losses_grow_with_failures_and_repair_times_and_shrink_with_redundancy(
        disks in 5u32..12, tolerates in 1u32..3, rate in 1e-9f64..1e-5, time in 1f64..100.0, of_pool in any::<bool>()
    ) {
        let at = |tolerates: u32, rate: f64, time: f64| {
            let of = if of_pool { pool(tolerates.min(2)) } else { Redundancy { spares: None, ..array(disks, tolerates) } };
            estimate(&process(&of, rate, 0.0, 0.0), &repairs(&[time]), 0.05).0
        };
        let own = at(tolerates, rate, time);
        prop_assert!(at(tolerates, 2.0 * rate, time) < own);
        prop_assert!(at(tolerates, rate, 2.0 * time) < own);
        prop_assert!(tolerates == 1 || at(tolerates - 1, rate, time) < own);
    }

    /// However drives, servers and spares are arranged, chances are chances, and weights stay sound.
    #[test]
    fn chances_of_loss_are_between_zero_and_one(
        seed in 0u64..1000, drives in 4u32..14, width in 2usize..4, groups in 1usize..20,
        spares in 0u32..3, rate in 1e-7f64..1e-2, latent in 0f64..0.01
    ) {
        let mut draws = RngStream::named(seed, "", "groups").draws();
        let group = |_| {
            let mut chosen = BTreeSet::new();
            while chosen.len() < width {
                chosen.insert(draws.below(drives.into()) as u32);
            }
            chosen.into_iter().collect::<Vec<u32>>()
        };
        let groups: Vec<Vec<u32>> = (0..groups).map(group).collect();
        let of = Redundancy { groups, objects: Some(100), spares: Some(spares), wait: Nanos::ZERO, ..array(drives, width as u32 - 1) };
        let process = process(&of, rate, latent, 20.0);
        let times = repairs(&[10.0, 15.0]).times_as_measured();
        for biased in [true, false] {
            let tally = process.cycles(200, (&times, biased), &mut RngStream::named(seed, "", "").of(1), &Progress::default());
            prop_assert!(tally.losses.iter().all(|loss| loss.is_finite() && *loss >= 0.0));
            // A cycle counts with the losses expected in it, which may be above one; their mean is not, but for chance.
            prop_assert!(biased || tally.mean() <= 1.0 + 4.0 * tally.variance().sqrt(), "{tally:?}");
            prop_assert!(tally.seconds.is_finite() && tally.bytes.is_finite());
        }
    }
}
