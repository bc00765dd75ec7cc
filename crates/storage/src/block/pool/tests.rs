use std::collections::BTreeSet;

use proptest::prelude::*;

use super::groups::{Groups, Homes};
use super::placement::{Domains, Placement};
use super::spec::{rack_of, servers_of};

const POLICIES: [Placement; 2] = [Placement::Straw2, Placement::Rendezvous];

/// Servers of equal drives.
fn servers(servers: u32, drives: u32) -> Domains {
    Domains::new(&vec![1.0; (servers * drives) as usize], |drive| (drive / drives) as usize)
}

/// The drives of all groups.
fn all(policy: Placement, groups: u64, width: usize, domains: &Domains, out: &[u32]) -> Vec<BTreeSet<u32>> {
    let choose = |group| policy.choose(group, width, domains, |drive| !out.contains(&drive));
    (0..groups).map(|group| choose(group).into_iter().flatten().collect()).collect()
}

proptest! {
    /// All pieces of a group have places on drives that are in, in different domains, as long as enough domains have any.
    #[test]
    fn pieces_lie_in_different_domains(
        (many, drives, width) in (1u32..14, 1u32..6).prop_flat_map(|(many, drives)| (Just(many), Just(drives), 1..=many as usize)),
        out in prop::collection::vec(0u32..80, 0..20),
        group: u64,
    ) {
        let domains = servers(many, drives);
        let left = (0..many).filter(|at| (at * drives..(at + 1) * drives).any(|drive| !out.contains(&drive))).count();
        for policy in POLICIES {
            let chosen = policy.choose(group, width, &domains, |drive| !out.contains(&drive));
            let places: Vec<u32> = chosen.into_iter().flatten().collect();
            prop_assert_eq!(places.len(), width.min(left), "{:?}", policy);
            prop_assert!(places.iter().all(|drive| !out.contains(drive)));
            let used: BTreeSet<u32> = places.iter().map(|drive| drive / drives).collect();
            prop_assert_eq!(used.len(), places.len());
        }
    }
}

proptest! {
    /// Racks have all servers, each server one rack, and none has two more than another.
    #[test]
    fn servers_are_shared_out_over_racks((servers, racks) in (1u32..200).prop_flat_map(|servers| (Just(servers), 1..=servers))) {
        let of = |rack| servers_of(rack as usize, servers, racks);
        let all: Vec<usize> = (0..racks).flat_map(of).collect();
        prop_assert_eq!(all, (0..servers as usize).collect::<Vec<_>>());
        prop_assert!((0..servers).all(|server| of(rack_of(server, servers, racks) as u32).contains(&(server as usize))));
        let sizes = || (0..racks).map(|rack| of(rack).len());
        prop_assert!(sizes().max().unwrap() - sizes().min().unwrap() <= 1);
    }
}

/// Where a server is out, groups without a piece on it stay where they are. With rendezvous no other piece moves either; with straw2 a few
/// pieces that drew again do: fewer than half as many as must.
#[test]
fn only_what_must_moves() {
    let domains = servers(20, 4);
    let out: Vec<u32> = (12..16).collect();
    for policy in POLICIES {
        let (before, after) = (all(policy, 4000, 6, &domains, &[]), all(policy, 4000, 6, &domains, &out));
        let (mut lost, mut moved) = (0, 0);
        for (before, after) in before.iter().zip(&after) {
            let here = before.iter().filter(|drive| out.contains(drive)).count();
            (lost, moved) = (lost + here, moved + before.difference(after).count());
            assert!(here > 0 || before == after, "{policy:?}: {before:?} {after:?}");
        }
        assert!(lost > 1000 && moved >= lost);
        assert!(
            if policy == Placement::Rendezvous { moved == lost } else { moved < lost * 3 / 2 },
            "{moved} {lost}"
        );
    }
}

/// A group of one piece comes to each drive with the same probability: the numbers of groups on drives are multinomial, so χ² has as many
/// degrees of freedom as there are drives but one. And a drive of twice the weight gets twice as many.
#[test]
fn groups_are_balanced_as_independent_draws_are() {
    for policy in POLICIES {
        let drives = |weights: &[f64]| {
            let domains = Domains::new(weights, |drive| drive as usize / 4);
            let mut counts = vec![0.0; weights.len()];
            all(policy, 40_000, 1, &domains, &[])
                .iter()
                .flatten()
                .for_each(|drive| counts[*drive as usize] += 1.0);
            counts
        };
        let expected = 40_000.0 / 80.0;
        let chi2: f64 =
            drives(&[1.0; 80]).iter().map(|count| (count - expected) * (count - expected) / expected).sum();
        assert!((chi2 - 79.0).abs() < 5.0 * libm::sqrt(2.0 * 79.0), "{policy:?}: {chi2}");
        let mut weights = [1.0; 80];
        weights[3] = 2.0;
        let (heavy, share) = (drives(&weights)[3], 40_000.0 * 2.0 / 81.0);
        assert!((heavy - share).abs() < 5.0 * libm::sqrt(share), "{policy:?}: {heavy}");
    }
}

/// Number of objects in a group of the model below.
const OBJECTS: u64 = 5;

/// What happens to a drive or an object.
#[derive(Clone, Debug)]
enum Step {
    Down(u32),
    Up(u32),
    Replaced(u32),
    Out(u32),
    Write(u32, u64),
    /// Objects of a group recover, as many as this.
    Recover(u32, usize),
}

fn steps(drives: u32, groups: u32) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        (0..drives).prop_map(Step::Down),
        (0..drives).prop_map(Step::Up),
        (0..drives).prop_map(Step::Replaced),
        (0..drives).prop_map(Step::Out),
        (0..groups, 0..OBJECTS).prop_map(|(group, object)| Step::Write(group, object)),
        (0..groups, 1usize..6).prop_map(|(group, many)| Step::Recover(group, many)),
    ];
    prop::collection::vec(step, 0..60)
}

/// Where the newest data of each piece of each object really is.
struct Truth<'g, 'm> {
    groups: &'g Groups<'m>,
    at: Vec<Option<u32>>,
    width: usize,
}

impl Truth<'_, '_> {
    fn of(&mut self, group: u32, position: usize, object: u64) -> &mut Option<u32> {
        &mut self.at[(group as usize * self.width + position) * OBJECTS as usize + object as usize]
    }

    fn write(&mut self, group: u32, object: u64) {
        for position in 0..self.width {
            if self.groups.usable(group, position, object).is_none() {
                self.groups.miss(group, position, object);
                *self.of(group, position, object) = None;
            }
        }
    }

    /// Brings pieces to their holders; returns the number of those that came.
    fn recover(&mut self, group: u32, many: usize) -> usize {
        let mut came = 0;
        for _ in 0..many {
            let Some(object) = self.groups.next_gap(group, 0) else { break };
            for (position, holder) in self.groups.gaps(group, object) {
                self.groups.came(group, position, object);
                *self.of(group, position, object) = Some(holder.drive);
                came += 1;
            }
        }
        came
    }

    /// What had come to a drive that is out on the way from another is given up.
    fn forget_down(&mut self) {
        for (n, at) in self.at.iter_mut().enumerate() {
            let piece = n / OBJECTS as usize;
            let (group, position) = ((piece / self.width) as u32, piece % self.width);
            *at =
                at.filter(|drive| self.groups.is_up(*drive) || self.groups.is_place(group, position, *drive));
        }
    }

    fn step(&mut self, step: &Step, homes: u32) {
        let place_all = |groups: &Groups| (0..homes).for_each(|group| groups.place(group));
        match *step {
            Step::Down(drive) => _ = self.groups.set_up(drive, false),
            Step::Up(drive) => {
                self.groups.set_up(drive, true);
                if self.groups.set_out(drive, false) {
                    place_all(self.groups);
                    self.forget_down();
                }
            }
            Step::Replaced(drive) => {
                self.groups.emptied(drive);
                self.at.iter_mut().filter(|at| **at == Some(drive)).for_each(|at| *at = None);
                self.step(&Step::Up(drive), homes);
            }
            Step::Out(drive) if !self.groups.is_up(drive) && self.groups.set_out(drive, true) => {
                place_all(self.groups);
                self.forget_down();
            }
            Step::Out(_) => {}
            Step::Write(group, object) => self.write(group, object),
            Step::Recover(group, many) => _ = self.recover(group, many),
        }
    }
}

proptest! {
    /// Whatever fails, returns, is replaced or written when: a piece is read where its newest data is, and nowhere else; and when all drives
    /// work again and everything recovers, each group has each of its pieces once, in a domain of its own, and every other place is free.
    #[test]
    fn recovery_ends_and_neither_loses_nor_doubles(replicas in 1usize..5, policy in prop::sample::select(&POLICIES), steps in steps(12, 6)) {
        let homes = Homes { domains: servers(6, 2), placement: policy, width: replicas, groups: 6, objects: OBJECTS, slots: vec![12; 12] };
        let groups = Groups::new(&homes);
        let mut truth = Truth { groups: &groups, at: Vec::new(), width: replicas };
        for group in 0..homes.groups {
            truth.at.extend(groups.holders(group).flat_map(|drive| vec![Some(drive); OBJECTS as usize]));
        }
        let ends = (0..12).map(Step::Up);
        for step in steps.into_iter().chain(ends) {
            truth.step(&step, homes.groups);
            for (group, position, object) in (0..6).flat_map(|g| (0..replicas).flat_map(move |p| (0..OBJECTS).map(move |o| (g, p, o)))) {
                let found = groups.usable(group, position, object).map(|place| place.drive);
                let there = truth.of(group, position, object).filter(|drive| groups.is_up(*drive));
                prop_assert_eq!(found, there, "after {:?}: {} {} {}", step, group, position, object);
            }
        }
        // A piece that moves twice needs as many rounds.
        for _ in 0..4 {
            (0..homes.groups).for_each(|group| _ = truth.recover(group, OBJECTS as usize + 1));
            (0..homes.groups).for_each(|group| groups.place(group));
        }
        prop_assert_eq!(groups.to_recover(), 0);
        prop_assert!(!groups.is_degraded());
        for group in 0..homes.groups {
            let domains: BTreeSet<u32> = groups.holders(group).map(|drive| drive / 2).collect();
            prop_assert_eq!(domains.len(), replicas);
        }
        prop_assert_eq!(groups.free_slots(), 12 * 12 - 6 * replicas as u32);
    }
}

/// With as many pieces as servers, what a server had finds no place while it is out: each of the others has a piece of its own, which stays
/// although draws choose another drive there.
#[test]
fn no_domain_takes_a_second_piece() {
    for (policy, many) in POLICIES.into_iter().flat_map(|policy| (2..=5).map(move |many| (policy, many))) {
        let (width, slots) = (many as usize, vec![512; many as usize * 4]);
        let homes = Homes {
            domains: servers(many, 4),
            placement: policy,
            width,
            groups: 256,
            objects: OBJECTS,
            slots,
        };
        let groups = Groups::new(&homes);
        for drive in 0..4 {
            groups.set_up(drive, false);
            groups.set_out(drive, true);
        }
        for group in 0..homes.groups {
            groups.place(group);
            let there: Vec<u32> =
                groups.holders(group).filter(|drive| *drive >= 4).map(|drive| drive / 4).collect();
            assert_eq!(there.len(), width - 1, "{policy:?}, {many} servers: {there:?}");
            assert_eq!(there.iter().collect::<BTreeSet<_>>().len(), width - 1, "{policy:?}: {there:?}");
        }
        assert_eq!(groups.to_recover(), 256 * OBJECTS, "nothing else moves");
    }
}
