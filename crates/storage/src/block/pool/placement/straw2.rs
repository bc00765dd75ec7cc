//! CRUSH with straw2 buckets: `chooseleaf indep` over the failure domains.

use headrace_kernel::subkey;

use super::{Domains, drive_in, longest, ranked};

/// Draws of a piece, as many as in Ceph's default rule (`choose_total_tries`).
const TRIES: usize = 50;

/// Chooses drives for a group. All pieces draw before one draws again, so a piece keeps its place where another loses its own. Unlike in
/// Ceph, a piece without luck in all its draws takes the best domain that is left.
pub(super) fn choose(
    group: u64,
    width: usize,
    domains: &Domains,
    takes: impl Fn(u32) -> bool,
) -> Vec<Option<u32>> {
    let (mut chosen, mut taken) = (vec![None; width], vec![false; domains.count()]);
    let mut missing = width;
    for draw in 0..width * TRIES {
        if missing == 0 {
            return chosen;
        }
        let (piece, key) = (draw % width, subkey(group, draw as u64));
        if chosen[piece].is_none()
            && let Some((domain, drive)) = drawn(key, domains)
            && !taken[domain]
            && takes(drive)
        {
            taken[domain] = true;
            chosen[piece] = Some(drive);
            missing -= 1;
        }
    }
    for (piece, place) in chosen.iter_mut().enumerate().filter(|(_, place)| place.is_none()) {
        let key = subkey(group, piece as u64);
        let mut left = ranked(key, domains).filter(|domain| !taken[*domain]);
        let found = left.find_map(|at| Some((at, drive_in(key, &domains.drives[at], &takes)?)));
        drop(left);
        if let Some((domain, drive)) = found {
            taken[domain] = true;
            *place = Some(drive);
        }
    }
    chosen
}

/// A domain and a drive in it, by the longest straws.
fn drawn(key: u64, domains: &Domains) -> Option<(usize, u32)> {
    let domain = longest(key, (0..).zip(domains.weights.iter().copied()))?;
    Some((domain, drive_in(key, &domains.drives[domain], |_| true)?))
}
