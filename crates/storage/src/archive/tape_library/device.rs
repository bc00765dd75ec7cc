//! Tape drives of the catalogue, and the tapes of each group: what drives and cartridges of one kind take.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::{Invalid, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::load::LoadTime;
use super::locate::Locate;
use super::spec::{DriveGroup, TapeLibrarySpec};
use super::travel::{Travel, along};
use crate::core::device::{Device, Sourced, not_validated};
use crate::core::graph::Lowering;

/// The numbers of a tape drive and of the cartridges of its generation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TapeDriveNumbers {
    /// Maker, generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Measurements that it was validated against, with the error; or `not validated`.
    #[serde(default = "not_validated")]
    pub validation: String,
    /// Name of the format of its cartridges, such as `lto-9`.
    pub format: String,
    /// Formats of other cartridges that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reads: Vec<String>,
    /// Formats of other cartridges that it writes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Capacity of a cartridge, without compression.
    pub capacity: Sourced<Bytes>,
    /// Maximum rate, without compression.
    pub rate: Sourced<BytesPerSecond>,
    /// Number of wraps by which a tape is filled.
    #[schemars(with = "Sourced<f64>")]
    pub wraps: Sourced<u32>,
    /// Time from insertion of a cartridge until the drive is ready.
    pub load: Sourced<Nanos>,
    /// Time of the load of a cartridge that no drive has had before. Default: `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_load: Option<Sourced<Nanos>>,
    /// Time from rewound until the robot can remove the cartridge.
    pub unload: Sourced<Nanos>,
    /// Time to locate from one end of the tape to the other.
    pub locate: Sourced<Nanos>,
    /// Time to rewind from the far end of the tape.
    pub rewind: Sourced<Nanos>,
}

impl Device for TapeDriveNumbers {
    const KIND: &'static str = "tape_library";
    const NAME: &'static str = "tape drive";
    const FIELDS: &'static [&'static str] = &["wraps"];

    fn problems(&self) -> Vec<Invalid> {
        let checks = [
            ("capacity", self.capacity.get().0 == 0),
            ("rate", self.rate.get().get() <= 0.0),
            ("wraps", self.wraps.get() == 0),
        ];
        let wrong = checks.into_iter().filter(|(_, is_zero)| *is_zero);
        wrong.map(|(field, _)| Invalid::new(field, "must be above zero")).collect()
    }

    fn origins(&self) -> Vec<(String, Option<String>)> {
        let all = [
            ("capacity", self.capacity.origin()),
            ("rate", self.rate.origin()),
            ("wraps", self.wraps.origin()),
            ("load", self.load.origin()),
            ("unload", self.unload.origin()),
            ("locate", self.locate.origin()),
            ("rewind", self.rewind.origin()),
        ];
        let first = self.first_load.iter().map(|first| ("first_load", first.origin()));
        all.into_iter().chain(first).map(|(field, origin)| (field.to_owned(), origin)).collect()
    }

    fn title(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn validation(&self) -> &str {
        &self.validation
    }
}

/// The drives of a group and the cartridges of its silos.
#[derive(Clone, Debug, PartialEq)]
pub struct Tape {
    /// Capacity of a cartridge, in bytes.
    pub capacity: u64,
    pub(super) rate: Option<BytesPerSecond>,
    pub(super) wraps: u32,
    pub(super) load: LoadTime,
    pub(super) first_load: Option<Nanos>,
    pub(super) unload: Nanos,
    pub(super) locate: Locate,
    pub(super) rewind: Travel,
    /// The format of the cartridges, and those that the drives read and write beside it. Without one, drives take all cartridges.
    format: Option<String>,
    reads: Vec<String>,
    writes: Vec<String>,
}

impl Tape {
    /// Returns the tapes of a group: as its device has them, else as the library's fields have them, else as the library's device.
    pub(super) fn of(spec: &TapeLibrarySpec, group: &DriveGroup, at: &mut Lowering) -> Option<Self> {
        match (&group.device, &spec.device) {
            (Some(device), _) => Some(Self::of_device(at.device("device", device)?)),
            (None, Some(device)) => Self::of_device(at.device("device", device)?).changed(spec, at),
            (None, None) if spec.cartridge.is_none() => at.refuse(
                "cartridge",
                "the capacity of a cartridge is missing",
                Some("give `cartridge`, or a `device` of the catalogue: `device: lto-9`"),
            ),
            (None, None) => Self::plain().changed(spec, at),
        }
    }

    fn of_device(device: TapeDriveNumbers) -> Self {
        Self {
            capacity: device.capacity.get().0,
            rate: Some(device.rate.get()),
            wraps: device.wraps.get(),
            load: LoadTime::Time(TimeSpec::Fixed(device.load.get())),
            first_load: device.first_load.map(|first| first.get()),
            unload: device.unload.get(),
            locate: Locate::Along(Travel::Whole(device.locate.get())),
            rewind: Travel::Whole(device.rewind.get()),
            format: Some(device.format),
            reads: device.reads,
            writes: device.writes,
        }
    }

    /// Moves of the tape take no time, and drives take all cartridges.
    fn plain() -> Self {
        Self {
            capacity: 0,
            rate: None,
            wraps: 1,
            load: LoadTime::default(),
            first_load: None,
            unload: Nanos::ZERO,
            locate: Locate::default(),
            rewind: Travel::default(),
            format: None,
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    /// Returns these tapes with what the library's own fields say.
    fn changed(self, spec: &TapeLibrarySpec, at: &mut Lowering) -> Option<Self> {
        let load = match &spec.load {
            Some(load) => load.checked(at)?,
            None => self.load,
        };
        Some(Self {
            load,
            capacity: spec.cartridge.map_or(self.capacity, |cartridge| cartridge.0),
            rate: spec.drive_rate.or(self.rate),
            wraps: spec.wraps.unwrap_or(self.wraps),
            first_load: spec.first_load.or(self.first_load),
            unload: spec.unload.unwrap_or(self.unload),
            locate: spec.locate.clone().unwrap_or(self.locate),
            rewind: spec.rewind.clone().unwrap_or(self.rewind),
            ..self
        })
    }

    /// Returns true if the drives take the cartridges of `other`, to write them or to read them.
    pub(super) fn takes(&self, other: &Self, to_write: bool) -> bool {
        let known = if to_write { &self.writes } else { &self.reads };
        let is_known = |format: &String| self.format.as_ref() == Some(format) || known.contains(format);
        self.format.is_none() || other.format.as_ref().is_none_or(is_known)
    }

    /// Returns the place of a byte of a cartridge, as a share of its capacity.
    fn share(&self, position: u64) -> f64 {
        position as f64 / self.capacity as f64
    }

    /// Returns the time to locate on a cartridge of `tape`.
    pub(super) fn locate_time(&self, tape: &Self, from: u64, to: u64) -> Nanos {
        self.locate.time(tape.share(from), tape.share(to), tape.wraps)
    }

    /// Returns the time to rewind a cartridge of `tape`, and to put it out.
    pub(super) fn unload_time(&self, tape: &Self, from: u64) -> Nanos {
        self.rewind.time(along(tape.share(from), tape.wraps)) + self.unload
    }
}
