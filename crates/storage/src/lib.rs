//! Components: what answers requests in virtual time.
//!
//! A document is [lowered](graph::Lowering) into a [`Graph`] of nodes; each node has a [`Plan`], which knows everything that
//! can be known before time runs. A plan builds a [`Component`] in an [`Arena`], and whoever uses a node there shares it.
//!
//! A component lives in its file or folder: what a user may write ([`Spec`]), what is known of it ([`Plan`]: its formulas,
//! whether it keeps order), and what it does ([`Component`]). What a component does not say of itself is the cautious answer.

mod kinds;
#[cfg(test)]
mod tests;

pub use self::acquisition::event_work::Trigger;
pub use self::archive::archive::{Archive, ArchivePlan};
pub use self::archive::fact::Fact;
pub use self::archive::file_work::CartridgeSession;
pub use self::block::{array, controller, disk, file_system, limiter, ssd};
pub use self::core::arena::{Arena, Slots};
pub use self::core::component::{Component, InOrder, Plan, Spec, Theory};
pub use self::core::context::{Edge, Flow, NodeContext, SimContext, StreamThreads};
pub use self::core::device::{self, Device, DeviceRef, Sourced};
pub use self::core::graph::{
    DeviceCatalogue, DeviceLookup, Graph, LoweringError, Node, System, SystemSpec, View, WantedWay,
};
pub use self::core::health::{Change, Event, Health, HealthEvent};
pub use self::core::meter::{Activity, Balance, EventBooks, Meter, Portion};
pub use self::core::ranges::Ranges;
pub use self::core::redundancy::Redundancy;
pub use self::core::theory::{
    Demand, Features, Load, Model, Phase, QueueOrder, ServiceKind, Sessions, Setups,
};
pub use self::core::timeline::{Journey, Timeline, Visit};
pub use self::core::witness::Witness;
pub use self::core::work::{Listed, Serve, Work};
pub use self::core::{graph, station};
pub use self::fabric::dispatcher::Dispatcher;
pub use self::fabric::path_transfer::PathTransfer;
pub use self::fabric::server::Computing;
pub use self::fabric::{fc_loop, link, wire};

use headrace_work::{Block, Breakdown, DaqEvent, FileOp, Request};
use indexmap::IndexMap;

/// Something of one kind, found in a value that can be of any kind.
pub trait Of<Any> {
    /// Returns the value, if it is of this kind.
    fn of(any: &Any) -> Option<&Self>;
}

/// Lowers a system to a graph, with what streams go through.
///
/// # Errors
/// All errors in it, also in parts and components that nothing uses.
pub fn lower(
    parts: &IndexMap<String, ComponentSpec>,
    system: &graph::System,
    streams: &[WantedWay],
    catalogue: &dyn DeviceCatalogue,
) -> Result<Graph, Vec<LoweringError>> {
    // Where a group has errors, its components are missing, and who names one has none.
    if !system.errors().is_empty() {
        return Err(system.errors().to_vec());
    }
    let mut lowering = graph::Lowering::of(parts, system, catalogue);
    fabric::lowering::stream_ways(&mut lowering, streams);
    lowering.check_ports();
    block::controller::pairs::check(&mut lowering);
    lowering.finish()
}

kinds::components! { $
    works {
        Block("blocks") = Block,
        PathTransfer("transfers over a path") = PathTransfer,
        Computing("computing of threads") = Computing,
        OverPath("blocks over a path") = block::array::OverPath<'m>,
        OfShare("requests of a share") = block::shares::OfShare,
        FileOp("file operations") = FileOp,
        CartridgeSession("sessions of cartridges") = archive::file_work::CartridgeSession,
        Trigger("triggers") = acquisition::event_work::Trigger,
        DaqEvent("events") = DaqEvent,
    }

    kinds {
        /// Shared by all components. It depends on none of them.
        core [arena, bookings, component, context, device, graph, health, meter, ranges, redundancy, replacement, theory, timeline, witness, work] {
            /// Servers with a given service time distribution.
            Station [Block InOrder] = station::{StationSpec, StationSpec, Station},
        }

        /// What stores blocks.
        block [paced_work] {
            /// A disk drive.
            Disk [Block InOrder OverPath] = disk::{DiskSpec, DiskPlan, Disk},
            /// A solid-state drive.
            Ssd [Block] = ssd::{SsdSpec, SsdPlan, Ssd},
            /// A file system on a volume, with its page cache.
            FileSystem [Block] = file_system::{FileSystemSpec, FileSystemPlan, FileSystem},
            /// A cache on a fast device before a slower one.
            DeviceCache [Block] = device_cache::{DeviceCacheSpec, DeviceCachePlan, DeviceCache},
            /// An array controller: processors, a bus, and memory for caches.
            Controller [Block] = controller::{ControllerSpec, ControllerSpec, Controller},
            /// Several devices that act as one.
            Array [Block InOrder] = array::{ArraySpec, ArrayPlan, Array},
            /// Limits of operations and bytes in front of another component.
            Limiter [Block InOrder] = limiter::{LimiterSpec, LimiterPlan, Limiter},
            /// Shares of a component among those who ask it.
            Shares [Block OfShare] = shares::{SharesSpec, SharesPlan, Shares},
            /// A share of a component.
            Share [Block] = share::{ShareSpec, SharePlan, Share},
            /// A write-ahead log with group commit.
            WriteAheadLog [Block] = write_ahead_log::{WriteAheadLogSpec, WriteAheadLogPlan, WriteAheadLog},
            /// A store of keys and values as a log-structured merge tree.
            LsmTree [Block] = lsm_tree::{LsmTreeSpec, LsmTreePlan, LsmTree},
            /// A copy of one component to another while hosts use it.
            Copy [Block] = copy::{CopySpec, CopyPlan, Copy},
            /// Drives in servers that act as one volume, in placement groups.
            Pool [Block] = pool::{PoolSpec, PoolPlan, Pool},
            ;
            /// A token bucket of a limiter.
            Bucket [] = bucket::{BucketPlan, Bucket},
        }

        /// What carries requests and their data.
        fabric [channel, lowering, path_transfer, wire] {
            /// A link that carries one transfer at a time.
            Link [Block InOrder] = link::{LinkSpec, LinkPlan, Link},
            /// A Fibre Channel arbitrated loop.
            FcLoop [PathTransfer] = fc_loop::{FcLoopSpec, FcLoopSpec, FcLoop},
            /// A parallel SCSI bus.
            ScsiBus [PathTransfer] = scsi_bus::{ScsiBusSpec, ScsiBusSpec, ScsiBus},
            /// A SAS port with its expanders.
            Sas [PathTransfer] = sas::{SasSpec, SasSpec, Sas},
            /// A switch that connects servers, storage and other switches.
            Switch [PathTransfer] = switch::{SwitchSpec, SwitchPlan, Switch},
            /// A server that streams come from.
            Server [PathTransfer Computing] = server::{ServerSpec, ServerPlan, Server},
            ;
            /// One direction of a wire.
            Port [Block InOrder] = port::{PortPlan, Port},
            /// Where the requests of a stream part for the copies of a group.
            Dispatcher [Block] = dispatcher::{DispatcherPlan, Dispatcher},
            /// The routes from a server to a component.
            Route [Block Computing] = route::{RoutePlan, Route},
        }

        /// What keeps files for long.
        archive [fact, file_work, moving] {
            /// Limits per user and per host, and ports, in front of an archive.
            Front [] = front::{FrontSpec, FrontSpec, Front},
            /// A network shared by transfers.
            Network [] = network::{NetworkSpec, NetworkSpec, Network},
            /// A disk pool: volumes on chains.
            DiskPool [] = disk_pool::{DiskPoolSpec, DiskPoolSpec, DiskPool},
            /// Cartridges, drives and robots.
            TapeLibrary [CartridgeSession] = tape_library::{TapeLibrarySpec, TapeLibraryPlan, TapeLibrary},
            /// An archive: files in a disk pool in front of a tape library.
            Archive [FileOp] = archive::{ArchiveSpec, ArchivePlan, Archive},
        }

        /// What takes the data of experiments.
        acquisition [event_work] {
            /// Local data concentrators: what triggers read out.
            Readout [Trigger] = readout::{ReadoutSpec, ReadoutPlan, Readout},
            /// Global data concentrators: where the sub-events of an event meet.
            EventBuilder [] = event_builder::{EventBuilderSpec, EventBuilderPlan, EventBuilder},
            /// Streams that format, compress and write events.
            Recorder [DaqEvent] = recorder::{RecorderSpec, RecorderPlan, Recorder},
        }
    }
}
