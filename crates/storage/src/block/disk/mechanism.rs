//! Service times by sampling: overhead, seek, rotation, transfer.

use headrace_kernel::RngStream;
use headrace_units::Nanos;
use headrace_work::{Block, Op, Request};

use super::numbers::DiskNumbers;
use super::spec::Positioning;
use super::zones::{SeekCurve, Zones};

/// A disk's mechanism: how long a request takes, given where the arm is.
#[derive(Clone, Debug)]
pub struct Mechanism {
    pub(super) positioning: Positioning,
    pub(super) overhead_ns: f64,
    pub(super) revolution_ns: f64,
    pub(super) capacity: u64,
    pub(super) zones: Zones,
    pub(super) read_seek: SeekCurve,
    pub(super) write_seek: SeekCurve,
}

impl Mechanism {
    /// The mechanism of a drive with these numbers.
    pub fn new(numbers: &DiskNumbers, positioning: Positioning) -> Self {
        let span = f64::from(numbers.cylinders.get() - 1);
        Self {
            positioning,
            overhead_ns: numbers.overhead.get().0 as f64,
            revolution_ns: 1e9 / numbers.rotation.get().get(),
            capacity: numbers.capacity.get().0,
            zones: Zones::new(numbers.media_rate_outer.get(), numbers.media_rate_inner.get()),
            read_seek: SeekCurve::new(&numbers.seek_read, span),
            write_seek: SeekCurve::new(&numbers.seek_write, span),
        }
    }

    /// How fast data passes under the head, in bytes a second, where the share `u` of the data lies outside.
    pub fn media_rate(&self, u: f64) -> f64 {
        1e9 / self.zones.transfer_ns(u, 1)
    }

    /// Returns the seek time over `distance`, a share of the full stroke, in ms.
    pub fn seek_ms(&self, op: Op, distance: f64) -> f64 {
        self.seek_curve(op).time_ns(distance) * 1e-6
    }

    /// Returns the time that a command takes besides its access.
    pub fn overhead(&self) -> Nanos {
        Nanos((self.overhead_ns + 0.5) as u64)
    }

    pub(super) fn seek_curve(&self, op: Op) -> &SeekCurve {
        match op {
            Op::Read => &self.read_seek,
            Op::Write | Op::Discard | Op::Flush => &self.write_seek,
        }
    }

    /// Returns the service time of a request with the arm at `from`, and the final position of the arm. Positions are shares of the data:
    /// 0 is the outermost byte, 1 the innermost.
    #[inline]
    pub(super) fn service(&self, from: f64, request: &Request<Block>, draws: RngStream) -> (Nanos, f64) {
        let (mut draws, block) = (draws.of(request.key), &request.work);
        let (from, to, transfer_at) = match self.positioning {
            Positioning::Addressed | Positioning::Mechanical => {
                let share = |byte: u64| byte as f64 / self.capacity as f64;
                (from, share(block.address), share(block.address))
            }
            Positioning::Coupled => {
                let to = draws.uniform();
                (draws.uniform(), to, to)
            }
            Positioning::Independent => (draws.uniform(), draws.uniform(), draws.uniform()),
        };
        let distance = (self.zones.radius(from) - self.zones.radius(to)).abs();
        let seek = self.seek_curve(block.op).time_ns(distance);
        let latency = draws.uniform() * self.revolution_ns;
        let transfer = self.zones.transfer_ns(transfer_at, block.bytes);
        let rest_at = (block.address + block.bytes) as f64 / self.capacity as f64;
        (Nanos((self.overhead_ns + seek + latency + transfer + 0.5) as u64), rest_at.min(1.0))
    }
}
