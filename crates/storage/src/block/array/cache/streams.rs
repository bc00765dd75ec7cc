//! Streams of sequential reads, and how far ahead of each the cache fetches.

use super::span::ByteSpan;

/// Streams that are remembered; of more the one used least recently is forgotten.
const MOST: usize = 64;

/// Streams of sequential reads.
#[derive(Clone, Debug)]
pub struct ReadStreams {
    /// The one used last comes last.
    streams: Vec<ReadStream>,
    numbers: u64,
    /// The stream that data is fetched for, and how much was.
    turn: u64,
    run: u64,
    rules: Rules,
}

/// Parameters of read-ahead, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Distance read ahead of a stream.
    pub window: u64,
    /// Bytes fetched for one stream before turning to the next.
    pub run: u64,
    /// Data of a stripe, and the most that it fetches at once.
    pub stripe: u64,
    pub most: u64,
    /// True if neighbouring stripes are fetched as one, up to the target of a stream.
    pub joins: bool,
    /// End of the array.
    pub capacity: u64,
}

#[derive(Clone, Copy, Debug)]
struct ReadStream {
    number: u64,
    /// Start of its expected next read.
    next: u64,
    /// Up to where data was, or is being, fetched for it, and up to where it is to be.
    picked: u64,
    target: u64,
}

impl ReadStreams {
    /// No streams yet.
    pub fn new(rules: Rules) -> Self {
        Self { streams: Vec::new(), numbers: 0, turn: 0, run: 0, rules }
    }

    /// Notes a read. One that begins where another ended continues its stream, and sets the target of what is fetched for it.
    pub fn note(&mut self, read: ByteSpan) {
        if self.rules.window == 0 {
            return;
        }
        let known = self.streams.iter().position(|stream| stream.next == read.from);
        let mut stream = match known {
            Some(at) => self.streams.remove(at),
            None => self.begin(read.from),
        };
        if known.is_some() {
            stream.target = (read.to + self.rules.window).min(self.rules.capacity);
            stream.picked = stream.picked.max(read.from);
        }
        stream.next = read.to;
        self.streams.push(stream);
    }

    fn begin(&mut self, at: u64) -> ReadStream {
        if self.streams.len() == MOST {
            self.streams.remove(0);
        }
        self.numbers += 1;
        ReadStream { number: self.numbers, next: at, picked: at, target: at }
    }

    /// Returns true if some of a span is yet to be fetched ahead.
    pub fn will_fetch(&self, span: ByteSpan) -> bool {
        self.streams.iter().any(|stream| stream.picked <= span.from && span.from < stream.target)
    }

    /// Returns the next span to fetch: the rest of a stripe, or of all stripes up to the target. The stream whose turn it is
    /// keeps it for a run.
    pub fn pick(&mut self) -> Option<ByteSpan> {
        let wants = |stream: &&mut ReadStream| stream.picked < stream.target;
        let turn = self.turn;
        let going_on = self.run < self.rules.run;
        let mut wanting: Vec<&mut ReadStream> = self.streams.iter_mut().filter(wants).collect();
        wanting.sort_unstable_by_key(|stream| stream.number);
        // The one whose turn it is, or the next by number, round the end.
        let at = wanting.partition_point(|stream| stream.number < turn + u64::from(!going_on));
        let many = wanting.len();
        let stream = wanting.into_iter().nth(if at < many { at } else { 0 })?;
        if stream.number != turn || !going_on {
            (self.turn, self.run) = (stream.number, 0);
        }
        let Rules { stripe, most, joins, capacity, .. } = self.rules;
        let left = self.rules.run - self.run;
        let furthest = (stream.picked + left.min(most)) / stripe * stripe;
        let joined = stream.target.next_multiple_of(stripe).min(furthest).min(capacity);
        let one = ByteSpan { from: stream.picked, to: capacity }.first(most, stripe);
        let rest = if joins { ByteSpan { to: joined.max(one.to), ..one } } else { one };
        stream.picked = rest.to;
        self.run += rest.bytes();
        Some(rest)
    }
}
