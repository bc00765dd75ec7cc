//! Replacement: which of the items that a cache holds gives way to a new one. One file a policy, for all caches.

mod lists;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An item of a cache: the number of its owner, where several share the cache, and its own.
pub type Item = (u32, u64);

/// A replacement policy: the items of a cache, and the order in which they give way.
///
/// The cache is full when it calls `evict`; the policy does not count. All operations take constant time.
pub trait Replacement {
    /// A policy for a cache of this number of items, about; none are held yet.
    fn new(capacity: usize) -> Self;

    /// Returns true if the item is held.
    fn holds(&self, item: Item) -> bool;

    /// Notes the use of an item. Returns true if it is held.
    fn touch(&mut self, item: Item) -> bool;

    /// Adds an item that is not held, and was used now.
    fn insert(&mut self, item: Item);

    /// Chooses an item that `may_go`, and takes it out; `None` if there is none. Others that are passed over count as used again.
    /// `incoming` is the item that gets the room, if it is known yet: it is inserted next.
    fn evict(&mut self, incoming: Option<Item>, may_go: impl FnMut(Item) -> bool) -> Option<Item>;

    /// Removes an item that became invalid. Returns true if it was held.
    fn remove(&mut self, item: Item) -> bool;
}

/// Declares the policies: their modules, what a user may write, and the enum that holds one of them.
macro_rules! policies {
    ($($(#[$doc:meta])* $kind:ident = $name:literal $module:ident,)+) => {
        $(mod $module;)+

        /// Replacement policy of a cache.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum ReplacementSpec {
            $($(#[$doc])* #[serde(rename = $name)] $kind,)+
        }

        impl ReplacementSpec {
            /// All policies.
            #[cfg(test)]
            pub const ALL: &[Self] = &[$(Self::$kind),+];

            /// The policy, for a cache of this number of items.
            pub fn of(self, capacity: usize) -> AnyReplacement {
                match self {
                    $(Self::$kind => AnyReplacement::$kind(Replacement::new(capacity)),)+
                }
            }
        }

        /// One of the policies.
        #[derive(Clone, Debug)]
        pub enum AnyReplacement {
            $($(#[$doc])* $kind($module::$kind),)+
        }

        impl AnyReplacement {
            /// See [`Replacement`].
            #[inline]
            pub fn holds(&self, item: Item) -> bool {
                match self { $(Self::$kind(policy) => policy.holds(item),)+ }
            }

            /// See [`Replacement`].
            #[inline]
            pub fn touch(&mut self, item: Item) -> bool {
                match self { $(Self::$kind(policy) => policy.touch(item),)+ }
            }

            /// See [`Replacement`].
            #[inline]
            pub fn insert(&mut self, item: Item) {
                match self { $(Self::$kind(policy) => policy.insert(item),)+ }
            }

            /// See [`Replacement`].
            pub fn evict(&mut self, incoming: Option<Item>, may_go: impl FnMut(Item) -> bool) -> Option<Item> {
                match self { $(Self::$kind(policy) => policy.evict(incoming, may_go),)+ }
            }

            /// See [`Replacement`].
            pub fn remove(&mut self, item: Item) -> bool {
                match self { $(Self::$kind(policy) => policy.remove(item),)+ }
            }
        }
    };
}

policies! {
    /// Least recently used.
    Lru = "lru" lru,
    /// Adaptive replacement cache: balances items used once against items used again (Megiddo and Modha, "ARC: a self-tuning, low
    /// overhead replacement cache", FAST 2003). A scan does not displace what is used again.
    Arc = "arc" arc,
    /// 2Q, the full version: items used again soon after they left are kept (Johnson and Shasha, "2Q: a low overhead high
    /// performance buffer management replacement algorithm", VLDB 1994), with its authors' sizes.
    TwoQ = "2q" two_q,
}

#[expect(clippy::derivable_impls, reason = "the macro that declares it knows no default")]
impl Default for ReplacementSpec {
    fn default() -> Self {
        Self::Lru
    }
}
