//! headrace for C and whatever calls C: `include/headrace.h` is made from this file.

use std::ffi::{CStr, CString, c_char};
use std::ptr;

use headrace::{
    Block, Change, FileAct, FileOp, FilePlace, Nanos, Op, PowerLoss, Storage, StorageError, TapePlace,
    number_of,
};

/// A storage system. It belongs to one thread at a time.
pub struct HeadraceStorage {
    storage: Storage,
    error: CString,
    losses: Vec<HeadraceLoss>,
}

/// Outcome of a call. Where it is not `HEADRACE_STATUS_OK`, `headrace_error` has a message, and nothing was done.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadraceStatus {
    /// It was done.
    Ok = 0,
    /// Time would run backwards.
    Past = 1,
    /// There is no such component, target, operation or change, a target takes other requests, or a component cannot change so.
    Unknown = 2,
    /// The request ends beyond the last byte of its target.
    BeyondEnd = 3,
    /// The request is for no bytes, or the file has none.
    Empty = 4,
    /// More requests are in flight, or completions kept, than `run.limits.in_flight` of the scenario.
    TooMany = 5,
    /// Nothing can go on: a request has too many parts, or the background load has ended.
    Ended = 6,
    /// A pointer is null, or a text is not UTF-8.
    Invalid = 7,
    /// Power cannot fail, or writes cannot be remembered, in this storage; or too many writes were not flushed.
    Power = 8,
    /// An archive cannot hold a file, or the file was added too late.
    File = 9,
    /// The simulation broke a law that every simulation must keep: headrace is wrong.
    Defect = 10,
}

/// Kind of a request.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadraceOp {
    /// Read.
    Read = 0,
    /// Write.
    Write = 1,
    /// Discard (TRIM, UNMAP).
    Discard = 2,
    /// Flush: it completes when all that completed before it is on the medium. It has no bytes.
    Flush = 3,
}

/// A request to a target.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HeadraceRequest {
    /// Virtual time at which it is submitted, in ns: now or later.
    pub at_ns: u64,
    /// Number of the target, from `headrace_target`.
    pub target: usize,
    /// A `headrace_op`.
    pub op: u32,
    /// Not 0 for a write that completes when it and all before it are on the medium.
    pub durable: u32,
    /// Address of the first byte.
    pub address: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// Operation on a file of an archive.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadraceAct {
    /// The first `bytes` of a file are sent, or all of it if it has no more.
    Get = 0,
    /// A file is put; one of that name is replaced.
    Put = 1,
    /// A file goes from tape to the disk pool.
    Stage = 2,
    /// A file is removed.
    Delete = 3,
    /// The recall of a file is withdrawn, if no drive serves it yet.
    Cancel = 4,
}

/// An operation on a file of an archive. It fails if there is no such file at that time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HeadraceFileRequest {
    /// Virtual time at which it is submitted, in ns: now or later.
    pub at_ns: u64,
    /// Number of the archive, from `headrace_target`.
    pub target: usize,
    /// A `headrace_act`.
    pub act: u32,
    /// The file: its name as a number, see `headrace_number_of`.
    pub file: u64,
    /// Number of bytes, of a get and a put; ignored for others.
    pub bytes: u64,
    /// The user, as a number.
    pub user: u64,
    /// The host of the user, as a number.
    pub host: u64,
}

/// Where a file lies on tape.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HeadraceTapePlace {
    /// The cartridge: its name as a number.
    pub cartridge: u64,
    /// Where the file begins, in bytes from the beginning of the tape.
    pub position: u64,
}

/// A request that was answered.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HeadraceCompletion {
    /// The number that `headrace_submit` gave the request.
    pub ticket: u64,
    /// Virtual time of the answer, in ns.
    pub at_ns: u64,
    /// Not 0 if nothing could answer the request.
    pub failed: u32,
    /// 0 if there was no completion: time has passed to `until_ns`.
    pub found: u32,
}

/// Data that a loss of power took, or a request that it left without an answer.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct HeadraceLoss {
    /// The number that `headrace_submit` gave the request.
    pub ticket: u64,
    /// Address of the bytes that are lost of a write that was answered. There, the target has what was written at the last flush or
    /// before, or by any write since then.
    pub address: u64,
    /// Number of bytes that are lost.
    pub bytes: u64,
    /// Number of the target, as from `headrace_target`; 0 for a request without an answer.
    pub target: usize,
    /// Not 0 for a request that was in flight, and is never answered: each sector of a write has its old data or the new.
    pub unanswered: u32,
}

fn status(error: &StorageError) -> HeadraceStatus {
    match error {
        StorageError::Past { .. } | StorageError::TooLate(_) => HeadraceStatus::Past,
        StorageError::UnknownTarget { .. }
        | StorageError::CannotChange(_)
        | StorageError::WrongRequest { .. } => HeadraceStatus::Unknown,
        StorageError::CannotHold(_) | StorageError::TooLateToAdd => HeadraceStatus::File,
        StorageError::Defect(_) => HeadraceStatus::Defect,
        StorageError::BeyondEnd { .. } => HeadraceStatus::BeyondEnd,
        StorageError::Empty | StorageError::EmptyFile => HeadraceStatus::Empty,
        StorageError::TooMany(_) => HeadraceStatus::TooMany,
        StorageError::TooManyUnstable(..)
        | StorageError::TooLateToRemember
        | StorageError::CannotLosePower(_) => HeadraceStatus::Power,
        StorageError::Ended(_) | StorageError::Interrupted => HeadraceStatus::Ended,
    }
}

/// A text for C; what follows a zero byte is left out.
fn text(message: &str) -> CString {
    CString::new(message.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// Copies a text to where the caller wants it, cut to `room` bytes with its zero.
///
/// # Safety
/// `into` has room for `room` bytes, or is null.
unsafe fn copy(text: &CStr, into: *mut c_char, room: usize) {
    if into.is_null() || room == 0 {
        return;
    }
    let length = text.to_bytes().len().min(room - 1);
    // SAFETY: the caller says that there is room, and the text has at least `length` bytes.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr(), into, length);
        into.add(length).write(0);
    }
}

impl HeadraceStorage {
    fn refuse(&mut self, status: HeadraceStatus, message: &str) -> HeadraceStatus {
        self.error = text(message);
        status
    }

    /// Writes what was found to where the caller wants it, or keeps the error.
    ///
    /// # Safety
    /// `into` is null or can be written to.
    unsafe fn give<T>(&mut self, found: Result<T, StorageError>, into: *mut T) -> HeadraceStatus {
        match found {
            Ok(found) => {
                if !into.is_null() {
                    // SAFETY: it is not null, and the caller says that it can be written to.
                    unsafe { into.write(found) };
                }
                HeadraceStatus::Ok
            }
            Err(error) => self.refuse(status(&error), &error.to_string()),
        }
    }
}

/// # Safety
/// `pointer` is null or a text that ends with a zero.
unsafe fn read<'t>(pointer: *const c_char) -> Option<&'t str> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: it is not null, and the caller says that it ends with a zero.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok()
}

/// Builds the `system` of a scenario. `scenario` is its YAML or JSON; `file` says where it would lie, beside the files that it names. Returns
/// null where the scenario cannot work: a message is then written to `error`, cut to `room` bytes with its zero. The storage is freed by
/// `headrace_free`.
///
/// # Safety
/// `scenario` and `file` end with a zero; `error` has room for `room` bytes, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_load(
    scenario: *const c_char,
    file: *const c_char,
    seed: u64,
    error: *mut c_char,
    room: usize,
) -> *mut HeadraceStorage {
    // SAFETY: the caller says that both end with a zero.
    let texts = unsafe { read(scenario).zip(read(file)) };
    let loaded =
        texts.ok_or_else(|| "a text is null or not UTF-8".to_owned()).and_then(|(scenario, file)| {
            Storage::load(scenario, file, &[], seed).map_err(|problems| problems.rendered())
        });
    match loaded {
        Ok(storage) => Box::into_raw(Box::new(HeadraceStorage {
            storage,
            error: CString::default(),
            losses: Vec::new(),
        })),
        Err(message) => {
            // SAFETY: the caller says that there is room.
            unsafe { copy(&text(&message), error, room) };
            ptr::null_mut()
        }
    }
}

/// Frees a storage; null is ignored.
///
/// # Safety
/// `storage` is null, or came from `headrace_load` and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_free(storage: *mut HeadraceStorage) {
    if !storage.is_null() {
        // SAFETY: it came from a box, and nobody else has it.
        drop(unsafe { Box::from_raw(storage) });
    }
}

/// Returns the message of the last call that was refused. It is valid until the next call.
///
/// # Safety
/// `storage` came from `headrace_load`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_error(storage: *const HeadraceStorage) -> *const c_char {
    // SAFETY: the caller says that it is null or valid.
    unsafe { storage.as_ref() }.map_or(c"there is no storage".as_ptr(), |storage| storage.error.as_ptr())
}

/// Returns the present in ns of virtual time; 0 for null.
///
/// # Safety
/// `storage` came from `headrace_load`, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_now(storage: *const HeadraceStorage) -> u64 {
    // SAFETY: the caller says that it is null or valid.
    unsafe { storage.as_ref() }.map_or(0, |storage| storage.storage.now().0)
}

/// Finds the number of the component `name`, by which requests are submitted to it.
///
/// # Safety
/// `storage` came from `headrace_load`; `name` ends with a zero; `target` can be written to. Null is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_target(
    storage: *mut HeadraceStorage,
    name: *const c_char,
    target: *mut usize,
) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    // SAFETY: the caller says that it ends with a zero.
    let Some(name) = (unsafe { read(name) }) else {
        return of.refuse(HeadraceStatus::Invalid, "the name is null or not UTF-8");
    };
    let found = of.storage.target(name);
    // SAFETY: the caller says that it can be written to.
    unsafe { of.give(found, target) }
}

/// Submits a request, whose number is written to `ticket` if that is not null.
///
/// # Safety
/// `storage` came from `headrace_load`; `request` can be read and `ticket` written to. Null is refused, but for `ticket`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_submit(
    storage: *mut HeadraceStorage,
    request: *const HeadraceRequest,
    ticket: *mut u64,
) -> HeadraceStatus {
    // SAFETY: the caller says that both are null or valid.
    let (Some(of), asked) = (unsafe { (storage.as_mut(), request.as_ref()) }) else {
        return HeadraceStatus::Invalid;
    };
    let Some(asked) = asked else { return of.refuse(HeadraceStatus::Invalid, "the request is null") };
    let Some(op) = [Op::Read, Op::Write, Op::Discard, Op::Flush].get(asked.op as usize) else {
        let message = "the operation is none of 0 (read), 1 (write), 2 (discard), 3 (flush)";
        return of.refuse(HeadraceStatus::Unknown, message);
    };
    let block = Block { op: *op, address: asked.address, bytes: asked.bytes };
    let found = of.storage.submit(Nanos(asked.at_ns), asked.target, block, asked.durable != 0);
    // SAFETY: the caller says that it is null or can be written to.
    unsafe { of.give(found, ticket) }
}

/// Returns the number that stands for the name of a file, user, host or cartridge, as in logs: the name itself if that is a number. 0 for null.
///
/// # Safety
/// `name` ends with a zero, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_number_of(name: *const c_char) -> u64 {
    if name.is_null() {
        return 0;
    }
    // SAFETY: it is not null, and the caller says that it ends with a zero.
    number_of(unsafe { CStr::from_ptr(name) }.to_bytes())
}

/// Submits an operation on a file to an archive; its number is written to `ticket` if that is not null.
///
/// # Safety
/// `storage` came from `headrace_load`; `request` can be read and `ticket` written to. Null is refused, but for `ticket`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_submit_file(
    storage: *mut HeadraceStorage,
    request: *const HeadraceFileRequest,
    ticket: *mut u64,
) -> HeadraceStatus {
    // SAFETY: the caller says that both are null or valid.
    let (Some(of), asked) = (unsafe { (storage.as_mut(), request.as_ref()) }) else {
        return HeadraceStatus::Invalid;
    };
    let Some(asked) = asked else { return of.refuse(HeadraceStatus::Invalid, "the request is null") };
    let acts = [FileAct::Get, FileAct::Put, FileAct::Stage, FileAct::Delete, FileAct::Cancel];
    let Some(act) = acts.get(asked.act as usize) else {
        let message = "the operation is none of 0 (get), 1 (put), 2 (stage), 3 (delete), 4 (cancel)";
        return of.refuse(HeadraceStatus::Unknown, message);
    };
    let op = FileOp { user: asked.user, host: asked.host, ..FileOp::new(*act, asked.file, asked.bytes) };
    let found = of.storage.submit_file(Nanos(asked.at_ns), asked.target, op);
    // SAFETY: the caller says that it is null or can be written to.
    unsafe { of.give(found, ticket) }
}

/// Adds a file that an archive has from the beginning: in its disk pool, or on tape if `on_tape` is not 0, there at `place` or, if that is null, where
/// the archive chooses. To be called before the first request, and before time passes.
///
/// # Safety
/// `storage` came from `headrace_load`; `place` can be read, or is null. Null is refused for `storage`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_add_file(
    storage: *mut HeadraceStorage,
    target: usize,
    file: u64,
    bytes: u64,
    on_tape: u32,
    place: *const HeadraceTapePlace,
) -> HeadraceStatus {
    // SAFETY: the caller says that both are null or valid.
    let (Some(of), place) = (unsafe { (storage.as_mut(), place.as_ref()) }) else {
        return HeadraceStatus::Invalid;
    };
    let place = place.map(|at| TapePlace { cartridge: at.cartridge, position: Some(at.position) });
    let place = if on_tape == 0 { FilePlace::Pool } else { FilePlace::Tape(place) };
    let done = of.storage.add_file(target, file, bytes, place);
    // SAFETY: nothing is written to null.
    unsafe { of.give(done, ptr::null_mut()) }
}

/// Writes what the streams of the scenario and all components did from the beginning to now to `json`, as the results of `headrace run --json` have
/// it: `simulated_s`, `streams` and `components`. The text is cut to `room` bytes with its zero; `needed` is how many it takes.
///
/// # Safety
/// `storage` came from `headrace_load`; `json` has room for `room` bytes, or is null; `needed` can be written to, or is null. Null is refused for
/// `storage`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_results(
    storage: *mut HeadraceStorage,
    json: *mut c_char,
    room: usize,
    needed: *mut usize,
) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    let found = of.storage.results().map(|found| {
        let text = text(&found.to_json());
        // SAFETY: the caller says that there is room.
        unsafe { copy(&text, json, room) };
        text.as_bytes_with_nul().len()
    });
    // SAFETY: the caller says that it is null or can be written to.
    unsafe { of.give(found, needed) }
}

/// Lets time pass to the next completion, or to `until_ns`, and writes what was found to `completion`.
///
/// # Safety
/// `storage` came from `headrace_load`; `completion` can be written to. Null is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_next(
    storage: *mut HeadraceStorage,
    until_ns: u64,
    completion: *mut HeadraceCompletion,
) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    if completion.is_null() {
        return of.refuse(HeadraceStatus::Invalid, "there is no room for the completion");
    }
    let found = of.storage.next_completion(Nanos(until_ns)).map(|found| {
        let none = HeadraceCompletion { ticket: 0, at_ns: of.storage.now().0, failed: 0, found: 0 };
        found.map_or(none, |found| HeadraceCompletion {
            ticket: found.ticket,
            at_ns: found.at.0,
            failed: u32::from(found.failed),
            found: 1,
        })
    });
    // SAFETY: it is not null, and the caller says that it can be written to.
    unsafe { of.give(found, completion) }
}

/// Lets time pass to `until_ns`. Completions are kept for `headrace_next`.
///
/// # Safety
/// `storage` came from `headrace_load`. Null is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_advance(storage: *mut HeadraceStorage, until_ns: u64) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    let done = of.storage.advance(Nanos(until_ns));
    // SAFETY: nothing is written to null.
    unsafe { of.give(done, ptr::null_mut()) }
}

/// Remembers from now on which writes are answered and not flushed, so that power can fail. To be called before the first request.
/// Fails where power cannot: with streams, or an archive.
///
/// # Safety
/// `storage` came from `headrace_load`. Null is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_remember_writes(storage: *mut HeadraceStorage) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    let done = of.storage.remember_writes();
    // SAFETY: nothing is written to null.
    unsafe { of.give(done, ptr::null_mut()) }
}

/// Has power fail everywhere, now, and be back at once. Writes to `number` how many losses `headrace_loss` then tells of. Needs
/// `headrace_remember_writes`, and a scenario without streams.
///
/// # Safety
/// `storage` came from `headrace_load`; `number` can be written to, or is null. Null is refused for `storage`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_lose_power(
    storage: *mut HeadraceStorage,
    number: *mut usize,
) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    let found = of.storage.lose_power().map(|loss| {
        of.losses = losses(&loss);
        of.losses.len()
    });
    // SAFETY: the caller says that it is null or can be written to.
    unsafe { of.give(found, number) }
}

/// Each lost part of a write, and each request without an answer.
fn losses(loss: &PowerLoss) -> Vec<HeadraceLoss> {
    let lost = loss.lost.iter().flat_map(|write| {
        let (ticket, target) = (write.ticket, write.target);
        write.parts.iter().map(move |&(address, bytes)| HeadraceLoss {
            ticket,
            address,
            bytes,
            target,
            unanswered: 0,
        })
    });
    let unanswered = loss.unanswered.iter();
    let unanswered =
        unanswered.map(|&ticket| HeadraceLoss { ticket, address: 0, bytes: 0, target: 0, unanswered: 1 });
    lost.chain(unanswered).collect()
}

/// Writes one of the losses of the last loss of power to `loss`: first the lost parts of writes, then requests without an answer.
///
/// # Safety
/// `storage` came from `headrace_load`; `loss` can be written to. Null is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_loss(
    storage: *mut HeadraceStorage,
    number: usize,
    loss: *mut HeadraceLoss,
) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    if loss.is_null() {
        return of.refuse(HeadraceStatus::Invalid, "there is no room for the loss");
    }
    let Some(found) = of.losses.get(number).copied() else {
        let message = format!("there is no loss {number}, of {}", of.losses.len());
        return of.refuse(HeadraceStatus::Unknown, &message);
    };
    // SAFETY: it is not null, and the caller says that it can be written to.
    unsafe { of.give(Ok(found), loss) }
}

/// Has a component take `percent` of its usual time for what it begins from now on; 100 for the usual time.
///
/// # Safety
/// `storage` came from `headrace_load`; `component` ends with a zero. Null is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_slow(
    storage: *mut HeadraceStorage,
    component: *const c_char,
    percent: u32,
) -> HeadraceStatus {
    // SAFETY: as the caller says.
    unsafe { change(storage, component, Some(Change::Slow(percent))) }
}

/// Has a component, such as `volume/drive[2]`, fail (`change` 0), return with its data (1), or be replaced by an empty one (2), now.
///
/// # Safety
/// `storage` came from `headrace_load`; `component` ends with a zero. Null is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn headrace_change(
    storage: *mut HeadraceStorage,
    component: *const c_char,
    change: u32,
) -> HeadraceStatus {
    let of = [Change::Fails, Change::Returns, Change::Replaced].get(change as usize).copied();
    // SAFETY: as the caller says.
    unsafe { self::change(storage, component, of) }
}

/// Changes a component.
///
/// # Safety
/// `storage` is null or came from `headrace_load`; `component` is null or ends with a zero.
unsafe fn change(
    storage: *mut HeadraceStorage,
    component: *const c_char,
    change: Option<Change>,
) -> HeadraceStatus {
    // SAFETY: the caller says that it is null or valid.
    let Some(of) = (unsafe { storage.as_mut() }) else { return HeadraceStatus::Invalid };
    // SAFETY: the caller says that it is null or ends with a zero.
    let Some(component) = (unsafe { read(component) }) else {
        return of.refuse(HeadraceStatus::Invalid, "the name is null or not UTF-8");
    };
    let Some(change) = change else {
        return of
            .refuse(HeadraceStatus::Unknown, "the change is none of 0 (fails), 1 (returns), 2 (replaced)");
    };
    let done = of.storage.change(component, change);
    // SAFETY: nothing is written to null.
    unsafe { of.give(done, ptr::null_mut()) }
}
