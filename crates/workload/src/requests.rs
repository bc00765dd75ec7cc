//! Making the requests of a stream.

use headrace_kernel::Stream;
use headrace_work::{Ask, Block, Op, SizeSpec};

use crate::pattern::Pattern;
use crate::spec::StreamSpec;

/// Makes the requests of a stream, one number after another.
#[derive(Clone, Debug)]
pub struct Requests {
    stream: Stream,
    reads: f64,
    size: SizeSpec,
    pattern: Pattern,
    made: u64,
}

impl Requests {
    /// The requests of `spec`, to a component that holds `capacity` bytes.
    pub fn new(spec: &StreamSpec, capacity: u64, stream: Stream) -> Self {
        let footprint = spec.footprint.map_or(capacity, |bytes| bytes.0.min(capacity));
        let pattern = Pattern::new(spec.pattern, footprint, spec.alignment().0);
        Self { stream, reads: spec.op.reads(), size: spec.size.clone(), pattern, made: 0 }
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
            0.0 => Op::Write,
            reads if draws.chance(reads) => Op::Read,
            _ => Op::Write,
        };
        let bytes = self.size.draw(&mut draws).0;
        let address = self.pattern.address(bytes, &mut draws);
        (ask.root, ask.key, ask.work) = (key, key, Block { op, address, bytes });
    }
}
