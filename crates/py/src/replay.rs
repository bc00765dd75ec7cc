//! A trace replayed on one drive, request by request, for validation and calibration.

use std::path::Path;

use headrace_scenario::document::Problems;
use headrace_scenario::validation::{self, Pair};
use headrace_storage::disk::DiskNumbers;
use headrace_trace::{Replay, ReplayProblem, ReplaySpec, Timing};
use headrace_work::Op;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::{refused, traced};

/// When the requests of a trace are issued to a drive.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// The trace's think time after the simulated completion of the one before.
    Simulated,
    /// The same, but where the platter is at each is drawn.
    Drawn,
    /// When they really were.
    Measured,
}

impl Clock {
    pub fn named(name: &str) -> PyResult<Self> {
        match name {
            "simulated" => Ok(Self::Simulated),
            "drawn" => Ok(Self::Drawn),
            "measured" => Ok(Self::Measured),
            _ => Err(PyValueError::new_err(format!("there is no clock `{name}`"))),
        }
    }
}

/// The columns of `replay_on_drive`.
pub fn replayed(numbers: &DiskNumbers, path: &Path, clock: Clock, phases: &[f64]) -> PyResult<Vec<Vec<u8>>> {
    let timing = if clock == Clock::Measured { Timing::Timestamps } else { Timing::Think };
    let spec = ReplaySpec { timing: Some(timing), ..ReplaySpec::of(&path.display().to_string()) };
    let replay = Replay::plan(path, &spec, numbers.capacity.get().0, &|_| true);
    let told = |problem: ReplayProblem| {
        refused(&Problems::file(&path.display().to_string(), problem.to_string(), "name another trace"))
    };
    let replay = replay.map_err(told)?;
    let mut columns: Vec<Vec<u8>> = vec![Vec::new(); 10];
    for (number, phase) in phases.iter().enumerate() {
        let due = traced(replay.due(), path)?;
        let luck = (clock == Clock::Drawn).then_some(number as u64);
        let pairs = traced(validation::replay(numbers, *phase, luck, due), path)?;
        let put = |column: &mut Vec<u8>, of: fn(&Pair) -> u64| {
            pairs.iter().for_each(|pair| column.extend(of(pair).to_le_bytes()));
        };
        if number == 0 {
            put(&mut columns[0], |pair| u64::from(pair.request.op == Op::Write));
            put(&mut columns[1], |pair| pair.request.address);
            put(&mut columns[2], |pair| pair.request.bytes);
            put(&mut columns[3], |pair| pair.measured.0);
            put(&mut columns[4], |pair| pair.apart as u64);
        }
        put(&mut columns[5], |pair| pair.simulated.0);
        put(&mut columns[6], |pair| pair.from as u64);
        put(&mut columns[7], |pair| pair.moved_ns as u64);
        put(&mut columns[8], |pair| pair.waited_ns as u64);
        put(&mut columns[9], |pair| pair.issued.0);
    }
    Ok(columns)
}
