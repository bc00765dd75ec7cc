//! Faults: components that fail during a run, return or are replaced, or are slow for a while.

use std::collections::{BTreeMap, BTreeSet};

use headrace_storage::{Change, Graph, Node, PathTransfer};
use headrace_units::Nanos;
use headrace_work::{Block, NodeId};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Path, Problem};

/// A component that fails during the run, or is slow for a part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultSpec {
    /// The component, by its path in results: `volume/spindle[2]`, or the name of a link. A copy of a group, `node[3]`, fails with all of its components. Of an archive: a drive or a robot arm of a tape
    /// library (`library/drive[3]`, `library/arm[0]`), or a volume of a disk pool (`pool/volume[5]`).
    pub component: String,
    /// When it fails. It stops answering, and requests in it are lost. A drive, an arm or a volume finishes what it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails: Option<Moment>,
    /// When it works again with its data intact. An array then writes what it missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Moment>,
    /// When an empty replacement takes its place. An array then rebuilds its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Moment>,
    /// How many times as long as usual it takes for whatever it begins while it is slow, without failing: the service of a station, a disk or a
    /// link, the flash, its channels and the latency of a solid-state drive, the wire of a port. Its users do not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.01, max = 10_000.0))]
    pub slow: Option<f64>,
    /// When it becomes slow. Default: at the beginning of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Moment>,
    /// When it takes its usual time again. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
}

/// When something happens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Moment {
    /// At this instant.
    At(Nanos),
    /// After a number of requests.
    After(AfterSpec),
}

/// A moment counted in requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AfterSpec {
    /// Number of requests answered, dropped, expired or failed, of all streams together.
    pub after: u64,
}

/// A change of a component's health, and its time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// When.
    pub when: Moment,
    /// To which component.
    pub node: NodeId,
    /// To which piece of it, by its running number; none for the whole.
    pub piece: Option<u32>,
    /// What.
    pub change: Change,
}

impl Moment {
    /// Returns true if it comes before or with `other`, where both are of one kind.
    fn is_not_before(self, other: Self) -> bool {
        match (self, other) {
            (Self::At(this), Self::At(other)) => this >= other,
            (Self::After(this), Self::After(other)) => this.after >= other.after,
            _ => true,
        }
    }

    /// Returns true if it is counted in requests, and its number of requests or of ns.
    fn number(self) -> (bool, u64) {
        match self {
            Self::At(time) => (false, time.0),
            Self::After(AfterSpec { after }) => (true, after),
        }
    }
}

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::At(time) => write!(f, "at {time}"),
            Self::After(AfterSpec { after }) => write!(f, "after {after} requests"),
        }
    }
}

impl FaultSpec {
    /// The events of the fault, each with its verb.
    pub fn moments(&self) -> Vec<(&'static str, Moment)> {
        let slow = self.slow.map(|_| self.slow_from());
        let all = [
            ("fails", self.fails),
            ("returns", self.returns),
            ("is replaced", self.replaced),
            ("is slow", slow),
            ("takes its usual time again", self.until),
        ];
        all.into_iter().filter_map(|(event, moment)| Some((event, moment?))).collect()
    }

    /// When it becomes slow.
    fn slow_from(&self) -> Moment {
        self.from.unwrap_or(Moment::At(Nanos::ZERO))
    }
}

/// The faults of a scenario, in the order in which they are written; what is wrong with them goes to `problems`.
pub fn of(specs: &[FaultSpec], graph: &Graph, problems: &mut Vec<Problem>) -> Vec<Fault> {
    if specs.is_empty() {
        return Vec::new();
    }
    let copies = copies(graph);
    let mut all = Vec::new();
    for (number, spec) in specs.iter().enumerate() {
        let path = Path::of(&["faults"]).index(number);
        let copy = copies.get(&*spec.component);
        let found =
            copy.map_or_else(|| of_one(spec, graph, &path), |copy| of_copy(spec, (graph, copy), &path));
        match found {
            Ok(found) => all.push((path, found)),
            Err(problem) => problems.push(problem),
        }
    }
    problems.extend(overlap(&all, graph));
    all.into_iter().flat_map(|(_, faults)| faults).collect()
}

/// Returns an error if a component that has failed, or is slow, fails or is slow once more before that ends: the end of one would end both.
fn overlap(all: &[(Path, Vec<Fault>)], graph: &Graph) -> Option<Problem> {
    let mut spells: Vec<(Spell, &Path)> =
        all.iter().flat_map(|(path, faults)| Spell::of(faults).map(move |spell| (spell, path))).collect();
    spells.sort_by_key(|(spell, _)| (spell.of, spell.begin));
    let mut pairs = spells.windows(2);
    let two = pairs.find(|two| two[0].0.of == two[1].0.of && two[1].0.begin < two[0].0.end)?;
    let Affected { node, piece, is_slow, .. } = two[1].0.of;
    let (of, is) = (&graph.nodes[node.index()], if is_slow { "slow" } else { "down" });
    let piece = piece.map(|piece| format!("/{}", piece_name(&of.plan.theory().features().pieces, piece)));
    let message = format!(
        "`{}{}` is {is} already by another fault, whose end would end this one too",
        of.path,
        piece.unwrap_or_default()
    );
    Some(Problem::at(two[1].1.clone(), message).help("let one end before the other begins"))
}

/// A time for which a component is down or slow.
struct Spell {
    of: Affected,
    begin: u64,
    end: u64,
}

/// A component, or the piece of one, in one of two ways.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Affected {
    node: NodeId,
    piece: Option<u32>,
    is_slow: bool,
    /// True if its spells are counted in requests: only times of one kind are compared.
    is_counted: bool,
}

impl Spell {
    /// The spells of a fault: each begins with one change, and may end with the next of that component.
    fn of(faults: &[Fault]) -> impl Iterator<Item = Self> {
        let begins = |fault: &Fault| match fault.change {
            Change::Fails => true,
            Change::Slow(percent) => percent != 100,
            Change::Returns | Change::Replaced => false,
        };
        faults.iter().enumerate().filter(move |(_, fault)| begins(fault)).map(move |(at, fault)| {
            let next = faults.get(at + 1).filter(|next| !begins(next) && next.node == fault.node);
            let (is_counted, begin) = fault.when.number();
            let end = next.map_or(u64::MAX, |next| {
                let (is_counted_too, end) = next.when.number();
                if is_counted == is_counted_too { end } else { begin }
            });
            let is_slow = matches!(fault.change, Change::Slow(_));
            Self { of: Affected { node: fault.node, piece: fault.piece, is_slow, is_counted }, begin, end }
        })
    }
}

/// Returns the component, or the piece of one, that is called `name` at `path`, if it can fail.
///
/// # Errors
/// There is no such component, or it cannot fail.
pub fn that_fails(graph: &Graph, name: &str, path: &Path) -> Result<(NodeId, Option<u32>), Problem> {
    let (node, piece) = found(graph, name).ok_or_else(|| unknown(graph, name, path))?;
    let pieces = graph.nodes[node.index()].plan.theory().features().pieces;
    if let (None, [(kind, number), ..]) = (piece, &pieces[..]) {
        let message = format!("`{name}` fails in parts, not as a whole");
        let help = format!("name a part, from `{name}/{kind}[0]` to `{name}/{kind}[{}]`", number - 1);
        return Err(Problem::at(path.clone(), message).help(help));
    }
    if !can_fail(graph, (node, piece)) {
        let message =
            format!("`{name}` neither serves nor carries blocks; only components that do can fail yet");
        let of_others = |other: &String| found(graph, other).is_some_and(|other| can_fail(graph, other));
        let others: Vec<String> = first_and_last(graph).into_iter().filter(of_others).take(SHOWN).collect();
        let help = if others.is_empty() { "none here".to_owned() } else { others.join(", ") };
        return Err(Problem::at(path.clone(), message).help(format!("components that can: {help}")));
    }
    Ok((node, piece))
}

/// Components that are named instead of one that cannot fail, at most.
const SHOWN: usize = 6;

fn can_fail(graph: &Graph, (node, piece): (NodeId, Option<u32>)) -> bool {
    let view = graph.view(node);
    piece.is_some() || view.serves::<Block>() || view.serves::<PathTransfer>()
}

/// Why there is no component of this name.
fn unknown(graph: &Graph, name: &str, path: &Path) -> Problem {
    let of_group = |node: &&Node| graph.groups[node.group as usize] == name;
    let alike: Vec<&Node> = graph.nodes.iter().filter(of_group).collect();
    if let [first, .., last] = &alike[..] {
        let message = format!("`{name}` is {} components; a fault is of one", alike.len());
        let help = format!("name one, from `{}` to `{}`", first.path, last.path);
        return Problem::at(path.clone(), message).help(help);
    }
    let mut known = first_and_last(graph);
    known.extend(copies(graph).into_keys().map(str::to_owned));
    let problem = Problem::at(path.clone(), format!("there is no component `{name}`"));
    problem.nearest(name, known)
}

/// The names by which components, or pieces of them, can fail; of alike components those of the first and the last.
fn first_and_last(graph: &Graph) -> Vec<String> {
    let mut ends: BTreeMap<u32, [NodeId; 2]> = BTreeMap::new();
    for id in graph.ids() {
        ends.entry(graph.nodes[id.index()].group).or_insert([id, id])[1] = id;
    }
    let is_end = |id: &NodeId| ends[&graph.nodes[id.index()].group].contains(id);
    graph.ids().filter(is_end).flat_map(|id| names(graph, id)).collect()
}

/// Returns the copies of groups by their names, each with its components, also those of groups within; an outer one before those within.
pub fn copies(graph: &Graph) -> IndexMap<&str, BTreeSet<NodeId>> {
    let mut copies: IndexMap<&str, BTreeSet<NodeId>> = IndexMap::new();
    let written = |node: &Node| node.within.is_none() && node.leads_to.is_none();
    for (id, node) in graph.ids().zip(&graph.nodes).filter(|(_, node)| written(node)) {
        for (end, _) in node.path.match_indices('/') {
            copies.entry(&node.path[..end]).or_default().insert(id);
        }
    }
    copies
}

/// Returns true if an empty replacement can take the place of a component.
pub fn is_replaceable(graph: &Graph, (node, piece): (NodeId, Option<u32>)) -> bool {
    piece.is_none() && graph.view(node).capacity().0 > 0
}

/// Returns an error unless a component can take longer than usual.
pub fn can_be_slow(graph: &Graph, (node, piece): (NodeId, Option<u32>), path: &Path) -> Result<(), Problem> {
    if piece.is_none() && graph.view(node).features().can_be_slow {
        return Ok(());
    }
    let message = format!("`{}` has no times of its own that could be longer", graph.view(node).path());
    let is_part =
        |id: &NodeId| graph.nodes[id.index()].within == Some(node) && graph.view(*id).features().can_be_slow;
    let parts: Vec<String> =
        graph.ids().filter(is_part).take(SHOWN).map(|id| format!("`{}`", graph.view(id).path())).collect();
    let help = match &parts[..] {
        [] => "name a station, a solid-state drive, a link, a port, or a disk whose `positioning` is not `mechanical`".to_owned(),
        _ => format!("its parts can be slow, each with a fault of its own: {}", parts.join(", ")),
    };
    Err(Problem::at(path.clone(), message).help(help))
}

/// The faults of each component of a copy.
fn of_copy(
    spec: &FaultSpec,
    (graph, copy): (&Graph, &BTreeSet<NodeId>),
    path: &Path,
) -> Result<Vec<Fault>, Problem> {
    if spec.slow.is_some() {
        let message = format!("`{}` is a copy of a group of components", spec.component);
        return Err(Problem::at(path.key("component"), message).help("name the component that is slow"));
    }
    let each = copy.iter().map(|&id| {
        let mut own = FaultSpec { component: graph.nodes[id.index()].path.clone(), ..spec.clone() };
        // What holds no data is there again when the copy is replaced.
        if own.returns.is_none() && !is_replaceable(graph, (id, None)) {
            own.returns = own.replaced.take();
        }
        of_one(&own, graph, path)
    });
    Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
}

fn of_one(spec: &FaultSpec, graph: &Graph, path: &Path) -> Result<Vec<Fault>, Problem> {
    let (node, piece) = that_fails(graph, &spec.component, &path.key("component"))?;
    match (spec.slow, spec.fails) {
        (Some(times), None) => of_slow(spec, times, graph, (node, piece), path),
        (None, Some(fails)) => of_failure(spec, fails, graph, (node, piece), path),
        (Some(_), Some(_)) => {
            let problem = Problem::at(path.key("slow"), "what has failed is not slow");
            Err(problem.help("write a fault that `fails` and another that is `slow`"))
        }
        (None, None) => {
            let message = format!("nothing happens to `{}`", spec.component);
            let help =
                "say when it `fails`, or how `slow` it is: `slow: 8` takes eight times as long as usual";
            Err(Problem::at(path.clone(), message).help(help))
        }
    }
}

/// A component that is slow for a while.
fn of_slow(
    spec: &FaultSpec,
    times: f64,
    graph: &Graph,
    (node, piece): (NodeId, Option<u32>),
    path: &Path,
) -> Result<Vec<Fault>, Problem> {
    can_be_slow(graph, (node, piece), &path.key("component"))?;
    if let Some(field) =
        [("returns", spec.returns), ("replaced", spec.replaced)].iter().find(|(_, when)| when.is_some())
    {
        let problem = Problem::at(path.key(field.0), "what is slow has not failed");
        return Err(problem.help("say in `until` when it takes its usual time again"));
    }
    if spec.until.is_some_and(|until| !until.is_not_before(spec.slow_from())) {
        let message = format!("`{}` would take its usual time before it is slow", spec.component);
        return Err(Problem::at(path.key("until"), message).help("use a later time than `from`"));
    }
    let slow = |(when, percent)| Fault { when, node, piece, change: Change::Slow(percent) };
    let ends = spec.until.map(|when| (when, 100));
    Ok([(spec.slow_from(), (times * 100.0).round() as u32)].into_iter().chain(ends).map(slow).collect())
}

/// A component that fails, and may return or be replaced.
fn of_failure(
    spec: &FaultSpec,
    fails: Moment,
    graph: &Graph,
    (node, piece): (NodeId, Option<u32>),
    path: &Path,
) -> Result<Vec<Fault>, Problem> {
    if let Some((field, _)) =
        [("from", spec.from), ("until", spec.until)].iter().find(|(_, when)| when.is_some())
    {
        let problem = Problem::at(path.key(*field), "what fails is not slow");
        return Err(problem.help("say in `returns` or `replaced` when it works again, or how `slow` it is"));
    }
    let end = match (spec.returns, spec.replaced) {
        (Some(_), Some(_)) => {
            let problem = Problem::at(path.key("replaced"), "a replaced component does not return");
            return Err(problem.help("remove `returns` or `replaced`"));
        }
        (Some(when), None) => Some(("returns", when, Change::Returns)),
        (None, when) => when.map(|when| ("replaced", when, Change::Replaced)),
    };
    if spec.replaced.is_some() && !is_replaceable(graph, (node, piece)) {
        let message = format!("`{}` holds no data, so it cannot be `replaced`", spec.component);
        return Err(Problem::at(path.key("replaced"), message).help("write `returns` instead"));
    }
    if let Some((field, ..)) = end.filter(|(_, when, _)| !when.is_not_before(fails)) {
        let message = format!("`{}` would return before it fails", spec.component);
        return Err(Problem::at(path.key(field), message).help("use a later time than `fails`"));
    }
    let failure = Fault { when: fails, node, piece, change: Change::Fails };
    let end = end.map(|(_, when, change)| Fault { when, node, piece, change });
    Ok(std::iter::once(failure).chain(end).collect())
}

/// The component of this name, or the piece of one: `library/drive[3]`.
fn found(graph: &Graph, name: &str) -> Option<(NodeId, Option<u32>)> {
    let node = |path: &str| graph.ids().find(|id| graph.nodes[id.index()].path == path);
    if let Some(node) = node(name) {
        return Some((node, None));
    }
    let (path, piece) = name.rsplit_once('/')?;
    let (kind, number) = piece.strip_suffix(']')?.split_once('[')?;
    let (node, number) = (node(path)?, number.parse::<u32>().ok()?);
    let mut before = 0;
    for (known, all) in graph.nodes[node.index()].plan.theory().features().pieces {
        if known == kind {
            return (number < all).then_some((node, Some(before + number)));
        }
        before += all;
    }
    None
}

/// The names by which a component, or the first and last pieces of it, can fail.
fn names(graph: &Graph, id: NodeId) -> Vec<String> {
    let node = &graph.nodes[id.index()];
    let pieces = node.plan.theory().features().pieces.into_iter();
    let ends = pieces.flat_map(|(kind, all)| [0, all - 1].map(|at| format!("{}/{kind}[{at}]", node.path)));
    std::iter::once(node.path.clone()).chain(ends).collect()
}

/// The name of a piece by its running number: `drive[3]`.
pub fn piece_name(pieces: &[(&'static str, u32)], piece: u32) -> String {
    let mut number = piece;
    for (kind, all) in pieces {
        if number < *all {
            return format!("{kind}[{number}]");
        }
        number -= all;
    }
    format!("part {piece}")
}
