//! A zone: where its sectors lie, past reserved, spare, slipped and remapped ones.

use strength_reduce::StrengthReducedU64;

use super::spec::{LayoutSpec, SlipsSkew, SpareRegion, Spares, ZoneSpec};

/// A zone, ready for arithmetic.
#[derive(Clone, Debug)]
pub(super) struct Zone {
    pub first_sector: u64,
    /// Number of sectors that hold data.
    pub capacity: u64,
    pub first_cylinder: u32,
    /// Sectors of a track.
    pub sectors: StrengthReducedU64,
    /// Width of a sector, as a share of a revolution.
    pub width: f64,
    offset: f64,
    track_skew: f64,
    /// Skew of a cylinder and of the tracks before its last.
    cylinder_skew: f64,
    reserved: u64,
    region: SpareRegion,
    /// Number of sectors of a region that hold data.
    usable: StrengthReducedU64,
    /// Number of spares before a region's data.
    front: u64,
    slips: Slips,
    remaps: Vec<(u64, u64)>,
    slips_skew: Option<SlipsSkew>,
}

#[derive(Clone, Debug)]
enum Slips {
    /// Whole tracks.
    Tracks(Vec<u64>),
    /// Sectors; those behind them in their region move on by one.
    InRegion(Vec<u64>),
    /// Sectors; all behind them in the zone move on by one.
    InZone(Vec<u64>),
}

impl Slips {
    /// Slips that are counted over all sectors of the zone; those that move all behind them on are identified by how much data lies
    /// before them.
    fn new(spec: &LayoutSpec, region: SpareRegion, front: u64, slips: Vec<u64>) -> Self {
        match spec.spares {
            Spares::ZoneTracks => Self::Tracks(slips),
            _ if spec.slips_use_spares => Self::InRegion(slips),
            _ => Self::InZone(slips.iter().map(|slip| region.data_before(*slip, front)).collect()),
        }
    }
}

impl Zone {
    /// A zone of a layout whose data begins at `first_sector`.
    pub fn new(spec: &LayoutSpec, zone: &ZoneSpec, first_sector: u64) -> Self {
        let region = spec.region(zone);
        let front = if spec.spares == Spares::CylinderFront { region.sectors - region.usable } else { 0 };
        Self {
            first_sector,
            capacity: spec.zone_capacity(zone),
            first_cylinder: zone.first_cylinder,
            sectors: StrengthReducedU64::new(zone.sectors.into()),
            width: 1.0 / f64::from(zone.sectors),
            offset: zone.offset,
            track_skew: zone.track_skew,
            cylinder_skew: zone.cylinder_skew + f64::from(spec.surfaces - 1) * zone.track_skew,
            reserved: zone.reserved,
            region,
            usable: StrengthReducedU64::new(region.usable),
            front,
            slips: Slips::new(spec, region, front, zone.slips.clone()),
            remaps: zone.remaps.clone(),
            slips_skew: spec.slips_skew,
        }
    }

    /// The raw position in the zone of its sector `at`, and how many follow it without a gap (track ends apart).
    #[inline]
    pub fn raw(&self, at: u64) -> (u64, u64) {
        if let Some((_, elsewhere)) = self.remaps.iter().find(|(bad, _)| *bad == at) {
            return (*elsewhere, 1);
        }
        let left = self.capacity.saturating_sub(at);
        let (at, gap) = match &self.slips {
            Slips::InZone(slips) => follow(slips, 0, at + self.reserved),
            _ => (at + self.reserved, u64::MAX),
        };
        let SpareRegion { sectors, usable } = self.region;
        let (region, within) = StrengthReducedU64::div_rem(at, self.usable);
        let (moved, gap) = match &self.slips {
            Slips::InRegion(slips) if !slips.is_empty() => {
                follow(slips, region * sectors + self.front, within)
            }
            _ => (within, gap),
        };
        (region * sectors + self.front + moved, gap.min(usable - within).min(left).max(1))
    }

    /// The track of the zone at raw position `track`, past slipped ones.
    #[inline]
    pub fn track(&self, track: u64) -> u64 {
        match &self.slips {
            Slips::Tracks(slips) => follow(slips, 0, track).0,
            _ => track,
        }
    }

    /// By how many sectors the track at `surface` in `cylinder` of the zone begins later than where all zones count.
    #[inline]
    pub fn skew(&self, cylinder: u64, surface: u64, surfaces: u64) -> f64 {
        let slipped = self.slipped_before(cylinder, surface, surfaces) as f64;
        let (cylinders, tracks) = (cylinder as u32, surface as u32);
        self.offset
            + f64::from(cylinders) * self.cylinder_skew
            + f64::from(tracks) * self.track_skew
            + slipped
    }

    /// Returns the number of slipped sectors before a track that shift its start.
    #[inline]
    fn slipped_before(&self, cylinder: u64, surface: u64, surfaces: u64) -> usize {
        let tracks = match self.slips_skew {
            None => return 0,
            Some(SlipsSkew::Cylinders) => cylinder * surfaces,
            Some(SlipsSkew::Tracks) => cylinder * surfaces + surface,
        };
        let before = tracks * self.sectors.get();
        match &self.slips {
            Slips::Tracks(_) => 0,
            Slips::InRegion(slips) => slips.partition_point(|slip| *slip < before),
            Slips::InZone(slips) => {
                let before = self.region.data_before(before, self.front);
                slips.partition_point(|slip| *slip < before)
            }
        }
    }
}

/// Returns position `at` behind `begins`, moved on past the slips that lie between, and the number of positions before the next slip.
#[inline]
fn follow(slips: &[u64], begins: u64, at: u64) -> (u64, u64) {
    let (first, mut moved) = (slips.partition_point(|slip| *slip < begins), at);
    for slip in &slips[first..] {
        if *slip > begins + moved {
            return (moved, slip - begins - moved);
        }
        moved += 1;
    }
    (moved, u64::MAX)
}
