//! Where each sector lies: zones, skews, spares, slipped and remapped sectors.
//!
//! A sector's number becomes a place by plain arithmetic within its zone. The vocabulary (slips, spares at the end of ranges
//! of cylinders, skew counted in sectors) is that of DiskSim's manual, so that its parameter files can be read into it; that
//! the capacity comes out as those files state it is tested.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of a sector.
pub const SECTOR: u64 = 512;

/// How sectors lie on the platters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutSpec {
    /// How many surfaces hold data.
    #[schemars(range(min = 1, max = 64))]
    pub surfaces: u32,
    /// In which order the tracks of a cylinder follow each other.
    #[serde(default)]
    pub order: TrackOrder,
    /// Where spare sectors lie.
    #[serde(default)]
    pub spares: Spares,
    /// Whether slipped sectors take the place of spares; else everything behind them in their zone moves on.
    #[serde(default = "yes")]
    pub slips_use_spares: bool,
    /// The zones, from the outermost.
    #[schemars(length(min = 1))]
    pub zones: Vec<ZoneSpec>,
}

const fn yes() -> bool {
    true
}

/// In which order the tracks of a cylinder follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrackOrder {
    /// From the first surface to the last, in every cylinder.
    #[default]
    Conventional,
    /// Back from the last to the first in every odd cylinder.
    Serpentine,
    /// The same, cylinders counted anew in every zone.
    ZoneSerpentine,
}

/// Where spare sectors lie. How many each zone's `spares` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Spares {
    /// Nowhere, or at the end of the disk, where nothing addresses them.
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
    /// At the end of so many cylinders each.
    Cylinders(#[schemars(range(min = 1))] u32),
    /// At the end of the zone.
    ZoneEnd,
}

/// A zone: cylinders whose tracks hold equally much.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ZoneSpec {
    /// Its first cylinder.
    pub first_cylinder: u32,
    /// Its last cylinder.
    pub last_cylinder: u32,
    /// How many sectors a track has.
    #[schemars(range(min = 1))]
    pub sectors: u32,
    /// At which sector of its track the first sector of the zone lies, seen from where all zones count.
    #[serde(default)]
    pub offset: f64,
    /// By how many sectors a track begins later than the one before it in its cylinder.
    #[serde(default)]
    pub track_skew: f64,
    /// By how many sectors the first track of a cylinder begins later than the last of the one before.
    #[serde(default)]
    pub cylinder_skew: f64,
    /// Sectors at the front of the zone that hold no data.
    #[serde(default)]
    pub reserved: u64,
    /// Spare sectors, or tracks, in each region that `spares` names.
    #[serde(default)]
    pub spares: u64,
    /// Defective sectors, or tracks, that are passed over, counted in the zone, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<u64>,
    /// Defective sectors whose data lies elsewhere: (sector of the zone, sector of the zone where its data is).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaps: Vec<(u64, u64)>,
}

/// Sectors that follow each other on one track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// The track.
    pub track: Track,
    /// Where the first of them begins, as a share of a turn.
    pub angle: f64,
    /// What one of them takes, as a share of a turn.
    pub width: f64,
    /// How many there are.
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

/// How far two sectors are apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apart {
    /// They lie on one track,
    Track,
    /// in one cylinder,
    Cylinder,
    /// in one zone,
    Zone,
    /// or in different zones.
    Zones,
}

/// Finds where sectors lie.
#[derive(Clone, Debug)]
pub struct Layout {
    surfaces: u64,
    order: TrackOrder,
    zones: Vec<Zone>,
}

#[derive(Clone, Debug)]
struct Zone {
    first_sector: u64,
    /// How many sectors hold data.
    capacity: u64,
    first_cylinder: u32,
    /// Sectors of a track.
    sectors: u64,
    offset: f64,
    track_skew: f64,
    cylinder_skew: f64,
    reserved: u64,
    /// Of `region` sectors, `usable` hold data, from sector `front` on.
    region: u64,
    usable: u64,
    front: u64,
    slips: Slips,
    remaps: Vec<(u64, u64)>,
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

impl LayoutSpec {
    /// How many cylinders there are.
    pub fn cylinders(&self) -> u32 {
        self.zones.last().map_or(0, |zone| zone.last_cylinder + 1)
    }

    /// What cannot be: (which zone, what is wrong).
    pub fn problem(&self) -> Option<(usize, String)> {
        let mut next = 0;
        for (number, zone) in self.zones.iter().enumerate() {
            let wrong = |message: String| Some((number, message));
            if zone.last_cylinder < zone.first_cylinder {
                return wrong(format!(
                    "the zone ends at cylinder {} before it begins at {}",
                    zone.last_cylinder, zone.first_cylinder
                ));
            }
            if u64::from(zone.first_cylinder) < next {
                return wrong(format!(
                    "the zone begins at cylinder {}, inside the one before",
                    zone.first_cylinder
                ));
            }
            if zone.slips.windows(2).any(|pair| pair[0] >= pair[1]) {
                return wrong("slips are to be in order, each once".to_owned());
            }
            if self.spares == Spares::ZoneTracks && zone.slips.len() as u64 > zone.spares {
                return wrong(format!(
                    "{} tracks are slipped, and {} are spare",
                    zone.slips.len(),
                    zone.spares
                ));
            }
            if self.zone_capacity(zone) == 0 {
                return wrong("the zone holds nothing: spares and reserved sectors take it all".to_owned());
            }
            next = u64::from(zone.last_cylinder) + 1;
        }
        None
    }

    /// How many sectors hold data.
    pub fn sectors(&self) -> u64 {
        self.zones.iter().map(|zone| self.zone_capacity(zone)).sum()
    }

    /// The sectors of a region, and how many of them hold data.
    fn region(&self, zone: &ZoneSpec) -> (u64, u64) {
        let (track, surfaces) = (u64::from(zone.sectors), u64::from(self.surfaces));
        let whole = u64::from(zone.last_cylinder - zone.first_cylinder + 1) * surfaces * track;
        let of = |region: u64, spares: u64| (region, region.saturating_sub(spares));
        match self.spares {
            Spares::None => of(whole, 0),
            Spares::ZoneTracks => of(whole, zone.spares * track),
            Spares::ZoneEnd => of(whole, zone.spares),
            Spares::TrackEnd => of(track, zone.spares),
            Spares::CylinderEnd | Spares::CylinderFront => of(surfaces * track, zone.spares),
            Spares::Cylinders(many) => of(u64::from(many) * surfaces * track, zone.spares),
        }
    }

    fn zone_capacity(&self, zone: &ZoneSpec) -> u64 {
        let (region, usable) = self.region(zone);
        let whole = u64::from(zone.last_cylinder - zone.first_cylinder + 1)
            * u64::from(self.surfaces)
            * u64::from(zone.sectors);
        let rest = (whole % region).saturating_sub(region - usable);
        let lost = match self.spares {
            Spares::ZoneTracks => 0,
            _ if self.slips_use_spares && self.spares != Spares::None => 0,
            _ => zone.slips.len() as u64,
        };
        (whole / region * usable + rest).saturating_sub(zone.reserved + lost)
    }
}

impl Layout {
    /// The layout of a specification without [problems](LayoutSpec::problem).
    pub fn new(spec: &LayoutSpec) -> Self {
        let mut first_sector = 0;
        let zone = |zone: &ZoneSpec| {
            let (region, usable) = spec.region(zone);
            let slips = zone.slips.clone();
            let begins = first_sector;
            let capacity = spec.zone_capacity(zone);
            first_sector += capacity;
            Zone {
                first_sector: begins,
                capacity,
                first_cylinder: zone.first_cylinder,
                sectors: u64::from(zone.sectors),
                offset: zone.offset,
                track_skew: zone.track_skew,
                cylinder_skew: zone.cylinder_skew,
                reserved: zone.reserved,
                region,
                usable,
                front: if spec.spares == Spares::CylinderFront { region - usable } else { 0 },
                slips: match spec.spares {
                    Spares::ZoneTracks => Slips::Tracks(slips),
                    _ if spec.slips_use_spares => Slips::InRegion(slips),
                    _ => Slips::InZone(slips),
                },
                remaps: zone.remaps.clone(),
            }
        };
        let zones = spec.zones.iter().map(zone).collect();
        Self { surfaces: u64::from(spec.surfaces), order: spec.order, zones }
    }

    /// The sectors that follow each other on one track from `sector` on. A sector beyond the last lies where the pattern of the
    /// last zone would put it.
    #[inline]
    pub fn run(&self, sector: u64) -> Run {
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_sector <= sector) - 1];
        let (raw, follow) = zone.raw(sector - zone.first_sector);
        let (track, slot) = (raw / zone.sectors, raw % zone.sectors);
        let track = match &zone.slips {
            Slips::Tracks(slips) => passed_over(slips, 0, track),
            _ => track,
        };
        let (cylinder, place) = (track / self.surfaces, track % self.surfaces);
        let skew = zone.offset
            + cylinder as f64 * (zone.cylinder_skew + (self.surfaces - 1) as f64 * zone.track_skew)
            + place as f64 * zone.track_skew;
        let (width, turns) = (1.0 / zone.sectors as f64, (skew + slot as f64) / zone.sectors as f64);
        Run {
            track: Track {
                cylinder: zone.first_cylinder + cylinder as u32,
                surface: self.surface(zone, cylinder, place) as u32,
            },
            angle: turns - turns.floor(),
            width,
            sectors: follow.min(zone.sectors - slot),
        }
    }

    /// How far two sectors are apart.
    pub fn apart(&self, one: u64, other: u64) -> Apart {
        let (a, b) = (self.run(one).track, self.run(other).track);
        let zone = |sector: u64| self.zones.partition_point(|zone| zone.first_sector <= sector);
        if zone(one) != zone(other) {
            Apart::Zones
        } else if a.cylinder != b.cylinder {
            Apart::Zone
        } else if a != b {
            Apart::Cylinder
        } else {
            Apart::Track
        }
    }

    /// How many sectors hold data.
    pub fn sectors(&self) -> u64 {
        self.zones.last().map_or(0, |zone| zone.first_sector + zone.capacity)
    }

    fn surface(&self, zone: &Zone, cylinder: u64, place: u64) -> u64 {
        let odd = match self.order {
            TrackOrder::Conventional => false,
            TrackOrder::Serpentine => (cylinder + u64::from(zone.first_cylinder)) % 2 == 1,
            TrackOrder::ZoneSerpentine => cylinder % 2 == 1,
        };
        if odd { self.surfaces - 1 - place } else { place }
    }
}

impl Zone {
    /// The raw position in the zone of its sector `at`, and how many follow it without a gap (track ends apart).
    #[inline]
    fn raw(&self, at: u64) -> (u64, u64) {
        if let Some((_, elsewhere)) = self.remaps.iter().find(|(bad, _)| *bad == at) {
            return (*elsewhere, 1);
        }
        let left = self.capacity.saturating_sub(at);
        let at = at + self.reserved;
        let (at, gap) = match &self.slips {
            Slips::InZone(slips) => follow(slips, 0, at),
            _ => (at, u64::MAX),
        };
        let (region, within) = (at / self.usable, at % self.usable);
        let (moved, gap) = match &self.slips {
            Slips::InRegion(slips) if !slips.is_empty() => follow(slips, region * self.usable, within),
            _ => (within, gap),
        };
        (region * self.region + self.front + moved, gap.min(self.usable - within).min(left).max(1))
    }
}

/// Position `at` behind `begins`, moved on past the slips that lie between.
#[inline]
fn passed_over(slips: &[u64], begins: u64, at: u64) -> u64 {
    let mut moved = at;
    for slip in &slips[slips.partition_point(|slip| *slip < begins)..] {
        if *slip > begins + moved {
            break;
        }
        moved += 1;
    }
    moved
}

/// The same, and how many positions follow before the next slip.
#[inline]
fn follow(slips: &[u64], begins: u64, at: u64) -> (u64, u64) {
    let moved = passed_over(slips, begins, at);
    let next = slips.get(slips.partition_point(|slip| *slip <= begins + moved));
    (moved, next.map_or(u64::MAX, |slip| slip - begins - moved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn zone(first: u32, last: u32, sectors: u32, spares: u64, slips: &[u64]) -> ZoneSpec {
        ZoneSpec {
            first_cylinder: first,
            last_cylinder: last,
            sectors,
            offset: 0.0,
            track_skew: 2.0,
            cylinder_skew: 3.0,
            reserved: 0,
            spares,
            slips: slips.to_vec(),
            remaps: Vec::new(),
        }
    }

    fn layout(spares: Spares, zones: Vec<ZoneSpec>) -> LayoutSpec {
        LayoutSpec { surfaces: 3, order: TrackOrder::Conventional, spares, slips_use_spares: true, zones }
    }

    #[test]
    fn sectors_follow_each_other_over_tracks_and_cylinders() {
        let layout = Layout::new(&layout(Spares::None, vec![zone(0, 9, 10, 0, &[])]));
        let track = |cylinder, surface| Track { cylinder, surface };
        let at = |sector| layout.run(sector);
        assert_eq!((at(0).track, at(0).angle, at(0).sectors), (track(0, 0), 0.0, 10));
        assert_eq!((at(7).track, at(7).sectors), (track(0, 0), 3));
        assert!((at(10).angle - 0.2).abs() < 1e-12, "a track skew of two sectors");
        assert!((at(30).angle - 0.7).abs() < 1e-12, "two track skews and a cylinder skew");
        assert_eq!(at(30).track, track(1, 0));
    }

    #[test]
    fn spares_and_slips_move_what_follows_them() {
        // Regions of one cylinder of 30 sectors, two of them spares; sector 5 of the zone is slipped.
        let layout = Layout::new(&layout(Spares::CylinderEnd, vec![zone(0, 9, 10, 2, &[5])]));
        assert_eq!(layout.run(0).sectors, 5, "up to the slipped one");
        assert!((layout.run(5).angle - 0.6).abs() < 1e-12);
        assert_eq!(layout.run(28).track, Track { cylinder: 1, surface: 0 });
        assert_eq!(layout.run(28).sectors, 10, "the next cylinder is whole again");
    }

    #[test]
    fn sectors_are_apart_by_track_cylinder_and_zone() {
        let layout = Layout::new(&layout(Spares::None, vec![zone(0, 4, 10, 0, &[]), zone(5, 9, 7, 0, &[])]));
        let from_the_first = [9, 10, 30, 150].map(|sector| layout.apart(0, sector));
        assert_eq!(from_the_first, [Apart::Track, Apart::Cylinder, Apart::Zone, Apart::Zones]);
        assert_eq!(layout.apart(150, 0), Apart::Zones);
    }

    #[test]
    fn odd_cylinders_are_read_backwards() {
        let spec = LayoutSpec {
            order: TrackOrder::Serpentine,
            ..layout(Spares::None, vec![zone(0, 9, 10, 0, &[])])
        };
        let layout = Layout::new(&spec);
        let surfaces: Vec<u32> = (0..6).map(|track| layout.run(track * 10).track.surface).collect();
        assert_eq!(surfaces, [0, 1, 2, 2, 1, 0]);
    }

    proptest! {
        /// No two sectors lie at one place, and runs are what their sectors are one by one.
        #[test]
        fn every_sector_has_a_place_of_its_own(
            which in 0usize..7, order in 0usize..3, spares in 0u64..3, reserved in 0u64..20, uses in any::<bool>(),
            slips in prop::collection::btree_set(0u64..60, 0..3)
        ) {
            let kinds = [Spares::None, Spares::ZoneTracks, Spares::TrackEnd, Spares::CylinderEnd, Spares::CylinderFront,
                Spares::Cylinders(2), Spares::ZoneEnd];
            let orders = [TrackOrder::Conventional, TrackOrder::Serpentine, TrackOrder::ZoneSerpentine];
            // As many slips as there are spares to take, since more have no place.
            let room = if kinds[which] == Spares::None || !uses { 3 } else { spares as usize };
            let slips: Vec<u64> = slips.into_iter().take(room).collect();
            let tracks: Vec<u64> = slips.iter().map(|slip| slip % 13).collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            let slips = if kinds[which] == Spares::ZoneTracks { tracks } else { slips };
            let zones = vec![
                ZoneSpec { reserved, ..zone(0, 4, 10, spares, &slips) },
                zone(6, 9, 7, spares, &[]),
            ];
            let spec = LayoutSpec { order: orders[order], slips_use_spares: uses, ..layout(kinds[which], zones) };
            prop_assume!(spec.problem().is_none());
            let layout = Layout::new(&spec);
            let mut taken = std::collections::BTreeSet::new();
            for sector in 0..spec.sectors() {
                let run = layout.run(sector);
                let slot = (run.angle / run.width).round() as u64 % (1.0 / run.width).round() as u64;
                prop_assert!(taken.insert((run.track.cylinder, run.track.surface, slot)), "sector {sector}");
                prop_assert!(run.track.cylinder != 5 && run.track.cylinder < 10 && run.track.surface < 3, "{run:?}");
                for step in 1..run.sectors.min(spec.sectors() - sector) {
                    let next = layout.run(sector + step);
                    prop_assert_eq!(next.track, run.track);
                    let apart = next.angle - (run.angle + step as f64 * run.width);
                    prop_assert!((apart - apart.round()).abs() < 1e-9);
                }
            }
        }
    }
}
