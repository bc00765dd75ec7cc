//! The laws that every run must keep, whatever its models do. Each is checked on every run, from what was recorded: one law,
//! one file. A broken law means that the program is wrong, and so are its results.

mod busy;
mod cache;
mod edges;
mod events;
mod files;
mod legs;
mod little;
mod requests;

pub use files::FileBooks;

use headrace_storage::{Activity, Arena, Edge, Flow, Graph};
use headrace_units::Nanos;

use crate::record::StreamRecord;

/// What the laws are about.
pub struct Evidence<'r, 'm> {
    /// What the books of files say that is wrong.
    pub files: Vec<String>,
    /// The components' names, and who uses whom.
    pub graph: &'r Graph,
    /// The components.
    pub arena: Arena<'m>,
    /// The names of the streams, what was recorded of each, and the way it went.
    pub streams: Vec<(&'r str, &'r StreamRecord, &'r Edge<'m>)>,
    /// The ways of requests that belong to no stream.
    pub callers: &'r [Option<Edge<'m>>],
    /// The end of the run.
    pub now: Nanos,
}

impl Evidence<'_, '_> {
    fn activity(&self, at: usize) -> Option<Activity> {
        self.arena.component(headrace_work::NodeId(at as u32)).activity(self.now)
    }

    fn received(&self, at: usize) -> Flow {
        self.arena.context(headrace_work::NodeId(at as u32)).received()
    }
}

/// Returns every law that was broken, in words.
pub fn broken(evidence: &Evidence) -> Vec<String> {
    [
        edges::broken,
        requests::broken,
        little::broken,
        legs::broken,
        busy::broken,
        cache::broken,
        events::broken,
    ]
    .iter()
    .flat_map(|law| law(evidence))
    .chain(evidence.files.iter().cloned())
    .collect()
}
