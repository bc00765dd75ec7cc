//! Sequential requests: those that continue a recent request on the same device.

/// Number of preceding requests of a device that a sequential request may continue.
const STREAMS: usize = 32;

/// Counts sequential requests.
#[derive(Default)]
pub struct Sequential {
    /// For each device, a ring of the latest ends and the index of the newest.
    ends: Vec<([u64; STREAMS], usize)>,
    /// Sequential requests so far.
    pub count: u64,
}

impl Sequential {
    #[inline]
    pub fn add(&mut self, device: u32, address: u64, end: u64) {
        let device = device as usize;
        if self.ends.len() <= device {
            self.ends.resize(device + 1, ([u64::MAX; STREAMS], 0));
        }
        let (ends, newest) = &mut self.ends[device];
        // Comparing all of them without a branch lets the compiler vectorise.
        self.count += u64::from(ends.iter().fold(false, |found, end| found | (*end == address)));
        *newest = (*newest + 1) % STREAMS;
        ends[*newest] = end;
    }
}
