//! Exact mean value analysis against LINE, an independent solver: random networks of one to three classes.
//!
//! The throughputs are those that `pfqn_mva(demands, clients, think)` of line-solver 3.0.8 returns.

use headrace_analytic::network::{ClosedNetwork, CustomerClass, ServiceCentre, linearizer, mva};

/// Demands by station and class; clients and think time by class; throughput by class.
type Case = (&'static [&'static [f64]], &'static [(u32, f64)], &'static [f64]);

const CASES: &[Case] = &[
    (
        &[&[8.09, 7.0], &[2.1, 2.77], &[7.87, 0.15], &[7.41, 7.19], &[4.26, 2.8]],
        &[(3, 0.0), (2, 13.35)],
        &[0.0560381687508, 0.0387064391352],
    ),
    (
        &[&[8.96, 7.15], &[5.64, 8.9], &[2.02, 1.53]],
        &[(6, 0.0), (4, 1.07)],
        &[0.0711514672084, 0.046563118547],
    ),
    (
        &[&[8.26, 5.7], &[4.68, 4.52], &[2.3, 0.2], &[1.81, 6.26], &[1.89, 3.39]],
        &[(3, 24.9), (1, 0.0)],
        &[0.0552672607951, 0.0370674383732],
    ),
    (
        &[
            &[4.64, 7.64, 5.79],
            &[6.7, 0.91, 4.92],
            &[4.62, 7.85, 3.32],
            &[5.42, 0.63, 3.55],
            &[2.98, 1.44, 7.37],
        ],
        &[(3, 17.7), (3, 18.15), (4, 19.14)],
        &[0.041059305512, 0.0447275696424, 0.0519380829205],
    ),
    (&[&[4.02], &[2.23], &[3.68], &[0.96], &[8.71]], &[(38, 0.0)], &[0.114810562572]),
    (&[&[7.88]], &[(4, 3.95)], &[0.126701287103]),
    (
        &[
            &[8.51, 8.14, 5.17],
            &[1.39, 1.81, 8.36],
            &[5.02, 1.71, 7.97],
            &[5.81, 5.17, 3.45],
            &[3.76, 2.23, 0.44],
        ],
        &[(6, 0.0), (6, 0.0), (4, 0.0)],
        &[0.0447895276918, 0.0511110126741, 0.0387690197556],
    ),
    (
        &[&[0.37, 1.19], &[8.71, 5.95], &[3.91, 4.76], &[7.87, 3.16]],
        &[(1, 20.51), (4, 10.66)],
        &[0.0167444415411, 0.103448663723],
    ),
    (
        &[&[8.19, 1.44, 8.41], &[0.15, 6.8, 7.31], &[1.32, 3.83, 7.36]],
        &[(6, 23.79), (1, 0.0), (6, 0.0)],
        &[0.0599803157041, 0.0298390882783, 0.0552437318317],
    ),
    (&[&[3.33]], &[(5, 0.0)], &[0.3003003003]),
    (
        &[&[5.2, 3.13, 2.52], &[8.57, 4.06, 8.83]],
        &[(1, 26.9), (4, 22.28), (6, 0.0)],
        &[0.0089711375094, 0.0625161917022, 0.0757855069022],
    ),
    (
        &[
            &[3.76, 8.31, 0.71],
            &[3.93, 4.72, 8.56],
            &[2.33, 7.27, 6.12],
            &[6.48, 5.7, 8.75],
            &[3.06, 3.64, 1.91],
        ],
        &[(2, 0.0), (1, 25.21), (3, 3.37)],
        &[0.0502193676427, 0.0121739208941, 0.0494918154581],
    ),
];

fn network(demands: &[&[f64]], classes: &[(u32, f64)]) -> ClosedNetwork {
    let stations = demands.iter().map(|demands| ServiceCentre::queue(demands.to_vec()));
    let classes = classes.iter().map(|&(clients, think)| CustomerClass { clients, think });
    ClosedNetwork::new(stations.collect(), classes.collect())
}

#[test]
fn exact_answers_are_those_of_line() {
    for (demands, classes, throughputs) in CASES {
        let found = mva::exact(&network(demands, classes));
        for (class, line) in found.classes.iter().zip(*throughputs) {
            assert!((class.throughput / line - 1.0).abs() < 1e-9, "{demands:?}: {} {line}", class.throughput);
        }
    }
}

/// Linearizer is known for errors below one per cent.
#[test]
fn linearizer_is_within_one_percent_of_line() {
    for (demands, classes, throughputs) in CASES {
        let found = linearizer::solve(&network(demands, classes));
        for (class, line) in found.classes.iter().zip(*throughputs) {
            assert!((class.throughput / line - 1.0).abs() < 0.01, "{demands:?}: {} {line}", class.throughput);
        }
    }
}
