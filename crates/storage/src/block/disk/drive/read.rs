//! How a drive reads.

use headrace_work::Op;

use super::outcome::{DataSource, Handled, Times};
use super::{Drive, MediaUse, whole};
use crate::block::disk::cache::CacheLookup;
use crate::block::disk::layout::SectorSpan;
use crate::block::disk::platter::PlatterAccess;

impl Drive {
    /// Answers a read.
    pub(super) fn read(&mut self, now: f64, span: SectorSpan) -> Times {
        let sequential = self.history.continues(Op::Read, span.first);
        match self.cache.lookup(span) {
            CacheLookup::All => self.read_from_cache(now, span, sequential),
            CacheLookup::Coming => self.read_as_it_comes(now, span, sequential),
            CacheLookup::Before(missing) => self.read_from_platter(now, span, missing, sequential),
        }
    }

    fn read_from_cache(&mut self, now: f64, span: SectorSpan, sequential: bool) -> Times {
        self.note_useful_ahead(now, span);
        self.cache.extend_reading_ahead(&self.platter, span, sequential);
        if self.cache.resume_reading_ahead(&self.platter, span.end, sequential) {
            self.actuator.rest_until(now + self.overhead_of_miss(Op::Read, span.first));
        }
        let ready = self.hit(now);
        let (sectors, each) = (span.sectors(), self.electronics.read.sector);
        let sent = self.bus.carry(ready + sectors as f64 * each, sectors, each);
        Times { ready, done: sent + self.electronics.read.completion }
    }

    /// Answers a read whose data, or the end of it, the drive is reading ahead.
    fn read_as_it_comes(&mut self, now: f64, span: SectorSpan, sequential: bool) -> Times {
        self.note_useful_ahead(now, span);
        let coming = self.cache.take_ahead(&self.platter, span, sequential);
        self.pass_over(SectorSpan { first: coming.first, end: span.first });
        let coming = SectorSpan { first: coming.first.max(span.first), ..coming };
        let access = self.access(self.actuator.free_at(), coming, Op::Read);
        self.handled = Handled::by(DataSource::ReadAhead, &access);
        let done = self.send(self.hit(now), span, &access) + self.electronics.read.completion;
        Times { ready: access.end, done }
    }

    /// Notes how long what is read ahead of a read takes to pass under the head.
    #[inline]
    fn note_useful_ahead(&mut self, now: f64, span: SectorSpan) {
        let sectors = self.cache.first_asked(span);
        if sectors > 0 {
            let passed_ns = self.platter.pass_ns(span.end - sectors, sectors);
            self.ahead.came(passed_ns, self.destaged_alone(whole(now)));
        }
    }

    /// Reads ahead what lies before the data that the host asks for.
    fn pass_over(&mut self, gap: SectorSpan) {
        if gap.first < gap.end {
            self.access(self.actuator.free_at(), gap, Op::Read);
        }
    }

    /// Answers a read that needs the platter for its sectors from `missing` on.
    fn read_from_platter(&mut self, now: f64, span: SectorSpan, missing: u64, sequential: bool) -> Times {
        let begin = now + self.overhead_of_miss(Op::Read, span.first);
        self.finish_owed();
        let access = self.access(begin, SectorSpan { first: missing, ..span }, Op::Read);
        self.handled = Handled::by(DataSource::Platter, &access);
        self.cache.keep_read(&self.platter, span, missing, &access, sequential);
        let transfer = if missing > span.first { self.hit(now) } else { self.reconnected(span, &access) };
        let done = self.send(transfer, span, &access) + self.electronics.read.completion;
        Times { ready: access.end, done }
    }

    /// Returns the time at which data that the cache holds, or begins to hold, can go to the host.
    fn hit(&self, now: f64) -> f64 {
        now + self.overhead(Op::Read, MediaUse::Hit) + self.electronics.data_preparation
    }

    /// Returns the time at which data of a read from the platter can go to the host: when enough of it is in the cache to reconnect.
    fn reconnected(&self, span: SectorSpan, access: &PlatterAccess) -> f64 {
        let watermark = ((span.sectors() as f64 * self.electronics.read.watermark) as u64).max(1);
        access.time_of(watermark) + self.electronics.reselect + self.electronics.data_preparation
    }

    /// Sends the data of a read, the last of it from `access`, from `begin` on: each sector when it has been read and the one
    /// before it has been sent. Returns when the last one has been.
    fn send(&mut self, begin: f64, span: SectorSpan, access: &PlatterAccess) -> f64 {
        let (each, mut left) = (self.electronics.read.sector, span.sectors());
        let mut done = begin + left as f64 * each;
        left = access.sectors();
        for sweep in &access.sweeps {
            let after_last = left - sweep.to_pass + 1;
            let first = sweep.begin + sweep.each + left as f64 * each;
            done = done.max(first).max(sweep.end() + after_last as f64 * each);
            left -= sweep.sectors;
        }
        self.bus.carry(done, span.sectors(), each)
    }
}
