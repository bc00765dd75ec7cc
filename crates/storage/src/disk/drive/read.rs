//! How a drive reads.

use headrace_work::Op;

use super::outcome::{Handled, Source, Times};
use super::{Drive, Lookup};
use crate::disk::cache::Found;
use crate::disk::layout::Span;
use crate::disk::platter::Access;

impl Drive {
    /// Answers a read.
    pub(super) fn read(&mut self, now: f64, span: Span) -> Times {
        let sequential = self.history.continues(Op::Read, span.first);
        match self.cache.lookup(span) {
            Found::All => self.read_from_cache(now, span, sequential),
            Found::Coming => self.read_as_it_comes(now, span, sequential),
            Found::Before(missing) => self.read_from_platter(now, span, missing, sequential),
        }
    }

    fn read_from_cache(&mut self, now: f64, span: Span, sequential: bool) -> Times {
        self.cache.extend_reading_ahead(&self.platter, span, sequential);
        let ready = now + self.overhead(Op::Read, Lookup::Hit);
        let (sectors, each) = (span.sectors(), self.electronics.read.sector);
        let sent = self.bus.carry(ready + sectors as f64 * each, sectors, each);
        Times { ready, done: sent + self.electronics.read.completion }
    }

    /// Answers a read whose data, or the end of it, the drive is reading ahead.
    fn read_as_it_comes(&mut self, now: f64, span: Span, sequential: bool) -> Times {
        let coming = self.cache.take_ahead(&self.platter, span, sequential);
        let access = self.access(self.actuator.free_at(), coming, Op::Read);
        self.handled = Handled::by(Source::ReadAhead, &access);
        let (ready, sectors, each) = (access.end, span.sectors(), self.electronics.read.sector);
        let transfer = now + self.overhead(Op::Read, Lookup::Hit) + sectors as f64 * each;
        let sent = self.bus.carry(transfer.max(ready + each), sectors, each);
        Times { ready, done: sent + self.electronics.read.completion }
    }

    /// Answers a read that needs the platter for its sectors from `missing` on.
    fn read_from_platter(&mut self, now: f64, span: Span, missing: u64, sequential: bool) -> Times {
        let begin = now + self.overhead_of_miss(Op::Read, span.first);
        self.finish_owed();
        let access = self.access(begin, Span { first: missing, ..span }, Op::Read);
        self.handled = Handled::by(Source::Platter, &access);
        self.cache.keep_read(&self.platter, span, missing, &access, sequential);
        let transferred = self.transferred(&access, span.sectors());
        let sent = self.bus.carry(transferred, span.sectors(), self.electronics.read.sector);
        let done = sent + self.electronics.reselect + self.electronics.read.completion;
        Times { ready: access.end, done }
    }

    /// When the host has all data of a read by `access`: transfer begins at the watermark, and no sector goes before it was read.
    fn transferred(&self, access: &Access, sectors: u64) -> f64 {
        let each = self.electronics.read.sector;
        let read_now: u64 = access.sweeps.iter().map(|sweep| sweep.sectors).sum();
        let mut read = sectors - read_now;
        let watermark = ((sectors as f64 * self.electronics.read.watermark) as u64).max(1);
        let mut done = access.time_of(watermark.saturating_sub(read)) + sectors as f64 * each;
        for sweep in &access.sweeps {
            read += sweep.sectors;
            done = done.max(sweep.end() + (sectors - read + 1) as f64 * each);
        }
        done
    }
}
