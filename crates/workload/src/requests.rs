//! Making the requests of a stream.

use headrace_kernel::Stream;
use headrace_units::Bytes;
use headrace_work::{Ask, Block, Op, SizeSpec};

use crate::files::{Extents, InFiles};
use crate::pattern::Pattern;
use crate::spec::StreamSpec;

/// Makes the requests of a stream, one number after another.
#[derive(Clone, Debug)]
pub struct Requests {
    stream: Stream,
    reads: f64,
    /// What those do that are not reads.
    otherwise: Op,
    size: SizeSpec,
    /// Where the addresses of the pattern count from.
    from: u64,
    pattern: Pattern,
    /// Where they lie, instead of the pattern.
    files: Option<InFiles>,
    made: u64,
}

impl Requests {
    /// The requests of `spec`, to a component that holds `capacity` bytes.
    pub fn new(spec: &StreamSpec, capacity: u64, stream: Stream) -> Self {
        let (from, footprint) = spec.addressed(Bytes(capacity));
        let pattern = Pattern::new(spec.pattern, footprint.0, spec.alignment().0);
        Self {
            stream,
            reads: spec.op.reads(),
            otherwise: spec.op.otherwise(),
            size: spec.size.clone(),
            from: from.0,
            pattern,
            files: None,
            made: 0,
        }
    }

    /// The same requests, one after another in files.
    #[must_use]
    pub fn in_files(self, extents: Option<Extents>) -> Self {
        Self { files: extents.map(InFiles::new), ..self }
    }

    /// The next request. It is written in place: moving it costs as much as drawing it.
    #[inline]
    pub fn make(&mut self, ask: &mut Ask<Block>) {
        let number = self.made;
        self.made += 1;
        let key = self.stream.key(number);
        let mut draws = self.stream.of(number);
        let op = match self.reads {
            1.0 => Op::Read,
            0.0 => self.otherwise,
            reads if draws.chance(reads) => Op::Read,
            _ => self.otherwise,
        };
        let bytes = self.size.draw(&mut draws).0;
        let address = match &mut self.files {
            Some(files) => files.address(bytes),
            None => self.from + self.pattern.address(bytes, &mut draws),
        };
        (ask.root, ask.key, ask.work) = (key, key, Block { op, address, bytes });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{ArrivalSpec, OpSpec, PatternSpec, Region, WhenFull};

    const KIB: u64 = 1024;

    fn addresses(pattern: PatternSpec, region: Region) -> Vec<u64> {
        let spec = StreamSpec {
            from: None,
            to: "disk".to_owned(),
            arrivals: ArrivalSpec::Every(headrace_units::Nanos(1)),
            op: OpSpec::Read,
            size: SizeSpec::Fixed(Bytes(4 * KIB)),
            pattern,
            align: None,
            footprint: None,
            region: Some(region),
            file: None,
            files: None,
            placement: None,
            outstanding: None,
            when_full: WhenFull::Wait,
            timeout: None,
            priority: 0,
        };
        let mut requests = Requests::new(&spec, 1000 * KIB, Stream::named(1, "users", "requests"));
        let mut ask = Ask::BLANK;
        let mut next = || {
            requests.make(&mut ask);
            ask.work.address
        };
        (0..500).map(|_| next()).collect()
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
