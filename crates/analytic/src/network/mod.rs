//! Networks of queues: several classes of requests go round, or pass through, stations that they share.
//!
//! A station is described by the *demand* of each class, visits × mean service time (Lazowska, Zahorjan, Graham and Sevcik,
//! *Quantitative System Performance*, 1984, ch. 3). For closed networks, where a fixed number of clients each wait for an
//! answer and think, there are [`mva::exact`] and, where that takes too long, [`linearizer::solve`] and
//! [`bard_schweitzer::solve`]; [`bounds`] need no recursion. For open ones there are [`open`] and [`priority`], and [`exhaustive`]
//! for servers that are set up for one class of many at a time.
//!
//! ```
//! use headrace_analytic::network::{ClosedNetwork, CustomerClass, ServiceCentre, mva};
//! // Two clients share a controller of 173 µs and two further stations.
//! let stations = [173.0, 30.0, 19.0].map(|demand| ServiceCentre::queue(vec![demand])).to_vec();
//! let network = ClosedNetwork::new(stations, vec![CustomerClass { clients: 2, think: 0.0 }]);
//! let found = mva::exact(&network);
//! assert!((found.classes[0].throughput * 1e6 - 5517.3).abs() < 0.1);
//! ```

pub mod bard_schweitzer;
pub mod bounds;
pub mod exhaustive;
pub mod linearizer;
pub mod mva;
pub mod open;
pub mod priority;
mod several;
#[cfg(test)]
mod tests;

/// A station, and what each class asks of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceCentre {
    /// True if requests never wait here.
    pub delay: bool,
    /// Number of servers of a queue. Bounds know one; for them use [`ServiceCentre::several`].
    pub servers: u32,
    /// For each class the work that one request brings: visits × mean service time. It sets the utilisation.
    pub demands: Vec<f64>,
    /// For each class how much of that work the request itself waits out. The same as `demands`, unless visits go on side by
    /// side at several stations: of a request split over K alike ones each has 1/K of its demand here.
    pub paths: Vec<f64>,
    /// For each class how long visits that are done here wait for those that went on side by side, visits × mean, where nobody
    /// queues. The request that they belong to still counts as being here, so that an arriving one finds it: for K alike
    /// exponential stations R = S (H_K + Q(N − 1)) (Varki, SIGMETRICS 1999).
    pub joins: Vec<f64>,
}

impl ServiceCentre {
    /// One server with a queue.
    pub fn queue(demands: Vec<f64>) -> Self {
        Self { delay: false, servers: 1, paths: demands.clone(), joins: vec![0.0; demands.len()], demands }
    }

    /// A server for everyone: nobody waits.
    pub fn delay(demands: Vec<f64>) -> Self {
        Self { delay: true, ..Self::queue(demands) }
    }

    /// Several servers with one queue, by Seidmann, Schweitzer and Shalev-Oren (1987): one server as fast as all together, and
    /// a delay that makes up for the difference to a request that is alone. Exact for one client and at saturation.
    pub fn several(servers: u32, demands: &[f64]) -> [Self; 2] {
        let servers = f64::from(servers);
        let part = |share: f64| demands.iter().map(|demand| demand * share).collect();
        [Self::queue(part(1.0 / servers)), Self::delay(part((servers - 1.0) / servers))]
    }

    /// Service demand of one request of a class, excluding queueing.
    pub fn alone(&self, class: usize) -> f64 {
        self.paths[class] + self.joined(class)
    }

    /// Returns the part of [`Self::alone`] that is waiting for parallel branches.
    fn joined(&self, class: usize) -> f64 {
        if self.joins[class] == 0.0 {
            0.0
        } else {
            self.joins[class] * self.paths[class] / self.demands[class]
        }
    }

    /// Returns true if requests are at several such stations at once.
    fn is_forked(&self) -> bool {
        self.demands != self.paths
    }
}

/// A class of clients, each of which asks, waits for the answer and thinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CustomerClass {
    /// Number of clients.
    pub clients: u32,
    /// The mean time from an answer to the next request.
    pub think: f64,
}

/// A closed network of queues.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedNetwork {
    stations: Vec<ServiceCentre>,
    classes: Vec<CustomerClass>,
}

impl ClosedNetwork {
    /// A network of stations that are shared by classes.
    ///
    /// # Panics
    /// A station has not one demand for each class.
    pub fn new(stations: Vec<ServiceCentre>, classes: Vec<CustomerClass>) -> Self {
        let fits = |station: &ServiceCentre| {
            [&station.demands, &station.paths, &station.joins].iter().all(|of| of.len() == classes.len())
        };
        assert!(stations.iter().all(fits), "a station has one demand for each class");
        Self { stations, classes }
    }

    /// The stations.
    pub fn stations(&self) -> &[ServiceCentre] {
        &self.stations
    }

    /// The classes.
    pub fn classes(&self) -> &[CustomerClass] {
        &self.classes
    }

    fn clients(&self) -> Vec<u32> {
        self.classes.iter().map(|class| class.clients).collect()
    }

    /// One step of mean value analysis: what a population does, by how many requests an arriving one finds at each station.
    /// R = D (1 + Q), or D at a delay; X = N / (Z + Σ R); Q = X R (Reiser and Lavenberg 1980).
    fn step(&self, clients: &[u32], found: impl Fn(usize, usize) -> f64) -> Solution {
        let classes = (0..clients.len()).map(|class| {
            let slowed = |(at, station): (usize, &ServiceCentre)| match station.delay {
                true => 1.0,
                false => 1.0 + found(at, class),
            };
            let slowed: Vec<f64> = self.stations.iter().enumerate().map(slowed).collect();
            self.class(class, clients[class], &slowed)
        });
        Solution { classes: classes.collect() }
    }

    /// Returns the flow of one class if each unit of work takes `slowed` times as long.
    fn class(&self, class: usize, clients: u32, slowed: &[f64]) -> ClassFlow {
        let each = || self.stations.iter().zip(slowed);
        let breakdown =
            |(station, slowed): (&ServiceCentre, &f64)| station.paths[class] * slowed + station.joined(class);
        let response = each().map(breakdown).sum::<f64>();
        let cycle = self.classes[class].think + response;
        let throughput = if clients == 0 || cycle <= 0.0 { 0.0 } else { f64::from(clients) / cycle };
        let held =
            |station: &ServiceCentre, slowed: &f64| station.demands[class] * slowed + station.joins[class];
        let queues = each().map(|(station, slowed)| throughput * held(station, slowed));
        ClassFlow { throughput, response, queues: queues.collect() }
    }
}

/// Solution of a network: throughput, response times and queues.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// By class.
    pub classes: Vec<ClassFlow>,
}

/// Flow of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassFlow {
    /// Requests answered in a unit of time.
    pub throughput: f64,
    /// The mean time from a request to its answer.
    pub response: f64,
    /// The mean number of its requests at each station, waiting or served.
    pub queues: Vec<f64>,
}

impl ClassFlow {
    /// Divides the throughput of the clients by this factor; their response time follows from Little's law.
    fn slow_down(&mut self, factor: f64, class: CustomerClass) {
        self.throughput /= factor;
        if self.throughput > 0.0 {
            self.response = f64::from(class.clients) / self.throughput - class.think;
        }
    }
}

impl Solution {
    /// The mean number of requests at a station, of all classes.
    fn queue(&self, station: usize) -> f64 {
        self.classes.iter().map(|class| class.queues[station]).sum()
    }

    /// Slows down the classes that would keep a server busy for more than all of the time: approximations of split
    /// requests can do so where their parts are shared out unevenly.
    #[must_use]
    pub fn within_bounds(mut self, network: &ClosedNetwork) -> Self {
        for station in network.stations.iter().filter(|station| !station.delay) {
            let busy = self.utilisation(station) / f64::from(station.servers);
            let here = |class: &usize| busy > 1.0 && station.demands[*class] > 0.0;
            for class in (0..network.classes.len()).filter(here) {
                self.classes[class].slow_down(busy, network.classes[class]);
            }
        }
        self
    }

    /// The share of time that the server of a queue is busy, Σ X D; for a delay, the mean number of requests there.
    pub fn utilisation(&self, station: &ServiceCentre) -> f64 {
        self.classes.iter().zip(&station.demands).map(|(class, demand)| class.throughput * demand).sum()
    }
}
