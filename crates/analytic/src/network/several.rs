//! Waiting time at a queue of several servers of which only the mean number of requests found there is known.
//!
//! The numbers that an arriving request finds are taken for those of M/M/c with as many places as there are others:
//! p(j) ∝ aʲ/j! up to c and falls or grows by a/c from there, with the a that gives the mean. For one server the answer does not
//! depend on it, and a station that everybody is at, or that nobody waits at, is exact.

/// Steps in which the intensity is looked for, at most; ten to thirty are needed.
const STEPS: u32 = 100;
/// The mean is met as closely as this, unless the logarithm is known as closely as a float can be of many clients.
const CLOSE: f64 = 1e-13;
const CLOSEST: f64 = 1e-18;
/// The largest factor between neighbouring numbers of requests beyond the servers, as its logarithm.
const STEEPEST: f64 = 40.0;
/// Probabilities below this share of the sum of those before them are left out.
const NEGLIGIBLE: f64 = 1e-18;

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
    let room = found(servers, most, intensity(servers, most, mean)).room;
    ((1.0 + mean + room) / c - 1.0).max(0.0)
}

/// Returns the logarithm of the factor between neighbouring probabilities beyond the servers with which `mean` requests are found: by the rule of
/// false position, in which an end that stays twice counts half (Illinois), and by halving where that does not halve the range.
fn intensity(servers: u32, most: f64, mean: f64) -> f64 {
    let off = |steep: f64| found(servers, most, steep).mean / mean - 1.0;
    // Where few wait, the mean is the number of busy servers.
    let guess = libm::log(mean / f64::from(servers)).clamp(-STEEPEST, STEEPEST);
    let (mut low, mut high) = ((-STEEPEST, off(-STEEPEST)), (STEEPEST, off(STEEPEST)));
    let (mut next, mut was_low, mut width) = (guess, None, f64::INFINITY);
    for _ in 0..STEPS {
        let here = off(next);
        if here.abs() < CLOSE || high.0 - low.0 < CLOSEST {
            break;
        }
        let (is_low, half) = (here < 0.0, if was_low == Some(here < 0.0) { 0.5 } else { 1.0 });
        if is_low {
            (low, high.1) = ((next, here), high.1 * half);
        } else {
            (high, low.1) = ((next, here), low.1 * half);
        }
        was_low = Some(is_low);
        let (between, left) = (low.0 - low.1 * (high.0 - low.0) / (high.1 - low.1), high.0 - low.0);
        let is_good = between > low.0 && between < high.0 && left < 0.5 * width;
        next = if is_good { between } else { (low.0 + high.0) / 2.0 };
        width = left;
    }
    next
}

/// State seen by an arriving request: the mean number of others, and of servers that they leave free besides its own.
struct BusyOnArrival {
    mean: f64,
    room: f64,
}

/// Returns the state seen if neighbouring probabilities beyond the servers differ by the factor whose logarithm is `steep`. Sums begin at the peak
/// of the probabilities below the servers, and end where more adds nothing: after some √servers.
fn found(servers: u32, most: f64, steep: f64) -> BusyOnArrival {
    let c = f64::from(servers);
    // p(j − 1) = p(j) j / a, with a = c eˢ.
    let a = c * libm::exp(steep);
    let peak = libm::floor(a).min(c - 1.0);
    let (mut below, mut mean_below, mut room) = (1.0, peak, c - 1.0 - peak);
    let mut add = |p: f64, j: f64| {
        below += p;
        mean_below += j * p;
        room += (c - 1.0 - j) * p;
        p > NEGLIGIBLE * below
    };
    let (mut p, mut j) = (1.0, peak);
    while j > 0.0 {
        p *= j / a;
        j -= 1.0;
        if !add(p, j) {
            break;
        }
    }
    let (mut p, mut j) = (1.0, peak);
    while j < c - 1.0 {
        j += 1.0;
        p *= a / j;
        if !add(p, j) {
            break;
        }
    }
    // Relative to the probability that all servers are busy and nobody waits; none where the sum ended before.
    let all_busy = if j < c - 1.0 { 0.0 } else { p * a / c };
    let (queued, sum) = geometric((most - c).max(0.0), steep);
    let all = below + all_busy * queued;
    BusyOnArrival { mean: (mean_below + all_busy * (c * queued + sum)) / all, room: room / all }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The probabilities one by one, relative to those of all servers busy.
    fn plainly(servers: u32, most: f64, steep: f64) -> BusyOnArrival {
        let c = f64::from(servers);
        let (mut all, mut mean, mut room, mut p) = (1.0, c, 0.0, 1.0);
        for j in (0..servers).rev() {
            p *= f64::from(j + 1) / c * libm::exp(-steep);
            (all, mean, room) =
                (all + p, mean + f64::from(j) * p, room + (c - 1.0 - f64::from(j)).max(0.0) * p);
        }
        p = 1.0;
        for i in 1..=(most - c).max(0.0) as u32 {
            p *= libm::exp(steep);
            (all, mean) = (all + p, mean + (c + f64::from(i)) * p);
        }
        BusyOnArrival { mean: mean / all, room: room / all }
    }

    #[test]
    fn sums_from_the_peak_are_those_of_all() {
        for (servers, most) in [(2, 5.0), (8, 8.0), (50, 400.0), (120, 121.0)] {
            for steep in [-3.0, -0.5, -0.01, 0.0, 0.01, 0.4] {
                let (quick, whole) = (found(servers, most, steep), plainly(servers, most, steep));
                let apart = (quick.mean / whole.mean - 1.0).abs().max((quick.room - whole.room).abs());
                assert!(apart < 1e-9, "{servers} servers, {most}, {steep}: {} {}", quick.mean, whole.mean);
            }
        }
    }

    #[test]
    fn the_intensity_that_is_found_gives_the_mean() {
        let cases =
            [(2, 5.0), (8, 900.0), (4, 776_154.0), (9, 303_735.0), (64, 1e9), (1_000_000, 2_000_000.0)];
        for (servers, most) in cases {
            for share in [1e-6, 0.01, 0.3, 0.5, 0.9, 0.99] {
                let mean = share * most;
                let again = found(servers, most, intensity(servers, most, mean)).mean;
                assert!((again / mean - 1.0).abs() < 1e-9, "{servers} servers, {mean} of {most}: {again}");
            }
        }
    }
}
