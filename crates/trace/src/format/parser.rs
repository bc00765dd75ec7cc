//! The parser: one line in, any number of requests out.

use std::collections::VecDeque;

use super::{CsvColumns, Devices, Raw, TraceFormat, ascii, blkparse, csv, fio, msr, spc, validate};

/// Parses the lines of one file.
pub struct Parser {
    /// The devices seen so far.
    pub devices: Devices,
    state: ParserState,
}

/// State that a format keeps from line to line.
enum ParserState {
    Validate,
    Ascii,
    Msr,
    Spc,
    Blkparse(blkparse::InFlight),
    Fio(fio::LogKind),
    Csv(Box<csv::CsvParser>),
}

impl Parser {
    /// A parser for a file in `format` that starts with the lines `sample`.
    pub fn new(format: &TraceFormat, sample: &[&[u8]]) -> Self {
        let state = match format {
            TraceFormat::Validate => ParserState::Validate,
            TraceFormat::Ascii => ParserState::Ascii,
            TraceFormat::Msr => ParserState::Msr,
            TraceFormat::Spc => ParserState::Spc,
            TraceFormat::Blkparse => ParserState::Blkparse(blkparse::InFlight::new(b"D")),
            TraceFormat::BlkparseQueued => ParserState::Blkparse(blkparse::InFlight::new(b"Q")),
            TraceFormat::FioLatency => ParserState::Fio(fio::LogKind::new(fio::LogValue::LatencyNs, sample)),
            TraceFormat::FioBandwidth => {
                ParserState::Fio(fio::LogKind::new(fio::LogValue::KibPerSecond, sample))
            }
            TraceFormat::Headrace => ParserState::Csv(Box::new(csv::CsvParser::new(CsvColumns::own()))),
            TraceFormat::Csv(columns) => ParserState::Csv(Box::new(csv::CsvParser::new((**columns).clone()))),
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
            ParserState::Validate => validate::parse(line)?,
            ParserState::Ascii => ascii::parse(line, devices)?,
            ParserState::Msr => msr::parse(line, devices)?,
            ParserState::Spc => spc::parse(line, devices)?,
            ParserState::Fio(log) => log.parse(line)?,
            ParserState::Blkparse(in_flight) => return in_flight.parse(line, devices, out),
            ParserState::Csv(columns) => match columns.parse(line, devices)? {
                Some(raw) => raw,
                None => return Ok(()),
            },
        };
        out.push_back(raw);
        Ok(())
    }

    /// Appends the requests still incomplete at the end of the file.
    pub fn end(&mut self, out: &mut VecDeque<Raw>) {
        if let ParserState::Blkparse(in_flight) = &mut self.state {
            in_flight.end(out);
        }
    }
}
