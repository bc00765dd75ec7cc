//! Failures by use: a drive, an arm or a cartridge fails after a number of mounts or moves, and is repaired. Which of them fail is drawn, so
//! failures come at rates; nothing fails that is not used.

use headrace_kernel::RngStream;
use headrace_units::Nanos;
use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drives::Drives;
use crate::core::meter::add;

/// Failures of drives, arms and cartridges. Each is left out by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TapeFailures {
    /// A drive fails at the end of the session whose mount was its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drives: Option<FailureRate>,
    /// An arm fails after a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<FailureRate>,
    /// A cartridge gets stuck when it is to leave its drive, which is not used until somebody has freed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cartridges: Option<FailureRate>,
}

/// A rate of failures by use: geometric, so that each use is as likely to be the last.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureRate {
    /// Mean number of uses between two failures: mounts of a drive, moves of an arm (mean swaps between failures), dismounts of cartridges.
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub uses: u64,
    /// Mean time of the repair, which is exponential.
    pub repair: Nanos,
}

impl TapeFailures {
    /// Returns the error of invalid values; `None` if they are valid.
    pub(super) fn problem(&self) -> Option<Invalid> {
        let all = [("drives", self.drives), ("arms", self.arms), ("cartridges", self.cartridges)];
        let (field, _) =
            all.into_iter().find(|(_, rate)| rate.is_some_and(|rate| rate.repair == Nanos::ZERO))?;
        Some(Invalid::new(field, "a repair takes no time").help("give a `repair` above 0 s"))
    }
}

impl FailureRate {
    /// Returns how long the repair after a use takes; `None` if nothing fails. Uses have numbers.
    fn after(self, uses: RngStream, number: u64) -> Option<Nanos> {
        let mut draws = uses.of(number);
        draws
            .chance(1.0 / self.uses as f64)
            .then(|| Nanos::from_secs(self.repair.secs() * draws.exponential()))
    }
}

impl<'m> Drives<'m> {
    /// A cartridge was brought to a drive: the last before its failure, perhaps.
    pub(super) fn wear_drive(&'m self, drive: usize) {
        let repair =
            self.spec.failures.drives.and_then(|rate| rate.after(self.failing[0], self.mounts.get()));
        if let Some(repair) = repair.filter(|_| !self.drives.borrow()[drive].is_down) {
            add(&self.failures, 1);
            self.change_drive(drive, false);
            self.sim.spawn(async move {
                self.sim.delay(repair).await;
                self.change_drive(drive, true);
            });
        }
    }

    /// An arm of a group moved a cartridge.
    pub(super) fn wear_arm(&'m self, group: usize) {
        add(&self.moves, 1);
        let repair = self.spec.failures.arms.and_then(|rate| rate.after(self.failing[1], self.moves.get()));
        if let Some((arm, repair)) = self.arms.working(group).zip(repair) {
            add(&self.failures, 1);
            self.arms.change(arm, false);
            self.sim.spawn(async move {
                self.sim.delay(repair).await;
                self.arms.change(arm, true);
            });
        }
    }

    /// Waits until the cartridge of a drive is free, if it is stuck.
    pub(super) async fn free_stuck(&'m self, drive: usize) {
        add(&self.dismounts, 1);
        let rate = self.spec.failures.cartridges;
        if let Some(repair) = rate.and_then(|rate| rate.after(self.failing[2], self.dismounts.get())) {
            add(&self.failures, 1);
            self.drives.borrow_mut()[drive].is_stuck = true;
            self.hand_another();
            self.sim.delay(repair).await;
            self.drives.borrow_mut()[drive].is_stuck = false;
        }
    }
}
