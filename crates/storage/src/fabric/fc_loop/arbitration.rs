//! Who sends next on a loop, and how far the loop must carry the word of it.
//!
//! A port that wants the loop sends ARB with its address round it. The lowest address that arbitrates wins. Under fairness a
//! port that has won waits until every other port that arbitrates has won too: the access window. A port that a policy
//! favours ignores the window.

use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

use headrace_kernel::Discipline;

/// Number of addresses on a loop: 126 NL ports and one FL port.
pub(super) const PORTS: usize = 127;

/// A set of ports.
type Ports = u128;

/// A sequence that waits at a port.
#[derive(Clone, Copy)]
pub struct Claim {
    pub(super) port: u32,
    /// True if it ignores the access window.
    pub(super) favoured: bool,
}

/// State of the loop that its ports share.
#[derive(Default)]
pub(super) struct Window {
    ports: Cell<u32>,
    /// The controllers of arrays. They have the lowest addresses, the FL port's first.
    controllers: Cell<Ports>,
    /// Ports that won since the window was opened.
    won: Cell<Ports>,
    /// The port that won last.
    owner: Cell<u32>,
    /// Number of ports passed on the way to the port whose turn it is, until that port asks.
    passed: Cell<Option<u32>>,
    /// Number of windows.
    opened: Cell<u64>,
}

impl Window {
    /// Adds `ports` neighbours, a controller and its disks.
    pub fn attach(&self, first: u32, ports: u32) {
        self.controllers.set(self.controllers.get() | 1 << first);
        self.ports.set(first + ports);
    }

    pub fn opened(&self) -> u64 {
        self.opened.get()
    }

    /// Returns the distance round the loop to the winner, in rounds: from the previous owner, or all the way if the loop was idle.
    pub fn passed(&self, claim: Claim) -> f64 {
        let passed = self.passed.take().unwrap_or_else(|| {
            self.open();
            self.give_to(claim);
            self.ports.get()
        });
        f64::from(passed) / f64::from(self.ports.get())
    }

    fn open(&self) {
        self.won.set(0);
        self.opened.set(self.opened.get() + 1);
    }

    fn give_to(&self, claim: Claim) {
        if !claim.favoured {
            self.won.set(self.won.get() | 1 << claim.port);
        }
        self.owner.set(claim.port);
    }

    /// Gives the loop to a port that waited. A new window costs a round: its word must return to the last owner.
    fn pass_to(&self, claim: Claim, new: bool) {
        let ports = self.ports.get();
        let passed = (claim.port + ports - self.owner.get()) % ports;
        if new {
            self.open();
        }
        self.give_to(claim);
        self.passed.set(Some(if new { passed + ports } else { passed }));
    }

    /// The port with the lowest address among some.
    fn lowest(&self, among: Ports) -> u32 {
        match among & self.controllers.get() {
            0 => among.trailing_zeros(),
            controllers => controllers.trailing_zeros(),
        }
    }
}

/// Sequences that wait, by port; those of one port in the order in which they came.
struct Claims {
    waiting: Ports,
    queues: Vec<VecDeque<u32>>,
}

impl Claims {
    fn new() -> Self {
        Self { waiting: 0, queues: vec![VecDeque::new(); PORTS] }
    }

    fn push(&mut self, port: u32, waiter: u32) {
        self.queues[port as usize].push_back(waiter);
        self.waiting |= 1 << port;
    }

    fn pop(&mut self, port: u32) -> Option<u32> {
        let queue = &mut self.queues[port as usize];
        let waiter = queue.pop_front();
        if queue.is_empty() {
            self.waiting &= !(1 << port);
        }
        waiter
    }
}

/// The queue before a loop: one sequence at each win.
pub struct Arbiter {
    window: Rc<Window>,
    favoured: Claims,
    others: Claims,
}

impl Arbiter {
    pub(super) fn new(window: Rc<Window>) -> Self {
        Self { window, favoured: Claims::new(), others: Claims::new() }
    }
}

impl Discipline for Arbiter {
    type Key = Claim;

    fn push(&mut self, waiter: u32, claim: Claim) {
        let claims = if claim.favoured { &mut self.favoured } else { &mut self.others };
        claims.push(claim.port, waiter);
    }

    fn pop(&mut self) -> Option<u32> {
        self.window.passed.set(None);
        let (favoured, waiting) = (self.favoured.waiting, self.others.waiting);
        if favoured > 0 {
            let port = self.window.lowest(favoured);
            self.window.pass_to(Claim { port, favoured: true }, false);
            return self.favoured.pop(port);
        }
        let eligible = waiting & !self.window.won.get();
        let new = eligible == 0 && waiting > 0;
        let candidates = if new { waiting } else { eligible };
        (candidates > 0).then(|| self.window.lowest(candidates)).and_then(|port| {
            self.window.pass_to(Claim { port, favoured: false }, new);
            self.others.pop(port)
        })
    }
}
