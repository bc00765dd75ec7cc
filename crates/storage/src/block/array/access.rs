//! The controllers of an array: which it names, and which of two its requests come to.

use headrace_work::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ArraySpec;
use super::cache::CachePlan;
use super::layout::ArrayLayout;
use crate::core::graph::Lowering;

/// Sharing of the requests to an array by two controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Active/passive: the first serves all; the second stands by and mirrors dirty data.
    #[default]
    ActivePassive,
    /// Active/active: each serves half.
    ActiveActive,
}

impl Access {
    /// The number of controllers that get requests while all of them work.
    pub(super) fn active(self, controllers: usize) -> usize {
        match self {
            Self::ActivePassive => controllers.min(1),
            Self::ActiveActive => controllers,
        }
    }
}

impl ArraySpec {
    /// The controllers that it names.
    pub(super) fn controllers(&self, at: &mut Lowering) -> Option<Vec<NodeId>> {
        let field = "controllers";
        if self.controllers.len() > 2 {
            return at.refuse(field, "an array has at most two controllers", None);
        }
        if self.controllers.len() == 2 && self.controllers[0] == self.controllers[1] {
            return at.refuse(field, "a controller is listed twice", Some("name each controller once"));
        }
        if self.access == Access::ActiveActive && self.controllers.len() < 2 {
            let message = "requests come to both controllers, and there are not two";
            return at.refuse("access", message, Some("leave it out, or name two `controllers`"));
        }
        let nodes: Option<Vec<NodeId>> = self.controllers.iter().map(|name| at.shared(field, name)).collect();
        if nodes.as_ref()?.iter().any(|node| !at.is_controller(*node)) {
            let help = Some("name components of `type: controller`");
            return at.refuse(field, "an array is run by controllers", help);
        }
        nodes
    }

    /// Its own cache, or the one that its controllers share among their arrays.
    pub(super) fn cache_plan(
        &self,
        at: &mut Lowering,
        controllers: &[NodeId],
        layout: &ArrayLayout,
    ) -> Option<Option<CachePlan>> {
        let shared = match &self.cache {
            Some(_) => None,
            None => at.shared_cache(controllers)?,
        };
        let Some(cache) = self.cache.as_ref().or(shared.as_ref()) else { return Some(None) };
        cache.plan(at, layout, shared.is_some()).map(Some)
    }
}
