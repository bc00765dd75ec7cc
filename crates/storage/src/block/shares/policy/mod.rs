//! Policies of shares: which of the clients that wait is next. One policy, one file.

use headrace_kernel::Draws;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a client is entitled to. Each policy goes by some of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entitlement {
    /// At least this number of operations a second, where the target can serve all reservations; 0 for none.
    pub reservation: f64,
    /// Its part of what is left, beside those of others.
    pub weight: f64,
    /// At most this number of operations a second; infinite for no limit.
    pub limit: f64,
    /// Smaller numbers are more urgent.
    pub priority: u8,
}

impl Entitlement {
    /// That of a client of which nothing is written.
    pub const EQUAL: Self = Self { reservation: 0.0, weight: 1.0, limit: f64::INFINITY, priority: 0 };
}

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Its number; no other request has it.
    pub ticket: u64,
    /// Operations that it counts as, at least 1.
    pub cost: f64,
    /// When it came, in ns.
    pub came_ns: f64,
}

/// A policy: the clients that wait, and who of them is next. Requests of one client go on in the order in which they came.
pub trait Policy {
    /// Adds a request of a client, whose entitlement is the same each time.
    fn come(&mut self, client: u32, entitled: &Entitlement, request: Waiting);

    /// Lets the next request go on, and returns its ticket; `None` if nobody may at `now`. A policy that leaves it to chance draws.
    fn next(&mut self, now_ns: f64, draws: &mut Draws) -> Option<u64>;

    /// Returns when the next request may go on, in ns, if no other comes; `None` if nobody waits for a time.
    fn ready_ns(&self) -> Option<f64> {
        None
    }

    /// Returns the time until `now` for which a server that works at the limit of a client would have been busy, in ns.
    fn busy_ns(&self, _client: u32, _now_ns: f64) -> f64 {
        0.0
    }
}

/// Declares the policies: their modules, what a user may write, the fields of a share that each goes by, and the policy itself.
macro_rules! policies {
    ($($(#[$doc:meta])* $kind:ident = $name:literal $module:ident by $fields:expr,)+) => {
        $(mod $module;)+

        /// Policy by which shares choose who is next.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum PolicySpec {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)+
        }

        impl PolicySpec {
            /// Returns its name in documents.
            pub(super) const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }

            /// Returns the fields of a share that it goes by.
            pub(super) const fn fields(self) -> &'static [&'static str] {
                match self { $(Self::$kind => &$fields,)+ }
            }

            /// Returns the policy, with nobody waiting.
            pub(super) fn build(self) -> Box<dyn Policy> {
                match self { $(Self::$kind => Box::new($module::$kind::default()),)+ }
            }
        }
    };
}

policies! {
    /// Reservations that are due, then the rest by weight, up to limits (Gulati, Merchant and Varman, OSDI 2010).
    MClock = "mclock" mclock by ["reservation", "weight", "limit", "read_cost", "write_cost"],
    /// Strict priority: the share with the smallest `priority`; of equals the longest-waiting request.
    Priority = "priority" priority by ["priority"],
    /// Deficit round robin: one share after another, each for `weight` operations in its turn (Shreedhar and Varghese, SIGCOMM 1995).
    RoundRobin = "round_robin" round_robin by ["weight", "read_cost", "write_cost"],
    /// Drawn by `weight`; requests that cost more than others are drawn less often, down to a tenth (Ceph's weighted priority queue).
    Wpq = "wpq" wpq by ["weight", "read_cost", "write_cost"],
}

#[expect(clippy::derivable_impls, reason = "the macro that declares it knows no default")]
impl Default for PolicySpec {
    fn default() -> Self {
        Self::MClock
    }
}

#[cfg(test)]
mod tests {
    use headrace_kernel::{Draws, RngStream};

    /// Draws of a policy that leaves nothing to chance.
    pub(super) fn draws() -> Draws {
        RngStream::named(0, "", "share").draws()
    }
}
