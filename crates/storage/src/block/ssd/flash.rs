//! Dies and channels: who holds them when.

use headrace_units::{Bytes, BytesPerSecond, Nanos};
use headrace_work::Cause;

use super::die::Die;
use super::ftl::DieWork;
use super::geometry::PAGE;
use super::numbers::{SsdNumbers, SuspendNumbers};
use crate::core::bookings::Bookings;
use crate::core::health::Health;
use crate::core::meter::Activity;

/// Wanted part of one read: pages of one row, which the planes of a die read together, or of one plane where each reads for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What reads it: a die, or a plane of one.
    pub part: u32,
    /// Its number among all reads.
    pub number: u32,
    /// Bytes that go over the channel.
    pub bytes: u64,
}

/// The dies and channels of a drive. Both are held in the order in which they are asked.
pub struct Flash<'m> {
    health: &'m Health,
    /// The dies, or of each die the planes that read independently.
    dies: Vec<Die>,
    /// Number of those of one die.
    parts: u32,
    suspend: Option<SuspendNumbers>,
    channels: Vec<Bookings>,
    read: Nanos,
    program: Nanos,
    erase: Nanos,
    rate: BytesPerSecond,
    /// Pages of 4 KiB of one program.
    unit: u32,
    /// Bytes of a flash page: the data of a row is passed on page by page.
    page_bytes: u64,
}

impl<'m> Flash<'m> {
    pub fn new(numbers: &SsdNumbers, health: &'m Health) -> Self {
        let flash = &numbers.flash;
        Self {
            health,
            dies: (0..numbers.geometry().read_parts()).map(|_| Die::default()).collect(),
            parts: numbers.geometry().parts,
            suspend: flash.suspend.clone(),
            channels: (0..flash.channels.get()).map(|_| Bookings::default()).collect(),
            read: flash.read.get(),
            program: flash.program.get(),
            erase: flash.erase.get(),
            rate: flash.channel_rate.get(),
            unit: numbers.geometry().unit,
            page_bytes: u64::from(numbers.geometry().read) * PAGE,
        }
    }

    /// Returns the time that a row takes without waiting.
    pub fn least(&self, row: Row) -> Nanos {
        self.health.slowed(self.read) + self.transfer(row.bytes)
    }

    /// Returns the time that bytes take over a free channel.
    pub fn transfer(&self, bytes: u64) -> Nanos {
        self.health.slowed(self.rate.time_for(Bytes(bytes)))
    }

    /// The bytes of a row's last page: all others are passed on while it is carried.
    pub fn last_page(&self, row: Row) -> u64 {
        self.page_bytes.min(row.bytes)
    }

    /// For the first page of a row and for the last, between which nothing comes later: how long after the row is in the registers it
    /// has crossed a free channel, and the bytes before it.
    pub fn pages_come(&self, row: Row) -> [(Nanos, u64); 2] {
        let page = self.last_page(row);
        [(self.transfer(page), 0), (self.transfer(row.bytes), row.bytes - page)]
    }

    /// Reads a row on a die for a request that comes at `came`; returns the time at which it is in the registers of the die.
    #[inline]
    pub fn read(&mut self, now: Nanos, came: Nanos, row: Row) -> Nanos {
        let time = self.health.slowed(self.read);
        self.dies[row.part as usize].read(now, came, row.number, time, self.suspend.as_ref())
    }

    /// Carries a row over its channel; returns the time at which it is in the memory of the drive.
    #[inline]
    pub fn carry(&mut self, now: Nanos, row: Row) -> Nanos {
        self.over_channel(now, row.part / self.parts, row.bytes, Cause::Host)
    }

    #[inline]
    fn over_channel(&mut self, now: Nanos, die: u32, bytes: u64, cause: Cause) -> Nanos {
        let (time, channel) = (self.transfer(bytes), die as usize % self.channels.len());
        self.channels[channel].book(now, time, cause) + time
    }

    /// Holds a die for a time from when all of it is free; returns the end, unless reads suspend it.
    pub fn hold(&mut self, now: Nanos, die: u32, time: Nanos, cause: Cause) -> Nanos {
        let parts = &mut self.dies[Self::parts_of(die, self.parts)];
        let from = parts.iter().map(Die::free).fold(now, Nanos::max);
        parts.iter_mut().map(|part| part.hold(now, from, time, cause)).fold(now, Nanos::max)
    }

    /// Returns the end of the last program or erasure of a die, as far as is known now.
    pub fn held_until(&self, die: u32) -> Nanos {
        self.dies[Self::parts_of(die, self.parts)].iter().map(Die::end).fold(Nanos::ZERO, Nanos::max)
    }

    fn parts_of(die: u32, parts: u32) -> std::ops::Range<usize> {
        (die * parts) as usize..((die + 1) * parts) as usize
    }

    /// Returns the time for which a die is busy with a program, whose data comes over its channel.
    pub fn program(&mut self, now: Nanos, die: u32, bytes: u64) -> Nanos {
        self.over_channel(now, die, bytes, Cause::Destage) - now + self.health.slowed(self.program)
    }

    /// For how long a die is busy with each step of moving pages and erasing blocks; others may have it in between. Data that moves
    /// goes to the electronics and back, since errors are corrected there; that other dies of the channel wait for it is left out.
    pub fn steps(&self, work: DieWork) -> Vec<Nanos> {
        let mut steps = Vec::new();
        let (mut left, programs) = (work.moved, work.moved.div_ceil(self.unit));
        for _ in 0..programs {
            let pages = left.min(self.unit);
            left -= pages;
            let share = |time: Nanos, part: u32, of: u32| {
                Nanos((u128::from(time.0) * u128::from(part) / u128::from(of)) as u64)
            };
            let reads = share(Nanos(self.read.0 * u64::from(work.reads)), pages, work.moved);
            let moved = self.transfer(2 * u64::from(pages) * PAGE);
            steps.push(self.health.slowed(reads + share(self.program, pages, self.unit)) + moved);
        }
        steps.extend((0..work.erases).map(|_| self.health.slowed(self.erase)));
        steps
    }

    /// Returns the activity of all dies.
    pub fn activity(&self, now: Nanos) -> Activity {
        let all = self.dies.iter().map(|die| die.activity(now));
        all.fold(Activity::default(), Activity::and)
    }

    /// Returns the number of programs and erasures suspended by reads; `None` if reads cannot suspend them.
    pub fn suspensions(&self) -> Option<u64> {
        self.suspend.as_ref().map(|_| self.dies.iter().map(Die::suspensions).sum())
    }

    /// The time for which the busiest channel was held.
    pub fn busiest_channel(&self, now: Nanos) -> u128 {
        self.channels.iter().map(|channel| channel.activity(now).busy_in_all()).max().unwrap_or(0)
    }
}
