//! A storage system inside a Python program.

use std::cell::Cell;

use fragile::Sticky;
use headrace_scenario::embedded::{Completion, LostWrite, Storage, StorageError};
use headrace_storage::Change;
use headrace_units::Nanos;
use headrace_work::{Block, FileAct, FileOp, FilePlace, Op, TapePlace, TimeKind, number_of};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::plan::with_jobs;

/// A storage system that belongs to the thread that made it, wherever Python's collector of garbage finds it. Times are in ns.
#[pyclass(name = "Storage")]
pub struct StorageHandle {
    storage: Sticky<Storage>,
}

impl StorageHandle {
    /// Does something with the system; raises `RuntimeError` in another thread.
    fn with<R>(&mut self, act: impl FnOnce(&mut Storage) -> PyResult<R>) -> PyResult<R> {
        let told = "a Storage belongs to the thread that made it: make one in each thread";
        self.storage.try_with_mut(act).unwrap_or_else(|_| Err(PyRuntimeError::new_err(told)))
    }
}

/// Where a completion's time went: component, `waiting`, `service` or `blocked`, and ns.
type Span = (String, &'static str, u64);

/// Ticket, time, whether it failed, and where its time went.
type FoundCompletion = (u64, u64, bool, Vec<Span>);

/// A write that was answered and of which data is lost: ticket, number of the target, address, bytes, and the lost parts.
type FoundLoss = (u64, usize, u64, u64, Vec<(u64, u64)>);

/// A component: path, requests answered, their bytes, utilisation, and requests that wait.
type FoundComponent = (String, u64, u64, Option<f64>, u64);

/// A meter of a component: its name and value.
type FoundMeter = (&'static str, Option<f64>);

thread_local! {
    /// What the handler of a signal raised during a call, which is raised where the call ends.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Returns true if no handler of a signal raised anything since the last look.
fn goes_on() -> bool {
    let raised = Python::attach(|py| py.check_signals()).err();
    let none = raised.is_none();
    if !none {
        RAISED.set(raised);
    }
    none
}

fn wrong(error: StorageError) -> PyErr {
    match error {
        StorageError::Interrupted => RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(())),
        StorageError::Defect(law) => PyRuntimeError::new_err(law),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// Reads 64-bit numbers from the bytes of an array.
fn numbers(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.chunks_exact(8).map(|chunk| u64::from_le_bytes(chunk.try_into().expect("eight bytes")))
}

fn op(code: u64) -> PyResult<Op> {
    match code {
        0 => Ok(Op::Read),
        1 => Ok(Op::Write),
        2 => Ok(Op::Discard),
        3 => Ok(Op::Flush),
        _ => Err(PyValueError::new_err(format!(
            "operation {code} is none of 0 (read), 1 (write), 2 (discard), 3 (flush)"
        ))),
    }
}

fn kind(kind: TimeKind) -> &'static str {
    match kind {
        TimeKind::Waiting => "waiting",
        TimeKind::Service => "service",
        TimeKind::Blocked => "blocked",
    }
}

#[pymethods]
impl StorageHandle {
    #[new]
    fn load(
        text: &str,
        file: &str,
        sets: Vec<(String, String)>,
        jobs: Py<PyAny>,
        seed: u64,
    ) -> PyResult<Self> {
        let mut storage = with_jobs(&jobs, |jobs| Storage::load_with_jobs(text, file, &sets, jobs, seed))?;
        storage.interrupted_by(goes_on);
        Ok(Self { storage: Sticky::new(storage) })
    }

    /// Remembers which writes are answered and not flushed, so that power can fail.
    fn remember_writes(&mut self) -> PyResult<()> {
        self.with(|storage| storage.remember_writes().map_err(wrong))
    }

    /// Power fails and is back at once: the writes that are lost, and the tickets of requests that are never answered.
    fn lose_power(&mut self) -> PyResult<(Vec<FoundLoss>, Vec<u64>)> {
        let loss = self.with(|storage| storage.lose_power().map_err(wrong))?;
        let row =
            |LostWrite { ticket, target, block, parts }| (ticket, target, block.address, block.bytes, parts);
        Ok((loss.lost.into_iter().map(row).collect(), loss.unanswered))
    }

    /// The present.
    #[getter]
    fn now_ns(&mut self) -> PyResult<u64> {
        self.with(|storage| Ok(storage.now().0))
    }

    /// The names and capacities of the components that requests can be submitted to, by number; 0 for no limit.
    fn targets(&mut self) -> PyResult<Vec<(String, u64)>> {
        self.with(|storage| {
            Ok(storage.targets().map(|(name, capacity)| (name.to_owned(), capacity)).collect())
        })
    }

    /// Submits a request; returns its ticket.
    fn submit(
        &mut self,
        at: u64,
        target: usize,
        op: u64,
        address: u64,
        bytes: u64,
        durable: bool,
    ) -> PyResult<u64> {
        let block = Block { op: self::op(op)?, address, bytes };
        self.with(|storage| storage.submit(Nanos(at), target, block, durable).map_err(wrong))
    }

    /// Submits an operation on a file, its name and bytes, of a user and a host to an archive; returns its ticket.
    fn submit_file(
        &mut self,
        at: u64,
        target: usize,
        named: &str,
        file: (&str, u64),
        who: (&str, &str),
    ) -> PyResult<u64> {
        let act = FileAct::ALL.into_iter().find(|known| known.name() == named);
        let act =
            act.ok_or_else(|| PyValueError::new_err(format!("there is no operation `{named}` on files")))?;
        let number = |name: &str| number_of(name.as_bytes());
        let op =
            FileOp { user: number(who.0), host: number(who.1), ..FileOp::new(act, number(file.0), file.1) };
        self.with(|storage| storage.submit_file(Nanos(at), target, op).map_err(wrong))
    }

    /// Adds a file, its name and bytes, that an archive has from the beginning: in its pool or on tape, there on a cartridge, at a position of one,
    /// or where the archive chooses.
    fn add_file(
        &mut self,
        target: usize,
        file: (&str, u64),
        on_tape: bool,
        place: Option<(String, Option<u64>)>,
    ) -> PyResult<()> {
        let number = |name: &str| number_of(name.as_bytes());
        let place = place.map(|(cartridge, position)| TapePlace { cartridge: number(&cartridge), position });
        let place = if on_tape { FilePlace::Tape(place) } else { FilePlace::Pool };
        self.with(|storage| storage.add_file(target, number(file.0), file.1, place).map_err(wrong))
    }

    /// What streams and components did from the beginning to now, as JSON.
    fn results(&mut self) -> PyResult<String> {
        self.with(|storage| storage.results().map(|found| found.to_json()).map_err(wrong))
    }

    /// Submits requests, each with a time, an operation, an address and a size; returns the ticket of the first, which the others follow.
    /// If one is refused, none is submitted.
    fn submit_all(
        &mut self,
        target: usize,
        at: &[u8],
        ops: &[u8],
        address: &[u8],
        bytes: &[u8],
        durable: bool,
    ) -> PyResult<Option<u64>> {
        let columns = numbers(at).zip(numbers(ops)).zip(numbers(address)).zip(numbers(bytes));
        let request =
            |(((at, op), address), bytes)| self::op(op).map(|op| (Nanos(at), Block { op, address, bytes }));
        let requests: Vec<(Nanos, Block)> = columns.map(request).collect::<PyResult<_>>()?;
        self.with(|storage| storage.submit_all(&requests, target, durable).map_err(wrong))
    }

    /// Lets time pass to the next completion or to `until`.
    fn next_completion(&mut self, until: u64) -> PyResult<Option<FoundCompletion>> {
        self.with(|storage| {
            let found = storage.next_completion(Nanos(until)).map_err(wrong)?;
            let spans = |found: &Completion| {
                let of = |(at, what, span): (_, _, Nanos)| (storage.path(at).to_owned(), kind(what), span.0);
                found.breakdown.spans().map(of).collect()
            };
            Ok(found.map(|found| (found.ticket, found.at.0, found.failed, spans(&found))))
        })
    }

    /// Lets time pass to `until`: the tickets and times of all completions, and whether each failed, as arrays of 64-bit numbers.
    fn completions<'py>(&mut self, py: Python<'py>, until: u64) -> PyResult<[Bound<'py, PyBytes>; 3]> {
        let columns = self.with(|storage| {
            let mut columns = [const { Vec::new() }; 3];
            while let Some(found) = storage.next_completion(Nanos(until)).map_err(wrong)? {
                let row = [found.ticket, found.at.0, u64::from(found.failed)];
                for (column, number) in columns.iter_mut().zip(row) {
                    column.extend_from_slice(&number.to_le_bytes());
                }
            }
            Ok(columns)
        })?;
        Ok(columns.map(|column: Vec<u8>| PyBytes::new(py, &column)))
    }

    /// Lets time pass to `until`.
    fn advance(&mut self, until: u64) -> PyResult<()> {
        self.with(|storage| storage.advance(Nanos(until)).map_err(wrong))
    }

    /// Has a component fail (`fails`), return with its data (`returns`), or be replaced by an empty one (`replaced`).
    fn change(&mut self, component: &str, change: &str) -> PyResult<()> {
        let change = match change {
            "fails" => Change::Fails,
            "returns" => Change::Returns,
            "replaced" => Change::Replaced,
            _ => return Err(PyValueError::new_err(format!("there is no change `{change}`"))),
        };
        self.with(|storage| storage.change(component, change).map_err(wrong))
    }

    /// Has a component take `percent` of its usual time for what it begins from now on.
    fn slow(&mut self, component: &str, percent: u32) -> PyResult<()> {
        self.with(|storage| storage.change(component, Change::Slow(percent)).map_err(wrong))
    }

    /// Each component: path, requests answered, their bytes, utilisation, and requests that wait.
    fn components(&mut self) -> PyResult<Vec<FoundComponent>> {
        let row = |of: headrace_scenario::embedded::ComponentUse| {
            (of.name, of.requests, of.bytes, of.utilisation, of.waiting)
        };
        self.with(|storage| Ok(storage.components().into_iter().map(row).collect()))
    }

    /// The meters of the component `name`, none if there is no such component.
    fn meters(&mut self, name: &str) -> PyResult<Option<Vec<FoundMeter>>> {
        self.with(|storage| {
            Ok(storage.components().into_iter().find(|of| of.name == name).map(|of| of.meters))
        })
    }
}
