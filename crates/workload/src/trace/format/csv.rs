//! CSV with named columns: which column is what, and in which unit.

use headrace_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Devices, Raw};
use crate::trace::fields::{Fields, MOST, op, scaled};

/// Which column of a CSV file is what. The first line names the columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CsvColumns {
    /// When a request came, since any instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeColumn>,
    /// `R…` or `0` for reads, `W…` or `1` for writes, as the column of this name says.
    pub op: String,
    /// Its first byte.
    pub address: ByteColumn,
    /// How many bytes.
    pub size: ByteColumn,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<TimeColumn>,
    /// From its completion to the next request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<TimeColumn>,
    /// Which device it went to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// A column of times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TimeColumn {
    /// Its name.
    pub column: String,
    /// What 1 means there: `1 s`, `100 ns`.
    pub unit: Nanos,
}

/// A column of places or sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByteColumn {
    /// Its name.
    pub column: String,
    /// What 1 means there: `1 B`, `512 B`.
    pub unit: Bytes,
}

impl CsvColumns {
    /// headrace's own.
    pub fn own() -> Self {
        let time = |column: &str| Some(TimeColumn { column: column.to_owned(), unit: Nanos(1) });
        let bytes = |column: &str| ByteColumn { column: column.to_owned(), unit: Bytes(1) };
        Self {
            time: time("time_ns"),
            op: "op".to_owned(),
            address: bytes("address"),
            size: bytes("bytes"),
            response: time("response_ns"),
            think: time("think_ns"),
            device: Some("device".to_owned()),
        }
    }
}

/// Where the columns stand in the file being read; `None` before its first line.
pub struct Columns {
    named: CsvColumns,
    places: Option<Places>,
}

struct Places {
    time: Option<(usize, u64)>,
    op: usize,
    address: (usize, u64),
    size: (usize, u64),
    response: Option<(usize, u64)>,
    think: Option<(usize, u64)>,
    device: Option<usize>,
}

impl Columns {
    pub fn new(named: CsvColumns) -> Self {
        Self { named, places: None }
    }

    /// The request of a line; none for the first, which names the columns.
    #[inline]
    pub fn parse(&mut self, line: &[u8], devices: &mut Devices) -> Result<Option<Raw>, String> {
        if self.places.is_some() && memchr::memchr(b'"', line).is_some() {
            return Err("quoted fields are not understood; write the file without quotes".to_owned());
        }
        let fields = Fields::by_comma(line);
        let Some(places) = &self.places else {
            self.places = Some(places(&self.named, &fields)?);
            return Ok(None);
        };
        places.request(&fields, devices).map(Some)
    }
}

fn places(named: &CsvColumns, header: &Fields) -> Result<Places, String> {
    let times = [&named.time, &named.response, &named.think].into_iter().flatten();
    if times.map(|time| time.unit.0).chain([named.address.unit.0, named.size.unit.0]).any(|unit| unit == 0) {
        return Err("a unit of zero would make everything zero; give at least 1 ns or 1 B".to_owned());
    }
    let all =
        || (0..header.count).map(|at| String::from_utf8_lossy(header.get(at)).trim_matches('"').to_owned());
    let place = |name: &str| {
        all().position(|column| column == name).ok_or_else(|| {
            let known: Vec<String> = all().collect();
            format!(
                "there is no column `{name}` among the first {MOST}; the first line has {}",
                known.join(", ")
            )
        })
    };
    let time = |column: &Option<TimeColumn>| {
        column.as_ref().map(|column| Ok::<_, String>((place(&column.column)?, column.unit.0))).transpose()
    };
    let bytes = |column: &ByteColumn| Ok::<_, String>((place(&column.column)?, column.unit.0));
    Ok(Places {
        time: time(&named.time)?,
        op: place(&named.op)?,
        address: bytes(&named.address)?,
        size: bytes(&named.size)?,
        response: time(&named.response)?,
        think: time(&named.think)?,
        device: named.device.as_ref().map(|name| place(name)).transpose()?,
    })
}

impl Places {
    fn request(&self, fields: &Fields, devices: &mut Devices) -> Result<Raw, String> {
        // An empty field is a time that is not known.
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
