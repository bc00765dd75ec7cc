//! The M/M/c queue: Poisson arrivals, several servers with one queue, first come first served, exponential service (Erlang 1917).

use crate::network::open::waits;

/// An M/M/c queue that is stable.
#[derive(Clone, Copy, Debug)]
pub struct Mmc {
    rate: f64,
    service: f64,
    servers: u32,
    /// The share of customers that wait.
    waits: f64,
}

impl Mmc {
    /// A queue with Poisson arrivals at `rate` and a mean `service`; `None` where it has no steady state.
    pub fn new(rate: f64, service: f64, servers: u32) -> Option<Self> {
        let work = rate * service;
        (work < f64::from(servers)).then(|| Self { rate, service, servers, waits: waits(servers, work) })
    }

    /// The share of time that a server is busy.
    pub fn utilisation(&self) -> f64 {
        self.rate * self.service / f64::from(self.servers)
    }

    /// The mean service time.
    pub fn service(&self) -> f64 {
        self.service
    }

    /// The mean response: wait and service.
    pub fn mean_response(&self) -> f64 {
        self.service + self.waits / self.drain()
    }

    /// The standard deviation of the response: a wait is 0, or exponential, and independent of the service.
    pub fn sd_response(&self) -> f64 {
        let wait = self.waits * (2.0 - self.waits) / (self.drain() * self.drain());
        (wait + self.service * self.service).sqrt()
    }

    /// P(response ≤ t). Who waits does so for an exponential time at the rate at which a queue drains.
    pub fn response_cdf(&self, t: f64) -> f64 {
        if t <= 0.0 {
            return 0.0;
        }
        let (rate, drain) = (1.0 / self.service, self.drain());
        let apart = (drain - rate).abs();
        // (e^(−rate t) − e^(−drain t)) ÷ (drain − rate), also where the two are alike.
        let longer = if apart * t < 1e-9 { t } else { -libm::expm1(-apart * t) / apart };
        let waiting = self.waits * rate * libm::exp(-rate.min(drain) * t) * longer;
        1.0 - libm::exp(-rate * t) - waiting
    }

    /// The smallest t with P(response ≤ t) ≥ p.
    pub fn response_quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, self.service);
        // Twice as long each time: a number has no more than some thousand doublings.
        for _ in 0..2_048 {
            if self.response_cdf(high) >= p {
                break;
            }
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            (low, high) = if self.response_cdf(middle) < p { (middle, high) } else { (low, middle) };
        }
        high
    }

    /// The rate at which a queue drains while all servers are busy: what they serve less what comes.
    fn drain(&self) -> f64 {
        f64::from(self.servers) / self.service - self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Distribution, Mg1};

    #[test]
    fn one_server_is_m_m_1() {
        let (queue, one) =
            (Mmc::new(0.07, 10.0, 1).unwrap(), Mg1::new(0.07, Distribution::erlang(1, 10.0)).unwrap());
        assert!((queue.mean_response() - one.mean_response()).abs() < 1e-9);
        assert!((queue.sd_response() - one.sd_response()).abs() < 1e-9);
        for p in [0.5, 0.9, 0.999] {
            let exact = -33.333_333_333_333_33 * libm::log(1.0 - p);
            assert!((queue.response_quantile(p) / exact - 1.0).abs() < 1e-9, "{p}");
        }
    }

    /// Just below saturation, nearly all of a long response is its wait, which is exponential: here with a mean of 2,500 services.
    #[test]
    fn quantiles_grow_however_long_they_are() {
        let queue = Mmc::new(0.199_96, 10.0, 2).unwrap();
        for p in [0.95, 0.99, 0.999, 0.9999] {
            let wait = -25_000.0 * libm::log(1.0 - p);
            assert!((queue.response_quantile(p) / wait - 1.0).abs() < 1e-3, "{p}");
        }
    }

    /// The mean and the second moment are those of the distribution, also where the rates of its two parts are alike.
    #[test]
    fn moments_are_those_of_the_distribution() {
        for (servers, rate) in [(2, 0.1), (4, 0.3), (4, 0.35), (16, 1.5)] {
            let queue = Mmc::new(rate, 10.0, servers).unwrap();
            let (step, mut moments) = (0.01, [0.0; 2]);
            for at in 0..200_000 {
                let t = (f64::from(at) + 0.5) * step;
                let beyond = 1.0 - queue.response_cdf(t);
                moments[0] += beyond * step;
                moments[1] += 2.0 * t * beyond * step;
            }
            let sd = (moments[1] - moments[0] * moments[0]).sqrt();
            assert!((moments[0] / queue.mean_response() - 1.0).abs() < 1e-4, "{servers}, {rate}");
            assert!((sd / queue.sd_response() - 1.0).abs() < 1e-4, "{servers}, {rate}");
        }
        assert!(Mmc::new(0.4, 10.0, 4).is_none());
    }
}
