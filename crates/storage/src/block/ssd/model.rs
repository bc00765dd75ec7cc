//! Queueing theory of a solid-state drive.

use headrace_analytic::Distribution;
use headrace_units::Bytes;
use headrace_work::Op;

use super::SsdPlan;
use super::geometry::PAGE;
use crate::core::component::Theory;
use crate::core::graph::View;
use crate::core::theory::{Demand, Features, Load, Model, QueueOrder, ServiceKind};

impl SsdPlan {
    /// Returns the share of the capacity that holds data when the run begins.
    fn written(&self) -> f64 {
        let filled = f64::from(self.filled) / self.numbers.logical_pages() as f64;
        1.0 - (1.0 - filled) * libm::exp(-self.overwritten)
    }

    /// Returns the number of pages written to flash for each that hosts write, in the steady state of random writes.
    fn amplification(&self) -> f64 {
        *self.amplification.get_or_init(|| {
            // One block of each die is always empty.
            let geometry = self.numbers.geometry();
            let empty = u64::from(geometry.dies) * u64::from(geometry.block_pages());
            let in_use = self.written() * self.numbers.logical_pages() as f64;
            let alpha = (geometry.pages() - empty) as f64 / in_use;
            self.numbers.flash.collection.amplification(geometry.block_pages(), alpha)
        })
    }

    /// Returns what a program of a row brings its die: how often, and for how long, in ms, it is held for the program itself, for a step of
    /// garbage collection and for an erasure. Garbage collection is that of its steady state where the capacity was overwritten, and none
    /// before.
    fn on_die(&self) -> Vec<(f64, f64)> {
        let (flash, geometry) = (&self.numbers.flash, self.numbers.geometry());
        let program = flash.program.get().ms();
        // Its data crosses the channel while the die is held.
        let row = flash.channel_rate.get().time_for(Bytes(u64::from(geometry.unit) * PAGE)).ms();
        if self.overwritten == 0.0 {
            return vec![(1.0, row + program)];
        }
        let (block, unit) = (f64::from(geometry.block_pages()), f64::from(geometry.unit));
        let amplification = self.amplification();
        let (moved, blocks) = (unit * (amplification - 1.0), unit / block * amplification);
        let valid = 1.0 - 1.0 / amplification;
        // A page of flash is read where any of its pages is still valid.
        let reads = blocks * block / f64::from(geometry.read)
            * (1.0 - libm::pow(1.0 - valid, f64::from(geometry.read)));
        let channel = flash.channel_rate.get().time_for(Bytes(2 * PAGE)).ms();
        let moving = reads * flash.read.get().ms() + moved * (program / unit + channel);
        let steps = (moved / unit).ceil().max(1.0);
        vec![(1.0, row + program), (steps, moving / steps), (blocks, flash.erase.get().ms())]
    }

    /// Returns the visits of a request to dies, or to planes that read independently: how many, and for how long, in ms. A write brings its
    /// share of a program, which takes all planes; a read at least one of a row, unless it may share that with its neighbours.
    fn visits(&self, op: Op, bytes: u64, load: &Load) -> Vec<(f64, f64)> {
        let geometry = self.numbers.geometry();
        let (pages, parts) = (bytes.div_ceil(PAGE) as f64, f64::from(geometry.parts));
        let rows = pages / f64::from(geometry.unit) * parts;
        match op {
            Op::Read => {
                let reads = if load.uniform { rows.max(1.0) } else { rows };
                vec![(reads * self.written(), self.numbers.flash.read.get().ms())]
            }
            Op::Discard | Op::Flush => Vec::new(),
            Op::Write => self.on_die().into_iter().map(|(many, ms)| (rows * many, ms)).collect(),
        }
    }

    fn dies(&self) -> u32 {
        self.numbers.geometry().read_parts()
    }

    /// Returns the number of dies, or of planes that read independently, that a read is at once.
    fn branches(&self, bytes: u64) -> u32 {
        let geometry = self.numbers.geometry();
        let of_row = u64::from(geometry.unit / geometry.parts) * PAGE;
        bytes.div_ceil(of_row).clamp(1, u64::from(self.dies())) as u32
    }

    /// Returns the time, in ms, that flash and channels add to the first read of a row and to the time at the port: until the first page has
    /// crossed its channel; or until all rows of a die are read and cross, while what came before is at the port already.
    fn over_channel_ms(&self, bytes: u64) -> f64 {
        let row = u64::from(self.numbers.geometry().unit) * PAGE;
        let rate = self.numbers.flash.channel_rate.get();
        let channel = |bytes: u64| rate.time_for(Bytes(bytes)).ms();
        let page = bytes.min(self.numbers.flash.page.get().0);
        let meanwhile = self.wire.time_for(bytes - page).ms();
        let rows = bytes as f64 / row as f64 / f64::from(self.numbers.geometry().dies);
        let later = (rows.ceil() - 1.0).max(0.0) * self.numbers.flash.read.get().ms();
        (later + channel(bytes.min(row)) - meanwhile).max(channel(page))
    }

    /// Returns how many reads of one request go on side by side, and its wait for the last of them; `None` where each needs one die.
    fn side_by_side(&self, view: View, load: &Load) -> Option<(f64, Demand)> {
        let reads = || load.kinds.iter().filter(|(_, op, _)| *op == Op::Read);
        let branches = reads().map(|(.., bytes)| self.branches(*bytes)).max().filter(|most| *most > 1)?;
        let of_kind = |(p, op, bytes): &(f64, Op, u64)| {
            let visits: f64 = self.visits(*op, *bytes, load).iter().map(|(many, _)| p * many).sum();
            // Of several rows, the request waits for one; what others add is no longer than their way to the port.
            let is_split = self.branches(*bytes) > 1;
            (visits, if is_split { p * self.written() } else { visits }, if is_split { *p } else { 0.0 })
        };
        let sum = |(a, b, c): (f64, f64, f64), (x, y, z): (f64, f64, f64)| (a + x, b + y, c + z);
        let (visits, in_turn, split) = reads().map(of_kind).fold((0.0, 0.0, 0.0), sum);
        // They take equally long, so that only waiting tells them apart.
        let join = Demand::one(view.id(), ServiceKind::LastWait(branches), Distribution::Fixed(0.0));
        (in_turn > 0.0).then(|| (visits / in_turn, join.times(split, 1.0)))
    }

    /// Returns the demand of the requests of one operation on the dies; `None` without any.
    fn on_dies(&self, view: View, load: &Load, op: Op) -> Option<Demand> {
        let kinds = load.kinds.iter().filter(|(_, its, _)| *its == op);
        let of_kind = |(p, op, bytes): &(f64, Op, u64)| {
            let visits = self.visits(*op, *bytes, load).into_iter();
            visits.map(|(many, ms)| (p * many, ms)).collect::<Vec<_>>()
        };
        let visits: Vec<(f64, f64)> = kinds.flat_map(of_kind).collect();
        let all: f64 = visits.iter().map(|(visits, _)| visits).sum();
        if all == 0.0 {
            return None;
        }
        let held = Distribution::mixed(
            visits.iter().map(|(visits, ms)| (visits / all, Distribution::Fixed(*ms))).collect(),
        );
        let server = ServiceKind::Queue { servers: self.dies(), order: QueueOrder::Apart };
        let name = view.path();
        let fails = match op {
            Op::Write if self.overwritten == 0.0 => Some(format!(
                "writes find room in the buffer of `{name}`: it may be full, and garbage collection is left out"
            )),
            Op::Write => Some(format!(
                "writes find room in the buffer of `{name}`: it may be full, and garbage collection is that of random writes in the steady state"
            )),
            _ if load.uniform => None,
            _ => Some(format!("reads of neighbours share all of a row: those of `{name}` may share less")),
        };
        let demand = Demand { fails: fails.into_iter().collect(), ..Demand::one(view.id(), server, held) };
        Some(demand.times(all, 1.0)).filter(|demand| demand.work_ms() > 0.0)
    }

    /// Returns the demands of a request at the ports and at the controller, each by itself.
    fn ports(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let mut ports: Vec<View> = view.uses().collect();
        let mut demands = Vec::new();
        if self.numbers.command_time().is_some() {
            let commands = load.kinds.iter().map(|(p, op, _)| (*p, *op, 0)).collect();
            demands = ports[ports.len() - 1].demands(&Load { kinds: commands, ..load.clone() })?;
            ports.pop();
        }
        for (at, reads) in [true, false].into_iter().enumerate() {
            let here = load.kinds.iter().filter(|(_, op, _)| (*op == Op::Read) == reads);
            let share: f64 = here.clone().map(|(p, ..)| p).sum();
            if share > 0.0 {
                let sent = |op: Op, bytes: u64| if op == Op::Discard { 0 } else { bytes };
                let kinds = here.map(|(p, op, bytes)| (p / share, *op, sent(*op, *bytes))).collect();
                let found = ports[at.min(ports.len() - 1)].demands(&Load { kinds, ..load.clone() })?;
                demands.extend(found.into_iter().map(|demand| demand.times(share, 1.0)));
            }
        }
        Ok(demands)
    }
}

impl Theory for SsdPlan {
    fn features(&self) -> Features {
        let flushes_at_once = self.numbers.buffer.power_loss_protection;
        Features { discards: true, flushes_at_once, can_be_slow: true, is_drive: true, ..Features::default() }
    }

    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        let work = |(p, op, bytes): &(f64, Op, u64)| {
            p * self.visits(*op, *bytes, load).iter().map(|(many, ms)| many * ms).sum::<f64>()
        };
        let flash: f64 = load.kinds.iter().map(work).sum();
        let port = self.ports(view, load)?.iter().map(Demand::work_ms).fold(0.0, f64::max);
        let fails =
            format!("requests come to one server: those of `{}` come to a port and to dies", view.path());
        Ok(Model::Busy { work_ms: port.max(flash / f64::from(self.dies())), fails })
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let mut demands = self.ports(view, load)?;
        let after = |(p, op, bytes): &(f64, Op, u64)| {
            let channel = self.over_channel_ms(*bytes);
            let channel = if *op == Op::Read { channel * self.written() } else { 0.0 };
            (*p, Distribution::Fixed(self.latency(*op).ms() + channel))
        };
        let delay = Distribution::mixed(load.kinds.iter().map(after).collect());
        demands.push(Demand::one(view.id(), ServiceKind::Delay, delay));
        let (at_once, join) =
            self.side_by_side(view, load).map_or((1.0, None), |(many, join)| (many, Some(join)));
        demands.extend(self.on_dies(view, load, Op::Read).map(|demand| demand.times(1.0, at_once)));
        demands.extend(join);
        // The buffer answers writes, and programs them afterwards.
        demands.extend(self.on_dies(view, load, Op::Write).map(Demand::after_answer));
        Ok(demands)
    }

    fn scales(&self, _: View, load: &Load) -> bool {
        // Garbage collection follows from what is written, and the port from what is sent. Neighbours share rows while they come close
        // together; reads wait for programs of their dies, and hold the few places of a SATA queue meanwhile.
        let reads = load.kinds.iter().any(|(_, op, _)| *op == Op::Read);
        load.uniform && !(reads && load.writes())
    }
}
