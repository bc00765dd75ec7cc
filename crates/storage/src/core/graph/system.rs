//! The components of a system by their names, with groups as their copies.

use std::collections::BTreeSet;

use indexmap::{IndexMap, IndexSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::LoweringError;
use super::lower::MAX_COMPONENTS;
use crate::ComponentSpec;

/// Maximum depth of groups within groups.
const MAX_DEPTH: usize = 4;

/// More components of a group than this are given by their number.
const MOST_NAMED: usize = 8;

/// An entry of `system`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SystemSpec {
    /// Several copies of a small system.
    Group(GroupSpec),
    /// A component.
    #[serde(untagged)]
    Component(Box<ComponentSpec>),
}

/// Several copies of a small system, such as servers with their drives. `node[3]/volume` is the component `volume` of the fourth copy of
/// `node`, and `node/volume` are those of all copies: where a field takes a list of components, or where a stream goes. Within a copy,
/// names mean its own components first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupSpec {
    /// Number of copies.
    #[schemars(range(min = 1, max = 10_000))]
    pub copies: u32,
    /// What each copy consists of: components by name, or one component, which is a part of `parts` by its name or written in place. Copies
    /// of one component have no name of their own within: `drive[2]`.
    pub of: GroupMembers,
}

/// What the copies of a group consist of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum GroupMembers {
    /// One component: a part by its name in `parts`.
    Part(String),
    /// One component, written in place.
    Written(Box<ComponentSpec>),
    /// Components by name.
    System(IndexMap<String, SystemSpec>),
}

impl From<ComponentSpec> for SystemSpec {
    fn from(spec: ComponentSpec) -> Self {
        Self::Component(Box::new(spec))
    }
}

impl SystemSpec {
    /// Returns the component at a place within entries, such as `node`, `of`, `volume`; `None` if there is another thing or nothing.
    pub fn at<'s>(entries: &'s IndexMap<String, Self>, place: &[&str]) -> Option<&'s ComponentSpec> {
        let (name, within) = place.split_first()?;
        match (entries.get(*name)?, within) {
            (Self::Component(spec), []) => Some(spec),
            (Self::Group(GroupSpec { of: GroupMembers::System(inner), .. }), ["of", within @ ..]) => {
                Self::at(inner, within)
            }
            (Self::Group(GroupSpec { of: GroupMembers::Written(spec), .. }), ["of"]) => Some(spec),
            _ => None,
        }
    }
}

/// A component of a system.
#[derive(Clone, Debug)]
pub(crate) struct Member<'d> {
    /// What is written of it.
    pub spec: &'d ComponentSpec,
    /// Its name: `node[3]/volume`.
    pub path: String,
    /// The name without the numbers of copies.
    pub group: String,
    /// The path of the copy that it belongs to, with a slash behind; empty outside of groups.
    pub scope: String,
    /// Its place in the document.
    pub field: Vec<String>,
    /// True unless all copies that it belongs to are the first of their groups: what is wrong with it was said of the first.
    pub repeats: bool,
}

/// The components of a system, in the order of the document, each copy of a group after the one before.
#[derive(Clone, Debug, Default)]
pub struct System<'d> {
    members: Vec<Member<'d>>,
    /// The components that a name means, by their numbers: one, or those of several copies.
    named: IndexMap<String, Vec<usize>>,
    /// Names of groups.
    groups: BTreeSet<String>,
    errors: Vec<LoweringError>,
}

/// Where entries of a system stand.
#[derive(Clone, Default)]
struct Site {
    scope: String,
    group: String,
    /// Ways to write the scope, with and without the numbers of copies.
    scopes: Vec<String>,
    field: Vec<String>,
    depth: usize,
    repeats: bool,
}

impl Site {
    /// The site of one copy of a group here.
    fn within(&self, name: &str, copy: u32, field: &[String]) -> Self {
        let numbered = format!("{name}[{copy}]/");
        let both = |scope: &String| [format!("{scope}{numbered}"), format!("{scope}{name}/")];
        Self {
            scope: format!("{}{numbered}", self.scope),
            group: format!("{}{name}/", self.group),
            scopes: self.scopes.iter().flat_map(both).collect(),
            field: field.to_vec(),
            depth: self.depth + 1,
            repeats: self.repeats || copy > 0,
        }
    }
}

impl<'d> System<'d> {
    /// Returns the components of `entries`, where groups can be of `parts`. What is wrong with groups is among its errors.
    pub fn of(parts: &'d IndexMap<String, ComponentSpec>, entries: &'d IndexMap<String, SystemSpec>) -> Self {
        let mut system = Self::default();
        let top = Site { scopes: vec![String::new()], field: vec!["system".to_owned()], ..Site::default() };
        system.add_all(parts, entries, &top);
        system
    }

    fn add_all(
        &mut self,
        parts: &'d IndexMap<String, ComponentSpec>,
        entries: &'d IndexMap<String, SystemSpec>,
        site: &Site,
    ) {
        for (name, entry) in entries {
            let field: Vec<String> = site.field.iter().chain([name]).cloned().collect();
            match entry {
                SystemSpec::Component(spec) => self.add(spec, (name, None), site, field),
                SystemSpec::Group(group) => self.add_group(parts, name, group, site, field),
            }
        }
    }

    /// Adds a component, or a numbered copy of one.
    fn add(
        &mut self,
        spec: &'d ComponentSpec,
        (name, copy): (&str, Option<u32>),
        site: &Site,
        field: Vec<String>,
    ) {
        let number = self.members.len();
        let own = copy.map_or_else(|| name.to_owned(), |copy| format!("{name}[{copy}]"));
        for scope in &site.scopes {
            let all = copy.map(|_| format!("{scope}{name}"));
            for written in all.into_iter().chain([format!("{scope}{own}")]) {
                self.named.entry(written).or_default().push(number);
            }
        }
        self.members.push(Member {
            spec,
            path: format!("{}{own}", site.scope),
            group: format!("{}{name}", site.group),
            scope: site.scope.clone(),
            field,
            repeats: site.repeats || copy.is_some_and(|copy| copy > 0),
        });
    }

    fn add_group(
        &mut self,
        parts: &'d IndexMap<String, ComponentSpec>,
        name: &str,
        group: &'d GroupSpec,
        site: &Site,
        field: Vec<String>,
    ) {
        self.groups.insert(format!("{}{name}", site.group));
        let before = self.errors.len();
        self.check_group(parts, group, site, &field);
        let within = field_of(&field, "of");
        for copy in 0..group.copies {
            // All copies have the same errors.
            if self.errors.len() > before {
                return;
            }
            match &group.of {
                GroupMembers::System(inner) => self.add_all(parts, inner, &site.within(name, copy, &within)),
                GroupMembers::Part(part) => {
                    let field = vec!["parts".to_owned(), part.clone()];
                    self.add(&parts[part], (name, Some(copy)), site, field);
                }
                GroupMembers::Written(spec) => self.add(spec, (name, Some(copy)), site, within.clone()),
            }
        }
    }

    fn check_group(
        &mut self,
        parts: &IndexMap<String, ComponentSpec>,
        group: &GroupSpec,
        site: &Site,
        field: &[String],
    ) {
        let within = field_of(field, "of");
        let each = match &group.of {
            GroupMembers::System(inner) if inner.is_empty() => {
                return self.refuse(&within, "a group without components", "name what there are copies of");
            }
            _ if site.depth == MAX_DEPTH => {
                let message = format!("groups are nested more than {MAX_DEPTH} deep");
                return self.refuse(&within, &message, "write the copies of inner groups as one group");
            }
            GroupMembers::Part(part) if !parts.contains_key(part) => {
                return self.no_such_part(&within, part, parts);
            }
            GroupMembers::System(inner) => inner.len(),
            GroupMembers::Part(_) | GroupMembers::Written(_) => 1,
        };
        if self.members.len() + each * group.copies as usize > MAX_COMPONENTS {
            let message = format!("the system would have more than {MAX_COMPONENTS} components");
            self.refuse(&field_of(field, "copies"), &message, "use fewer copies");
        }
    }

    fn refuse(&mut self, field: &[String], message: &str, help: &str) {
        self.say(LoweringError {
            field: field.to_vec(),
            message: message.to_owned(),
            help: Some(help.to_owned()),
            unknown: None,
        });
    }

    fn no_such_part(&mut self, field: &[String], part: &str, parts: &IndexMap<String, ComponentSpec>) {
        self.say(LoweringError {
            field: field.to_vec(),
            message: format!("there is no part `{part}`"),
            help: Some("a group is of a part, or of components: `of: {server: {…}, volume: {…}}`".to_owned())
                .filter(|_| parts.is_empty()),
            unknown: Some((part.to_owned(), parts.keys().cloned().collect())),
        });
    }

    /// Notes an error once: all copies of a group have it.
    fn say(&mut self, error: LoweringError) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// Returns what is wrong with its groups; where that is something, components of theirs may be missing.
    pub fn errors(&self) -> &[LoweringError] {
        &self.errors
    }

    /// Number of components.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// A component by its number.
    pub(crate) fn member(&self, number: usize) -> &Member<'d> {
        &self.members[number]
    }

    /// The components, in order.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member<'d>> {
        self.members.iter()
    }

    /// Returns the numbers of the components that `name` means in a copy with this `scope`, or outside of groups where it is empty:
    /// one, those of several copies, or none. Names of the copy itself come first, then those of what is around it.
    pub(crate) fn means(&self, scope: &str, name: &str) -> &[usize] {
        let within = |scope: &str| self.named.get(&format!("{scope}{name}"));
        outwards(scope).find_map(within).map_or(&[], Vec::as_slice)
    }

    /// Returns the numbers of the components that some copy of some group means by `name`: a part does not know where it is copied to.
    pub(crate) fn means_anywhere(&self, name: &str) -> &[usize] {
        let inner = |member: &&Member| self.named.contains_key(&format!("{}{name}", member.scope));
        let found = self.members.iter().find(inner);
        found.map_or(&[], |member| self.means(&member.scope, name))
    }

    /// Returns the number of components that `name` means to a stream, 0 if there is none.
    pub fn count(&self, name: &str) -> usize {
        self.means("", name).len()
    }

    /// Returns what is wrong with a name that is that of a group, and the fix; `None` if it is not.
    pub fn group_refusal(&self, scope: &str, name: &str) -> Option<(String, String)> {
        let mut groups = outwards(scope).map(|scope| without_numbers(&format!("{scope}{name}")));
        let inside = groups.find(|group| self.groups.contains(group))? + "/";
        let own = self.members.iter().filter_map(|member| member.group.strip_prefix(&inside));
        let own: IndexSet<&str> = own.collect();
        let named = own.iter().take(MOST_NAMED).map(|own| format!("`{name}/{own}`"));
        let others = own.len().saturating_sub(MOST_NAMED);
        let others = (others > 0).then(|| format!("or one of {others} others"));
        let names: Vec<String> = named.chain(others).collect();
        let message = format!("`{name}` is a group of copies, not a component");
        Some((message, format!("name a component of it: {}", names.join(", "))))
    }

    /// Returns the names that a component in this scope, or a stream where that is empty, can write: alike components once.
    pub fn names(&self, scope: &str) -> Vec<String> {
        let group = without_numbers(scope);
        let seen = self.members.iter().filter(|member| scope.is_empty() || !member.repeats);
        let own = seen.map(|member| member.group.strip_prefix(&group).unwrap_or(&member.group));
        own.collect::<IndexSet<&str>>().into_iter().map(str::to_owned).collect()
    }
}

/// The scopes around a scope, itself first: `rack[1]/node[2]/`, `rack[1]/`, and the one outside of groups.
fn outwards(scope: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(scope);
    std::iter::from_fn(move || {
        let this = next?;
        let outer = |within: &str| within.rfind('/').map_or(0, |at| at + 1);
        next = this.strip_suffix('/').map(|within| &this[..outer(within)]);
        Some(this)
    })
}

/// The place of a field of what is written at another.
fn field_of(place: &[String], field: &str) -> Vec<String> {
    place.iter().cloned().chain([field.to_owned()]).collect()
}

/// A path without the numbers of copies.
fn without_numbers(path: &str) -> String {
    let step = |step: &str| step.split_once('[').map_or(step, |(name, _)| name).to_owned();
    path.split('/').map(step).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: &str = r#"{"nvme": {"type": "station", "service": "1 ms"}}"#;
    const RACKS: &str = r#"{
        "core": {"type": "station", "service": "1 ms"},
        "rack": {"type": "group", "copies": 2, "of": {
            "leaf": {"type": "station", "service": "1 ms"},
            "node": {"type": "group", "copies": 3, "of": {
                "cpu": {"type": "station", "service": "1 ms"},
                "drive": {"type": "group", "copies": 2, "of": "nvme"}
            }}
        }}
    }"#;

    fn read<T: serde::de::DeserializeOwned>(text: &str) -> IndexMap<String, T> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_name_means_one_component_or_those_of_all_copies() {
        let (parts, entries) = (read(PARTS), read(RACKS));
        let system = System::of(&parts, &entries);
        assert!(system.errors().is_empty());
        let paths = |scope: &str, name: &str| -> Vec<&str> {
            system.means(scope, name).iter().map(|at| system.member(*at).path.as_str()).collect()
        };
        assert_eq!(system.len(), 1 + 2 * (1 + 3 * (1 + 2)));
        assert_eq!(paths("", "rack[1]/node[2]/drive[0]"), ["rack[1]/node[2]/drive[0]"]);
        assert_eq!(paths("", "rack/leaf"), ["rack[0]/leaf", "rack[1]/leaf"]);
        assert_eq!(paths("", "rack[0]/node/cpu").len(), 3);
        assert_eq!(paths("", "rack/node[1]/cpu"), ["rack[0]/node[1]/cpu", "rack[1]/node[1]/cpu"]);
        assert_eq!(paths("", "rack/node/drive").len(), 12);
        assert_eq!(paths("rack[1]/node[0]/", "drive").len(), 2);
        assert_eq!(paths("rack[1]/node[0]/", "cpu"), ["rack[1]/node[0]/cpu"]);
        assert_eq!(paths("rack[1]/node[0]/", "leaf"), ["rack[1]/leaf"]);
        assert_eq!(paths("rack[1]/", "node/cpu").len(), 3);
        assert_eq!(paths("rack[1]/node[0]/", "core"), ["core"]);
        assert!(paths("", "cpu").is_empty() && paths("", "rack[2]/leaf").is_empty());
    }

    #[test]
    fn names_to_choose_from_have_no_numbers_of_copies() {
        let (parts, entries) = (read(PARTS), read(RACKS));
        let system = System::of(&parts, &entries);
        assert_eq!(system.names(""), ["core", "rack/leaf", "rack/node/cpu", "rack/node/drive"]);
        assert_eq!(system.names("rack[1]/node[2]/"), ["core", "rack/leaf", "cpu", "drive"]);
        assert_eq!(
            system.group_refusal("", "rack/node").unwrap().1,
            "name a component of it: `rack/node/cpu`, `rack/node/drive`"
        );
    }

    #[test]
    fn groups_that_cannot_be_are_refused_once() {
        let refused = |text: &str| {
            let (parts, entries) = (read(PARTS), read(text));
            let system = System::of(&parts, &entries);
            let told = |error: &LoweringError| format!("{}: {}", error.field.join("."), error.message);
            system.errors().iter().map(told).collect::<Vec<_>>()
        };
        let group = |of: &str| format!(r#"{{"node": {{"type": "group", "copies": 9000, "of": {of}}}}}"#);
        assert_eq!(refused(&group("{}")), ["system.node.of: a group without components"]);
        assert_eq!(refused(&group(r#""disk""#)), ["system.node.of: there is no part `disk`"]);
        let drives = r#"{"drive": {"type": "group", "copies": 9000, "of": "nvme"}}"#;
        let many = "system.node.of.drive.copies: the system would have more than 100000 components";
        assert_eq!(refused(&group(drives)), [many]);
        let deep = (0..5).fold(r#"{"a": {"type": "station", "service": "1 ms"}}"#.to_owned(), |inner, _| {
            format!(r#"{{"g": {{"type": "group", "copies": 1, "of": {inner}}}}}"#)
        });
        assert!(refused(&deep)[0].ends_with("groups are nested more than 4 deep"));
    }
}
