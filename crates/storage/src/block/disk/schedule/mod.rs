//! Schedulers: which of the commands that wait for the platter a drive serves next. One policy, one file.

use headrace_units::{Fraction, Nanos};
use headrace_work::Block;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layout::Track;

/// What a policy chooses from.
struct Choice<'a, P> {
    /// Commands in order of arrival.
    held: &'a [Waiting],
    /// Track of the arm.
    arm: Track,
    now: Nanos,
    /// Returns the time until the data of a command is under the head, in ns.
    positioning: P,
    /// True if the arm moves inwards.
    inwards: &'a mut bool,
}

/// Declares the policies: their modules, what a user may write, and the index of the command that each chooses.
macro_rules! policies {
    ($choice:ident; $($module:ident {$(
        $(#[$doc:meta])* $kind:ident $({$($(#[$field_doc:meta])* $field:ident: $type:ty),+})? = $next:expr,
    )+})+) => {
        $(mod $module;)+

        /// Scheduling policy of a drive.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum Scheduling {
            $($($(#[$doc])* $kind $({$($(#[$field_doc])* $field: $type),+})?,)+)+
        }

        impl Scheduling {
            fn next(self, $choice: Choice<impl Fn(&Waiting) -> f64>) -> usize {
                match self {
                    $($(Self::$kind $({$($field),+})? => $next,)+)+
                }
            }
        }
    };
}

policies! { choice;
    fcfs {
        /// First come, first served.
        #[default]
        Fcfs = fcfs::next(),
    }
    sstf {
        /// The nearest cylinder (shortest seek time first).
        Sstf = sstf::next(choice.held, choice.arm),
    }
    look {
        /// The nearest in the direction of travel; if there is none, the arm reverses.
        Look = look::next(choice.held, choice.arm, choice.inwards),
    }
    clook {
        /// The nearest further in; if there is none, the outermost (circular LOOK).
        CLook = clook::next(choice.held, choice.arm),
    }
    sptf {
        /// The one whose data reaches the head soonest (shortest positioning time first).
        Sptf = sptf::next(choice.held, choice.positioning, choice.now, 0.0),
        /// Shortest positioning time first, with preference for requests that have waited long.
        AgedSptf {
            /// Reduction of the estimated positioning time per unit of waiting time.
            #[schemars(range(min = 0.0, max = 1000.0))]
            weight: f64
        } = sptf::next(choice.held, choice.positioning, choice.now, weight),
    }
}

/// The command queue of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// Source of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Scheduling policy.
    #[serde(default)]
    pub scheduling: Scheduling,
    /// Commands it can hold and reorder; the rest queue in the host.
    #[serde(default = "many_commands")]
    #[schemars(range(min = 1, max = 256))]
    pub depth: u32,
    /// Maximum number of completions reported together; fewer if no command waits. Default: each is reported
    /// alone.
    #[serde(default = "each_alone")]
    #[schemars(range(min = 1, max = 256))]
    pub batch: u32,
    /// Margin added to estimated seeks when choosing by positioning time: a sector narrowly missed costs a
    /// revolution, and long seeks are less certain than short ones. Default: 0 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<Fraction>,
    /// A command that has waited in the drive longer than this is served first, regardless of `scheduling`. Without a
    /// limit, policies that prefer near commands can starve distant ones. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_wait: Option<Nanos>,
}

impl Default for QueueSpec {
    fn default() -> Self {
        let (depth, batch) = (many_commands(), each_alone());
        Self { source: None, scheduling: Scheduling::Fcfs, depth, batch, margin: None, longest_wait: None }
    }
}

impl QueueSpec {
    /// Returns true if commands are served in order of arrival.
    pub fn keeps_order(&self) -> bool {
        self.scheduling == Scheduling::Fcfs && self.batch == 1
    }
}

const fn many_commands() -> u32 {
    32
}

const fn each_alone() -> u32 {
    1
}

/// Something that waits for the platter: a command, or what was written to the cache.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Data to read or write.
    pub block: Block,
    /// Since when it waits in the drive.
    pub since: Nanos,
    /// Track where its data begins.
    pub track: Track,
}

/// Chooses who is next, by a policy.
#[derive(Clone, Copy, Debug)]
pub struct Chooser {
    scheduling: Scheduling,
    longest_wait: Nanos,
    /// True if the arm moves inwards.
    inwards: bool,
}

impl Chooser {
    /// One that follows `scheduling`, except for what has waited longer than `longest_wait`.
    pub fn new(scheduling: Scheduling, longest_wait: Option<Nanos>) -> Self {
        Self { scheduling, longest_wait: longest_wait.unwrap_or(Nanos(u64::MAX)), inwards: true }
    }

    /// Returns the index of the next of `held` commands, which are in order of arrival, at `now` with the arm at `arm`; `positioning`
    /// returns the time until each one's data is under the head, in ns.
    pub fn next(
        &mut self,
        held: &[Waiting],
        arm: Track,
        now: Nanos,
        positioning: impl Fn(&Waiting) -> f64,
    ) -> usize {
        if held.len() == 1 || now.0.saturating_sub(held[0].since.0) > self.longest_wait.0 {
            return fcfs::next();
        }
        self.scheduling.next(Choice { held, arm, now, positioning, inwards: &mut self.inwards })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_work::Op;

    fn waiting(cylinders: &[u32]) -> Vec<Waiting> {
        let block = Block { op: Op::Read, address: 0, bytes: 512 };
        let on = |cylinder: &u32| Waiting {
            block,
            since: Nanos::ZERO,
            track: Track { cylinder: *cylinder, surface: 0 },
        };
        cylinders.iter().map(on).collect()
    }

    /// The order in which all of them are served, each leaving the arm on its cylinder.
    fn order(cylinders: &[u32], arm: u32, mut next: impl FnMut(&[Waiting], Track) -> usize) -> Vec<u32> {
        let (mut left, mut arm, mut order) =
            (waiting(cylinders), Track { cylinder: arm, surface: 0 }, Vec::new());
        while !left.is_empty() {
            let chosen = next(&left, arm);
            arm = left.remove(chosen).track;
            order.push(arm.cylinder);
        }
        order
    }

    /// The example of every textbook: requests for 98, 183, 37, 122, 14, 124, 65, 67 with the arm on 53.
    #[test]
    fn policies_do_what_textbooks_say() {
        let queue = [98, 183, 37, 122, 14, 124, 65, 67];
        assert_eq!(order(&queue, 53, |_, _| fcfs::next()), queue);
        assert_eq!(order(&queue, 53, sstf::next), [65, 67, 37, 14, 98, 122, 124, 183]);
        let mut inwards = false;
        assert_eq!(
            order(&queue, 53, |held, arm| look::next(held, arm, &mut inwards)),
            [37, 14, 65, 67, 98, 122, 124, 183]
        );
        assert_eq!(order(&queue, 53, clook::next), [65, 67, 98, 122, 124, 183, 14, 37]);
    }
}
