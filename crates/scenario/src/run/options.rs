//! What is wanted of a run, and why it ended.

use schemars::JsonSchema;
use serde::Serialize;

use crate::record::Sink;

/// Outputs of a run besides its results.
pub struct Options {
    /// Maximum number of threads; results do not depend on it.
    pub threads: usize,
    /// The number of the first replication, where it is one of a set: who has run ten may want the eleventh. A single one is then
    /// cut as it would be among the others.
    pub replication: Option<u64>,
    /// Number of requests, the first of the first replication, whose journeys are wanted.
    pub first: u64,
    /// Where every request is handed to.
    pub requests: Option<Sink>,
    /// True if theory is wanted; it may take longer than a short run.
    pub theory: bool,
    /// True if an estimated headroom is to be refined by short simulations at several times the load. They take about as many events as
    /// the run.
    pub headroom: bool,
    /// Factor by which intervals are wider: more than 1 where replications were added until they looked narrow, by which
    /// those that came out narrow by chance are chosen.
    pub widen: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            replication: None,
            first: 0,
            requests: None,
            theory: true,
            headroom: false,
            widen: 1.0,
        }
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It did all that was asked.
    Done,
    /// Its time was up before its requests were.
    TimeUp,
    /// No events were left.
    Idle,
    /// Clients asked again and again at one instant, as their requests took no time.
    TimeStandsStill,
    /// It reached the end of simulated time.
    TooFar,
    /// More requests were in flight than the limit.
    TooManyInFlight,
    /// More parts of requests were in flight than the limit.
    TooManyParts,
    /// More events happened than the limit.
    TooManyEvents,
    /// It took more real time than the limit.
    TooLong,
    /// A trace could no longer be read as when it was scanned.
    TraceLost,
    /// Someone cancelled it.
    Cancelled,
}

impl End {
    /// Returns true if the run did what was asked.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Done | Self::TimeUp)
    }

    /// Returns why it ended, as part of a sentence.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Done => "all is done",
            Self::TimeUp => "its time is up",
            Self::Idle => "no events are left",
            Self::TimeStandsStill => "requests take no time, and clients ask again and again",
            Self::TooFar => "the end of simulated time is reached",
            Self::TooManyInFlight => "more requests are in flight than `run.limits.in_flight`",
            Self::TooManyParts => "more parts of requests are in flight than `run.limits.parts`",
            Self::TooManyEvents => "more events happened than `run.limits.events`",
            Self::TooLong => "it took longer than `run.limits.wall_time`",
            Self::TraceLost => "a trace cannot be read any more",
            Self::Cancelled => "it was cancelled",
        }
    }
}
