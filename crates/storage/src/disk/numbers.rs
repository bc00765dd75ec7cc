//! The numbers of a drive, each with its source.

use headrace_units::{Bytes, BytesPerSecond, Nanos, PerSecond};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drive::{CacheSpec, InterfaceSpec};
use super::layout::{LayoutSpec, SECTOR, Spares, TrackOrder, ZoneSpec};
use super::platter::MechanicsSpec;

/// A number, and where it comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Sourced<T> {
    /// The number alone.
    Plain(T),
    /// The number with its source, or with the reason why it is only estimated.
    Told(Told<T>),
}

/// A number with its source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Told<T> {
    /// The number.
    pub value: T,
    /// Where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Where no source gives it: how it was estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimate: Option<String>,
}

impl<T: Copy> Sourced<T> {
    /// The number itself.
    pub fn get(&self) -> T {
        match self {
            Self::Plain(value) => *value,
            Self::Told(told) => told.value,
        }
    }

    /// Where it comes from: its source, or `estimate: …`.
    pub fn origin(&self) -> Option<String> {
        match self {
            Self::Plain(_) => None,
            Self::Told(told) => {
                told.source.clone().or_else(|| told.estimate.as_ref().map(|why| format!("estimate: {why}")))
            }
        }
    }
}

/// The numbers of a drive, as a data sheet gives them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskNumbers {
    /// Maker, model, size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Against which measurements it was validated, and how well; or `not validated`.
    #[serde(default = "not_validated")]
    pub validation: String,
    /// How many bytes it holds.
    pub capacity: Sourced<Bytes>,
    /// How many cylinders: what the arm moves over.
    #[schemars(with = "Sourced<u32>")]
    pub cylinders: Sourced<u32>,
    /// How fast it turns.
    pub rotation: Sourced<PerSecond>,
    /// How fast data passes under the head on the outermost track.
    pub media_rate_outer: Sourced<BytesPerSecond>,
    /// How fast data passes under the head on the innermost track.
    pub media_rate_inner: Sourced<BytesPerSecond>,
    /// How long the arm takes to where it reads.
    pub seek_read: SeekTimes,
    /// How long the arm takes to where it writes.
    pub seek_write: SeekTimes,
    /// What every request takes beside: command, controller, interface.
    #[serde(default = "no_overhead")]
    pub overhead: Sourced<Nanos>,
    /// Its mechanics, for `positioning: mechanical`. Default: what follows from the numbers above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanics: Option<MechanicsSpec>,
    /// Its cache, for `positioning: mechanical`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSpec>,
    /// Its interface, for `positioning: mechanical`. Default: `overhead` before each command, and data in no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfaceSpec>,
}

/// The two ends of a seek curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeekTimes {
    /// To the next cylinder.
    pub track_to_track: Sourced<Nanos>,
    /// From the first cylinder to the last.
    pub full_stroke: Sourced<Nanos>,
}

/// A data sheet's disk has so many zones.
const SHEET_ZONES: u32 = 16;

/// No device holds more: addresses then have room to be added.
pub const MOST_BYTES: u64 = 1 << 60;

fn not_validated() -> String {
    "not validated".to_owned()
}

const fn no_overhead() -> Sourced<Nanos> {
    Sourced::Plain(Nanos::ZERO)
}

impl DiskNumbers {
    /// What cannot be, as (field, what was found, what would do).
    pub fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        let mut check = |ok: bool, field, problem: String| {
            if !ok {
                problems.push((field, problem));
            }
        };
        let capacity = self.capacity.get();
        check(
            (1..=MOST_BYTES).contains(&capacity.0),
            "capacity",
            format!("a disk holds from 1 B to 1 EiB, not {capacity}"),
        );
        let cylinders = self.cylinders.get();
        check(
            cylinders >= 2,
            "cylinders",
            format!("{cylinders} cylinders leave the arm nowhere to go; give at least 2"),
        );
        let (outer, inner) = (self.media_rate_outer.get(), self.media_rate_inner.get());
        check(
            outer >= inner,
            "media_rate_outer",
            format!(
                "the outermost track ({outer}) cannot pass slower than the innermost ({inner}); are they swapped?"
            ),
        );
        for (field, seek) in [("seek_read", &self.seek_read), ("seek_write", &self.seek_write)] {
            let (track, full) = (seek.track_to_track.get(), seek.full_stroke.get());
            check(
                track <= full,
                field,
                format!("track_to_track ({track}) is longer than full_stroke ({full})"),
            );
        }
        let track = inner.get() / self.rotation.get().get();
        check(
            track >= 512.0,
            "media_rate_inner",
            format!(
                "at this rate and speed the innermost track holds {track:.0} bytes, less than one sector of 512"
            ),
        );
        if let Some((field, problem)) = self.mechanics.as_ref().and_then(MechanicsSpec::problem) {
            problems.push((field, problem));
        } else if let Some(mechanics) = &self.mechanics
            && mechanics.layout.sectors() * SECTOR < capacity.0
        {
            let holds = mechanics.layout.sectors();
            let message = format!(
                "its layout holds {holds} sectors, less than the capacity of {}",
                capacity.0 / SECTOR
            );
            problems.push(("mechanics", message));
        }
        problems
    }

    /// The mechanics: as given, or as they follow from the data sheet. Then tracks shrink from the outermost zone to the
    /// innermost in sixteen steps, there are as many surfaces as the capacity takes, a head switch takes as long as a seek to the
    /// next cylinder, and skews are just long enough for both.
    pub fn mechanics(&self) -> MechanicsSpec {
        self.mechanics.clone().unwrap_or_else(|| {
            let turns = self.rotation.get().get();
            let track = |rate: BytesPerSecond| rate.get() / turns / SECTOR as f64;
            let (outer, inner) = (track(self.media_rate_outer.get()), track(self.media_rate_inner.get()));
            let cylinders = self.cylinders.get();
            let wanted = (self.capacity.get().0 / SECTOR) as f64;
            let surfaces = (wanted / f64::from(cylinders) / ((outer + inner) / 2.0)).ceil().max(1.0);
            // Surfaces are whole; the tracks give way, so that the disk holds what it holds.
            let fill = wanted / (f64::from(cylinders) * surfaces * (outer + inner) / 2.0);
            let switch = self.seek_read.track_to_track.get();
            let zones = SHEET_ZONES.min(cylinders);
            let zone = |i: u32| {
                let first_cylinder = (u64::from(cylinders) * u64::from(i) / u64::from(zones)) as u32;
                let last_cylinder = (u64::from(cylinders) * u64::from(i + 1) / u64::from(zones)) as u32 - 1;
                let inside = (f64::from(i) + 0.5) / f64::from(zones);
                let sectors = ((outer - (outer - inner) * inside) * fill).ceil().max(1.0);
                let skew = (switch.secs() * turns * sectors).ceil();
                ZoneSpec {
                    first_cylinder,
                    last_cylinder,
                    sectors: sectors as u32,
                    offset: 0.0,
                    track_skew: skew,
                    cylinder_skew: skew,
                    reserved: 0,
                    spares: 0,
                    slips: Vec::new(),
                    remaps: Vec::new(),
                }
            };
            MechanicsSpec {
                source: None,
                head_switch: switch,
                write_settle: Nanos(self.seek_write.track_to_track.get().0.saturating_sub(switch.0)),
                seek: Vec::new(),
                layout: LayoutSpec {
                    surfaces: surfaces as u32,
                    order: TrackOrder::Conventional,
                    spares: Spares::None,
                    slips_use_spares: true,
                    zones: (0..zones).map(zone).collect(),
                },
            }
        })
    }

    /// Every number with its field and where it comes from, for the catalogue.
    pub fn origins(&self) -> Vec<(String, Option<String>)> {
        let mut origins = vec![
            ("capacity".to_owned(), self.capacity.origin()),
            ("cylinders".to_owned(), self.cylinders.origin()),
            ("rotation".to_owned(), self.rotation.origin()),
            ("media_rate_outer".to_owned(), self.media_rate_outer.origin()),
            ("media_rate_inner".to_owned(), self.media_rate_inner.origin()),
            ("overhead".to_owned(), self.overhead.origin()),
        ];
        for (field, seek) in [("seek_read", &self.seek_read), ("seek_write", &self.seek_write)] {
            origins.push((format!("{field}.track_to_track"), seek.track_to_track.origin()));
            origins.push((format!("{field}.full_stroke"), seek.full_stroke.origin()));
        }
        origins
    }
}
