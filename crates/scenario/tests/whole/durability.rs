//! Durability of whole scenarios: the chance of data loss from rates and simulated rebuilds, against closed forms.

use headrace_scenario::Prepared;
use headrace_scenario::durability::{Durability, Wanted};
use headrace_scenario::job_files::unread;
use headrace_scenario::progress::Progress;
use headrace_units::{Nanos, YEAR_S};

fn wanted(stretch_s: f64) -> Wanted {
    Wanted {
        years: 5.0,
        stretch: Some(Nanos::from_secs(stretch_s)),
        replications: 4,
        within: 0.02,
        threads: 2,
    }
}

fn asked(text: &str, stretch_s: f64) -> Result<Durability, String> {
    let mut prepared = Prepared::read(text, "test.yaml", &[], &unread)
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    prepared.durability(&wanted(stretch_s), &Progress::default()).map_err(|problems| problems.rendered())
}

#[track_caller]
fn found(text: &str) -> Durability {
    asked(text, 60.0).unwrap_or_else(|told| panic!("{told}"))
}

/// An array whose rebuild writes 2 MB/s whatever the load: 32 MiB take 16.8 s.
fn array(fields: &str, rates: &str) -> String {
    format!(
        "
parts: {{d: {{type: station, service: 1 ms, capacity: 32 MiB}}}}
system: {{v: {{type: array, of: d, rebuild: {{rate: 2 MB/s, chunk: 256 KiB}}, {fields}}}}}
workload: {{u: {{to: v, arrivals: {{poisson: 20 /s}}, size: 4 KiB, op: {{reads: 70 %}}}}}}
rates: {{drive: 2 %/year, {rates}}}
"
    )
}

const REBUILD_S: f64 = 33_554_432.0 / 2e6;

#[track_caller]
fn is_near(found: f64, expected: f64, within: f64) {
    assert!((found / expected - 1.0).abs() < within, "{found}, expected {expected}");
}

/// Without copies, the first failure loses what its drive holds: of eight drives with 96 MiB in all, an eighth at 2 % a year each, in however
/// many groups.
#[test]
fn what_a_drive_holds_is_lost_with_it() {
    for groups in [8, 64] {
        let found = found(&format!(
            "parts: {{d: {{type: station, service: 1 ms, capacity: 1 GB}}}}
system: {{p: {{type: pool, of: d, servers: 4, drives: 2, replicas: 1, groups: {groups}, object: 64 KiB, size: 96 MiB}}}}
workload: {{u: {{to: p, arrivals: {{poisson: 20 /s}}, size: 4 KiB}}}}
rates: {{drive: 2 %/year}}
"
        ));
        is_near(found.volumes[0].lost_bytes_per_year, 0.02 * 96.0 * 1_048_576.0, 0.01);
    }
}

/// Two groups of one piece lie on two of eight drives: the failure of any other loses nothing. With a rate of racks, two of which hold four
/// drives each, that of a rack loses both groups or one.
#[test]
fn only_what_holds_data_loses_it() {
    let pool = |more: &str, rates: &str| {
        found(&format!(
            "parts: {{d: {{type: station, service: 1 ms, capacity: 1 GB}}}}
system: {{p: {{type: pool, of: d, servers: 4, drives: 2, replicas: 1, groups: 2, object: 64 KiB, size: 96 MiB{more}}}}}
workload: {{u: {{to: p, arrivals: {{poisson: 20 /s}}, size: 4 KiB}}}}
rates: {{drive: 2 %/year{rates}}}
"
        ))
    };
    let drives = pool("", "");
    is_near(drives.volumes[0].mean_years.value, 25.0, 0.01);
    let racks = pool(", racks: 2", ", rack: 10 %/year");
    let years = racks.volumes[0].mean_years.value;
    assert!((1.0 / years - 0.14).abs() < 0.002 || (1.0 / years - 0.24).abs() < 0.002, "{years}");
    assert!(racks.volumes[0].causes[0].what.contains("rack"), "{:?}", racks.volumes[0].causes[0].what);
}

/// All of three copies are in one rack: nothing is rebuilt before it is lost.
#[test]
fn a_unit_that_holds_too_much_is_a_cause_by_itself() {
    let found = found(
        "parts: {d: {type: station, service: 1 ms, capacity: 100 MB}}
system: {p: {type: pool, of: d, servers: 4, drives: 2, replicas: 3, groups: 8, object: 64 KiB, size: 30 MB}}
workload: {u: {to: p, arrivals: {poisson: 20 /s}, size: 4 KiB}}
rates: {drive: 2 %/year, rack: 1 %/year}
",
    );
    let cause = &found.volumes[0].causes[0].what;
    assert!(cause.starts_with("the first failure of a rack"), "{cause}");
}

/// MTTF² / (N (N − 1) MTTR), as Patterson, Gibson and Katz (1988) have it, with the simulated repair time.
#[test]
fn a_raid_5_has_the_published_mean_time_to_data_loss() {
    let found = found(&array("level: raid5, disks: 8, spares: 1, stripe_unit: 64 KiB", "replace: 1 ms"));
    let volume = &found.volumes[0];
    is_near(volume.rebuilds[0].rebuild.value, REBUILD_S, 0.02);
    let mttf = 50.0;
    let expected = mttf * mttf / (8.0 * 7.0 * (volume.rebuilds[0].rebuild.value / YEAR_S));
    is_near(volume.mean_years.value, expected, 0.03);
    is_near(volume.theory.as_ref().unwrap().mean_years, expected, 1e-3);
    is_near(volume.chance_in_a_year.value, 1.0 / expected, 0.03);
    is_near(volume.chance.value, 5.0 / expected, 0.03);
    let of = volume.mean_years;
    assert!(
        of.low <= of.value && of.value <= of.high && of.high < 1.001 * of.low,
        "repairs are constant: {of:?}"
    );
    assert_eq!(volume.causes[0].what, "a second drive that fails before the rebuild ends");
    assert!(found.answer.starts_with("The chance of losing data within a year is 1 in "), "{}", found.answer);
    assert!(found.answer.contains("A rebuild of v takes 16.78 s, simulated"), "{}", found.answer);
}

/// Three drives at once, with rebuilds of two that take as long as of one; replicas, and pairs.
#[test]
fn other_levels_agree_with_their_formulas() {
    for (fields, disks, tolerates) in [
        ("level: raid6, disks: 8, spares: 2, stripe_unit: 64 KiB", 8.0, 2),
        ("level: {erasure: {parity: 3}}, disks: 8, spares: 3, stripe_unit: 64 KiB", 8.0, 3),
        ("level: raid1, disks: 3, spares: 2", 3.0, 2),
        ("level: raid10, disks: 6, spares: 1, stripe_unit: 64 KiB", 6.0, 1),
        ("level: raid01, disks: 6, spares: 1, stripe_unit: 64 KiB", 6.0, 1),
    ] {
        let found = found(&array(fields, "replace: 1 ms"));
        let volume = &found.volumes[0];
        assert_eq!((volume.tolerates, volume.rebuilds.len() as u32), (tolerates, tolerates), "{fields}");
        let theory = volume.theory.as_ref().unwrap().mean_years;
        is_near(volume.mean_years.value, theory, 0.05);
        if tolerates == 1 {
            // Of one side with any of the other, where a disk takes its side out of use.
            let fatal = if fields.contains("raid01") { disks / 2.0 } else { 1.0 };
            let expected = 2500.0 / (disks * fatal * (volume.rebuilds[0].rebuild.value / YEAR_S));
            is_near(theory, expected, 1e-3);
        }
    }
}

/// Seven disks of 32 MiB hold 1.9e9 bits: at an error in 1e9 bits a rebuild meets one with a probability of 1 - e^-1.88.
#[test]
fn latent_errors_of_a_rebuild_lose_data() {
    let found =
        found(&array("level: raid5, disks: 8, spares: 1, stripe_unit: 64 KiB", "latent_error: 1e-9 /bit"));
    let volume = &found.volumes[0];
    let p = 1.0 - libm::exp(-7.0 * 33_554_432.0 * 8.0 * 1e-9);
    is_near(volume.mean_years.value, 1.0 / (8.0 * 0.02 * p), 0.02);
    assert_eq!(volume.causes[0].what, "a latent error met by a rebuild with 1 lost");
    assert!(volume.causes[0].share > 0.999, "{:?}", volume.causes);
    // A sector at each loss.
    is_near(volume.lost_bytes_per_year, 4096.0 / volume.mean_years.value, 0.02);
}

/// Without a spare, the rebuild begins when the disk is replaced.
#[test]
fn a_replacement_is_waited_for_without_a_spare() {
    let without = found(&array("level: raid5, disks: 8, stripe_unit: 64 KiB", "replace: 100 s"));
    let with = found(&array("level: raid5, disks: 8, spares: 1, stripe_unit: 64 KiB", "replace: 100 s"));
    let ratio = with.volumes[0].mean_years.value / without.volumes[0].mean_years.value;
    is_near(ratio, (REBUILD_S + 100.0) / REBUILD_S, 0.05);
}

/// A failure within the day in which the only spare is replaced waits until it is back, half a day in the mean: here most losses are then.
#[test]
fn a_spare_that_is_used_up_is_replaced_in_its_time() {
    let raid5 = "level: raid5, disks: 8, spares: 1, stripe_unit: 64 KiB";
    let (at_once, in_a_day) = (found(&array(raid5, "replace: 1 ms")), found(&array(raid5, "replace: 1 d")));
    let without_spare = 8.0 * 0.02 * 86_400.0 / YEAR_S;
    // The next drive is lost while this one waits, or is rebuilt.
    let expected = 1.0 + without_spare * 43_200.0 / REBUILD_S;
    is_near(at_once.volumes[0].mean_years.value / in_a_day.volumes[0].mean_years.value, expected, 0.05);
}

/// The slow rebuild of a large array is measured at places all over it and extrapolated.
#[test]
fn a_long_rebuild_is_extrapolated_from_a_part() {
    let text =
        array("level: raid5, disks: 4, spares: 1, stripe_unit: 64 KiB", "").replace("32 MiB", "32 GiB");
    let found = found(&text);
    let rebuild = &found.volumes[0].rebuilds[0];
    is_near(rebuild.rebuild.value, 1024.0 * REBUILD_S, 0.05);
    is_near(rebuild.simulated_s, 60.0, 0.05);
    assert!((0.003..0.004).contains(&rebuild.simulated_share), "{rebuild:?}");
    assert!(found.answer.contains("simulations under this load, each of 60 s or "), "{}", found.answer);
}

/// More load makes rebuilds longer, and data less safe.
#[test]
fn rebuilds_are_simulated_under_the_load() {
    let text = |load| {
        array("level: raid5, disks: 5, spares: 1, stripe_unit: 64 KiB", "replace: 1 ms")
            .replace("rate: 2 MB/s, ", "")
            .replace("poisson: 20", &format!("poisson: {load}"))
            .replace("service: 1 ms", "service: {exponential: 4 ms}")
    };
    let (idle, busy) = (found(&text(5)), found(&text(150)));
    let took = |found: &Durability| found.volumes[0].rebuilds[0].rebuild.value;
    assert!(took(&busy) > 1.2 * took(&idle), "{} for {}", took(&busy), took(&idle));
    is_near(
        idle.volumes[0].mean_years.value / busy.volumes[0].mean_years.value,
        took(&busy) / took(&idle),
        0.1,
    );
}

/// Drives without redundancy lose data with the first failure; several volumes lose data each by itself, and equal ones stand in one row.
#[test]
fn data_without_redundancy_is_lost_with_the_first_failure() {
    let found = found(
        "
parts: {d: {type: station, service: 1 ms, capacity: 64 MiB}}
system:
  lone: {type: station, service: 1 ms, capacity: 1 GB}
  striped: {type: array, level: raid0, of: d, disks: 5, stripe_unit: 64 KiB}
workload:
  a: {to: lone, arrivals: {poisson: 20 /s}, size: 4 KiB}
  b: {to: striped, arrivals: {poisson: 20 /s}, size: 4 KiB}
rates: {drive: 2 %/year}
",
    );
    let years: Vec<f64> = found.volumes.iter().map(|volume| volume.mean_years.value).collect();
    is_near(years[0], 50.0, 1e-9);
    is_near(years[1], 10.0, 1e-9);
    is_near(found.mean_years.value, 1.0 / 0.12, 1e-9);
    is_near(found.chance_in_a_year.value, 1.0 - libm::exp(-0.12), 1e-9);
    is_near(found.volumes[0].lost_bytes_per_year, 0.02e9, 1e-9);
    assert_eq!(found.volumes[1].causes[0].what, "the first failure of a drive");
    assert_eq!(found.chance_in_a_year.low, found.chance_in_a_year.high);
}

fn pool(fields: &str, rates: &str) -> String {
    format!(
        "
parts: {{d: {{type: station, service: 1 ms, servers: 8, capacity: 4 GB}}}}
system:
  p: {{type: pool, of: d, servers: 8, drives: 2, groups: 64, size: 8 GB, recovery: {{out_after: 10 min}}, {fields}}}
workload: {{u: {{to: p, arrivals: {{poisson: 50 /s}}, size: 4 KiB, op: {{reads: 70 %}}}}}}
rates: {{drive: 2 %/year, {rates}}}
"
    )
}

/// A pool waits until a drive is out, heals from many drives to many, and loses the groups that lost all their pieces.
#[test]
fn a_pool_loses_groups_whose_pieces_are_lost_before_they_recover() {
    let found = found(&pool("replicas: 2", ""));
    let volume = &found.volumes[0];
    let rebuild = &volume.rebuilds[0];
    assert_eq!((rebuild.wait_s, rebuild.simulated_share), (600.0, 1.0), "{rebuild:?}");
    // Of a group, the other copy is lost while this one waits and, in the mean, half of its drive recovers.
    let group = 2500.0 / (2.0 * (600.0 + rebuild.rebuild.value / 2.0) / YEAR_S);
    is_near(volume.theory.as_ref().unwrap().mean_years, group / 64.0, 1e-3);
    // Groups on the same two drives are lost together, so that losses are rarer than those of all groups one by one.
    assert!((1.0..2.0).contains(&(volume.mean_years.value / (group / 64.0))), "{volume:?}");
    assert!(volume.lost_bytes_per_year > 8e9 / 64.0 / volume.mean_years.value, "{volume:?}");
}

/// Many groups lie on few pairs of drives: what is lost apart are pairs, and a pair is whole when the last of its groups is.
#[test]
fn the_formula_counts_sets_of_drives_and_not_groups() {
    let found = found(&pool("replicas: 2", "").replace("groups: 64", "groups: 1024"));
    let volume = &found.volumes[0];
    let theory = volume.theory.as_ref().unwrap();
    assert_eq!(theory.formula, "Markov chain of each of 120 groups, at least");
    assert!((1.0..1.5).contains(&(volume.mean_years.value / theory.mean_years)), "{volume:?}");
}

/// Of 1,024 groups on 120 pairs of drives each is read on its own: the formula counts the bytes of all of them.
#[test]
fn the_formula_reads_all_groups_of_a_pair_of_drives() {
    let latent = "latent_error: 1e-10 /bit";
    let found = found(
        &pool("replicas: 2", latent)
            .replace("groups: 64", "groups: 1024")
            .replace("size: 8 GB", "size: 8 GiB"),
    );
    let volume = &found.volumes[0];
    assert!(volume.causes[0].what.starts_with("a latent error"), "{:?}", volume.causes);
    // A drive holds 1 GiB of the 16 that the two copies have: two objects of 4 MiB a group.
    let p = 1.0 - libm::exp(-8.0 * 1_073_741_824.0 * 1e-10);
    is_near(volume.mean_years.value, 1.0 / (16.0 * 0.02 * p), 0.05);
    // The losses of one failure are counted pair by pair, 15 × (1 − e⁻⁰·⁰⁵⁷) for each drive, so that the formula gives a lower bound.
    let bound = 1.0 / (16.0 * 0.02 * 15.0 * (1.0 - libm::exp(-8.0 * 1_073_741_824.0 * 1e-10 / 15.0)));
    is_near(volume.theory.as_ref().unwrap().mean_years, bound, 0.02);
}

/// Four groups of two replicas leave at least eight of sixteen drives empty: those that hold something are rebuilt.
#[test]
fn drives_without_a_group_are_not_rebuilt() {
    let found = found(&pool("replicas: 2", "").replace("groups: 64", "groups: 4"));
    assert!(found.volumes[0].rebuilds[0].rebuild.value > 0.0, "{found:?}");
}

/// A server that takes its drives with it loses as much more as it has drives; in one rack, the rack is the risk.
#[test]
fn servers_and_racks_of_a_pool_fail_too() {
    let drives = found(&pool("replicas: 2", ""));
    let servers = found(&pool("replicas: 2", "server: 1 %/year"));
    assert!(servers.volumes[0].mean_years.value < 0.7 * drives.volumes[0].mean_years.value, "{servers:?}");
    assert!(servers.volumes[0].causes.iter().any(|cause| cause.what.starts_with("a server")), "{servers:?}");
    assert_eq!(servers.volumes[0].rebuilds[1].lost, "server");
    let rack = found(&pool("replicas: 2", "rack: 0.1 %/year"));
    is_near(rack.volumes[0].mean_years.value, 1000.0, 0.01);
    let spread = found(&pool("replicas: 2, racks: 4, domain: rack", "rack: 0.1 %/year"));
    assert!(spread.volumes[0].mean_years.value > 1e5, "{spread:?}");
}

#[test]
fn nonsense_is_refused_with_its_place() {
    let raid5 = "level: raid5, disks: 8, spares: 1, stripe_unit: 64 KiB";
    let told = |text: &str| asked(text, 10.0).expect_err("it makes no sense");
    let without = told(&array(raid5, "").replace("rates: {drive: 2 %/year, }", ""));
    assert!(without.contains("durability needs the failure rate of a drive"), "{without}");
    assert!(without.contains("add `rates: {drive: 1.4 %/year"), "{without}");
    let server = told(&array(raid5, "server: 1 %/year"));
    assert!(server.contains("only a pool has a server that takes its drives with it"), "{server}");
    let failed = told(&array("level: raid6, disks: 8, failed: [1], stripe_unit: 64 KiB", ""));
    assert!(failed.contains("`v` begins with `failed` disks; remove them"), "{failed}");
    let often =
        told(&array("level: raid5, disks: 8, stripe_unit: 64 KiB", "replace: 400 d").replace("2 %", "200 %"));
    assert!(often.contains("failures under repair at once, in the mean: it is hardly ever whole"), "{often}");
    let nested = told(
        "
parts: {d: {type: station, service: 1 ms, capacity: 64 MiB}}
system:
  a: {type: array, level: raid5, of: d, disks: 4, stripe_unit: 64 KiB}
  b: {type: array, level: raid5, of: d, disks: 4, stripe_unit: 64 KiB}
  v: {type: array, level: raid1, of: [a, b]}
workload: {u: {to: v, arrivals: {poisson: 20 /s}, size: 4 KiB}}
rates: {drive: 2 %/year}
",
    );
    assert!(nested.contains("`v` protects `a`, which spreads its data over drives itself"), "{nested}");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/archive.yaml");
    let archive = std::fs::read_to_string(file).unwrap() + "\nrates: {drive: 2 %/year}\n";
    let mut prepared = Prepared::read(&archive, file, &[], &unread).unwrap();
    let nowhere =
        prepared.durability(&wanted(10.0), &Progress::default()).expect_err("no drive is known").rendered();
    assert!(nowhere.contains("`pool` does not say which failures its data survives"), "{nowhere}");
    let stalled = told(&array(raid5, "").replace("rate: 2 MB/s", "rate: 1 B/s"));
    assert!(stalled.contains("hardly anything of `v` is rebuilt within 10 s"), "{stalled}");
}

/// A stripe over two RAID 5 arrays loses data when either does.
#[test]
fn a_stripe_over_arrays_consists_of_them() {
    let found = found(
        "
parts:
  d: {type: station, service: 1 ms, capacity: 32 MiB}
  set: {type: array, level: raid5, of: d, disks: 4, spares: 1, stripe_unit: 64 KiB}
system: {v: {type: array, level: raid0, of: set, disks: 2, stripe_unit: 64 KiB}}
workload: {u: {to: v, arrivals: {poisson: 20 /s}, size: 4 KiB}}
rates: {drive: 2 %/year}
",
    );
    assert_eq!((found.volumes.len(), found.volumes[0].count), (1, 2), "{found:?}");
    assert_eq!(found.volumes[0].component, "v/set");
    is_near(found.mean_years.value, found.volumes[0].mean_years.value / 2.0, 1e-9);
}

/// What a write-back cache holds alone is lost with it; behind a write-through cache nothing is.
#[test]
fn a_cache_is_a_drive_only_if_it_writes_back() {
    let of = |writes: &str| {
        found(&format!(
            "
parts: {{d: {{type: station, service: 1 ms, capacity: 32 MiB}}}}
system:
  pair: {{type: array, level: raid1, of: d, disks: 2, spares: 1}}
  flash: {{type: station, service: 100 us, capacity: 8 MiB}}
  v: {{type: device_cache, to: pair, on: flash, writes: {writes}}}
workload: {{u: {{to: v, arrivals: {{poisson: 20 /s}}, size: 4 KiB}}}}
rates: {{drive: 2 %/year}}
"
        ))
    };
    let components = |found: &Durability| -> Vec<String> {
        found.volumes.iter().map(|volume| volume.component.clone()).collect()
    };
    assert_eq!(components(&of("through")), ["pair"]);
    let back = of("back");
    assert_eq!(components(&back), ["pair", "flash"]);
    is_near(back.mean_years.value, 50.0, 1e-3);
}

/// The faults of a scenario are left out, and a note says so; runs ignore rates.
#[test]
fn faults_are_left_out_and_runs_ignore_rates() {
    let text = array("level: raid5, disks: 8, spares: 1, stripe_unit: 64 KiB", "");
    let with = format!("{text}faults: [{{component: 'v/d[1]', fails: 1 s}}]\nrun: {{requests: 500}}\n");
    let found = found(&with);
    assert!(found.notes[0].contains("`faults` are ignored"), "{:?}", found.notes);
    let run = headrace_scenario::simulate(
        &format!("{text}run: {{requests: 500}}"),
        "test.yaml",
        &[],
        &headrace_scenario::run::Options::default(),
        &Progress::default(),
    );
    let run = run.unwrap_or_else(|problems| panic!("{}", problems.rendered()));
    assert!(run.results.components.iter().all(|component| component.state.is_none()));
}

/// A pool recovers group after group, the last of them with fewer drives at a time. One object of several is recovered to the end, so that a
/// long recovery is as long as when all of it is simulated.
#[test]
fn a_sample_of_objects_takes_its_part_of_a_recovery() {
    for fields in
        ["replicas: 2, object: 128 KiB", "erasure: {data: 4, parity: 2}, object: 512 KiB, domain: drive"]
    {
        let text = pool(fields, "").replace("groups: 64", "groups: 40");
        let whole = asked(&text, 600.0).unwrap();
        let whole = &whole.volumes[0].rebuilds[0];
        assert_eq!(whole.simulated_share, 1.0);
        let stretch_s = whole.rebuild.value / 8.0;
        let sampled = asked(&text, stretch_s).unwrap();
        let sampled = &sampled.volumes[0].rebuilds[0];
        assert!((0.05..0.3).contains(&sampled.simulated_share), "{sampled:?}");
        is_near(sampled.rebuild.value, whole.rebuild.value, 0.1);
    }
}

/// After the loss of a server, three replicas on three servers have no third place; of four servers, they have one.
#[test]
fn what_has_no_other_place_is_not_repaired() {
    let servers = |servers: u32| {
        let text = pool("replicas: 3", "server: 1 %/year")
            .replace("servers: 8, drives: 2", &format!("servers: {servers}, drives: 2"));
        asked(&text.replace("size: 8 GB", "size: 2 GB"), 60.0)
    };
    let told = servers(3).unwrap_err();
    assert!(told.contains("nothing of `p` is rebuilt within 60 s"), "{told}");
    assert!(told.contains("give what is lost other places"), "{told}");
    assert!(servers(4).is_ok(), "{:?}", servers(4));
}

/// With as many spares as ever fail, an array lacks a drive while it is rebuilt, not while a spare is replaced.
#[test]
fn a_spare_that_is_not_there_is_no_drive_that_lacks() {
    let raid1 = "level: raid1, disks: 2, spares: 3";
    let found = found(&array(raid1, "replace: 1 d").replace("2 %/year", "500 %/year"));
    is_near(found.volumes[0].degraded, 10.0 * REBUILD_S / YEAR_S, 0.1);
}

/// Each disk of a wider array has units in a part of its stripes; what is left to rebuild is counted in units too.
#[test]
fn a_part_of_a_declustered_rebuild_tells_of_the_whole() {
    let fields = "level: raid5, disks: 12, spares: 1, stripe_unit: 64 KiB, declustered: {width: 4}";
    let text = array(fields, "").replace("rate: 2 MB/s, chunk: 256 KiB", "rate: 200 kB/s, chunk: 256 KiB");
    let of = |stretch_s| asked(&text, stretch_s).unwrap().volumes[0].rebuilds[0].clone();
    let (whole, part) = (of(400.0), of(20.0));
    assert!(whole.simulated_share == 1.0 && part.simulated_share < 0.3, "{whole:?} {part:?}");
    is_near(part.rebuild.value, whole.rebuild.value, 0.1);
}
