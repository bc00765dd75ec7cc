//! Groups of copies: streams to all of them, faults of one, and what is said of many.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::{simulate, solve};

use crate::near::near;

fn found(text: &str) -> Result<Results, String> {
    let found = simulate(text, "group.yaml", &[], &Options::default(), &Progress::default());
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

fn run(text: &str) -> Results {
    found(text).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// Copies of one station behind a stream to all of them.
fn stations(copies: u32, stream: &str) -> String {
    format!(
        "parts: {{clerk: {{type: station, service: {{exponential: 10 ms}}, capacity: 1 GB}}}}
system: {{desk: {{type: group, copies: {copies}, of: clerk}}}}
workload: {{users: {{to: desk, size: 4 KiB, {stream}}}}}
run: {{requests: 100000}}
"
    )
}

/// A stream that is spread at random is Poisson at each copy: M/M/1 with a fifth of the load.
#[test]
fn each_copy_gets_its_share_of_a_stream() {
    let results = run(&stations(5, "arrivals: {poisson: 300 /s}"));
    let theory = &results.theory[0];
    assert_eq!((theory.model.as_str(), theory.exact), ("M/G/1", true));
    near(theory.mean_ms.unwrap(), 10.0 / (1.0 - 0.6), 1e-9);
    near(results.streams[0].response.mean_ms, theory.mean_ms.unwrap(), 0.03);
    let clerks: Vec<_> = results.components.iter().filter(|part| part.kind == "station").collect();
    let visits: u64 = clerks.iter().map(|clerk| clerk.visits).sum();
    for clerk in &clerks {
        let share = clerk.visits as f64 / visits as f64;
        let deviation = (0.2_f64 * 0.8 / visits as f64).sqrt();
        assert!((share - 0.2).abs() < 4.0 * deviation, "{} {share}", clerk.path);
        assert_eq!(clerk.group, "desk");
    }
    let path: Vec<&str> = results.streams[0].path.iter().map(|leg| &*leg.component).collect();
    assert_eq!(path, ["desk"], "all copies are one in the breakdown");
}

#[test]
fn formulas_know_the_share_of_each_copy() {
    let text = stations(4, "arrivals: {poisson: 200 /s}");
    let solved = solve(&text, "group.yaml", &[], None, &Progress::default()).unwrap();
    near(solved.sustains_per_s, 400.0, 1e-9);
    assert_eq!((&*solved.stations[0].component, solved.stations[0].count), ("desk", 4));
    let overloaded = found(&stations(4, "arrivals: {poisson: 500 /s}")).unwrap_err();
    assert!(overloaded.contains("`desk` is overloaded: 500 /s × 2.500 ms"), "{overloaded}");
}

/// A flush of the stream covers what every copy has acknowledged.
#[test]
fn a_flush_goes_to_all_copies() {
    let results = run(&stations(3, "op: write, flush_every: 1, arrivals: {closed: {depth: 1}}"));
    let visits: Vec<u64> =
        results.components.iter().filter(|part| part.kind == "station").map(|part| part.visits).collect();
    // Of each pair of requests, the write goes to one and the flush to three.
    let all = visits.iter().sum::<u64>() as f64 / results.streams[0].completed as f64;
    near(all, 2.0, 0.001);
}

const SERVERS: &str = "
parts:
  nvme: {type: station, service: 100 us, capacity: 1 GB}
system:
  host: {type: server, submit: 1 us}
  tor: {type: switch, preset: ethernet_25g, connects: [host, node/cpu]}
  node:
    type: group
    copies: 20
    of:
      cpu: {type: server, attached: [drive], submit: 1 us}
      drive: {type: group, copies: 8, of: nvme}
      volume: {type: array, level: raid0, of: [drive], stripe_unit: 64 KiB, from: cpu}
workload:
  users: {from: host, to: node/volume, arrivals: {poisson: 10000 /s}, size: 4 KiB}
";

/// A copy fails with all that belongs to it, and comes back with it.
#[test]
fn a_copy_fails_as_a_whole() {
    let text =
        SERVERS.to_owned() + "run: {time: 3 s}\nfaults: [{component: 'node[3]', fails: 1 s, returns: 2 s}]\n";
    let results = run(&text);
    let after: Vec<&[String]> = results.phases.iter().map(|phase| &phase.after[..]).collect();
    assert_eq!(after, [&[][..], &["node[3] fails".to_owned()], &["node[3] returns".to_owned()]]);
    let failed = |at: usize| {
        let phase = &results.phases[at].streams[0];
        phase.failed as f64 / (phase.failed + phase.completed) as f64
    };
    assert!(failed(0) == 0.0 && failed(2) < 0.001);
    near(failed(1), 1.0 / 20.0, 0.1);
    let replaced = run(&text.replace("returns: 2 s", "replaced: 2 s"));
    let [whole, data] = &replaced.phases[2].after[..] else { panic!("{:?}", replaced.phases[2].after) };
    assert_eq!(whole, "node[3] is replaced");
    assert!(data.starts_with("node[3]/volume loses"), "drives are empty: {data}");
}

#[test]
fn refusals_say_which_component_to_name() {
    let refused = |from: &str, to: &str| {
        found(&(SERVERS.replace(from, to) + "run: {requests: 100}\n")).expect_err("this cannot be")
    };
    let fault = |fields: &str| refused("workload:", &format!("faults: [{{{fields}}}]\nworkload:"));
    let cases = [
        (refused("to: node/volume", "to: node"), "`node` is a group of copies, not a component"),
        (
            refused("to: node/volume", "to: node"),
            "name a component of it: `node/cpu`, `node/drive`, `node/volume`",
        ),
        (refused("to: node/volume", "to: node/volum"), "did you mean `node/volume`?"),
        (refused("to: node/volume", "to: 'node[20]/volume'"), "there is no component `node[20]/volume`"),
        (refused("from: host", "from: node"), "there is no server `node`"),
        (refused("of: nvme", "of: nvmee"), "did you mean `nvme`?"),
        (refused("copies: 20", "copies: 0"), "`copies` is 0; it must be at least 1"),
        (refused("    of:\n", "    off: 3\n    of:\n"), "`node` has no field `off`"),
        (refused("type: group\n", "type: groups\n"), "did you mean `group`?"),
        (refused("    of:\n", "    of:\n      'dri/ve': {type: server}\n"), "`dri/ve` is an invalid name"),
        (refused("of: [drive]", "of: [driv]"), "did you mean `drive`?"),
        (fault("component: node/volume, fails: 1 s"), "`node/volume` is 20 components; a fault is of one"),
        (fault("component: node/volume, fails: 1 s"), "from `node[0]/volume` to `node[19]/volume`"),
        (fault("component: 'node[20]', fails: 1 s"), "there is no component `node[20]`"),
        (fault("component: 'node[3]', slow: 8"), "`node[3]` is a copy of a group of components"),
        (
            refused(
                "from: host, to: node/volume, arrivals: {poisson: 10000 /s}",
                "from: node/cpu, to: node/volume, arrivals: {closed: {depth: 40, threads: 2}}",
            ),
            "threads run on the cores of one server, and the stream comes from 20",
        ),
    ];
    for (said, wanted) in cases {
        assert!(said.contains(wanted), "{wanted}:\n{said}");
        assert_eq!(said.matches("error:").count(), 1, "{said}");
    }
}

#[test]
fn messages_name_groups_and_no_routes() {
    let text = SERVERS.replace(
        "host: {type: server, submit: 1 us}",
        "host: {type: server, submit: 1 us, adapter: {queue_depth: 1}}",
    );
    let results = run(&(text.replace("10000 /s", "60000 /s") + "run: {requests: 20000}\n"));
    assert!(results.answer.contains("host (queue depth to node/volume)"), "{}", results.answer);
    assert!(
        results.notes.iter().chain([&results.answer]).all(|note| !note.contains('→')),
        "{:?}",
        results.notes
    );
}

/// Notes of alike drives are one.
#[test]
fn what_all_drives_have_is_said_once() {
    let text = "
parts:
  nvme: {type: ssd, device: micron-7450-pro-1920gb}
system: {volume: {type: array, level: raid0, of: nvme, disks: 8, stripe_unit: 4 KiB}}
workload: {users: {to: volume, arrivals: {poisson: 20000 /s}, op: write, size: 4 KiB}}
run: {requests: 5000}
";
    let fresh: Vec<String> =
        run(text).notes.into_iter().filter(|note| note.contains("garbage collection")).collect();
    assert_eq!(fresh.len(), 1, "{fresh:?}");
    assert!(fresh[0].starts_with("volume/nvme (8 of 8): garbage collection has not begun"), "{fresh:?}");
}

/// A file system of each host, or one of the server that exports it, reaches its volume over the network: ports bound what it reads. A server
/// written in place is a group like one by its part.
#[test]
fn file_systems_reach_remote_volumes_over_the_network() {
    let by = |hosts: &str, connected: &str, to: &str| {
        let results = run(&format!(
            "
system:
{hosts}
  net: {{type: switch, rate: 1 GB/s, connects: [{connected}, target]}}
  target: {{type: server, attached: [drive]}}
  drive: {{type: group, copies: 8, of: {{type: station, service: 10 us, capacity: 1 TB}}}}
  volume: {{type: array, level: raid0, of: [drive], stripe_unit: 64 KiB, from: target}}
workload: {{reads: {{from: {connected}, to: {to}, arrivals: {{closed: {{depth: 8}}}}, size: 1 MiB}}}}
run: {{requests: 3000}}
"
        ));
        let port = results.components.iter().find(|found| found.path == "net/target in").unwrap();
        (results.streams[0].bytes_per_s, port.utilisation.unwrap())
    };
    let own = "  node: {type: group, copies: 2, of: {host: {type: server, attached: [fs]}, fs: {type: file_system, of: volume, memory: 1 GiB}}}";
    let exported = "  host: {type: group, copies: 2, of: {type: server}}\n  fs: {type: file_system, of: volume, memory: 1 GiB, from: target}";
    for (hosts, connected, to) in [(own, "node/host", "node/fs"), (exported, "host", "fs")] {
        let (rate, busy) = by(hosts, connected, to);
        assert!(rate < 1.01e9 && rate > 0.9e9 && busy > 0.95, "{rate} B/s, {busy} busy\n{hosts}");
    }
}
