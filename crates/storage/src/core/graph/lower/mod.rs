//! From a document to a graph: names are looked up, parts are copied, and what cannot work is refused in words.

mod draft;
mod inner;
mod made;
mod ports;
mod refuse;

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::rc::Rc;

use headrace_units::Bytes;
use headrace_work::NodeId;
use indexmap::IndexMap;

use super::document::{Copies, DeviceCatalogue, LoweringError, NameStep};
use super::{Graph, Node};
use crate::ComponentSpec;
use crate::core::work::Listed;
use draft::{Draft, LoweringSite};

/// A larger system is refused: each component takes some hundred bytes.
const MAX_COMPONENTS: usize = 100_000;

/// Maximum depth of parts within parts.
const MAX_DEPTH: usize = 16;

/// Maximum number of addressable bytes: addresses then have room to be added.
pub const MAX_BYTES: u64 = 1 << 60;

/// A document on its way to a graph, as a component sees it that is being lowered.
pub struct Lowering<'d> {
    parts: &'d IndexMap<String, ComponentSpec>,
    system: &'d IndexMap<String, ComponentSpec>,
    catalogue: &'d dyn DeviceCatalogue,
    drafts: Vec<Draft>,
    /// Finished drafts, each after all that it uses.
    order: Vec<usize>,
    /// The components of `system` that were met; none while they are being lowered, or where they have errors.
    named: BTreeMap<&'d str, Option<NodeId>>,
    context: LoweringSite,
    /// The names on the way here, outermost first.
    chain: Vec<NameStep>,
    errors: Vec<LoweringError>,
    /// Values that wings compute once from the whole document.
    computed: BTreeMap<TypeId, Rc<dyn Any>>,
    /// The route from each server to each component that it asks, by their names.
    pub(crate) routes: BTreeMap<(String, String), NodeId>,
}

impl<'d> Lowering<'d> {
    /// Lowers all parts and components of a document. What is wrong is noted, also in those that nothing uses.
    pub(crate) fn of(
        parts: &'d IndexMap<String, ComponentSpec>,
        system: &'d IndexMap<String, ComponentSpec>,
        catalogue: &'d dyn DeviceCatalogue,
    ) -> Self {
        let mut lowering = Self {
            parts,
            system,
            catalogue,
            drafts: Vec::new(),
            order: Vec::new(),
            named: BTreeMap::new(),
            context: LoweringSite::default(),
            chain: Vec::new(),
            errors: Vec::new(),
            computed: BTreeMap::new(),
            routes: BTreeMap::new(),
        };
        parts.keys().for_each(|name| lowering.try_part(name));
        system.keys().for_each(|name| _ = lowering.component(name));
        lowering
    }

    /// Returns the graph.
    ///
    /// # Errors
    /// All errors that were noted.
    pub(crate) fn finish(self) -> Result<Graph, Vec<LoweringError>> {
        if self.errors.is_empty() { Ok(self.into_graph()) } else { Err(self.errors) }
    }

    /// Returns what `compute` finds in the document, which is computed once.
    pub(crate) fn once<T: Any>(
        &mut self,
        compute: impl FnOnce(&IndexMap<String, ComponentSpec>) -> T,
    ) -> Rc<T> {
        let known = self.computed.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(compute(self.system)));
        Rc::clone(known).downcast().expect("what is computed lies under its type")
    }

    /// Returns the names in `system`, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'d String> + use<'d> {
        self.system.keys()
    }

    /// Returns true if `parts` has this name.
    pub(crate) fn is_part(&self, name: &str) -> bool {
        self.parts.contains_key(name)
    }

    pub(crate) fn catalogue(&self) -> &'d dyn DeviceCatalogue {
        self.catalogue
    }

    /// The path of the component that is being lowered.
    pub fn path(&self) -> &str {
        &self.context.path
    }

    /// Returns the capacity of a node, in bytes.
    pub fn capacity(&self, id: NodeId) -> Bytes {
        self.drafts[id.index()].capacity
    }

    /// States the nodes that the component being lowered sends work to; [`NodeContext::uses`](crate::NodeContext::uses) has their
    /// edges in this order. None without it.
    pub fn uses(&mut self, nodes: Vec<NodeId>) {
        self.drafts[self.context.id].uses = nodes;
    }

    /// States the addressable bytes of the component being lowered. None without it.
    pub fn holds(&mut self, capacity: Bytes) {
        self.drafts[self.context.id].capacity = capacity;
    }

    /// Returns the component of `system` with a name.
    pub fn named_in_system(&self, name: &str) -> Option<&'d ComponentSpec> {
        self.system.get(name)
    }

    /// A component of `system` that `field` names.
    pub fn shared(&mut self, field: &str, name: &str) -> Option<NodeId> {
        if !self.system.contains_key(name) && self.parts.contains_key(name) {
            let message = format!("`{name}` is a part, which exists only as a copy in an array");
            return self.refuse(field, message, Some("define it under `system:` to share it"));
        }
        if !self.system.contains_key(name) {
            let help = format!("there is no component `{name}` in `system`");
            let known = self
                .system
                .keys()
                .filter(|other| self.chain.first() != Some(&NameStep::System((*other).clone())));
            let known = known.cloned().collect();
            return self.unknown(field, help, name, known);
        }
        if self.chain.contains(&NameStep::System(name.to_owned())) {
            let circle = format!("circular reference: {} → {name}", self.way());
            return self.refuse(
                field,
                circle,
                Some("a component cannot use itself, directly or through others"),
            );
        }
        self.component(name)
    }

    /// A component of `system` that `field` names, to which work of the kind `W` goes.
    pub fn asked<W: Listed>(&mut self, field: &str, name: &str) -> Option<NodeId> {
        let id = self.shared(field, name)?;
        self.must_serve::<W>(field, name, self.named_in_system(name)?)?;
        Some(id)
    }

    /// Refuses a component that does not do work of the kind `W`.
    fn must_serve<W: Listed>(&mut self, field: &str, name: &str, spec: &ComponentSpec) -> Option<()> {
        if spec.serves::<W>() {
            return Some(());
        }
        let message = format!("`{name}` is a `{}`, which serves no {}", spec.kind(), W::NAME);
        let kinds = ComponentSpec::serving::<W>().join("`, `");
        self.refuse(field, message, Some(&format!("name a component of another type: `{kinds}`")))
    }

    /// The components that `field` asks for work of the kind `W`: `count` copies of a part, or those of `system` that it lists.
    pub fn copies<W: Listed>(&mut self, field: &str, of: &Copies, count: Option<u32>) -> Option<Vec<NodeId>> {
        match of {
            Copies::Shared(names) => names.iter().map(|name| self.asked::<W>(field, name)).collect(),
            Copies::Written(spec) => {
                self.must_serve::<W>(field, spec.kind(), spec)?;
                let mut inner = self.context.field.clone();
                inner.push(field.to_owned());
                self.parts_of(NameStep::Written(spec.kind()), inner, spec, count)
            }
            Copies::Part(name) => {
                let Some(spec) = self.parts.get(name) else { return self.no_such_part(field, name) };
                if self.chain.contains(&NameStep::Part(name.clone())) {
                    let circle = format!("`{name}` would contain itself: {} → {name}", self.way());
                    return self.refuse(field, circle, None);
                }
                self.must_serve::<W>(field, name, spec)?;
                self.parts_of(
                    NameStep::Part(name.clone()),
                    vec!["parts".to_owned(), name.clone()],
                    spec,
                    count,
                )
            }
        }
    }

    fn no_such_part<T>(&mut self, field: &str, name: &str) -> Option<T> {
        if self.system.contains_key(name) {
            let message = format!(
                "`{name}` is defined in `system`, where each component exists once; an array consists of copies of a part"
            );
            let help = format!(
                "move `{name}` from `system:` to `parts:`, or list components to share them: `{field}: [{name}]`"
            );
            return self.refuse(field, message, Some(&help));
        }
        self.unknown(field, format!("there is no part `{name}`"), name, self.parts.keys().cloned().collect())
    }

    /// Copies of a part: the first is lowered, the others are copied from it.
    fn parts_of(
        &mut self,
        name: NameStep,
        field: Vec<String>,
        spec: &ComponentSpec,
        count: Option<u32>,
    ) -> Option<Vec<NodeId>> {
        let count = count.unwrap_or(1) as usize;
        let (outer, begin) = (self.context.clone(), self.drafts.len());
        let spot = outer.part(field, &name, format!("{name}[0]"));
        let first = self.at(name, spot, spec);
        self.context = outer;
        let first = first?;
        let each = self.drafts.len() - begin;
        let all = begin + each * count;
        if all > MAX_COMPONENTS {
            let message = format!(
                "the system would have {all} components or more; at most {MAX_COMPONENTS} can be simulated"
            );
            return self.refuse("disks", message, None);
        }
        let copies = (1..count).map(|i| self.copy(first.index(), begin..begin + each, i));
        let copies: Vec<NodeId> = copies.collect();
        Some(std::iter::once(first).chain(copies).collect())
    }

    /// Copies the drafts of a part whose top is `first`, as its `number`-th copy; those of other components of `system` that
    /// were met on the way are shared, not copied.
    fn copy(&mut self, first: usize, range: std::ops::Range<usize>, number: usize) -> NodeId {
        let template = self.drafts[first].spot.path.clone();
        let root = self.drafts[first].spot.root;
        let stem = template.strip_suffix("[0]").unwrap_or(&template).to_owned();
        let own: Vec<usize> = range.filter(|at| self.drafts[*at].spot.root == root).collect();
        let base = self.drafts.len();
        let moved = |old: usize| own.binary_search(&old).map_or(old, |nth| base + nth);
        for &old in &own {
            let mut draft = self.drafts[old].clone();
            draft.spot.path = format!("{stem}[{number}]{}", &draft.spot.path[template.len()..]);
            draft.spot.id = moved(old);
            draft.spot.within = draft.spot.within.map(moved);
            for used in &mut draft.uses {
                *used = NodeId(moved(used.index()) as u32);
            }
            self.drafts.push(draft);
        }
        let order: Vec<usize> =
            self.order.iter().copied().filter(|old| own.binary_search(old).is_ok()).map(moved).collect();
        self.order.extend(order);
        NodeId(moved(first) as u32)
    }

    /// Lowers a component of `system`, unless that was done.
    pub(crate) fn component(&mut self, name: &str) -> Option<NodeId> {
        let (root, name, spec) = self.system.get_full(name)?;
        if let Some(done) = self.named.get(name.as_str()) {
            return *done;
        }
        self.named.insert(name, None);
        let outer = self.context.clone();
        let field = vec!["system".to_owned(), name.clone()];
        let spot =
            LoweringSite { field, path: name.clone(), group: name.clone(), root, ..LoweringSite::default() };
        let id = self.at(NameStep::System(name.clone()), spot, spec);
        self.context = outer;
        self.named.insert(name, id);
        id
    }

    /// Lowers a part that may be used nowhere, for its errors alone.
    fn try_part(&mut self, name: &str) {
        let (drafts, order, named) = (self.drafts.len(), self.order.len(), self.named.clone());
        let routes = self.routes.clone();
        let field = vec!["parts".to_owned(), name.to_owned()];
        let spot = LoweringSite {
            field,
            path: name.to_owned(),
            group: name.to_owned(),
            root: usize::MAX,
            ..LoweringSite::default()
        };
        self.at(NameStep::Part(name.to_owned()), spot, &self.parts[name]);
        self.drafts.truncate(drafts);
        self.order.truncate(order);
        self.named = named;
        self.routes = routes;
    }

    /// Lowers `spec` at `spot`, as a draft of its own that stands before those of its parts.
    fn at(&mut self, name: NameStep, spot: LoweringSite, spec: &ComponentSpec) -> Option<NodeId> {
        let id = self.drafts.len();
        let spot = LoweringSite { id, ..spot };
        let (uses, capacity) = (Vec::new(), Bytes(0));
        self.drafts.push(Draft { spot: spot.clone(), plan: None, uses, capacity, depth: 0 });
        self.context = spot;
        self.chain.push(name);
        let plan = if self.chain.len() > MAX_DEPTH { self.too_deep() } else { spec.lower(self) };
        self.chain.pop();
        let plan = plan?;
        self.drafts[id].depth = self.depth_above(&self.drafts[id].uses);
        if self.drafts[id].depth > MAX_DEPTH {
            return self.too_deep();
        }
        self.drafts[id].plan = Some(plan);
        self.order.push(id);
        Some(NodeId(id as u32))
    }

    /// Returns the number of components on the longest way through one that uses these nodes.
    fn depth_above(&self, uses: &[NodeId]) -> usize {
        1 + uses.iter().map(|used| self.drafts[used.index()].depth).max().unwrap_or(0)
    }

    /// The graph, its nodes in the order in which they are read: components as `system` lists them, each before its parts.
    fn into_graph(self) -> Graph {
        let mut reading: Vec<usize> = (0..self.drafts.len()).collect();
        reading.sort_by_key(|at| self.drafts[*at].spot.root);
        let mut numbers = vec![0u32; reading.len()];
        for (number, at) in reading.iter().enumerate() {
            numbers[*at] = number as u32;
        }
        let renumbered = |old: usize| NodeId(numbers[old]);
        let mut graph = Graph { order: self.order.into_iter().map(renumbered).collect(), ..Graph::default() };
        graph.routes = self.routes.into_iter().map(|(ends, id)| (ends, renumbered(id.index()))).collect();
        let mut groups: BTreeMap<String, u32> = BTreeMap::new();
        for at in reading {
            let Draft { spot, plan, uses, capacity, .. } = self.drafts[at].clone();
            let plan = plan.expect("a component without mistakes is lowered");
            let next = groups.len() as u32;
            let group = *groups.entry(spot.group.clone()).or_insert(next);
            if group == next {
                graph.groups.push(spot.group);
            }
            let uses = uses.into_iter().map(|used| renumbered(used.index())).collect();
            let (path, field, within) = (spot.path, spot.field, spot.within.map(renumbered));
            graph.nodes.push(Node { path, field, group, within, plan, uses, capacity });
        }
        graph
    }
}
