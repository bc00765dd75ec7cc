//! Durations of messages in frames, and the messages of SCSI over serial wires.

use super::{LaneProtocol, Tenancy};
use crate::fabric::path_transfer::Sender::{Controller, Disk};

/// SCSI over Fibre Channel (FCP) and over SAS (SSP): a command with a 16-byte SCSI command in it, the disk's word that it is ready
/// for the data of a write, and the status without sense data.
pub(crate) const FCP: LaneProtocol = LaneProtocol {
    read: [&[COMMAND], &[Tenancy { has_data: true, ..STATUS }]],
    write: [&[COMMAND, READY, DATA], &[STATUS]],
};
const COMMAND: Tenancy = Tenancy { sender: Controller, has_data: false, message: 32, more: 0 };
const READY: Tenancy = Tenancy { sender: Disk, has_data: false, message: 12, more: 0 };
const DATA: Tenancy = Tenancy { sender: Controller, has_data: true, message: 0, more: 0 };
const STATUS: Tenancy = Tenancy { sender: Disk, has_data: false, message: 24, more: 0 };

/// Frames on a wire, and those at its ends.
#[derive(Clone, Copy)]
pub(crate) struct Frames {
    pub ns_per_byte: f64,
    /// Bytes of data in a full frame.
    pub payload: u64,
    /// Bytes of a frame beside its payload, including the gap to the next.
    pub overhead: u64,
    /// Frames that may be sent before the first is acknowledged.
    pub credit: u32,
    /// Duration of an acknowledgement, in ns.
    pub round_ns: f64,
}

impl Frames {
    /// From the first to the last byte of frames with `data` bytes and of one with a `message` after them, in ns; zero bytes
    /// take no frame. A frame waits for its credit, which comes back with the acknowledgement of an earlier frame.
    pub fn ns_for(&self, data: u64, message: u64) -> f64 {
        let groups = [(data / self.payload, self.payload), (1, data % self.payload), (1, message)];
        let mut last = None;
        let mut sum = 0.0;
        for (frames, bytes) in groups.into_iter().filter(|(frames, bytes)| *frames > 0 && *bytes > 0) {
            let frame = self.frame_ns(bytes);
            let to_next = frame.max((frame + self.round_ns) / f64::from(self.credit));
            sum += frames as f64 * to_next;
            last = Some(frame - to_next);
        }
        sum + last.unwrap_or(0.0)
    }

    /// A frame is sent in words of four bytes.
    fn frame_ns(&self, bytes: u64) -> f64 {
        (bytes.next_multiple_of(4) + self.overhead) as f64 * self.ns_per_byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: Frames =
        Frames { ns_per_byte: 10.0, payload: 2048, overhead: 60, credit: 4, round_ns: 0.0 };

    #[test]
    fn frames_follow_each_other_where_credit_suffices() {
        assert_eq!(FRAMES.ns_for(0, 0), 0.0);
        assert_eq!(FRAMES.ns_for(0, COMMAND.message), 920.0);
        assert_eq!(FRAMES.ns_for(4096, 0), 2.0 * 21_080.0);
        assert_eq!(FRAMES.ns_for(4097, STATUS.message), 2.0 * 21_080.0 + 640.0 + 840.0);
    }

    #[test]
    fn one_credit_is_stop_and_wait() {
        let frames = Frames { credit: 1, round_ns: 5000.0, ..FRAMES };
        assert_eq!(frames.ns_for(3 * 2048, 0), 3.0 * 21_080.0 + 2.0 * 5000.0);
        assert_eq!(frames.ns_for(2048, STATUS.message), 21_080.0 + 5000.0 + 840.0);
    }
}
