//! A limit of a front: how much of it each user has, or each host.

use std::cell::RefCell;
use std::collections::BTreeMap;

use headrace_stats::Gauge;
use headrace_units::Nanos;

use crate::core::meter::Portion;

/// A limit of transfers for each user, or each host.
pub(super) struct TransferLimit {
    most: Option<u32>,
    /// The transfers of each.
    held: RefCell<BTreeMap<u64, Gauge>>,
    /// Those that it holds back.
    pub waiting: RefCell<Gauge>,
}

impl TransferLimit {
    pub fn of(most: Option<u32>) -> Self {
        Self { most, held: RefCell::default(), waiting: RefCell::default() }
    }

    pub fn has_room(&self, who: u64) -> bool {
        let held = || self.held.borrow().get(&who).map_or(0, Gauge::value);
        self.most.is_none_or(|most| held() < u64::from(most))
    }

    pub fn take(&self, who: u64, now: Nanos) {
        if self.most.is_some() {
            self.held.borrow_mut().entry(who).or_default().up(now, 1);
        }
    }

    pub fn give_back(&self, who: u64, now: Nanos) {
        if let Some(held) = self.held.borrow_mut().get_mut(&who) {
            held.down(now, 1);
        }
    }

    /// Returns the share used by the one who uses most of the limit.
    pub fn portion(&self, name: &str, waits_apart: bool, now: Nanos) -> Option<Portion> {
        let servers = u64::from(self.most?);
        let busy = self.held.borrow().values().map(|held| held.area(now)).max().unwrap_or(0);
        let queue = waits_apart.then(|| self.waiting.borrow().area(now));
        Some(Portion { name: name.to_owned(), servers, busy, away: 0, queue })
    }
}
