//! The M/G/1 queue: Poisson arrivals, one server, first come first served, independent service times.

use crate::distribution::Distribution;
use crate::euler;

/// An M/G/1 queue that is stable.
#[derive(Clone, Debug)]
pub struct Mg1 {
    rate: f64,
    service: Distribution,
    moments: [f64; 3],
}

impl Mg1 {
    /// A queue with Poisson arrivals at `rate`; `None` where it has no steady state (utilisation of one or more).
    pub fn new(rate: f64, service: Distribution) -> Option<Self> {
        let moments = service.moments();
        (rate * moments[0] < 1.0).then_some(Self { rate, service, moments })
    }

    /// The share of time the server is busy: ρ = λ E\[S\].
    pub fn utilisation(&self) -> f64 {
        self.rate * self.moments[0]
    }

    /// The distribution of service time.
    pub fn service(&self) -> &Distribution {
        &self.service
    }

    /// The mean wait: λ E\[S²\] / 2(1 − ρ) (Pollaczek and Khinchine).
    pub fn mean_wait(&self) -> f64 {
        self.rate * self.moments[1] / (2.0 * (1.0 - self.utilisation()))
    }

    /// The mean response: wait and service.
    pub fn mean_response(&self) -> f64 {
        self.mean_wait() + self.moments[0]
    }

    /// The standard deviation of the response: Var W + Var S with E\[W²\] = 2 E\[W\]² + λ E\[S³\] / 3(1 − ρ).
    pub fn sd_response(&self) -> f64 {
        self.variance(self.moments).sqrt()
    }

    /// The variance of the response of a customer whose service has these moments.
    fn variance(&self, [mean, square, _]: [f64; 3]) -> f64 {
        let wait = self.mean_wait();
        let of_wait = wait * wait + self.rate * self.moments[2] / (3.0 * (1.0 - self.utilisation()));
        (of_wait + square - mean * mean).max(0.0)
    }

    /// P(response ≤ t), for a customer whose service is drawn from `class`: by inversion of
    /// (1 − ρ) s B*(s) / (s − λ + λ S*(s)), where S is the distribution of all services and B that of the class.
    pub fn class_cdf(&self, class: &Distribution, t: f64) -> f64 {
        if t <= 0.0 {
            return 0.0;
        }
        // Who finds the server idle does not wait, and a service that takes one value makes the cdf jump there. That part is
        // known; what is inverted is the rest, which does not jump.
        let idle = 1.0 - self.utilisation();
        let is_every = *class == self.service; // A transform of a tabulated distribution takes 2000 steps, and 50 of them a value of t.
        let waited = euler::invert(
            |s| {
                let service = self.service.transform(s);
                let own = if is_every { service } else { class.transform(s) };
                let all = s / (s - self.rate + self.rate * service);
                idle * own * (all - 1.0) / s
            },
            t,
        );
        (idle * class.cdf(t) + waited).clamp(0.0, 1.0)
    }

    /// E\[(response − t)⁺\] for a customer whose service is drawn from `class`: by inversion of E\[R\]/s − (1 − R*(s))/s², where R* is the
    /// transform of the response. It is the mean wait for the tokens of a bucket that saves those of a time `t` (Berger 1991). Far out, where
    /// inversion has more error than value, it is at most ½ (√(σ² + (t − m)²) − (t − m)) for a mean m and a deviation σ (Scarf 1958).
    pub fn mean_beyond(&self, class: &Distribution, t: f64) -> f64 {
        let mean = self.mean_wait() + class.mean();
        if t <= 0.0 {
            return mean - t;
        }
        let response = |s| {
            let all = s / (s - self.rate + self.rate * self.service.transform(s));
            (1.0 - self.utilisation()) * all * class.transform(s)
        };
        let variance = self.variance(class.moments());
        // The same number without a difference of two that are nearly equal.
        let at_most = 0.5 * variance / ((variance + (t - mean) * (t - mean)).sqrt() + (t - mean).max(0.0));
        let at_most = if t > mean && at_most.is_finite() { at_most.min(mean) } else { mean };
        euler::invert(|s| mean / s - (1.0 - response(s)) / (s * s), t).clamp(0.0, at_most)
    }

    /// P(response ≤ t).
    pub fn response_cdf(&self, t: f64) -> f64 {
        self.class_cdf(&self.service, t)
    }

    /// The response that the share `p` (below one) of customers of `class` do not exceed, to about 10⁻⁴ of itself.
    pub fn class_quantile(&self, class: &Distribution, p: f64) -> f64 {
        let (mut low, mut high) = (0.0, class.mean() + self.mean_wait());
        while self.class_cdf(class, high) < p {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > 1e-4 * high {
            let middle = (low + high) / 2.0;
            if self.class_cdf(class, middle) < p { low = middle } else { high = middle }
        }
        (low + high) / 2.0
    }

    /// The response that the share `p` of all customers do not exceed.
    pub fn response_quantile(&self, p: f64) -> f64 {
        self.class_quantile(&self.service, p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_exponential_service_it_is_the_mm1() {
        let queue = Mg1::new(0.8, Distribution::exponential(1.0)).unwrap();
        assert!((queue.mean_response() - 5.0).abs() < 1e-12);
        assert!((queue.sd_response() - 5.0).abs() < 1e-12);
        for p in [0.5, 0.9, 0.99] {
            let exact = -5.0 * libm::log(1.0 - p);
            assert!((queue.response_quantile(p) / exact - 1.0).abs() < 2e-4, "{p}");
        }
        assert!(Mg1::new(1.0, Distribution::exponential(1.0)).is_none());
    }

    /// M/D/1: P(R ≤ t) below two services is (1 − ρ) e^{λ(t − D)}, with a jump of 1 − ρ at t = D (Erlang 1909).
    #[test]
    fn a_jump_in_the_cdf_is_sharp() {
        let queue = Mg1::new(0.03, Distribution::Fixed(10.0)).unwrap();
        assert!(queue.response_cdf(9.99).abs() < 1e-3, "{}", queue.response_cdf(9.99));
        for t in [10.001, 10.1, 12.0, 19.0] {
            let exact = 0.7 * libm::exp(0.03 * (t - 10.0));
            assert!(
                (queue.response_cdf(t) - exact).abs() < 1e-3,
                "{t}: {} for {exact}",
                queue.response_cdf(t)
            );
        }
    }

    /// However much a bucket saves, the wait for its tokens is no noise.
    #[test]
    fn hardly_anything_exceeds_what_is_far_out() {
        let queue = Mg1::new(0.25, Distribution::Fixed(10.0 / 3.0)).unwrap();
        for t in [1e3, 1e5, 1e6, 1.8e7, 1e12] {
            let beyond = queue.mean_beyond(queue.service(), t);
            assert!((0.0..1e-1).contains(&beyond) && beyond * t < 1e3, "{beyond} beyond {t}");
        }
    }

    /// M/M/1: the response is exponential, so what exceeds t is that too. M/D/1 at t = 0 is the mean itself.
    #[test]
    fn what_exceeds_a_time_is_the_tail_of_the_response() {
        let queue = Mg1::new(0.8, Distribution::exponential(1.0)).unwrap();
        for t in [0.0, 0.5, 5.0, 20.0] {
            let (found, exact) = (queue.mean_beyond(queue.service(), t), 5.0 * libm::exp(-t / 5.0));
            assert!((found - exact).abs() < 1e-6, "{t}: {found} for {exact}");
        }
        let regular = Mg1::new(0.08, Distribution::Fixed(10.0)).unwrap();
        assert!((regular.mean_beyond(regular.service(), 1e-6) - regular.mean_response()).abs() < 1e-3);
        assert!(regular.mean_beyond(regular.service(), 1e5) < 1e-5);
    }

    #[test]
    fn a_class_waits_like_all_and_is_served_like_itself() {
        let (short, long) = (Distribution::exponential(0.5), Distribution::exponential(2.0));
        let queue =
            Mg1::new(0.5, Distribution::Mixture(vec![(0.5, short.clone()), (0.5, long.clone())])).unwrap();
        let (t, mix) = (2.0, 0.5);
        let both = mix * queue.class_cdf(&short, t) + mix * queue.class_cdf(&long, t);
        assert!((both - queue.response_cdf(t)).abs() < 1e-9);
        assert!(queue.class_cdf(&short, t) > queue.class_cdf(&long, t));
    }
}
