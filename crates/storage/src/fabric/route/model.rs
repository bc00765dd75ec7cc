//! Theory of a route: the demands of its hops, of the servers at its ends, and of its target.

use super::{RoutePlan, RouteSteps, SERVER, SwitchHop, TARGET};
use headrace_analytic::Distribution;

use crate::core::component::Theory;
use crate::core::graph::View;
use crate::core::theory::{Demand, Load, Model, ServiceKind};
use crate::core::theory::{Features, Phase};
use crate::fabric::server::Paths;

impl RoutePlan {
    /// Returns the assumption that fails if there are several paths.
    fn fails(&self, view: View) -> Option<String> {
        let to = view.name();
        match (self.policy, self.timeout) {
            _ if self.ways.len() == 1 => None,
            (Paths::ShortestQueue, _) => Some(format!(
                "each path to `{to}` gets a share by its speed: the server takes the shortest queue"
            )),
            (_, Some(timeout)) => Some(format!(
                "a request to `{to}` is sent once: the server retries it on another path after {timeout}"
            )),
            _ => None,
        }
    }

    /// The ways that requests take, and the share of each. Where the shortest queue is taken, all are busy for the same share of the time at
    /// saturation.
    fn shares(&self, view: View, load: &Load) -> Result<Vec<(f64, &[SwitchHop])>, String> {
        let speeds = match self.policy {
            Paths::First => return Ok(vec![(1.0, &self.ways[0])]),
            Paths::RoundRobin => vec![1.0; self.ways.len()],
            Paths::ShortestQueue => self.speeds(view, load)?,
        };
        let all: f64 = speeds.iter().sum();
        Ok(speeds.iter().zip(&self.ways).map(|(speed, way)| (speed / all, &way[..])).collect())
    }

    /// The rate at which each way sustains requests; equal ones where ways take no time.
    fn speeds(&self, view: View, load: &Load) -> Result<Vec<f64>, String> {
        let busiest = |way: &Vec<SwitchHop>| {
            let request = Self::through(view, load, way, Phase::Request, 0)?;
            let answer = Self::through(view, load, way, Phase::Answer, 1)?;
            Ok(Self::busiest_ms(&[request, answer].concat()))
        };
        let all: Vec<f64> = self.ways.iter().map(busiest).collect::<Result<_, String>>()?;
        let has_time = all.iter().all(|ms| *ms > 0.0);
        Ok(all.iter().map(|ms| if has_time { 1.0 / ms } else { 1.0 }).collect())
    }

    /// Returns true if each way gets the same share of the requests, and each request goes one way once, however many come.
    fn is_even(&self, view: View, load: &Load) -> bool {
        let same = |shares: Vec<(f64, &[SwitchHop])>| {
            shares.iter().all(|(share, _)| (share / shares[0].0 - 1.0).abs() < 1e-9)
        };
        self.ways.len() == 1 || self.timeout.is_none() && self.shares(view, load).is_ok_and(same)
    }

    /// Returns the demands on one node in both phases.
    fn both_phases(
        view: View,
        load: &Load,
        SwitchHop { enter, leave, .. }: SwitchHop,
    ) -> Result<Vec<Demand>, String> {
        let there = view.carries(load, (Phase::Request, enter, leave))?;
        Ok([there, view.carries(load, (Phase::Answer, enter, leave))?].concat())
    }

    /// Returns the demands of message number `nth`, of one phase, on the switches of a path. It is in all ports at once, and its own time
    /// is that of the slowest wire alone.
    fn through(
        view: View,
        load: &Load,
        way: &[SwitchHop],
        phase: Phase,
        nth: u32,
    ) -> Result<Vec<Demand>, String> {
        let nodes: Vec<View> = view.uses().collect();
        let mut demands = Vec::new();
        for hop in way {
            demands.extend(nodes[hop.edge].carries(load, (phase, hop.enter, hop.leave))?);
        }
        let message = Some((view.id(), nth));
        demands.iter_mut().for_each(|demand| demand.message = message);
        let times: Vec<f64> = demands
            .iter()
            .filter(|demand| demand.server == ServiceKind::SINGLE)
            .map(Demand::work_ms)
            .collect();
        let beside = times.iter().sum::<f64>() - times.iter().copied().fold(0.0, f64::max);
        demands.push(Demand::one(view.id(), ServiceKind::Delay, Distribution::Fixed(-beside)));
        Ok(demands)
    }

    /// The places of a queue depth, which a request holds for as long as all that it asks takes it.
    fn places(&self, view: View, demands: &[Demand]) -> Option<Demand> {
        let asked = demands.iter().filter(|demand| !matches!(demand.server, ServiceKind::Places(_)));
        let alone: f64 = asked.map(|demand| demand.work_ms() / demand.parallelism).sum();
        Some(Demand::one(view.id(), ServiceKind::Places(self.depth?), Distribution::Fixed(alone)))
    }

    /// The mean work that a request brings the busiest node, over its number of servers.
    fn busiest_ms(demands: &[Demand]) -> f64 {
        let of = |demand: &Demand| match demand.server {
            ServiceKind::Queue { servers, .. } => {
                let same = |other: &&Demand| {
                    other.node == demand.node && matches!(other.server, ServiceKind::Queue { .. })
                };
                let here = demands.iter().filter(same);
                here.map(Demand::work_ms).sum::<f64>() / f64::from(servers)
            }
            ServiceKind::Delay
            | ServiceKind::Join { .. }
            | ServiceKind::LastWait(_)
            | ServiceKind::Places(_) => 0.0,
        };
        demands.iter().map(of).fold(0.0, f64::max)
    }
}

impl Theory for RoutePlan {
    fn features(&self) -> Features {
        Features {
            stands_before: Some(TARGET),
            flushes_at_once: true,
            is_limit: true,
            fills: Some(0),
            ..Features::default()
        }
    }

    fn model(&self, view: View, load: &Load) -> Result<Model, String> {
        let fails =
            format!("requests reach one component: those to `{}` reach several on their way", view.name());
        Ok(Model::Busy { work_ms: Self::busiest_ms(&self.demands(view, load)?), fails })
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let nodes: Vec<View> = view.uses().collect();
        let mut demands = Self::both_phases(nodes[SERVER], load, RouteSteps::end(SERVER))?;
        let phases = [Phase::Request, Phase::Answer];
        let messages = self.shares(view, load)?.into_iter().flat_map(|way| phases.map(|phase| (way, phase)));
        for (nth, ((share, way), phase)) in (0..).zip(messages) {
            let found = Self::through(view, load, way, phase, nth)?;
            demands.extend(found.into_iter().map(|demand| demand.times(share, 1.0)));
        }
        if let Some(engine) = self.engine {
            demands.extend(Self::both_phases(nodes[engine], load, RouteSteps::end(engine))?);
        }
        if let Some(first) = demands.first_mut() {
            first.fails.extend(self.fails(view));
        }
        demands.extend(nodes[TARGET].demands(load)?);
        demands.extend(self.places(view, &demands));
        Ok(demands)
    }

    fn scales(&self, view: View, load: &Load) -> bool {
        // Under more load, more requests are sent again on another path, and more take the faster one.
        self.is_even(view, load) && view.uses().all(|used| used.scales(load))
    }

    fn note(&self, view: View, load: &Load) -> Option<String> {
        view.uses().find_map(|used| used.note(load))
    }
}
