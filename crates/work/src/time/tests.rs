//! Draws against the exact distributions.

use headrace_kernel::RngStream;
use proptest::prelude::*;

use crate::invalid::Invalid;

use super::*;

fn drawn(time: DrawnTime) -> TimeSpec {
    let no_files = |_: &EmpiricalSpec| Err(Invalid::new("file", "there are no files"));
    TimeSpec::Drawn(time).checked(&no_files).expect("the time is valid")
}

fn law(text: &str) -> TimeSpec {
    drawn(serde_json::from_str(text).expect("it is a law"))
}

/// Draws in milliseconds, in ascending order.
fn sample(time: &TimeSpec, seed: u64, n: usize) -> Vec<f64> {
    let mut draws = RngStream::named(seed, "clerk", "service").draws();
    let mut all: Vec<f64> = (0..n).map(|_| time.draw(&mut draws).ms()).collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The largest distance between the distribution functions of a sample and of a time, over 1/√n (Kolmogorov and Smirnov). It is above 2.3
/// for one sample in 20,000. A draw is rounded to a nanosecond, so the distribution is asked half of one to either side.
fn distance(time: &TimeSpec, sample: &[f64]) -> f64 {
    let (n, distribution) = (sample.len() as f64, time.distribution());
    // Equal values are one step of the sample's function: the first of them is compared below, the last above.
    let steps = sample.iter().enumerate().collect::<Vec<_>>();
    let groups = steps.chunk_by(|a, b| a.1 == b.1);
    let each = groups.map(|same| {
        let (first, last) = (same[0], same[same.len() - 1]);
        let below = distribution.cdf(first.1 - 1e-6) - first.0 as f64 / n;
        let above = (last.0 as f64 + 1.0) / n - distribution.cdf(last.1 + 1e-6);
        below.max(above)
    });
    each.fold(0.0, f64::max) * n.sqrt()
}

/// The mean of `n` draws is within five of its standard errors, by the exact moments.
#[track_caller]
fn has_its_moments(time: &TimeSpec, sample: &[f64]) {
    let [mean, second, third] = time.distribution().moments();
    let n = sample.len() as f64;
    let found = sample.iter().sum::<f64>() / n;
    let error = ((second - mean * mean).max(0.0) / n).sqrt() + 1e-6;
    assert!((found - mean).abs() < 5.0 * error, "{time:?}: mean {found} for {mean} ± {error}");
    assert!(second * second <= mean * third * (1.0 + 1e-9), "{time:?}: moments are log-convex");
}

fn times() -> impl Strategy<Value = DrawnTime> {
    let time = || (1_000u64..1_000_000_000).prop_map(Nanos);
    prop_oneof![
        (time(), 0.01..5.0).prop_map(|(mean, cv)| DrawnTime::Lognormal(LognormalSpec { mean, cv })),
        (time(), 1.0..8.0)
            .prop_map(|(mean, cv)| DrawnTime::Hyperexponential(HyperexponentialSpec { mean, cv })),
        (0.2..6.0, time(), 1.1..1e4).prop_map(|(shape, from, ratio): (f64, Nanos, f64)| {
            let to = Nanos::from_ns(from.ns() * ratio);
            DrawnTime::BoundedPareto(BoundedParetoSpec { shape, from, to })
        }),
        prop::collection::vec(time(), 1..40).prop_map(|values| {
            let text = serde_json::json!({ "values": values });
            DrawnTime::Empirical(serde_json::from_value(text).expect("values are a sample"))
        }),
        (time(), time(), 0.0..4.0).prop_map(|(mean, at, weight)| {
            let short = TimeShare { time: TimeSpec::Drawn(DrawnTime::Exponential(mean)), weight };
            DrawnTime::Mix(vec![short, TimeShare { time: TimeSpec::Fixed(at), weight: 1.0 }])
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn draws_follow_the_distribution_that_theory_has(time in times(), seed in 0u64..1000) {
        let time = drawn(time);
        let sample = sample(&time, seed, 20_000);
        prop_assert!(distance(&time, &sample) < 2.6, "{time:?}: {}", distance(&time, &sample));
        has_its_moments(&time, &sample);
    }
}

proptest! {
    /// A law that is scaled has its moments multiplied by the powers of the factor, and stays the law it was.
    #[test]
    fn scaled_times_have_scaled_moments(time in times(), factor in 0.1..10.0_f64) {
        let time = drawn(time);
        let (before, after) = (time.distribution().moments(), time.scaled(factor).distribution().moments());
        for (power, (before, after)) in (1..).zip(before.into_iter().zip(after)) {
            let wanted = before * libm::pow(factor, f64::from(power));
            // Parameters are rounded to a nanosecond.
            prop_assert!((after / wanted - 1.0).abs() < 0.02, "{time:?} × {factor}: {after}, {wanted}");
        }
    }
}

/// Each law at one place with many draws, where an error of half a percent would be seen.
#[test]
fn many_draws_of_each_law() {
    for text in [
        r#"{"exponential": "8 ms"}"#,
        r#"{"erlang": {"stages": 3, "mean": "8 ms"}}"#,
        r#"{"uniform": {"from": "1 ms", "to": "9 ms"}}"#,
        r#"{"lognormal": {"mean": "8 ms", "cv": 1.5}}"#,
        r#"{"hyperexponential": {"mean": "8 ms", "cv": 2}}"#,
        r#"{"bounded_pareto": {"shape": 1.5, "from": "1 ms", "to": "1 s"}}"#,
        r#"{"bounded_pareto": {"shape": 1, "from": "1 ms", "to": "1 s"}}"#,
        r#"{"empirical": {"values": ["1 ms", "2 ms", "2 ms", "50 ms"]}}"#,
        r#"{"mix": [{"time": "1 ms", "weight": 9}, {"time": {"exponential": "30 ms"}, "weight": 1}]}"#,
    ] {
        let time = law(text);
        let sample = sample(&time, 4, 200_000);
        assert!(distance(&time, &sample) < 2.3, "{text}: {}", distance(&time, &sample));
        has_its_moments(&time, &sample);
    }
}

#[test]
fn moments_are_those_that_a_user_asks_for() {
    for text in [
        r#"{"lognormal": {"mean": "8 ms", "cv": 2.5}}"#,
        r#"{"hyperexponential": {"mean": "8 ms", "cv": 2.5}}"#,
    ] {
        let distribution = law(text).distribution();
        assert!((distribution.mean() - 8.0).abs() < 1e-9 && (distribution.cv() - 2.5).abs() < 1e-9, "{text}");
    }
    assert!(law(r#"{"hyperexponential": {"mean": "8 ms", "cv": 1}}"#).distribution().is_exponential());
}

/// Another machine, compiler or release must give these, or saved seeds lose their meaning.
#[test]
fn golden_draws() {
    let first = |text: &str| {
        let mut draws = RngStream::named(1, "clerk", "service").draws();
        let time = law(text);
        [(); 3].map(|()| time.draw(&mut draws).0)
    };
    let found = [
        first(r#"{"lognormal": {"mean": "8 ms", "cv": 1.5}}"#),
        first(r#"{"hyperexponential": {"mean": "8 ms", "cv": 2}}"#),
        first(r#"{"bounded_pareto": {"shape": 1.5, "from": "1 ms", "to": "1 s"}}"#),
        first(r#"{"empirical": {"values": ["1 ms", "2 ms", "2 ms", "50 ms"]}}"#),
    ];
    assert_eq!(found, GOLDEN);
}

const GOLDEN: [[u64; 3]; 4] = [
    [9_193_340, 1_397_996, 1_475_352],
    [1_165_179, 1_708_603, 964_257],
    [2_512_033, 1_108_938, 1_119_008],
    [2_000_000, 1_000_000, 1_000_000],
];

#[test]
fn what_is_wrong_is_said_with_its_field() {
    let problem = |text: &str| {
        let no_files = |_: &EmpiricalSpec| Err(Invalid::new("file", "there are no files"));
        let time = TimeSpec::Drawn(serde_json::from_str(text).expect("it is a law"));
        let problem = time.checked(&no_files).expect_err("it is invalid");
        (problem.field, problem.message)
    };
    let cases = [
        (
            r#"{"bounded_pareto": {"shape": 1, "from": "0 ms", "to": "1 s"}}"#,
            "bounded_pareto.from",
            "above 0 s",
        ),
        (
            r#"{"bounded_pareto": {"shape": 1, "from": "2 s", "to": "1 s"}}"#,
            "bounded_pareto",
            "must be less than",
        ),
        (r#"{"empirical": {}}"#, "empirical", "needs `values` or a `file`"),
        (r#"{"empirical": {"values": ["1 ms"], "file": "a.csv"}}"#, "empirical.file", "remove one"),
        (
            r#"{"empirical": {"values": ["1 ms"], "unit": "1 ms"}}"#,
            "empirical.unit",
            "`unit` is for a `file`",
        ),
        (r#"{"empirical": {"file": "a.csv"}}"#, "empirical.file", "there are no files"),
        (r#"{"mix": [{"time": "1 ms", "weight": 0}]}"#, "mix", "one of them above zero"),
        (
            r#"{"mix": [{"time": {"uniform": {"from": "2 s", "to": "1 s"}}, "weight": 1}]}"#,
            "mix.0.time",
            "less than",
        ),
    ];
    for (text, field, message) in cases {
        let found = problem(text);
        assert!(found.0 == field && found.1.contains(message), "{text}: {found:?}");
    }
}
