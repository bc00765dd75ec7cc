//! Specification of a layout: surfaces, zones, spares, slipped and remapped sectors.

use headrace_work::Invalid;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Layout of sectors on the platters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutSpec {
    /// Number of surfaces that hold data.
    #[schemars(range(min = 1, max = 64))]
    pub surfaces: u32,
    /// Order of the tracks in a cylinder.
    #[serde(default)]
    pub order: TrackOrder,
    /// Location of spare sectors.
    #[serde(default)]
    pub spares: Spares,
    /// If true, slipped sectors use up spares; otherwise all later sectors of the zone shift.
    #[serde(default = "yes")]
    pub slips_use_spares: bool,
    /// Slipped sectors that also shift the start of later tracks. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slips_skew: Option<SlipsSkew>,
    /// The zones, from the outermost.
    #[schemars(length(min = 1))]
    pub zones: Vec<ZoneSpec>,
}

const fn yes() -> bool {
    true
}

/// Slipped sectors of a zone that shift the start of a track by one sector each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SlipsSkew {
    /// Those of the cylinders before.
    Cylinders,
    /// Those of the tracks before.
    Tracks,
}

/// Order of the tracks in a cylinder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrackOrder {
    /// From the first surface to the last, in every cylinder.
    #[default]
    Conventional,
    /// Back from the last to the first in every odd cylinder.
    Serpentine,
    /// As `serpentine`, with cylinders counted from the start of each zone.
    ZoneSerpentine,
}

/// Location of spare sectors. `spares` of each zone sets their number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spares {
    /// No spares, or spares at the end of the disk that cannot be addressed.
    #[default]
    None,
    /// `spares` whole tracks at the end of the zone; `slips` then names tracks, counted in the zone.
    ZoneTracks,
    /// At the end of each track.
    TrackEnd,
    /// At the end of each cylinder.
    CylinderEnd,
    /// At the front of each cylinder.
    CylinderFront,
    /// At the end of each group of this many cylinders.
    Cylinders(#[schemars(range(min = 1))] u32),
    /// At the end of the zone.
    ZoneEnd,
}

/// A zone: cylinders with the same number of sectors per track.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneSpec {
    /// Its first cylinder.
    pub first_cylinder: u32,
    /// Its last cylinder.
    #[schemars(range(max = 100_000_000))]
    pub last_cylinder: u32,
    /// Sectors per track.
    #[schemars(range(min = 1, max = 16384))]
    pub sectors: u32,
    /// Angle of the zone's first sector, in sectors, relative to the origin common to all zones.
    #[serde(default)]
    pub offset: f64,
    /// Track skew: sectors by which a track starts later than the previous one in its cylinder.
    #[serde(default)]
    pub track_skew: f64,
    /// Cylinder skew: sectors by which the first track of a cylinder starts later than the last track of the
    /// previous cylinder.
    #[serde(default)]
    pub cylinder_skew: f64,
    /// Unused sectors at the start of the zone.
    #[serde(default)]
    pub reserved: u64,
    /// Number of spare sectors or tracks in each region named by `spares`.
    #[serde(default)]
    pub spares: u64,
    /// Slipped (skipped) defective sectors or tracks, numbered within the zone, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<u64>,
    /// Remapped defective sectors: (sector of the zone, sector of the zone that holds its data).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaps: Vec<(u64, u64)>,
}

/// Sectors that repeat in a zone with the same share of spares.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpareRegion {
    /// Number of sectors.
    pub sectors: u64,
    /// Number of sectors that hold data.
    pub usable: u64,
}

impl SpareRegion {
    fn with_spares(sectors: u64, spares: u64) -> Self {
        Self { sectors, usable: sectors.saturating_sub(spares) }
    }

    /// Returns the number of data sectors before sector `at` of consecutive regions with `front` spares before each.
    pub fn data_before(self, at: u64, front: u64) -> u64 {
        at / self.sectors * self.usable + (at % self.sectors).saturating_sub(front).min(self.usable)
    }
}

impl LayoutSpec {
    /// Returns the number of cylinders.
    pub fn cylinders(&self) -> u32 {
        self.zones.last().map_or(0, |zone| zone.last_cylinder + 1)
    }

    /// Returns the number of sectors that hold data.
    pub fn sectors(&self) -> u64 {
        self.zones.iter().map(|zone| self.zone_capacity(zone)).sum()
    }

    /// Returns what is wrong with the first zone that is invalid; `None` if all are valid.
    pub fn problem(&self) -> Option<Invalid> {
        let begins = self.zones.iter().map(|zone| u64::from(zone.last_cylinder) + 1);
        let mut zones = self.zones.iter().zip(std::iter::once(0).chain(begins)).enumerate();
        zones.find_map(|(number, (zone, next))| {
            let problem = order_problem(zone, next).or_else(|| self.room_problem(zone))?;
            Some(Invalid::new("zones", format!("zone {number}: {problem}")))
        })
    }

    fn room_problem(&self, zone: &ZoneSpec) -> Option<String> {
        let (slips, spares) = (zone.slips.len(), zone.spares);
        if self.spares == Spares::ZoneTracks && slips as u64 > spares {
            return Some(format!("{slips} tracks are slipped, and {spares} are spare"));
        }
        (self.region(zone).usable == 0 || self.zone_capacity(zone) == 0)
            .then(|| "the zone holds nothing: spares and reserved sectors take it all".to_owned())
    }

    /// The regions of a zone.
    pub(super) fn region(&self, zone: &ZoneSpec) -> SpareRegion {
        let track = u64::from(zone.sectors);
        let cylinder = u64::from(self.surfaces) * track;
        let whole = self.zone_sectors(zone);
        match self.spares {
            Spares::None => SpareRegion::with_spares(whole, 0),
            Spares::ZoneTracks => SpareRegion::with_spares(whole, zone.spares * track),
            Spares::ZoneEnd => SpareRegion::with_spares(whole, zone.spares),
            Spares::TrackEnd => SpareRegion::with_spares(track, zone.spares),
            Spares::CylinderEnd | Spares::CylinderFront => SpareRegion::with_spares(cylinder, zone.spares),
            Spares::Cylinders(many) => SpareRegion::with_spares(u64::from(many) * cylinder, zone.spares),
        }
    }

    /// All sectors of a zone, whatever they hold.
    fn zone_sectors(&self, zone: &ZoneSpec) -> u64 {
        let cylinders = u64::from(zone.last_cylinder - zone.first_cylinder + 1);
        cylinders * u64::from(self.surfaces) * u64::from(zone.sectors)
    }

    /// Returns the number of sectors of a zone that hold data.
    pub(super) fn zone_capacity(&self, zone: &ZoneSpec) -> u64 {
        let SpareRegion { sectors, usable } = self.region(zone);
        let whole = self.zone_sectors(zone);
        // A last region that is cut short has no spares.
        (whole / sectors * usable + whole % sectors).saturating_sub(zone.reserved + self.lost_to_slips(zone))
    }

    /// Returns the number of data sectors that slips remove from a zone.
    fn lost_to_slips(&self, zone: &ZoneSpec) -> u64 {
        match self.spares {
            Spares::ZoneTracks => 0,
            _ if self.slips_use_spares && self.spares != Spares::None => 0,
            _ => zone.slips.len() as u64,
        }
    }
}

/// Returns the error in the order of cylinders and slips of a zone that can begin at cylinder `next`; `None` if it is valid.
fn order_problem(zone: &ZoneSpec, next: u64) -> Option<String> {
    let (first, last) = (zone.first_cylinder, zone.last_cylinder);
    if last < first {
        return Some(format!("the zone ends at cylinder {last} before it begins at {first}"));
    }
    if u64::from(first) < next {
        return Some(format!("the zone begins at cylinder {first}, inside the one before"));
    }
    let rise = zone.slips.windows(2).all(|pair| pair[0] < pair[1]);
    (!rise).then(|| "slips are to be in order, each once".to_owned())
}
