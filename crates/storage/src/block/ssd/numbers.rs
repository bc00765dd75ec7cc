//! The parameters of a solid-state drive, each with its source.

use headrace_units::{Bytes, BytesPerSecond, Fraction, Nanos};
use headrace_work::{Invalid, Op};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::geometry::{Geometry, PAGE};
use super::interface::Interface;
use super::mapping::Mapping;
use super::victims::Collection;
use crate::core::device::{Device, Sourced, not_validated};

/// The parameters of a solid-state drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdNumbers {
    /// Manufacturer, model and capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Measurements that it was validated against, with the error; or `not validated`.
    #[serde(default = "not_validated")]
    pub validation: String,
    /// Addressable capacity.
    pub capacity: Sourced<Bytes>,
    /// Fastest interface that it supports.
    #[schemars(with = "Sourced<Interface>")]
    pub interface: Sourced<Interface>,
    /// Maximum number of commands in the drive; the rest wait in the host. Default: 32 for SATA (native command queueing), 64 Ki for NVMe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<u32>>")]
    pub queue_depth: Option<Sourced<u32>>,
    /// Time for which its controller is busy with a command: it begins one after another, so the inverse is the most commands a second.
    /// Default: no limit of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Sourced<Nanos>>,
    /// Latency that its controller and firmware add to a read, excluding flash and interface. It delays no other command.
    pub read_latency: Sourced<Nanos>,
    /// Latency of writes.
    pub write_latency: Sourced<Nanos>,
    /// Price of one drive in any currency; `optimise` adds them up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<f64>>")]
    pub price: Option<Sourced<f64>>,
    /// Power draw when busy, in watts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<f64>>")]
    pub power: Option<Sourced<f64>>,
    /// Rack units it occupies: its share of an enclosure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<f64>>")]
    pub rack_units: Option<Sourced<f64>>,
    /// Flash memory.
    pub flash: FlashNumbers,
    /// Write buffer.
    pub buffer: BufferNumbers,
}

/// The flash of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashNumbers {
    /// Over-provisioning: flash in excess of the capacity, as a share of the capacity.
    pub over_provisioning: Sourced<Fraction>,
    /// Number of channels between controller and dies.
    #[schemars(with = "Sourced<u32>")]
    pub channels: Sourced<u32>,
    /// Total number of dies on all channels. A die performs one operation at a time.
    #[schemars(with = "Sourced<u32>")]
    pub dies: Sourced<u32>,
    /// Page size.
    pub page: Sourced<Bytes>,
    /// Number of planes of a die. Pages that follow each other, one on each plane, are programmed together, and read together for one
    /// request.
    #[schemars(with = "Sourced<u32>")]
    pub planes: Sourced<u32>,
    /// If true, each plane reads for itself, whatever the other planes of its die read (independent plane reads). Programs and erasures
    /// take the whole die. Default: a die reads for one request at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Sourced<bool>>")]
    pub independent_reads: Option<Sourced<bool>>,
    /// Pages per block of one plane: the unit of erasure.
    #[schemars(with = "Sourced<u32>")]
    pub block_pages: Sourced<u32>,
    /// Time to read a page into the die's register.
    pub read: Sourced<Nanos>,
    /// Time to program one page of each plane.
    pub program: Sourced<Nanos>,
    /// Time to erase a block.
    pub erase: Sourced<Nanos>,
    /// Data rate of one channel.
    pub channel_rate: Sourced<BytesPerSecond>,
    /// Suspension of programs and erasures by reads. Default: a read waits until its die has finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend: Option<SuspendNumbers>,
    /// Garbage collection: how the next block to erase is chosen.
    #[serde(default)]
    pub collection: Collection,
}

/// Suspension of a program or an erasure by reads of the same die.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspendNumbers {
    /// Time to suspend the operation, before the read starts.
    pub time: Sourced<Nanos>,
    /// Maximum number of reads served before the operation completes. Later reads wait for it.
    #[schemars(with = "Sourced<u32>")]
    pub reads: Sourced<u32>,
}

/// The write buffer of a drive. A write completes when its data is in the buffer, whether or not the buffer survives a power failure; a
/// flush, and a durable write, when it is stable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BufferNumbers {
    /// Capacity of the buffer.
    pub size: Sourced<Bytes>,
    /// If true, the buffer consists of two halves: one fills while the other is written to flash, and a half becomes free when its last
    /// page is on flash. Default: space becomes free page by page.
    #[serde(default)]
    pub halves: bool,
    /// True if capacitors keep the buffer until it is on flash when power is lost: what is in it is stable, and a flush costs its command
    /// alone. Default: a flush waits until all pages that it covers are on flash. (The mapping is kept either way, at no cost.)
    #[serde(default)]
    pub power_loss_protection: bool,
}

/// No die of the model has more; a drive has at most a few hundred.
const MOST_DIES: u32 = 4096;

impl SsdNumbers {
    /// Pages that it maps.
    pub fn logical_pages(&self) -> u64 {
        self.capacity.get().0.div_ceil(PAGE)
    }

    /// The shape of its flash.
    pub fn geometry(&self) -> Geometry {
        let flash = &self.flash;
        let read = (flash.page.get().0 / PAGE) as u32;
        let unit = read * flash.planes.get();
        let (dies, rows) = (flash.dies.get(), flash.block_pages.get());
        let pages = self.logical_pages() as f64 * (1.0 + flash.over_provisioning.get().get());
        let block = f64::from(dies) * f64::from(unit) * f64::from(rows);
        let apart = flash.independent_reads.as_ref().is_some_and(Sourced::get);
        let parts = if apart { flash.planes.get() } else { 1 };
        Geometry { dies, unit, parts, read, rows, blocks: (pages / block) as u32 }
    }

    /// Number of commands it holds at once.
    pub fn tags(&self) -> u32 {
        self.queue_depth.as_ref().map_or_else(|| self.interface.get().tags(), Sourced::get)
    }

    /// The time for which its controller is busy with a command, where that limits it.
    pub fn command_time(&self) -> Option<Nanos> {
        self.command.as_ref().map(Sourced::get).filter(|time| *time > Nanos::ZERO)
    }

    /// Returns the service time of a request to an idle drive, for data on one page of flash.
    pub fn alone(&self, op: Op, bytes: u64) -> Nanos {
        let interface = self.interface.get();
        let command = self.command_time().unwrap_or_default();
        let port = interface.time_for(bytes) + interface.command(op) + command;
        match op {
            Op::Read => {
                let flash = &self.flash;
                self.read_latency.get()
                    + flash.read.get()
                    + flash.channel_rate.get().time_for(Bytes(bytes))
                    + port
            }
            Op::Write => self.write_latency.get() + port,
            Op::Discard | Op::Flush => self.write_latency.get() + interface.command(op) + command,
        }
    }

    fn page_problem(&self) -> Option<Invalid> {
        let page = self.flash.page.get();
        let fits = page.0 > 0 && page.0.is_multiple_of(PAGE) && page.0 <= 1 << 20;
        (!fits).then(|| {
            Invalid::new("flash.page", format!("a page is a multiple of 4 KiB up to 1 MiB, not {page}"))
        })
    }

    fn size_problem(&self) -> Option<Invalid> {
        let (flash, logical) = (&self.flash, self.logical_pages());
        let (dies, channels) = (flash.dies.get(), flash.channels.get());
        if dies > MOST_DIES || dies < channels {
            return Some(Invalid::new(
                "flash.dies",
                format!("must be from {channels}, one a channel, to {MOST_DIES}, not {dies}"),
            ));
        }
        let block = u64::from(dies)
            * u64::from(flash.planes.get())
            * u64::from(flash.block_pages.get())
            * (flash.page.get().0 / PAGE);
        let wanted = logical as f64 * (1.0 + flash.over_provisioning.get().get());
        if logical == 0 || wanted >= Mapping::MOST as f64 || block > Mapping::MOST {
            return Some(Invalid::new(
                "capacity",
                "a drive maps from 1 B to 16 TiB of flash in pages of 4 KiB",
            ));
        }
        let pages = self.geometry().pages();
        // One block of each die stays empty, and what is left must not all be valid.
        if pages < logical + 2 * block {
            let free = Bytes(pages.saturating_sub(logical) * PAGE);
            let blocks = Bytes(2 * block * PAGE);
            let message = format!(
                "leaves {free} beyond the capacity; two blocks on each die are {blocks}, the least to erase blocks with"
            );
            let help = "give more over-provisioning, fewer `flash.dies` or smaller blocks (`flash.block_pages`), or a larger `capacity`";
            return Some(Invalid::new("flash.over_provisioning", message).help(help));
        }
        let unit = u64::from(self.geometry().unit) * PAGE * (1 + u64::from(self.buffer.halves));
        (self.buffer.size.get().0 < unit).then(|| {
            Invalid::new("buffer.size", format!("must hold what is programmed at once, {}", Bytes(unit)))
        })
    }
}

impl Device for SsdNumbers {
    const KIND: &'static str = "ssd";
    const NAME: &'static str = "solid-state drive";
    const FIELDS: &'static [&'static str] = &["flash"];

    fn problems(&self) -> Vec<Invalid> {
        let numbers = [
            ("flash.channels", self.flash.channels.get()),
            ("flash.dies", self.flash.dies.get()),
            ("flash.planes", self.flash.planes.get()),
            ("flash.block_pages", self.flash.block_pages.get()),
            ("queue_depth", self.tags()),
        ];
        let none = numbers.into_iter().filter(|(_, number)| *number == 0);
        let mut problems: Vec<_> = none.map(|(field, _)| Invalid::new(field, "must be at least 1")).collect();
        problems.extend(self.page_problem());
        if problems.is_empty() {
            problems.extend(self.size_problem());
        }
        problems
    }

    fn origins(&self) -> Vec<(String, Option<String>)> {
        let (flash, buffer) = (&self.flash, &self.buffer);
        let mut origins = vec![
            ("capacity", self.capacity.origin()),
            ("interface", self.interface.origin()),
            ("read_latency", self.read_latency.origin()),
            ("write_latency", self.write_latency.origin()),
            ("flash.over_provisioning", flash.over_provisioning.origin()),
            ("flash.channels", flash.channels.origin()),
            ("flash.dies", flash.dies.origin()),
            ("flash.page", flash.page.origin()),
            ("flash.planes", flash.planes.origin()),
            ("flash.block_pages", flash.block_pages.origin()),
            ("flash.read", flash.read.origin()),
            ("flash.program", flash.program.origin()),
            ("flash.erase", flash.erase.origin()),
            ("flash.channel_rate", flash.channel_rate.origin()),
            ("buffer.size", buffer.size.origin()),
        ];
        if let Some(suspend) = &flash.suspend {
            origins.push(("flash.suspend.time", suspend.time.origin()));
            origins.push(("flash.suspend.reads", suspend.reads.origin()));
        }
        let independent = flash.independent_reads.as_ref();
        origins.extend(independent.map(|reads| ("flash.independent_reads", reads.origin())));
        origins.extend(self.queue_depth.iter().map(|depth| ("queue_depth", depth.origin())));
        origins.extend(self.command.iter().map(|command| ("command", command.origin())));
        origins.into_iter().map(|(field, origin)| (field.to_owned(), origin)).collect()
    }

    fn title(&self) -> Option<&str> {
        self.name.as_deref()
    }

    fn validation(&self) -> &str {
        &self.validation
    }

    fn random_ms(&self, op: Op, bytes: u64) -> Option<f64> {
        Some(self.alone(op, bytes).ms())
    }
}
