//! What is left out of replications at their beginning, and when their intervals are trusted.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::simulate;

fn run(text: &str, options: &Options) -> Results {
    let found = simulate(text, "test.yaml", &[], options, &Progress::default());
    found.unwrap_or_else(|problems| panic!("{}", problems.rendered())).results
}

fn is_trusted(results: &Results) -> bool {
    results.streams[0].response.interval.as_ref().unwrap().trusted
}

/// A thousand clients who all think at first: the queue fills, and has its length after some 1,100 answers.
fn filling(requests: u32) -> Results {
    run(
        &format!(
            "system: {{clerk: {{type: station, service: {{exponential: 1 s}}}}}}
workload: {{users: {{to: clerk, arrivals: {{closed: {{depth: 1000, think: {{exponential: 100 s}}}}}}}}}}
run: {{requests: {requests}, replications: 10}}"
        ),
        &Options::default(),
    )
}

#[test]
fn replications_that_fill_up_are_cut_where_their_average_is_steady() {
    let found = filling(4000);
    let left_out = found.warm_up_s / (found.warm_up_s + found.simulated_s);
    assert!((0.2..0.55).contains(&left_out), "{left_out}");
    // In a closed system with one busy clerk a client waits for all the others: N·S − Z.
    let mean = found.streams[0].response.mean_ms;
    assert!((mean / 900_000.0 - 1.0).abs() < 0.03, "{mean}");
    assert!(!found.notes.iter().any(|note| note.contains("no steady state")), "{:?}", found.notes);
}

#[test]
fn replications_that_only_fill_up_say_so() {
    let found = filling(900);
    assert!(found.notes.iter().any(|note| note.contains("no steady state was found")), "{:?}", found.notes);
}

const BUSY: &str = "system: {clerk: {type: station, service: {exponential: 1 s}}}
workload: {users: {to: clerk, arrivals: {poisson: 0.95 /s}}}
";

#[test]
fn replications_shorter_than_their_bias_are_not_trusted() {
    let of = |run_: &str| run(&format!("{BUSY}run: {run_}"), &Options::default());
    let short = of("{requests: 2000, replications: 30}");
    assert!(!is_trusted(&short));
    assert!(short.notes.iter().any(|note| note.contains("make them longer")), "{:?}", short.notes);
    assert!(is_trusted(&of("{requests: 400000, replications: 10}")));
    let from_empty = of("{requests: 2000, replications: 30, warm_up: none}");
    assert!(is_trusted(&from_empty), "who asks for the beginning gets it");
    assert_eq!(from_empty.warm_up_s, 0.0);
}

#[test]
fn one_replication_of_a_set_is_the_same_among_the_others() {
    let text = format!("{BUSY}run: {{requests: 200000}}");
    let alone = |number| {
        let options = Options { replication: Some(number), ..Options::default() };
        run(&text, &options).streams[0].response.mean_ms
    };
    let together = run(&format!("{BUSY}run: {{requests: 200000, replications: 4}}"), &Options::default());
    let mean = (0..4).map(alone).sum::<f64>() / 4.0;
    assert!((together.streams[0].response.mean_ms / mean - 1.0).abs() < 1e-9);
}
