//! How long messages last on the wire.

/// Bytes of a frame beside its payload: start 4, header 24, checksum 4, end 4, and the six idle words of four bytes that
/// follow it at least (FC-PH; Fabric OS 7.3 Administrator's Guide, "Frame format").
const OVERHEAD: u64 = 60;

/// Bytes of the messages of SCSI over Fibre Channel (FCP): a command with a 16-byte SCSI command in it, the disk's word that
/// it is ready for the data of a write, and the status without sense data.
pub(super) const COMMAND: u64 = 32;
pub(super) const READY: u64 = 12;
pub(super) const STATUS: u64 = 24;

/// A wire, and those at its ends.
#[derive(Clone, Copy)]
pub(super) struct Wire {
    pub ns_per_byte: f64,
    /// Bytes of data in a full frame.
    pub payload: u64,
    /// Frames that may be sent before the first is acknowledged.
    pub credit: u32,
    /// Once round the loop, in ns: how long an acknowledgement takes.
    pub round_ns: f64,
}

impl Wire {
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
        (bytes.next_multiple_of(4) + OVERHEAD) as f64 * self.ns_per_byte
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRE: Wire = Wire { ns_per_byte: 10.0, payload: 2048, credit: 4, round_ns: 0.0 };

    #[test]
    fn frames_follow_each_other_where_credit_suffices() {
        assert_eq!(WIRE.ns_for(0, 0), 0.0);
        assert_eq!(WIRE.ns_for(0, COMMAND), 920.0);
        assert_eq!(WIRE.ns_for(4096, 0), 2.0 * 21_080.0);
        assert_eq!(WIRE.ns_for(4097, STATUS), 2.0 * 21_080.0 + 640.0 + 840.0);
    }

    #[test]
    fn one_credit_is_stop_and_wait() {
        let wire = Wire { credit: 1, round_ns: 5000.0, ..WIRE };
        assert_eq!(wire.ns_for(3 * 2048, 0), 3.0 * 21_080.0 + 2.0 * 5000.0);
        assert_eq!(wire.ns_for(2048, STATUS), 21_080.0 + 5000.0 + 840.0);
    }
}
