//! Making the requests of a stream.

use headrace_kernel::RngStream;
use headrace_units::Bytes;
use headrace_work::{Block, Op, Request, SizeSpec};

use crate::files::{Extents, InFiles};
use crate::pattern::Pattern;
use crate::spec::StreamSpec;

/// Makes the requests of a stream, one number after another.
#[derive(Clone, Debug)]
pub struct Requests {
    stream: RngStream,
    reads: f64,
    /// Operation of requests that are not reads.
    otherwise: Op,
    size: SizeSpec,
    /// Sizes of writes, where they have their own.
    write_size: Option<SizeSpec>,
    /// First address of the pattern.
    from: u64,
    pattern: Pattern,
    /// Files that hold the addresses, instead of the pattern.
    files: Option<InFiles>,
    /// The request, if all are alike.
    alike: Option<Block>,
    made: u64,
    /// Writes between flushes, and those since the last.
    flush_every: Option<u32>,
    unflushed: u32,
    durable: bool,
}

impl Requests {
    /// The requests of `spec`, to a component that holds `capacity` bytes.
    pub fn new(spec: &StreamSpec, capacity: u64, stream: RngStream) -> Self {
        let (from, footprint) = spec.addressed(Bytes(capacity));
        let pattern = Pattern::new(spec.pattern, footprint.0, spec.alignment().0);
        Self {
            stream,
            reads: spec.op.reads(),
            otherwise: spec.op.otherwise(),
            size: spec.size.clone(),
            write_size: spec.write_size.clone(),
            from: from.0,
            pattern,
            files: None,
            alike: None,
            made: 0,
            flush_every: spec.flush_every,
            unflushed: 0,
            durable: spec.durable,
        }
    }

    /// Places these requests one after another in files.
    #[must_use]
    pub fn in_files(self, extents: Option<Extents>) -> Self {
        Self { files: extents.map(InFiles::new), ..self }
    }

    /// Drops the addresses of these requests, for a user that never looks at them: if nothing else is drawn for a request, nothing is.
    #[must_use]
    pub fn without_addresses(self) -> Self {
        let op = match self.reads {
            1.0 => Some(Op::Read),
            0.0 => Some(self.otherwise),
            _ => None,
        };
        let alike = match (op, self.size_of(op.unwrap_or(Op::Read))) {
            (Some(op), SizeSpec::Fixed(Bytes(bytes))) => {
                Some(Block { op, address: self.from, bytes: *bytes })
            }
            _ => None,
        };
        Self { alike, ..self }
    }

    /// The next request. It is written in place: moving it costs as much as drawing it.
    #[inline(always)] // A call costs a third of it.
    pub fn make(&mut self, request: &mut Request<Block>) {
        let number = self.made;
        self.made += 1;
        let key = self.stream.key(number);
        (request.root, request.key) = (key, key);
        request.durable = self.durable;
        if self.flush_every.is_some_and(|every| self.unflushed >= every) {
            self.unflushed = 0;
            request.work = Block::FLUSH;
            return;
        }
        request.work = self.alike.unwrap_or_else(|| self.draw(number));
        self.unflushed += u32::from(self.flush_every.is_some() && request.work.op == Op::Write);
    }

    #[inline]
    fn size_of(&self, op: Op) -> &SizeSpec {
        match &self.write_size {
            Some(size) if op == Op::Write => size,
            _ => &self.size,
        }
    }

    #[inline]
    fn draw(&mut self, number: u64) -> Block {
        let mut draws = self.stream.of(number);
        let op = match self.reads {
            1.0 => Op::Read,
            0.0 => self.otherwise,
            reads if draws.chance(reads) => Op::Read,
            _ => self.otherwise,
        };
        let bytes = self.size_of(op).draw(&mut draws).0;
        let address = match &mut self.files {
            Some(files) => files.address(bytes),
            None => self.from + self.pattern.address(bytes, &mut draws),
        };
        Block { op, address, bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ArrivalSpec, OpSpec, PatternSpec, Region, WhenFull};

    const KIB: u64 = 1024;

    fn spec(pattern: PatternSpec, region: Option<Region>) -> StreamSpec {
        StreamSpec {
            from: None,
            to: "disk".to_owned(),
            arrivals: ArrivalSpec::Every(headrace_units::Nanos(1)),
            op: OpSpec::Read,
            size: SizeSpec::Fixed(Bytes(4 * KIB)),
            write_size: None,
            pattern,
            align: None,
            footprint: None,
            region,
            file: None,
            files: None,
            placement: None,
            outstanding: None,
            when_full: WhenFull::Wait,
            timeout: None,
            priority: 0,
            cause: headrace_work::Cause::Host,
            flush_every: None,
            durable: false,
        }
    }

    fn addresses(pattern: PatternSpec, region: Region) -> Vec<u64> {
        let mut requests =
            Requests::new(&spec(pattern, Some(region)), 1000 * KIB, RngStream::named(1, "users", "requests"));
        let mut request = Request::BLANK;
        let mut next = || {
            requests.make(&mut request);
            request.work.address
        };
        (0..500).map(|_| next()).collect()
    }

    /// A request that is not looked at is the same but for its address.
    #[test]
    fn without_addresses_everything_else_stays() {
        let spec = |op| StreamSpec { op, ..spec(PatternSpec::Uniform, None) };
        for op in [OpSpec::Read, OpSpec::Write, OpSpec::Reads(headrace_units::Fraction(0.3))] {
            let all = Requests::new(&spec(op), 1000 * KIB, RngStream::named(1, "users", "requests"));
            let (mut some, mut all) = (all.clone().without_addresses(), all);
            let (mut one, mut other) = (Request::BLANK, Request::BLANK);
            for _ in 0..100 {
                some.make(&mut one);
                all.make(&mut other);
                let address = other.work.address;
                assert_eq!(Request { work: Block { address, ..one.work }, ..one }, other);
            }
        }
    }

    /// Requests lie side by side from the beginning of the region, and around again at its end.
    #[test]
    fn a_stream_stays_in_its_region() {
        let region = Region { from: Bytes(401 * KIB), size: Bytes(15 * KIB) };
        assert_eq!(
            addresses(PatternSpec::Sequential, region)[..4],
            [401, 405, 409, 401].map(|kib| kib * KIB)
        );
        let drawn: std::collections::BTreeSet<u64> =
            addresses(PatternSpec::Uniform, region).into_iter().collect();
        assert_eq!(drawn.into_iter().collect::<Vec<_>>(), [401, 405, 409].map(|kib| kib * KIB));
    }
}
