//! Which request has which drive. A drive is empty before a request has it, unless it has the request's cartridge: which request that is, is
//! decided then, and not when its last cartridge begins to be put away. So that no cartridge is put away in vain, each drive that is about to
//! be empty is left to one request.

use super::drives::{Cartridge, DriveRequest, Drives};
use super::recall::Recall;
use super::shares::SharedUse;

impl<'m> Drives<'m> {
    /// Gives an unused drive to the request that is next, or has its cartridge put away for that one. Returns true if the drive is wanted.
    pub(super) fn hand(&'m self, drive: usize) -> bool {
        match self.next(drive) {
            Some((ticket, wanted)) if self.is_ready(drive, &wanted) => return self.give(ticket, drive),
            Some(_) => self.put_away(drive, true),
            None => return false,
        }
        true
    }

    /// A drive that requests may have been left to is not empty for long: another has its cartridge put away instead.
    pub(super) fn hand_another(&'m self) {
        let mut unused: Vec<usize> =
            self.ranked.borrow().values().filter_map(|wanted| self.drive_for(wanted)).collect();
        unused.dedup();
        unused.into_iter().any(|drive| self.hand(drive));
    }

    /// A share may use one more drive: a request that waited for that may find one unused.
    pub(super) fn hand_to(&'m self, share: SharedUse) {
        let of_share = |wanted: &DriveRequest| {
            (wanted.shared() == Some(share)).then(|| self.drive_for(wanted)).flatten()
        };
        let found = self.ranked.borrow().values().find_map(of_share);
        if let Some(drive) = found {
            self.hand(drive);
        }
    }

    /// Returns true if an unused drive is empty, or has the cartridge of a request.
    pub(super) fn is_ready(&self, drive: usize, wanted: &DriveRequest) -> bool {
        self.drives.borrow()[drive].cartridge.is_none_or(|cartridge| cartridge == wanted.cartridge)
    }

    fn has_cartridge(&self, drive: usize, wanted: &DriveRequest) -> bool {
        self.drives.borrow()[drive].cartridge == Some(wanted.cartridge)
    }

    /// Returns true if the cartridge of a drive is being put away, and no request has the drive.
    pub(super) fn is_put_away(&self, drive: usize) -> bool {
        self.drives.borrow()[drive].is_put_away()
    }

    /// The request that a drive serves next: one that has waited too long, else one for its cartridge, else the first in the queue.
    pub(super) fn next(&self, drive: usize) -> Option<(u64, DriveRequest)> {
        let mounted = self.drives.borrow()[drive].cartridge;
        let of_batch = || mounted.and_then(|cartridge| self.next_of_batch(drive, cartridge));
        self.overdue(drive).or_else(of_batch).or_else(|| self.first(drive, |_| true))
    }

    /// Gives a drive to the one with this ticket. Returns true if it waits.
    fn give(&self, ticket: u64, drive: usize) -> bool {
        self.queue.offer_to(ticket, |wanted| Some(self.take(drive, Some(wanted))))
    }

    /// The first that has waited too long for a drive that has served its batch.
    fn overdue(&self, drive: usize) -> Option<(u64, DriveRequest)> {
        let longest = self.spec.longest_wait.filter(|_| self.batches.borrow()[drive].is_empty())?;
        let last = self.drives.borrow()[drive].last;
        let is_overdue =
            |wanted: &DriveRequest| last != Some(wanted.cartridge) && self.sim.now() - wanted.since > longest;
        self.first(drive, is_overdue)
    }

    /// The next of the batch of a drive, or of a new one, that still waits, and whose share may use one more.
    fn next_of_batch(&self, drive: usize, cartridge: Cartridge) -> Option<(u64, DriveRequest)> {
        if self.spec.recall == Recall::Arrival {
            return None;
        }
        if self.batches.borrow()[drive].is_empty() {
            self.make_batch(drive, cartridge, None);
        }
        let (batch, tickets, asked) =
            (&mut self.batches.borrow_mut()[drive], self.tickets.borrow(), self.asked.borrow());
        let waiting = std::iter::from_fn(|| batch.pop_front()).filter_map(|number| tickets.get(&number));
        let mut requests = waiting.map(|ticket| (*ticket, asked[&(cartridge, *ticket)]));
        requests.find(|(_, wanted)| self.shares.has_room(wanted, 0))
    }

    /// The first of some requests that can have a drive, or could once its cartridge is put away, and to which no drive is left that is about to be
    /// empty and can have their cartridge sooner.
    fn first(&self, drive: usize, is: impl Fn(&DriveRequest) -> bool) -> Option<(u64, DriveRequest)> {
        let ranked = self.ranked.borrow();
        if ranked.is_empty() {
            return None;
        }
        // Seldom needed: most requests have their cartridge elsewhere, or here.
        let mut others = None;
        let mut is_left = |wanted: &DriveRequest| {
            others.get_or_insert_with(|| Others::beside(self, drive)).serve(self, wanted)
        };
        let mut could = ranked.iter().filter(|(_, wanted)| is(wanted) && self.could_have(wanted, drive));
        could
            .find(|(_, wanted)| self.has_cartridge(drive, wanted) || !is_left(wanted))
            .map(|((_, ticket), wanted)| (*ticket, *wanted))
    }

    /// Returns true if a request can have a drive, or if it has to be emptied for that, could have it then.
    fn could_have(&self, wanted: &DriveRequest, drive: usize) -> bool {
        let (place, state) =
            (self.places.borrow().get(&wanted.cartridge).copied(), &self.drives.borrow()[drive]);
        let is_free = place.is_none_or(|at| state.cartridge.is_some() && self.is_put_away(at));
        self.shares.has_room(wanted, 0) && (place == Some(drive) || is_free && self.suits(wanted, state))
    }
}

/// Drives beside one that are about to be empty, and what is left to them.
struct Others {
    drive: usize,
    drives: Vec<usize>,
    served: Vec<DriveRequest>,
}

impl Others {
    /// Those that serve a request as soon as they are empty: no cartridge is stuck in them, and they are not cleaned first unless the drive is too.
    fn beside(drives: &Drives, drive: usize) -> Self {
        let all = drives.drives.borrow();
        let is_soon = |at: usize| drives.cleaning_due(at).is_none() || drives.cleaning_due(drive).is_some();
        let is_one = |at: &usize| {
            let state = &all[*at];
            *at != drive && !state.is_down && !state.is_stuck && is_soon(*at)
        };
        Self { drive, drives: drives.vacant.borrow().emptying().filter(is_one).collect(), served: Vec::new() }
    }

    /// Returns true if the drive is not for a request: one of these is left to it, or to another for its cartridge, or its share is used up by
    /// those before it.
    fn serve(&mut self, all: &Drives, wanted: &DriveRequest) -> bool {
        let of_share = self.served.iter().filter(|other| other.shared() == wanted.shared()).count() as u64;
        let with_it = self.served.iter().any(|other| other.cartridge == wanted.cartridge);
        if with_it || !all.shares.has_room(wanted, of_share) {
            return true;
        }
        let states = all.drives.borrow();
        let ready = |drive: usize| all.time_until_ready(wanted, &states[drive]);
        let (here, is_empty) = (ready(self.drive), states[self.drive].cartridge.is_none());
        // Of drives that are as soon, one that is empty serves, and one that is not stays as it is.
        let is_sooner = |drive: usize| ready(drive) < here || !is_empty && ready(drive) == here;
        let suiting = (0..self.drives.len()).filter(|at| all.suits(wanted, &states[self.drives[*at]]));
        let soonest =
            suiting.filter(|at| is_sooner(self.drives[*at])).min_by_key(|at| ready(self.drives[*at]));
        self.served.extend(soonest.map(|_| *wanted));
        soonest.map(|at| self.drives.swap_remove(at)).is_some()
    }
}
