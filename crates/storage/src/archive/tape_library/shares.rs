//! Shares of the drives by group of users: the drives that each group may use at a time, and its place in the queue.

use std::cell::RefCell;
use std::collections::BTreeMap;

use headrace_stats::Gauge;
use headrace_units::Nanos;
use headrace_work::{Invalid, number_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::drives::DriveRequest;
use crate::core::meter::{Meter, Portion};

/// A group of users, such as a virtual organisation or a class of restores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DriveShare {
    /// Users as the log names them, in its column `user`. Default: those that no other share names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Maximum number of drives that read for them at a time. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub reads: Option<u32>,
    /// Maximum number of drives that write for them at a time. A stream to tape writes for the first of the users that its pool names. Default:
    /// no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100_000))]
    pub writes: Option<u32>,
    /// Priority of their requests; the smallest is served first. Default: that of their stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Time within which their requests should have a drive. The meter `within_deadline` is the share of those that do. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Nanos>,
}

impl DriveShare {
    /// Returns the error of shares that cannot be told apart; `None` if they can.
    pub(super) fn problem(shares: &[Self]) -> Option<Invalid> {
        let mut named = BTreeMap::new();
        let mut others = shares.iter().filter(|share| share.users.is_empty());
        let users = shares.iter().flat_map(|share| &share.users);
        let twice = users.filter_map(|user| named.insert(user, ()).map(|()| user)).next();
        match (twice, others.nth(1)) {
            (Some(user), _) => {
                Some(Invalid::new("users", format!("`{user}` is named twice; a user has one share")))
            }
            (None, Some(_)) => {
                Some(Invalid::new("users", "two shares without `users` are for the same users"))
            }
            (None, None) => None,
        }
    }

    fn most(&self, writes: bool) -> Option<u32> {
        if writes { self.writes } else { self.reads }
    }
}

/// The shares of users by the numbers of their names.
#[derive(Clone, Debug, Default)]
pub(super) struct ShareTable {
    by_user: BTreeMap<u64, u32>,
    others: Option<u32>,
}

impl ShareTable {
    pub fn of(shares: &[DriveShare]) -> Self {
        let users = |(at, share): (u32, &DriveShare)| -> Vec<(u64, u32)> {
            share.users.iter().map(|user| (number_of(user.as_bytes()), at)).collect()
        };
        Self {
            by_user: (0..).zip(shares).flat_map(users).collect(),
            others: (0..).zip(shares).find(|(_, share)| share.users.is_empty()).map(|(at, _)| at),
        }
    }

    /// Returns the share of a user; `None` if no share is for that one.
    pub fn of_user(&self, user: u64) -> Option<u32> {
        self.by_user.get(&user).copied().or(self.others)
    }
}

/// Drives that a share has in use, and requests of it that wait: of reads and of writes.
#[derive(Clone, Default)]
struct ShareUse {
    used: [Gauge; 2],
    waiting: [Gauge; 2],
    /// Requests with a deadline that had a drive, and those that had it in time.
    served: u64,
    in_time: u64,
}

/// The use of shares in a simulation.
pub(super) struct Shares<'m> {
    spec: &'m [DriveShare],
    uses: RefCell<Vec<ShareUse>>,
}

/// What a drive is used for: a share, and whether to write.
pub(super) type SharedUse = (usize, bool);

impl DriveRequest {
    /// Returns the share that the request belongs to, if it belongs to one, and whether it writes.
    pub fn shared(&self) -> Option<SharedUse> {
        Some((self.share? as usize, self.writes))
    }
}

impl<'m> Shares<'m> {
    pub fn new(spec: &'m [DriveShare]) -> Self {
        Self { spec, uses: RefCell::new(vec![ShareUse::default(); spec.len()]) }
    }

    /// Returns true if one more drive may be used for a request, beside `more` that its share will use.
    pub fn has_room(&self, wanted: &DriveRequest, more: u64) -> bool {
        wanted.shared().is_none_or(|used| !self.is_full(used, more))
    }

    fn is_full(&self, (share, writes): SharedUse, more: u64) -> bool {
        let used = self.uses.borrow()[share].used[usize::from(writes)].value() + more;
        self.spec[share].most(writes).is_some_and(|most| used >= u64::from(most))
    }

    /// A request begins to wait.
    pub fn waits(&self, wanted: &DriveRequest, now: Nanos) {
        if let Some((share, writes)) = wanted.shared() {
            self.uses.borrow_mut()[share].waiting[usize::from(writes)].up(now, 1);
        }
    }

    /// A request waits no longer.
    pub fn waited(&self, wanted: &DriveRequest, now: Nanos) {
        if let Some((share, writes)) = wanted.shared() {
            self.uses.borrow_mut()[share].waiting[usize::from(writes)].down(now, 1);
        }
    }

    /// A request has a drive.
    pub fn take(&self, wanted: &DriveRequest, now: Nanos) {
        if let Some((share, writes)) = wanted.shared() {
            self.uses.borrow_mut()[share].used[usize::from(writes)].up(now, 1);
        }
    }

    /// A request has its first drive: in time, or too late.
    pub fn served(&self, wanted: &DriveRequest, now: Nanos) {
        if let (Some((share, _)), true) = (wanted.shared(), wanted.within < Nanos::MAX) {
            let used = &mut self.uses.borrow_mut()[share];
            used.served += 1;
            used.in_time += u64::from(now - wanted.since <= wanted.within);
        }
    }

    /// A drive is not used any more. Returns true if requests of its share may have waited for that alone.
    pub fn give(&self, used: SharedUse, now: Nanos) -> bool {
        let was_full = self.is_full(used, 0);
        self.uses.borrow_mut()[used.0].used[usize::from(used.1)].down(now, 1);
        was_full
    }

    /// Returns the limits of shares: drives that each may use, and uses.
    pub fn portions(&self, now: Nanos) -> Vec<Portion> {
        let (uses, mut portions) = (self.uses.borrow(), Vec::new());
        for (at, (share, used)) in self.spec.iter().zip(&*uses).enumerate() {
            for (writes, name) in [(false, "reads"), (true, "writes")] {
                let Some(most) = share.most(writes) else { continue };
                let of = usize::from(writes);
                portions.push(Portion {
                    name: format!("{name} of shares[{at}]"),
                    servers: u64::from(most),
                    busy: used.used[of].area(now),
                    away: 0,
                    queue: Some(used.waiting[of].area(now)),
                });
            }
        }
        portions
    }

    /// Returns the shares that name users of whom no request ever came, in words: a name may be misspelt.
    pub fn idle(&self) -> Vec<String> {
        let uses = self.uses.borrow();
        let never = |used: &ShareUse| used.used.iter().chain(&used.waiting).all(|gauge| gauge.max() == 0);
        let idle = self.spec.iter().zip(&*uses).enumerate();
        let idle = idle.filter(|(_, (share, used))| !share.users.is_empty() && never(used));
        idle.map(|(at, (share, _))| {
            format!("no request was from users of shares[{at}]: {}", share.users.join(", "))
        })
        .collect()
    }

    /// Returns the share of requests with a deadline that had a drive in time; `None` if no share has one.
    pub fn within_deadline(&self) -> Option<Meter> {
        let uses = self.uses.borrow();
        let sum = |of: fn(&ShareUse) -> u64| uses.iter().map(of).sum();
        let has_deadline = self.spec.iter().any(|share| share.within.is_some());
        has_deadline.then(|| Meter::Share(sum(|used| used.in_time), sum(|used| used.served)))
    }
}
