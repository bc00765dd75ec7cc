//! When the requests of an open stream come.

use std::borrow::Cow;

use headrace_kernel::{Draws, RngStream};
use headrace_units::{Nanos, PerSecond};
use headrace_work::{Invalid, ReadsSample, TimeSpec};

use crate::spec::{ArrivalSpec, BatchSize};
use crate::varying::{Varying, VaryingSpec};

/// The times between the requests of an open stream.
#[derive(Clone, Debug)]
pub struct Arrivals {
    draws: Draws,
    process: ArrivalProcess,
}

#[derive(Clone, Debug)]
enum ArrivalProcess {
    Poisson { mean_secs: f64 },
    Every(Nanos),
    Bursty(Bursty),
    Batches { mean_secs: f64, size: BatchSize, left: u64 },
    Renewal(TimeSpec),
    Varying(Box<Varying>),
}

/// Two states, calm and burst, each with its rate and its mean stay.
#[derive(Clone, Debug)]
struct Bursty {
    rate: [f64; 2],
    mean_stay: [f64; 2],
    state: usize,
    /// Seconds left in this state.
    left: f64,
}

impl Arrivals {
    /// The arrivals of a stream; `None` where it is not open.
    pub fn new(spec: &ArrivalSpec, stream: RngStream) -> Option<Self> {
        let mut draws = stream.draws();
        let mean = |rate: &PerSecond| rate.interval_secs();
        let process = match spec {
            ArrivalSpec::Poisson(rate) => ArrivalProcess::Poisson { mean_secs: mean(rate) },
            ArrivalSpec::Every(gap) => ArrivalProcess::Every(*gap),
            ArrivalSpec::Bursty { calm, burst, calm_for, burst_for } => {
                let mean_stay = [calm_for.secs(), burst_for.secs()];
                let state = usize::from(draws.chance(mean_stay[1] / (mean_stay[0] + mean_stay[1])));
                let left = draws.exponential() * mean_stay[state];
                ArrivalProcess::Bursty(Bursty { rate: [calm.get(), burst.get()], mean_stay, state, left })
            }
            ArrivalSpec::Batches { rate, size } => {
                ArrivalProcess::Batches { mean_secs: mean(rate), size: *size, left: 0 }
            }
            ArrivalSpec::Renewal(gap) => ArrivalProcess::Renewal(gap.clone()),
            ArrivalSpec::Varying(spec) => ArrivalProcess::Varying(Box::new(Varying::new(spec))),
            ArrivalSpec::Closed { .. }
            | ArrivalSpec::Steps(_)
            | ArrivalSpec::Replay(_)
            | ArrivalSpec::Log(_) => return None,
        };
        Some(Self { draws, process })
    }

    /// The time from one request to the next; zero within a batch.
    #[inline(always)] // As a call, the generator would be written to memory and read back.
    pub fn gap(&mut self) -> Nanos {
        match &mut self.process {
            ArrivalProcess::Poisson { mean_secs } => Nanos::from_secs(self.draws.exponential() * *mean_secs),
            ArrivalProcess::Every(gap) => *gap,
            ArrivalProcess::Bursty(bursty) => Nanos::from_secs(bursty.gap(&mut self.draws)),
            ArrivalProcess::Batches { mean_secs, size, left } => {
                if *left > 0 {
                    *left -= 1;
                    return Nanos::ZERO;
                }
                *left = match *size {
                    BatchSize::Fixed(size) => u64::from(size),
                    BatchSize::Geometric { geometric } => self.draws.geometric(geometric),
                } - 1;
                Nanos::from_secs(self.draws.exponential() * *mean_secs)
            }
            ArrivalProcess::Renewal(gap) => gap.draw(&mut self.draws),
            ArrivalProcess::Varying(varying) => varying.gap(&mut self.draws),
        }
    }

    /// The last request came later than it was drawn: its source was blocked until `now`. A rate that varies does so meanwhile.
    pub fn resume(&mut self, now: Nanos) {
        if let ArrivalProcess::Varying(varying) = &mut self.process {
            varying.resume(now);
        }
    }
}

impl Bursty {
    fn gap(&mut self, draws: &mut Draws) -> f64 {
        let mut waited = 0.0;
        loop {
            let next = draws.exponential() / self.rate[self.state];
            if next < self.left {
                self.left -= next;
                return waited + next;
            }
            // The state ends first; the exponential has no memory, so the arrival is drawn again in the other.
            waited += self.left;
            self.state = 1 - self.state;
            self.left = draws.exponential() * self.mean_stay[self.state];
        }
    }
}

impl ArrivalSpec {
    /// The mean rate of an open stream, in requests/s; `None` where the system or a trace sets it.
    pub fn mean_rate(&self) -> Option<f64> {
        match self {
            Self::Poisson(rate) => Some(rate.get()),
            Self::Every(gap) => Some(1.0 / gap.secs()),
            Self::Bursty { calm, burst, calm_for, burst_for } => {
                let (calm_for, burst_for) = (calm_for.secs(), burst_for.secs());
                Some((calm.get() * calm_for + burst.get() * burst_for) / (calm_for + burst_for))
            }
            Self::Batches { rate, size } => Some(rate.get() * size.mean()),
            Self::Renewal(gap) => Some(1e3 / gap.distribution().mean()),
            Self::Varying(spec) => Some(spec.mean_rate()),
            Self::Closed { .. } | Self::Steps(_) | Self::Replay(_) | Self::Log(_) => None,
        }
    }
}

/// What plans, theory and notes ask of arrivals.
impl ArrivalSpec {
    /// How the requests of an open stream come, where that is not a Poisson process: `are regular`.
    pub fn not_poisson(&self) -> Option<Cow<'static, str>> {
        let how = match self {
            Self::Poisson(_) => return None,
            Self::Renewal(gap) if gap.distribution().is_exponential() => return None,
            Self::Renewal(gap) => {
                let cv = gap.distribution().cv();
                return Some(format!("come after times with a coefficient of variation of {cv:.3}").into());
            }
            Self::Every(_) => "are regular",
            Self::Bursty { .. } => "come in bursts",
            Self::Batches { .. } => "come in batches",
            Self::Varying(_) => "come at a rate that varies",
            Self::Log(_) | Self::Replay(_) => "are as recorded",
            Self::Closed { .. } | Self::Steps(_) => "wait for answers",
        };
        Some(how.into())
    }

    /// Number of clients, each of which waits for its answer before it asks again; none where requests come by themselves, or a trace
    /// says when.
    pub fn clients(&self) -> Option<u32> {
        match self {
            Self::Closed { depth, .. } => Some(*depth),
            Self::Steps(steps) => Some(steps.all_threads()),
            _ => None,
        }
    }

    /// The time that a client thinks between an answer and its next request; none where no clients do.
    pub fn think(&self) -> Option<&TimeSpec> {
        match self {
            Self::Closed { think, .. } => Some(think),
            _ => None,
        }
    }

    /// The file in which requests were recorded, relative to the scenario; none where they are drawn.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Replay(replay) => Some(&replay.trace),
            Self::Log(log) => Some(log.file()),
            _ => None,
        }
    }

    /// The curve that the rate follows; none where that is constant, or varies at random.
    pub fn curve(&self) -> Option<&VaryingSpec> {
        match self {
            Self::Varying(curve) => Some(curve),
            _ => None,
        }
    }

    /// Returns true if the rate varies with time, by a law or as it was recorded.
    pub fn varies(&self) -> bool {
        matches!(self, Self::Bursty { .. } | Self::Varying(_)) || self.file().is_some()
    }

    /// The largest rate, in requests/s, of a stream whose rate varies by a law; none for others.
    pub fn largest_rate(&self) -> Option<f64> {
        match self {
            Self::Bursty { burst, .. } => Some(burst.get()),
            _ => self.curve().map(|curve| curve.bounds().1),
        }
    }

    /// Returns these arrivals at `times` their rate, bursts and curves as long as they were; `None` where requests do not come by themselves,
    /// or at times that were recorded.
    pub fn faster(&self, times: f64) -> Option<Self> {
        let rate = |rate: &PerSecond| PerSecond(rate.get() * times);
        Some(match self {
            Self::Poisson(of) => Self::Poisson(rate(of)),
            Self::Every(gap) => Self::Every(gap.scaled(1.0 / times)),
            Self::Bursty { calm, burst, calm_for, burst_for } => Self::Bursty {
                calm: rate(calm),
                burst: rate(burst),
                calm_for: *calm_for,
                burst_for: *burst_for,
            },
            Self::Batches { rate: of, size } => Self::Batches { rate: rate(of), size: *size },
            Self::Renewal(gap) => Self::Renewal(gap.scaled(1.0 / times)),
            Self::Varying(curve) => {
                Self::Varying(VaryingSpec { scale: curve.scale * times, ..curve.clone() })
            }
            _ => return None,
        })
    }

    /// Returns the field below this one, and its value, that give an open stream this mean rate in requests/s; none where no one field
    /// does.
    pub fn at_rate(&self, rate: f64) -> Option<(String, String)> {
        let per_s = |rate: f64| format!("{rate} /s");
        let gap = || format!("{} ns", Nanos::from_secs(1.0 / rate).0);
        let (field, value) = match self {
            Self::Poisson(_) => ("poisson", per_s(rate)),
            Self::Every(_) => ("every", gap()),
            Self::Batches { size, .. } => ("batches.rate", per_s(rate / size.mean())),
            Self::Renewal(times) => {
                let field = times.mean_field()?;
                return Some((format!("renewal.{field}").trim_end_matches('.').to_owned(), gap()));
            }
            _ => return None,
        };
        Some((field.to_owned(), value))
    }
}

impl ArrivalSpec {
    /// Returns true if the rate comes to a last value after some time, so that what was before it is no matter in the long run.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Varying(spec) if spec.period.is_none() && spec.rates.len() > 1)
    }

    /// Returns these arrivals with the samples of their times read.
    ///
    /// # Errors
    /// The field at fault below this one, and why.
    pub fn checked(&self, read: &ReadsSample) -> Result<Self, Invalid> {
        match self {
            Self::Closed { depth, think, threads } => {
                let think = think.checked(read).map_err(|problem| problem.within("closed.think"))?;
                Ok(Self::Closed { depth: *depth, think, threads: *threads })
            }
            Self::Renewal(gap) => {
                let gap = gap.checked(read).map_err(|problem| problem.within("renewal"))?;
                if gap.distribution().mean() > 0.0 {
                    return Ok(Self::Renewal(gap));
                }
                Err(Invalid::new("renewal", "a mean of zero would send infinitely many requests at once"))
            }
            Self::Steps(steps) => {
                let steps = steps.checked(read).map_err(|problem| problem.within("steps"))?;
                Ok(Self::Steps(Box::new(steps)))
            }
            _ => self.problem().map_or_else(|| Ok(self.clone()), Err),
        }
    }

    fn problem(&self) -> Option<Invalid> {
        let whole = |message: &str| Some(Invalid::new("", message));
        match self {
            Self::Every(gap) if gap.0 == 0 => {
                whole("an interval of zero would send infinitely many requests")
            }
            Self::Bursty { calm, burst, calm_for, burst_for } => {
                let a_cycle = calm.get() * calm_for.secs() + burst.get() * burst_for.secs();
                if calm_for.0 == 0 || burst_for.0 == 0 {
                    whole("`burst_for` and `calm_for` must be above zero")
                } else if a_cycle < 1e-4 {
                    whole(
                        "fewer than one request arrives in 10,000 cycles of calm and burst: make them longer",
                    )
                } else {
                    None
                }
            }
            Self::Varying(spec) => spec.problem().map(|invalid| invalid.within("varying")),
            _ => None,
        }
    }
}

impl BatchSize {
    /// The mean number of requests in a batch.
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Fixed(size) => f64::from(size),
            Self::Geometric { geometric } => geometric,
        }
    }
}

#[cfg(test)]
mod tests {
    use headrace_work::{DrawnTime, LognormalSpec};

    use super::*;

    /// Every process keeps the rate it names.
    #[test]
    fn mean_rates_are_kept() {
        let per_second = |rate| PerSecond(rate);
        let specs = [
            ArrivalSpec::Poisson(per_second(50.0)),
            ArrivalSpec::Every(Nanos::from_ms(20.0)),
            ArrivalSpec::Bursty {
                calm: per_second(10.0),
                burst: per_second(500.0),
                calm_for: Nanos::from_ms(900.0),
                burst_for: Nanos::from_ms(100.0),
            },
            ArrivalSpec::Batches { rate: per_second(5.0), size: BatchSize::Fixed(8) },
            ArrivalSpec::Batches { rate: per_second(5.0), size: BatchSize::Geometric { geometric: 8.0 } },
            ArrivalSpec::Renewal(TimeSpec::Drawn(DrawnTime::Lognormal(LognormalSpec {
                mean: Nanos::from_ms(20.0),
                cv: 2.0,
            }))),
        ];
        for spec in specs {
            let mut arrivals = Arrivals::new(&spec, RngStream::named(7, "users", "arrivals")).unwrap();
            let n = 1_000_000;
            let total: f64 = (0..n).map(|_| arrivals.gap().secs()).sum();
            let (found, wanted) = (f64::from(n) / total, spec.mean_rate().unwrap());
            assert!((found / wanted - 1.0).abs() < 0.03, "{spec:?}: {found} for {wanted}");
        }
    }

    /// The index of dispersion tells bursts from Poisson: 1 for Poisson; for a two-state process over long spans
    /// 1 + 2 p q (λ₁ − λ₂)² / (λ̄ (1/a + 1/b)), with p, q the shares of the states and a, b their mean stays.
    #[test]
    fn bursts_are_as_bursty_as_they_should_be() {
        let spec = ArrivalSpec::Bursty {
            calm: PerSecond(20.0),
            burst: PerSecond(200.0),
            calm_for: Nanos::from_ms(800.0),
            burst_for: Nanos::from_ms(200.0),
        };
        let mut arrivals = Arrivals::new(&spec, RngStream::named(1, "users", "arrivals")).unwrap();
        let (window, windows) = (50.0, 4000);
        let mut counts = vec![0.0; windows];
        let mut now = 0.0;
        while now < window * windows as f64 {
            counts[(now / window) as usize] += 1.0;
            now += arrivals.gap().secs();
        }
        let mean = counts.iter().sum::<f64>() / windows as f64;
        let variance =
            counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / windows as f64;
        let (p, q, rate) = (0.8, 0.2, 0.8 * 20.0 + 0.2 * 200.0);
        let expected = 1.0 + 2.0 * p * q * 180.0 * 180.0 / (rate * (1.0 / 0.8 + 1.0 / 0.2));
        assert!((variance / mean / expected - 1.0).abs() < 0.12, "{} for {expected}", variance / mean);
    }
}
