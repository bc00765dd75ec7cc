//! Streaming: a drive that is starved, or not emptied, must stop, go back and start again.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Behaviour of a drive whose data comes too slowly for its tape, or leaves too slowly: it stops, repositions, and starts again once its
/// buffer is full, or empty.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Streaming {
    /// Lowest rate at which the tape moves; a drive that matches its speed to the host has one below its maximum.
    pub min_rate: BytesPerSecond,
    /// Capacity of the drive's buffer.
    pub buffer: Bytes,
    /// Time of a back-hitch: stop, go back, and start.
    pub back_hitch: Nanos,
}

impl Streaming {
    /// The number of back-hitches while `bytes` came in `time`, and the time that the host lost by them: as far as the buffer could not
    /// bridge them. `drained` is the share of the buffer that the data before has used up, and is updated: data that follows without a
    /// pause goes on with the same buffer, however it is divided into files.
    pub fn starved(&self, bytes: u64, time: Nanos, drained: &mut f64) -> (u64, Nanos) {
        let (rate, least, buffer) =
            (bytes as f64 / time.secs().max(1e-12), self.min_rate.get(), self.buffer.0 as f64);
        if rate >= least {
            return (0, Nanos::ZERO);
        }
        // With the tape moving, the buffer of a write empties by the difference of the rates.
        let between = least * buffer / (least - rate);
        let buffers = *drained + bytes as f64 / between;
        let hitches = libm::floor(buffers);
        *drained = buffers - hitches;
        let lost = (self.back_hitch.secs() - buffer / rate).max(0.0);
        (hitches as u64, Nanos::from_secs(lost * hitches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hitches_cost_what_the_buffer_cannot_bridge() {
        let drive = |buffer| Streaming {
            min_rate: BytesPerSecond(3e6),
            buffer: Bytes(buffer),
            back_hitch: Nanos(2_000_000_000),
        };
        let starved =
            |buffer, bytes, secs: u64| drive(buffer).starved(bytes, Nanos(secs * 1_000_000_000), &mut 0.0);
        assert_eq!(starved(1_000_000, 3_000_000, 1), (0, Nanos::ZERO), "it streams");
        // At 1 MB/s a buffer of 1 MB lasts for 1.5 MB: 20 hitches in 30 MB, each of which the full buffer bridges for 1 of its 2 s.
        assert_eq!(starved(1_000_000, 30_000_000, 30), (20, Nanos(20_000_000_000)));
        // A buffer of 4 MB bridges them.
        assert_eq!(starved(4_000_000, 30_000_000, 30), (5, Nanos::ZERO));
        // In pieces of half of what the buffer lasts for: each second one has a hitch.
        let mut drained = 0.0;
        let piece = |_| drive(1_000_000).starved(750_000, Nanos(750_000_000), &mut drained).0;
        assert_eq!((0..40).map(piece).collect::<Vec<_>>(), [0, 1].repeat(20));
    }
}
