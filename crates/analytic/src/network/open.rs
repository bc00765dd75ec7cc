//! Stations of an open network: requests of several classes come at given rates and leave.
//!
//! Where all arrivals are Poisson a station is on its own: exactly where requests come from outside or are split at random, and
//! where the stations before it have exponential service; nearly so behind others (Kleinrock, *Queueing Systems* II, 1976, §4.4).

/// The visits of one class to a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visits {
    /// Visits in a unit of time.
    pub rate: f64,
    /// The mean service time of one.
    pub mean: f64,
    /// The mean square of it.
    pub square: f64,
}

/// The work that comes in a unit of time, Σ λ E\[S\]: over the number of servers it is the utilisation.
pub fn work(visits: &[Visits]) -> f64 {
    visits.iter().map(|class| class.rate * class.mean).sum()
}

/// The mean residual work that an arrival finds in service at one server, Σ λ E\[S²\]/2.
pub fn residual(visits: &[Visits]) -> f64 {
    visits.iter().map(|class| class.rate * class.square).sum::<f64>() / 2.0
}

/// The mean wait before one server, first come, first served: the residual over 1 − ρ (Pollaczek and Khinchine). `None` where
/// it has no steady state.
pub fn wait(visits: &[Visits]) -> Option<f64> {
    let idle = 1.0 - work(visits);
    (idle > 0.0).then(|| residual(visits) / idle)
}

/// The mean wait before several servers, first come, first served: that of M/M/c (Erlang 1917) times (1 + cv²)/2 (Lee and
/// Longton 1959), which is exact for one server and for exponential service. `None` where it has no steady state.
pub fn wait_of_several(servers: u32, visits: &[Visits]) -> Option<f64> {
    let (work, idle) = (work(visits), f64::from(servers) - work(visits));
    if idle <= 0.0 {
        return None;
    }
    if work == 0.0 {
        return Some(0.0);
    }
    let exponential = work * work / visits.iter().map(|class| class.rate).sum::<f64>();
    let spread = residual(visits) / exponential;
    let mean = work / visits.iter().map(|class| class.rate).sum::<f64>();
    Some(waits(servers, work) * mean / idle * spread)
}

/// The share of arrivals that wait in M/M/c at this work (Erlang's C), by the recursion of his B.
fn waits(servers: u32, work: f64) -> f64 {
    let lost = (1..=servers).fold(1.0, |lost, many| work * lost / (f64::from(many) + work * lost));
    let busy = work / f64::from(servers);
    lost / (1.0 - busy + busy * lost)
}
