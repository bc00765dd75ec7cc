//! Components that are slow for a while, and have not failed.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

fn run(text: &str) -> Results {
    simulate(text, "slow.yaml", &[], &Options::default(), &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results
}

fn refusal(text: &str) -> String {
    simulate(text, "slow.yaml", &[], &Options::default(), &Progress::default()).unwrap_err().rendered()
}

/// One that is slow all the time is one whose times are longer: the same events, but for the rounding of times to ns.
#[test]
fn who_is_always_slow_has_longer_times() {
    let ssd = |times: u32| {
        let [read, program, erase, latency] = [60, 600, 38, 10].map(|us| us * times);
        format!(
            "{{type: ssd, device: {{like: micron-7450-pro-1920gb, capacity: 600 MB, read_latency: {latency} us, write_latency: {latency} us, \
             flash: {{block_pages: 8, read: {read} us, program: {program} us, erase: {erase} us}}, buffer: {{size: 16 MiB}}}}, overwritten: 1}}"
        )
    };
    let station = |times: u32| {
        format!("{{type: station, servers: 2, service: {{uniform: {{from: 0 ms, to: {times} ms}}}}}}")
    };
    for (usual, longer) in [(ssd(1), ssd(4)), (station(1), station(4))] {
        let text = |component: &str, more: &str| {
            format!(
                "system: {{drive: {component}}}\n\
                 workload: {{users: {{to: drive, arrivals: {{closed: {{depth: 8}}}}, op: {{reads: 50 %}}, size: 4 KiB}}}}\n\
                 run: {{requests: 3000, warm_up: none}}\n{more}"
            )
        };
        let slow = run(&text(&usual, "faults: [{component: drive, slow: 4}]\n"));
        let longer = run(&text(&longer, ""));
        let is =
            |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
        is(slow.streams[0].response.mean_ms, longer.streams[0].response.mean_ms);
        is(slow.components[0].utilisation.unwrap(), longer.components[0].utilisation.unwrap());
        let usual = run(&text(&usual, ""));
        assert!(longer.streams[0].response.mean_ms > 2.0 * usual.streams[0].response.mean_ms);
    }
}

const MIRROR: &str = "
parts: {leg: {type: station, service: 1 ms}}
system: {volume: {type: array, level: raid1, of: leg, disks: 2}}
workload: {users: {to: volume, arrivals: {poisson: 100 /s}, op: read, size: 4 KiB}}
run: {time: 100 s}
faults: [{component: 'volume/leg[1]', slow: 8, from: 30 s, until: 60 s}]
";

/// It is slow from when to when the fault says; the array goes on using it.
#[test]
fn a_phase_is_slow_and_the_next_is_not() {
    let results = run(MIRROR);
    let words: Vec<&str> = results.phases.iter().flat_map(|phase| &phase.after).map(String::as_str).collect();
    assert_eq!(words, ["volume/leg[1] takes 8 times as long", "volume/leg[1] takes its usual time again"]);
    let means: Vec<f64> = results.phases.iter().map(|phase| phase.streams[0].mean_ms.unwrap()).collect();
    assert!(means[0] < 1.2 && means[1] > 4.0 && means[2] < 1.5, "{means:?}");
    assert_eq!(results.streams[0].failed, 0);
    let counted = run(&MIRROR.replace("from: 30 s, until: 60 s", "from: {after: 3000}"));
    assert_eq!(counted.phases.len(), 2);
}

/// A read that waits for the slow leg is sent to the other after 3 ms: the slow leg costs 3 ms more, and its queue no longer counts.
#[test]
fn hedged_reads_are_answered_by_who_is_fast() {
    let slow = MIRROR.replace("from: 30 s, until: 60 s", "from: 0 s");
    for (level, disks) in [("raid1", 2), ("raid5", 4), ("{erasure: {parity: 2}}", 6)] {
        let text = slow.replace(
            "raid1, of: leg, disks: 2",
            &format!("{level}, of: leg, disks: {disks}, stripe_unit: 64 KiB"),
        );
        let hedged = run(&text.replace("disks: ", "hedge: 3 ms, disks: "));
        let (usual, hedged) = (run(&text), hedged);
        let p99 = |results: &Results| {
            let all = &results.streams[0].response.quantiles_ms;
            all.iter().find(|quantile| quantile.share == 0.99).unwrap().ms
        };
        assert!(p99(&usual) > 8.0 && p99(&hedged) < 6.5, "{level}: {} {}", p99(&usual), p99(&hedged));
        let (sent, all) =
            (hedged.components[0].meters["hedged_reads"].unwrap(), hedged.streams[0].completed as f64);
        assert!(
            sent > 0.8 / f64::from(disks) * all && sent < 1.5 / f64::from(disks) * all,
            "{level}: {sent} of {all}"
        );
        assert_eq!(hedged.streams[0].failed, 0);
    }
    let alone = run(&slow.replace("disks: 2", "hedge: 20 s, disks: 2"));
    assert_eq!(alone.components[0].meters["hedged_reads"], Some(0.0));
    assert_eq!(
        alone.streams[0].response.mean_ms,
        run(&slow).streams[0].response.mean_ms,
        "nobody waits as long"
    );
    let raid0 = slow
        .replace("raid1, of: leg, disks: 2", "raid0, of: leg, disks: 2, stripe_unit: 64 KiB, hedge: 3 ms");
    assert!(refusal(&raid0).contains("raid0 has its data once"));
}

#[test]
fn mistakes_are_told() {
    for (wrong, says) in [
        ("slow: 8, fails: 1 s", "what has failed is not slow"),
        ("from: 1 s", "nothing happens to `volume/leg[1]`"),
        ("slow: 0.5", "it must be at least 1.01 and at most 10000"),
        ("slow: 8, returns: 1 s", "what is slow has not failed"),
        ("fails: 1 s, until: 2 s", "what fails is not slow"),
        ("slow: 8, from: 2 s, until: 1 s", "before it is slow"),
    ] {
        let text = MIRROR.replace("slow: 8, from: 30 s, until: 60 s", wrong);
        let message = refusal(&text);
        assert!(message.contains(says), "{wrong}: {message}");
    }
    let array = MIRROR.replace("'volume/leg[1]'", "volume");
    assert!(refusal(&array).contains("`volume` has no times of its own that could be longer"));
}
