//! Streams of file operations: whether they go to an archive, and whether their files fit there.

use headrace_storage::archive::tape_library::TapeLibraryPlan;
use headrace_storage::{ArchivePlan, Graph, Trigger, View};
use headrace_trace::{FileLog, FileLogSpec, FileSurvey, ReplayProblem};
use headrace_units::{Bytes, counted};
use headrace_work::{Block, FileAct, FileOp, NodeId};
use headrace_workload::{ArrivalSpec, StreamSpec, WhenFull};

use super::streams::Planner;
use crate::document::{Path, Problem};

impl Planner<'_> {
    /// The log that a stream replays, where it replays one.
    pub(super) fn log(
        &mut self,
        path: &Path,
        stream: &StreamSpec,
        target: NodeId,
        graph: Option<&Graph>,
    ) -> Option<FileLog> {
        let known = graph?.view(target);
        let library = known.plan::<TapeLibraryPlan>();
        let at = path.key("arrivals");
        if matches!(stream.arrivals, ArrivalSpec::Log(_)) && stream.from.is_some() {
            let problem =
                Problem::at(path.key("from"), "file operations do not go through servers and switches");
            self.say(problem.help("remove `from`; the archive's `network` and `front` limit its clients"));
            return None;
        }
        match &stream.arrivals {
            ArrivalSpec::Log(spec) if known.serves::<FileOp>() || library.is_some() => {
                let at = at.key("log");
                let log = self.read_log(&at, spec)?;
                self.check_stream_of_files(path, stream);
                match library {
                    Some(library) => {
                        self.check_sessions(&at, &stream.to, &log.survey, library.spec.all_silos());
                    }
                    None => {
                        self.check_files(&at, &log.survey, known);
                        let library = known.uses().find_map(|used| used.plan::<TapeLibraryPlan>());
                        self.check_places(&at, &log.survey, library);
                    }
                }
                Some(log)
            }
            ArrivalSpec::Log(_) => {
                let message = format!(
                    "a log of file operations needs an archive, one of cartridges a tape library; `{}` is neither",
                    stream.to
                );
                self.say(Problem::at(path.key("to"), message));
                None
            }
            _ if known.serves::<Trigger>() => None,
            _ if !known.serves::<Block>() => {
                let message = format!("`{}` takes file operations, not block requests", stream.to);
                self.say(
                    Problem::at(at, message)
                        .help("replay a log: `arrivals: {log: jobs.csv}`, to an archive or a tape library"),
                );
                None
            }
            _ => None,
        }
    }

    fn read_log(&mut self, path: &Path, spec: &FileLogSpec) -> Option<FileLog> {
        let file = self.folder.join(spec.file());
        let problem = match FileLog::plan(&file, spec, &self.progress.reads_traces()) {
            Ok(log) => return Some(log),
            Err(ReplayProblem::Trace(error)) => Problem::at(path.clone(), error.to_string()),
            Err(ReplayProblem::Field(field, message, help)) => {
                Problem::at(path.key(field), message).help(help)
            }
        };
        self.say(problem);
        None
    }

    fn check_stream_of_files(&mut self, path: &Path, stream: &StreamSpec) {
        let limits = [
            ("outstanding", stream.outstanding.is_some() || stream.when_full != WhenFull::Wait),
            ("timeout", stream.timeout.is_some()),
        ];
        for (field, _) in limits.into_iter().filter(|(_, is_set)| *is_set) {
            let problem = Problem::at(path.key(field), format!("a log of file operations has no `{field}`"));
            self.say(problem.help("a `front` limits the transfers of users and hosts"));
        }
    }

    /// A tape library alone takes sessions of its cartridges.
    fn check_sessions(&mut self, path: &Path, library: &str, survey: &FileSurvey, silos: u32) {
        let others = survey.operations - survey.acts[FileAct::Session as usize];
        if others > 0 {
            let message = format!(
                "{} on files; `{library}` takes sessions of cartridges",
                counted(others, "operation")
            );
            self.say(Problem::at(path.clone(), message).help("send operations on files to an archive"));
        }
        if let Some(silo) = survey.last_silo.filter(|silo| *silo >= silos) {
            let message =
                format!("a cartridge lies in silo {silo}; `{library}` has silos 0 to {}", silos - 1);
            self.say(Problem::at(path.clone(), message).help("give the groups more `silos`"));
        }
    }

    /// A file begins on the cartridge where the log has it.
    fn check_places(&mut self, path: &Path, survey: &FileSurvey, library: Option<&TapeLibraryPlan>) {
        let farthest = survey.places.values().filter_map(|place| place.position).max();
        let whole = library.and_then(|library| library.tapes.iter().map(|tape| tape.capacity).max());
        if let (Some(at), Some(whole)) = (farthest, whole)
            && at >= whole
        {
            let (at, whole) = (Bytes(at), Bytes(whole));
            let message = format!("a file begins at {at} of its cartridge, which holds {whole}");
            self.say(
                Problem::at(path.clone(), message)
                    .help("`position_bytes` counts from the beginning of the tape"),
            );
        }
    }

    /// Files that are older than the log lie in the pool for puts, or on tape.
    fn check_files(&mut self, path: &Path, survey: &FileSurvey, archive: View) {
        let (capacity, has_library) =
            (archive.capacity(), archive.plan().is_some_and(ArchivePlan::has_library));
        let sessions = survey.acts[FileAct::Session as usize];
        if sessions > 0 {
            let message = format!(
                "{} of cartridges in the log; an archive takes operations on files",
                counted(sessions, "session")
            );
            self.say(Problem::at(path.clone(), message).help("send them to a tape library"));
        }
        if survey.largest > capacity.0 {
            let message =
                format!("a file of {} does not fit into the pool of {capacity}", Bytes(survey.largest));
            self.say(Problem::at(path.clone(), message));
        }
        let on_tape = survey.older.iter().filter(|file| file.on_tape).count();
        if on_tape > 0 && !has_library {
            let message = format!(
                "{} on tape when the log starts, but the archive has no library",
                counted(on_tape as u64, "file")
            );
            let help = "set `library` of the archive, or `unseen: disk` where the log has no column `staged`";
            self.say(Problem::at(path.clone(), message).help(help));
        }
        let on_disk: u64 = survey.older.iter().filter(|file| !file.on_tape).map(|file| file.bytes).sum();
        let pool = archive.uses().next().map_or(capacity, |pool| pool.capacity());
        if on_disk > pool.0 {
            let message =
                format!("{} are in the pool when the log begins, and it holds {pool}", Bytes(on_disk));
            self.say(Problem::at(path.clone(), message).help("make the pool larger, or set `unseen: tape`"));
        }
    }
}
