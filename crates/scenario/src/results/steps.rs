//! What a run says of training: how well the storage fed its accelerators.

use headrace_workload::StepSpec;
use schemars::JsonSchema;
use serde::Serialize;

use crate::record::StepTotals;
use crate::run::StreamOutcome;

/// Training in steps. Times of a step leave out the first of each epoch and after each checkpoint, before which nothing is prefetched, as
/// DLIO's accounting does.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct StepResults {
    /// Steps of all accelerators.
    pub steps: u64,
    /// Accelerator utilisation (AU): computing time ÷ (computing time + stalls); null if there was no such step.
    #[schemars(range(min = 0, max = 1))]
    pub au: Option<f64>,
    /// Share of these steps whose batches may have been fetched before the first of their epoch had ended, while nothing was computed.
    #[schemars(range(min = 0, max = 1))]
    pub prefetched_share: f64,
    /// True if that is 0.05 or more, or 0.5 where epochs ended: where storage limits accelerators, a longer run, or one with longer epochs, has a
    /// lower `au`.
    pub au_at_most: bool,
    /// Samples processed by all accelerators per second, over all whole steps and checkpoints.
    pub samples_per_s: f64,
    /// Mean time per step that an accelerator waited for its batch, and for the others: at the barrier, and before a checkpoint.
    pub stall_ms: Option<f64>,
    /// Mean stall of the steps for which nothing is prefetched.
    pub start_ms: Option<f64>,
    /// Share of computing and stalls of all steps that are the stalls of these.
    #[schemars(range(min = 0, max = 1))]
    pub start_share: f64,
    /// True if the run ended during a checkpoint, and fewer than twenty had ended: its time is in none of these numbers, and would change them by
    /// more than 5 %.
    pub checkpoint_unfinished: bool,
    /// Checkpoints written.
    pub checkpoints: u64,
    /// Mean time of a checkpoint, from the beginning of all writes to the end of the last, or of its flush; null without checkpoints.
    pub checkpoint_ms: Option<f64>,
    /// Time of the longest checkpoint, warm-up included; null without checkpoints.
    pub longest_checkpoint_ms: Option<f64>,
    /// Share of the time of steps and checkpoints that writing checkpoints took.
    #[schemars(range(min = 0, max = 1))]
    pub checkpoint_share: f64,
    /// Bytes that all accelerators write of a checkpoint; 0 without checkpoints.
    pub checkpoint_bytes: f64,
    /// Checkpoints read back.
    pub restores: u64,
    /// Mean time to read a checkpoint back, from the beginning of all reads to the end of the last; null if none was.
    pub restore_ms: Option<f64>,
}

/// The training of a stream in all replications.
pub(super) fn of<'o>(steps: &StepSpec, found: impl Iterator<Item = &'o StreamOutcome>) -> StepResults {
    let (mut all, mut runs) = (StepTotals::default(), 0_u64);
    found.for_each(|stream| (all, runs) = (all.and(stream.steps), runs + 1));
    let mean_ms = |sum: u128, many: u64| (many > 0).then(|| sum as f64 * 1e-6 / many as f64);
    let spent = all.compute + all.stall;
    let starting = all.first_compute + all.first_stall;
    let (epochs, first_epochs) = (all.epochs, runs * u64::from(steps.accelerators));
    let prefetched_share = prefetched(steps, &all, epochs.max(first_epochs));
    let have_ended = all.trained > 0 || epochs > first_epochs;
    // All accelerators write a checkpoint, and read one back, at once.
    let accelerators = u128::from(steps.accelerators);
    let checkpointing = all.checkpointing * accelerators;
    let time = spent + starting + checkpointing;
    StepResults {
        steps: all.steps,
        au: (all.steps > all.firsts && spent > 0).then(|| all.compute as f64 / spent as f64),
        prefetched_share,
        au_at_most: prefetched_share >= if have_ended { MOSTLY_PREFETCHED } else { MUCH_PREFETCHED },
        samples_per_s: all.samples as f64 * accelerators as f64 / (time as f64 * 1e-9).max(1e-9),
        stall_ms: mean_ms(all.stall, all.steps - all.firsts),
        start_ms: mean_ms(all.first_stall, all.firsts),
        start_share: all.first_stall as f64 / (spent + starting).max(1) as f64,
        checkpoint_unfinished: all.writing > 0 && all.checkpoints < FEW_CHECKPOINTS * runs,
        checkpoints: all.checkpoints,
        checkpoint_ms: mean_ms(all.checkpointing, all.checkpoints),
        longest_checkpoint_ms: mean_ms(all.longest_checkpoint, u64::from(all.checkpoints > 0)),
        checkpoint_share: checkpointing as f64 / time.max(1) as f64,
        checkpoint_bytes: steps.checkpoint_bytes(),
        restores: all.restores,
        restore_ms: mean_ms(all.restoring, all.restores),
    }
}

/// Beside this many checkpoints, one that is left out changes their time by 5 % at most.
const FEW_CHECKPOINTS: u64 = 20;

/// From this share on, steps whose batches were fetched before the first had ended say too little of storage.
const MUCH_PREFETCHED: f64 = 0.05;

/// From this share on whole epochs do, although their beginning is what DLIO counts too: they are as short as what is prefetched.
const MOSTLY_PREFETCHED: f64 = 0.5;

/// Returns the share of steps, first ones apart, whose batches may have been fetched before the first of their epoch had ended. What is fetched
/// during a checkpoint is so in the long run too.
fn prefetched(steps: &StepSpec, all: &StepTotals, epochs: u64) -> f64 {
    let ahead = epochs as f64 * f64::from(steps.prefetch);
    (ahead / (all.steps - all.firsts).max(1) as f64).min(1.0)
}
