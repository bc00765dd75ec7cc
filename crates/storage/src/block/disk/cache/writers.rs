//! Streams of writes to a drive, for the reading of the ALICE paper in which each keeps a segment.

use crate::block::disk::layout::SectorSpan;

/// A stream is open until others have written this number of sectors (64 MiB): twice what an array of 32 MiB runs brings a disk between
/// two runs of one stream, for four streams over four disks of data. An estimate.
const OPEN_FOR: u64 = (64 << 20) / 512;

/// The streams that write to a drive, by where their next write begins. The one that wrote last comes last.
#[derive(Clone, Debug, Default)]
pub struct Writers {
    open: Vec<Writer>,
    written: u64,
}

#[derive(Clone, Copy, Debug)]
struct Writer {
    next: u64,
    /// Sectors that all streams had written when it wrote last.
    at: u64,
}

impl Writers {
    /// Notes a write that may skip as much as it is long: the parity of an array lies between its data. Returns how many streams
    /// are open.
    pub fn note(&mut self, write: SectorSpan) -> u64 {
        let near = |writer: &Writer| (writer.next..=writer.next + write.sectors()).contains(&write.first);
        if let Some(at) = self.open.iter().rposition(near) {
            self.open.remove(at);
        }
        self.written += write.sectors();
        let written = self.written;
        self.open.retain(|writer| written - writer.at <= OPEN_FOR);
        self.open.push(Writer { next: write.end, at: written });
        self.open.len() as u64
    }
}
