//! A library alone as stations of drives and arms, from the sessions of a log: what a mount takes and how often one is needed.

use headrace_analytic::Distribution;

use super::device::Tape;
use super::failures::TapeFailures;
use super::queue::DriveQueue;
use super::recall::Recall;
use super::spec::{TapeLibraryPlan, TapeLibrarySpec};
use crate::core::graph::View;
use crate::core::theory::{Demand, Load, QueueOrder, ServiceKind, Sessions};

/// The distribution of session times is represented by this number of equally likely ones.
const POINTS: usize = 64;

/// Drives of which any serves any session of some, and the arms that bring them cartridges.
struct DrivePool {
    /// Suffix of their names; empty if the library has no other group.
    of: String,
    drives: u32,
    arms: u32,
    /// Its sessions: their share of all, how long each uses its drive, in s, sorted, and the share of them that need a mount.
    share: f64,
    seconds: Vec<f32>,
    mounts: f64,
}

/// Returns the demand of one session on the library.
pub(super) fn demands(plan: &TapeLibraryPlan, view: View, load: &Load) -> Result<Vec<Demand>, String> {
    let (spec, tape) = (&plan.spec, &plan.tapes[0]);
    let Some(sessions) = &load.sessions else {
        return Err(format!("sessions of cartridges come to `{}`: an archive has no formula", view.path()));
    };
    if spec.accumulate.0 > 0 {
        return Err(format!("a request is served at once: those of `{}` accumulate", view.path()));
    }
    if plan.tapes.iter().any(|other| other != tape) {
        return Err(format!("drives and cartridges are of one kind: those of `{}` differ", view.path()));
    }
    if !spec.shares.is_empty() || !matches!(spec.queue, DriveQueue::Arrival | DriveQueue::Priority) {
        return Err(format!(
            "requests have drives in order of arrival or by the priority of their stream: `{}` has `shares`, or its `queue` another order",
            view.path()
        ));
    }
    if spec.failures != TapeFailures::default() {
        return Err(format!("nothing fails: drives, arms or cartridges of `{}` do", view.path()));
    }
    if spec.repack.is_some() || spec.verify.is_some() {
        return Err(format!(
            "drives are there for requests alone: `{}` verifies cartridges or repacks them",
            view.path()
        ));
    }
    if spec.cleaning.is_some() {
        return Err(format!("drives of `{}` are cleaned between mounts", view.path()));
    }
    if spec.cells.is_some() || spec.prepare.0 > 0 {
        return Err(format!(
            "an arm takes `move` each time: those of `{}` travel to cells, or prepare mounts",
            view.path()
        ));
    }
    let stations = stations(spec, sessions);
    let used = stations.iter().filter(|station| station.share > 0.0);
    Ok(used.flat_map(|station| of_station((spec, tape), view, station)).collect())
}

/// Each group on its own, or all together where cartridges pass between them.
fn stations(spec: &TapeLibrarySpec, sessions: &Sessions) -> Vec<DrivePool> {
    let alone = spec.groups.len() == 1 || spec.pass_through.is_some();
    let (mut before, mut stations) = (0, Vec::new());
    for (at, group) in spec.groups.iter().enumerate() {
        let silos = before..before + group.silos;
        before = silos.end;
        // Cartridges of which the log says nothing lie in any silo, each as likely.
        let random = f64::from(group.silos) / f64::from(spec.all_silos());
        let share = |silo: Option<u32>| match silo {
            Some(silo) => f64::from(silos.contains(&silo)),
            None => random,
        };
        let of = format!(" of groups[{at}]");
        stations.push(DrivePool {
            of,
            drives: group.drives,
            arms: group.arms,
            ..of_sessions(spec, sessions, share)
        });
    }
    if alone {
        let sum = |of: fn(&DrivePool) -> u32| stations.iter().map(of).sum();
        let (drives, arms) = (sum(|station| station.drives), sum(|station| station.arms));
        return vec![DrivePool { of: String::new(), drives, arms, ..of_sessions(spec, sessions, |_| 1.0) }];
    }
    stations
}

/// The sessions that come to a station, by the share of those of each silo that do.
fn of_sessions(spec: &TapeLibrarySpec, sessions: &Sessions, share: impl Fn(Option<u32>) -> f64) -> DrivePool {
    let here = || sessions.seconds.iter().filter(|(_, silo)| share(*silo) > 0.0);
    let number: f64 = here().map(|(_, silo)| share(*silo)).sum();
    // A session needs no mount where it comes while its cartridge is held.
    let held = sessions.gaps.iter().take_while(|(gap, _)| f64::from(*gap) <= spec.hold.secs());
    let found: f64 = held.map(|(_, silo)| share(*silo)).sum();
    DrivePool {
        of: String::new(),
        drives: 0,
        arms: 0,
        share: number / sessions.seconds.len() as f64,
        seconds: here().map(|(seconds, _)| *seconds).collect(),
        mounts: if number > 0.0 { 1.0 - found / number } else { 0.0 },
    }
}

fn of_station((spec, tape): (&TapeLibrarySpec, &Tape), view: View, station: &DrivePool) -> Vec<Demand> {
    let DrivePool { of, share, mounts, .. } = station;
    let queue = |servers, order| ServiceKind::Queue { servers, order };
    let order = if spec.queue.has_priorities() { QueueOrder::Urgent } else { QueueOrder::FirstCome };
    let mount_ms = spec.robot_move.ms() + tape.load.mean_ms();
    let away_ms = tape.rewind.time(0.5).ms() + tape.unload.ms() + spec.robot_move.ms();
    let fixed = |ms: f64| {
        Demand::one(view.id(), ServiceKind::Delay, Distribution::Fixed(ms)).times(share * mounts, 1.0)
    };
    let arms = format!("arms{of}");
    let held = Demand {
        fails: apart(spec, view).into_iter().chain(by_priority(spec, view)).collect(),
        station: (!of.is_empty()).then(|| format!("drives{of}")),
        // The arm is waited for to bring the cartridge, and to put it away.
        holds: Some((arms.clone(), 2.0 * mounts)),
        ..Demand::one(view.id(), queue(station.drives, order), held(station, mount_ms + away_ms))
            .times(*share, 1.0)
    };
    // A drive puts its cartridge away after the answer, which is no part of the response.
    let after =
        Demand { fails: evicted(spec, view).into_iter().collect(), ..fixed(away_ms).times(-1.0, 1.0) };
    if spec.robot_move.0 == 0 || *mounts == 0.0 {
        return vec![held, after];
    }
    let moves = Demand {
        station: Some(arms),
        fails: vec![format!(
            "arms of `{}` are free when drives need them: waits for them are part of responses and utilisation, not of the most that is sustained",
            view.path()
        )],
        // Only the wait of the first of the two is part of the response, and the moves are part of the mount.
        ..Demand::one(
            view.id(),
            queue(station.arms, QueueOrder::FirstCome),
            Distribution::Fixed(spec.robot_move.ms()),
        )
        .times(2.0 * share * mounts, 2.0)
    };
    vec![held, after, moves, fixed(spec.robot_move.ms()).times(-1.0, 1.0)]
}

/// Returns the distribution of the time for which a session holds its drive, with a mount or without, in ms.
fn held(station: &DrivePool, mount_ms: f64) -> Distribution {
    let (all, mounts) = (station.seconds.len(), station.mounts);
    let points = POINTS.min(all);
    let share = 1.0 / points as f64;
    let of = |at: usize| f64::from(station.seconds[(2 * at + 1) * all / (2 * points)]) * 1e3;
    let distributions = (0..points).flat_map(|at| {
        [
            (share * mounts, Distribution::Fixed(of(at) + mount_ms)),
            (share * (1.0 - mounts), Distribution::Fixed(of(at))),
        ]
    });
    Distribution::mixed(distributions.filter(|(p, _)| *p > 0.0).collect())
}

fn apart(spec: &TapeLibrarySpec, view: View) -> Option<String> {
    let path = view.path();
    let passed = (spec.groups.len() > 1 && spec.pass_through.is_some()).then(|| {
        format!(
            "every cartridge goes to any drive at once: those of `{path}` pass between groups, which takes time"
        )
    });
    let batched = (spec.recall != Recall::Arrival)
        .then(|| format!("requests wait in order: those for a mounted cartridge of `{path}` go first"));
    let alone = || {
        Some(format!(
            "any drive serves any session: sessions of the same cartridge of `{path}` wait for the drive that has it"
        ))
    };
    passed.or(batched).or_else(alone)
}

fn by_priority(spec: &TapeLibrarySpec, view: View) -> Option<String> {
    (spec.queue.has_priorities() && spec.robot_move.0 > 0).then(|| {
        format!(
            "a drive waits for no arm: in `{}` it does, and waits by priority leave out for how long",
            view.path()
        )
    })
}

fn evicted(spec: &TapeLibrarySpec, view: View) -> Option<String> {
    (spec.hold.0 > 0 || spec.free_drives > 0).then(|| {
        format!(
            "a cartridge stays mounted for `hold`: in `{}` it is put away earlier where its drive is needed",
            view.path()
        )
    })
}
