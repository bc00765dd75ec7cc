//! Servers that are set up for one class of requests at a time, and serve it until none of it waits: drives of a tape library, and the
//! cartridges that robot arms bring them.
//!
//! Each class is M/G/1 whose first request waits for a set-up (Welch, Operations Research 12, 1964; in the form of Levy and Kleinrock,
//! Operations Research 34, 1986); how long it waits for a server follows from all classes together, each of which is a customer of the
//! servers from its set-up until it is taken away. What gathers meanwhile is served by the same set-up, so that set-ups become fewer
//! as waits grow: both are found together.

use super::open::{Visits, work};

/// The servers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exhaustive {
    /// Number of servers.
    pub servers: u32,
    /// For how long requests of a class come together before they ask for a server.
    pub gather: f64,
    /// For how long a server stays set up for a class of which none is left, unless another needs it.
    pub hold: f64,
    /// Time of a set-up.
    pub setup: f64,
    /// Time of taking it away.
    pub away: f64,
    /// Number of arms, and the part of both times for which one is in use.
    pub arms: (u32, f64),
}

/// Alike classes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Classes {
    /// Number of them.
    pub number: f64,
    /// Visits of one class.
    pub visits: Visits,
}

/// What requests and servers do.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// The mean of the response less the service, for each of the classes.
    pub waits: Vec<f64>,
    /// Set-ups in a unit of time.
    pub setups: f64,
    /// Mean number of servers in use: set up, serving, taken away.
    pub busy: f64,
}

/// The state that set-ups, waits and arms settle at.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Mean wait for a server, and the ratio of its mean square to the square of the mean.
    wait: f64,
    spread: f64,
    /// Mean wait for an arm.
    arm: f64,
    /// For how long a server stays set up for a class of which none is left.
    hold: f64,
    /// The chance that a set-up finds no server empty, and takes another class away first.
    evicts: f64,
}

/// One class in a state.
struct Cycle {
    /// Mean and mean square of the time from the first request until it is served.
    until: [f64; 2],
    /// Set-ups in a unit of time.
    setups: f64,
    /// Mean and mean square of the time for which a set-up holds a server.
    held: [f64; 2],
    /// Mean number of servers that are set up for it and idle.
    idle: f64,
}

impl Cycle {
    /// Returns the share of time for which the class holds a server.
    fn busy(&self) -> f64 {
        self.setups * self.held[0]
    }
}

impl Exhaustive {
    /// Returns what happens under this load; `None` if it has no steady state: servers, or those that serve one class, cannot do the work.
    pub fn under(&self, classes: &[Classes]) -> Option<Served> {
        let all: f64 = classes.iter().map(|class| class.number * work(&[class.visits])).sum();
        let overloads = |class: &Classes| work(&[class.visits]) >= 1.0;
        if all >= f64::from(self.servers) || classes.iter().any(overloads) {
            return None;
        }
        let cycles = self.cycles(classes, &self.settled(classes));
        let setups = sum(classes, &cycles, |cycle| cycle.setups);
        Some(Served {
            waits: classes.iter().zip(&cycles).map(|(class, cycle)| response(class, cycle.until)).collect(),
            setups,
            busy: sum(classes, &cycles, Cycle::busy),
        })
    }

    /// The longer the wait for a server, the more gathers and the fewer set-ups there are: one wait fits both.
    fn settled(&self, classes: &[Classes]) -> State {
        let scale =
            self.setup + self.away + classes.iter().map(|class| class.visits.mean).fold(0.0, f64::max);
        (0..ROUNDS).fold(State { spread: 2.0, ..State::default() }, |before, _| {
            let of = |wait: f64| self.with_arms(classes, State { wait, ..before });
            let state = of(fixed_point(scale, |wait| self.wait_for_server(classes, &of(wait)).mean));
            let Wait { mean, square } = self.wait_for_server(classes, &state);
            State { spread: if mean > 0.0 { square / (mean * mean) } else { 1.0 }, ..state }
        })
    }

    /// Returns the wait for a server of classes that are absent until their next request.
    fn wait_for_server(&self, classes: &[Classes], state: &State) -> Wait {
        let cycles = self.cycles(classes, state);
        let all = |of: &dyn Fn(&Cycle) -> f64| sum(classes, &cycles, of);
        let (setups, busy) = (all(&|cycle| cycle.setups), all(&Cycle::busy));
        let (held, square) = (busy / setups, all(&|cycle| cycle.setups * cycle.held[1]) / setups);
        let absent =
            |cycle: &Cycle| (1.0 / cycle.setups - state.wait - cycle.held[0]).max(LEAST * cycle.held[0]);
        let source = Source {
            rate: setups,
            waiting: setups * state.wait,
            // As many alike classes of which one that waits takes as much from the rate.
            absent: setups * setups / all(&|cycle| cycle.setups / absent(cycle)),
        };
        source.wait(self.servers, held, square / (held * held) - 1.0)
    }

    /// The wait for an arm, likewise: servers that are in use ask for one.
    fn with_arms(&self, classes: &[Classes], state: State) -> State {
        let of = |arm: f64| self.with_hold(classes, State { arm, ..state });
        if self.arms.1 == 0.0 {
            return of(0.0);
        }
        of(fixed_point(self.arms.1, |arm| {
            let cycles = self.cycles(classes, &of(arm));
            let rate = 2.0 * sum(classes, &cycles, |cycle| cycle.setups);
            let busy = sum(classes, &cycles, Cycle::busy).min(f64::from(self.servers));
            let absent = (busy - rate * (arm + self.arms.1)).max(LEAST * busy);
            Source { rate, waiting: rate * arm, absent }.wait(self.arms.0, self.arms.1, 0.0).mean
        }))
    }

    /// Classes that are left set up need servers that would be idle. Those unused longest make room, so that each stays equally long (as in the
    /// approximation of caches by Che, Tung and Wang, 2002).
    fn with_hold(&self, classes: &[Classes], state: State) -> State {
        if self.hold == 0.0 {
            return state;
        }
        let full = |hold: f64, evicts: f64| State { hold, evicts, ..state };
        let idle = |state: &State| {
            let cycles = self.cycles(classes, state);
            let busy = sum(classes, &cycles, Cycle::busy);
            (sum(classes, &cycles, |cycle| cycle.idle), (f64::from(self.servers) - busy).max(0.0))
        };
        let (kept, room) = idle(&full(self.hold, 0.0));
        if kept <= room {
            return full(self.hold, if room > 0.0 { kept / room } else { 1.0 });
        }
        let (mut low, mut high) = (0.0, self.hold);
        for _ in 0..STEPS {
            let middle = 0.5 * (low + high);
            let (kept, room) = idle(&full(middle, 1.0));
            (low, high) = if kept <= room { (middle, high) } else { (low, middle) };
        }
        full(low, 1.0)
    }

    fn cycles(&self, classes: &[Classes], state: &State) -> Vec<Cycle> {
        classes.iter().map(|class| self.cycle(state, class)).collect()
    }

    fn cycle(&self, state: &State, class: &Classes) -> Cycle {
        let Visits { rate, mean, square } = class.visits;
        let idle = 1.0 - rate * mean;
        let (setup, away) = (self.setup + state.arm, self.away + state.arm);
        // The first request may come while the class is being taken away, or still set up.
        let within = |time: f64| (-libm::expm1(-rate * time)).min(SELDOM);
        let (kept, comes) = (within(state.hold), within(away));
        let rest = away - comes / rate;
        let until = rest + (1.0 - comes) * self.gather + state.evicts * away + setup;
        let wait = state.wait;
        let first = [until + wait, until * (until + 2.0 * wait) + state.spread * wait * wait];
        let until = first.map(|moment| (1.0 - kept) * moment);
        let ends = rate * idle / (1.0 + rate * until[0]);
        // What a set-up serves: those that gathered, those that come meanwhile, and as often as the class is found still set up, another such.
        let again = 1.0 / (1.0 - kept);
        let gathered = 1.0 + rate * first[0] + (again - 1.0);
        let spread = rate * first[0] + rate * rate * (first[1] - first[0] * first[0]).max(0.0);
        let serves = gathered * mean / idle;
        let of_one = square / (idle * idle * idle) - mean * mean / (idle * idle);
        let variance = gathered * of_one + spread * (mean / idle) * (mean / idle);
        let held = setup + serves + away;
        Cycle {
            until,
            setups: ends * (1.0 - kept),
            held: [held, held * held + variance],
            idle: ends * kept / rate,
        }
    }
}

/// Customers that ask servers for one service at a time, and are absent before the next.
struct Source {
    /// Services in a unit of time, and the mean numbers of customers that wait for one, and that are absent.
    rate: f64,
    waiting: f64,
    absent: f64,
}

/// Mean and mean square of a wait.
struct Wait {
    mean: f64,
    square: f64,
}

impl Source {
    /// Returns the wait by the state of the source. With exponential service it is that of M/M/c with few customers. Otherwise the number that
    /// wait is that of (1 + cv²)/2 as many, as it is without a limit on the number (Lee and Longton 1959) and where all servers are busy.
    fn wait(&self, servers: u32, service: f64, cv2: f64) -> Wait {
        let factor = 0.5 * (1.0 + cv2.max(0.0));
        let most = f64::from(servers);
        let busy = (self.rate * service).min(most * (1.0 - LEAST));
        let absent = (self.absent - (most - busy)).max(0.0) / factor + (most - busy);
        let customers = absent + self.waiting / factor + busy;
        let found = few_customers(servers, customers, self.rate / absent, service);
        Wait { mean: factor * found.mean, square: factor * factor * found.square }
    }
}

/// Returns the wait in M/M/c of which each of some customers, not a whole number of them, asks at a rate while it is absent (Kleinrock I, 1975,
/// §3.8). States are looked at from the most likely one on, both ways: of many customers few states matter.
fn few_customers(servers: u32, customers: f64, rate: f64, service: f64) -> Wait {
    let many = f64::from(servers);
    let comes = |present: f64| (customers - present).max(0.0) * rate;
    let ends = |present: f64| present.min(many) / service;
    // Where as many come as are served.
    let idle = customers * rate * service / (1.0 + rate * service);
    let full = customers - many / (rate * service);
    let mode = libm::floor(if idle < many { idle } else { full }.clamp(0.0, customers));
    let mut sums = [0.0; 3];
    let mut add = |present: f64, share: f64| {
        let (asks, ahead) = (share * comes(present), (present - many + 1.0).max(0.0));
        sums = [sums[0] + asks, sums[1] + asks * ahead, sums[2] + asks * ahead * (ahead + 1.0)];
    };
    let (mut present, mut share) = (mode, 1.0);
    while present < customers && share > NEGLIGIBLE {
        add(present, share);
        share *= comes(present) / ends(present + 1.0);
        present += 1.0;
    }
    (present, share) = (mode, 1.0);
    while present > 0.0 && share > NEGLIGIBLE {
        share *= ends(present) / comes(present - 1.0);
        present -= 1.0;
        add(present, share);
    }
    let each = service / many;
    Wait { mean: sums[1] / sums[0] * each, square: sums[2] / sums[0] * each * each }
}

/// A share of customers or servers that is not zero.
const LEAST: f64 = 1e-9;
/// States this much less likely than the most likely one are left out.
const NEGLIGIBLE: f64 = 1e-13;

/// The response of a request less its service: M/G/1, and what the first of each busy period waits for.
fn response(class: &Classes, [until, squared]: [f64; 2]) -> f64 {
    let Visits { rate, mean, square } = class.visits;
    rate * square / (2.0 * (1.0 - rate * mean))
        + (2.0 * until + rate * squared) / (2.0 * (1.0 + rate * until))
}

/// The most of its busy periods in which a class is found still set up.
const SELDOM: f64 = 1.0 - 1e-9;
/// Number of steps towards a wait.
const STEPS: usize = 24;
/// A wait is found to this share of it.
const CLOSE: f64 = 1e-6;
/// Number of times that what depends on itself is found again.
const ROUNDS: usize = 3;
/// Number of doublings before a wait counts as endless.
const DOUBLINGS: usize = 60;

fn sum(classes: &[Classes], cycles: &[Cycle], of: impl Fn(&Cycle) -> f64) -> f64 {
    classes.iter().zip(cycles).map(|(class, cycle)| class.number * of(cycle)).sum()
}

/// Returns x with x = f(x), for a function that falls: by false position (the Illinois algorithm, Dowell and Jarratt, BIT 11, 1971).
fn fixed_point(scale: f64, f: impl Fn(f64) -> f64) -> f64 {
    let above = |x: f64| f(x) - x;
    let (mut low, mut high) = ((0.0, above(0.0)), (scale, above(scale)));
    for _ in 0..DOUBLINGS {
        if high.1 <= 0.0 {
            break;
        }
        (low, high) = (high, (2.0 * high.0, above(2.0 * high.0)));
    }
    let mut side = 0;
    for _ in 0..STEPS {
        let is_finite = low.1.is_finite() && high.1 < low.1;
        let x = if is_finite {
            (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1)
        } else {
            0.5 * (low.0 + high.0)
        };
        let y = above(x);
        if (high.0 - low.0).abs() <= CLOSE * high.0 || y.abs() <= CLOSE * x {
            return x;
        }
        let now = if y > 0.0 { 1 } else { -1 };
        let half = if now == side { 0.5 } else { 1.0 };
        side = now;
        if y > 0.0 {
            (low, high.1) = ((x, y), high.1 * half);
        } else {
            (high, low.1) = ((x, y), low.1 * half);
        }
    }
    0.5 * (low.0 + high.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::open::wait;

    fn servers(servers: u32, setup: f64, away: f64) -> Exhaustive {
        Exhaustive { servers, gather: 0.0, hold: 0.0, setup, away, arms: (1, 0.0) }
    }

    fn alike(number: f64, rate: f64, mean: f64, square: f64) -> Vec<Classes> {
        vec![Classes { number, visits: Visits { rate: rate / number, mean, square } }]
    }

    /// One class, which nobody else keeps waiting: M/G/1 with a set-up of 3 before the first of each busy period (Levy and Kleinrock):
    /// 0.5·1·2/(2·0.5) + (2·3 + 0.5·9)/(2·(1 + 0.5·3)).
    #[test]
    fn one_class_waits_for_its_set_up() {
        let served = servers(1, 3.0, 0.0).under(&alike(1.0, 0.5, 1.0, 2.0)).unwrap();
        assert!((served.waits[0] - (1.0 + 10.5 / 5.0)).abs() < 1e-4, "{served:?}");
        // A busy period serves (1 + 0.5·3)/0.5 requests.
        assert!((served.setups - 0.1).abs() < 1e-6 && (served.busy - 0.8).abs() < 1e-6, "{served:?}");
    }

    /// Of ten million classes each comes once, with set-ups that cost nothing, or as much as longer service: M/G/c, by Erlang and Lee and Longton.
    #[test]
    fn very_many_classes_are_customers_of_their_own() {
        for (many, mean, setup, away) in [(1, 1.0, 0.0, 0.0), (4, 3.0, 0.0, 0.0), (4, 1.0, 1.5, 0.5)] {
            let all = mean + setup + away;
            let square = mean * mean + all * all;
            let served = servers(many, setup, away)
                .under(&alike(1e7, 0.8 * f64::from(many) / all, mean, square))
                .unwrap();
            let held = Visits { rate: 0.8 * f64::from(many) / all, mean: all, square: 2.0 * all * all };
            let expected = setup + wait(many, &[held]).unwrap();
            assert!((served.waits[0] / expected - 1.0).abs() < 0.01, "{served:?}, expected {expected}");
            assert!((served.busy / f64::from(many) - 0.8).abs() < 1e-3, "{served:?}");
        }
    }

    /// Servers that are always in use go from class to class: each of 20 is set up once in 20 (2 + 1 + n)/4, and has 0.18 requests a unit of time.
    #[test]
    fn servers_that_never_rest_go_round() {
        let served = servers(4, 2.0, 1.0).under(&alike(20.0, 3.6, 1.0, 1.0)).unwrap();
        // 4 T = 20 (3 + 0.18 T): a round takes 150, and serves 27 requests each time.
        assert!((served.setups - 20.0 / 150.0).abs() < 0.01 * 20.0 / 150.0, "{served:?}");
        assert!(servers(4, 2.0, 1.0).under(&alike(20.0, 4.0, 1.0, 1.0)).is_none());
        assert!(servers(9, 2.0, 1.0).under(&alike(1.0, 1.0, 1.0, 1.0)).is_none());
    }

    /// Without a limit on customers it is M/M/c; machines and one repairman by hand: of three, each up for 2 and repaired in 1.
    #[test]
    fn few_customers_wait_less() {
        let many = few_customers(4, 1e9, 3.2e-9, 1.0);
        let held = Visits { rate: 3.2, mean: 1.0, square: 2.0 };
        assert!((many.mean / wait(4, &[held]).unwrap() - 1.0).abs() < 1e-6, "{}", many.mean);
        // Shares of 0 to 3 down: 1, 3/2, 3/2, 3/4 of 19/4; they fail at 3/2, 1, 1/2 and find 0, 1, 2 before them.
        let three = few_customers(1, 3.0, 0.5, 1.0);
        assert!((three.mean - (1.5 + 2.0 * 0.75) / (1.5 + 1.5 + 0.75)).abs() < 1e-12, "{}", three.mean);
        // A billion that ask as often as nine of ten can be served all wait: those absent are 4/0.9e-9.
        let all = few_customers(4, 1e10, 0.9e-9, 1.0);
        assert!((all.mean / (1e10 / 4.0 - 1.0 / 0.9e-9) - 1.0).abs() < 1e-6, "{}", all.mean);
    }
}
