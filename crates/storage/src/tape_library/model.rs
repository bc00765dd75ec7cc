//! A library alone as a station of drives, from the sessions of a log: what a mount takes, how often one is needed, and the arms.

use headrace_analytic::Law;
use headrace_analytic::network::open::{Visits, wait};

use super::spec::{Recall, TapeLibrarySpec};
use crate::graph::View;
use crate::theory::{Demand, Load, Order, Server, Sessions};

/// The law of session times is represented by this number of equally likely ones.
const POINTS: usize = 64;

/// What one session asks of the library.
pub(super) fn demands(spec: &TapeLibrarySpec, view: View, load: &Load) -> Result<Vec<Demand>, String> {
    let Some(sessions) = &load.sessions else {
        return Err(format!("sessions of cartridges come to `{}`: an archive has no formula", view.path()));
    };
    if spec.accumulate.0 > 0 {
        return Err(format!("a request is served at once: those of `{}` accumulate", view.path()));
    }
    let mounts = share_mounted(spec, sessions);
    let mount_ms = spec.robot_move.ms() + spec.load.mean_ms();
    let away_ms = spec.rewind.time(0.5).ms() + spec.unload.ms() + spec.robot_move.ms();
    let drives = spec.groups.iter().map(|group| group.drives).sum();
    let queue = Server::Queue { servers: drives, order: Order::FirstCome };
    let held = Demand {
        fails: apart(spec, view),
        ..Demand::one(view.id(), queue, held(sessions, mounts, mount_ms + away_ms))
    };
    // A drive puts its cartridge away after the answer, which is no part of the response.
    let after = Demand {
        fails: evicted(spec, view),
        ..Demand::one(view.id(), Server::Delay, Law::Fixed(away_ms)).times(-mounts, 1.0)
    };
    let arms = Demand {
        fails: arms_at_own_rate(spec, view, mounts),
        ..Demand::one(view.id(), Server::Delay, Law::Fixed(arm_wait_ms(spec, view, sessions, mounts)?))
            .times(mounts, 1.0)
    };
    Ok(vec![held, after, arms])
}

/// The share of sessions that need a mount: those that come later than a cartridge is held, and the first of each cartridge.
fn share_mounted(spec: &TapeLibrarySpec, sessions: &Sessions) -> f64 {
    let found = sessions.gaps.partition_point(|gap| f64::from(*gap) <= spec.hold.secs());
    1.0 - found as f64 / sessions.seconds.len() as f64
}

/// How long a session holds its drive, with a mount or without.
fn held(sessions: &Sessions, mounts: f64, mount_ms: f64) -> Law {
    let all = sessions.seconds.len();
    let points = POINTS.min(all);
    let share = 1.0 / points as f64;
    let of = |at: usize| f64::from(sessions.seconds[(2 * at + 1) * all / (2 * points)]) * 1e3;
    let laws = (0..points).flat_map(|at| {
        [(share * mounts, Law::Fixed(of(at) + mount_ms)), (share * (1.0 - mounts), Law::Fixed(of(at)))]
    });
    Law::mixed(laws.filter(|(p, _)| *p > 0.0).collect())
}

fn arms_at_own_rate(spec: &TapeLibrarySpec, view: View, mounts: f64) -> Option<String> {
    let busy_s = 2.0 * mounts * spec.robot_move.secs() / f64::from(arms(spec));
    (busy_s > 0.0).then(|| {
        format!(
            "arms of `{}` are waited for as at the log's own rate, whatever the load: they saturate at {:.4}/s",
            view.path(),
            1.0 / busy_s
        )
    })
}

fn arms(spec: &TapeLibrarySpec) -> u32 {
    spec.groups.iter().map(|group| group.arms).sum()
}

/// The mean wait for an arm. Each mount takes two moves: one to the drive, and one back.
fn arm_wait_ms(spec: &TapeLibrarySpec, view: View, sessions: &Sessions, mounts: f64) -> Result<f64, String> {
    let (each, arms) = (spec.robot_move.ms(), arms(spec));
    let moves = Visits { rate: 2.0 * mounts * sessions.per_s * 1e-3, mean: each, square: each * each };
    let busy = moves.rate * each / f64::from(arms) * 100.0;
    wait(arms, &[moves])
        .ok_or_else(|| format!("arms keep up: those of `{}` would be {busy:.0} % busy", view.path()))
}

fn apart(spec: &TapeLibrarySpec, view: View) -> Option<String> {
    let path = view.path();
    let several = (spec.groups.len() > 1).then(|| match spec.pass_through {
        None => format!("every cartridge goes to any drive: those of `{path}` stay in their group"),
        Some(_) => format!("every cartridge goes to any drive at once: those of `{path}` pass between groups, which takes time"),
    });
    let batched = (spec.recall == Recall::ByCartridge)
        .then(|| format!("requests wait in order: those for a mounted cartridge of `{path}` go first"));
    let alone = || {
        Some(format!(
            "any drive serves any session: sessions of the same cartridge of `{path}` wait for the drive that has it"
        ))
    };
    several.or(batched).or_else(alone)
}

fn evicted(spec: &TapeLibrarySpec, view: View) -> Option<String> {
    (spec.hold.0 > 0).then(|| {
        format!(
            "a cartridge stays mounted for `hold`: in `{}` it is put away earlier where its drive is needed",
            view.path()
        )
    })
}
