//! Streaming: a drive that is starved, or not emptied, must stop, go back and start again.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a drive does where data comes too slowly for its tape, or leaves too slowly: it stops, goes back, and starts again once its buffer is
/// full, or empty.
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
    /// bridge them.
    pub fn starved(&self, bytes: u64, time: Nanos) -> (u64, Nanos) {
        let (rate, least, buffer) =
            (bytes as f64 / time.secs().max(1e-12), self.min_rate.get(), self.buffer.0 as f64);
        if rate >= least {
            return (0, Nanos::ZERO);
        }
        // With the tape moving, the buffer of a write empties by the difference of the rates.
        let between = least * buffer / (least - rate);
        let hitches = (bytes as f64 / between) as u64;
        let lost = (self.back_hitch.secs() - buffer / rate).max(0.0);
        (hitches, Nanos::from_secs(lost * hitches as f64))
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
        let second = Nanos(1_000_000_000);
        assert_eq!(drive(1_000_000).starved(3_000_000, second), (0, Nanos::ZERO), "it streams");
        // At 1 MB/s a buffer of 1 MB lasts for 1.5 MB: 20 hitches in 30 MB, each of which the full buffer bridges for 1 of its 2 s.
        assert_eq!(drive(1_000_000).starved(30_000_000, Nanos(30_000_000_000)), (20, Nanos(20_000_000_000)));
        // A buffer of 4 MB bridges them.
        assert_eq!(drive(4_000_000).starved(30_000_000, Nanos(30_000_000_000)), (5, Nanos::ZERO));
    }
}
