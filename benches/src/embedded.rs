//! Storage inside another program, beside runs of the same systems.

use headrace::{Block, Nanos, Op, Storage};

use crate::whole::{DISK, RAID5, run};
use crate::{Figure, in_turn, sized};

/// Requests a CPU second through the interface, and that over a run's, of a mechanical disk and of RAID 5.
pub fn figures() -> Vec<Figure> {
    let (run_disk, disk) = in_turn(|| run(DISK, &[]), || host(DISK, "spindle", (40.0, 0), sized(2_000_000)));
    let (events, host_again) = in_turn(
        || run(DISK, &[("run.engine", "events")]),
        || host(DISK, "spindle", (40.0, 0), sized(2_000_000)),
    );
    let (run_raid5, raid5) =
        in_turn(|| run(RAID5, &[]), || host(RAID5, "volume", (150.0, 3), sized(1_000_000)));
    vec![
        ("embedded_requests_per_cpu_s", "the mechanical disk, inside another program", 2e6 / disk),
        ("embedded_of_run", "over a run of it, by recursion", run_disk / disk),
        ("embedded_of_run_by_events", "over a run of it, event by event", events / host_again),
        ("embedded_raid5_requests_per_cpu_s", "the RAID 5, inside another program", 1e6 / raid5),
        ("embedded_raid5_of_run", "over a run of it", run_raid5 / raid5),
    ]
}

/// Submits requests of 8 KiB at random addresses in an open stream; each `writes`-th is a write, if that is not 0.
fn host(scenario: &str, target: &str, (per_s, writes): (f64, u64), requests: u64) {
    let system = scenario.split("workload").next().expect("the system comes first");
    let mut storage =
        Storage::load(system, "bench.yaml", &[], 1).unwrap_or_else(|why| panic!("{}", why.rendered()));
    let target = storage.target(target).expect("it has one");
    let places = storage.targets().nth(target).map_or(1, |(_, capacity)| capacity / 8192);
    let (mut random, mut at) = (1u64, 0.0);
    let mut draw = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        random >> 11
    };
    for number in 0..requests {
        at -= libm::log((draw() + 1) as f64 / (1u64 << 53) as f64) / per_s * 1e9;
        let op = if writes > 0 && number % writes == 0 { Op::Write } else { Op::Read };
        let block = Block { op, address: draw() % places * 8192, bytes: 8192 };
        while let Some(done) = storage.next_completion(Nanos(at as u64)).expect("it goes on") {
            std::hint::black_box(done);
        }
        storage.submit(Nanos(at as u64), target, block, false).expect("it is valid");
    }
}
