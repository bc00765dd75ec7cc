//! What a Fibre Channel loop does to an array under load.

use headrace_analytic::network::open::{Visits, wait};
use headrace_analytic::network::priority;
use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

/// Random reads of 128 KiB from 25 disks, each from one of them, at 80 % of what the loop can carry: 64 frames, two messages
/// and about five rounds of 5.9 µs make 1.3 ms of it, so it can carry 769 a second.
const READS: &str = "
parts: {spindle: {type: disk, device: maxtor-7y250p0, positioning: independent}}
system:
  tds: {type: array, level: raid0, of: spindle, disks: 25, stripe_unit: 128 KiB, via: loop}
  loop: {type: fc_loop, rate: 1 Gb/s}
workload: {users: {to: tds, arrivals: {poisson: 615 /s}, size: 128 KiB, align: 128 KiB}}
run: {seed: 7, requests: 150000}
";

fn run(text: &str, sets: &[(String, String)]) -> Results {
    let options = Options { threads: 1, ..Options::default() };
    simulate(text, "test.yaml", sets, &options, &Progress::default())
        .unwrap_or_else(|problems| panic!("{}", problems.rendered()))
        .results
}

fn with(policy: &str) -> Results {
    run(READS, &[("system.loop.policy".to_owned(), policy.to_owned())])
}

/// Under fairness the controller sends one command a window, so commands wait until the loop has drained, leave one at a time, and
/// loop and disks take turns at being idle. Favouring commands undoes that. Nothing in the model says by how much: the claim, made
/// before it was run, is that the mean response under fairness is longer by 20 to 80 %.
#[test]
fn commands_first_is_faster_than_fairness_under_load() {
    let [fair, favoured] = ["fairness", "commands_first"].map(with);
    let mean = |results: &Results| results.streams[0].response.mean_ms;
    let gain = mean(&fair) / mean(&favoured) - 1.0;
    assert!((0.2..0.8).contains(&gain), "{gain:.3}: {} and {} ms", mean(&fair), mean(&favoured));
    let busy = |results: &Results| {
        results.components.iter().find(|part| part.path == "loop").and_then(|part| part.utilisation).unwrap()
    };
    assert!((0.75..0.85).contains(&busy(&favoured)), "{}", busy(&favoured));
}

/// Three arrays of a disk each on one bus of 10 MB/s, 80 % busy. A disk works on many requests at once, so what comes to the bus is
/// nearly Poisson.
const SCSI: &str = "
parts: {spindle: {type: station, servers: 64, service: {exponential: 5 ms}, capacity: 10 GB}}
system:
  bus: {type: scsi_bus, preset: fast}
  first: {type: array, level: raid0, of: spindle, disks: 1, stripe_unit: 64 KiB, via: bus}
  second: {type: array, level: raid0, of: spindle, disks: 1, stripe_unit: 64 KiB, via: bus}
  third: {type: array, level: raid0, of: spindle, disks: 1, stripe_unit: 64 KiB, via: bus}
workload:
  a: {to: first, arrivals: {poisson: 318.6 /s}, size: 8 KiB, align: 8 KiB}
  b: {to: second, arrivals: {poisson: 318.6 /s}, size: 8 KiB, align: 8 KiB}
  c: {to: third, arrivals: {poisson: 318.6 /s}, size: 8 KiB, align: 8 KiB}
run: {seed: 11, requests: 600000}
";

/// Who has the highest ID waits least. Nothing in the model says by how much: the claim, made before it was run, is that the wait for
/// the bus of each array is within 5 % of Cobham's formula for six classes, three of commands and three of data.
#[test]
fn waits_on_a_scsi_bus_are_those_of_priorities() {
    let results = run(SCSI, &[]);
    let class = |ms: f64| Visits { rate: 0.3186, mean: ms, square: ms * ms };
    let (command, data) = (6.89e-3 + 14.0 / 5e3, 6.89e-3 + 5.0 / 5e3 + 0.8192);
    let waits = priority::waits(1, &[[class(command); 3], [class(data); 3]].concat());
    for (array, stream) in results.streams.iter().enumerate() {
        let by_formula = waits[array].unwrap() + waits[3 + array].unwrap();
        let found = stream.response.mean_ms - 5.0 - command - data;
        assert!((found / by_formula - 1.0).abs() < 0.05, "{}: {found} ms, {by_formula}", stream.name);
    }
}

/// Reads of 64 KiB over four lanes, 80 % busy: 109.6 µs of each connection with data, 1.4 µs of each with a command.
const SAS: &str = "
parts: {spindle: {type: station, servers: 64, service: {exponential: 5 ms}, capacity: 10 GB}}
system:
  backplane: {type: sas, preset: sas_6g}
  shelf: {type: array, level: raid0, of: spindle, disks: 200, stripe_unit: 64 KiB, via: backplane}
workload: {readers: {to: shelf, arrivals: {poisson: 27950 /s}, size: 64 KiB, align: 64 KiB}}
run: {seed: 12, requests: 600000}
";

/// The claim, made before it was run: the utilisation of the lanes is that of their tenancies, within 1 %, and the wait for them
/// within 10 % of Erlang's formula scaled by (1 + cv²)/2, which is an approximation, over many disks.
#[test]
fn waits_for_lanes_are_those_of_several_servers() {
    let results = run(SAS, &[]);
    let (command, data) = (1.2e-3 + 128.0 / 600e3, 1.2e-3 + (120.0 + 64.0 * 1060.0) / 600e3);
    let mean = (command + data) / 2.0;
    let square = (command * command + data * data) / 2.0;
    let wait = wait(4, &[Visits { rate: 2.0 * 27.95, mean, square }]).unwrap();
    let lanes = results.components.iter().find(|part| part.path == "backplane").unwrap();
    let busy = lanes.utilisation.unwrap();
    assert!((busy / (27.95 * (command + data) / 4.0) - 1.0).abs() < 0.01, "{busy}");
    let found = results.streams[0].response.mean_ms - 5.0 - command - data;
    assert!((found / (2.0 * wait) - 1.0).abs() < 0.1, "{found} ms, by formula {}", 2.0 * wait);
}
