//! A share: the way by which one of those who ask comes to [`Shares`] of a component.

use headrace_units::{Bytes, Nanos, PerSecondOrShare};
use headrace_work::{Block, Breakdown, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::block::bucket::{BucketPlan, Token};
use crate::block::shares::{OfShare, ShareNumbers, ShareTerms, Shares, SharesPlan};
use crate::core::component::{Component, Plan, Spec, Theory};
use crate::core::context::NodeContext;
use crate::core::graph::{Lowering, View};
use crate::core::meter::{Activity, by_hosts};
use crate::core::theory::{Demand, Features, Load};
use crate::core::work::Serve;

/// A share of a component behind `shares`: of a stream, or of all that ask through it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareSpec {
    /// The `shares` that it is one of.
    pub of: String,
    /// Operations per second that it gets first, or a part of the `capacity` of the shares, under `mclock`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<PerSecondOrShare>,
    /// Its part beside the weights of others: of what reservations leave under `mclock`, or operations in each turn under `round_robin`.
    /// Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Operations per second that it gets at most, or a part of the `capacity` of the shares, under `mclock`. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<PerSecondOrShare>,
    /// Priority, under `priority`. Smaller numbers are more urgent. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Size that each of its reads counts as, in operations of the `unit` of the shares. Default: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_cost: Option<Bytes>,
    /// Size that each of its writes counts as. Default: its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cost: Option<Bytes>,
}

impl Spec for ShareSpec {
    type Plan = SharePlan;

    fn lower(&self, at: &mut Lowering) -> Option<SharePlan> {
        let shares = at.asked::<OfShare>("of", &self.of)?;
        let terms = at.lowered().find(|(id, ..)| *id == shares)?.1.get::<SharesPlan>()?.terms;
        let others = at.lowered().filter(|(.., uses)| uses.first() == Some(&shares));
        let others =
            others.filter_map(|(_, plan, _)| Some(plan.get::<SharePlan>()?.share.entitled.reservation));
        let reserved: f64 = others.sum();
        let Self { reservation, weight, limit, priority, read_cost, write_cost, .. } = *self;
        match (ShareNumbers { reservation, weight, limit, priority, read_cost, write_cost }).under(terms) {
            Ok(share) => {
                if let Some(invalid) = terms.exceeded(reserved + share.entitled.reservation) {
                    return at.invalid(invalid);
                }
                at.uses(vec![shares]);
                at.holds(at.capacity(shares));
                Some(SharePlan { share })
            }
            Err(invalid) => at.invalid(invalid),
        }
    }
}

/// A share whose numbers are known.
#[derive(Clone, Debug)]
pub struct SharePlan {
    share: ShareTerms,
}

impl Theory for SharePlan {
    /// But for its limit.
    fn passes_on(&self) -> Option<Nanos> {
        Some(Nanos::ZERO)
    }

    fn features(&self) -> Features {
        Features {
            stands_before: Some(0),
            flushes_at_once: true,
            fills: Some(0),
            limits_rate: true,
            ..Features::default()
        }
    }

    fn demands(&self, view: View, load: &Load) -> Result<Vec<Demand>, String> {
        let all: Vec<_> = view.uses().map(|shares| shares.demands(load)).collect::<Result<_, _>>()?;
        let unit =
            view.uses().find_map(|shares| shares.plan::<SharesPlan>()).map_or(u64::MAX, |of| of.terms.unit);
        // A limit lets requests go on as a bucket does that saves the tokens of one: a request waits for those before it.
        let limit = BucketPlan {
            of: Token::Operation(unit),
            rate: self.share.entitled.limit,
            size: 0.0,
            initial: 0.0,
        };
        let tokens = load.kinds.iter().map(|(_, op, bytes)| limit.tokens(*op, *bytes));
        let limit = BucketPlan { size: tokens.fold(0.0, f64::max), ..limit };
        Ok([all.concat(), limit.demands(view, load)?].concat())
    }

    fn scales(&self, _: View, _: &Load) -> bool {
        true
    }
}

/// A share in a simulation.
pub struct Share<'m> {
    context: &'m NodeContext<'m>,
    share: ShareTerms,
}

impl Plan for SharePlan {
    type Component<'m> = Share<'m>;

    fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> Share<'m> {
        Share { context, share: self.share }
    }
}

impl<'m> Serve<'m, Block> for Share<'m> {
    async fn serve(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
        let work = OfShare { block: request.work, client: self.context.id.0, share: self.share };
        Box::pin(self.context.uses()[0].serve(&request.with(work), breakdown)).await;
    }
}

impl<'m> Component<'m> for Share<'m> {
    /// The use of its limit, if it has one. Those who wait for it are counted by the shares.
    fn activity(&self, now: Nanos) -> Option<Activity> {
        let shares =
            self.context.uses()[0].get::<Shares>().filter(|_| self.share.entitled.limit.is_finite())?;
        let busy = shares.limit_used(self.context.id.0, now);
        let visits = self.context.answered().requests;
        Some(Activity { servers: 1, busy: by_hosts(busy), visits, ..Activity::default() })
    }
}
