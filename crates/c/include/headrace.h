/* Made from crates/c/src/lib.rs by its test. */

#ifndef HEADRACE_H
#define HEADRACE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Outcome of a call. Where it is not `HEADRACE_STATUS_OK`, `headrace_error` has a message, and nothing was done.
typedef enum headrace_status {
  // It was done.
  HEADRACE_STATUS_OK = 0,
  // Time would run backwards.
  HEADRACE_STATUS_PAST = 1,
  // There is no such component, target, operation or change, a target takes other requests, or a component cannot change so.
  HEADRACE_STATUS_UNKNOWN = 2,
  // The request ends beyond the last byte of its target.
  HEADRACE_STATUS_BEYOND_END = 3,
  // The request is for no bytes, or the file has none.
  HEADRACE_STATUS_EMPTY = 4,
  // More requests are in flight, or completions kept, than `run.limits.in_flight` of the scenario.
  HEADRACE_STATUS_TOO_MANY = 5,
  // Nothing can go on: a request has too many parts, or the background load has ended.
  HEADRACE_STATUS_ENDED = 6,
  // A pointer is null, or a text is not UTF-8.
  HEADRACE_STATUS_INVALID = 7,
  // Power cannot fail, or writes cannot be remembered, in this storage; or too many writes were not flushed.
  HEADRACE_STATUS_POWER = 8,
  // An archive cannot hold a file, or the file was added too late.
  HEADRACE_STATUS_FILE = 9,
  // The simulation broke a law that every simulation must keep: headrace is wrong.
  HEADRACE_STATUS_DEFECT = 10,
} headrace_status;

// Kind of a request.
typedef enum headrace_op {
  // Read.
  HEADRACE_OP_READ = 0,
  // Write.
  HEADRACE_OP_WRITE = 1,
  // Discard (TRIM, UNMAP).
  HEADRACE_OP_DISCARD = 2,
  // Flush: it completes when all that completed before it is on the medium. It has no bytes.
  HEADRACE_OP_FLUSH = 3,
} headrace_op;

// Operation on a file of an archive.
typedef enum headrace_act {
  // The first `bytes` of a file are sent, or all of it if it has no more.
  HEADRACE_ACT_GET = 0,
  // A file is put; one of that name is replaced.
  HEADRACE_ACT_PUT = 1,
  // A file goes from tape to the disk pool.
  HEADRACE_ACT_STAGE = 2,
  // A file is removed.
  HEADRACE_ACT_DELETE = 3,
  // The recall of a file is withdrawn, if no drive serves it yet.
  HEADRACE_ACT_CANCEL = 4,
} headrace_act;

// A storage system. It belongs to one thread at a time.
typedef struct headrace_storage headrace_storage;

// A request to a target.
typedef struct headrace_request {
  // Virtual time at which it is submitted, in ns: now or later.
  uint64_t at_ns;
  // Number of the target, from `headrace_target`.
  size_t target;
  // A `headrace_op`.
  uint32_t op;
  // Not 0 for a write that completes when it and all before it are on the medium.
  uint32_t durable;
  // Address of the first byte.
  uint64_t address;
  // Number of bytes.
  uint64_t bytes;
} headrace_request;

// An operation on a file of an archive. It fails if there is no such file at that time.
typedef struct headrace_file_request {
  // Virtual time at which it is submitted, in ns: now or later.
  uint64_t at_ns;
  // Number of the archive, from `headrace_target`.
  size_t target;
  // A `headrace_act`.
  uint32_t act;
  // The file: its name as a number, see `headrace_number_of`.
  uint64_t file;
  // Number of bytes, of a get and a put; ignored for others.
  uint64_t bytes;
  // The user, as a number.
  uint64_t user;
  // The host of the user, as a number.
  uint64_t host;
} headrace_file_request;

// Where a file lies on tape.
typedef struct headrace_tape_place {
  // The cartridge: its name as a number.
  uint64_t cartridge;
  // Where the file begins, in bytes from the beginning of the tape.
  uint64_t position;
} headrace_tape_place;

// A request that was answered.
typedef struct headrace_completion {
  // The number that `headrace_submit` gave the request.
  uint64_t ticket;
  // Virtual time of the answer, in ns.
  uint64_t at_ns;
  // Not 0 if nothing could answer the request.
  uint32_t failed;
  // 0 if there was no completion: time has passed to `until_ns`.
  uint32_t found;
} headrace_completion;

// Data that a loss of power took, or a request that it left without an answer.
typedef struct headrace_loss_of_power {
  // The number that `headrace_submit` gave the request.
  uint64_t ticket;
  // Address of the bytes that are lost of a write that was answered. There, the target has what was written at the last flush or
  // before, or by any write since then.
  uint64_t address;
  // Number of bytes that are lost.
  uint64_t bytes;
  // Number of the target, as from `headrace_target`; 0 for a request without an answer.
  size_t target;
  // Not 0 for a request that was in flight, and is never answered: each sector of a write has its old data or the new.
  uint32_t unanswered;
} headrace_loss_of_power;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Builds the `system` of a scenario. `scenario` is its YAML or JSON; `file` says where it would lie, beside the files that it names. Returns
// null where the scenario cannot work: a message is then written to `error`, cut to `room` bytes with its zero. The storage is freed by
// `headrace_free`.
//
// # Safety
// `scenario` and `file` end with a zero; `error` has room for `room` bytes, or is null.
struct headrace_storage *headrace_load(const char *scenario,
                                       const char *file,
                                       uint64_t seed,
                                       char *error,
                                       size_t room);

// Frees a storage; null is ignored.
//
// # Safety
// `storage` is null, or came from `headrace_load` and was not freed.
void headrace_free(struct headrace_storage *storage);

// Returns the message of the last call that was refused. It is valid until the next call.
//
// # Safety
// `storage` came from `headrace_load`, or is null.
const char *headrace_error(const struct headrace_storage *storage);

// Returns the present in ns of virtual time; 0 for null.
//
// # Safety
// `storage` came from `headrace_load`, or is null.
uint64_t headrace_now(const struct headrace_storage *storage);

// Finds the number of the component `name`, by which requests are submitted to it.
//
// # Safety
// `storage` came from `headrace_load`; `name` ends with a zero; `target` can be written to. Null is refused.
enum headrace_status headrace_target(struct headrace_storage *storage, const char *name, size_t *target);

// Submits a request, whose number is written to `ticket` if that is not null.
//
// # Safety
// `storage` came from `headrace_load`; `request` can be read and `ticket` written to. Null is refused, but for `ticket`.
enum headrace_status headrace_submit(struct headrace_storage *storage,
                                     const struct headrace_request *request,
                                     uint64_t *ticket);

// Returns the number that stands for the name of a file, user, host or cartridge, as in logs: the name itself if that is a number. 0 for null.
//
// # Safety
// `name` ends with a zero, or is null.
uint64_t headrace_number_of(const char *name);

// Submits an operation on a file to an archive; its number is written to `ticket` if that is not null.
//
// # Safety
// `storage` came from `headrace_load`; `request` can be read and `ticket` written to. Null is refused, but for `ticket`.
enum headrace_status headrace_submit_file(struct headrace_storage *storage,
                                          const struct headrace_file_request *request,
                                          uint64_t *ticket);

// Adds a file that an archive has from the beginning: in its disk pool, or on tape if `on_tape` is not 0, there at `place` or, if that is null, where
// the archive chooses. To be called before the first request, and before time passes.
//
// # Safety
// `storage` came from `headrace_load`; `place` can be read, or is null. Null is refused for `storage`.
enum headrace_status headrace_add_file(struct headrace_storage *storage,
                                       size_t target,
                                       uint64_t file,
                                       uint64_t bytes,
                                       uint32_t on_tape,
                                       const struct headrace_tape_place *place);

// Writes what the streams of the scenario and all components did from the beginning to now to `json`, as the results of `headrace run --json` have
// it: `simulated_s`, `streams` and `components`. The text is cut to `room` bytes with its zero; `needed` is how many it takes.
//
// # Safety
// `storage` came from `headrace_load`; `json` has room for `room` bytes, or is null; `needed` can be written to, or is null. Null is refused for
// `storage`.
enum headrace_status headrace_results(struct headrace_storage *storage,
                                      char *json,
                                      size_t room,
                                      size_t *needed);

// Lets time pass to the next completion, or to `until_ns`, and writes what was found to `completion`.
//
// # Safety
// `storage` came from `headrace_load`; `completion` can be written to. Null is refused.
enum headrace_status headrace_next(struct headrace_storage *storage,
                                   uint64_t until_ns,
                                   struct headrace_completion *completion);

// Lets time pass to `until_ns`. Completions are kept for `headrace_next`.
//
// # Safety
// `storage` came from `headrace_load`. Null is refused.
enum headrace_status headrace_advance(struct headrace_storage *storage, uint64_t until_ns);

// Remembers from now on which writes are answered and not flushed, so that power can fail. To be called before the first request.
// Fails where power cannot: with streams, or an archive.
//
// # Safety
// `storage` came from `headrace_load`. Null is refused.
enum headrace_status headrace_remember_writes(struct headrace_storage *storage);

// Has power fail everywhere, now, and be back at once. Writes to `number` how many losses `headrace_loss` then tells of. Needs
// `headrace_remember_writes`, and a scenario without streams.
//
// # Safety
// `storage` came from `headrace_load`; `number` can be written to, or is null. Null is refused for `storage`.
enum headrace_status headrace_lose_power(struct headrace_storage *storage,
                                         size_t *number);

// Writes one of the losses of the last loss of power to `loss`: first the lost parts of writes, then requests without an answer.
//
// # Safety
// `storage` came from `headrace_load`; `loss` can be written to. Null is refused.
enum headrace_status headrace_loss(struct headrace_storage *storage,
                                   size_t number,
                                   struct headrace_loss_of_power *loss);

// Has a component take `percent` of its usual time for what it begins from now on; 100 for the usual time.
//
// # Safety
// `storage` came from `headrace_load`; `component` ends with a zero. Null is refused.
enum headrace_status headrace_slow(struct headrace_storage *storage, const char *component, uint32_t percent);

// Has a component, such as `volume/drive[2]`, fail (`change` 0), return with its data (1), or be replaced by an empty one (2), now.
//
// # Safety
// `storage` came from `headrace_load`; `component` ends with a zero. Null is refused.
enum headrace_status headrace_change(struct headrace_storage *storage,
                                     const char *component,
                                     uint32_t change);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HEADRACE_H */
