//! Survey of a log, made by one scan before the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use headrace_units::Nanos;
use headrace_work::{FileAct, FileTable, TapePlace};

use super::line::Logged;
use super::spec::Unseen;
use super::{FileReader, Gaps};
use crate::TraceError;

/// Survey of a log.
#[derive(Clone, Debug, Default)]
pub struct FileSurvey {
    /// Operations.
    pub operations: u64,
    /// Of each act, in the order of [`FileAct::ALL`].
    pub acts: [u64; FileAct::ALL.len()],
    /// Bytes put.
    pub bytes_put: u64,
    /// Bytes got.
    pub bytes_got: u64,
    /// The largest file.
    pub largest: u64,
    /// Different files.
    pub files: u64,
    /// Time on the log's clock at which the run begins.
    pub begins: Nanos,
    /// From there to the last operation.
    pub span: Nanos,
    /// Operations on files of no bytes.
    pub empty: u64,
    /// Operations on files that were deleted before.
    pub lost: u64,
    /// Gets of another number of bytes than their file has.
    pub partial: u64,
    /// Operations whose response was measured.
    pub measured: u64,
    /// Operations whose end is known: measured, or a session.
    pub timed: u64,
    /// The largest number of a silo.
    pub last_silo: Option<u32>,
    /// Bad lines skipped.
    pub skipped: u64,
    /// Files that are read before they are written, in the order in which they are read.
    pub older: Arc<Vec<OlderFile>>,
    /// Where on tape those lie of which the log says it.
    pub places: Arc<BTreeMap<u64, TapePlace>>,
    /// The names of users, by their numbers.
    pub users: Arc<BTreeMap<u64, String>>,
    /// Times for which sessions use their drives, in s, sorted, and the silos of their cartridges if known.
    pub sessions: Arc<[(f32, Option<u32>)]>,
    /// From the end of a session to the next of the same cartridge, in s, sorted.
    pub gaps: Arc<[(f32, Option<u32>)]>,
    /// Number of sessions of each cartridge that has some, sorted, and its silo if known.
    pub cartridges: Arc<[(u32, Option<u32>)]>,
}

/// A file that existed when the log began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OlderFile {
    /// Which.
    pub file: u64,
    /// Its size.
    pub bytes: u64,
    /// True if the file is on tape; otherwise it is in the disk pool.
    pub on_tape: bool,
}

/// A file that was met.
struct Met {
    exists: bool,
    bytes: u64,
    /// Its place among the older ones, while it is one of them.
    older: Option<u32>,
}

/// The files of a log as they are at an instant of it.
#[derive(Default)]
struct Files {
    by_name: FileTable,
    met: Vec<Met>,
    older: Vec<OlderFile>,
    places: BTreeMap<u64, TapePlace>,
}

impl Files {
    /// Takes an operation. The first value is true if its file was deleted before, the second if it gets another number of bytes than the
    /// file has.
    fn take(&mut self, logged: &Logged, unseen: Unseen) -> [bool; 2] {
        let op = logged.op;
        let Some(at) = self.by_name.get(op.file) else {
            self.add(logged, unseen);
            return [false, op.act == FileAct::Get && logged.size.is_some_and(|size| size != op.bytes)];
        };
        let met = &mut self.met[at as usize];
        let is_lost = !matches!(op.act, FileAct::Put | FileAct::Cancel) && !met.exists;
        let differs = op.act == FileAct::Get && met.exists && met.bytes != op.bytes;
        match (op.act, met.older) {
            (FileAct::Put, _) => *met = Met { exists: true, bytes: op.bytes, older: None },
            (FileAct::Delete, _) => *met = Met { exists: false, bytes: 0, older: None },
            (FileAct::Cancel, _) => {}
            // The more a log gets of an older file, the larger it must be.
            (_, Some(older)) => {
                met.bytes = met.bytes.max(op.bytes).max(logged.size.unwrap_or(0));
                self.older[older as usize].bytes = met.bytes;
            }
            (_, None) => {}
        }
        [is_lost, differs]
    }

    fn add(&mut self, logged: &Logged, unseen: Unseen) {
        if logged.op.act == FileAct::Cancel {
            return;
        }
        let (op, bytes) = (logged.op, logged.op.bytes.max(logged.size.unwrap_or(0)));
        let is_older = !matches!(op.act, FileAct::Put | FileAct::Session);
        let older = is_older.then_some(self.older.len() as u32);
        if is_older {
            let on_tape = logged.staged.unwrap_or(unseen == Unseen::Tape);
            self.places.extend(logged.place.filter(|_| on_tape).map(|place| (op.file, place)));
            self.older.push(OlderFile { file: op.file, bytes, on_tape });
        }
        self.by_name.insert(op.file, self.met.len() as u32);
        self.met.push(Met { exists: op.act != FileAct::Delete, bytes, older });
    }
}

/// Number of operations between two checks for an interrupt.
const STRIDE: u64 = 1 << 14;

pub(super) fn survey(
    reader: &mut FileReader,
    unseen: Unseen,
    go_on: &dyn Fn(u64) -> bool,
) -> Result<FileSurvey, TraceError> {
    let (mut survey, mut files) = (FileSurvey::default(), Files::default());
    let (mut sessions, mut gaps, mut between) = (Vec::new(), Vec::new(), Gaps::default());
    let mut cartridges: Vec<(u32, Option<u32>)> = Vec::new();
    reader.columns.keep_users();
    while let Some(logged) = reader.next().transpose()? {
        let op = logged.op;
        survey.add(&logged);
        if op.act == FileAct::Session {
            sessions.push((op.drive.time.secs() as f32, op.drive.silo));
            let follows = between.next(&logged);
            gaps.extend(follows.gap.map(|gap| (gap.secs() as f32, op.drive.silo)));
            cartridges.resize(cartridges.len().max(follows.file as usize + 1), (0, op.drive.silo));
            cartridges[follows.file as usize].0 += 1;
        }
        let [is_lost, differs] = files.take(&logged, unseen);
        survey.lost += u64::from(is_lost);
        survey.partial += u64::from(differs);
        if survey.operations.is_multiple_of(STRIDE) && !go_on(survey.operations) {
            return Err(TraceError::Interrupted);
        }
    }
    survey.files = files.met.len() as u64;
    survey.skipped = reader.skipped;
    survey.begins = reader.columns.begins();
    survey.users = Arc::new(reader.columns.users());
    (survey.older, survey.places) = (Arc::new(files.older), Arc::new(files.places));
    survey.sessions = sorted(sessions);
    survey.gaps = sorted(gaps);
    cartridges.sort_unstable();
    survey.cartridges = cartridges.into();
    Ok(survey)
}

fn sorted(mut times: Vec<(f32, Option<u32>)>) -> Arc<[(f32, Option<u32>)]> {
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    times.into()
}

impl FileSurvey {
    fn add(&mut self, logged: &Logged) {
        let op = logged.op;
        self.operations += 1;
        self.acts[op.act as usize] += 1;
        match op.act {
            FileAct::Put => self.bytes_put += op.bytes,
            FileAct::Get => self.bytes_got += op.bytes,
            FileAct::Stage | FileAct::Delete | FileAct::Session | FileAct::Cancel => {}
        }
        self.largest = self.largest.max(op.bytes).max(logged.size.unwrap_or(0));
        self.span = logged.at;
        self.empty += u64::from(logged.is_empty);
        self.measured += u64::from(logged.measured.is_some());
        self.timed += u64::from(logged.measured.is_some() || op.act == FileAct::Session);
        self.last_silo = self.last_silo.max(op.drive.silo);
    }

    /// The acts that occur, each with its number of operations.
    pub fn acts(&self) -> impl Iterator<Item = (FileAct, u64)> + '_ {
        FileAct::ALL.into_iter().zip(self.acts).filter(|(_, number)| *number > 0)
    }
}
