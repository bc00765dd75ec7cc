//! A line of a log: columns by name.

use std::collections::BTreeMap;

use headrace_units::Nanos;
use headrace_work::{DriveUse, FileAct, FileOp, TapePlace, number_of};

use crate::fields::{Fields, MOST, scaled, shown, whole};

/// A larger file is refused: sums of sizes then have room.
const LARGEST: u64 = 1 << 50;

/// One operation of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// When, after the beginning of the run.
    pub at: Nanos,
    pub op: FileOp,
    /// The size of the file, where the log has it beside what was moved.
    pub size: Option<u64>,
    /// True if the file was read from tape; `None` if not logged.
    pub staged: Option<bool>,
    /// Where on tape it lies, where the log says so.
    pub place: Option<TapePlace>,
    pub measured: Option<Nanos>,
    /// True if the log says that the file has no bytes.
    pub is_empty: bool,
}

/// Reads lines by the columns that the first names.
#[derive(Default)]
pub struct LogLines {
    places: Option<LineColumns>,
    /// Time at which the run begins and that of the last operation, in ns on the log's clock.
    begins_ns: Option<u64>,
    last_ns: u64,
    /// The names of users by their numbers; `None` where nobody wants them.
    users: Option<BTreeMap<u64, String>>,
}

/// Users whose names are kept, at most.
const MOST_USERS: usize = 100_000;

struct LineColumns {
    time: usize,
    op: usize,
    file: usize,
    user: Option<usize>,
    host: Option<usize>,
    bytes: Option<usize>,
    file_bytes: Option<usize>,
    staged: Option<usize>,
    cartridge: Option<usize>,
    position: Option<usize>,
    measured: Option<usize>,
    drive: Option<usize>,
    silo: Option<usize>,
}

impl LogLines {
    /// Reads lines of which none is before a time on the log's clock, at which the run begins: that of the first line where it is `None`.
    pub fn beginning_at(begins: Option<Nanos>) -> Self {
        Self { begins_ns: begins.map(|time| time.0), ..Self::default() }
    }

    /// Keeps the names of the users of lines that are read from here on.
    pub fn keep_users(&mut self) {
        self.users = Some(BTreeMap::new());
    }

    /// Returns the names that were kept, by their numbers.
    pub fn users(&mut self) -> BTreeMap<u64, String> {
        self.users.take().unwrap_or_default()
    }

    /// Returns the time on the log's clock at which the run begins, once an operation was read.
    pub fn begins(&self) -> Nanos {
        Nanos(self.begins_ns.unwrap_or(0))
    }

    /// Returns true if the header was read.
    pub fn are_known(&self) -> bool {
        self.places.is_some()
    }

    /// The operation of a line; `None` for the header.
    pub fn read(&mut self, line: &[u8]) -> Result<Option<Logged>, String> {
        let fields = Fields::by_comma(line);
        let Some(places) = &self.places else {
            self.places = Some(LineColumns::of(&fields)?);
            return Ok(None);
        };
        if memchr::memchr(b'"', line).is_some() {
            return Err("quoted fields are not supported; remove the quotes".to_owned());
        }
        let time_ns = scaled(fields.get(places.time), 1_000_000_000, "`time_s`")?;
        let logged = places.operation(&fields)?;
        if let (Some(users), Some(place)) = (&mut self.users, places.user)
            && users.len() < MOST_USERS
        {
            let name = || String::from_utf8_lossy(fields.get(place)).into_owned();
            users.entry(logged.op.user).or_insert_with(name);
        }
        let at = self.since_beginning(time_ns)?;
        Ok(Some(Logged { at, ..logged }))
    }

    fn since_beginning(&mut self, time_ns: u64) -> Result<Nanos, String> {
        if time_ns < self.last_ns {
            let (time, last) = (time_ns as f64 * 1e-9, self.last_ns as f64 * 1e-9);
            return Err(format!(
                "`time_s` runs backwards, from {last} to {time}; sort the log by `time_s`, or set `skip_bad: true` to leave out such lines"
            ));
        }
        self.last_ns = time_ns;
        let begins = *self.begins_ns.get_or_insert(time_ns);
        let at = time_ns.checked_sub(begins).map(Nanos);
        at.ok_or_else(|| {
            format!(
                "`time_s` is {}, and the run begins at {} of the log (`begins`)",
                time_ns as f64 * 1e-9,
                Nanos(begins)
            )
        })
    }
}

impl LineColumns {
    fn of(header: &Fields) -> Result<Self, String> {
        let optional = |name: &str| (0..header.count).find(|at| header.get(*at) == name.as_bytes());
        let place = |name: &str| {
            optional(name).ok_or_else(|| {
                let known: Vec<String> = (0..header.count).map(|at| shown(header.get(at))).collect();
                format!(
                    "no column `{name}` among the first {MOST}; a log has `time_s,op,user,host,file,bytes` (and `file_bytes`, `staged`, `cartridge`, `position_bytes`, `measured_s`), \
                     or of cartridges `time_s,op,file,drive_s` (and `silo`), and `headrace logs convert` makes one of other logs; this header has {}",
                    known.join(", ")
                )
            })
        };
        // A log of cartridges knows neither users nor bytes.
        let drive = optional("drive_s");
        let of_files = |name: &str| if drive.is_some() { Ok(optional(name)) } else { place(name).map(Some) };
        Ok(Self {
            time: place("time_s")?,
            op: place("op")?,
            file: place("file")?,
            user: of_files("user")?,
            host: of_files("host")?,
            bytes: of_files("bytes")?,
            file_bytes: optional("file_bytes"),
            staged: optional("staged"),
            cartridge: optional("cartridge"),
            position: optional("position_bytes"),
            measured: optional("measured_s"),
            drive,
            silo: optional("silo"),
        })
    }

    fn operation(&self, fields: &Fields) -> Result<Logged, String> {
        let act = act(fields.get(self.op))?;
        let field = |at: Option<usize>| at.map_or(&b""[..], |at| fields.get(at));
        let bytes = match field(self.bytes) {
            b"" if !act.has_bytes() => 0,
            bytes => whole(bytes, "number of `bytes`")?,
        };
        let size = Some(field(self.file_bytes)).filter(|size| !size.is_empty());
        let size = size.map(|size| whole(size, "number of `file_bytes`")).transpose()?;
        let largest = bytes.max(size.unwrap_or(0));
        if largest > LARGEST {
            return Err(format!("a file of {largest} bytes; at most {LARGEST} can be simulated"));
        }
        if fields.get(self.file).is_empty() {
            return Err("`file` is empty".to_owned());
        }
        let (user, host) = (number_of(field(self.user)), number_of(field(self.host)));
        let drive = if act == FileAct::Session { self.drive_use(fields)? } else { DriveUse::default() };
        let op =
            FileOp { act, file: number_of(fields.get(self.file)), bytes: bytes.max(1), user, host, drive };
        let staged = self.staged.map(|at| flag(fields.get(at))).transpose()?.flatten();
        let is_empty = bytes == 0 && act.has_bytes();
        let (place, measured) = (self.place(fields)?, self.measured(fields)?);
        Ok(Logged { at: Nanos::ZERO, op, size, staged, place, measured, is_empty })
    }

    fn drive_use(&self, fields: &Fields) -> Result<DriveUse, String> {
        let missing = "a session needs the seconds for which it uses its drive, in the column `drive_s`";
        let time = self.drive.map(|at| fields.get(at)).filter(|time| !time.is_empty()).ok_or(missing)?;
        let silo = self.silo.map(|at| fields.get(at)).filter(|silo| !silo.is_empty());
        let silo = silo.map(|silo| whole(silo, "number of a `silo`")).transpose()?;
        let silo = silo.map(|silo| u32::try_from(silo).map_err(|_| format!("there is no silo {silo}")));
        Ok(DriveUse { time: Nanos(scaled(time, 1_000_000_000, "`drive_s`")?), silo: silo.transpose()? })
    }

    fn place(&self, fields: &Fields) -> Result<Option<TapePlace>, String> {
        let filled = |at: Option<usize>| at.map(|at| fields.get(at)).filter(|field| !field.is_empty());
        let position = filled(self.position).map(|field| whole(field, "number of `position_bytes`"));
        let position = position.transpose()?;
        match filled(self.cartridge) {
            Some(name) => Ok(Some(TapePlace { cartridge: number_of(name), position })),
            None if position.is_some() => {
                Err("`position_bytes` needs the `cartridge` that it is on".to_owned())
            }
            None => Ok(None),
        }
    }

    fn measured(&self, fields: &Fields) -> Result<Option<Nanos>, String> {
        match self.measured {
            Some(at) if !fields.get(at).is_empty() => {
                Ok(Some(Nanos(scaled(fields.get(at), 1_000_000_000, "`measured_s`")?)))
            }
            _ => Ok(None),
        }
    }
}

fn act(field: &[u8]) -> Result<FileAct, String> {
    let found = FileAct::ALL.into_iter().find(|act| field.eq_ignore_ascii_case(act.name().as_bytes()));
    found.ok_or_else(|| {
        format!("`{}` is not `get`, `put`, `stage`, `delete`, `cancel` or `session`", shown(field))
    })
}

/// `1` or `0`; an empty field does not say.
fn flag(field: &[u8]) -> Result<Option<bool>, String> {
    match field {
        b"" => Ok(None),
        b"0" => Ok(Some(false)),
        b"1" => Ok(Some(true)),
        _ => Err(format!("`staged` is `{}`; it is 1, 0 or empty", shown(field))),
    }
}
