//! The components of one simulation: built once, each after all that it uses, and shared by whoever names them.

use std::cell::OnceCell;

use headrace_work::NodeId;

use crate::AnyComponent;
use crate::core::component::Component;
use crate::core::context::{Edge, NodeContext, SimContext};
use crate::core::graph::Graph;
use crate::core::health::{Change, Event, HealthEvent};
use crate::core::ranges::Ranges;

/// Room for the components of a graph. It outlives every process.
pub struct Slots<'m> {
    components: Vec<OnceCell<AnyComponent<'m>>>,
}

impl Slots<'_> {
    /// Empty slots for the nodes of `graph`.
    pub fn of(graph: &Graph) -> Self {
        Self { components: graph.nodes.iter().map(|_| OnceCell::new()).collect() }
    }
}

/// The components of a graph in one simulation.
#[derive(Clone, Copy)]
pub struct Arena<'m> {
    graph: &'m Graph,
    shared: &'m SimContext<'m>,
    contexts: &'m [NodeContext<'m>],
    slots: &'m Slots<'m>,
}

impl<'m> Arena<'m> {
    /// Builds the components of `graph` in `slots`, each at its place.
    ///
    /// # Panics
    /// If places or slots are those of another graph, or slots are filled already.
    pub fn build(
        graph: &'m Graph,
        shared: &'m SimContext<'m>,
        contexts: &'m [NodeContext<'m>],
        slots: &'m Slots<'m>,
    ) -> Self {
        let arena = Self { graph, shared, contexts, slots };
        for &id in &graph.order {
            let node = &graph.nodes[id.index()];
            arena.context(id).connect(node.uses.iter().map(|used| arena.edge_to(*used)).collect());
            let component = node.plan.build(arena.context(id));
            assert!(slots.components[id.index()].set(component).is_ok(), "a node is built once");
        }
        graph.order.iter().for_each(|id| arena.component(*id).begin());
        arena
    }

    /// A way to a component that nothing has gone yet.
    pub fn edge_to(self, id: NodeId) -> Edge<'m> {
        Edge::new(self.any(id), self.context(id))
    }

    fn any(self, id: NodeId) -> &'m AnyComponent<'m> {
        self.slots.components[id.index()].get().expect("a node is built after all that it uses")
    }

    /// Makes a component fail, return or be replaced, now, and notifies the components that use it.
    pub fn change(self, id: NodeId, change: Change) {
        if self.context(id).health.change(change) {
            self.shared.note(id, Event::Changes(change));
            if matches!(change, Change::Slow(_)) {
                return; // Its users have to notice it.
            }
            self.tell_users(id, change);
            if change != Change::Fails {
                self.ids().for_each(|component| self.component(component).recovered());
            }
        }
    }

    /// Makes a piece of a component fail or return, now.
    pub fn change_piece(self, id: NodeId, piece: u32, change: Change) {
        self.shared.note(id, Event::PieceChanges(piece, change));
        self.component(id).change_piece(piece, change);
    }

    /// Notifies the components that use a component of its health. A route is up only if its target is.
    fn tell_users(self, id: NodeId, change: Change) {
        for user in self.ids() {
            for (at, _) in self.edges(user).iter().enumerate().filter(|(_, edge)| edge.to() == id) {
                self.component(user).notice(at, change);
                let leads = self.graph.nodes[user.index()].plan.theory().features().stands_before == Some(at);
                if leads && self.context(user).health.change(change) {
                    self.tell_users(user, change);
                }
            }
        }
    }

    /// Returns which bytes of those `written`, whose writes a component has answered, would be lost if power failed now. Where a component
    /// cannot tell, all may be.
    pub fn at_risk(self, id: NodeId, written: &Ranges) -> Ranges {
        let ask = |edge: usize, written: &Ranges| self.at_risk(self.edges(id)[edge].to(), written);
        if let Some(known) = self.component(id).at_risk(written, &ask) {
            return known;
        }
        let features = self.graph.nodes[id.index()].plan.theory().features();
        match (features.flushes_at_once, features.stands_before) {
            (true, None) => Ranges::default(),
            (true, Some(edge)) => ask(edge, written),
            (false, _) => written.clone(),
        }
    }

    /// Power fails, and is back at once: volatile memories are empty.
    pub fn lose_power(self) {
        self.ids().for_each(|id| self.component(id).lose_power());
    }

    /// Returns the events of components' health, from the `first`-th on, in order of time.
    pub fn health_events(self, first: usize) -> Vec<HealthEvent> {
        self.shared.health_events(first)
    }

    /// Returns the context of a component.
    pub fn context(self, id: NodeId) -> &'m NodeContext<'m> {
        &self.contexts[id.index()]
    }

    /// Returns a component.
    pub fn component(self, id: NodeId) -> &'m dyn Component<'m> {
        &**self.any(id)
    }

    /// Takes the list of components that were asked something since it was last taken, each once.
    pub fn take_touched(self) -> Vec<NodeId> {
        self.shared.take_touched()
    }

    /// The numbers of all components.
    pub fn ids(self) -> impl Iterator<Item = NodeId> {
        (0..self.contexts.len() as u32).map(NodeId)
    }

    /// The ways from a component to those it uses.
    pub fn edges(self, from: NodeId) -> &'m [Edge<'m>] {
        self.context(from).uses()
    }
}

impl<'m> NodeContext<'m> {
    /// Returns the contexts of all components of `graph`.
    pub fn of_all(graph: &'m Graph, shared: &'m SimContext<'m>) -> Vec<Self> {
        graph.ids().map(|id| Self::new(shared, id, &graph.nodes[id.index()].path)).collect()
    }
}
