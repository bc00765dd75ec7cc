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
        let rate = 1600 / times;
        format!(
            "{{type: ssd, device: {{like: micron-7450-pro-1920gb, capacity: 600 MB, read_latency: {latency} us, write_latency: {latency} us, \
             flash: {{block_pages: 8, read: {read} us, program: {program} us, erase: {erase} us, channel_rate: {rate} MB/s}}, buffer: {{size: 16 MiB}}}}, overwritten: 1}}"
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

/// Eight members with exponential service at 60 % load, in an array with some options, and what happens to them.
fn members(seed: u64, options: &str, more: &str) -> Results {
    run(&format!(
        "parts: {{leg: {{type: station, service: {{exponential: 1 ms}}}}}}\n\
         system: {{volume: {{type: array, level: raid6, of: leg, disks: 8, stripe_unit: 64 KiB, {options}}}}}\n\
         workload: {{users: {{to: volume, arrivals: {{poisson: 4800 /s}}, op: read, size: 4 KiB}}}}\n\
         run: {{time: 4 s, seed: {seed}, requests: 1000000, warm_up: none}}\n{more}"
    ))
}

fn evictions(results: &Results) -> Vec<&str> {
    let events = results.phases.iter().flat_map(|phase| &phase.after);
    events.filter(|event| event.contains(" evicts ")).map(String::as_str).collect()
}

/// Members that are all loaded alike and queue at random stay; one that is slow goes at once.
#[test]
fn only_a_slow_member_is_evicted() {
    let evict = "evict_slow: {factor: 3, for: 1 s, window: 200 ms}";
    for seed in 0..40 {
        let usual = members(seed, evict, "");
        assert_eq!(evictions(&usual), [""; 0], "seed {seed}");
        let mean = |results: &Results| results.streams[0].response.mean_ms;
        assert_eq!(mean(&usual), mean(&members(seed, "", "")), "nothing else differs");
    }
    let slow = members(0, evict, "faults: [{component: 'volume/leg[5]', slow: 4, from: 1 s}]");
    assert_eq!(evictions(&slow), ["volume evicts volume/leg[5]: it is slow"]);
    let from = slow.phases.iter().find(|phase| phase.after == ["volume evicts volume/leg[5]: it is slow"]);
    assert!((2.0..2.01).contains(&from.unwrap().from_s), "at the first request after 2 s");
}

/// Hedged reads go to the slow leg first, eviction ends that: after it nobody waits for a hedge, and the answer says who went and why.
#[test]
fn eviction_and_hedges_go_together() {
    let text = MIRROR
        .replace("disks: 2", "hedge: 3 ms, evict_slow: {for: 5 s}, disks: 2")
        .replace("poisson: 100", "poisson: 200");
    let found = run(&text);
    let words: Vec<&str> = found.phases.iter().flat_map(|phase| &phase.after).map(String::as_str).collect();
    let evicts = "volume evicts volume/leg[1]: it is slow";
    assert_eq!(
        words,
        ["volume/leg[1] takes 8 times as long", evicts, "volume/leg[1] takes its usual time again"]
    );
    let p99 = |phase: usize| found.phases[phase].streams[0].p99_ms.unwrap();
    assert!(p99(1) > 3.5 && p99(2) < 3.5, "{} {}", p99(1), p99(2));
    let hedges = |results: &Results| results.components[0].meters["hedged_reads"].unwrap();
    let stays = hedges(&run(&text.replace("evict_slow: {for: 5 s}, ", "")));
    assert!(hedges(&found) < 0.3 * stays, "for 5 s of 30: {} of {stays}", hedges(&found));
    assert!(found.answer.contains("volume evicts volume/leg[1] at 35.0"), "{}", found.answer);
    assert_eq!((found.streams[0].failed, found.components[0].state), (0, Some("degraded")));
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
    for (wrong, says) in [
        ("evict_slow: {factor: 1}", "it must be at least 1.01 and at most 10000"),
        ("evict_slow: {for: 0 s}", "it takes some time to see that a disk is slow"),
        ("evict_slow: {for: 1 s, window: 2 s}", "a window of 2 s is longer than `for`, 1 s"),
        ("evict_slow: {accesses: 0}", "it must be at least 1"),
    ] {
        let message = refusal(&MIRROR.replace("disks: 2", &format!("disks: 2, {wrong}")));
        assert!(message.contains(says), "{wrong}: {message}");
    }
    let raid0 = MIRROR
        .replace("raid1, of: leg, disks: 2", "raid0, of: leg, disks: 2, stripe_unit: 64 KiB, evict_slow: {}");
    assert!(refusal(&raid0).contains("raid0 has its data once, so it cannot do without a slow disk"));
    let array = MIRROR.replace("'volume/leg[1]'", "volume");
    assert!(refusal(&array).contains("`volume` has no times of its own that could be longer"));
}
