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
    /// The action that begins a request: `D`, or `Q` where there is no `D`.
    begins: &'static [u8],
    requests: VecDeque<Issued>,
    /// Where in `requests` what is under way at (device, sector) stands, counted from the first ever issued.
    places: BTreeMap<(u32, u64), u64>,
    given_out: u64,
}

struct Issued {
    raw: Raw,
    over: bool,
}

impl UnderWay {
    pub fn new(sample: &[&[u8]]) -> Self {
        let issues = sample.iter().any(|line| Fields::by_blank(line).get(5) == b"D");
        Self {
            begins: if issues { b"D" } else { b"Q" },
            requests: VecDeque::new(),
            places: BTreeMap::new(),
            given_out: 0,
        }
    }

    pub fn parse(
        &mut self,
        line: &[u8],
        devices: &mut Devices,
        out: &mut VecDeque<Raw>,
    ) -> Result<(), String> {
        if !line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit) {
            return Ok(()); // The summary at the end.
        }
        let fields = Fields::by_blank(line).at_least(7, FORM)?;
        let (action, rwbs) = (fields.get(5), fields.get(6));
        let op = match (rwbs.contains(&b'R'), rwbs.contains(&b'W')) {
            (true, false) => Op::Read,
            (false, true) => Op::Write,
            _ => return Ok(()), // A flush, a discard, or nothing at all.
        };
        if fields.get(8) != b"+" || !(action == self.begins || action == b"C") {
            return Ok(());
        }
        let time_ns = scaled(fields.get(3), 1_000_000_000, "time in seconds")?;
        let address = sectors(fields.get(7), "sector number")?;
        let device = devices.number(fields.get(0))?;
        if action == b"C" {
            self.complete((device, address), time_ns);
        } else if whole(fields.get(9), "number of sectors")? > 0 {
            let bytes = sectors(fields.get(9), "number of sectors")?;
            self.issue(Raw { time_ns: Some(time_ns), device, ..Raw::new(op, Some(address), bytes)? });
        }
        self.give_out(out, MOST);
        Ok(())
    }

    fn issue(&mut self, raw: Raw) {
        let place = self.given_out + self.requests.len() as u64;
        self.places.insert((raw.device, raw.address.unwrap_or(0)), place);
        self.requests.push_back(Issued { raw, over: false });
    }

    fn complete(&mut self, request: (u32, u64), now: u64) {
        let place = self.places.remove(&request).and_then(|place| place.checked_sub(self.given_out));
        if let Some(issued) = place.and_then(|place| self.requests.get_mut(place as usize)) {
            issued.raw.response = Some(Nanos(now.saturating_sub(issued.raw.time_ns.unwrap_or(now))));
            issued.over = true;
        }
    }

    /// Gives out what is over, in order, and what is more than `most`.
    fn give_out(&mut self, out: &mut VecDeque<Raw>, most: usize) {
        while let Some(first) = self.requests.front()
            && (first.over || self.requests.len() > most)
        {
            let key = (first.raw.device, first.raw.address.unwrap_or(0));
            if self.places.get(&key) == Some(&self.given_out) {
                self.places.remove(&key);
            }
            self.given_out += 1;
            out.extend(self.requests.pop_front().map(|issued| issued.raw));
        }
    }

    pub fn end(&mut self, out: &mut VecDeque<Raw>) {
        self.give_out(out, 0);
    }
}
