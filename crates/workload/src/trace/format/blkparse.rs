//! The text of `blkparse`, from its manual page: `major,minor cpu number seconds pid action rwbs sector + sectors [process]`.
//! A request is issued (D) and completed (C) by lines of their own; requests are given out in the order of their issue.

use std::collections::{BTreeMap, VecDeque};

use headrace_units::Nanos;

use super::{Devices, Raw, sectors};
use crate::request::Op;
use crate::trace::fields::{Fields, scaled, whole};

const FORM: &str = "major,minor cpu number seconds pid action rwbs sector + sectors";

/// An issue whose completion has not come while so many others were issued is given out without it.
const MOST: usize = 1 << 16;

/// Requests issued and not given out yet.
pub struct UnderWay {
    /// The action that begins a request.
    begins: &'static [u8],
    requests: VecDeque<Issued>,
    /// Where in `requests` what is under way at (device, address) stands, counted from the first ever issued; the first
    /// issued first.
    places: BTreeMap<(u32, u64), VecDeque<u64>>,
    given_out: u64,
}

struct Issued {
    raw: Raw,
    /// Bytes that are not completed yet.
    left: u64,
    /// It was taken back, and will be issued again.
    requeued: bool,
}

impl UnderWay {
    pub fn new(begins: &'static [u8]) -> Self {
        Self { begins, requests: VecDeque::new(), places: BTreeMap::new(), given_out: 0 }
    }

    pub fn parse(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        out: &mut VecDeque<Raw>,
    ) -> Result<(), String> {
        let line = line.trim_ascii_start();
        if is_summary(line) {
            return Ok(());
        }
        let fields = Fields::by_blank(line).at_least(6, FORM)?;
        let mut numbers = fields.get(0).split(|byte| *byte == b',');
        if !numbers.by_ref().take(2).all(|number| whole(number, "").is_ok()) || numbers.next().is_some() {
            return Err(format!("the line does not begin as `{FORM}`"));
        }
        let (action, rwbs) = (fields.get(5), fields.get(6));
        let op = match (rwbs.contains(&b'R'), rwbs.contains(&b'W')) {
            (true, false) => Op::Read,
            (false, true) => Op::Write,
            _ => return Ok(()), // A flush, a discard, a message, or nothing at all.
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
            _ => {}
        }
        self.give_out(out, MOST);
        Ok(())
    }

    fn issue(&mut self, raw: Raw) {
        let place = self.given_out + self.requests.len() as u64;
        self.places.entry((raw.device, raw.address.unwrap_or(0))).or_default().push_back(place);
        self.requests.push_back(Issued { raw, left: raw.bytes, requeued: false });
    }

    /// The first issued of those under way that begin at or before `address` and reach beyond it, and its key.
    fn find(&mut self, device: u32, address: u64) -> Option<((u32, u64), &mut Issued)> {
        let (key, places) = self.places.range(..=(device, address)).next_back()?;
        let place = places.front()?.checked_sub(self.given_out)?;
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

    /// The first issued at `key` is no longer under way.
    fn forget(&mut self, key: (u32, u64)) {
        if let Some(places) = self.places.get_mut(&key) {
            places.pop_front();
            if places.is_empty() {
                self.places.remove(&key);
            }
        }
    }

    /// Gives out what is over, in order, and what is more than `most`.
    fn give_out(&mut self, out: &mut VecDeque<Raw>, most: usize) {
        while let Some(first) = self.requests.front()
            && (first.left == 0 || first.requeued || self.requests.len() > most)
        {
            let key = (first.raw.device, first.raw.address.unwrap_or(0));
            if self.places.get(&key).and_then(VecDeque::front) == Some(&self.given_out) {
                self.forget(key);
            }
            self.given_out += 1;
            out.extend(self.requests.pop_front().filter(|issued| !issued.requeued).map(|issued| issued.raw));
        }
    }

    pub fn end(&mut self, out: &mut VecDeque<Raw>) {
        self.give_out(out, 0);
    }
}

/// The tables that `blkparse` prints at the end.
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
