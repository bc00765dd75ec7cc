//! Fork-join queues simulated without the rest of headrace: what the approximations are off by.

use headrace_analytic::fork_join;

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Numbers(u64);

impl Numbers {
    fn exponential(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        -libm::log(((z >> 11) as f64 + 0.5) / (1u64 << 53) as f64)
    }
}

/// One job at K queues by Lindley's recursion: (its response, the mean response of its parts).
fn job(left: &mut [f64], rho: f64, numbers: &mut Numbers) -> (f64, f64) {
    let since = numbers.exponential() / rho;
    let (mut longest, mut sum) = (0.0, 0.0);
    for queue in left.iter_mut() {
        *queue = (*queue - since).max(0.0) + numbers.exponential();
        sum += *queue;
        longest = f64::max(longest, *queue);
    }
    (longest, sum / left.len() as f64)
}

/// The mean response as a multiple of that of one queue, and its standard error, from 100 batches. One queue's mean is known
/// (M/M/1), so it serves as a control: the error is a third of what the response alone would have.
fn simulated(k: usize, rho: f64, jobs: usize) -> (f64, f64) {
    let mut numbers = Numbers(12_345 + 1000 * k as u64 + (rho * 10.0) as u64);
    let mut left = vec![0.0; k];
    for _ in 0..20_000 {
        job(&mut left, rho, &mut numbers);
    }
    let batches: Vec<(f64, f64)> = (0..100)
        .map(|_| {
            let sums = (0..jobs / 100).fold((0.0, 0.0), |(all, one), _| {
                let (longest, mean) = job(&mut left, rho, &mut numbers);
                (all + longest, one + mean)
            });
            (sums.0 * 100.0 / jobs as f64, sums.1 * 100.0 / jobs as f64)
        })
        .collect();
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| batches.iter().map(of).sum::<f64>() / 100.0;
    let (all, one) = (mean(&|batch| batch.0), mean(&|batch| batch.1));
    let slope =
        mean(&|b| (b.0 - all) * (b.1 - one)) / mean(&|b| (b.1 - one) * (b.1 - one)).max(f64::MIN_POSITIVE);
    let exact = 1.0 / (1.0 - rho);
    let rest = |b: &(f64, f64)| b.0 - all - slope * (b.1 - one);
    let rest = mean(&|b| rest(b) * rest(b));
    ((all - slope * (one - exact)) / exact, (rest / 98.0).sqrt() / exact)
}

#[test]
fn the_table_is_what_simulations_give() {
    for (k, rho) in [(2, 0.5), (4, 0.3), (8, 0.6), (32, 0.2)] {
        let (mean, error) = simulated(k, rho, 200_000);
        let told = fork_join::measured(k as u32, rho).unwrap();
        assert!((mean - told).abs() < 4.0 * error, "K = {k}, ρ = {rho}: {mean:.4} ± {error:.4}, told {told}");
    }
}

/// Between the points of the table it is as good as on them.
#[test]
fn what_lies_between_is_interpolated() {
    for (k, rho) in [(5, 0.45), (20, 0.35)] {
        let (mean, error) = simulated(k, rho, 400_000);
        let told = fork_join::measured(k as u32, rho).unwrap();
        assert!(
            (mean - told).abs() < 4.0 * error + 0.003 * mean,
            "K = {k}, ρ = {rho}: {mean:.4}, told {told}"
        );
    }
    for rho in [0.15, 0.5, 0.85] {
        let error = fork_join::flatto_hahn(rho) / fork_join::measured(2, rho).unwrap() - 1.0;
        assert!(error.abs() < 0.002, "exact for two queues: {error:+.4}");
    }
    assert!(fork_join::measured(33, 0.5).is_none() && fork_join::measured(1, 0.5).is_none());
    assert!(fork_join::measured(8, 0.05).is_none() && fork_join::measured(8, 0.95).is_none());
}

/// Computes the table again: `cargo test --release -p headrace-analytic --test fork_join -- --ignored --nocapture`.
#[test]
#[ignore = "makes the table that `fork_join::measured` holds; takes minutes"]
fn measure() {
    for k in [2, 3, 4, 6, 8, 12, 16, 24, 32] {
        let row = (1..10).map(|tenths| simulated(k, f64::from(tenths) / 10.0, 20_000_000));
        let cells: Vec<String> = row.map(|(mean, error)| format!("{mean:.4} ± {error:.4}")).collect();
        println!("{k}: {}", cells.join(", "));
    }
}
