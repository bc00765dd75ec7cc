//! What is sent arrives: on the edges to each component together as many requests and bytes as it received.

use headrace_storage::{Edge, Flow};

use super::Evidence;

pub fn broken(evidence: &Evidence) -> Vec<String> {
    let mut sent = vec![Flow::default(); evidence.graph.nodes.len()];
    let from_components = evidence.arena.ids().flat_map(|id| evidence.arena.edges(id));
    let from_streams = evidence.streams.iter().map(|(_, _, edge)| *edge);
    let from_callers = evidence.callers.iter().flatten();
    for edge in from_components.chain(from_streams).chain(from_callers) {
        add(&mut sent[edge.to().index()], edge);
    }
    let lost = sent.iter().enumerate().filter(|(at, sent)| evidence.received(*at) != **sent);
    lost.map(|(at, sent)| {
        let (path, received) = (&evidence.graph.nodes[at].path, evidence.received(at));
        format!(
            "{path}: {} requests ({} B) were sent to it, and it received {} ({} B)",
            sent.requests, sent.bytes, received.requests, received.bytes
        )
    })
    .collect()
}

fn add(sum: &mut Flow, edge: &Edge) {
    let Flow { requests, bytes } = edge.sent();
    *sum = Flow { requests: sum.requests + requests, bytes: sum.bytes + bytes };
}
