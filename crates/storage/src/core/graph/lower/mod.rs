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

pub use refuse::MOST_EXPLAINED;

use super::document::{Copies, DeviceCatalogue, LoweringError, NameStep};
use super::system::{Member, System};
use super::{Graph, Node};
use crate::ComponentSpec;
use crate::core::work::Listed;
use draft::{Draft, LoweringSite};

/// A larger system is refused: each component takes some hundred bytes.
pub(super) const MAX_COMPONENTS: usize = 100_000;

/// Maximum depth of parts within parts.
const MAX_DEPTH: usize = 16;

/// Maximum number of addressable bytes: addresses then have room to be added.
pub const MAX_BYTES: u64 = 1 << 60;

/// A document on its way to a graph, as a component sees it that is being lowered.
pub struct Lowering<'d> {
    parts: &'d IndexMap<String, ComponentSpec>,
    system: &'d System<'d>,
    catalogue: &'d dyn DeviceCatalogue,
    drafts: Vec<Draft>,
    /// Finished drafts, each after all that it uses.
    order: Vec<usize>,
    /// The components of `system` that were met, by their numbers there; none while they are being lowered, or where they have errors.
    named: BTreeMap<usize, Option<NodeId>>,
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
        system: &'d System<'d>,
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
        (0..system.len()).for_each(|number| _ = lowering.member(number));
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
    pub(crate) fn once<T: Any>(&mut self, compute: impl FnOnce(&System) -> T) -> Rc<T> {
        let known = self.computed.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(compute(self.system)));
        Rc::clone(known).downcast().expect("what is computed lies under its type")
    }

    /// Returns the names of components that the component being lowered can write, alike ones once.
    pub(crate) fn names(&self) -> Vec<String> {
        self.system.names(self.scope())
    }

    /// The copy of a group that the component being lowered belongs to; empty outside of groups.
    fn scope(&self) -> &'d str {
        if self.context.root < self.system.len() { &self.system.member(self.context.root).scope } else { "" }
    }

    /// The components of `system` that a name means to the component being lowered, by their numbers there.
    fn means(&self, name: &str) -> &'d [usize] {
        match self.system.means(self.scope(), name) {
            [] if self.context.root == usize::MAX => self.system.means_anywhere(name),
            found => found,
        }
    }

    /// Returns the components of `system` that a name means to the component being lowered: one, or those of several copies.
    pub(crate) fn members(&self, name: &str) -> impl Iterator<Item = &'d Member<'d>> + use<'d> {
        let system = self.system;
        self.means(name).iter().map(|number| system.member(*number))
    }

    /// Returns the components of `system` that a name means to another component of it.
    pub(crate) fn seen_from(
        &self,
        other: &Member,
        name: &str,
    ) -> impl Iterator<Item = &'d Member<'d>> + use<'d> {
        let system = self.system;
        system.means(&other.scope, name).iter().map(|number| system.member(*number))
    }

    /// Returns the paths of the components that `name` means; itself where it means none, for a message about it.
    pub(crate) fn paths(&self, name: &str) -> Vec<String> {
        let found: Vec<String> = self.members(name).map(|member| member.path.clone()).collect();
        if found.is_empty() { vec![name.to_owned()] } else { found }
    }

    /// Returns the paths of the components that the names of a list mean.
    pub(crate) fn all_paths(&self, names: &[String]) -> Vec<String> {
        names.iter().flat_map(|name| self.paths(name)).collect()
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

    /// Returns the component of `system` with a name; of those of several copies the first.
    pub fn named_in_system(&self, name: &str) -> Option<&'d ComponentSpec> {
        self.members(name).next().map(|member| member.spec)
    }

    /// A component of `system` that `field` names.
    pub fn shared(&mut self, field: &str, name: &str) -> Option<NodeId> {
        match *self.means(name) {
            [] => self.no_such_component(field, name),
            [number] => self.acyclic(field, number),
            [first, ..] => {
                let message = format!("`{name}` is {} components; one belongs here", self.means(name).len());
                let help = format!("name one of them, such as `{}`", self.system.member(first).path);
                self.refuse(field, message, Some(&help))
            }
        }
    }

    /// Refuses a name that no component of `system` has.
    pub(crate) fn no_such_component<T>(&mut self, field: &str, name: &str) -> Option<T> {
        if self.parts.contains_key(name) {
            let message = format!("`{name}` is a part, which exists only as a copy in an array");
            let help = format!(
                "write `of: {name}` where each copy has its own, or define it under `system:` to share it"
            );
            return self.refuse(field, message, Some(&help));
        }
        if let Some((message, help)) = self.system.group_refusal(self.scope(), name) {
            return self.refuse(field, message, Some(&help));
        }
        let others = |lowering: &Self| {
            let own = |other: &String| lowering.chain.first() == Some(&NameStep::System(other.clone()));
            lowering.names().into_iter().filter(|other| !own(other)).collect()
        };
        self.unknown(field, format!("there is no component `{name}` in `system`"), name, others)
    }

    /// A component of `system`, unless the one being lowered is used by it.
    fn acyclic(&mut self, field: &str, number: usize) -> Option<NodeId> {
        let path = &self.system.member(number).path;
        if self.chain.contains(&NameStep::System(path.clone())) {
            let circle = format!("circular reference: {} → {path}", self.way());
            return self.refuse(
                field,
                circle,
                Some("a component cannot use itself, directly or through others"),
            );
        }
        self.member(number)
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
            Copies::Shared(names) => {
                self.all_paths(names).iter().map(|name| self.asked::<W>(field, name)).collect()
            }
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
        if !self.means(name).is_empty() {
            let message = format!(
                "`{name}` is defined in `system`, where each component exists once; an array consists of copies of a part"
            );
            let help = format!(
                "move `{name}` from `system:` to `parts:`, or list components to share them: `{field}: [{name}]`"
            );
            return self.refuse(field, message, Some(&help));
        }
        let parts = |lowering: &Self| lowering.parts.keys().cloned().collect();
        self.unknown(field, format!("there is no part `{name}`"), name, parts)
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

    /// Lowers the component of `system` that a name means, unless that was done.
    pub(crate) fn component(&mut self, name: &str) -> Option<NodeId> {
        self.member(*self.means(name).first()?)
    }

    /// Lowers a component of `system` by its number there, unless that was done.
    fn member(&mut self, root: usize) -> Option<NodeId> {
        if let Some(done) = self.named.get(&root) {
            return *done;
        }
        self.named.insert(root, None);
        let Member { spec, path, group, field, .. } = self.system.member(root);
        let (field, path, group) = (field.clone(), path.clone(), group.clone());
        let outer = self.context.clone();
        let spot = LoweringSite { field, path: path.clone(), group, root, ..LoweringSite::default() };
        let id = self.at(NameStep::System(path), spot, spec);
        self.context = outer;
        self.named.insert(root, id);
        id
    }

    /// Returns true if the component being lowered belongs to a copy that is not the first.
    fn repeats(&self) -> bool {
        self.context.root < self.system.len() && self.system.member(self.context.root).repeats
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
            let leads_to = spot.leads_to;
            graph.nodes.push(Node { path, leads_to, field, group, within, plan, uses, capacity });
        }
        graph
    }
}
