//! Output of `blkparse`, as in its manual page: `major,minor cpu number seconds pid action rwbs sector + sectors [process]`.
//! Issue (D) and completion (C) of a request are separate lines. Requests are returned in order of issue.

use std::collections::{BTreeMap, VecDeque};

use headrace_units::Nanos;
use headrace_work::Op;

use super::{Devices, LineParser, Raw, sectors};
use crate::fields::{Fields, scaled, whole};

const FORM: &str = "major,minor cpu number seconds pid action rwbs sector + sectors";

/// Maximum number of requests in flight. The oldest is returned without a completion when there are more.
const MOST: usize = 1 << 16;

/// Requests issued and not yet returned.
pub struct InFlight {
    /// The action that starts a request.
    begins: &'static [u8],
    requests: VecDeque<Issued>,
    /// The requests in flight at (device, address), oldest first, as numbers in order of issue.
    places: BTreeMap<(u32, u64), VecDeque<u64>>,
    /// Number of requests returned: the number of the first in `requests`.
    returned: u64,
    /// Number of discards and flushes.
    left_out: u64,
}

struct Issued {
    raw: Raw,
    /// Bytes not completed yet.
    left: u64,
    /// Returned to the queue; it will be issued again.
    requeued: bool,
}

impl InFlight {
    pub fn new(begins: &'static [u8]) -> Self {
        Self { begins, requests: VecDeque::new(), places: BTreeMap::new(), returned: 0, left_out: 0 }
    }

    fn issue(&mut self, raw: Raw) {
        let place = self.returned + self.requests.len() as u64;
        self.places.entry((raw.device, raw.address.unwrap_or(0))).or_default().push_back(place);
        self.requests.push_back(Issued { raw, left: raw.bytes, requeued: false });
    }

    /// The oldest request in flight at the highest address that is not above `address`, and its key, if it contains `address`.
    fn find(&mut self, device: u32, address: u64) -> Option<((u32, u64), &mut Issued)> {
        let (key, places) = self.places.range(..=(device, address)).next_back()?;
        let place = places.front()?.checked_sub(self.returned)?;
        let issued = self.requests.get_mut(place as usize)?;
        (key.0 == device && address < key.1 + issued.raw.bytes).then_some((*key, issued))
    }

    fn complete(&mut self, device: u32, address: u64, bytes: u64, now: u64) {
        let Some((key, issued)) = self.find(device, address) else { return };
        issued.left = issued.left.saturating_sub(bytes);
        if issued.left == 0 {
            issued.raw.response = Some(Nanos(now.saturating_sub(issued.raw.time_ns.unwrap_or(now))));
            self.forget(key);
        }
    }

    fn requeue(&mut self, device: u32, address: u64) {
        if let Some((key, issued)) = self.find(device, address) {
            issued.requeued = true;
            self.forget(key);
        }
    }

    /// Removes the oldest request at `key`.
    fn forget(&mut self, key: (u32, u64)) {
        if let Some(places) = self.places.get_mut(&key) {
            places.pop_front();
            if places.is_empty() {
                self.places.remove(&key);
            }
        }
    }

    /// Returns finished requests in order of issue, and unfinished ones beyond the newest `most`.
    fn return_finished(&mut self, out: &mut VecDeque<Raw>, most: usize) {
        while let Some(first) = self.requests.front()
            && (first.left == 0 || first.requeued || self.requests.len() > most)
        {
            let key = (first.raw.device, first.raw.address.unwrap_or(0));
            if self.places.get(&key).and_then(VecDeque::front) == Some(&self.returned) {
                self.forget(key);
            }
            self.returned += 1;
            out.extend(self.requests.pop_front().filter(|issued| !issued.requeued).map(|issued| issued.raw));
        }
    }
}

impl LineParser for InFlight {
    fn line(&mut self, line: &[u8], devices: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        let line = line.trim_ascii_start();
        if is_summary(line) {
            return Ok(());
        }
        let fields = Fields::by_blank(line).at_least(6, FORM)?;
        let mut numbers = fields.get(0).split(|byte| *byte == b',');
        if !numbers.by_ref().take(2).all(|number| whole(number, "").is_ok()) || numbers.next().is_some() {
            return Err(format!("the line does not match `{FORM}`"));
        }
        let (action, rwbs) = (fields.get(5), fields.get(6));
        let op = match (rwbs.contains(&b'R'), rwbs.contains(&b'W')) {
            (true, false) => Op::Read,
            (false, true) => Op::Write,
            _ => {
                // A message or nothing has neither of these.
                let is_other = rwbs.contains(&b'D') || rwbs.contains(&b'F');
                self.left_out += u64::from(action == self.begins && is_other);
                return Ok(());
            }
        };
        if fields.get(8) != b"+" || !(action == self.begins || action == b"C" || action == b"R") {
            return Ok(());
        }
        let time_ns = scaled(fields.get(3), 1_000_000_000, "time in seconds")?;
        let address = sectors(fields.get(7), "sector number")?;
        let bytes = sectors(fields.get(9), "number of sectors")?;
        let device = devices.number(fields.get(0))?;
        match action {
            b"C" => self.complete(device, address, bytes, time_ns),
            b"R" => self.requeue(device, address),
            _ if bytes > 0 => {
                self.issue(Raw { time_ns: Some(time_ns), device, ..Raw::new(op, Some(address), bytes)? });
            }
            _ => self.left_out += 1,
        }
        self.return_finished(out, MOST);
        Ok(())
    }

    fn end(&mut self, out: &mut VecDeque<Raw>) {
        self.return_finished(out, 0);
    }

    fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// True for a line of the summary that `blkparse` prints at the end.
fn is_summary(line: &[u8]) -> bool {
    let words: [&[u8]; 12] = [
        b"CPU",
        b"Total",
        b"Reads",
        b"Read ",
        b"PC Reads",
        b"PC Read",
        b"IO unplugs",
        b"Throughput",
        b"Events",
        b"Skips",
        b"Input",
        b"Rundown",
    ];
    words.iter().any(|word| line.starts_with(word))
}
