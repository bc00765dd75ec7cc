//! Data acquisition: a large event builder, and an hour of the ALICE study's system.

use crate::cpu_seconds;
use crate::whole::run;

const BUILDER: &str = "
system:
  ldc: {type: readout, concentrators: 100, sub_event: {uniform: {from: 10 kB, to: 90 kB, step: 1 kB}}, rate: 200 MB/s, buffer: 4 MB, builder: gdc}
  gdc: {type: event_builder, builders: 60, buffers: 4, preset: ethernet_1g, assemble: 5 ms}
workload: {trigger: {to: ldc, arrivals: {poisson: 500 /s}}}
run: {requests: 1000000}
";

/// Events a CPU second through 60 builders, each of 100 sub-events of sizes that are drawn.
pub fn events_per_cpu_s() -> f64 {
    1e6 / cpu_seconds(|| run(BUILDER, &[]))
}

const ALICE: &str = include_str!("../../python/headrace/studies/alice_daq/daq.yaml");

/// CPU seconds for an hour of the study's system.
pub fn hour_s() -> f64 {
    cpu_seconds(|| run(ALICE, &[]))
}
