//! A library alone as stations of drives and arms, from the sessions of a log: what a mount takes and how often one is needed.

use std::collections::BTreeMap;
use std::sync::Arc;

use headrace_analytic::Distribution;
use headrace_analytic::network::exhaustive::Exhaustive;

use super::device::Tape;
use super::failures::TapeFailures;
use super::queue::DriveQueue;
use super::recall::Recall;
use super::spec::{TapeLibraryPlan, TapeLibrarySpec};
use crate::core::graph::View;
use crate::core::theory::{Demand, Load, QueueOrder, ServiceKind, Sessions, Setups};

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
    /// The share of its sessions that each of some cartridges has, and the mean number of these that lie here.
    cartridges: Vec<(f64, f64)>,
    /// The share of all sessions that the cartridge has which is used most.
    most: f64,
}

/// Returns the demand of one session on the library.
pub(super) fn demands(plan: &TapeLibraryPlan, view: View, load: &Load) -> Result<Vec<Demand>, String> {
    let (spec, tape) = (&plan.spec, &plan.tapes[0]);
    let Some(sessions) = &load.sessions else {
        return Err(format!("sessions of cartridges come to `{}`: an archive has no formula", view.path()));
    };
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
    let by_cartridge = |station| {
        let mut demands = by_cartridge((spec, tape), (view, &load.stream), station);
        demands[0].fails.extend(together(spec, tape, sessions).then(|| {
            format!(
                "sessions of a cartridge come at random: those of `{}` come soon after each other",
                view.path()
            )
        }));
        demands
    };
    Ok(match spec.recall {
        Recall::Arrival => used.flat_map(|station| of_station((spec, tape), view, station)).collect(),
        _ => used.flat_map(by_cartridge).collect(),
    })
}

/// Sessions that could share a mount may differ from what chance says by this share of all.
const CHANCE: f64 = 0.02;

/// Returns true if more sessions than by chance follow another of their cartridge so soon that they could share its mount.
fn together(spec: &TapeLibrarySpec, tape: &Tape, sessions: &Sessions) -> bool {
    let (setup, away) = times_ms(spec, tape);
    let soon = spec.hold.secs() + spec.accumulate.secs() + (setup + away) * 1e-3;
    let all = sessions.seconds.len() as f64;
    let found = sessions.gaps.partition_point(|(gap, _)| f64::from(*gap) <= soon) as f64;
    // From the start of a session; one that comes while another lasts follows it at once.
    let session = sessions.seconds.iter().map(|(seconds, _)| f64::from(*seconds)).sum::<f64>() / all;
    let at_random = |each: u32| {
        let rate = sessions.per_s * f64::from(each) / all;
        f64::from(each - 1) * -libm::expm1(-rate * (session + soon))
    };
    let expected: f64 = sessions.cartridges.iter().map(|(each, _)| at_random(*each)).sum();
    found - expected > CHANCE * all
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
        most: most_used(sessions, &share),
        cartridges: by_use(sessions, share),
    }
}

/// Returns the cartridges that come to a station, by the number of their sessions: the share of its sessions that each of some alike ones has, and
/// how many these are, in the mean where silos are random. A number that varies by chance is that of the log.
fn by_use(sessions: &Sessions, share: impl Fn(Option<u32>) -> f64) -> Vec<(f64, f64)> {
    let mut alike: BTreeMap<u32, f64> = BTreeMap::new();
    sessions.cartridges.iter().for_each(|(each, silo)| *alike.entry(*each).or_default() += share(*silo));
    let here = || alike.iter().map(|(each, cartridges)| (f64::from(*each), *cartridges));
    let all: f64 = here().map(|(each, cartridges)| each * cartridges).sum();
    here().filter(|(_, many)| *many > 0.0).map(|(each, many)| (each / all, many)).collect()
}

/// Returns the share of all sessions that the most-used cartridge has of those that may come to a station.
fn most_used(sessions: &Sessions, share: impl Fn(Option<u32>) -> f64) -> f64 {
    let here = sessions.cartridges.iter().filter(|(_, silo)| share(*silo) > 0.0);
    f64::from(here.map(|(each, _)| *each).max().unwrap_or(0)) / sessions.seconds.len() as f64
}

/// Times of a mount and of putting the cartridge away, in ms.
fn times_ms(spec: &TapeLibrarySpec, tape: &Tape) -> (f64, f64) {
    let away = tape.rewind.time(0.5).ms() + tape.unload.ms();
    (spec.robot_move.ms() + tape.load.mean_ms(), away + spec.robot_move.ms())
}

/// Sessions that share the mount of their cartridge. That one which is used most may limit them all: it is in one drive at a time.
fn by_cartridge(
    (spec, tape): (&TapeLibrarySpec, &Tape),
    (view, stream): (View, &str),
    station: &DrivePool,
) -> Vec<Demand> {
    let DrivePool { of, share, .. } = station;
    let (setup, away) = times_ms(spec, tape);
    let servers = Exhaustive {
        servers: station.drives,
        gather: spec.accumulate.ms(),
        hold: spec.hold.ms(),
        setup,
        away,
        arms: (station.arms, spec.robot_move.ms()),
    };
    let queue = |servers| ServiceKind::Queue { servers, order: QueueOrder::FirstCome };
    let session = || held(&station.seconds, 0.0, 0.0);
    let drives = Demand {
        fails: not_by_cartridge(spec, view),
        station: (!of.is_empty()).then(|| format!("drives{of}")),
        setups: Some(Arc::new(Setups { servers, classes: station.cartridges.clone() })),
        ..Demand::one(view.id(), queue(station.drives), session()).times(*share, 1.0)
    };
    let one = Demand {
        station: Some(format!("one cartridge of {stream}{of}")),
        ..Demand::one(view.id(), queue(1), session()).times(station.most, 1.0).after_answer()
    };
    vec![drives, one]
}

/// What the formula of sessions by cartridge leaves out.
fn not_by_cartridge(spec: &TapeLibrarySpec, view: View) -> Vec<String> {
    let path = view.path();
    let fails = [
        (spec.groups.len() > 1 && spec.pass_through.is_some()).then(|| passes(path)),
        spec.queue.has_priorities().then(|| {
            format!("drives go to the cartridge that has waited longest: those of `{path}` go by priority")
        }),
        spec.longest_wait.is_some().then(|| {
            format!("a cartridge stays as long as sessions for it come: in `{path}` others that waited for `longest_wait` go first")
        }),
        (spec.robot_move.0 > 0).then(|| {
            format!("drives alone limit `{path}`: the wait for an arm is a part of their time, and no limit by itself")
        }),
        (spec.free_drives > 0)
            .then(|| format!("cartridges are put away after `hold`: `{path}` keeps `free_drives` empty")),
    ];
    fails.into_iter().flatten().collect()
}

fn passes(path: &str) -> String {
    format!(
        "every cartridge goes to any drive at once: those of `{path}` pass between groups, which takes time"
    )
}

fn of_station((spec, tape): (&TapeLibrarySpec, &Tape), view: View, station: &DrivePool) -> Vec<Demand> {
    let DrivePool { of, share, mounts, .. } = station;
    let queue = |servers, order| ServiceKind::Queue { servers, order };
    let order = if spec.queue.has_priorities() { QueueOrder::Urgent } else { QueueOrder::FirstCome };
    let (mount_ms, away_ms) = times_ms(spec, tape);
    let fixed = |ms: f64| {
        Demand::one(view.id(), ServiceKind::Delay, Distribution::Fixed(ms)).times(share * mounts, 1.0)
    };
    let arms = format!("arms{of}");
    let held = Demand {
        fails: [apart(spec, view)].into_iter().chain(by_priority(spec, view)).collect(),
        station: (!of.is_empty()).then(|| format!("drives{of}")),
        // The arm is waited for to bring the cartridge, and to put it away.
        holds: Some((arms.clone(), 2.0 * mounts)),
        ..Demand::one(
            view.id(),
            queue(station.drives, order),
            held(&station.seconds, *mounts, mount_ms + away_ms),
        )
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

/// Returns the distribution of the time for which a session of these times holds its drive, a share of them with a mount, in ms.
fn held(seconds: &[f32], mounts: f64, mount_ms: f64) -> Distribution {
    let all = seconds.len();
    let points = POINTS.min(all);
    let share = 1.0 / points as f64;
    let of = |at: usize| f64::from(seconds[(2 * at + 1) * all / (2 * points)]) * 1e3;
    let distributions = (0..points).flat_map(|at| {
        [
            (share * mounts, Distribution::Fixed(of(at) + mount_ms)),
            (share * (1.0 - mounts), Distribution::Fixed(of(at))),
        ]
    });
    Distribution::mixed(distributions.filter(|(p, _)| *p > 0.0).collect())
}

fn apart(spec: &TapeLibrarySpec, view: View) -> String {
    let path = view.path();
    if spec.groups.len() > 1 && spec.pass_through.is_some() {
        return passes(path);
    }
    format!(
        "any drive serves any session: sessions of the same cartridge of `{path}` wait for the drive that has it"
    )
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
