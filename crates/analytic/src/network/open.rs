//! Stations of an open network: requests of several classes come at given rates and leave.
//!
//! If all arrivals are Poisson, each station is on its own: exactly where requests come from outside or are split at random, and
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

/// The mean time until a server is free for an arrival that finds nobody waiting, zero where one is free already. For one server it is
/// the residual work Σ λ E\[S²\]/2. For several it is that of M/M/c (Erlang 1917) times (1 + cv²)/2 (Lee and Longton 1959), exact for
/// exponential service.
pub fn until_free(servers: u32, visits: &[Visits]) -> f64 {
    let work = work(visits);
    if work == 0.0 {
        return 0.0;
    }
    let residual = visits.iter().map(|class| class.rate * class.square).sum::<f64>() / 2.0;
    waits(servers, work) / f64::from(servers) * residual / work
}

/// Servers that are idle for no more than this share of the time are always busy: utilisations are sums that are rounded.
pub const ROUNDING: f64 = 1e-12;

/// The mean wait before servers with one queue, first come, first served: [`until_free`] over 1 − ρ (for one server Pollaczek and
/// Khinchine). `None` where it has no steady state.
pub fn wait(servers: u32, visits: &[Visits]) -> Option<f64> {
    let idle = 1.0 - work(visits) / f64::from(servers);
    (idle > ROUNDING).then(|| until_free(servers, visits) / idle)
}

/// The wait in GI/G/1 over that in M/G/1, for arrivals that are more regular than Poisson: by the squared coefficients of variation of
/// the time between arrivals and of service, and the utilisation (Krämer and Langenbach-Belz, "Approximate formulae for the delay in
/// the queueing system GI/G/1", 1976).
pub fn regularity(arrivals_cv2: f64, service_cv2: f64, utilisation: f64) -> f64 {
    let both = arrivals_cv2 + service_cv2;
    if arrivals_cv2 >= 1.0 || both == 0.0 || utilisation == 0.0 {
        return 1.0;
    }
    let (idle, odd) = (1.0 - utilisation, 1.0 - arrivals_cv2);
    both / (1.0 + service_cv2) * libm::exp(-2.0 * idle * odd * odd / (3.0 * utilisation * both))
}

/// The share of arrivals that wait in M/M/c at this work (Erlang's C), by the recursion of his B.
pub fn waits(servers: u32, work: f64) -> f64 {
    let lost = (1..=servers).fold(1.0, |lost, many| work * lost / (f64::from(many) + work * lost));
    let busy = work / f64::from(servers);
    lost / (1.0 - busy + busy * lost)
}
