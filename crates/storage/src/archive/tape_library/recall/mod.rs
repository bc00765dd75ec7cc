//! Recall: which of the requests that wait for a drive it serves next, and in which order on a tape. One policy, one file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests for one cartridge that are put in order together.
pub(super) struct Batch<L> {
    /// Where the data of each begins on the tape and where it ends, in bytes, in order of arrival.
    pub spans: Vec<(u64, u64)>,
    /// Where the tape stands.
    pub head: u64,
    /// Returns the time from one position of the tape to another, in s.
    pub locate: L,
}

/// Declares the policies: their modules, what a user may write, and the order that each makes of a batch.
macro_rules! policies {
    ($batch:ident; $($module:ident {$($(#[$doc:meta])* $kind:ident = $order:expr,)+})+) => {
        $(mod $module;)+

        /// Order of recalls when a drive becomes free. All but `arrival` first serve those for the mounted cartridge.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        pub enum Recall {
            $($($(#[$doc])* $kind,)+)+
        }

        impl Recall {
            /// Returns the order in which a batch is served.
            pub(super) fn order(self, $batch: &Batch<impl Fn(u64, u64) -> f64>) -> Vec<usize> {
                match self {
                    $($(Self::$kind => $order,)+)+
                }
            }
        }
    };
}

policies! { batch;
    arrival {
        /// The longest-waiting recall.
        #[default]
        Arrival = arrival::order(batch.spans.len()),
        /// Recalls for the mounted cartridge in order of arrival.
        ByCartridge = arrival::order(batch.spans.len()),
    }
    ascending {
        /// Recalls for the mounted cartridge by position, from the beginning of the tape to its end.
        Ascending = ascending::order(&batch.spans),
    }
    nearest {
        /// Of the recalls for the mounted cartridge always the one that is located soonest (shortest locate time first).
        Nearest = nearest::order(batch),
    }
    recommended {
        /// Recalls for the mounted cartridge in an order that takes about the least time to locate them all, as drives recommend it
        /// (recommended access order).
        Recommended = recommended::order(batch),
    }
}

#[cfg(test)]
mod tests;
