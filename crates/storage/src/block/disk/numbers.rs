//! The numbers of a drive, each with its source.

use headrace_units::{Bytes, BytesPerSecond, Fraction, Nanos, PerSecond, Shift};
use headrace_work::{Invalid, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cache::CacheSpec;
use super::electronics::InterfaceSpec;
use super::layout::{LayoutSpec, SECTOR, Spares, TrackOrder, ZoneSpec};
use super::mechanism::Mechanism;
use super::platter::{Mechanics, MechanicsSpec};
use super::schedule::QueueSpec;
use super::spec::Positioning;
use super::zones::means;
use crate::core::device::{Device, DeviceCurves, Sourced, not_validated};

/// Number of points of a curve.
const CURVE_POINTS: usize = 101;

/// The parameters of a drive, as in a data sheet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiskNumbers {
    /// Manufacturer, model, size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The measurements it was validated against, and the result; or `not validated`.
    #[serde(default = "not_validated")]
    pub validation: String,
    /// Capacity in bytes.
    pub capacity: Sourced<Bytes>,
    /// Number of cylinders.
    #[schemars(with = "Sourced<u32>")]
    pub cylinders: Sourced<u32>,
    /// Rotational speed.
    pub rotation: Sourced<PerSecond>,
    /// Media rate of the outermost track.
    pub media_rate_outer: Sourced<BytesPerSecond>,
    /// Media rate of the innermost track.
    pub media_rate_inner: Sourced<BytesPerSecond>,
    /// Seek times for reads.
    pub seek_read: SeekTimes,
    /// Seek times for writes.
    pub seek_write: SeekTimes,
    /// Overhead per request: command, controller, interface.
    #[serde(default = "no_overhead")]
    pub overhead: Sourced<Nanos>,
    /// Price of one drive in any currency; `optimise` adds them up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<f64>>")]
    pub price: Option<Sourced<f64>>,
    /// Power draw when busy, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<f64>>")]
    pub power: Option<Sourced<f64>>,
    /// Rack units it occupies: its share of an enclosure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<f64>>")]
    pub rack_units: Option<Sourced<f64>>,
    /// Mechanics, for `positioning: mechanical`. Default: derived from the fields above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanics: Option<MechanicsSpec>,
    /// Cache, for `positioning: mechanical`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheSpec>,
    /// Interface, for `positioning: mechanical`. Default: `overhead` per command, and no transfer time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<InterfaceSpec>,
    /// Command queue, for `positioning: mechanical`. Default: one command at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueSpec>,
}

/// A seek curve from data-sheet values: a + b dᵖ for a distance d.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeekTimes {
    /// Seek to the next cylinder.
    pub track_to_track: Sourced<Nanos>,
    /// Mean seek between random cylinders. Default: follows from the other two with p = 1/2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<Sourced<Nanos>>,
    /// Seek from the first cylinder to the last.
    pub full_stroke: Sourced<Nanos>,
}

/// Fewest cylinders of a drive that is shrunk: enough for its zones and its seek curve.
const FEWEST_CYLINDERS: f64 = 256.0;

/// How much more than its media rates say a track may hold, rather than that a surface is added: the cylinders of a data sheet are not exact,
/// and a count that is a little too low would add one, with shorter and so slower tracks on all.
const FULLER: f64 = 1.02;

/// How many zones the layout of a data sheet has.
const SHEET_ZONES: u32 = 16;

/// No device holds more: addresses then have room to be added.
pub const MOST_BYTES: u64 = 1 << 60;

const fn no_overhead() -> Sourced<Nanos> {
    Sourced::Plain(Nanos::ZERO)
}

impl SeekTimes {
    /// Returns the error in seek times over this number of cylinders; `None` if they are valid.
    fn problem(&self, cylinders: u32) -> Option<String> {
        let (track, full) = (self.track_to_track.get(), self.full_stroke.get());
        if track > full {
            return Some(format!("track_to_track ({track}) is longer than full_stroke ({full})"));
        }
        let (least, most) = means(self, f64::from(cylinders.saturating_sub(1)));
        let average = self.average.as_ref().map(Sourced::get)?;
        let (least_ns, most_ns) = (Nanos(least as u64), Nanos(most as u64));
        (!(least..=most).contains(&(average.0 as f64))).then(|| {
            format!("an average of {average} is not between {least_ns} and {most_ns}, as it is on any curve from {track} to {full}")
        })
    }
}

/// Returns what is wrong with the mechanics of a disk of this capacity; `None` if they are valid.
fn mechanics_problem(mechanics: &MechanicsSpec, capacity: Bytes) -> Option<Invalid> {
    mechanics.problem().or_else(|| {
        let (holds, needs) = (mechanics.layout.as_ref()?.sectors(), capacity.0 / SECTOR);
        (holds * SECTOR < capacity.0).then(|| {
            Invalid::new(
                "layout",
                format!("its layout holds {holds} sectors, less than the capacity of {needs}"),
            )
        })
    })
}

impl DiskNumbers {
    fn capacity_problem(&self) -> Option<String> {
        let capacity = self.capacity.get();
        let holds = (1..=MOST_BYTES).contains(&capacity.0);
        (!holds).then(|| format!("a disk holds from 1 B to 1 EiB, not {capacity}"))
    }

    fn cylinders_problem(&self) -> Option<String> {
        let cylinders = self.cylinders.get();
        (cylinders < 2).then(|| format!("{cylinders} cylinders leave the arm nowhere to go; give at least 2"))
    }

    fn rates_problem(&self) -> Option<String> {
        let (outer, inner) = (self.media_rate_outer.get(), self.media_rate_inner.get());
        let falls = outer >= inner;
        (!falls).then(|| {
            format!(
                "the outermost track ({outer}) cannot pass slower than the innermost ({inner}); are they swapped?"
            )
        })
    }

    fn track_problem(&self) -> Option<String> {
        let track = self.media_rate_inner.get().get() / self.rotation.get().get();
        let holds = track >= SECTOR as f64;
        (!holds).then(|| {
            format!(
                "at this rate and speed the innermost track holds {track:.0} bytes, less than one sector of {SECTOR}"
            )
        })
    }

    /// The mechanics: what is given, the rest as it follows from the data sheet.
    pub fn mechanics(&self) -> Mechanics {
        let given = self.mechanics.clone().unwrap_or_default();
        let slower = || {
            let (write, read) = (self.seek_write.track_to_track.get(), self.seek_read.track_to_track.get());
            Shift(write.0.saturating_sub(read.0) as i64)
        };
        let head_switch = given.head_switch.unwrap_or(self.seek_read.track_to_track.get());
        let write_settle = given.write_settle.unwrap_or_else(slower);
        let next = given.seek.first().map_or(self.seek_read.track_to_track.get(), |(_, time)| *time);
        let next_cylinder = (next + given.inward_more).max(head_switch);
        // A write that needs less than a read does not shorten the skew: reads must come in time too.
        let settle = Nanos(write_settle.0.max(0) as u64);
        let layout = || self.sheet_layout(head_switch + settle, next_cylinder + settle);
        Mechanics {
            head_switch,
            write_settle,
            write_retries: given.write_retries.map_or(0.0, Fraction::get),
            read_retries: given.read_retries.map_or(0.0, Fraction::get),
            zero_latency_reads: given.zero_latency,
            zero_latency_writes: given.zero_latency_writes.unwrap_or(given.zero_latency),
            inward_more: given.inward_more,
            outward_more: given.outward_more,
            layout: given.layout.unwrap_or_else(layout),
            seek: given.seek,
        }
    }

    /// A layout from the data sheet: tracks shrink from the outermost zone, which has the outer media rate, to the innermost in
    /// sixteen steps, there are as many surfaces as the capacity takes, and skews are just long enough for the move to the next track,
    /// `next_track` in the same cylinder and `next_cylinder` to the next: with the time in which a write settles, else each track written
    /// loses a turn.
    fn sheet_layout(&self, next_track: Nanos, next_cylinder: Nanos) -> LayoutSpec {
        let turns = self.rotation.get().get();
        let track = |rate: BytesPerSecond| rate.get() / turns / SECTOR as f64;
        let (outer, inner) = (track(self.media_rate_outer.get()), track(self.media_rate_inner.get()));
        let cylinders = self.cylinders.get();
        let wanted = (self.capacity.get().0 / SECTOR) as f64;
        // Surfaces are whole; the tracks give way, so that the disk holds what it holds.
        let surfaces = (wanted / f64::from(cylinders) / ((outer + inner) / 2.0) / FULLER).ceil().max(1.0);
        let fill = wanted / (f64::from(cylinders) * surfaces * (outer + inner) / 2.0);
        let skew = |moved: Nanos, sectors: f64| (moved.secs() * turns * sectors).ceil();
        let zones = SHEET_ZONES.min(cylinders);
        let first = |i: u32| (u64::from(cylinders) * u64::from(i) / u64::from(zones)) as u32;
        let zone = |i: u32| {
            let inside = f64::from(i) / f64::from(zones - 1);
            let sectors = ((outer - (outer - inner) * inside) * fill).ceil().max(1.0);
            ZoneSpec {
                first_cylinder: first(i),
                last_cylinder: first(i + 1) - 1,
                sectors: sectors as u32,
                track_skew: skew(next_track, sectors),
                cylinder_skew: skew(next_cylinder, sectors),
                ..ZoneSpec::default()
            }
        };
        let zones = (0..zones).map(zone).collect();
        LayoutSpec {
            surfaces: surfaces as u32,
            order: TrackOrder::Conventional,
            spares: Spares::None,
            slips_use_spares: true,
            slips_skew: None,
            zones,
        }
    }

    /// The numbers of a drive whose tracks are full. A drive of less than half a surface, such as one whose capacity a test has shrunk,
    /// has fewer cylinders rather than shorter tracks, so that data passes as fast as its media rates say; seeks take as long over the
    /// same share of them.
    pub fn with_full_tracks(&self) -> Self {
        let given =
            self.mechanics.as_ref().is_some_and(|given| given.layout.is_some() || !given.seek.is_empty());
        let (outer, inner) = (self.media_rate_outer.get().get(), self.media_rate_inner.get().get());
        let track = (outer + inner) / 2.0 / self.rotation.get().get();
        let needed = (self.capacity.get().0 as f64 / track).ceil().max(FEWEST_CYLINDERS);
        if given || needed > f64::from(self.cylinders.get()) / 2.0 {
            return self.clone();
        }
        Self { cylinders: Sourced::Plain(needed as u32), ..self.clone() }
    }
}

impl Device for DiskNumbers {
    const KIND: &'static str = "disk";
    const NAME: &'static str = "disk";
    const FIELDS: &'static [&'static str] = &["rotation"];

    fn problems(&self) -> Vec<Invalid> {
        let cylinders = self.cylinders.get();
        let alone = [
            self.capacity_problem().map(|problem| Invalid::new("capacity", problem)),
            self.cylinders_problem().map(|problem| Invalid::new("cylinders", problem)),
            self.rates_problem().map(|problem| Invalid::new("media_rate_outer", problem)),
            self.seek_read.problem(cylinders).map(|problem| Invalid::new("seek_read", problem)),
            self.seek_write.problem(cylinders).map(|problem| Invalid::new("seek_write", problem)),
            self.track_problem().map(|problem| Invalid::new("media_rate_inner", problem)),
        ];
        let mechanics = self.mechanics.as_ref();
        let mechanics = mechanics.and_then(|mechanics| mechanics_problem(mechanics, self.capacity.get()));
        let mechanics = mechanics.map(|invalid| invalid.within("mechanics"));
        alone.into_iter().flatten().chain(mechanics).collect()
    }

    fn origins(&self) -> Vec<(String, Option<String>)> {
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
            origins.extend(seek.average.iter().map(|average| (format!("{field}.average"), average.origin())));
            origins.push((format!("{field}.full_stroke"), seek.full_stroke.origin()));
        }
        origins
    }

    fn title(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn validation(&self) -> &str {
        &self.validation
    }

    fn random_ms(&self, op: Op, bytes: u64) -> Option<f64> {
        Some(Mechanism::new(self, Positioning::Coupled).service_distribution(op, bytes).mean())
    }

    fn curves(&self) -> DeviceCurves {
        let mechanism = Mechanism::new(self, Positioning::Coupled);
        let cylinders = f64::from(self.cylinders.get() - 1);
        let shares = || (0..CURVE_POINTS).map(|i| i as f64 / (CURVE_POINTS - 1) as f64);
        // Seek curves bend most near zero, so their points lie denser there.
        let seek = |op| shares().map(|x| (x * x * cylinders, mechanism.seek_ms(op, x * x))).collect();
        DeviceCurves {
            zone_rates: shares().map(|u| (u, mechanism.media_rate(u) / 1e6)).collect(),
            seek_read: seek(Op::Read),
            seek_write: seek(Op::Write),
        }
    }
}
