//! Placement: which drives hold the pieces of a group. A policy is a file.
//!
//! Both draw by hashes alone, so anyone who knows the drives finds the same places, and no table of them is needed.

mod rendezvous;
mod straw2;

use headrace_kernel::subkey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choice of the drives of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// CRUSH with straw2 buckets (Weil and others, 2006; Ceph since Hammer): each piece draws a domain and a drive in it, and draws again
    /// where the domain is taken or the drive is out.
    #[default]
    Straw2,
    /// Rendezvous hashing (Thaler and Ravishankar, 1998): one draw for each domain, of which the best are taken.
    Rendezvous,
}

/// The failure domains of a pool.
#[derive(Clone, Debug)]
pub struct Domains {
    /// Of each, its drives and their weights.
    drives: Vec<Vec<(u32, f64)>>,
    /// The sum of its drives' weights, whether these are out or not.
    weights: Vec<f64>,
    /// Of each drive, the domain that it stands in.
    of: Vec<usize>,
}

impl Domains {
    /// The domains of drives of these weights; `domain` says in which a drive stands.
    pub fn new(weights: &[f64], domain: impl Fn(u32) -> usize) -> Self {
        let mut domains = Self { drives: Vec::new(), weights: Vec::new(), of: Vec::new() };
        for (drive, weight) in (0u32..).zip(weights) {
            let at = domain(drive);
            domains.of.push(at);
            if domains.drives.len() <= at {
                domains.drives.resize(at + 1, Vec::new());
                domains.weights.resize(at + 1, 0.0);
            }
            domains.drives[at].push((drive, *weight));
            domains.weights[at] += weight;
        }
        domains
    }

    /// Returns the domain that a drive stands in.
    pub fn of(&self, drive: u32) -> usize {
        self.of[drive as usize]
    }

    /// Returns the number of domains.
    pub fn count(&self) -> usize {
        self.drives.len()
    }
}

impl Placement {
    /// Chooses drives of `width` different domains for a group, of those that `takes` allows; `None` where none was found.
    pub fn choose(
        self,
        group: u64,
        width: usize,
        domains: &Domains,
        takes: impl Fn(u32) -> bool,
    ) -> Vec<Option<u32>> {
        match self {
            Self::Straw2 => straw2::choose(group, width, domains, takes),
            Self::Rendezvous => rendezvous::choose(group, width, domains, takes),
        }
    }
}

/// The straw of an item of some weight: the longest wins, each with a probability in proportion to its weight, for the maximum of ln(u)/w is
/// that of independent exponential times. Who has the longest changes only by a change of its own straw or of the winner's.
fn straw(key: u64, item: u64, weight: f64) -> f64 {
    let above_zero = (subkey(key, item) >> 11) + 1;
    libm::log(above_zero as f64 / (1u64 << 53) as f64) / weight
}

/// The domains, that with the longest straw first.
fn ranked(key: u64, domains: &Domains) -> impl Iterator<Item = usize> + use<> {
    let straws = domains.weights.iter().enumerate().map(|(at, weight)| (straw(key, at as u64, *weight), at));
    let mut straws: Vec<(f64, usize)> = straws.collect();
    straws.sort_by(|a, b| b.0.total_cmp(&a.0));
    straws.into_iter().map(|(_, domain)| domain)
}

/// The drive of a domain with the longest straw of those that `takes` allows. Drives draw by keys of their own, for their numbers are those
/// of domains too.
fn drive_in(key: u64, drives: &[(u32, f64)], takes: impl Fn(u32) -> bool) -> Option<u32> {
    let usable = || drives.iter().filter(|(drive, _)| takes(*drive));
    let best = longest(!key, usable().map(|(drive, weight)| (u64::from(*drive), *weight)))?;
    usable().nth(best).map(|(drive, _)| *drive)
}

/// The place of the longest straw.
fn longest(key: u64, items: impl Iterator<Item = (u64, f64)>) -> Option<usize> {
    let straws = items.map(|(item, weight)| straw(key, item, weight)).enumerate();
    straws.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at)
}
