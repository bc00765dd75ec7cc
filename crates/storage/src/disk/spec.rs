//! What a user may write of a disk.

use headrace_units::Fraction;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::numbers::DiskNumbers;
use super::schedule::{QueueSpec, Scheduling};

/// A disk drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskSpec {
    /// A drive of the catalogue by name, the path of a device file from the folder of the scenario (`./mine.yaml`), a variation of
    /// either, or its numbers written out.
    #[schemars(with = "DeviceField")]
    pub device: DeviceRef,
    /// How the places on the platter are sampled.
    #[serde(default)]
    pub positioning: Positioning,
    /// Which of the waiting requests is served next, for `positioning: mechanical`. Default: what the drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduling: Option<Scheduling>,
    /// Maximum number of commands it holds and reorders; the rest queue in the host. With more than one it takes the next while data of the
    /// one before still goes to the host. Default: what the drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub queue_depth: Option<u32>,
    /// Where the platter stands at the beginning, as a share of a turn, for `positioning: mechanical`. Default: drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Fraction>,
}

impl DiskSpec {
    /// What a drive of these numbers makes of the commands that wait in it here.
    pub fn queue(&self, numbers: &DiskNumbers) -> QueueSpec {
        if self.positioning != Positioning::Mechanical {
            return QueueSpec::default();
        }
        let own = numbers.queue.clone().unwrap_or_default();
        QueueSpec {
            scheduling: self.scheduling.unwrap_or(own.scheduling),
            depth: self.queue_depth.unwrap_or(own.depth),
            ..own
        }
    }

    /// What does not go together: (field, what is wrong, the fix).
    pub fn problem(&self) -> Option<(&'static str, &'static str, &'static str)> {
        let mechanical = self.positioning == Positioning::Mechanical;
        let only = "it has a meaning only where the platter turns";
        let help = "say `positioning: mechanical`, or leave it out";
        match (mechanical, self.scheduling, self.queue_depth, self.phase) {
            (false, Some(_), ..) => Some(("scheduling", only, help)),
            (false, _, Some(_), _) => Some(("queue_depth", only, help)),
            (false, .., Some(_)) => Some(("phase", only, help)),
            _ => None,
        }
    }
}

/// What a document has in the place of a [`DeviceRef`]: variations are completed before it is read.
#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "for the schema only")]
enum DeviceField {
    /// By its name in the catalogue.
    Named(String),
    /// Another one with some numbers changed.
    Varied(VariedDevice),
    /// Written out.
    Numbers(Box<DiskNumbers>),
}

/// A drive that is like another one, but for the fields given beside `like`.
#[derive(JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
#[allow(dead_code, reason = "for the schema only")]
struct VariedDevice {
    /// The device from which all that is not given here is taken, each number as an estimate.
    like: String,
}

/// A drive by name, or its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum DeviceRef {
    /// By its name in the catalogue.
    Named(String),
    /// Written out.
    Numbers(Box<DiskNumbers>),
}

/// How the places on the platter are sampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Positioning {
    /// The arm moves from where the last request left it to where this one's address lies.
    #[default]
    Addressed,
    /// From one random place to another, the second of which decides the transfer rate too. Addresses play no part.
    Coupled,
    /// As in the paper: seek and transfer rate each from random places of their own. Addresses play no part.
    Independent,
    /// Exactly: the platter turns in virtual time, sectors lie where the layout has them, the cache and the interface do what
    /// they do. Where the platter stands at the beginning is drawn.
    Mechanical,
}
