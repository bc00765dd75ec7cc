//! Work that goes on without the interpreter's lock, watched from Python.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use headrace_scenario::progress::Progress;
use headrace_scenario::record::{LogBatch, Sink};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Time between two looks of the watcher.
const LOOK: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own, without the interpreter's lock: passes Ctrl-C on to it, and tells `watch` how far it
/// is. An error of `watch`, or one kept in `lost`, ends it.
pub fn watched<T: Send>(
    py: Python<'_>,
    progress: &Progress,
    watch: Option<&Py<PyAny>>,
    lost: &Mutex<Option<PyErr>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let (done, told) = py.detach(|| {
        std::thread::scope(|scope| {
            // The sender goes with the work, however that ends.
            let (working, ended) = mpsc::channel::<()>();
            let worker = scope.spawn(move || {
                let _working = working;
                work()
            });
            let told = look_on(&ended, progress, watch, lost);
            (worker.join(), told)
        })
    });
    told?;
    let done = done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    // One that came after the last look.
    py.check_signals()?;
    Ok(done)
}

/// Raises the Ctrl-C that the watcher took while the work came to its end all the same: nobody else hears of it.
pub fn unless_interrupted<T>(done: T, progress: &Progress) -> PyResult<T> {
    match progress.cancelled.load(Ordering::Relaxed) {
        true => Err(PyKeyboardInterrupt::new_err(())),
        false => Ok(done),
    }
}

fn look_on(
    ended: &mpsc::Receiver<()>,
    progress: &Progress,
    watch: Option<&Py<PyAny>>,
    lost: &Mutex<Option<PyErr>>,
) -> PyResult<()> {
    let mut told = Ok(());
    while ended.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
        if progress.cancelled.load(Ordering::Relaxed) {
            continue;
        }
        if lost.lock().is_ok_and(|lost| lost.is_some()) {
            progress.cancelled.store(true, Ordering::Relaxed);
            continue;
        }
        let seen = Python::attach(|py| match watch {
            _ if py.check_signals().is_err() => Ok(false),
            Some(watch) => match tell(py, watch, progress) {
                // It came while Python was being told: what was found is not lost by that.
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => Ok(false),
                told => told.map(|()| true),
            },
            None => Ok(true),
        });
        progress.cancelled.store(!matches!(seen, Ok(true)), Ordering::Relaxed);
        told = told.and(seen.map(drop));
    }
    lost.lock().map_or(Ok(()), |mut lost| lost.take().map_or(Ok(()), Err)).and(told)
}

fn tell(py: Python<'_>, watch: &Py<PyAny>, progress: &Progress) -> PyResult<()> {
    let wanted = progress.wanted.load(Ordering::Relaxed);
    let so_far = if wanted == 0 { &progress.traced } else { &progress.answered };
    let queues = progress.queues.lock().map(|queues| queues.clone()).unwrap_or_default();
    progress.wants_queues.store(true, Ordering::Relaxed);
    watch.call1(py, (so_far.load(Ordering::Relaxed), wanted, queues)).map(drop)
}

/// Hands the parts of a request log to `take`, a column at a time as the bytes of 64-bit numbers; keeps the first error.
pub fn sink(take: Py<PyAny>, lost: Arc<Mutex<Option<PyErr>>>) -> Sink {
    Box::new(move |part: LogBatch| {
        let mut lost = lost.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if lost.is_none() {
            *lost = Python::attach(|py| hand_over(py, &take, &part)).err();
        }
    })
}

fn hand_over(py: Python<'_>, take: &Py<PyAny>, part: &LogBatch) -> PyResult<()> {
    let bytes = |column: &Vec<u64>| {
        let raw: Vec<u8> = column.iter().flat_map(|number| number.to_le_bytes()).collect();
        PyBytes::new(py, &raw)
    };
    let what = [&part.stream, &part.op, &part.address, &part.bytes];
    let when = [&part.issued_ns, &part.completed_ns, &part.user, &part.last];
    let plain: Vec<_> = what.into_iter().chain(when).map(bytes).collect();
    let legs: Vec<Vec<_>> = part.legs.iter().map(|legs| legs.iter().map(bytes).collect()).collect();
    take.call1(py, (part.replication, part.number, plain, legs)).map(drop)
}
