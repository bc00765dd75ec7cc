//! The parser: one line in, any number of requests out.

use std::collections::VecDeque;

use super::{CsvColumns, Devices, Raw, TraceFormat, ascii, blkparse, csv, fio, msr, spc, validate};

/// Parses the lines of one file.
pub struct Parser {
    /// The devices seen so far.
    pub devices: Devices,
    state: State,
}

/// What a format has to remember from line to line.
enum State {
    Validate,
    Ascii,
    Msr,
    Spc,
    Blkparse(blkparse::InFlight),
    Fio(fio::Log),
    Csv(Box<csv::Columns>),
}

impl Parser {
    /// A parser for a file in `format` that starts with the lines `sample`.
    pub fn new(format: &TraceFormat, sample: &[&[u8]]) -> Self {
        let state = match format {
            TraceFormat::Validate => State::Validate,
            TraceFormat::Ascii => State::Ascii,
            TraceFormat::Msr => State::Msr,
            TraceFormat::Spc => State::Spc,
            TraceFormat::Blkparse => State::Blkparse(blkparse::InFlight::new(b"D")),
            TraceFormat::BlkparseQueued => State::Blkparse(blkparse::InFlight::new(b"Q")),
            TraceFormat::FioLatency => State::Fio(fio::Log::new(fio::Value::LatencyNs, sample)),
            TraceFormat::FioBandwidth => State::Fio(fio::Log::new(fio::Value::KibPerSecond, sample)),
            TraceFormat::Headrace => State::Csv(Box::new(csv::Columns::new(CsvColumns::own()))),
            TraceFormat::Csv(columns) => State::Csv(Box::new(csv::Columns::new((**columns).clone()))),
        };
        Self { devices: Devices::default(), state }
    }

    /// Parses a line that is not blank and appends the requests it completes to `out`.
    ///
    /// # Errors
    /// A message that says what is wrong with the line.
    #[inline]
    pub fn line(&mut self, line: &[u8], out: &mut VecDeque<Raw>) -> Result<(), String> {
        let devices = &mut self.devices;
        let raw = match &mut self.state {
            State::Validate => validate::parse(line)?,
            State::Ascii => ascii::parse(line, devices)?,
            State::Msr => msr::parse(line, devices)?,
            State::Spc => spc::parse(line, devices)?,
            State::Fio(log) => log.parse(line)?,
            State::Blkparse(in_flight) => return in_flight.parse(line, devices, out),
            State::Csv(columns) => match columns.parse(line, devices)? {
                Some(raw) => raw,
                None => return Ok(()),
            },
        };
        out.push_back(raw);
        Ok(())
    }

    /// Appends the requests still incomplete at the end of the file.
    pub fn end(&mut self, out: &mut VecDeque<Raw>) {
        if let State::Blkparse(in_flight) = &mut self.state {
            in_flight.end(out);
        }
    }
}
