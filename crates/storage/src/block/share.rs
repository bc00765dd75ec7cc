//! A share: the way by which one of those who ask comes to [`Shares`](crate::block::shares::Shares) of a component.

use headrace_units::{Nanos, PerSecond};
use headrace_work::{Block, Breakdown, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::mclock::Rates;
use crate::block::shares::{OfShare, ShareNumbers, one};
use crate::core::component::{Component, Plan, Spec, Theory};
use crate::core::context::NodeContext;
use crate::core::graph::Lowering;
use crate::core::work::Serve;

/// A share of a component behind `shares`: of a stream, or of all that ask through it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareSpec {
    /// The `shares` that it is one of.
    pub of: String,
    /// Operations per second that it gets first. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<PerSecond>,
    /// Its part of what reservations leave, beside the weights of others.
    #[serde(default = "one")]
    pub weight: f64,
    /// Operations per second that it gets at most. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<PerSecond>,
}

impl Spec for ShareSpec {
    type Plan = SharePlan;

    fn lower(&self, at: &mut Lowering) -> Option<SharePlan> {
        let shares = at.asked::<OfShare>("of", &self.of)?;
        let Self { reservation, weight, limit, .. } = *self;
        match (ShareNumbers { reservation, weight, limit }).rates() {
            Ok(rates) => {
                at.uses(vec![shares]);
                at.holds(at.capacity(shares));
                Some(SharePlan { rates })
            }
            Err(invalid) => at.invalid(invalid),
        }
    }
}

/// A share whose numbers are known.
#[derive(Clone, Debug)]
pub struct SharePlan {
    rates: Rates,
}

impl Theory for SharePlan {
    fn passes_on(&self) -> Option<Nanos> {
        Some(Nanos::ZERO)
    }
}

/// A share in a simulation.
pub struct Share<'m> {
    context: &'m NodeContext<'m>,
    rates: Rates,
}

impl Plan for SharePlan {
    type Component<'m> = Share<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Share<'m> {
        Share { context, rates: self.rates }
    }
}

impl<'m> Serve<'m, Block> for Share<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let work = OfShare { block: request.work, client: self.context.id.0, rates: self.rates };
        Box::pin(self.context.uses()[0].serve(&request.with(work), breakdown)).await;
    }
}

impl<'m> Component<'m> for Share<'m> {}
