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
    LayoutSpec {
        surfaces: 3,
        order: TrackOrder::Conventional,
        spares,
        slips_use_spares: true,
        slips_skew: None,
        zones,
    }
}

#[test]
fn sectors_follow_each_other_over_tracks_and_cylinders() {
    let layout = SectorLayout::new(&layout(Spares::None, vec![zone(0, 9, 10, 0, &[])]));
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
    let layout = SectorLayout::new(&layout(Spares::CylinderEnd, vec![zone(0, 9, 10, 2, &[5])]));
    assert_eq!(layout.run(0).sectors, 5, "up to the slipped one");
    assert!((layout.run(5).angle - 0.6).abs() < 1e-12);
    assert_eq!(layout.run(28).track, Track { cylinder: 1, surface: 0 });
    assert_eq!(layout.run(28).sectors, 10, "the next cylinder is whole again");
}

#[test]
fn slips_move_the_beginnings_of_later_tracks_on_where_they_do() {
    let begins = |skew, sector: u64| {
        let plain = layout(Spares::CylinderEnd, vec![zone(0, 9, 10, 2, &[5, 33])]);
        SectorLayout::new(&LayoutSpec { slips_skew: skew, ..plain }).run(sector).angle
    };
    let moved = |skew, sector| ((begins(Some(skew), sector) - begins(None, sector)) * 10.0).round();
    // Sector 9 is the first of its cylinder's second track, 28 of the second cylinder, 56 of the third.
    assert_eq!([9, 28, 56].map(|sector| moved(SlipsSkew::Cylinders, sector)), [0.0, 1.0, 2.0]);
    assert_eq!([9, 28, 56].map(|sector| moved(SlipsSkew::Tracks, sector)), [1.0, 1.0, 2.0]);
}

#[test]
fn slips_are_counted_over_spares_too() {
    // The second cylinder begins with sector 30 of the zone, its data with sector 28: the third of them is slipped.
    let layout = SectorLayout::new(&layout(Spares::CylinderEnd, vec![zone(0, 9, 10, 2, &[32])]));
    assert_eq!(layout.run(28).sectors, 2);
}

#[test]
fn sectors_are_apart_by_track_cylinder_and_zone() {
    let layout =
        SectorLayout::new(&layout(Spares::None, vec![zone(0, 4, 10, 0, &[]), zone(5, 9, 7, 0, &[])]));
    let from_the_first = [9, 10, 30, 150].map(|sector| layout.apart(0, sector));
    assert_eq!(
        from_the_first,
        [SectorDistance::Track, SectorDistance::Cylinder, SectorDistance::Zone, SectorDistance::Zones]
    );
    assert_eq!(layout.apart(150, 0), SectorDistance::Zones);
}

#[test]
fn odd_cylinders_are_read_backwards() {
    let spec =
        LayoutSpec { order: TrackOrder::Serpentine, ..layout(Spares::None, vec![zone(0, 9, 10, 0, &[])]) };
    let layout = SectorLayout::new(&spec);
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
        let layout = SectorLayout::new(&spec);
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
