//! Hedged reads: a read that is not answered in time is sent to other disks too, and the first answer counts (Dean and Barroso, "The tail at
//! scale", Communications of the ACM 56(2), 2013). A mirror reads another copy; with parity, data is computed from the other disks.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use headrace_units::Nanos;
use headrace_work::{Block, Breakdown, Cause, Request};

use super::Array;
use super::bay::LostJob;
use super::layout::{Accesses, ArrayLayout, Units};
use crate::core::meter::add;

/// Distinguishes the keys of the accesses of a hedge.
const HEDGE: u64 = 1 << 31;

/// All units but those on some devices.
struct Without<'u, U>(&'u U, &'u [usize]);

impl<U: Units> Units for Without<'_, U> {
    fn device(&self, stripe: u64, disk: usize, row: u64) -> Option<usize> {
        self.0.device(stripe, disk, row).filter(|device| !self.1.contains(device))
    }
}

impl<'m> Array<'m> {
    /// Has what a read takes done, hedged where the array does that, and computes lost data; returns the parts that failed.
    pub(super) async fn have_read(
        &'m self,
        reads: Accesses,
        request: &Request<Block>,
        phase: u64,
        breakdown: &mut Breakdown,
    ) -> Vec<LostJob> {
        let hedge = self.plan.hedge.filter(|_| request.cause == Cause::Host);
        let (lost, computed) = match hedge {
            Some(after) => Box::pin(self.hedged(after, reads, request, phase, breakdown)).await,
            None => (self.have_done(reads.then, request, phase, breakdown).await, reads.computed),
        };
        if lost.is_empty() {
            self.compute(computed, request, breakdown).await;
        }
        lost
    }

    /// Reads, and after a time reads elsewhere too. Returns what failed of the accesses that ended first, and the bytes to compute from.
    /// The others go on, and nobody waits for them.
    async fn hedged(
        &'m self,
        after: Nanos,
        reads: Accesses,
        request: &Request<Block>,
        phase: u64,
        breakdown: &mut Breakdown,
    ) -> (Vec<LostJob>, u64) {
        let sim = self.context.shared.sim;
        let (ticket, mut asked) = self.ask(reads.then, request, phase).await;
        let in_time = sim.within(sim.now() + after, &mut asked).await;
        let others = match in_time.is_none() {
            true => self.elsewhere(request.work, &self.bay.late(ticket)),
            false => None,
        };
        let Some(others) = others else {
            let account = match in_time {
                Some(account) => account,
                None => asked.await,
            };
            account.iter().for_each(|slowest| breakdown.follow(slowest));
            return (self.bay.take_lost(ticket), reads.computed);
        };
        add(&self.counts.hedges, 1);
        let hedged_at = sim.now();
        let (hedge_ticket, mut hedge) = self.ask(others.then, request, phase | HEDGE).await;
        let (account, by_hedge) = poll_fn(|context| match Pin::new(&mut asked).poll(context) {
            Poll::Ready(account) => Poll::Ready((account, false)),
            Poll::Pending => Pin::new(&mut hedge).poll(context).map(|account| (account, true)),
        })
        .await;
        let (won, computed) = match by_hedge {
            true => (hedge_ticket, others.computed),
            false => (ticket, reads.computed),
        };
        if by_hedge {
            breakdown.waited(self.context.id, hedged_at);
        }
        account.iter().for_each(|slowest| breakdown.follow(slowest));
        asked.leave();
        hedge.leave();
        (self.bay.take_lost(won), computed)
    }

    /// Returns what else gives the data of a read, without the devices that are late; `None` if the others do not have it.
    fn elsewhere(&self, request: Block, late: &[usize]) -> Option<Accesses> {
        let units = Without(&*self.members, late);
        match &self.plan.layout {
            ArrayLayout::Striped(_) => None,
            ArrayLayout::Parity(parity) => parity.read(request, &units),
            ArrayLayout::Mirrored(mirror) => {
                // Whose turn it is stays as it is: a hedge would lead the next read back to the copy that is late.
                let heads = &self.bay.heads;
                let choose = |column, stripe, _| {
                    let holders = mirror.holders(column, stripe, &units).map(|(_, device)| device);
                    holders.min_by_key(|device| heads[*device].in_flight.get())
                };
                let then = mirror.read_units(request, &units, choose)?;
                Some(Accesses { then, ..Accesses::default() })
            }
        }
    }
}
