//! A queue for tape that backs up, and why.

use headrace_units::{Bytes, BytesPerSecond, Nanos, counted};
use headrace_work::NodeId;

use super::Archive;
use super::migrate::Spent;

impl Archive<'_> {
    /// That more is put than the streams store to tape, and what they spend their time with; none where they keep up.
    pub(super) fn backlog(&self, now: Nanos) -> Option<String> {
        let (spec, spent) = (self.plan.migrate?, self.for_tape.spent(now));
        let total: f64 = spent.values().map(|time| time.secs()).sum();
        // While one of them waits for a drive, more streams would wait too.
        let waits = spent.get_key_value(&Spent::Drives);
        let waits = waits.filter(|(_, time)| time.secs() * f64::from(spec.streams) >= total);
        let (most, time) = waits.or_else(|| spent.iter().max_by_key(|(_, time)| **time))?;
        let puts = self.counts.put_bytes.get() as f64 / now.secs();
        let stores = self.counts.stored_bytes.get() as f64 / total * f64::from(spec.streams);
        let message = || {
            format!(
                "the queue for tape backs up, {} at the end: puts bring {}, and {} can store {}, {:.0} % of whose time goes {}",
                Bytes(self.fresh_bytes.get()),
                BytesPerSecond(puts),
                counted(u64::from(spec.streams), "stream"),
                BytesPerSecond(stores),
                time.secs() / total * 100.0,
                self.reason(*most)
            )
        };
        (stores > 0.0 && puts > stores).then(message)
    }

    /// Returns what a stream spends its time with, and what would help.
    fn reason(&self, spent: Spent) -> String {
        let library = self.library.map(|(edge, _)| (edge.to(), edge.path()));
        let name = library.map_or("", |(_, path)| path);
        let is_library = |node: NodeId| library.is_some_and(|(id, _)| id == node);
        match spent {
            Spent::Drives => {
                format!("into waiting for drives of `{name}`: give it more, or some `for_writes`")
            }
            Spent::Mounts => "into mounts: let more gather for each (`migrate.mount`)".to_owned(),
            Spent::Flushes => "into flushes: let more gather for each (`migrate.flush`)".to_owned(),
            Spent::Data(node) if is_library(node) => {
                "into data: more `migrate.streams` write more".to_owned()
            }
            Spent::Data(node) if node == self.pool_id() => {
                format!("into data that `{}` reads", self.pool.0.path())
            }
            Spent::Data(_) => "into data that the network carries".to_owned(),
        }
    }
}
