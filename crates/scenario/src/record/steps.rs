//! Totals of training: steps, and for how long accelerators computed and waited.

use headrace_units::Nanos;

/// One step of one accelerator.
pub struct Step {
    /// True if nothing was fetched ahead of it: the first of an epoch, or after a checkpoint.
    pub is_first: bool,
    /// True if an epoch begins with it.
    pub begins_epoch: bool,
    /// Samples computed on.
    pub samples: u64,
    /// Time of computing.
    pub compute: Nanos,
    /// Time waited, for the batch and for other accelerators.
    pub stall: Nanos,
}

/// Totals that grow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTotals {
    /// Steps of all accelerators.
    pub steps: u64,
    /// Samples of them.
    pub samples: u64,
    /// First steps.
    pub firsts: u64,
    /// Those with which an epoch began.
    pub epochs: u64,
    /// Time waited in first steps, in ns.
    pub first_stall: u128,
    /// Time of computing in first steps, in ns.
    pub first_compute: u128,
    /// Time of computing in other steps, in ns.
    pub compute: u128,
    /// Time waited in other steps, in ns.
    pub stall: u128,
    /// Checkpoints that are being written: a level, not a total.
    pub writing: u64,
    /// Checkpoints.
    pub checkpoints: u64,
    /// Time from the beginning of each to the end of its last write, in ns.
    pub checkpointing: u128,
    /// Time of the longest checkpoint since the run began, in ns.
    pub longest_checkpoint: u128,
    /// Checkpoints read back.
    pub restores: u64,
    /// Time from the beginning of each to the end of its last read, in ns.
    pub restoring: u128,
    /// Accelerators that ended their last epoch.
    pub trained: u64,
}

impl StepTotals {
    /// Adds a step.
    pub fn step(&mut self, step: &Step) {
        self.steps += 1;
        self.samples += step.samples;
        self.epochs += u64::from(step.begins_epoch);
        if step.is_first {
            self.firsts += 1;
            self.first_compute += u128::from(step.compute.0);
            self.first_stall += u128::from(step.stall.0);
        } else {
            self.compute += u128::from(step.compute.0);
            self.stall += u128::from(step.stall.0);
        }
    }

    /// An accelerator begins to write its part of a checkpoint, after it waited for the others. The first one counts the checkpoint.
    pub fn begins_checkpoint(&mut self, waited: Nanos, is_first: bool) {
        self.stall += u128::from(waited.0);
        self.writing += u64::from(is_first);
    }

    /// Adds a checkpoint that took this long.
    pub fn checkpoint(&mut self, took: Nanos) {
        self.checkpoints += 1;
        self.writing -= 1;
        self.checkpointing += u128::from(took.0);
        self.longest_checkpoint = self.longest_checkpoint.max(u128::from(took.0));
    }

    /// Adds a checkpoint that was read back in this time.
    pub fn restore(&mut self, took: Nanos) {
        self.restores += 1;
        self.restoring += u128::from(took.0);
    }

    /// Returns what was added since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            steps: self.steps - earlier.steps,
            samples: self.samples - earlier.samples,
            firsts: self.firsts - earlier.firsts,
            epochs: self.epochs - earlier.epochs,
            first_stall: self.first_stall - earlier.first_stall,
            first_compute: self.first_compute - earlier.first_compute,
            compute: self.compute - earlier.compute,
            stall: self.stall - earlier.stall,
            writing: self.writing,
            checkpoints: self.checkpoints - earlier.checkpoints,
            checkpointing: self.checkpointing - earlier.checkpointing,
            longest_checkpoint: self.longest_checkpoint,
            restores: self.restores - earlier.restores,
            restoring: self.restoring - earlier.restoring,
            trained: self.trained - earlier.trained,
        }
    }

    /// Returns the totals of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            samples: self.samples + other.samples,
            firsts: self.firsts + other.firsts,
            epochs: self.epochs + other.epochs,
            first_stall: self.first_stall + other.first_stall,
            first_compute: self.first_compute + other.first_compute,
            compute: self.compute + other.compute,
            stall: self.stall + other.stall,
            writing: self.writing + other.writing,
            checkpoints: self.checkpoints + other.checkpoints,
            checkpointing: self.checkpointing + other.checkpointing,
            longest_checkpoint: self.longest_checkpoint.max(other.longest_checkpoint),
            restores: self.restores + other.restores,
            restoring: self.restoring + other.restoring,
            trained: self.trained + other.trained,
        }
    }
}
