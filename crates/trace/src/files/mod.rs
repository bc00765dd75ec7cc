//! Logs of file operations: what an archive was asked, as a stream.
//!
//! A log is a CSV file with a header, read in constant memory but for one number a file: before the run it is scanned whole, so that all
//! its errors are reported and the files are known that existed before it began.

mod line;
mod spec;
mod survey;

use std::path::{Path, PathBuf};

use headrace_units::{Nanos, counted};
use headrace_work::{FileOp, FileTable};

use crate::lines::Lines;
use crate::reader::unreadable;
use crate::replay::{FileState, ReplayProblem};
use crate::{TraceError, shown_line};

use line::{LogLines, Logged};
use survey::survey;

pub use spec::{FileLogOptions, FileLogSpec, FileTiming, Unseen};
pub use survey::{FileSurvey, OlderFile};

/// A log that was scanned.
#[derive(Clone, Debug)]
pub struct FileLog {
    path: PathBuf,
    spec: FileLogOptions,
    file: FileState,
    /// Survey of the log.
    pub survey: FileSurvey,
}

/// An operation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileDue {
    /// When, after the beginning of the run.
    pub at: Nanos,
    /// Its index, counted from zero.
    pub number: u64,
    /// The operation.
    pub op: FileOp,
    /// Time that the operation took on the real system, if logged.
    pub measured: Option<Nanos>,
    /// Operation that this one follows, if a replay keeps the gaps.
    pub follows: Option<Follows>,
}

/// An operation comes some time after the one before it on the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Follows {
    /// The number of the file, in the order in which files are first met.
    pub file: u32,
    /// From the end of the operation before to this one; nothing for the first.
    pub gap: Option<Nanos>,
}

/// Keeps account of when the operations on each file ended in the log.
#[derive(Default)]
struct Gaps {
    numbers: FileTable,
    ends: Vec<Nanos>,
}

impl Gaps {
    fn next(&mut self, logged: &Logged) -> Follows {
        let Logged { at, op, measured, .. } = *logged;
        let end = at + measured.unwrap_or_default().max(op.drive.time);
        if let Some(file) = self.numbers.get(op.file) {
            let before = std::mem::replace(&mut self.ends[file as usize], end);
            return Follows { file, gap: Some(at.saturating_sub(before)) };
        }
        let file = self.ends.len() as u32;
        self.numbers.insert(op.file, file);
        self.ends.push(end);
        Follows { file, gap: None }
    }
}

impl FileLog {
    /// Scans the log at `path`. `go_on` is called now and then with the number of operations so far, and says whether to go on.
    ///
    /// # Errors
    /// The log cannot be read, a line is invalid, or it has no operations.
    pub fn plan(path: &Path, spec: &FileLogSpec, go_on: &dyn Fn(u64) -> bool) -> Result<Self, ReplayProblem> {
        let (file, spec) = (FileState::of(path), spec.options());
        let survey = survey(&mut FileReader::open(path, &spec)?, spec.unseen, go_on)?;
        if spec.timing == FileTiming::Gaps && survey.timed < survey.operations {
            let message =
                format!("only {} of {} operations have an end in the log", survey.timed, survey.operations);
            let help = "a gap needs `drive_s` or `measured_s`; leave `timing` out to replay at timestamps";
            return Err(ReplayProblem::field("timing", message, help));
        }
        if survey.operations == 0 {
            return Err(TraceError::Empty { path: path.display().to_string(), left_out: 0 }.into());
        }
        Ok(Self { path: path.to_owned(), spec, file, survey })
    }

    /// Returns the time of the log at which the run begins, where the scenario leaves that to its first line.
    pub fn first_line(&self) -> Option<Nanos> {
        self.spec.begins.is_none().then_some(self.survey.begins)
    }

    /// The speed of the replay: how many times faster than it was recorded.
    pub fn speed(&self) -> f64 {
        self.spec.speed
    }

    /// Reads the log again and gives its operations as they become due.
    ///
    /// # Errors
    /// The file has changed since it was scanned.
    pub fn due(&self) -> Result<impl Iterator<Item = Result<FileDue, TraceError>> + use<>, TraceError> {
        if FileState::of(&self.path) != self.file {
            return Err(TraceError::Changed { path: self.path.display().to_string() });
        }
        let (reader, speed) = (FileReader::open(&self.path, &self.spec)?, self.spec.speed);
        let scaled = move |time: Nanos| Nanos((time.0 as f64 / speed) as u64);
        let mut gaps = (self.spec.timing == FileTiming::Gaps).then(Gaps::default);
        Ok((0u64..).zip(reader).map(move |(number, logged)| {
            let logged = logged?;
            let follows = gaps.as_mut().map(|gaps| gaps.next(&logged));
            let follows = follows.map(|found| Follows { gap: found.gap.map(scaled), ..found });
            Ok(FileDue { at: scaled(logged.at), number, op: logged.op, measured: logged.measured, follows })
        }))
    }

    /// Remarks for the reader of the results.
    pub fn notes(&self) -> Vec<String> {
        let FileSurvey { skipped, empty, lost, partial, operations, measured, .. } = self.survey;
        let notes = [
            (skipped > 0, format!("{} of the log skipped", counted(skipped, "bad line"))),
            (empty > 0, format!("{} on files of 0 bytes: taken as 1 byte", counted(empty, "operation"))),
            (
                lost > 0,
                format!(
                    "{} on files that the log deleted before: answered at once",
                    counted(lost, "operation")
                ),
            ),
            (
                partial > 0,
                format!(
                    "{} in size from their files: the logged size is sent, and tape and pool hold the whole file",
                    if partial == 1 { "1 get differs".to_owned() } else { format!("{partial} gets differ") }
                ),
            ),
            (
                measured > 0 && measured < operations,
                format!(
                    "only {measured} of {operations} operations have a measured time; the comparison is limited to these"
                ),
            ),
        ];
        notes.into_iter().filter_map(|(applies, note)| applies.then_some(note)).collect()
    }
}

/// Reads the operations of a log in file order.
pub(crate) struct FileReader {
    path: PathBuf,
    lines: Lines,
    columns: LogLines,
    skip_bad: bool,
    left: u64,
    /// Bad lines skipped.
    pub skipped: u64,
}

impl FileReader {
    fn open(path: &Path, spec: &FileLogOptions) -> Result<Self, TraceError> {
        let lines = Lines::open(path).map_err(|error| unreadable(path, &error))?;
        let left = spec.first.unwrap_or(u64::MAX);
        let columns = LogLines::beginning_at(spec.begins);
        Ok(Self { path: path.to_owned(), lines, columns, skip_bad: spec.skip_bad, left, skipped: 0 })
    }

    fn read(&mut self) -> Result<Option<Logged>, TraceError> {
        loop {
            let line = self.lines.next().map_err(|error| unreadable(&self.path, &error))?;
            let Some((line, ended)) = line.filter(|_| self.left > 0) else { return Ok(None) };
            if line.trim_ascii().is_empty() {
                continue;
            }
            match self.columns.read(line) {
                Ok(Some(logged)) => {
                    self.left -= 1;
                    return Ok(Some(logged));
                }
                Ok(None) => {}
                Err(_) if self.skip_bad && self.columns.are_known() => self.skipped += 1,
                Err(problem) => {
                    let text = shown_line(line);
                    return Err(self.bad_line(problem, text, ended));
                }
            }
        }
    }

    fn bad_line(&mut self, problem: String, text: String, ended: bool) -> TraceError {
        self.left = 0;
        let (path, line) = (self.path.display().to_string(), self.lines.number);
        if ended {
            TraceError::Line { path, line, problem, text }
        } else {
            TraceError::Truncated { path, line, problem, text }
        }
    }
}

impl Iterator for FileReader {
    type Item = Result<Logged, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[cfg(test)]
mod tests;
