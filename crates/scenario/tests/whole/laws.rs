//! Laws of service and arrivals as a user writes them: against closed forms, from files, and what is said of those that no formula is for.

use std::path::PathBuf;

use headrace_scenario::progress::Progress;
use headrace_scenario::results::Results;
use headrace_scenario::run::Options;
use headrace_scenario::{Prepared, simulate, solve};

fn found(text: &str, file: &str, sets: &[(&str, &str)]) -> Result<Results, String> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| ((*path).to_owned(), (*value).to_owned())).collect();
    let options = Options { threads: 2, ..Options::default() };
    let found = simulate(text, file, &sets, &options, &Progress::default());
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

#[track_caller]
fn run(text: &str, sets: &[(&str, &str)]) -> Results {
    found(text, "test.yaml", sets).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refusal(text: &str) -> String {
    found(text, "test.yaml", &[]).expect_err("it is invalid")
}

fn clerk(service: &str, arrivals: &str) -> String {
    format!(
        "system: {{clerk: {{type: station, service: {service}}}}}\nworkload: {{users: {{to: clerk, arrivals: {arrivals}}}}}\n"
    )
}

/// Laws of service with a mean of 8 ms but for the last three, and E[S²]/E[S]² by hand.
fn laws() -> Vec<(&'static str, f64, f64)> {
    // Bounded Pareto of shape 1.5 between 1 and 1000 ms: E[X] = 3(1 − b^(1/3))/(1 − b), E[X²] = 3(b^(−1/3) − 1)/(1 − b), b = 1000^−1.5.
    let beyond = libm::pow(1000.0, -1.5);
    let third = libm::pow(1000.0, -0.5);
    let pareto = [3.0 * (1.0 - third), 3.0 * (1.0 / third - 1.0)].map(|moment| moment / (1.0 - beyond));
    vec![
        ("{lognormal: {mean: 8 ms, cv: 1.5}}", 8.0, 1.0 + 2.25),
        ("{hyperexponential: {mean: 8 ms, cv: 2}}", 8.0, 5.0),
        ("{bounded_pareto: {shape: 1.5, from: 1 ms, to: 1 s}}", pareto[0], pareto[1] / pareto[0] / pareto[0]),
        ("{empirical: {values: [1 ms, 2 ms, 2 ms, 15 ms]}}", 5.0, (1.0 + 4.0 + 4.0 + 225.0) / 4.0 / 25.0),
        (
            "{mix: [{time: 1 ms, weight: 9}, {time: {exponential: 21 ms}, weight: 1}]}",
            3.0,
            (0.9 + 0.1 * 882.0) / 9.0,
        ),
    ]
}

/// Pollaczek and Khinchine: W = ρ E[S]/(1 − ρ) · E[S²]/2E[S]². The formula is exact in `run` and in `solve`, and the simulation meets it
/// within two half-widths of its 95 % interval, quantiles within 3 %.
#[test]
fn each_law_of_service_is_an_mg1() {
    for (service, mean, second) in laws() {
        let rho = 0.6;
        let text = clerk(service, &format!("{{poisson: {} /s}}", rho * 1000.0 / mean));
        let exact = mean + rho * mean / (1.0 - rho) * second / 2.0;
        let results = run(&text, &[("run.requests", "400000"), ("run.replications", "10")]);
        let theory = &results.theory[0];
        assert!(theory.exact && theory.model == "M/G/1", "{service}: {theory:?}");
        let predicted = theory.mean_ms.unwrap();
        assert!((predicted / exact - 1.0).abs() < 1e-9, "{service}: {predicted} for {exact}");
        let response = &results.streams[0].response;
        let (found, half) = (response.mean_ms, response.half_width_ms.unwrap());
        assert!((found - exact).abs() < 2.0 * half, "{service}: {found} ± {half} for {exact}");
        let solved = solve(&text, "test.yaml", &[], None, &Progress::default()).unwrap();
        assert!(solved.fails.is_empty(), "{service}: {:?}", solved.fails);
        let own = solved.points.iter().find(|point| point.own).unwrap();
        assert!((own.response_ms.unwrap() / exact - 1.0).abs() < 1e-9, "{service}: {own:?}");
    }
}

/// Quantiles by inversion against those of 4·10⁶ requests.
#[test]
fn quantiles_of_each_law_are_those_of_the_simulation() {
    for (service, mean, _) in laws() {
        let text = clerk(service, &format!("{{poisson: {} /s}}", 600.0 / mean));
        let results = run(&text, &[("run.requests", "4000000")]);
        let quantiles = &results.theory[0].quantiles_ms;
        for ((share, theory), simulated) in quantiles.iter().zip(&results.streams[0].response.quantiles_ms) {
            assert_eq!(*share, simulated.share);
            let found = simulated.ms;
            let within = if *share > 0.99 { 0.10 } else { 0.03 };
            assert!((theory / found - 1.0).abs() < within, "{service}: p{share}: {theory} for {found}");
        }
    }
}

/// Gaps with a distribution: M/G/1's twin GI/M/1, whose response is exponential with mean 1/μ(1 − σ), σ = A*(μ(1 − σ)) (Kleinrock 1975).
#[test]
fn renewal_arrivals_to_an_exponential_server_are_the_gim1() {
    // Two-phase gaps of mean 10 ms with cv 2, and μ = 0.15 /ms: A*(s) = Σ pᵢ/(1 + s mᵢ), σ by iteration.
    let p = (1.0 + (3.0f64 / 5.0).sqrt()) / 2.0;
    let transform =
        |s: f64| p / (1.0 + s * 10.0 / (2.0 * p)) + (1.0 - p) / (1.0 + s * 10.0 / (2.0 * (1.0 - p)));
    let mu = 0.15;
    let sigma = (0..1000).fold(0.5, |sigma, _| transform(mu * (1.0 - sigma)));
    let exact = 1.0 / (mu * (1.0 - sigma));
    let text = clerk("{exponential: 6.666667 ms}", "{renewal: {hyperexponential: {mean: 10 ms, cv: 2}}}");
    let results = run(&text, &[("run.requests", "400000"), ("run.replications", "10")]);
    let (found, half) =
        (results.streams[0].response.mean_ms, results.streams[0].response.half_width_ms.unwrap());
    assert!((found - exact).abs() < 2.0 * half, "{found} ± {half} for {exact}");
    let fails = results.theory[0].fails.as_ref().unwrap();
    assert_eq!(
        fails,
        "arrivals are Poisson: those of `users` come after times with a coefficient of variation of 2.000"
    );
}

/// Exponential gaps are Poisson arrivals, bit for bit but for the rounding of the mean.
#[test]
fn exponential_gaps_are_poisson_arrivals() {
    let poisson = run(&clerk("{exponential: 8 ms}", "{poisson: 50 /s}"), &[]);
    let renewal = run(&clerk("{exponential: 8 ms}", "{renewal: {exponential: 20 ms}}"), &[]);
    assert!(renewal.theory[0].exact, "{:?}", renewal.theory[0].fails);
    let [a, b] = [&poisson, &renewal].map(|results| results.streams[0].response.mean_ms);
    assert!((a / b - 1.0).abs() < 1e-6, "{a} {b}");
}

#[test]
fn loads_of_renewal_arrivals_are_set_by_their_mean() {
    let text = clerk("{exponential: 8 ms}", "{renewal: {lognormal: {mean: 20 ms, cv: 2}}}");
    let solved = solve(&text, "test.yaml", &[], Some((25.0, 50.0)), &Progress::default()).unwrap();
    let sets = solved.points[0].sets.clone().unwrap();
    assert_eq!(
        sets,
        [("workload.users.arrivals.renewal.lognormal.mean".to_owned(), "40000000 ns".to_owned())]
    );
    assert!(
        solved.fails.iter().any(|fails| fails.contains("coefficient of variation of 2.000")),
        "{:?}",
        solved.fails
    );
}

/// A split-merge array waits for the slowest of its parts: the mean of the larger of two lognormal times of one σ is
/// 2 E[X] Φ(σ/√2), since they are exchangeable.
#[test]
fn the_slowest_of_two_parts_has_the_law_of_the_larger() {
    let text = "
system:
  volume:
    {type: array, level: raid0, disks: 2, stripe_unit: 4 KiB, queueing: split_merge, of: {type: station, service: {lognormal: {mean: 8 ms, cv: 2}}}}
workload: {users: {to: volume, arrivals: {poisson: 20 /s}, size: 8 KiB}}
run: {requests: 400000, replications: 5}
";
    let sigma = libm::log(5.0f64).sqrt();
    let exact = 16.0 * libm::erfc(-sigma / 2.0) / 2.0;
    let results = run(text, &[]);
    let service = results.theory[0].service_ms.unwrap();
    assert!((service / exact - 1.0).abs() < 1e-3, "{service} for {exact}");
    let (mean, half) =
        (results.streams[0].response.mean_ms, results.streams[0].response.half_width_ms.unwrap());
    let theory = results.theory[0].mean_ms.unwrap();
    assert!((mean - theory).abs() < 2.0 * half, "{mean} ± {half} for {theory}");
}

/// Requests that come at a rate that varies meet a server that is idle but for them: as many as the curve says come in each phase, with
/// both engines and the same bits.
#[test]
fn a_curve_sends_as_many_requests_as_its_integral() {
    let curve = "{varying: {rates: [{at: 0 s, rate: 10 /s}, {at: 60 s, rate: 200 /s}], between: linear, period: 2 min}}";
    let text = clerk("1 us", curve);
    let results = run(&text, &[("run.time", "100 min")]);
    let (found, expected) = (results.streams[0].issued as f64, 6000.0 * 105.0);
    assert!((found - expected).abs() < 4.0 * expected.sqrt(), "{found} for {expected}");
    let by =
        |engine| run(&text, &[("run.requests", "20000"), ("run.engine", engine)]).streams[0].response.mean_ms;
    assert_eq!(by("events").to_bits(), by("recursion").to_bits());
}

/// Slow changes are one M/M/1 after another: the mean is that of the rates, weighted with their requests. The rates last for 10,000
/// service times.
#[test]
fn slow_steps_are_one_queue_after_another() {
    let curve = "{varying: {rates: [{at: 0 s, rate: 20 /s}, {at: 100 s, rate: 80 /s}], period: 200 s}}";
    let text = clerk("{exponential: 10 ms}", curve);
    let results = run(&text, &[("run.time", "20000 s"), ("run.replications", "5")]);
    let (mean, half) =
        (results.streams[0].response.mean_ms, results.streams[0].response.half_width_ms.unwrap());
    let exact = (20.0 * 10.0 / 0.8 + 80.0 * 10.0 / 0.2) / 100.0;
    assert!((mean / exact - 1.0).abs() < 0.02 + 2.0 * half / mean, "{mean} ± {half} for {exact}");
}

#[test]
fn answers_on_a_curve_say_what_they_cover() {
    let day = "{varying: {rates: [{at: 0 h, rate: 5 /s}, {at: 8 h, rate: 150 /s}, {at: 18 h, rate: 20 /s}], period: 24 h}}";
    let text = clerk("{exponential: 10 ms}", day);
    let early = run(&text, &[("run.requests", "5000")]);
    let note = "before the period of its rate was over, at 24 h; increase `run.time`";
    assert!(early.notes.iter().any(|found| found.contains(note)), "{:?}", early.notes);
    let curve = "{varying: {rates: [{at: 0 s, rate: 20 /s}, {at: 90 s, rate: 150 /s}], period: 100 s}}";
    let whole = run(&clerk("{exponential: 10 ms}", curve), &[("run.time", "2000 s")]);
    let bottleneck = whole.bottleneck.as_ref().unwrap();
    assert!(bottleneck.estimate && bottleneck.uneven.as_deref() == Some("users"), "{bottleneck:?}");
    for note in [
        "users: its rate varies with time, so results cover the whole run, and no warm-up is discarded",
        "headroom is an estimate: the load of users varies with time, and headroom is by its mean",
        "requests of users come at up to 150 /s, more than the ",
    ] {
        assert!(whole.notes.iter().any(|found| found.contains(note)), "{note}: {:?}", whole.notes);
    }
    let evening = curve.replace("150 /s", "80 /s");
    let fits = run(&clerk("{exponential: 10 ms}", &evening), &[("run.time", "2000 s")]);
    // 26 % busy at a mean of 26 /s: 80 /s are 80 % busy.
    let note = "at the highest rate of users, 80 /s, headroom is 1.2";
    assert!(fits.notes.iter().any(|found| found.starts_with(note)), "{:?}", fits.notes);
    // Beside 20 /s that are always there, 80 /s are 100 % busy, and 70 /s are 90 %.
    let beside = |most: &str| {
        let mine = clerk("{exponential: 10 ms}", &evening.replace("80 /s", most));
        let text = mine.replace("users: {to", "others: {to: clerk, arrivals: {poisson: 20 /s}}, users: {to");
        run(&text, &[("run.time", "2000 s")]).notes
    };
    let note = "at the highest rate of users, 70 /s, headroom is about 1.1";
    assert!(beside("70 /s").iter().any(|found| found.starts_with(note)), "{:?}", beside("70 /s"));
    let note = "sustains beside the other streams: queues grow while they last";
    assert!(beside("95 /s").iter().any(|found| found.ends_with(note)), "{:?}", beside("95 /s"));
    let refused =
        solve(&text, "test.yaml", &[], None, &Progress::default()).expect_err("no formula").rendered();
    assert!(refused.contains("the assumption that fails: requests come at one rate"), "{refused}");
    assert!(refused.contains("`--set 'workload.users.arrivals={poisson: 150 /s}'`"), "{refused}");
}

/// A ramp beyond what the server carries is a question, not an error; a period of it on average is an error.
#[test]
fn a_ramp_into_overload_runs() {
    let ramp = "{varying: {rates: [{at: 0 s, rate: 10 /s}, {at: 200 s, rate: 150 /s}], between: linear}}";
    let results = run(&clerk("{exponential: 10 ms}", ramp), &[("run.time", "300 s")]);
    assert!(results.streams[0].response.max_ms > 1000.0);
    let always = "{varying: {rates: [{at: 0 s, rate: 110 /s}, {at: 200 s, rate: 150 /s}], period: 400 s}}";
    assert!(refusal(&clerk("{exponential: 10 ms}", always)).contains("overloaded: 130 /s"));
}

#[test]
fn arrivals_that_end_need_a_run_that_does() {
    let burst = "{varying: {rates: [{at: 0 s, rate: 100 /s}, {at: 10 s, rate: 0 /s}]}}";
    let text = clerk("1 ms", burst);
    let refused = refusal(&text);
    assert!(refused.contains("no request comes after 10 s, where the last rate is zero"), "{refused}");
    assert!(refused.contains("give the run a `time`"), "{refused}");
    let results = run(&text, &[("run.time", "1 min")]);
    let issued = results.streams[0].issued as f64;
    assert!((issued - 1000.0).abs() < 160.0, "{issued}");
    assert!((results.simulated_s - 60.0).abs() < 1e-9, "{}", results.simulated_s);
}

/// A scenario in a folder of its own, with a file beside it.
fn beside(name: &str, file: &str, content: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("headrace-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(file), content).unwrap();
    folder.join("test.yaml")
}

#[test]
fn a_sample_is_read_from_a_file() {
    let list = "1 ms\n2 ms\n\n2 ms\n15 ms\n";
    let csv = "disk,ms,times\na,1,1\nb,2,2\nc,15.0,1\n";
    let written = run(&clerk("{empirical: {values: [1 ms, 2 ms, 2 ms, 15 ms]}}", "{poisson: 100 /s}"), &[]);
    for (content, more) in [(list, ""), (csv, ", column: ms, weight: times, unit: 1 ms")] {
        let scenario = beside("sample", "times.csv", content);
        let text = clerk(&format!("{{empirical: {{file: times.csv{more}}}}}"), "{poisson: 100 /s}");
        let read =
            found(&text, scenario.to_str().unwrap(), &[]).unwrap_or_else(|problems| panic!("{problems}"));
        let [a, b] = [&written, &read].map(|results| results.streams[0].response.mean_ms.to_bits());
        assert_eq!(a, b, "the same sample, the same bits");
        let prepared = Prepared::read(&text, scenario.to_str().unwrap(), &[], &|_| panic!("it has no jobs"));
        let inputs = prepared.unwrap_or_else(|problems| panic!("{}", problems.rendered())).inputs();
        assert!(inputs.iter().any(|input| input.ends_with("times.csv")), "{inputs:?}");
    }
}

/// Wherever a time is drawn: gaps, think times, parts written in place, one of a mix.
#[test]
fn a_sample_stands_wherever_a_time_does() {
    let scenario = beside("places", "gaps.txt", "5 ms\n30 ms\n");
    let sample = "{empirical: {file: gaps.txt}}";
    for text in [
        clerk("1 ms", &format!("{{renewal: {sample}}}")),
        clerk("1 ms", &format!("{{closed: {{depth: 2, think: {sample}}}}}")),
        clerk(&format!("{{mix: [{{time: {sample}, weight: 1}}, {{time: 1 ms, weight: 3}}]}}"), "{poisson: 5 /s}"),
        format!(
            "system: {{volume: {{type: array, level: raid0, disks: 2, stripe_unit: 4 KiB, of: {{type: station, service: {sample}}}}}}}
workload: {{users: {{to: volume, arrivals: {{poisson: 5 /s}}}}}}"
        ),
    ] {
        let results = found(&text, scenario.to_str().unwrap(), &[("run.requests", "1000")]);
        assert!(results.is_ok_and(|results| results.streams[0].completed == 1000), "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_file_is_said_with_its_line() {
    let refused = |content: &str, more: &str| {
        let scenario = beside("broken", "times.csv", content);
        let text = clerk(&format!("{{empirical: {{file: times.csv{more}}}}}"), "{poisson: 1 /s}");
        found(&text, scenario.to_str().unwrap(), &[]).expect_err("the sample is broken")
    };
    for (content, more, expected) in [
        ("1 ms\n2\n", "", "times.csv, line 2: `2` has no unit; write a time such as `2 ms` or `2 s`"),
        ("1 ms\n2\n", "", "help: give the unit of all: `unit: 1 ms`"),
        ("1\n-2\n", ", unit: 1 ms", "times.csv, line 2: `-2` is not a valid time"),
        ("\n\n", "", "times.csv: it has no values"),
        ("a,b\n1,2\n", ", column: c, unit: 1 ms", "no column `c` among the first 16; the header has a, b"),
        ("a,b\n1,x\n", ", column: a, weight: b, unit: 1 ms", "line 2: `x` is not a valid weight"),
        ("a,b\n1,0\n", ", column: a, weight: b, unit: 1 ms", "all weights are zero"),
        ("1 ms\n", ", weight: b", "`weight` is a column, and the file of a list has none"),
        ("1\n", ", unit: 0 ms", "a unit of zero leaves no times"),
        ("0 ms\n0 ms\n", "", "a service takes some time"),
    ] {
        let found = refused(content, more);
        assert!(found.contains(expected), "{expected}: {found}");
    }
    let missing = refusal(&clerk("{empirical: {file: none.csv}}", "{poisson: 1 /s}"));
    assert!(missing.contains("none.csv: No such file"), "{missing}");
    assert!(missing.contains("test.yaml:1:"), "{missing}");
}

#[test]
fn what_is_wrong_with_arrivals_is_said() {
    for (arrivals, expected) in [
        ("{renewal: 0 ms}", "a mean of zero would send infinitely many requests at once"),
        ("{renewal: {uniform: {from: 2 ms, to: 1 ms}}}", "`from` (2 ms) must be less than `to` (1 ms)"),
        (
            "{renewal: {lognormal: {mean: 1 ms, cv: 0}}}",
            "`cv` is 0; it must be at least 0.001 and at most 1000",
        ),
        ("{renewal: {hyperexponential: {mean: 1 ms, cv: 0.5}}}", "`cv` is 0.5; it must be at least 1"),
        ("{varying: {rates: []}}", "`rates` must not be empty"),
        (
            "{varying: {rates: [{at: 1 s, rate: 5 /s}]}}",
            "the first rate begins at 1 s; the curve begins at 0 s",
        ),
        (
            "{varying: {rates: [{at: 0 s, rate: -5 /s}]}}",
            "`-5 /s` is out of range: frequency must be zero, or from",
        ),
        (
            "{varying: {rates: [{at: 0 s, rate: 0 /s}], period: 1 h}}",
            "all rates are zero: no request would ever come",
        ),
        (
            "{varying: {rates: [{at: 0 s, rate: 1 /s}, {at: 2 h, rate: 5 /s}, {at: 1 h, rate: 1 /s}]}}",
            "item 3 begins at 60 min, not after the 2 h of the one before",
        ),
        (
            "{varying: {rates: [{at: 0 s, rate: 1 /s}, {at: 2 h, rate: 5 /s}], period: 1 h}}",
            "a period of 60 min ends before the last rate begins, at 2 h",
        ),
    ] {
        let found = refusal(&clerk("1 ms", arrivals));
        assert!(found.contains(expected), "{expected}: {found}");
    }
}
