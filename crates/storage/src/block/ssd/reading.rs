//! Reads of a drive: what lies on flash, and how it comes to the host.

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Op, Request};

use super::Ssd;
use super::flash::Row;
use super::ftl::Ftl;
use super::geometry::PAGE;
use super::mapping::PageLocation;

/// The share of reads from which on it is said that they found no data.
const MANY: f64 = 0.01;

impl<'m> Ssd<'m> {
    /// The row that holds a page, where the page is on flash.
    #[inline]
    fn row_of(ftl: &Ftl, logical: u32) -> Option<Row> {
        let PageLocation::Flash(flash) = ftl.location(logical) else { return None };
        let (part, number) = ftl.read_of(flash);
        Some(Row { part, number, bytes: PAGE })
    }

    /// Returns the row of flash to read for one page; `None` if it is not on flash.
    pub(super) fn row(&self, logical: u32) -> Option<Row> {
        let found = self.with_ftl(|ftl| Self::row_of(ftl, logical));
        self.flash_reads.set(self.flash_reads.get() + u64::from(found.is_some()));
        found
    }

    /// Returns the rows of flash to read for several pages: pages that follow each other in a row are read together.
    fn rows(&self, pages: std::ops::Range<u32>) -> Vec<Row> {
        let mut rows = Vec::<Row>::new();
        self.with_ftl(|ftl| {
            for row in pages.filter_map(|logical| Self::row_of(ftl, logical)) {
                match rows.last_mut().filter(|before| before.number == row.number) {
                    Some(before) => before.bytes += PAGE,
                    None => rows.push(row),
                }
            }
        });
        self.flash_reads.set(self.flash_reads.get() + rows.len() as u64);
        rows
    }

    pub(super) async fn read(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let pages = Self::pages(request.work);
        if pages.len() == 1 {
            let row = self.row(pages.start);
            self.empty_reads.set(self.empty_reads.get() + u64::from(row.is_none()));
            return self.read_page(row, request, breakdown).await;
        }
        let rows = self.rows(pages);
        if rows.is_empty() {
            self.empty_reads.set(self.empty_reads.get() + 1);
            self.read_page(None, request, breakdown).await
        } else {
            self.read_all(&rows, request, breakdown).await
        }
    }

    /// Returns a remark on reads that took no flash time, where part of the drive was never written.
    pub(super) fn reads_of_nothing(&self) -> Option<String> {
        let (plan, empty) = (self.plan, self.empty_reads.get() as f64 / self.reads.get().max(1) as f64);
        (u64::from(plan.filled) < plan.numbers.logical_pages() && empty >= MANY).then(|| {
            format!(
                "{}: {:.0} % of reads found no data on flash, and took none of its time: what they read was never written (`written`), or is \
                 in the buffer",
                self.context.path,
                empty * 100.0
            )
        })
    }

    /// Returns the time at which a read reaches the dies whose command the controller has now.
    fn comes_to_dies(&self) -> Nanos {
        self.sim.now() + self.latency(Op::Read)
    }

    /// Reads a page, if it is on flash, and then has all data cross the port.
    async fn read_page(&'m self, row: Option<Row>, request: &Request<Block>, breakdown: &mut Breakdown) {
        let mut from = self.comes_to_dies();
        if let Some(row) = row {
            let at = self.flash.borrow_mut().read(self.sim.now(), from, row);
            self.sim.until(at).await;
            from = self.flash.borrow_mut().carry(self.sim.now(), row);
        }
        self.sim.until(from).await;
        self.charge_read(row, breakdown);
        self.port(Op::Read).pass(request, breakdown);
        self.sim.until(breakdown.until()).await;
    }

    /// Reads rows side by side. Data begins to cross before all of it is here.
    async fn read_all(&'m self, rows: &[Row], request: &Request<Block>, breakdown: &mut Breakdown) {
        let came = self.comes_to_dies();
        let read = self.on_dies(rows, came);
        let from = self.can_cross_from(&read, came, request.work.bytes);
        let (mut here, mut crosses) = (from, false);
        for (at, row) in read {
            if !crosses && from <= at {
                self.sim.until(from).await;
                self.charge_read(rows.first().copied(), breakdown);
                self.port(Op::Read).pass(request, breakdown);
                crosses = true;
            }
            self.sim.until(at).await;
            let mut flash = self.flash.borrow_mut();
            let last = flash.carry(self.sim.now(), row);
            here = here.max(last + self.plan.wire.time_for(flash.last_page(row)));
        }
        if !crosses {
            self.sim.until(from).await;
            self.charge_read(rows.first().copied(), breakdown);
            self.port(Op::Read).pass(request, breakdown);
        }
        self.sim.until(here.max(breakdown.until())).await;
        breakdown.waited(self.context.id, self.sim.now());
    }

    /// Reads rows on their dies for a request that comes at `came`; returns the time at which each is in a register, in that order.
    pub(super) fn on_dies(&self, rows: &[Row], came: Nanos) -> Vec<(Nanos, Row)> {
        let (mut flash, now) = (self.flash.borrow_mut(), self.sim.now());
        let mut read: Vec<_> = rows.iter().map(|row| (flash.read(now, came, *row), *row)).collect();
        read.sort_unstable_by_key(|(at, _)| *at);
        read
    }

    /// From when `bytes`, of which these rows come from flash, cross the port without a gap, if nobody else has the channels.
    fn can_cross_from(&self, read: &[(Nanos, Row)], came: Nanos, bytes: u64) -> Nanos {
        let on_flash: u64 = read.iter().map(|(_, row)| row.bytes).sum();
        let (mut before, mut from) = (bytes.saturating_sub(on_flash), came);
        for (at, row) in read {
            for (later, ahead) in self.flash.borrow().pages_come(*row) {
                from = from.max((*at + later).saturating_sub(self.plan.wire.time_for(before + ahead)));
            }
            before += row.bytes;
        }
        from
    }

    /// Charges the time until now: what a row takes that waits for nobody, and the rest as waiting.
    fn charge_read(&self, row: Option<Row>, breakdown: &mut Breakdown) {
        let flash = row.map_or(Nanos::ZERO, |row| self.flash.borrow().least(row));
        let (now, least) = (self.sim.now(), self.latency(Op::Read) + flash);
        let waited = (now - breakdown.until()).0.saturating_sub(least.0);
        breakdown.waited(self.context.id, breakdown.until() + Nanos(waited));
        breakdown.served(self.context.id, now);
    }
}
