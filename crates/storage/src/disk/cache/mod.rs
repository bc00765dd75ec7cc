//! A drive's cache: segments of what was read or written last, and how far the drive reads ahead into the newest.

mod buffer;
mod spec;

use super::layout::{SECTOR, Span};
use super::platter::{Access, Platter};

pub use buffer::WriteBuffer;
pub use spec::{CacheSpec, ReadAhead, Writes};

/// A cache.
#[derive(Clone, Debug)]
pub struct Cache {
    /// How many segments there may be; none without a cache.
    most: usize,
    /// How many sectors each holds.
    segment_sectors: u64,
    read_ahead: ReadAhead,
    read_ahead_sectors: u64,
    read_ahead_on_hit: bool,
    keeps_passing: bool,
    keeps_written: bool,
    /// The one used last comes last.
    segments: Vec<Span>,
    ahead: Option<Ahead>,
}

/// What the drive reads ahead, into the newest segment.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// The next sector.
    pub next: u64,
    /// It stops before this one.
    pub limit: u64,
}

/// What a cache has of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All sectors.
    All,
    /// The drive is reading ahead the last of them.
    Coming,
    /// The sectors before this one.
    Before(u64),
}

impl Cache {
    /// An empty cache; without a specification it stays empty.
    pub fn new(spec: Option<&CacheSpec>) -> Self {
        let segment_sectors = spec.map_or(0, |cache| cache.segment_size.0 / SECTOR);
        let read_ahead_most = spec.and_then(|cache| cache.read_ahead_most);
        Self {
            most: spec.map_or(0, |cache| cache.segments as usize),
            segment_sectors,
            read_ahead: spec.map_or(ReadAhead::Never, |cache| cache.read_ahead),
            read_ahead_sectors: read_ahead_most.map_or(segment_sectors, |most| most.0 / SECTOR),
            read_ahead_on_hit: spec.is_some_and(|cache| cache.read_ahead_on_hit),
            keeps_written: spec
                .is_some_and(|cache| cache.keeps_written.unwrap_or(cache.writes == Writes::Back)),
            keeps_passing: spec.is_some_and(|cache| cache.keeps_passing),
            segments: Vec::new(),
            ahead: None,
        }
    }

    /// Whether it holds all of `span` now.
    pub fn holds(&self, span: Span) -> bool {
        self.segments.iter().any(|segment| segment.covers(span))
    }

    /// What it has of a read. The segment where the read begins becomes the newest; if it was not, the drive stops reading ahead.
    #[inline]
    pub fn lookup(&mut self, span: Span) -> Found {
        let at = self.segments.iter().rposition(|segment| segment.holds(span.first));
        let newest = at.is_some_and(|at| at + 1 == self.segments.len());
        if self.is_coming(span, newest) {
            return Found::Coming;
        }
        let Some(at) = at else { return Found::Before(span.first) };
        if !newest {
            self.ahead = None;
        }
        let segment = self.segments.remove(at);
        self.segments.push(segment);
        if span.end > segment.end { Found::Before(segment.end) } else { Found::All }
    }

    #[inline]
    fn is_coming(&self, span: Span, in_newest: bool) -> bool {
        self.ahead.is_some_and(|ahead| (in_newest && span.end > ahead.next) || span.first == ahead.next)
    }

    /// What the drive reads ahead now.
    #[inline]
    pub fn ahead(&self) -> Option<Ahead> {
        self.ahead
    }

    /// The drive reads no further ahead.
    #[inline]
    pub fn stop_reading_ahead(&mut self) {
        self.ahead = None;
    }

    /// Lets the drive read ahead behind a read to `end`.
    pub fn start_reading_ahead(&mut self, platter: &Platter, end: u64, sequential: bool) {
        self.ahead = self.limit_behind(platter, end, sequential).map(|limit| Ahead { next: end, limit });
    }

    /// Moves the limit of what the drive reads ahead, as the host has read to `end`.
    #[inline]
    pub fn extend_reading_ahead(&mut self, platter: &Platter, end: u64, sequential: bool) {
        let limit = self.limit_behind(platter, end, sequential);
        if let (Some(ahead), Some(limit)) = (&mut self.ahead, limit) {
            ahead.limit = ahead.limit.max(limit);
        }
    }

    /// The host asks for data up to `end` of what the drive reads ahead: returns what of it is still to come, which counts as
    /// read.
    #[inline]
    pub fn take_ahead(&mut self, platter: &Platter, end: u64, sequential: bool) -> Span {
        self.extend_reading_ahead(platter, end, sequential);
        let next = self.ahead.map_or(end, |ahead| ahead.next);
        self.has_read_ahead(end);
        Span { first: next, end }
    }

    /// The drive has read ahead to before `next`.
    #[inline]
    pub fn has_read_ahead(&mut self, next: u64) {
        self.grow_newest(next);
        match &mut self.ahead {
            Some(ahead) if next < ahead.limit => ahead.next = next,
            _ => self.ahead = None,
        }
    }

    /// After a read to `end` that the newest segment answered: sets the drive reading on behind that segment, if it reads
    /// nothing ahead and does so on hits. Returns whether it does.
    #[inline]
    pub fn resume_reading_ahead(&mut self, platter: &Platter, end: u64, sequential: bool) -> bool {
        if !self.read_ahead_on_hit || self.ahead.is_some() {
            return false;
        }
        let next = self.segments.last().map_or(end, |newest| newest.end);
        let limit = self.limit_behind(platter, end, sequential).filter(|limit| *limit > next);
        self.ahead = limit.map(|limit| Ahead { next, limit });
        self.ahead.is_some()
    }

    /// Where the drive stops that reads ahead behind a read to `end`, if it does.
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

    /// How many sectors from `end` on lie on its track, with a track more where the newest segment begins before that track.
    fn to_next_track(&self, platter: &Platter, end: u64) -> u64 {
        let on_track = platter.on_track_after(end) + 1;
        let track_begins = end - platter.on_track_before(end);
        let begins_before = self.segments.last().is_some_and(|newest| newest.first < track_begins);
        if begins_before { on_track + platter.track_sectors(end - 1) } else { on_track }
    }

    /// Keeps a read whose sectors from `missing` on came from the platter by `access`, with what passed under the head before
    /// them and what the newest segment had.
    pub fn keep_read(&mut self, platter: &Platter, span: Span, missing: u64, access: &Access) {
        let joined = self.segments.last().filter(|segment| segment.end == missing);
        let first = joined.map_or(span.first, |segment| segment.first.min(span.first));
        let passed = self.passed(platter, missing, access);
        self.keep(Span { first: first.saturating_sub(passed), ..span });
    }

    /// How many sectors before `first` passed under the head while the drive waited for it, if the cache keeps them.
    fn passed(&self, platter: &Platter, first: u64, access: &Access) -> u64 {
        let Some(sweep) = access.sweeps.first().filter(|_| self.keeps_passing) else { return 0 };
        let passed = (access.waited_ns / sweep.each) as u64;
        passed.min(platter.on_track_before(first))
    }

    /// Puts a segment in the place of the one used least recently, and of those that it overlaps.
    pub fn keep(&mut self, segment: Span) {
        if self.most == 0 {
            return;
        }
        self.invalidate(segment);
        if self.segments.len() >= self.most {
            self.segments.remove(0);
        }
        self.segments.push(segment);
        self.grow_newest(segment.end);
    }

    /// A write changes `span`.
    pub fn write(&mut self, span: Span) {
        if self.keeps_written { self.keep(span) } else { self.invalidate(span) }
    }

    /// Drops every segment that overlaps `span`.
    pub fn invalidate(&mut self, span: Span) {
        self.segments.retain(|segment| !segment.overlaps(span));
    }

    /// The newest segment reaches to `end` now. It holds no more than it can: it drops what came first.
    #[inline]
    fn grow_newest(&mut self, end: u64) {
        if let Some(segment) = self.segments.last_mut() {
            *segment = Span { first: segment.first.max(end.saturating_sub(self.segment_sectors)), end };
        }
    }
}
