//! Redundancy: which losses of drives the data of a component survives.

use headrace_units::Nanos;

/// Protection of the data of a component against the loss of drives.
#[derive(Clone, Debug, PartialEq)]
pub struct Redundancy {
    /// Drives that hold data, by their places among the nodes that the component uses.
    pub drives: Vec<u32>,
    /// Sets of drives, by their places among `drives`, with the pieces of the same data, replicas or units of stripes. A drive can have pieces
    /// in several groups.
    pub groups: Vec<Vec<u32>>,
    /// Number of pieces of a group that can be lost without loss of data.
    pub tolerates: u32,
    /// Number of objects of a group, where a rebuild goes by them, group after group; `None` where all pieces of a drive are rebuilt together,
    /// stripe after stripe.
    pub objects: Option<u64>,
    /// Bytes of data that a group loses, on average, with one piece more than it tolerates.
    pub lost_bytes: f64,
    /// Bytes that are read of a group to rebuild what it has lost while it tolerates no further loss.
    pub critical_bytes: f64,
    /// Number of spares that a rebuild can go to; `None` if it goes to free space of other drives.
    pub spares: Option<u32>,
    /// Time from a failure to the start of the rebuild where a spare is free.
    pub wait: Nanos,
    /// Sets of drives that a failure of something else takes at once: its name, and the drives of each.
    pub together: Vec<(&'static str, Vec<Vec<u32>>)>,
}

impl Redundancy {
    /// Data on drives of which none may be lost.
    pub fn none(drives: Vec<u32>, lost_bytes: f64) -> Self {
        Self {
            groups: vec![(0..drives.len() as u32).collect()],
            drives,
            tolerates: 0,
            objects: None,
            lost_bytes,
            critical_bytes: 0.0,
            spares: Some(0),
            wait: Nanos::ZERO,
            together: Vec::new(),
        }
    }
}
