//! A queue for tape that backs up, and why.

use headrace_units::{Bytes, BytesPerSecond, Nanos, counted};

use super::Archive;
use super::migrate::{Spent, TapeQueue};
use super::spec::MigrateOrder;
use super::tape_pools::TapePool;
use crate::core::context::Edge;
use crate::core::meter::Portion;

/// Share of the time of streams from which a second reason is worth naming.
const MUCH: f64 = 0.2;

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

    /// Of each tape pool that names users of whom nothing was put: a name may be misspelt.
    pub(super) fn idle_pools(&self) -> impl Iterator<Item = String> {
        let pools = self.plan.migrate.iter().flat_map(|migrate| &migrate.pools).zip(&self.for_tape);
        let idle = pools.filter(|(pool, queue)| !pool.users.is_empty() && queue.put_bytes.get() == 0);
        idle.map(|(pool, queue)| {
            format!(
                "nothing was put by users of `migrate.pools[{}]`: {}",
                queue.number,
                pool.users.join(", ")
            )
        })
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
        let library = self.libraries[pool.library].0;
        let goes = |(spent, time): (&Spent, &Nanos)| {
            format!("{:.0} % of the time goes {}", time.secs() / total * 100.0, self.reason(*spent, library))
        };
        let rest = spent.iter().filter(|(other, _)| *other != most).max_by_key(|(_, time)| **time);
        let second = rest.filter(|(_, time)| time.secs() > MUCH * total);
        let message = || {
            format!(
                "the queue for tape{which} backs up, {} at the end: puts bring {}, and {} can store {}; {}{}{}",
                Bytes(self.fresh_bytes.get()),
                BytesPerSecond(puts),
                counted(u64::from(pool.streams), "stream"),
                BytesPerSecond(stores),
                goes((most, time)),
                self.of_one_volume(*most, pool),
                second.map(|second| format!("; {}", goes(second))).unwrap_or_default(),
            )
        };
        (stores > 0.0 && puts > stores).then(message)
    }

    /// Returns what would help streams that the disk pool limits because all of them read the same volume of it.
    fn of_one_volume(&self, spent: Spent, pool: &TapePool) -> &'static str {
        let by_volume =
            self.plan.migrate.as_ref().is_some_and(|migrate| migrate.order == MigrateOrder::ByVolume);
        let is_pool = matches!(spent, Spent::Data(node) if node == self.for_puts().id());
        if by_volume && pool.streams > 1 && is_pool {
            "; all of them read one of its volumes at a time (`migrate.order`)"
        } else {
            ""
        }
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
