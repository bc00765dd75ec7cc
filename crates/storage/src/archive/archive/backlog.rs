//! A queue for tape that backs up, and why.

use headrace_units::{Bytes, BytesPerSecond, Nanos, counted};

use super::Archive;
use super::migrate::{Spent, TapeQueue};
use crate::core::context::Edge;
use crate::core::meter::Portion;

impl Archive<'_> {
    /// The streams of each tape pool: those of one do nothing for another.
    pub(super) fn streams(&self, now: Nanos) -> Vec<Portion> {
        let of = |queue: &TapeQueue| Portion {
            name: format!("streams to tape{}", self.of_pool(queue)),
            servers: u64::from(self.plan.pools.pools[usize::from(queue.number)].streams),
            busy: queue.busy(now),
            away: 0,
            queue: None,
        };
        self.for_tape.iter().map(of).collect()
    }

    /// Returns which pool a queue is of, where there are several.
    fn of_pool(&self, queue: &TapeQueue) -> String {
        let several = self.for_tape.len() > 1;
        if several { format!(" of `migrate.pools[{}]`", queue.number) } else { String::new() }
    }

    /// Of each tape pool that more is put for than its streams store: that, and what they spend their time with.
    pub(super) fn backlogs(&self, now: Nanos) -> impl Iterator<Item = String> {
        self.for_tape.iter().filter_map(move |queue| self.backlog(queue, now))
    }

    fn backlog(&self, queue: &TapeQueue, now: Nanos) -> Option<String> {
        let (pool, spent) = (&self.plan.pools.pools[usize::from(queue.number)], queue.spent(now));
        let total: f64 = spent.values().map(|time| time.secs()).sum();
        // While one of them waits for a drive, more streams would wait too.
        let waits = spent.get_key_value(&Spent::Drives);
        let waits = waits.filter(|(_, time)| time.secs() * f64::from(pool.streams) >= total);
        let (most, time) = waits.or_else(|| spent.iter().max_by_key(|(_, time)| **time))?;
        let puts = queue.put_bytes.get() as f64 / now.secs();
        let stores = queue.stored_bytes.get() as f64 / total * f64::from(pool.streams);
        let which = self.of_pool(queue);
        let message = || {
            format!(
                "the queue for tape{which} backs up, {} at the end: puts bring {}, and {} can store {}, {:.0} % of whose time goes {}",
                Bytes(self.fresh_bytes.get()),
                BytesPerSecond(puts),
                counted(u64::from(pool.streams), "stream"),
                BytesPerSecond(stores),
                time.secs() / total * 100.0,
                self.reason(*most, self.libraries[pool.library].0)
            )
        };
        (stores > 0.0 && puts > stores).then(message)
    }

    /// Returns what a stream spends its time with, and what would help.
    fn reason(&self, spent: Spent, library: &Edge) -> String {
        match spent {
            Spent::Drives => {
                format!("into waiting for drives of `{}`: give it more, or some `for_writes`", library.path())
            }
            Spent::Mounts => "into mounts: let more gather for each (`migrate.mount`)".to_owned(),
            Spent::Flushes => "into flushes: let more gather for each (`migrate.flush`)".to_owned(),
            Spent::Data(node) if node == library.to() => {
                "into data: more `migrate.streams` write more".to_owned()
            }
            Spent::Data(node) if node == self.for_puts().id() => {
                format!("into data that `{}` reads", self.for_puts().edge.path())
            }
            Spent::Data(node) if self.network.is_some_and(|(network, _)| network.to() == node) => {
                "into data that the network carries".to_owned()
            }
            Spent::Data(_) => {
                format!("into data that the devices of `{}` read", self.for_puts().edge.path())
            }
        }
    }
}
