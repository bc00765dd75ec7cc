//! A station: servers with a service time by law. The queue of the textbooks, and a placeholder for what is not modelled
//! in detail.

use headrace_analytic::Law;
use headrace_kernel::{Resource, Stream, Usage};
use headrace_units::{Bytes, Nanos};
use headrace_workload::{Request, TimeSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::device::BlockDevice;
use crate::passage::Passage;
use crate::site::Place;

/// Servers with one queue, first come, first served, whose service time does not depend on the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// How many requests are served at once.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub servers: u32,
    /// How long each is served.
    pub service: TimeSpec,
    /// How many bytes can be addressed.
    #[serde(default = "one_tib")]
    pub capacity: Bytes,
}

const fn one() -> u32 {
    1
}

const fn one_tib() -> Bytes {
    Bytes(1 << 40)
}

impl StationSpec {
    /// The law of service time, in ms.
    pub fn service_law(&self) -> Law {
        self.service.law()
    }
}

/// A station in a simulation.
pub struct Station<'m> {
    place: Place<'m>,
    servers: Resource<'m>,
    service: TimeSpec,
    draws: Stream,
}

impl<'m> Station<'m> {
    pub(crate) fn new(spec: &StationSpec, place: Place<'m>) -> Self {
        Self {
            servers: Resource::fcfs(place.site.sim, u64::from(spec.servers)),
            service: spec.service,
            draws: place.stream("service"),
            place,
        }
    }

    #[inline]
    fn service_of(&self, request: &Request) -> Nanos {
        self.service.draw(&mut self.draws.of(request.key))
    }
}

impl<'m> BlockDevice<'m> for Station<'m> {
    const KIND: &'static str = "station";

    fn place(&self) -> &Place<'m> {
        &self.place
    }

    fn queue(&self) -> Option<(u64, Usage)> {
        Some(self.servers.recorded())
    }

    async fn io(&'m self, request: Request) -> Passage {
        let service = self.service_of(&request);
        let waited = self.servers.serve(service).await;
        Passage::through(self.place.component, waited, service)
    }

    #[inline]
    fn pass(&self, now: Nanos, request: &Request) -> (Nanos, Passage) {
        let pass = self.servers.pass(now, |start| start + self.service_of(request));
        (pass.end, Passage::through(self.place.component, pass.start - now, pass.end - pass.start))
    }
}
