//! Where the wait for a message counts that is in several ports at once.
//!
//! Ports pass a message on with its head, so what one port sends in sequence cannot meet in the next, unless that is slower. Where
//! several ports lead to one, messages meet before it or in it, never twice: with times alike, all of them together hold as much work
//! as the last would alone (Shalmon and Kaplan, Operations Research 32, 1984, for trees of queues with deterministic service). So a port
//! of which every message is in another port too, for as long at least, adds no wait.

use headrace_storage::{Demand, ServiceKind};
use headrace_work::NodeId;

use super::network::at_node;
use crate::plan::StreamPlan;

/// The demands of all streams, in the order of their nodes.
type StreamDemands<'s, 'p> = &'s [(&'p StreamPlan, Vec<Demand>)];

/// A message: the stream it belongs to, the route and its number there.
type Message = (usize, (NodeId, u32));

/// Returns true if each message in a port is in one other port too, for as long at least. Of ports with the same messages and times the first
/// counts.
pub fn are_elsewhere(node: NodeId, streams: StreamDemands) -> bool {
    let Some(here) = messages(node, streams).filter(|here| !here.is_empty()) else { return false };
    let (stream, message) = here[0].0;
    let with_first = streams[stream].1.iter().filter(|demand| demand.message == Some(message));
    let others = with_first.map(|demand| demand.node).filter(|other| *other != node);
    let covered = |other: NodeId| {
        let there = messages(other, streams).unwrap_or_default();
        covers(&there, &here) && (other < node || !covers(&here, &there))
    };
    others.into_iter().any(covered)
}

/// The messages in a node, and how long each holds it; `None` where something else comes to it as well.
fn messages(node: NodeId, streams: StreamDemands) -> Option<Vec<(Message, f64)>> {
    let of_stream = |(stream, (_, demands)): (usize, &(&StreamPlan, Vec<Demand>))| {
        let here =
            at_node(node, demands).iter().filter(|demand| matches!(demand.server, ServiceKind::Queue { .. }));
        here.map(|demand| Some(((stream, demand.message?), demand.distribution.mean()))).collect::<Vec<_>>()
    };
    streams.iter().enumerate().flat_map(of_stream).collect()
}

/// Returns true if all of some messages are among these, and take as long here at least.
fn covers(these: &[(Message, f64)], some: &[(Message, f64)]) -> bool {
    let as_long = |(message, time): &(Message, f64)| {
        these.iter().any(|(other, longer)| other == message && *longer >= time * (1.0 - 1e-9))
    };
    some.iter().all(as_long)
}
