//! Training in steps, against closed forms.

use headrace_scenario::progress::Progress;
use headrace_scenario::results::{Results, StepResults};
use headrace_scenario::run::{End, Options};
use headrace_scenario::simulate;
use proptest::prelude::*;

use crate::near::close;

fn found(text: &str) -> Result<Results, String> {
    let found = simulate(text, "test.yaml", &[], &Options::default(), &Progress::default());
    found.map(|found| found.results).map_err(|problems| problems.rendered())
}

/// Training from a component that takes `read` for each sample and serves as many at once as come.
fn training(read: &str, steps: &str) -> (Results, StepResults) {
    let store = format!("{{type: station, servers: 64, service: {read}, capacity: 1 GB}}");
    let stream = format!("{{to: store, size: 100 kB, arrivals: {{steps: {{{steps}}}}}}}");
    let run = "{requests: 20000, warm_up: none}";
    let results = found(&format!("system: {{store: {store}}}\nworkload: {{training: {stream}}}\nrun: {run}"));
    let results = results.unwrap_or_else(|problems| panic!("{problems}"));
    let steps = results.streams[0].steps.clone().expect("the stream trains");
    (results, steps)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// One thread that takes r for a batch, computing for c: with nothing read ahead the two follow each other, and with any prefetching
    /// the slower sets the pace.
    #[test]
    fn one_thread_and_fixed_times_are_as_the_closed_forms_say(
        read in 1u32..50, compute in 1u32..200, batch in 1u32..8, prefetch in 0u32..3, sample in any::<bool>()
    ) {
        let fetch = if sample { "sample" } else { "batch" };
        let ahead = [0, 1, 1_000_000][prefetch as usize];
        let steps = format!(
            "accelerators: 1, batch: {batch}, compute: {compute} ms, prefetch: {ahead}, fetch: {fetch}, samples: 1000"
        );
        let (_, steps) = training(&format!("{read} ms"), &steps);
        let (c, r) = (f64::from(compute), f64::from(batch * read));
        let au = if prefetch == 0 { c / (c + r) } else { c / c.max(r) };
        close(steps.au.unwrap(), au, 1.5, "accelerator utilisation");
        prop_assert!((steps.stall_ms.unwrap() - (c / steps.au.unwrap() - c)).abs() < 1e-6);
    }

    /// A barrier waits for the slowest: with exponential computing, n accelerators take H(n) times as long for a step as one.
    #[test]
    fn a_barrier_waits_for_the_slowest(accelerators in 1u32..7) {
        let steps = format!("accelerators: {accelerators}, batch: 1, compute: {{exponential: 100 ms}}, prefetch: 50");
        let (_, steps) = training("1 us", &steps);
        let harmonic: f64 = (1..=accelerators).map(|n| 1.0 / f64::from(n)).sum();
        close(steps.au.unwrap(), 1.0 / harmonic, 4.0, "accelerator utilisation");
        let apart = format!("accelerators: {accelerators}, batch: 1, compute: {{exponential: 100 ms}}, barrier: false");
        let (_, apart) = training("1 us", &apart);
        prop_assert!(apart.au.unwrap() > 0.999);
    }
}

/// Threads take turns: w of them read w batches at once, and a batch of s samples by sample takes as long as ⌈s/w⌉ reads.
#[test]
fn threads_read_at_once() {
    let of = |fetch| {
        let steps =
            format!("accelerators: 1, batch: 6, compute: 1 ms, prefetch: 0, threads: 4, fetch: {fetch}");
        training("10 ms", &steps).1.stall_ms.unwrap()
    };
    close(of("batch"), 60.0, 0.1, "stall, a thread a batch");
    close(of("sample"), 20.0, 30.0, "stall, all threads a batch");
    let steps = "accelerators: 1, batch: 6, compute: 1 ms, prefetch: 8, threads: 4, fetch: batch";
    close(training("10 ms", steps).1.stall_ms.unwrap(), 60.0 / 4.0 - 1.0, 1.0, "stall, four batches at once");
}

/// The time to hand a batch over is waited for in each step, and that to preprocess a sample by the thread that read it.
#[test]
fn handing_over_and_preprocessing_take_their_time() {
    let steps = "accelerators: 1, batch: 2, compute: 30 ms, prefetch: 4, hand_over: 10 ms, preprocess: 5 ms";
    close(training("1 ms", steps).1.au.unwrap(), 30.0 / 40.0, 0.1, "AU with a hand-over");
    let steps = "accelerators: 1, batch: 2, compute: 10 ms, prefetch: 4, preprocess: 9 ms";
    close(training("1 ms", steps).1.au.unwrap(), 10.0 / 20.0, 1.0, "AU with preprocessing");
}

/// Threads preprocess on the cores of their server: four accelerators ask for 4 × 8 × 5 ms in each step, which two cores give in 80 ms.
#[test]
fn preprocessing_takes_cores_of_the_server() {
    let of = |cores: u32| {
        let steps = "accelerators: 4, batch: 8, threads: 4, compute: 50 ms, preprocess: 5 ms, prefetch: 8";
        let text = format!(
            "system: {{host: {{type: server, cores: {cores}, attached: [store]}}, store: {{type: station, servers: 64, service: 1 ms, capacity: 1 GB}}}}
workload: {{training: {{from: host, to: store, size: 100 kB, arrivals: {{steps: {{{steps}}}}}}}}}
run: {{requests: 20000}}
"
        );
        let results = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let host = results.components.iter().find(|component| component.path == "host").unwrap();
        (results.streams[0].steps.clone().unwrap().au.unwrap(), host.utilisation.unwrap())
    };
    let (au, busy) = of(2);
    close(au, 50.0 / 80.0, 1.0, "AU with two cores");
    close(busy, 1.0, 1.0, "both are busy");
    let (au, busy) = of(16);
    assert!(au > 0.999, "{au}");
    close(busy, 4.0 * 8.0 * 5.0 / 50.0 / 16.0, 2.0, "of sixteen");
}

/// Without a barrier, accelerators that come to a checkpoint early wait there: samples per second are those of the whole run.
#[test]
fn accelerators_wait_for_each_other_before_a_checkpoint() {
    let steps = "accelerators: 8, batch: 1, threads: 2, compute: {exponential: 100 ms}, barrier: false, \
                 samples: 3200, epochs: 1, checkpoint: {every: 10, size: 1 MB}";
    let (results, steps) = training("0.1 ms", steps);
    close(steps.samples_per_s, 3200.0 / results.simulated_s, 0.5, "samples per second");
    assert!(steps.au.unwrap() < 0.75, "{steps:?}");
}

/// Restores take no part of the time of steps and checkpoints: one step of 50 ms, and a checkpoint of four writes of 10 ms.
#[test]
fn the_share_of_checkpoints_leaves_out_restores() {
    let steps = "accelerators: 2, batch: 0, compute: 50 ms, epochs: 1, \
                 checkpoint: {every: 1, size: 400 kB, write: 100 kB, restores: 10}";
    let (_, steps) = training("10 ms", steps);
    close(steps.checkpoint_share, 40.0 / 90.0, 1e-6, "share of checkpoints");
    close(steps.restore_ms.unwrap(), 40.0, 1e-6, "a restore");
}

/// A run that ends during its only checkpoint says that its rate leaves that out.
#[test]
fn a_run_that_ends_during_a_checkpoint_says_so() {
    let of = |time: &str| {
        let steps = "accelerators: 2, batch: 2, threads: 2, compute: 10 ms, checkpoint: {every: 100, size: 100 MB, write: 1 MB}";
        let text = format!(
            "system: {{store: {{type: station, servers: 8, service: 10 ms, capacity: 1 GB}}}}
workload: {{training: {{to: store, size: 1 MB, arrivals: {{steps: {{{steps}}}}}}}}}
run: {{time: {time}, warm_up: none}}
"
        );
        let results = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let told = results.notes.iter().any(|note| note.contains("the run ended during a checkpoint"));
        assert_eq!(told, results.streams[0].steps.as_ref().unwrap().checkpoint_unfinished);
        told
    };
    assert!(of("1.5 s"));
    assert!(!of("2.5 s"));
}

/// Where each step is followed by a checkpoint, none counts, and utilisation is not known.
#[test]
fn without_a_step_that_counts_there_is_no_utilisation() {
    let steps = "accelerators: 4, batch: 1, compute: {exponential: 10 ms}, barrier: false, samples: 400, epochs: 1, \
                 checkpoint: {every: 1, size: 100 kB}";
    let (results, steps) = training("1 ms", steps);
    assert_eq!(steps.au, None, "{}", results.answer);
    assert!(!results.answer.contains("utilised"), "{}", results.answer);
}

/// A checkpoint in the memory of a file system is not on the medium before it is flushed: sixteen writes and a flush, of 10 ms each, one at a time.
#[test]
fn a_checkpoint_that_is_synchronised_is_on_the_medium() {
    let of = |accelerators: u32, more: &str| {
        let checkpoint = format!("{{every: 1, size: 16 MiB, write: 1 MiB, writers: 1{more}}}");
        let text = format!(
            "system:
  fs: {{type: file_system, of: store, memory: 1 GiB, copy: 10 GB/s, max_request: 1 MiB}}
  store: {{type: station, service: 10 ms, capacity: 10 GB}}
workload: {{training: {{to: fs, size: 1 MB, arrivals: {{steps: {{accelerators: {accelerators}, batch: 0, compute: 1 s, epochs: 8, checkpoint: {checkpoint}}}}}}}}}
run: {{warm_up: none}}
"
        );
        let results = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
        results.streams[0].steps.clone().unwrap().checkpoint_ms.unwrap()
    };
    let in_memory = of(1, "");
    assert!(in_memory < 5.0, "{in_memory}");
    close(of(1, ", sync: true"), in_memory + 170.0, 1.0, "on the medium");
    close(of(8, ", sync: true"), in_memory + 170.0, 1.0, "of eight, one writes");
}

/// A run of given epochs reads the data set as often, each sample in pieces, and ends.
#[test]
fn epochs_end_the_run() {
    let steps = "accelerators: 2, batch: 5, compute: 1 ms, samples: 103, epochs: 3, read: 30 kB";
    let (results, steps) = training("1 ms", steps);
    assert_eq!(results.ended, End::Done);
    assert!(results.complete);
    assert_eq!(steps.steps, 2 * 10 * 3, "three samples are left over in each epoch");
    let (sample, pieces) = (2 * 10 * 5 * 3, 4);
    assert_eq!(results.streams[0].completed, sample * pieces);
    assert!(steps.start_ms > steps.stall_ms, "an epoch begins with nothing read ahead: {steps:?}");
}

/// Two steps an epoch, of 1 s each: the first waits 0.4 s for four reads of 0.1 s, the second for nothing.
#[test]
fn short_epochs_are_mostly_starts() {
    let steps = "accelerators: 1, batch: 4, compute: 1 s, samples: 8, epochs: 20, prefetch: 1, fetch: batch";
    let (results, steps) = training("100 ms", steps);
    close(steps.start_share, 0.4 / 2.4, 1e-6, "share of first steps");
    assert_eq!(steps.stall_ms, Some(0.0));
    let told = "no stalls; this leaves out the first step of an epoch, or after a checkpoint, which stalls for 400 ms: 17 % of the time";
    assert!(results.answer.contains(told), "{}", results.answer);
}

/// Four threads end their first batches together, so that the next steps find theirs: few steps hide that storage feeds half of what is
/// asked for.
#[test]
fn few_steps_after_the_first_say_little() {
    let of = |requests: u32| {
        let text = format!(
            "system: {{store: {{type: station, service: 10 ms, capacity: 1 GB}}}}
workload: {{training: {{to: store, size: 100 kB, arrivals: {{steps: {{accelerators: 1, batch: 5, threads: 4, prefetch: 4, compute: 25 ms}}}}}}}}
run: {{requests: {requests}, warm_up: none}}
"
        );
        let results = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
        (results.streams[0].steps.clone().unwrap(), results)
    };
    let (few, results) = of(25);
    assert!(few.au_at_most && few.au.is_some_and(|au| au > 0.9), "{few:?}");
    assert!(results.answer.contains("Accelerators: at most "), "{}", results.answer);
    let told = "fetched during the first one";
    assert!(results.notes.iter().any(|note| note.contains(told)), "{:?}", results.notes);
    // A batch takes 50 ms, and computing on it 25 ms.
    let (many, results) = of(20_000);
    assert!(!many.au_at_most, "{many:?}");
    close(many.au.unwrap(), 0.5, 2.0, "accelerator utilisation");
    assert!(!results.answer.contains("at most "), "{}", results.answer);
}

/// Checkpoints that take no time are read back no more often than limits allow.
#[test]
fn restores_that_take_no_time_end_the_run() {
    let steps = "accelerators: 1, batch: 0, compute: 0 s, epochs: 1, \
                 checkpoint: {every: 1, size: 4 KiB, restores: 1000000000000}";
    let text = format!(
        "system:
  disk: {{type: station, service: 1 ms, capacity: 1 GB}}
  store: {{type: file_system, of: disk, memory: 10 MB}}
workload: {{training: {{to: store, size: 4 KiB, arrivals: {{steps: {{{steps}}}}}}}}}
run: {{requests: 100000000000, warm_up: none}}
"
    );
    assert_eq!(found(&text).unwrap().ended, End::TimeStandsStill);
}

/// Batches are fetched during each checkpoint, however long the run.
#[test]
fn checkpoints_leave_utilisation_as_it_is() {
    let steps = "accelerators: 2, batch: 5, compute: 10 ms, prefetch: 8, checkpoint: {every: 20, size: 1 MB}";
    let (_, steps) = training("1 ms", steps);
    assert!(steps.checkpoints > 20 && steps.prefetched_share < 0.05, "{steps:?}");
}

/// All write their checkpoints at once, and nobody computes meanwhile.
#[test]
fn checkpoints_are_written_by_all_at_once() {
    let steps = "accelerators: 4, batch: 5, compute: 10 ms, samples: 400, epochs: 5, \
                 checkpoint: {every: 10, size: 1 MB, write: 100 kB}";
    let (results, steps) = training("2 ms", steps);
    assert_eq!(steps.checkpoints, 10);
    close(
        steps.checkpoint_ms.unwrap(),
        20.0,
        0.1,
        "ten writes one after another, on as many servers as accelerators",
    );
    assert_eq!(results.streams[0].writes.as_ref().map(|writes| writes.count), Some(10 * 4 * 10));
    assert_eq!(steps.au, Some(1.0), "a checkpoint is no part of a step");
    assert_eq!(steps.longest_checkpoint_ms, steps.checkpoint_ms, "all take as long");
}

/// The first checkpoint may come later, and fewer may write it.
#[test]
fn checkpoints_begin_when_they_are_told() {
    let steps = "accelerators: 4, batch: 5, compute: 10 ms, samples: 400, epochs: 5, \
                 checkpoint: {every: 10, first: 35, writers: 1, size: 1 MB, write: 100 kB}";
    let (results, steps) = training("2 ms", steps);
    assert_eq!(steps.checkpoints, 7, "after 35, 45, … 95 of 100 steps");
    assert_eq!(results.streams[0].writes.as_ref().map(|writes| writes.count), Some(7 * 10));
}

/// Each step is the first after a checkpoint.
#[test]
fn steps_that_all_follow_a_checkpoint_have_no_utilisation() {
    let steps = "accelerators: 1, batch: 5, compute: 10 ms, samples: 400, epochs: 1, \
                 checkpoint: {every: 1, size: 1 MB, write: 100 kB}";
    let (results, steps) = training("2 ms", steps);
    assert_eq!(steps.au, None);
    let told = "Every step was the first of an epoch or after a checkpoint: no utilisation.";
    assert!(results.answer.contains(told), "{}", results.answer);
}

/// Without samples only checkpoints are written, several pieces at once, and then read back; who is no writer writes its shard.
#[test]
fn checkpoints_alone_take_as_long_as_the_accelerator_with_the_most() {
    let steps = "accelerators: 3, batch: 0, compute: 50 ms, epochs: 5, checkpoint: {every: 1, writers: 2, size: 800 kB, \
                 shard: 400 kB, write: 100 kB, in_flight: 4, restores: 3, reads_in_flight: 2}";
    let (results, steps) = training("2 ms", steps);
    assert_eq!((steps.checkpoints, steps.restores, steps.steps, steps.au), (5, 3, 15, None));
    assert_eq!(steps.checkpoint_bytes, 2.0 * 0.8e6 + 3.0 * 0.4e6);
    close(steps.checkpoint_ms.unwrap(), 12.0 / 4.0 * 2.0, 0.1, "twelve writes, four at once");
    close(steps.restore_ms.unwrap(), 12.0 / 2.0 * 2.0, 0.1, "twelve reads, two at once");
    let counts = [&results.streams[0].reads, &results.streams[0].writes];
    assert_eq!(counts.map(|of| of.as_ref().map(|of| of.count)), [Some(3 * 28), Some(5 * 28)]);
    close(results.simulated_s * 1e3, 5.0 * 56.0 + 3.0 * 62.0, 0.1, "the run ends when the last is read back");
    let told = "training: checkpoints of 2800 kB: written in 6 ms (466.7 MB/s), 11 % of the time, read back in 12 ms (233.3 MB/s); ";
    assert!(results.answer.contains(told), "{}", results.answer);
    assert!(results.answer.contains("with 12 clients"), "{}", results.answer);
    assert!(!results.answer.contains("samples"), "{}", results.answer);
}

/// Ten samples of 1000 B in a file are three pieces of 4 KiB at most, whichever batches need them; two accelerators share a file.
#[test]
fn small_samples_of_a_file_are_read_piece_by_piece() {
    let reads = |size: &str, accelerators: u32, more: &str| {
        let steps = format!(
            "accelerators: {accelerators}, batch: 5, compute: 10 ms, samples: 40, samples_per_file: 10, read: 4 KiB, epochs: 2{more}"
        );
        let text = format!(
            "system: {{s: {{type: station, servers: 64, service: 2 ms, capacity: 1 GB}}}}
workload: {{training: {{to: s, size: {size}, arrivals: {{steps: {{{steps}}}}}}}}}
run: {{requests: 20000, warm_up: none}}
"
        );
        let found = found(&text).unwrap();
        let steps = found.streams[0].steps.as_ref().unwrap().steps;
        assert_eq!(steps, 2 * 8, "{}", found.answer);
        found.streams[0].reads.as_ref().or(Some(&found.streams[0].response)).map(|reads| reads.count)
    };
    // Of several sizes, ten are 9000 B to 11,000 B, as many pieces.
    for size in ["1000 B", "{uniform: {from: 900 B, to: 1100 B, step: 1 B}}"] {
        assert_eq!(reads(size, 1, ""), Some(2 * 4 * 3), "{size}");
        assert_eq!(reads(size, 1, ", threads: 4, fetch: sample"), Some(2 * 4 * 3), "{size}");
        assert_eq!(reads(size, 8, ""), Some(2 * 8 * 2), "each reads half a file of {size}");
    }
}

#[test]
fn a_piece_and_a_file_have_a_limit() {
    let refused = |size: &str, more: &str| {
        let steps = format!("accelerators: 1, batch: 1000000, prefetch: 1000000, compute: 0 s{more}");
        let text = format!(
            "system: {{s: {{type: station, service: 1 ns, capacity: 900 TB}}}}
workload: {{training: {{to: s, size: {size}, arrivals: {{steps: {{{steps}}}}}}}}}
"
        );
        found(&text).unwrap_err()
    };
    let small = refused("1 B", ", samples_per_file: 4000000000, read: 1 TB");
    assert!(small.contains("a piece of 1 TB has more than 100000 samples of 1 B"), "{small}");
    let sizes = "{uniform: {from: 1 kB, to: 2 kB, step: 1 B}}";
    let several = refused(sizes, ", samples_per_file: 4000000000, read: 1 MB");
    assert!(several.contains("a file has more than 100000 samples of several sizes"), "{several}");
    let large = refused("900 TB", ", samples_per_file: 4000000000, read: 1 TB");
    assert!(large.contains("a step takes 1000000 samples, and there are 0"), "{large}");
}

/// A checkpoint from before the run is read back where none was due.
#[test]
fn a_run_may_only_read_checkpoints() {
    let steps = "accelerators: 2, batch: 0, compute: 50 ms, epochs: 1, \
                 checkpoint: {every: 2, size: 400 kB, write: 100 kB, restores: 3}";
    let (results, steps) = training("2 ms", steps);
    assert_eq!((steps.checkpoints, steps.restores), (0, 3));
    assert!(
        results.answer.contains("training: checkpoints of 800 kB: read back in 8 ms"),
        "{}",
        results.answer
    );
    assert!(!results.answer.contains("samples"), "{}", results.answer);
}

/// The training that ends first ends the run, and what the other has left is said.
#[test]
fn training_that_is_cut_short_is_told() {
    let steps = |epochs| {
        format!("{{steps: {{accelerators: 1, batch: 5, compute: 10 ms, samples: 100, epochs: {epochs}}}}}")
    };
    let text = |epochs: [u32; 2]| {
        format!(
            "system: {{s: {{type: station, servers: 64, service: 1 ms, capacity: 1 GB}}}}
workload:
  a: {{to: s, size: 100 kB, arrivals: {}}}
  b: {{to: s, size: 100 kB, arrivals: {}}}
run: {{requests: 20000, warm_up: none}}
",
            steps(epochs[0]),
            steps(epochs[1])
        )
    };
    let told = |epochs| {
        let notes = found(&text(epochs)).unwrap().notes;
        notes.into_iter().find(|note| note.contains("epoch"))
    };
    assert_eq!(told([1, 3]).unwrap(), "the last epoch of `a` ended the run: `b` had epochs left");
    assert_eq!(told([3, 1]).unwrap(), "the last epoch of `b` ended the run: `a` had epochs left");
}

/// The recursion and formulas do not apply, and mistakes are reported at the field.
#[test]
fn mistakes_are_told_by_the_field() {
    let of = |stream: &str, steps: &str| {
        let text = format!(
            "system: {{store: {{type: station, service: 1 ms, capacity: 100 MB}}}}\n\
             workload: {{training: {{to: store, size: 1 MB{stream}, arrivals: {{steps: {{accelerators: 2, batch: 5, compute: 1 ms{steps}}}}}}}}}"
        );
        found(&text).expect_err("it is a mistake")
    };
    let cases = [
        ("", ", samples: 101", "they need 101.4 MB, and there are 100 MB"),
        ("", ", samples: 19, samples_per_file: 10", "19 are no whole number of files of 10"),
        ("", ", samples: 9", "a step takes 10 samples, and there are 9"),
        (", op: write", "", "training has no `op`"),
        (", pattern: sequential", "", "training has no `pattern`"),
        (", file: 20 MB", "", "training has no `file`"),
        (", outstanding: 3", "", "each reader thread has one request in flight"),
        ("", ", read: 0 B", "a request needs at least one byte"),
        ("", ", checkpoint: {every: 3, size: 60 MB}", "a checkpoint takes 120 MB, and there are 100 MB"),
        (
            "",
            ", checkpoint: {every: 3, size: 1 MB, restores: 2}",
            "it is read back after the last epoch, and there is none",
        ),
    ];
    for (stream, steps, message) in cases {
        let told = of(stream, steps);
        assert!(told.contains(message), "{told}");
    }
}

/// Where one accelerator writes for all, the checkpoint is as large as that; the others' shards follow it.
#[test]
fn a_checkpoint_takes_what_its_writers_write() {
    let of = |capacity: u32, size: u32, more: &str| {
        found(&format!(
            "system: {{store: {{type: station, service: 1 ms, capacity: {capacity} MB}}}}\n\
             workload: {{training: {{to: store, size: 1 MB, arrivals: {{steps: {{accelerators: 8, batch: 0, compute: 1 s, \
             checkpoint: {{every: 1, size: {size} MB, writers: 1{more}}}}}}}}}}}\n\
             run: {{requests: 2000, warm_up: none}}"
        ))
    };
    let checkpoint =
        |found: Result<Results, String>| found.unwrap().streams[0].steps.clone().unwrap().checkpoint_bytes;
    assert_eq!(checkpoint(of(90, 90, "")), 90e6);
    assert_eq!(checkpoint(of(100, 20, ", shard: 10 MB")), 100e6);
    let told = of(90, 91, "").expect_err("it is too large");
    assert!(told.contains("a checkpoint takes 91 MB, and there are 90 MB"), "{told}");
}

/// Epochs that are as short as what is prefetched hide that storage feeds a quarter of the accelerators: their batches come during the
/// first step, which is not counted.
#[test]
fn short_epochs_say_little_of_storage() {
    let steps = "accelerators: 8, batch: 5, threads: 4, prefetch: 8, compute: 25 ms, samples: 240, epochs: 5";
    let text = format!(
        "system: {{store: {{type: station, service: 1 ms, capacity: 1 GB}}}}
workload: {{training: {{to: store, size: 100 kB, arrivals: {{steps: {{{steps}}}}}}}}}
run: {{requests: 100000, warm_up: none}}
"
    );
    let results = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let steps = results.streams[0].steps.clone().unwrap();
    assert!(steps.au.is_some_and(|au| au > 0.7) && steps.au_at_most, "{steps:?}");
    assert!(results.answer.contains("Accelerators: at most "), "{}", results.answer);
}

/// Epochs that follow each other until the run ends hide it likewise, however many they are.
#[test]
fn short_epochs_without_end_say_little_of_storage() {
    let of = |accelerators: u32| {
        let text = format!(
            "system: {{store: {{type: station, servers: 4, service: 10 ms, capacity: 1 GB}}}}
workload: {{training: {{to: store, size: 1 MB, arrivals: {{steps: {{accelerators: {accelerators}, batch: 4, threads: 4, prefetch: 4, compute: 50 ms, samples: 200}}}}}}}}
run: {{requests: 20000, warm_up: none}}
"
        );
        found(&text).unwrap_or_else(|problems| panic!("{problems}")).streams[0].steps.clone().unwrap()
    };
    // The store gives 400 samples a second, and an accelerator takes 80. Epochs of 10 steps say so; of those of 3, 2 are prefetched.
    let [few, many] = [5, 16].map(of);
    assert!(few.au.is_some_and(|au| au > 0.99) && !few.au_at_most, "{few:?}");
    assert!(many.prefetched_share > 0.99 && many.au_at_most, "{many:?}");
}

/// Accelerators that come from several servers have one each: two that would each keep a core busy do not meet at one of them.
#[test]
fn accelerators_have_servers_of_their_own() {
    let of = |accelerators: u32| {
        let text = format!(
            "system:
  hosts: {{type: group, copies: 2, of: {{cpu: {{type: server, cores: 1, complete: 10 ms}}}}}}
  net: {{type: switch, rate: 100 Gb/s, connects: [hosts/cpu, filer]}}
  filer: {{type: server, cores: 8, attached: [store]}}
  store: {{type: station, servers: 8, service: 1 us, capacity: 1 GB}}
  volume: {{type: array, level: raid0, of: [store], stripe_unit: 1 MiB, from: filer}}
workload:
  training: {{from: hosts/cpu, to: volume, size: 1 kB, arrivals: {{steps: {{accelerators: {accelerators}, batch: 4, threads: 1, prefetch: 4, compute: 42 ms}}}}}}
run: {{requests: 20000}}
"
        );
        found(&text).unwrap_or_else(|problems| panic!("{problems}")).streams[0]
            .steps
            .clone()
            .unwrap()
            .au
            .unwrap()
    };
    close(of(2), 1.0, 0.1, "one accelerator a server");
    // Two of each server take 80 ms of its core for 42 ms of computing.
    close(of(4), 42.0 / 80.0, 2.0, "two accelerators a server");
}

/// They have the disk of their server where each has its own.
#[test]
fn accelerators_have_the_disk_of_their_server() {
    let text = "system:
  hosts: {type: group, copies: 2, of: {cpu: {type: server, cores: 1, complete: 10 ms, attached: [disk]}, disk: {type: station, service: 1 us, capacity: 1 GB}}}
workload:
  training: {from: hosts/cpu, to: hosts/disk, size: 1 kB, arrivals: {steps: {accelerators: 2, batch: 4, threads: 1, prefetch: 4, compute: 42 ms}}}
run: {requests: 20000}
";
    let steps = found(text).unwrap_or_else(|problems| panic!("{problems}")).streams[0].steps.clone().unwrap();
    close(steps.au.unwrap(), 1.0, 0.1, "one accelerator a server");
}

/// DLIO counts the steps to a checkpoint from the beginning of each epoch.
#[test]
fn checkpoints_may_be_counted_in_each_epoch() {
    let of = |each_epoch: bool| {
        let steps = format!(
            "accelerators: 1, batch: 5, compute: 10 ms, samples: 150, epochs: 5, \
             checkpoint: {{every: 20, each_epoch: {each_epoch}, size: 1 MB}}"
        );
        training("2 ms", &steps).1.checkpoints
    };
    assert_eq!([false, true].map(of), [7, 5]);
}

/// Samples a second are those of whole steps: never more than computing allows, however the run is cut.
#[test]
fn samples_a_second_do_not_depend_on_the_ends_of_a_run() {
    for requests in [500, 1111, 5000] {
        let text = format!(
            "system: {{store: {{type: station, servers: 8, service: 1 ms, capacity: 1 GB}}}}
workload: {{training: {{to: store, size: 100 kB, arrivals: {{steps: {{accelerators: 4, batch: 7, threads: 4, prefetch: 4, compute: 100 ms}}}}}}}}
run: {{requests: {requests}, replications: 3}}
"
        );
        let results = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
        let rate = results.streams[0].steps.as_ref().unwrap().samples_per_s;
        assert!(rate <= 280.0 + 1e-6, "{rate} of at most 280 with {requests}");
    }
}

/// Checkpoints of any size begin where files do: a few bytes more or less make no difference.
#[test]
fn checkpoints_of_odd_sizes_take_no_longer() {
    let took = |size: &str| {
        let text = format!(
            "system: {{store: {{type: ssd, device: micron-9400-pro-7680gb}}}}
workload: {{training: {{to: store, size: 1 MB, arrivals: {{steps: {{accelerators: 2, batch: 0, compute: 1 s, epochs: 1, checkpoint: {{every: 1, size: {size}}}}}}}}}}}
run: {{requests: 100000, warm_up: none}}
"
        );
        let results = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
        results.streams[0].steps.as_ref().unwrap().checkpoint_ms.unwrap()
    };
    let even = took("1 GiB");
    for odd in ["1073745920 B", "1073741825 B"] {
        close(took(odd), even, 2.0, odd);
    }
}

/// Files begin on extents: a sample of a few bytes more or less straddles no more stripes. Where they fit only without gaps, they have none.
#[test]
fn large_samples_lie_in_extents() {
    let per_read = |size: &str| {
        let text = format!(
            "parts: {{drive: {{type: station, servers: 8, service: 1 ms, capacity: 1 TB}}}}
system: {{array: {{type: array, level: raid5, of: drive, disks: 5, stripe_unit: 256 KiB}}}}
workload: {{training: {{to: array, size: {size}, arrivals: {{steps: {{accelerators: 2, batch: 4, threads: 4, compute: 100 ms, read: 1 MiB}}}}}}}}
run: {{requests: 4000}}
"
        );
        let found = found(&text).unwrap_or_else(|problems| panic!("{problems}"));
        found
            .components
            .iter()
            .filter_map(|part| part.meters.get("accesses_per_request"))
            .flatten()
            .sum::<f64>()
    };
    let even = per_read("100 MiB");
    for odd in ["104857601 B", "104999936 B"] {
        assert!((per_read(odd) / even - 1.0).abs() < 0.02, "{odd}: {} for {even}", per_read(odd));
    }
    let full = "system: {d: {type: station, servers: 8, service: 1 ms, capacity: 1126794912 B}}
workload: {t: {to: d, size: 1100000 B, arrivals: {steps: {accelerators: 8, batch: 1, compute: 10 ms, samples: 1000, epochs: 1, checkpoint: {size: 1536 KiB, every: 100}}}}}
run: {requests: 2000}
";
    assert!(found(full).is_ok(), "{:?}", found(full).err());
}

/// The longest checkpoint is one in which the storage is slow.
#[test]
fn the_longest_checkpoint_is_told_where_others_are_shorter() {
    let text = "system: {disk: {type: station, service: 1 ms, capacity: 1 GB}}
workload:
  training:
    {to: disk, size: 4 KiB, arrivals: {steps: {accelerators: 1, batch: 0, compute: 100 ms, checkpoint: {every: 1, size: 100 kB, write: 1 kB}}}}
faults: [{component: disk, slow: 4, from: 1.95 s, until: 3 s}]
run: {time: 8 s, warm_up: none}
";
    let results = found(text).unwrap_or_else(|problems| panic!("{problems}"));
    let steps = results.streams[0].steps.clone().unwrap();
    close(steps.longest_checkpoint_ms.unwrap(), 400.0, 4.0, "a hundred writes of 4 ms");
    assert!(steps.checkpoint_ms.unwrap() < 200.0);
    assert!(results.answer.contains(" 400 ms at most"), "{}", results.answer);
}

/// More writers than accelerators are a slip.
#[test]
fn writers_are_accelerators() {
    let text = "system: {disk: {type: station, service: 1 ms, capacity: 1 GB}}
workload:
  training: {to: disk, size: 4 KiB, arrivals: {steps: {accelerators: 2, batch: 0, compute: 1 s, checkpoint: {every: 1, size: 1 MB, writers: 3}}}}
";
    let refused = found(text).unwrap_err();
    assert!(refused.contains("3 write, and there are 2 accelerators"), "{refused}");
}
