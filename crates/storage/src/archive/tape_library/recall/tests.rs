use super::super::locate::Locate;
use super::*;

const WRAPS: u32 = 168;
const CAPACITY: u64 = 9_000_000_000_000;

/// Files of 4 GB anywhere on a tape.
fn batch(number: usize, seed: u64) -> Batch<impl Fn(u64, u64) -> f64> {
    let mut state = seed;
    let mut draw = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    let begin = (0..number).map(|_| (draw() * (CAPACITY - 4_000_000_000) as f64) as u64);
    let spans = begin.map(|begin| (begin, begin + 4_000_000_000)).collect();
    let (fit, share) = (Locate::lto7m(), |at: u64| at as f64 / CAPACITY as f64);
    Batch { spans, head: 0, locate: move |from, to| fit.time(share(from), share(to), WRAPS).secs() }
}

/// The sum of the locate times of an order, in s.
fn time(batch: &Batch<impl Fn(u64, u64) -> f64>, order: &[usize]) -> f64 {
    let (mut head, mut sum) = (batch.head, 0.0);
    for at in order {
        sum += (batch.locate)(head, batch.spans[*at].0);
        head = batch.spans[*at].1;
    }
    sum
}

/// The shortest time of all orders.
fn least(batch: &Batch<impl Fn(u64, u64) -> f64>, order: &mut Vec<usize>, from: usize) -> f64 {
    if from == order.len() {
        return time(batch, order);
    }
    let mut found = f64::INFINITY;
    for at in from..order.len() {
        order.swap(from, at);
        found = found.min(least(batch, order, from + 1));
        order.swap(from, at);
    }
    found
}

/// All orders are permutations, also of none and of one.
#[test]
fn nothing_is_left_out_and_nothing_served_twice() {
    let all = [Recall::Arrival, Recall::ByCartridge, Recall::Ascending, Recall::Nearest, Recall::Recommended];
    for (policy, number) in all.into_iter().flat_map(|policy| [0, 1, 2, 3, 40].map(|number| (policy, number)))
    {
        let mut order = policy.order(&batch(number, 7));
        order.sort_unstable();
        assert_eq!(order, (0..number).collect::<Vec<_>>(), "{policy:?}");
    }
}

/// Of up to eight files `recommended` is 2 % from the least time of all orders on average, and 20 % at most.
#[test]
fn the_recommended_order_is_near_the_optimum_of_all_orders() {
    let excess = |seed: u64| {
        let batch = batch(2 + (seed % 7) as usize, seed);
        let order = Recall::Recommended.order(&batch);
        time(&batch, &order) / least(&batch, &mut order.clone(), 0) - 1.0
    };
    let all: Vec<f64> = (0..70).map(excess).collect();
    let (mean, worst) = (all.iter().sum::<f64>() / all.len() as f64, all.iter().copied().fold(0.0, f64::max));
    assert!(mean < 0.02 && worst < 0.2, "{mean} {worst}");
}

/// Files anywhere on a tape: each order takes less than the one before. CERN's note on recommended orders for LTO (CERN-IT-Note-2020-001) reports
/// savings of up to half of the time, and a tape of which much is read needs hardly any order.
#[test]
fn orders_that_know_more_take_less() {
    let all = [Recall::Arrival, Recall::Ascending, Recall::Nearest, Recall::Recommended];
    for (number, at_most) in [(30, 0.5), (200, 0.5), (500, 0.8)] {
        let batch = batch(number, 1);
        let found = all.map(|policy| time(&batch, &policy.order(&batch)));
        assert!(found.is_sorted_by(|a, b| a > b), "{found:?}");
        assert!(found[3] < at_most * found[1], "{found:?}");
    }
}
