//! One parsed request.

use headrace_units::Nanos;
use headrace_work::Op;

/// A request ends at most here: offsets of files and block devices are signed 64-bit numbers (`off_t`), so no device is
/// larger.
const END: u64 = 1 << 63;

/// Largest request, 1 TiB. The largest of a real device is far below: 4 GiB in Linux's block layer. The bound keeps sums of
/// sizes exact, and the time for one line short.
const LARGEST: u64 = 1 << 40;

/// A request as parsed from its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raw {
    /// Arrival time in ns, from the format's own origin.
    pub time_ns: Option<u64>,
    /// Index of the device in [`Devices`](super::Devices).
    pub device: u32,
    /// Read or write.
    pub op: Op,
    /// Address of the first byte.
    pub address: Option<u64>,
    /// Size in bytes; at least 1.
    pub bytes: u64,
    /// Response time.
    pub response: Option<Nanos>,
    /// Think time: from the completion of this request to the next.
    pub think: Option<Nanos>,
}

impl Raw {
    /// A request without times. An impossible size or address is an error.
    #[inline]
    pub fn new(op: Op, address: Option<u64>, bytes: u64) -> Result<Self, String> {
        let first = address.unwrap_or(0);
        if (1..=LARGEST).contains(&bytes) && first <= END - bytes {
            return Ok(Self { time_ns: None, device: 0, op, address, bytes, response: None, think: None });
        }
        Err(impossible(first, bytes))
    }
}

#[cold]
fn impossible(address: u64, bytes: u64) -> String {
    let why = match bytes {
        0 => "the size is zero",
        1..=LARGEST => "it ends beyond 2^63 bytes",
        _ => "the maximum size is 2^40 bytes (1 TiB)",
    };
    format!("invalid request for {bytes} bytes at address {address}: {why}")
}
