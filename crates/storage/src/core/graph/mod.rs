//! A system as a graph: nodes, and who uses whom.

mod document;
mod lower;
mod system;

use std::collections::{BTreeMap, BTreeSet};

use headrace_analytic::Distribution;
use headrace_units::Bytes;
use headrace_work::{NodeId, Op};

use crate::core::redundancy::Redundancy;
use crate::core::theory::{Demand, Features, Load, Model, Phase};
use crate::core::work::Listed;
use crate::{AnyPlan, Of};

pub use document::{Copies, DeviceCatalogue, DeviceLookup, LoweringError, WantedWay};
pub use lower::{Lowering, MAX_BYTES, MOST_EXPLAINED};
pub(crate) use system::Member;
pub use system::{GroupMembers, GroupSpec, System, SystemSpec};

/// A component: it exists once, whoever uses it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name in results: what stands in `system` by its name there, a part under the path of what it belongs to
    /// (`tds/spindle[2]`).
    pub path: String,
    /// The component that it leads to and the group of that, if nobody wrote it, as of a route: messages have these names.
    pub leads_to: Option<(String, String)>,
    /// Position in the document: `system.tds`, `parts.spindle`, `system.tds.of`.
    pub field: Vec<String>,
    /// Group of identical components, by its index in [`Graph::groups`].
    pub group: u32,
    /// The node it is a part of.
    pub within: Option<NodeId>,
    /// Plan of the component.
    pub plan: AnyPlan,
    /// The nodes it sends work to.
    pub uses: Vec<NodeId>,
    /// Addressable bytes; zero if it holds none.
    pub capacity: Bytes,
}

/// The components of a system, numbered in the order in which they are read: as `system` lists them, each before its parts.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The components.
    pub nodes: Vec<Node>,
    /// Paths without the numbers of copies: `tds/spindle`.
    pub groups: Vec<String>,
    /// Every node after all that it uses.
    pub order: Vec<NodeId>,
    /// What requests go through, by the names of the server that they come from, empty where there is none, and of where they go.
    pub routes: BTreeMap<(String, String), NodeId>,
}

impl Graph {
    /// The component that stands in `system` under this name.
    pub fn named(&self, name: &str) -> Option<NodeId> {
        let at = self.nodes.iter().position(|node| node.within.is_none() && node.path == name)?;
        Some(NodeId(at as u32))
    }

    /// The node to which a stream sends requests that come from a server, if it names one, and go to a component, or those of several copies.
    pub fn entered(&self, from: Option<&str>, to: &str) -> Option<NodeId> {
        self.routes.get(&(from.unwrap_or_default().to_owned(), to.to_owned())).copied()
    }

    /// Returns true if work sent to `from` can reach `to`.
    pub fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        self.reached(from).contains(&to)
    }

    /// All nodes that work sent to `from` may come to, itself included.
    pub fn reached(&self, from: NodeId) -> BTreeSet<NodeId> {
        let (mut reached, mut next) = (BTreeSet::from([from]), vec![from]);
        while let Some(id) = next.pop() {
            let uses = self.nodes[id.index()].uses.iter();
            next.extend(uses.filter(|used| reached.insert(**used)));
        }
        reached
    }

    /// A node, and the graph around it.
    pub fn view(&self, id: NodeId) -> View<'_> {
        View { graph: self, id }
    }

    /// The numbers of all nodes.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// The name of a node's group.
    pub fn group(&self, id: NodeId) -> &str {
        &self.groups[self.nodes[id.index()].group as usize]
    }
}

/// A node, and what can be known of it and of those it uses.
#[derive(Clone, Copy)]
pub struct View<'g> {
    graph: &'g Graph,
    id: NodeId,
}

impl<'g> View<'g> {
    fn node(self) -> &'g Node {
        &self.graph.nodes[self.id.index()]
    }

    /// Its number.
    pub fn id(self) -> NodeId {
        self.id
    }

    /// Returns the name of its kind in documents and results.
    pub fn kind(self) -> &'static str {
        self.node().plan.kind()
    }

    /// Its path.
    pub fn path(self) -> &'g str {
        &self.node().path
    }

    /// Returns its name in messages: its path, or that of the component that it leads to if nobody wrote it.
    pub fn name(self) -> &'g str {
        self.node().leads_to.as_ref().map_or(&self.node().path, |(path, _)| path)
    }

    /// Returns the name of its group in messages.
    pub fn group_name(self) -> &'g str {
        self.node().leads_to.as_ref().map_or_else(|| self.graph.group(self.id), |(_, group)| group)
    }

    /// Returns the addressable bytes.
    pub fn capacity(self) -> Bytes {
        self.node().capacity
    }

    /// The nodes it uses, in order.
    pub fn uses(self) -> impl Iterator<Item = View<'g>> {
        self.node().uses.iter().map(move |id| self.graph.view(*id))
    }

    /// The nodes that use it.
    pub fn users(self) -> impl Iterator<Item = View<'g>> {
        let uses = move |node: &&Node| node.uses.contains(&self.id);
        let all = self.graph.nodes.iter().enumerate();
        all.filter(move |(_, node)| uses(node)).map(move |(at, _)| self.graph.view(NodeId(at as u32)))
    }

    /// See [`Theory::service`](crate::Theory::service).
    ///
    /// # Errors
    /// The assumption that fails.
    pub fn service(self, op: Op, bytes: u64) -> Result<Distribution, String> {
        self.node().plan.theory().service(self, op, bytes)
    }

    /// See [`Theory::model`](crate::Theory::model).
    ///
    /// # Errors
    /// The assumption that fails.
    pub fn model(self, load: &Load) -> Result<Model, String> {
        self.checks_flushes(load)?;
        self.node().plan.theory().model(self, load)
    }

    /// See [`Theory::demands`](crate::Theory::demands).
    ///
    /// # Errors
    /// The assumption that fails.
    pub fn demands(self, load: &Load) -> Result<Vec<Demand>, String> {
        self.checks_flushes(load)?;
        self.node().plan.theory().demands(self, load)
    }

    /// Checks that flushes of a load are served as any other command.
    fn checks_flushes(self, load: &Load) -> Result<(), String> {
        if !load.flushes() || self.features().flushes_at_once {
            return Ok(());
        }
        Err(format!(
            "no request waits for earlier writes: flushes of `{}` to `{}` do",
            load.stream,
            self.path()
        ))
    }

    /// Returns its plan, if it is of the kind `P`.
    pub fn plan<P>(self) -> Option<&'g P>
    where
        P: Of<AnyPlan>,
    {
        self.node().plan.get()
    }

    /// See [`Theory::carries`](crate::Theory::carries).
    ///
    /// # Errors
    /// The assumption that fails.
    pub fn carries(self, load: &Load, path_transfer: (Phase, u32, u32)) -> Result<Vec<Demand>, String> {
        self.node().plan.theory().carries(self, load, path_transfer)
    }

    /// See [`Theory::in_order`](crate::Theory::in_order).
    ///
    /// # Errors
    /// Why requests may be answered in another order.
    pub fn in_order(self, load: &Load) -> Result<(), String> {
        self.checks_flushes(load)?;
        self.node().plan.theory().in_order(self, load)
    }

    /// Returns true if it does work of the kind `W`.
    pub fn serves<W: Listed>(self) -> bool {
        self.node().plan.serves::<W>()
    }

    /// Returns its features.
    pub fn features(self) -> Features {
        self.node().plan.theory().features()
    }

    /// See [`Theory::redundancy`](crate::Theory::redundancy).
    ///
    /// # Errors
    /// It begins without some of its drives.
    pub fn redundancy(self) -> Result<Option<Redundancy>, String> {
        self.node().plan.theory().redundancy(self)
    }

    /// Returns true if streams of discards can be sent to it.
    pub fn discards(self) -> bool {
        self.behind().map_or_else(|| self.features().discards, View::discards)
    }

    /// Returns true if the time that a request takes depends on its address.
    pub fn addressed(self) -> bool {
        let own = self.features();
        self.behind().map_or_else(
            || own.addressed || (own.spreads && self.uses().any(View::addressed)),
            View::addressed,
        )
    }

    /// Returns the node that this one stands before.
    fn behind(self) -> Option<Self> {
        self.uses().nth(self.features().stands_before?)
    }

    /// Returns true if the utilisation of this node and of all behind it is proportional to the load.
    pub fn scales(self, load: &Load) -> bool {
        self.node().plan.theory().scales(self, load)
    }

    /// See [`Theory::piece`](crate::Theory::piece).
    pub fn piece(self) -> Option<u64> {
        self.node().plan.theory().piece(self)
    }

    /// See [`Theory::stripe`](crate::Theory::stripe).
    pub fn stripe(self) -> Option<(Bytes, u64)> {
        self.node().plan.theory().stripe(self)
    }

    /// Returns the note of this node or of one behind it under this load; `None` if there is none.
    pub fn note(self, load: &Load) -> Option<String> {
        self.node().plan.theory().note(self, load)
    }
}
