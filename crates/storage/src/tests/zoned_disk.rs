//! The zoned disk of the split-merge paper: theory against the corrected formulas, sampling against theory, and the
//! recursion against events.

use super::common::{Coming, by_events, by_recursion, graph};
use super::near::close;
use crate::array::{ArraySpec, FirstUnit, Level, Queueing};
use crate::disk::{DiskNumbers, DiskSpec, Positioning, SeekTimes};
use crate::graph::Copies;
use crate::{ComponentSpec, Graph, Load, Model};
use crate::{DeviceRef, Sourced};
use headrace_analytic::{Distribution, Mg1};
use headrace_kernel::RngStream;
use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, Op};

const BLOCK: u64 = 128 * 1024;

fn number<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> Sourced<T> {
    Sourced::Plain(text.parse().unwrap())
}

/// Seagate ST3500630NS by the paper's Table 1.
fn numbers() -> DiskNumbers {
    let seek =
        |one, full| SeekTimes { track_to_track: number(one), average: None, full_stroke: number(full) };
    DiskNumbers {
        name: None,
        validation: String::new(),
        capacity: number("500 GB"),
        cylinders: Sourced::Plain(60_801),
        rotation: number("7200 rpm"),
        media_rate_outer: number("512 B/0.005976 ms"),
        media_rate_inner: number("512 B/0.012064 ms"),
        seek_read: seek("0.8 ms", "17 ms"),
        seek_write: seek("1 ms", "18 ms"),
        overhead: number("0 ms"),
        price: None,
        power: None,
        rack_units: None,
        mechanics: None,
        cache: None,
        interface: None,
        queue: None,
    }
}

fn disk_spec(positioning: Positioning) -> ComponentSpec {
    let device = DeviceRef::Named("the paper's".to_owned());
    ComponentSpec::Disk(DiskSpec { device, positioning, scheduling: None, queue_depth: None, phase: None })
}

fn disk(positioning: Positioning) -> Graph {
    graph(&[("tds", disk_spec(positioning))], &numbers())
}

fn array(disks: u32, queueing: Queueing) -> Graph {
    let of = Copies::Written(Box::new(disk_spec(Positioning::Independent)));
    let spec = ArraySpec {
        queueing,
        first_unit: FirstUnit::FirstDisk,
        ..ArraySpec::new(Level::Raid0, of, Some(disks), Bytes(BLOCK))
    };
    graph(&[("tds", ComponentSpec::Array(spec))], &numbers())
}

/// How long a request holds what is named `tds`.
fn distribution(graph: &Graph, op: Op, blocks: u64) -> Distribution {
    let bytes = blocks * BLOCK;
    let load = Load {
        stream: "users".to_owned(),
        kinds: vec![(1.0, op, bytes)],
        sizes: (Bytes(bytes), Bytes(bytes)),
        align: Bytes(BLOCK),
        uniform: true,
        traced: false,
        alone: false,
        durable: false,
        threads: 0,
        clients: 0,
        sessions: None,
    };
    match graph.view(graph.named("tds").unwrap()).model(&load) {
        Ok(Model::Single { distribution, .. }) => distribution,
        other => panic!("{other:?}"),
    }
}

/// E[S] and the response of the M/G/1 queue at 0.01 requests a ms, from the corrected formulas of the paper.
#[test]
fn the_law_has_the_moments_of_the_corrected_formulas() {
    let disk = disk(Positioning::Independent);
    for (op, blocks, service, response) in [
        (Op::Read, 1, 15.512, 17.047),
        (Op::Read, 10, 33.928, 42.908),
        (Op::Read, 40, 95.312, 1095.0),
        (Op::Write, 1, 16.132, 17.803),
        (Op::Write, 20, 55.009, 89.617),
    ] {
        let queue = Mg1::new(0.01, distribution(&disk, op, blocks)).unwrap();
        close(queue.service().mean(), service, 0.02, "E[S]");
        close(queue.mean_response(), response, if blocks == 40 { 0.5 } else { 0.05 }, "R");
    }
}

/// Coupling seek and transfer by one target leaves the mean and raises the spread (X003-3).
#[test]
fn coupling_leaves_the_mean_and_raises_the_spread() {
    for (blocks, independent, coupled) in [(1, 4.339, 4.391), (10, 5.973, 6.332), (20, 9.32, 9.79)] {
        let distributions = [Positioning::Independent, Positioning::Coupled]
            .map(|way| distribution(&disk(way), Op::Read, blocks));
        close(distributions[1].mean(), distributions[0].mean(), 0.01, "mean");
        close(distributions[0].sd(), independent, 0.15, "independent");
        close(distributions[1].sd(), coupled, 0.15, "coupled");
    }
}

/// E[max] of the split-merge array.
#[test]
fn the_largest_part_has_the_mean_of_the_table() {
    for (disks, op, blocks, expected) in [
        (2, Op::Read, 5, 21.24),
        (3, Op::Read, 20, 31.60),
        (4, Op::Write, 10, 24.09),
        (2, Op::Write, 10, 27.11),
    ] {
        close(distribution(&array(disks, Queueing::SplitMerge), op, blocks).mean(), expected, 0.1, "E[max]");
    }
}

/// `n` Poisson requests of `blocks` reads.
fn poisson(blocks: u64, rate_per_ms: f64, n: u64) -> Vec<Coming> {
    let mut draws = RngStream::named(1, "users", "arrivals").draws();
    let mut now = Nanos::ZERO;
    let block = |i| {
        let spot = RngStream::named(1, "users", "addresses").of(i).below(3_800_000);
        Block { op: Op::Read, address: spot * BLOCK, bytes: blocks * BLOCK }
    };
    let coming = |i| {
        now += Nanos::from_ms(draws.exponential() / rate_per_ms);
        (now, 0, block(i))
    };
    (0..n).map(coming).collect()
}

#[test]
fn the_recursion_gives_what_events_give_request_by_request() {
    for graph in [
        disk(Positioning::Addressed),
        disk(Positioning::Independent),
        array(3, Queueing::SplitMerge),
        array(3, Queueing::ForkJoin),
    ] {
        let requests = poisson(7, 0.02, 3000);
        assert_eq!(by_events(&graph, &["tds"], &requests), by_recursion(&graph, "tds", &requests));
    }
}

/// Sampling agrees with the distribution it samples, and the queue with Pollaczek and Khinchine, over 10⁶ requests.
#[test]
fn a_million_requests_agree_with_theory() {
    for (graph, blocks) in [
        (disk(Positioning::Independent), 5),
        (disk(Positioning::Coupled), 10),
        (disk(Positioning::Addressed), 5),
        (array(3, Queueing::SplitMerge), 5),
    ] {
        let accounts = by_recursion(&graph, "tds", &poisson(blocks, 0.01, 1_000_000));
        let mean = accounts.iter().map(|breakdown| breakdown.total().ms()).sum::<f64>() / 1e6;
        let queue = Mg1::new(0.01, distribution(&graph, Op::Read, blocks)).unwrap();
        close(mean, queue.mean_response(), 0.5, "mean response");
    }
}

/// Writes take longer to settle, and a disk whose tracks are all alike is no special case.
#[test]
fn writes_seek_longer_and_uniform_tracks_work() {
    let mut flat = numbers();
    flat.media_rate_inner = flat.media_rate_outer.clone();
    let flat = graph(&[("tds", disk_spec(Positioning::Coupled))], &flat);
    let (read, write) = (distribution(&flat, Op::Read, 1).mean(), distribution(&flat, Op::Write, 1).mean());
    assert!(write > read + 0.3, "{read} {write}");
    // E√|x − y| = 8/15 for uniform x, y: 0.734 + 16.266·8/15 of seek, half a turn, and 256 sectors.
    close(read, 0.734 + 16.266 * 8.0 / 15.0 + 8.3333 / 2.0 + 256.0 * 0.005976, 0.1, "uniform tracks");
}
