//! Specification of a pool.

use std::ops::Range;

use headrace_units::{Bytes, Nanos};
use headrace_work::{Block, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PoolPlan;
use super::groups::Homes;
use super::placement::{Domains, Placement};
use super::scrub::PoolScrubSpec;
use crate::block::array::{Parity, Rotation, SmallWrites, UnitPlacement};
use crate::core::component::Spec;
use crate::core::graph::{Copies, Lowering};
use crate::fabric::path_transfer::PathTransfer;

/// A cluster of drives in servers that acts as one volume. Its objects belong to placement groups; each group has its pieces, replicas or
/// units of an erasure code, on drives of different failure domains, chosen by a hash. The server with a group's first piece, its primary,
/// takes requests, sends the pieces to the others and gathers their answers. What fails is served from what is left, and recovers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolSpec {
    /// Drives: a part, of which each server has copies, or `servers` × `drives` components of `system`, server by server.
    pub of: Copies,
    /// Number of servers.
    #[schemars(range(min = 1, max = 10_000))]
    pub servers: u32,
    /// Number of drives of each server. They are numbered through: `pool/nvme[8]` is the first of the second server of eight drives each.
    #[schemars(range(min = 1, max = 1000))]
    pub drives: u32,
    /// Number of racks, over which servers are shared out in order. Default: one.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 10_000))]
    pub racks: u32,
    /// Server: a part of `type: server`, or one component for each server. Its core time is taken by each request at the primary and by each
    /// piece where its drive is: `submit` when it comes, `complete` when its answer goes. Default: no core time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<Copies>,
    /// Link of a server to the network: a part of `type: link`, or one component for each server. Data that comes in crosses it as writes,
    /// data that goes out as reads, one message after another and stored at the end of each link. Default: no time on a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<Copies>,
    /// Link of a rack to all others and to what is outside: a part of `type: link`, or one component for each rack. What goes from one rack to
    /// another crosses both, out as reads and in as writes. Default: no time between racks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink: Option<Copies>,
    /// Where clients are.
    #[serde(default)]
    pub clients: Clients,
    /// Number of replicas. Give this or `erasure`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub replicas: Option<u32>,
    /// Erasure code. Give this or `replicas`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erasure: Option<ErasureSpec>,
    /// Failure domain: no two pieces of a group share one.
    #[serde(default)]
    pub domain: Domain,
    /// Number of placement groups.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub groups: u32,
    /// Size of the pool's data, without redundancy. It is rounded down to as many objects in each group.
    pub size: Bytes,
    /// Size of an object; neighbouring objects belong to different groups. Default: 4 MiB, with an erasure code in whole stripes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<Bytes>,
    /// Choice of the drives of a group.
    #[serde(default)]
    pub placement: Placement,
    /// Replica that reads are served from.
    #[serde(default)]
    pub read_from: ReadReplica,
    /// Recovery of lost pieces.
    #[serde(default)]
    pub recovery: RecoverySpec,
    /// Scrub of all data, once. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrub: Option<PoolScrubSpec>,
}

/// An erasure code: each stripe of an object has `data` units, and `parity` units computed from them, any of which may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ErasureSpec {
    /// Units of data in a stripe.
    #[schemars(range(min = 1, max = 64))]
    pub data: u32,
    /// Units of parity in a stripe.
    #[schemars(range(min = 1, max = 16))]
    pub parity: u32,
    /// Size of a unit. The default is that of Ceph.
    #[serde(default = "four_kib")]
    pub unit: Bytes,
    /// Least data that is read or written at once.
    #[serde(default)]
    pub access: StripeAccess,
    /// Reads before a write of less than a stripe.
    #[serde(default)]
    pub small_writes: SmallWrites,
}

/// Least data of an erasure code that is read or written at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StripeAccess {
    /// The bytes asked for, as in Ceph since Tentacle.
    #[default]
    Parts,
    /// Whole stripes, as in Ceph before Tentacle: a small write reads its stripe and writes all of it.
    WholeStripes,
}

/// Failure domain of a pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Domain {
    /// Drives.
    Drive,
    /// Servers.
    #[default]
    Server,
    /// Racks.
    Rack,
}

/// Replica that reads are served from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadReplica {
    /// The primary.
    #[default]
    Primary,
    /// Any, by a hash of the request. Reads of an erasure code go to the primary.
    Any,
    /// One in the rack of the client, by a hash where there are several, else the primary. Reads of an erasure code go to the primary.
    Nearest,
}

/// Where the clients of a pool are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Clients {
    /// Outside of all racks.
    #[default]
    Outside,
    /// Spread evenly over the racks: each request comes from one, by a hash.
    InRacks,
}

/// How a pool recovers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RecoverySpec {
    /// Time after which a drive that is down is out: its pieces get other places. Before, only what it missed is written when it returns. The
    /// default is that of Ceph (`mon_osd_down_out_interval`).
    pub out_after: Nanos,
    /// Number of groups that recover at a time from or to a drive, its reservations (`osd_max_backfills`).
    #[schemars(range(min = 1, max = 1000))]
    pub groups_per_drive: u32,
    /// Number of objects of a group that recover at a time (`osd_recovery_max_active`, that of hard disks).
    #[schemars(range(min = 1, max = 1000))]
    pub objects_per_group: u32,
}

impl Default for RecoverySpec {
    fn default() -> Self {
        Self { out_after: Nanos::from_secs(600.0), groups_per_drive: 1, objects_per_group: 3 }
    }
}

const fn one() -> u32 {
    1
}

const fn four_kib() -> Bytes {
    Bytes(4096)
}

/// Size of an object by default.
const OBJECT: u64 = 4 << 20;

impl Domain {
    /// The domain of a drive.
    pub(super) fn of(self, drive: u32, servers: u32, drives: u32, racks: u32) -> usize {
        let server = drive / drives;
        match self {
            Self::Drive => drive as usize,
            Self::Server => server as usize,
            Self::Rack => rack_of(server, servers, racks),
        }
    }
}

/// The rack of a server: servers are shared out in order.
pub(super) fn rack_of(server: u32, servers: u32, racks: u32) -> usize {
    (u64::from(server) * u64::from(racks) / u64::from(servers)) as usize
}

/// The servers of a rack.
pub(super) fn servers_of(rack: usize, servers: u32, racks: u32) -> Range<usize> {
    let first = |rack: usize| (rack * servers as usize).div_ceil(racks as usize);
    first(rack)..first(rack + 1)
}

impl PoolSpec {
    /// The layout of an object over its pieces, where position `n` has unit `n` of each stripe. Replicas are the parity of one unit.
    fn layout(&self, at: &mut Lowering) -> Option<(Parity, u64)> {
        let placement = UnitPlacement::Rotated(Rotation::Fixed);
        let (data, redundant, unit, small_writes) = match (self.replicas, self.erasure) {
            (Some(replicas @ 1..), None) => (1, replicas - 1, None, SmallWrites::Cheaper),
            (None, Some(ErasureSpec { data: data @ 1.., parity, unit, small_writes, .. })) if unit.0 > 0 => {
                (data, parity, Some(unit.0), small_writes)
            }
            (None, Some(_)) => return at.refuse("erasure", "`data` and `unit` must be above 0", None),
            (replicas, erasure) => {
                let help = match (replicas, erasure) {
                    (Some(_), Some(_)) => "leave out one of them, or set it to `null`",
                    _ => "give `replicas: 3`, or `erasure: {data: 4, parity: 2}`",
                };
                return at.refuse("replicas", "a pool has either replicas or an erasure code", Some(help));
            }
        };
        let whole = unit.map_or(1, |unit| unit * u64::from(data));
        let object = self.object.map_or(OBJECT.next_multiple_of(whole), |object| object.0);
        if object == 0 || !object.is_multiple_of(whole) {
            let message =
                format!("an object of {} has no whole number of stripes of {}", Bytes(object), Bytes(whole));
            return at.refuse("object", message, Some("give a multiple of `data` times `unit`"));
        }
        let width = u64::from(data + redundant);
        let unit = unit.unwrap_or(object);
        Some((Parity { width, unit, redundant: redundant.into(), placement, small_writes }, object))
    }

    /// The components of a field, one for each server or each rack.
    fn each(
        &self,
        at: &mut Lowering,
        (field, kind, count): (&str, &str, u32),
        of: Option<&Copies>,
    ) -> Option<Vec<NodeId>> {
        let Some(of) = of else { return Some(Vec::new()) };
        let nodes = match kind {
            "link" => at.copies::<Block>(field, of, Some(count)),
            _ => at.copies::<PathTransfer>(field, of, Some(count)),
        }?;
        if at.lowered().any(|(id, plan, _)| id == nodes[0] && plan.kind() != kind) {
            return at.refuse(field, format!("a part of `type: {kind}` belongs here"), None);
        }
        self.all(at, field, nodes, count)
    }

    /// Refuses a list of another length.
    fn all(&self, at: &mut Lowering, field: &str, nodes: Vec<NodeId>, count: u32) -> Option<Vec<NodeId>> {
        if nodes.len() == count as usize {
            return Some(nodes);
        }
        at.refuse(field, format!("{count} components belong here; {} are listed", nodes.len()), None)
    }

    /// Refuses a pool whose groups have no place for all of their pieces.
    fn checked(&self, at: &mut Lowering, domains: usize, width: u64) -> Option<()> {
        if self.servers == 0 || self.drives == 0 || self.racks == 0 || self.groups == 0 {
            return at.refuse(
                "servers",
                "`servers`, `drives`, `racks` and `groups` must be at least 1",
                None,
            );
        }
        if self.racks > self.servers {
            return at.refuse("racks", "there are more racks than servers", None);
        }
        if self.read_from == ReadReplica::Nearest && self.clients == Clients::Outside {
            let message = "no replica is nearest to clients outside of all racks";
            return at.refuse("read_from", message, Some("set `clients: in_racks`, or `read_from: any`"));
        }
        if self.recovery.groups_per_drive == 0 || self.recovery.objects_per_group == 0 {
            return at.refuse(
                "recovery",
                "`groups_per_drive` and `objects_per_group` must be at least 1",
                None,
            );
        }
        if self.scrub.is_some_and(|scrub| scrub.reads_nothing()) {
            return at.refuse("scrub", "`groups_per_drive`, `objects` and `read` must be above 0", None);
        }
        if (domains as u64) < width {
            let message = format!("{width} pieces need as many failure domains; there are {domains}");
            let help = match self.domain {
                Domain::Rack => "set `racks`, use a smaller code, or a smaller `domain`",
                _ => "use more servers, a smaller code, or a smaller `domain`",
            };
            return at.refuse("domain", message, Some(help));
        }
        Some(())
    }

    /// The places of groups on drives, if all find room.
    fn homes(&self, at: &mut Lowering, (layout, object): (&Parity, u64), drives: &[NodeId]) -> Option<Homes> {
        let each = self.size.0 / object / u64::from(self.groups);
        if each == 0 {
            let message =
                format!("{} groups of at least one object do not fit into {}", self.groups, self.size);
            return at.refuse("groups", message, Some("give fewer groups, or a larger `size`"));
        }
        let capacities: Vec<u64> = drives.iter().map(|drive| at.capacity(*drive).0).collect();
        let weights: Vec<f64> =
            capacities.iter().map(|capacity| *capacity as f64 / (1u64 << 40) as f64).collect();
        let of = |drive| self.domain.of(drive, self.servers, self.drives, self.racks);
        let piece = each * (object / layout.data());
        let homes = Homes {
            domains: Domains::new(&weights, of),
            placement: self.placement,
            width: layout.width as usize,
            groups: self.groups,
            objects: each,
            slots: capacities.iter().map(|capacity| (capacity / piece) as u32).collect(),
        };
        let (room, wanted) = (
            homes.slots.iter().map(|slots| u64::from(*slots)).sum::<u64>(),
            u64::from(self.groups) * layout.width,
        );
        if wanted > room {
            let message = format!(
                "{wanted} pieces of {} each do not fit: the drives have room for {room}, {} in all",
                Bytes(piece),
                Bytes(capacities.iter().sum())
            );
            return at.refuse("size", message, Some("give a smaller `size`, or more drives"));
        }
        if let Some((drive, held)) = homes.overfull() {
            let message = format!(
                "{held} groups of {} each come to `{}`, which has room for {}",
                Bytes(piece),
                at.path_of(drives[drive as usize]).to_owned(),
                homes.slots[drive as usize]
            );
            let help = "give a smaller `size`, or more `groups`, which spread more evenly";
            return at.refuse("size", message, Some(help));
        }
        Some(homes)
    }
}

impl Spec for PoolSpec {
    type Plan = PoolPlan;

    fn lower(&self, at: &mut Lowering) -> Option<PoolPlan> {
        let (layout, object) = self.layout(at)?;
        let domains = match self.domain {
            Domain::Drive => self.servers.saturating_mul(self.drives),
            Domain::Server => self.servers,
            Domain::Rack => self.racks,
        };
        self.checked(at, domains as usize, layout.width)?;
        let servers = self.each(at, ("server", "server", self.servers), self.server.as_ref())?;
        let links = self.each(at, ("link", "link", self.servers), self.link.as_ref())?;
        if self.uplink.is_some() && self.uplink == self.link {
            let message = "`uplink` is the part of `link`, so that both would have the same paths";
            return at.refuse("uplink", message, Some("give it a part of its own, with another name"));
        }
        let uplinks = self.each(at, ("uplink", "link", self.racks), self.uplink.as_ref())?;
        let count = self.servers.saturating_mul(self.drives);
        let drives = at.copies::<Block>("of", &self.of, Some(count))?;
        let drives = self.all(at, "of", drives, count)?;
        let homes = self.homes(at, (&layout, object), &drives)?;
        let capacity = Bytes(homes.objects * u64::from(self.groups) * object);
        let plan = PoolPlan {
            layout,
            object,
            asked: self.size,
            homes,
            access: self.erasure.map_or(StripeAccess::Parts, |erasure| erasure.access),
            read_from: self.read_from,
            recovery: self.recovery,
            scrub: self.scrub,
            per_server: self.drives,
            clients: self.clients,
            racks: self.racks,
            servers: servers.len(),
            links: links.len(),
            uplinks: uplinks.len(),
        };
        at.uses([servers, links, uplinks, drives].concat());
        at.holds(capacity);
        Some(plan)
    }
}
