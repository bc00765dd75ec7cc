//! Where each sector lies: zones, skews, spares, slipped and remapped sectors.
//!
//! Plain arithmetic within its zone takes a sector's number to its place. The vocabulary (slips, spares at the end of ranges
//! of cylinders, skew counted in sectors) is that of DiskSim's manual, so that its parameter files can be read into it; tests
//! check that the capacity comes out as those files state it.

mod spec;
#[cfg(test)]
mod tests;
mod zone;

use headrace_work::Block;
use strength_reduce::StrengthReducedU64;

use super::steps::Steps;
pub use spec::{LayoutSpec, SlipsSkew, Spares, TrackOrder, ZoneSpec};
use zone::Zone;

/// Bytes of a sector.
pub const SECTOR: u64 = 512;

/// Sectors from `first` to before `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SectorSpan {
    /// The first of them.
    pub first: u64,
    /// One more than the last.
    pub end: u64,
}

impl SectorSpan {
    /// The sectors of a command.
    #[inline]
    pub fn of(block: &Block) -> Self {
        Self { first: block.address / SECTOR, end: (block.address + block.bytes).div_ceil(SECTOR) }
    }

    /// Returns the number of sectors.
    #[inline]
    pub fn sectors(&self) -> u64 {
        self.end - self.first
    }

    /// Returns true if the span contains `sector`. One comparison, since a cache asks this of all its segments for each command, and
    /// whether a segment begins before a random sector is a branch that no processor predicts.
    #[inline]
    pub fn holds(&self, sector: u64) -> bool {
        sector.wrapping_sub(self.first) < self.sectors()
    }

    /// Returns true if the spans share a sector.
    #[inline]
    pub fn overlaps(&self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }
}

/// Sectors that follow each other on one track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The track.
    pub track: Track,
    /// Angle at which the first sector begins, as a share of a revolution.
    pub angle: f64,
    /// Width of a sector, as a share of a revolution.
    pub width: f64,
    /// Number of sectors.
    pub sectors: u64,
}

/// A track.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Track {
    /// Its cylinder.
    pub cylinder: u32,
    /// Its surface.
    pub surface: u32,
}

/// Distance between two sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectorDistance {
    /// They lie on one track,
    Track,
    /// in one cylinder,
    Cylinder,
    /// in one zone,
    Zone,
    /// or in different zones.
    Zones,
}

/// Returns by how much `turns` exceeds whole turns. `floor` would be a call, for not every processor has it.
#[inline]
pub fn share_of_turn(turns: f64) -> f64 {
    let whole = turns as i64 as f64; // Towards zero.
    turns - if whole > turns { whole - 1.0 } else { whole }
}

/// Finds where sectors lie.
#[derive(Clone, Debug)]
pub struct SectorLayout {
    surfaces: StrengthReducedU64,
    order: TrackOrder,
    zones: Vec<Zone>,
    /// The first sector of each zone.
    begins: Steps,
}

impl SectorLayout {
    /// The layout of a specification without [problems](LayoutSpec::problem).
    pub fn new(spec: &LayoutSpec) -> Self {
        let mut next = 0;
        let zones = spec.zones.iter().map(|zone| {
            let zone = Zone::new(spec, zone, next);
            next += zone.capacity;
            zone
        });
        let zones: Vec<Zone> = zones.collect();
        let begins = Steps::new(zones.iter().map(|zone| zone.first_sector).collect());
        Self { zones, begins, surfaces: StrengthReducedU64::new(spec.surfaces.into()), order: spec.order }
    }

    /// The sectors that follow each other on one track from `sector` on. A sector beyond the last lies where the pattern of the
    /// last zone would put it.
    #[inline]
    pub fn run(&self, sector: u64) -> Run {
        let zone = &self.zones[self.zone_of(sector) - 1];
        let (raw, follow) = zone.raw(sector - zone.first_sector);
        let (track, slot) = StrengthReducedU64::div_rem(raw, zone.sectors);
        let (cylinder, surface) = StrengthReducedU64::div_rem(zone.track(track), self.surfaces);
        let skew = zone.skew(cylinder, surface, self.surfaces.get());
        let turns = (skew + f64::from(slot as u32)) / f64::from(zone.sectors.get() as u32);
        Run {
            track: self.track(zone, cylinder, surface),
            angle: share_of_turn(turns),
            width: zone.width,
            sectors: follow.min(zone.sectors.get() - slot),
        }
    }

    /// Returns the distance between two sectors.
    pub fn apart(&self, one: u64, other: u64) -> SectorDistance {
        let (a, b) = (self.run(one).track, self.run(other).track);
        if self.zone_of(one) != self.zone_of(other) {
            SectorDistance::Zones
        } else if a.cylinder != b.cylinder {
            SectorDistance::Zone
        } else if a != b {
            SectorDistance::Cylinder
        } else {
            SectorDistance::Track
        }
    }

    /// Returns the number of sectors that hold data.
    pub fn sectors(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.first_sector + zone.capacity)
    }

    /// The zone of a sector, counted from 1.
    #[inline]
    fn zone_of(&self, sector: u64) -> usize {
        self.begins.up_to(sector)
    }

    /// The track at `surface` in the order of tracks in `cylinder` of a zone.
    #[inline]
    fn track(&self, zone: &Zone, cylinder: u64, surface: u64) -> Track {
        let odd = match self.order {
            TrackOrder::Conventional => false,
            TrackOrder::Serpentine => (cylinder + u64::from(zone.first_cylinder)) % 2 == 1,
            TrackOrder::ZoneSerpentine => cylinder % 2 == 1,
        };
        let surface = if odd { self.surfaces.get() - 1 - surface } else { surface };
        Track { cylinder: zone.first_cylinder + cylinder as u32, surface: surface as u32 }
    }
}
