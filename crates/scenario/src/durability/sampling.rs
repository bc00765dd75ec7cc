//! The rate of data loss of a volume, from cycles that are run until the estimate is as precise as asked for.

use headrace_kernel::{Draws, RngStream};
use headrace_stats::Interval;

use super::in_parallel;
use super::process::{CycleTally, FailureProcess, RepairTimes};
use super::repairs::Repairs;
use crate::progress::Progress;

/// Batches, each with repair times of its own, drawn from the measured ones (bootstrap, Efron 1979).
const BATCHES: u64 = 32;

/// Cycles of a batch at first, and at most.
const CYCLES: (u64, u64) = (256, 1 << 12);

/// Cycles without bias of a batch, for the mean length of a cycle.
const PLAIN_CYCLES: u64 = 256;

/// Half the width of a 95 % interval of many values, in standard errors.
const NORMAL_975: f64 = 1.96;

/// The rate of data loss of a volume.
#[derive(Clone, Debug)]
pub struct LossRate {
    /// Losses a second.
    pub per_s: f64,
    /// Half the width of its 95 % interval, over it.
    pub within: f64,
    /// Share of each kind of unit whose failure causes the loss, and last that of latent errors.
    pub causes: Vec<f64>,
    /// Bytes lost a second.
    pub bytes_per_s: f64,
    /// Number of cycles.
    pub cycles: u64,
    /// Share of the time in which something is not rebuilt.
    pub degraded: f64,
}

struct Batch {
    draws: Draws,
    times: RepairTimes,
    tally: CycleTally,
}

/// Estimates the rate of data loss of a volume. Cycles are added until their part of the interval is at most `within` of the rate.
pub fn of(
    process: &FailureProcess,
    repairs: &Repairs,
    (stream, within): (RngStream, f64),
    threads: usize,
    progress: &Progress,
) -> LossRate {
    let mut batches: Vec<Batch> = (0..BATCHES).map(|number| batch(repairs, stream.of(number))).collect();
    let mut cycles = CYCLES.0;
    loop {
        batches = in_parallel(batches, threads, |mut batch| {
            batch.tally.add(&process.cycles(cycles, (&batch.times, true), &mut batch.draws, progress));
            batch
        });
        let sampled = NORMAL_975 * libm::sqrt(sampling_variance(&batches)) / mean(&batches);
        let done = batches[0].tally.cycles;
        if sampled <= within || done >= CYCLES.1 || progress.is_cancelled() {
            break;
        }
        cycles = done;
    }
    drawn_up(process, repairs, &batches, stream, progress)
}

fn batch(repairs: &Repairs, mut draws: Draws) -> Batch {
    let times = repairs.times(|of| draws.below(of as u64) as usize);
    Batch { draws, times, tally: CycleTally::default() }
}

fn mean(batches: &[Batch]) -> f64 {
    batches.iter().map(|batch| batch.tally.mean()).sum::<f64>() / batches.len() as f64
}

/// The variance of the mean that more cycles would reduce.
fn sampling_variance(batches: &[Batch]) -> f64 {
    batches.iter().map(|batch| batch.tally.variance()).sum::<f64>() / (batches.len() * batches.len()) as f64
}

/// The variance of the mean that more measured repair times would reduce: that between batches beyond their own.
fn measuring_variance(batches: &[Batch], measured: usize) -> f64 {
    let (mean, many) = (mean(batches), batches.len() as f64);
    let between = batches.iter().map(|batch| (batch.tally.mean() - mean) * (batch.tally.mean() - mean));
    let own = sampling_variance(batches) * many;
    // A bootstrap of n values finds the variance of n - 1.
    (between.sum::<f64>() / (many - 1.0) - own).max(0.0) * measured as f64 / (measured as f64 - 1.0)
}

fn drawn_up(
    process: &FailureProcess,
    repairs: &Repairs,
    batches: &[Batch],
    stream: RngStream,
    progress: &Progress,
) -> LossRate {
    let mut all = CycleTally::default();
    batches.iter().for_each(|batch| all.add(&batch.tally));
    let times = repairs.times_as_measured();
    let plain = process.cycles(PLAIN_CYCLES * BATCHES, (&times, false), &mut stream.of(BATCHES), progress);
    let cycle_s = plain.seconds / plain.cycles as f64;
    let (mean, measured) = (mean(batches), repairs.replications());
    let sampled = NORMAL_975 * libm::sqrt(sampling_variance(batches));
    let in_time = if measured > 1 {
        let student = Interval::half_width_of(measured) * libm::sqrt(measured as f64);
        student * libm::sqrt(measuring_variance(batches, measured))
    } else {
        0.0
    };
    let total: f64 = all.losses.iter().sum();
    LossRate {
        per_s: mean / cycle_s,
        within: libm::hypot(sampled, in_time) / mean,
        causes: all.losses.iter().map(|loss| loss / total).collect(),
        bytes_per_s: all.bytes / all.cycles as f64 / cycle_s,
        cycles: all.cycles,
        degraded: plain.degraded_s / plain.seconds,
    }
}
