//! A drive's cache: segments of what was read or written last, and how far the drive reads ahead into the newest.

mod buffer;
mod spec;
mod writers;

use super::layout::{SECTOR, SectorSpan};
use super::platter::{Platter, PlatterAccess};

pub use buffer::{Intake, WriteBuffer};
pub use spec::{AliceReading, CacheSpec, ReadAhead, Writes};

/// A cache.
#[derive(Clone, Debug)]
pub struct DiskCache {
    /// Maximum number of segments; zero without a cache.
    most: usize,
    /// Sectors per segment.
    segment_sectors: u64,
    read_ahead: ReadAhead,
    read_ahead_sectors: u64,
    read_ahead_least: u64,
    read_ahead_on_hit: bool,
    keeps_passing: bool,
    keeps_written: bool,
    /// The one used last comes last.
    segments: Vec<Segment>,
    ahead: Option<Ahead>,
}

/// Sectors that the cache holds, and the stream that reads them.
#[derive(Clone, Copy, Debug)]
struct Segment {
    held: SectorSpan,
    /// End of the last read, and the number of sectors read sequentially up to there.
    read_to: u64,
    run: u64,
    /// Before which sector the host has asked for all that it holds.
    asked: u64,
}

/// Read-ahead of the drive, into the segment that ends there.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// The next sector.
    pub next: u64,
    /// First sector that is not read ahead.
    pub limit: u64,
    /// Sector up to which the drive reads even if commands wait.
    pub least: u64,
}

impl Ahead {
    /// Returns true if the drive must read on before its arm does anything else.
    pub fn is_owed(&self) -> bool {
        self.next < self.least
    }
}

/// State of a read's sectors in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheLookup {
    /// All sectors.
    All,
    /// The drive is reading ahead the last of them.
    Coming,
    /// The sectors before this one.
    Before(u64),
}

impl DiskCache {
    /// An empty cache; without a specification it stays empty.
    pub fn new(spec: Option<&CacheSpec>) -> Self {
        let segment_sectors = spec.map_or(0, |cache| cache.segment_size.0 / SECTOR);
        let read_ahead_most = spec.and_then(|cache| cache.read_ahead_most);
        Self {
            most: spec.map_or(0, |cache| cache.segments as usize),
            segment_sectors,
            read_ahead: spec.map_or(ReadAhead::Never, |cache| cache.read_ahead),
            read_ahead_sectors: read_ahead_most.map_or(segment_sectors, |most| most.0 / SECTOR),
            read_ahead_least: spec
                .and_then(|cache| cache.read_ahead_least)
                .map_or(0, |least| least.0 / SECTOR),
            read_ahead_on_hit: spec.is_some_and(|cache| cache.read_ahead_on_hit),
            keeps_written: spec
                .is_some_and(|cache| cache.keeps_written.unwrap_or(cache.writes == Writes::Back)),
            keeps_passing: spec.is_some_and(|cache| cache.keeps_passing),
            segments: Vec::new(),
            ahead: None,
        }
    }

    /// Forgets all that it holds, and what it reads ahead.
    pub fn clear(&mut self) {
        self.segments.clear();
        self.ahead = None;
    }

    /// Returns the state of a read's sectors in the cache.
    pub fn find(&self, span: SectorSpan) -> CacheLookup {
        self.find_in(span).1
    }

    /// The segment where a read begins, and what the cache has of it.
    #[inline]
    fn find_in(&self, span: SectorSpan) -> (Option<usize>, CacheLookup) {
        let at = self.segments.iter().rposition(|segment| segment.held.holds(span.first));
        if let Some(filling) = self.filling().filter(|filling| self.is_coming(span, at, *filling)) {
            return (Some(filling), CacheLookup::Coming);
        }
        let found = match at.map(|at| self.segments[at].held.end) {
            Some(end) if end >= span.end => CacheLookup::All,
            Some(end) => CacheLookup::Before(end),
            None => CacheLookup::Before(span.first),
        };
        (at, found)
    }

    /// Looks up a read that is served now. The segment where the read begins becomes the newest; into any other segment the drive reads
    /// no further ahead than it must.
    #[inline]
    pub fn lookup(&mut self, span: SectorSpan) -> CacheLookup {
        let (at, found) = self.find_in(span);
        if let Some(at) = at {
            if self.filling() != Some(at) {
                self.cut_reading_ahead();
            }
            let segment = self.segments.remove(at);
            self.segments.push(segment);
        }
        found
    }

    /// Returns true if the drive is about to read the end of the span. A read can begin further on, for example where an array skips its
    /// parity: the sectors between pass under the head on the way.
    #[inline]
    fn is_coming(&self, span: SectorSpan, held_in: Option<usize>, filling: usize) -> bool {
        let Some(ahead) = self.ahead else { return false };
        match held_in {
            Some(at) if at == filling => span.end > ahead.next,
            Some(_) => span.first == ahead.next,
            None => ahead.next <= span.first && span.first < ahead.limit,
        }
    }

    /// The segment into which the drive reads ahead.
    #[inline]
    fn filling(&self) -> Option<usize> {
        let next = self.ahead?.next;
        self.segments.iter().rposition(|segment| segment.held.end == next)
    }

    /// Returns the current read-ahead.
    #[inline]
    pub fn ahead(&self) -> Option<Ahead> {
        self.ahead
    }

    /// The drive reads no further ahead than it must.
    #[inline]
    pub fn cut_reading_ahead(&mut self) {
        let owed = self.ahead.filter(Ahead::is_owed);
        self.ahead = owed.map(|ahead| Ahead { limit: ahead.least, ..ahead });
    }

    /// Returns the number of sectors up to the end of a read, answered by the newest segment, that were read ahead and not asked for
    /// before. Sectors that the read skips, such as an array's parity, count as read ahead.
    #[inline]
    pub fn first_asked(&self, span: SectorSpan) -> u64 {
        self.segments.last().map_or(0, |newest| span.end.saturating_sub(newest.asked))
    }

    /// Moves the limits of what the drive reads ahead, as the host has read `span` of the newest segment.
    #[inline]
    pub fn extend_reading_ahead(&mut self, platter: &Platter, span: SectorSpan, sequential: bool) {
        let run = self.run_to(span.first);
        self.note_read(span, run);
        if self.filling() != self.segments.len().checked_sub(1) {
            return;
        }
        let behind = self.behind(platter, span.end, sequential, run);
        if let (Some(ahead), Some(behind)) = (&mut self.ahead, behind) {
            ahead.limit = ahead.limit.max(behind.limit);
            ahead.least = ahead.least.max(behind.least);
        }
    }

    /// The host asks for `span`, the end of which the drive is reading ahead: returns what of it is still to come, which counts as
    /// read.
    #[inline]
    pub fn take_ahead(&mut self, platter: &Platter, span: SectorSpan, sequential: bool) -> SectorSpan {
        self.extend_reading_ahead(platter, span, sequential);
        let next = self.ahead.map_or(span.end, |ahead| ahead.next);
        self.has_read_ahead(span.end);
        SectorSpan { first: next, end: span.end }
    }

    /// The drive has read ahead to before `next`.
    #[inline]
    pub fn has_read_ahead(&mut self, next: u64) {
        let filling = self.filling();
        self.ahead = self.ahead.filter(|ahead| next < ahead.limit);
        if let Some(ahead) = &mut self.ahead {
            ahead.next = next;
        }
        if let Some(at) = filling {
            self.grow(at, next);
        }
    }

    /// Returns the number of sectors read sequentially up to `first`, as far as the cache remembers. Skipped sectors count as read if
    /// they are in the segment or about to enter it.
    #[inline]
    fn run_to(&self, first: u64) -> u64 {
        if self.read_ahead_least == 0 {
            return 0;
        }
        let (filling, limit) = (self.filling(), self.ahead.map_or(0, |ahead| ahead.limit));
        let reach = |at| if filling == Some(at) { limit } else { self.segments[at].held.end };
        let goes_on = |at: &usize| self.segments[*at].read_to <= first && first <= reach(*at);
        (0..self.segments.len()).rfind(goes_on).map_or(0, |at| self.segments[at].run)
    }

    /// Notes in the newest segment that the host has read `span`, and `run` sectors one after another before.
    #[inline]
    fn note_read(&mut self, span: SectorSpan, run: u64) {
        if let Some(segment) = self.segments.last_mut() {
            (segment.read_to, segment.run) = (span.end, run + span.sectors());
            segment.asked = segment.asked.max(span.end);
        }
    }

    /// Returns the read-ahead behind a read to `end`, preceded by `run` sequential sectors: at least those are read even if commands
    /// wait.
    #[inline]
    fn behind(&self, platter: &Platter, end: u64, sequential: bool, run: u64) -> Option<Ahead> {
        let limit = self.limit_behind(platter, end, sequential)?;
        Some(Ahead { next: end, limit, least: limit.min(end + self.read_ahead_least.min(run)) })
    }

    /// After a read to `end` that the newest segment answered: sets the drive reading on behind that segment, if it reads
    /// nothing ahead and does so on hits. It gives way to whatever comes, since nothing has been sought for it. Returns whether it
    /// does.
    #[inline]
    pub fn resume_reading_ahead(&mut self, platter: &Platter, end: u64, sequential: bool) -> bool {
        if !self.read_ahead_on_hit || self.ahead.is_some() {
            return false;
        }
        let next = self.segments.last().map_or(end, |newest| newest.held.end);
        let run = self.segments.last().map_or(0, |newest| newest.run);
        let behind = self.behind(platter, end, sequential, run).filter(|behind| behind.limit > next);
        self.ahead = behind.map(|behind| Ahead { next, least: next, ..behind });
        self.ahead.is_some()
    }

    /// Returns the sector at which read-ahead behind a read to `end` stops; `None` without read-ahead.
    #[inline]
    fn limit_behind(&self, platter: &Platter, end: u64, sequential: bool) -> Option<u64> {
        let left = platter.sectors().saturating_sub(end);
        let most = match self.read_ahead {
            ReadAhead::Never => 0,
            ReadAhead::Sequential if !sequential => 0,
            ReadAhead::Always | ReadAhead::Sequential => left.min(self.read_ahead_sectors),
            ReadAhead::Track => platter.on_track_after(end - 1).min(self.read_ahead_sectors),
            ReadAhead::NextTrack if left == 0 => 0,
            ReadAhead::NextTrack => self.to_next_track(platter, end).min(left),
        };
        (most > 0).then(|| end + most)
    }

    /// Returns the number of sectors from `end` to the end of its track, plus one track if the newest segment begins before that track.
    fn to_next_track(&self, platter: &Platter, end: u64) -> u64 {
        let on_track = platter.on_track_after(end) + 1;
        let track_begins = end - platter.on_track_before(end);
        let begins_before = self.segments.last().is_some_and(|newest| newest.held.first < track_begins);
        if begins_before { on_track + platter.track_sectors(end - 1) } else { on_track }
    }

    /// Keeps a read whose sectors from `missing` on came from the platter by `access`, with what passed under the head before
    /// them and what the newest segment had. The drive then reads ahead behind it.
    pub fn keep_read(
        &mut self,
        platter: &Platter,
        span: SectorSpan,
        missing: u64,
        access: &PlatterAccess,
        sequential: bool,
    ) {
        let run = self.run_to(span.first);
        let joined = self.segments.last().map(|segment| segment.held).filter(|held| held.end == missing);
        let first = joined.map_or(span.first, |held| held.first.min(span.first));
        let passed = self.passed(platter, missing, access);
        self.keep(SectorSpan { first: first.saturating_sub(passed), ..span });
        self.note_read(span, run);
        self.ahead = self.behind(platter, span.end, sequential, run);
    }

    /// Returns the number of sectors before `first` that passed under the head while the drive waited for it, if the cache keeps them.
    fn passed(&self, platter: &Platter, first: u64, access: &PlatterAccess) -> u64 {
        let Some(sweep) = access.sweeps.first().filter(|_| self.keeps_passing) else { return 0 };
        let passed = (access.waited_ns / sweep.each) as u64;
        passed.min(platter.on_track_before(first))
    }

    /// Replaces the segment used least recently, and of those that it overlaps.
    pub fn keep(&mut self, held: SectorSpan) {
        if self.most == 0 {
            return;
        }
        self.invalidate(held);
        if self.segments.len() >= self.most {
            self.segments.remove(0);
            self.stop_without_segment();
        }
        self.segments.push(Segment { held, read_to: held.end, run: 0, asked: held.end });
        self.grow(self.segments.len() - 1, held.end);
    }

    /// A write changes `span`.
    pub fn write(&mut self, span: SectorSpan) {
        if self.keeps_written { self.keep(span) } else { self.invalidate(span) }
    }

    /// Drops every segment that overlaps `span`.
    pub fn invalidate(&mut self, span: SectorSpan) {
        self.segments.retain(|segment| !segment.held.overlaps(span));
        self.stop_without_segment();
    }

    /// Reads no further ahead, owed or not, if the segment is gone into which it went.
    #[inline]
    fn stop_without_segment(&mut self) {
        if self.ahead.is_some() && self.filling().is_none() {
            self.ahead = None;
        }
    }

    /// A segment reaches to `end` now. It holds no more than it can: it drops what came first.
    #[inline]
    fn grow(&mut self, at: usize, end: u64) {
        let held = &mut self.segments[at].held;
        *held = SectorSpan { first: held.first.max(end.saturating_sub(self.segment_sectors)), end };
    }
}
