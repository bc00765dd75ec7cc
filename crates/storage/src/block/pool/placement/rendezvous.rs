//! Rendezvous hashing, weighted.

use super::{Domains, drive_in, ranked};

/// Chooses drives for a group: the best drive that can be taken of each of the best domains. Without a domain, only its pieces move.
pub(super) fn choose(
    group: u64,
    width: usize,
    domains: &Domains,
    takes: impl Fn(u32) -> bool,
) -> Vec<Option<u32>> {
    let best = ranked(group, domains).filter_map(|domain| drive_in(group, &domains.drives[domain], &takes));
    let mut chosen: Vec<Option<u32>> = best.take(width).map(Some).collect();
    chosen.resize(width, None);
    chosen
}
