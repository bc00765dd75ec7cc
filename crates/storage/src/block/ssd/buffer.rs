//! The buffer of a drive: pages that hosts wrote and that are not on flash yet.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use headrace_kernel::{Pool, Round, Sim};

use super::geometry::PAGE;
use crate::core::meter::{Balance, Meter};
use crate::core::ranges::Ranges;

/// The buffer in a simulation. All numbers are of pages of 4 KiB. Pages that came have running numbers; a flush covers those below one.
pub struct PageBuffer<'m> {
    /// Room for pages.
    room: Pool<'m>,
    /// Programs that wait for a die.
    ready: Pool<'m>,
    /// Pages that wait for a program, in the order in which they came.
    queue: RefCell<VecDeque<u32>>,
    /// Pages of a program.
    unit: usize,
    /// Programs that are due and have not taken their pages yet.
    due: Cell<usize>,
    /// Pages of a half, where it is drained in halves.
    half: Option<usize>,
    /// The half that is being drained, or the part of one that a flush has drained.
    draining: Cell<DrainedHalf>,
    taken_in: Cell<u64>,
    on_flash: Cell<u64>,
    /// Programs that dies work on: the number of the first page of each, and its pages.
    programs: RefCell<Vec<(u64, Rc<[u32]>)>>,
    /// Pages below this number are wanted on flash.
    wanted: Cell<u64>,
    programmed: Round<'m>,
}

/// Numbers of pages of a half that is being drained.
#[derive(Clone, Copy, Default)]
struct DrainedHalf {
    /// All of it.
    size: usize,
    /// Those that are not on flash yet.
    left: usize,
    /// Those that no program has taken yet.
    waiting: usize,
}

impl<'m> PageBuffer<'m> {
    /// A buffer for `pages` pages, programmed `unit` at a time.
    pub fn new(sim: &'m Sim<'m>, pages: u64, unit: u32, halves: bool) -> Self {
        let ready = Pool::new(sim, pages + 1, 0);
        Self {
            room: Pool::new(sim, pages, pages),
            ready,
            queue: RefCell::default(),
            unit: unit as usize,
            due: Cell::default(),
            half: halves.then_some((pages / 2) as usize),
            draining: Cell::default(),
            taken_in: Cell::default(),
            on_flash: Cell::default(),
            programs: RefCell::default(),
            wanted: Cell::default(),
            programmed: Round::new(sim),
        }
    }

    /// Takes room for a page.
    pub async fn reserve(&'m self) {
        self.room.take(1).await;
    }

    /// Releases space that was not needed: the page is in the buffer already.
    pub fn give_back(&self) {
        self.room.put(1);
    }

    /// A page is here, in component that was reserved.
    pub fn push(&self, logical: u32) {
        self.taken_in.set(self.taken_in.get() + 1);
        self.queue.borrow_mut().push_back(logical);
        self.drain();
    }

    /// Makes the programs due that full units, or a full half, and flushes ask for.
    fn drain(&self) {
        let waiting = self.queue.borrow().len();
        let wanted = self.wanted.get().saturating_sub(self.next_page()) as usize;
        match self.half {
            Some(half) => self.drain_half(half, waiting, wanted),
            None => self.start((waiting / self.unit).max(wanted.div_ceil(self.unit))),
        }
    }

    /// Begins to drain a half that is full, or as much as a flush wants of it, unless the other one still is being drained.
    fn drain_half(&self, half: usize, waiting: usize, wanted: usize) {
        let size = if waiting >= half { half } else { wanted };
        if size > 0 && self.draining.get().left == 0 {
            self.draining.set(DrainedHalf { size, left: size, waiting: size });
            self.start(size.div_ceil(self.unit));
        }
    }

    /// Has this number of programs be due.
    fn start(&self, programs: usize) {
        if programs > self.due.get() {
            self.ready.put((programs - self.due.get()) as u64);
            self.due.set(programs);
        }
    }

    /// The number of the first page that no program has taken.
    fn next_page(&self) -> u64 {
        self.taken_in.get() - self.queue.borrow().len() as u64
    }

    /// Waits for the next program that is due, and takes its pages; gives the number of the first, too.
    pub async fn next(&'m self) -> (u64, Rc<[u32]>) {
        self.ready.take(1).await;
        self.due.set(self.due.get() - 1);
        let first = self.next_page();
        let mut queue = self.queue.borrow_mut();
        let many = self.unit.min(queue.len()).min(self.left_to_start());
        let pages: Rc<[u32]> = queue.drain(..many).collect();
        self.programs.borrow_mut().push((first, Rc::clone(&pages)));
        (first, pages)
    }

    /// Of a half, no more than belongs to it.
    fn left_to_start(&self) -> usize {
        if self.half.is_none() {
            return self.unit;
        }
        let half = self.draining.get();
        self.draining.set(DrainedHalf { waiting: half.waiting - self.unit.min(half.waiting), ..half });
        half.waiting
    }

    /// The pages of the program that began with page `first` are on flash.
    pub fn done(&self, first: u64, pages: usize) {
        self.on_flash.set(self.on_flash.get() + pages as u64);
        self.programs.borrow_mut().retain(|(program, _)| *program != first);
        self.programmed.end();
        if self.half.is_none() {
            return self.room.put(pages as u64);
        }
        let half = self.draining.get();
        self.draining.set(DrainedHalf { left: half.left - pages, ..half });
        if half.left == pages {
            self.room.put(half.size as u64);
            self.drain();
        }
    }

    /// Has all pages that are here programmed, whether they fill a program or not, and waits until they are on flash. Pages that come
    /// meanwhile are not waited for.
    pub async fn flush(&'m self) {
        let covered = self.taken_in.get();
        self.wanted.set(covered);
        self.drain();
        while self.first_missing() < covered {
            self.programmed.wait().await;
        }
    }

    /// The number of the first page that is not on flash.
    fn first_missing(&self) -> u64 {
        let programs = self.programs.borrow();
        programs.iter().map(|(first, _)| *first).min().unwrap_or_else(|| self.next_page())
    }

    /// Returns the bytes of the pages that are not on flash.
    pub fn unwritten(&self) -> Ranges {
        let mut unwritten = Ranges::default();
        let mut add = |page: &u32| unwritten.insert(u64::from(*page) * PAGE, (u64::from(*page) + 1) * PAGE);
        self.queue.borrow().iter().for_each(&mut add);
        self.programs.borrow().iter().for_each(|(_, pages)| pages.iter().for_each(&mut add));
        unwritten
    }

    /// Returns the bytes taken in and held.
    pub fn balance(&self) -> Balance {
        let (taken_in, destaged) = (self.taken_in.get(), self.on_flash.get());
        let (size, free) = (self.room.capacity() * PAGE, self.room.held() * PAGE);
        let dirty = (taken_in - destaged) * PAGE;
        Balance { taken_in: taken_in * PAGE, destaged: destaged * PAGE, dirty, used: size - free, free, size }
    }

    /// Returns the mean fill up to `now`.
    pub fn fill(&self, now: headrace_units::Nanos) -> Meter {
        let (size, free) = (u128::from(self.room.capacity()), self.room.level().area(now));
        Meter::Fill((u128::from(now.0) - free / size) as u64, now.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use headrace_units::Nanos;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Programs the pages that are due, in times that differ, and notes their numbers.
    async fn die<'m>(sim: &'m Sim<'m>, buffer: &'m PageBuffer<'m>, done: &RefCell<Vec<u64>>, number: u64) {
        for time in (1..).map(|n| Nanos(1 + (n * 7 + number * 13) % 40)) {
            let (first, pages) = buffer.next().await;
            assert!(!pages.is_empty(), "a program has pages");
            sim.delay(time).await;
            done.borrow_mut().extend(first..first + pages.len() as u64);
            buffer.done(first, pages.len());
        }
    }

    /// Pages that come at these times, and flushes.
    fn check(comes: &[(u64, bool)], halves: bool) {
        let (sim, done) = (Sim::new(), RefCell::new(Vec::new()));
        let buffer = PageBuffer::new(&sim, 64, 8, halves);
        let (s, b, d) = (&sim, &buffer, &done);
        (0..3).for_each(|number| s.spawn(die(s, b, d, number)));
        let flushes = Cell::new(0);
        let ended = &flushes;
        let is_covered = async move || {
            let covered = b.taken_in.get();
            b.flush().await;
            let stable: BTreeSet<u64> = d.borrow().iter().copied().collect();
            assert!((0..covered).all(|page| stable.contains(&page)), "{covered} pages: {stable:?}");
            ended.set(ended.get() + 1);
        };
        let mut at = 0;
        for &(gap, flush) in comes {
            at += gap;
            s.spawn(async move {
                s.until(Nanos(at)).await;
                if flush {
                    return is_covered().await;
                }
                b.reserve().await;
                b.push(0);
            });
        }
        s.spawn(async move {
            s.until(Nanos(1 << 40)).await;
            is_covered().await;
        });
        s.run(Nanos::MAX, u64::MAX);
        assert_eq!(flushes.get(), 1 + comes.iter().filter(|(_, flush)| *flush).count(), "all flushes end");
        let mut programmed = done.take();
        programmed.sort_unstable();
        let pages = comes.iter().filter(|(_, flush)| !flush).count() as u64;
        assert_eq!(programmed, (0..pages).collect::<Vec<_>>(), "each page is programmed once");
        assert_eq!(
            (buffer.room.held(), buffer.due.get()),
            (64, 0),
            "no room is lost, and no program is left"
        );
    }

    proptest! {
        #[test]
        fn a_flush_waits_for_all_that_came_before(
            comes in prop::collection::vec((0u64..30, prop::bool::weighted(0.1)), 0..300),
            halves: bool,
        ) {
            check(&comes, halves);
        }
    }
}
