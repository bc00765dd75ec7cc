//! CSV: the meaning and unit of each column.

use std::collections::VecDeque;

use headrace_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Devices, LineParser, Raw};
use crate::fields::{Fields, MOST, op, scaled};

/// The columns of a CSV file, by their names in the header line; or by their numbers, in a file without one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvColumns {
    /// Arrival time, from any origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeColumn>,
    /// Name of the operation column: `r`, `read` or `0` for a read; `w`, `write` or `1` for a write, in either case.
    pub op: ColumnName,
    /// Address of the first byte.
    pub address: ByteColumn,
    /// Size.
    pub size: ByteColumn,
    /// Response time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<TimeColumn>,
    /// Think time: from the completion of this request to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<TimeColumn>,
    /// Name of the device column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<ColumnName>,
}

/// A column by its name in the header line, or by its number from 1 on. If all columns have numbers, the file has no header line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ColumnName {
    /// By its number, from 1 on.
    Numbered(#[schemars(range(min = 1, max = 16))] usize),
    /// By its name.
    Named(String),
}

impl From<&str> for ColumnName {
    fn from(name: &str) -> Self {
        Self::Named(name.to_owned())
    }
}

/// A time column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeColumn {
    /// Name of the column.
    pub column: ColumnName,
    /// Unit of its values: `1 s`, `100 ns`.
    pub unit: Nanos,
}

/// A column of addresses or sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByteColumn {
    /// Name of the column.
    pub column: ColumnName,
    /// Unit of its values: `1 B`, `512 B`.
    pub unit: Bytes,
}

impl CsvColumns {
    /// The columns of headrace's own format.
    pub fn own() -> Self {
        let time = |column: &str| Some(TimeColumn { column: column.into(), unit: Nanos(1) });
        let bytes = |column: &str| ByteColumn { column: column.into(), unit: Bytes(1) };
        Self {
            time: time("time_ns"),
            op: "op".into(),
            address: bytes("address"),
            size: bytes("bytes"),
            response: time("response_ns"),
            think: time("think_ns"),
            device: Some("device".into()),
        }
    }
}

/// Parses the lines of a CSV file. `places` is `None` before the header.
pub struct CsvParser {
    named: CsvColumns,
    places: Option<ColumnPlaces>,
}

/// Index of each column and unit of its values.
struct ColumnPlaces {
    time: Option<(usize, u64)>,
    op: usize,
    address: (usize, u64),
    size: (usize, u64),
    response: Option<(usize, u64)>,
    think: Option<(usize, u64)>,
    device: Option<usize>,
}

impl CsvParser {
    pub fn new(named: CsvColumns) -> Self {
        Self { named, places: None }
    }

    /// Returns true if the file has no header line.
    fn is_numbered(&self) -> bool {
        let CsvColumns { time, op, address, size, response, think, device } = &self.named;
        let times = [time, response, think].into_iter().flatten().map(|time| &time.column);
        let mut all = times.chain([op, &address.column, &size.column]).chain(device);
        all.all(|column| matches!(column, ColumnName::Numbered(_)))
    }
}

impl LineParser for CsvParser {
    #[inline]
    fn line(&mut self, line: &[u8], devices: &mut Devices, out: &mut VecDeque<Raw>) -> Result<(), String> {
        if self.places.is_some() && memchr::memchr(b'"', line).is_some() {
            return Err("quoted fields are not supported; remove the quotes".to_owned());
        }
        let fields = Fields::by_comma(line);
        if self.places.is_none() {
            self.places = Some(places(&self.named, &fields)?);
            if !self.is_numbered() {
                return Ok(());
            }
        }
        if let Some(places) = &self.places {
            out.push_back(places.request(&fields, devices)?);
        }
        Ok(())
    }
}

fn places(named: &CsvColumns, header: &Fields) -> Result<ColumnPlaces, String> {
    let times = [&named.time, &named.response, &named.think].into_iter().flatten();
    if times.map(|time| time.unit.0).chain([named.address.unit.0, named.size.unit.0]).any(|unit| unit == 0) {
        return Err("the unit of a column is zero; use at least 1 ns or 1 B".to_owned());
    }
    let all =
        || (0..header.count).map(|at| String::from_utf8_lossy(header.get(at)).trim_matches('"').to_owned());
    let place = |name: &ColumnName| match name {
        ColumnName::Numbered(at) if (1..=header.count).contains(at) => Ok(at - 1),
        ColumnName::Numbered(at) => {
            Err(format!("there is no column {at}: the first line has {}{}", header.count, separated(header)))
        }
        ColumnName::Named(name) => all().position(|column| column == *name).ok_or_else(|| {
            let known = all().collect::<Vec<_>>().join(", ");
            let first = format!("no column `{name}` among the first {MOST}; the first line has {known}");
            format!("{first}{}, or give columns by number: `column: 1`", separated(header))
        }),
    };
    let time = |column: &Option<TimeColumn>| {
        column.as_ref().map(|column| Ok::<_, String>((place(&column.column)?, column.unit.0))).transpose()
    };
    let bytes = |column: &ByteColumn| Ok::<_, String>((place(&column.column)?, column.unit.0));
    Ok(ColumnPlaces {
        time: time(&named.time)?,
        op: place(&named.op)?,
        address: bytes(&named.address)?,
        size: bytes(&named.size)?,
        response: time(&named.response)?,
        think: time(&named.think)?,
        device: named.device.as_ref().map(place).transpose()?,
    })
}

/// Returns what to do where a line is one field, since others separate fields otherwise.
fn separated(line: &Fields) -> &'static str {
    let is_other = |byte: &u8| matches!(byte, b';' | b'\t' | b'|');
    if line.count == 1 && line.get(0).iter().any(is_other) { "; separate fields by commas" } else { "" }
}

impl ColumnPlaces {
    fn request(&self, fields: &Fields, devices: &mut Devices) -> Result<Raw, String> {
        // An empty field is an unknown time.
        let time = |place: Option<(usize, u64)>| match place {
            Some((at, unit)) if !fields.get(at).is_empty() => scaled(fields.get(at), unit, "time").map(Some),
            _ => Ok(None),
        };
        let bytes = |(at, unit): (usize, u64), what| scaled(fields.get(at), unit, what);
        let (address, size) = (bytes(self.address, "address")?, bytes(self.size, "size")?);
        let device = self.device.map_or(Ok(0), |at| devices.number(fields.get(at)))?;
        let raw = Raw::new(op(fields.get(self.op))?, Some(address), size)?;
        Ok(Raw {
            time_ns: time(self.time)?,
            response: time(self.response)?.map(Nanos),
            think: time(self.think)?.map(Nanos),
            device,
            ..raw
        })
    }
}
