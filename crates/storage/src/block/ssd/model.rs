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
    /// The work of a request on the dies, or their planes where those read independently, in ms of one: of a write at least its share of
    /// a program, without garbage collection; of a read at least one of a row, unless it may share that with its neighbours.
    fn flash_ms(&self, op: Op, bytes: u64, shares: bool) -> f64 {
        let (flash, geometry) = (&self.numbers.flash, self.numbers.geometry());
        let pages = bytes.div_ceil(PAGE) as f64;
        match op {
            Op::Read => {
                let rows = pages / f64::from(geometry.unit / geometry.parts);
                let reads = if shares { rows } else { rows.max(1.0) };
                let written = f64::from(self.filled) / self.numbers.logical_pages() as f64;
                reads * written * flash.read.get().ms()
            }
            Op::Discard | Op::Flush => 0.0,
            Op::Write => pages / f64::from(geometry.unit / geometry.parts) * flash.program.get().ms(),
        }
    }

    fn dies(&self) -> u32 {
        self.numbers.geometry().read_parts()
    }

    /// Returns the demand of the requests of one operation on the dies; `None` without any.
    fn on_dies(&self, view: View, load: &Load, op: Op) -> Option<Demand> {
        let kinds = || load.kinds.iter().filter(|(_, its, _)| *its == op);
        let share: f64 = kinds().map(|(p, ..)| p).sum();
        if share == 0.0 {
            return None;
        }
        let time = |bytes| Distribution::Fixed(self.flash_ms(op, bytes, !load.uniform));
        let held = Distribution::mixed(kinds().map(|(p, _, bytes)| (p / share, time(*bytes))).collect());
        let server = ServiceKind::Queue { servers: self.dies(), order: QueueOrder::Apart };
        let name = view.path();
        let fails = match op {
            Op::Write => Some(format!(
                "writes find room in the buffer of `{name}`: it may be full, and garbage collection is left out"
            )),
            _ if load.uniform => None,
            _ => Some(format!("reads of neighbours share all of a row: those of `{name}` may share less")),
        };
        let demand = Demand { fails: fails.into_iter().collect(), ..Demand::one(view.id(), server, held) };
        Some(demand.times(share, 1.0)).filter(|demand| demand.work_ms() > 0.0)
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
        let work = |(p, op, bytes): &(f64, Op, u64)| p * self.flash_ms(*op, *bytes, !load.uniform);
        let flash: f64 = load.kinds.iter().map(work).sum();
        let port = self.ports(view, load)?.iter().map(Demand::work_ms).fold(0.0, f64::max);
        let fails =
            format!("requests come to one server: those of `{}` come to a port and to dies", view.path());
        Ok(Model::Busy { work_ms: port.max(flash / f64::from(self.dies())), fails })
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let mut demands = self.ports(view, load)?;
        let flash = &self.numbers.flash;
        let after = |(p, op, bytes): &(f64, Op, u64)| {
            let channel = flash.channel_rate.get().time_for(Bytes(*bytes)).ms();
            let channel = if *op == Op::Read {
                channel * f64::from(self.filled) / self.numbers.logical_pages() as f64
            } else {
                0.0
            };
            (*p, Distribution::Fixed(self.latency(*op).ms() + channel))
        };
        let delay = Distribution::mixed(load.kinds.iter().map(after).collect());
        demands.push(Demand::one(view.id(), ServiceKind::Delay, delay));
        demands.extend(self.on_dies(view, load, Op::Read));
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
