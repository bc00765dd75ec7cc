//! Waiting time at a queue of several servers of which only the mean number of requests found there is known.
//!
//! The numbers that an arriving request finds are taken for those of M/M/c with as many places as there are others:
//! p(j) ∝ aʲ/j! up to c and falls or grows by a/c from there, with the a that gives the mean. For one server the answer does not
//! depend on it, and a station that everybody is at, or that nobody waits at, is exact.

/// Halvings of the range in which the intensity is looked for: as many as a float tells apart.
const HALVINGS: u32 = 60;
/// The largest factor between neighbouring numbers of requests beyond the servers, as its logarithm.
const STEEPEST: f64 = 40.0;

/// By how much the service of an arriving request is lengthened that finds `mean` others on average, of at most `most`, in units of
/// its own service.
pub fn wait(servers: u32, most: f64, mean: f64) -> f64 {
    if servers == 1 {
        return mean;
    }
    let c = f64::from(servers);
    if most <= c - 1.0 || mean <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (-STEEPEST, STEEPEST);
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if found(servers, most, middle).mean < mean {
            low = middle;
        } else {
            high = middle;
        }
    }
    let room = found(servers, most, (low + high) / 2.0).room;
    ((1.0 + mean + room) / c - 1.0).max(0.0)
}

/// State seen by an arriving request: the mean number of others, and of servers that they leave free besides its own.
struct BusyOnArrival {
    mean: f64,
    room: f64,
}

/// Returns the state seen if neighbouring probabilities beyond the servers differ by the factor whose logarithm is `steep`.
fn found(servers: u32, most: f64, steep: f64) -> BusyOnArrival {
    let c = f64::from(servers);
    // Relative to the probability that all servers are busy and nobody waits: p(j − 1) = p(j) j / a, with a = c eˢ.
    let (mut p, mut below, mut mean_below, mut room) = (1.0, 0.0, 0.0, 0.0);
    for j in (0..servers).rev() {
        p *= f64::from(j + 1) / c * libm::exp(-steep);
        below += p;
        mean_below += f64::from(j) * p;
        room += (c - 1.0 - f64::from(j)) * p;
    }
    let (queued, sum) = geometric((most - c).max(0.0), steep);
    let all = below + queued;
    BusyOnArrival { mean: (mean_below + c * queued + sum) / all, room: room / all }
}

/// Σ eˢⁱ and Σ i eˢⁱ over i from 0 to `most`.
fn geometric(most: f64, steep: f64) -> (f64, f64) {
    let terms = most + 1.0;
    if libm::fabs(steep) * terms < 1e-3 {
        let sum = terms * (1.0 + most * steep / 2.0);
        return (sum, most * terms / 2.0 * (1.0 + (2.0 * most + 1.0) * steep / 3.0));
    }
    // So steep that a float cannot hold it, nearly all are at the end.
    let steep = steep.min(600.0 / terms);
    let (whole, one) = (libm::expm1(terms * steep), libm::expm1(steep));
    let sum = whole / one;
    (sum, (terms * (whole + 1.0) - sum * (one + 1.0)) / one)
}
