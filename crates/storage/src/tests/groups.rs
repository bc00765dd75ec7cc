//! Groups of copies: what they become is what one would write by hand.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use proptest::prelude::*;

use super::common::{One, drive};
use crate::{Graph, LoweringError, System, SystemSpec, WantedWay, lower};

const PARTS: &str =
    r#"{"nvme": {"type": "station", "service": {"exponential": "1 ms"}, "capacity": "1 MB"}}"#;

fn lowered(system: &str, ways: &[(&str, &str)]) -> Result<Graph, Vec<LoweringError>> {
    let parts = serde_json::from_str(PARTS).unwrap();
    let system: IndexMap<String, SystemSpec> = serde_json::from_str(system).unwrap();
    let wanted = |(from, to): &(&str, &str)| WantedWay {
        stream: "users".to_owned(),
        from: Some((*from).to_owned()).filter(|from| !from.is_empty()),
        to: (*to).to_owned(),
    };
    let ways: Vec<WantedWay> = ways.iter().map(wanted).collect();
    lower(&parts, &System::of(&parts, &system), &ways, &One(drive()))
}

/// All of a graph that a run depends on: of each node, its path, plan, capacity, place and uses; and the order of building.
fn told(graph: &Graph) -> Vec<String> {
    let node = |node: &crate::Node| {
        let uses: Vec<usize> = node.uses.iter().map(|used| used.index()).collect();
        let plan = format!("{:?}", node.plan);
        // What is attached to a server is written in two ways, and says nothing once routes are found.
        let plan = match (plan.find("attached: "), plan.find(", cores: ")) {
            (Some(from), Some(to)) => [&plan[..from], &plan[to..]].concat(),
            _ => plan,
        };
        format!("{} {plan} {:?} {:?} {uses:?}", node.path, node.capacity, node.within)
    };
    let order = graph.order.iter().map(|id| id.index().to_string());
    graph.nodes.iter().map(node).chain(order).collect()
}

/// Servers with drives of their own and a volume over them, behind a switch for each rack.
fn racks(racks: u32, nodes: u32, drives: u32) -> String {
    format!(
        r#"{{
        "host": {{"type": "server"}},
        "core": {{"type": "switch", "rate": "1 GB/s", "connects": ["host", "rack/leaf"]}},
        "rack": {{"type": "group", "copies": {racks}, "of": {{
            "leaf": {{"type": "switch", "rate": "1 GB/s", "connects": ["node/cpu"]}},
            "node": {{"type": "group", "copies": {nodes}, "of": {{
                "cpu": {{"type": "server", "attached": ["drive"], "adapter": {{"command": "1 us"}}}},
                "drive": {{"type": "group", "copies": {drives}, "of": "nvme"}},
                "volume": {{"type": "array", "level": "raid0", "of": ["drive"], "stripe_unit": "4 KiB", "from": "cpu"}}
            }}}}
        }}}}
    }}"#
    )
}

/// The system of [`racks`], each component written by its whole name.
fn by_hand(racks: u32, nodes: u32, drives: u32) -> String {
    let quoted =
        |names: Vec<String>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let leaves = quoted((0..racks).map(|rack| format!("rack[{rack}]/leaf")).collect());
    let mut all = vec![
        r#""host": {"type": "server"}"#.to_owned(),
        format!(r#""core": {{"type": "switch", "rate": "1 GB/s", "connects": ["host", {leaves}]}}"#),
    ];
    for rack in 0..racks {
        let cpus = quoted((0..nodes).map(|node| format!("rack[{rack}]/node[{node}]/cpu")).collect());
        all.push(format!(
            r#""rack[{rack}]/leaf": {{"type": "switch", "rate": "1 GB/s", "connects": [{cpus}]}}"#
        ));
        for node in 0..nodes {
            let at = format!("rack[{rack}]/node[{node}]");
            let own: Vec<String> = (0..drives).map(|drive| format!("{at}/drive[{drive}]")).collect();
            all.push(format!(
                r#""{at}/cpu": {{"type": "server", "attached": [{}], "adapter": {{"command": "1 us"}}}}"#,
                quoted(own.clone())
            ));
            let part = &PARTS[r#"{"nvme": "#.len()..PARTS.len() - 1];
            all.extend(own.iter().map(|name| format!(r#""{name}": {part}"#)));
            all.push(format!(
                r#""{at}/volume": {{"type": "array", "level": "raid0", "of": [{}], "stripe_unit": "4 KiB", "from": "{at}/cpu"}}"#,
                quoted(own)
            ));
        }
    }
    format!("{{{}}}", all.join(", "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// A group is its copies written out: the same nodes with the same plans in the same order, so that any run is the same, bit for bit. Only
    /// ports of a switch in a copy are called after the neighbour as the copy sees it.
    #[test]
    fn a_group_is_its_copies_written_out(number in 1u32..4, nodes in 1u32..4, drives in 1u32..4) {
        let ways = [("host", "rack[0]/node[0]/volume")];
        let group = lowered(&racks(number, nodes, drives), &ways).unwrap();
        let hand = lowered(&by_hand(number, nodes, drives), &ways).unwrap();
        let short = |told: Vec<String>| -> Vec<String> {
            let port = |text: String| (0..number).fold(text, |text, rack| {
                let whole = format!("rack[{rack}]/leaf/");
                text.replace(&format!("{whole}rack[{rack}]/"), &whole)
            });
            told.into_iter().map(port).collect()
        };
        prop_assert_eq!(short(told(&group)), short(told(&hand)));
        let mut sizes: BTreeMap<&str, u32> = BTreeMap::new();
        group.ids().for_each(|id| *sizes.entry(group.group(id)).or_default() += 1);
        prop_assert_eq!(sizes["rack/node/drive"], number * nodes * drives);
        prop_assert_eq!(sizes["rack/leaf/node/cpu in"], number * nodes);
        prop_assert_eq!(sizes["rack/node/volume"], number * nodes);
    }
}

#[test]
fn a_stream_goes_to_all_copies_over_a_route_to_each() {
    let graph = lowered(&racks(2, 3, 1), &[("host", "rack/node/volume")]).unwrap();
    let entry = graph.view(graph.entered(Some("host"), "rack/node/volume").unwrap());
    assert_eq!((entry.kind(), entry.name()), ("dispatcher", "rack/node/volume"));
    let routes: Vec<&str> = entry.uses().map(|route| route.path()).collect();
    assert_eq!((routes.len(), routes[4]), (6, "host→rack[1]/node[1]/volume"));
    assert!(entry.uses().all(|route| graph.group(route.id()) == "host→rack/node/volume"));
    assert_eq!(entry.capacity().0, 1_000_000 / 4096 * 4096, "addresses are those of one copy");
}

/// Servers of several copies ask the volumes of their own copies, or each of them one that is elsewhere.
#[test]
fn a_server_of_a_copy_asks_its_own() {
    let routes = |from: &str, to: &str| -> Vec<String> {
        let graph = lowered(&racks(1, 2, 2), &[(from, to)]).unwrap();
        let entry = graph.view(graph.entered(Some(from), to).unwrap());
        entry.uses().map(|used| used.path().replace("rack[0]/", "")).collect()
    };
    assert_eq!(
        routes("rack/node/cpu", "rack/node/volume"),
        ["node[0]/cpu→node[0]/volume", "node[1]/cpu→node[1]/volume"]
    );
    let crossed = ["node[0]/cpu→node[1]/volume", "node[1]/cpu→node[1]/volume"];
    assert_eq!(routes("rack/node/cpu", "rack[0]/node[1]/volume"), crossed);
}

/// What one stream goes between is counted before it is written out, and a message names few of many.
#[test]
fn many_pairs_and_many_names_are_numbers() {
    let system = r#"{
        "c": {"type": "group", "copies": 10000, "of": {"s": {"type": "server"}}},
        "n": {"type": "group", "copies": 10000, "of": "nvme"}
    }"#;
    let many = lowered(system, &[("c/s", "n")]).unwrap_err();
    assert_eq!(many[0].message, "`c/s` and `n` are 100000000 pairs; at most 10000 are possible");
    let inside: Vec<String> = (0..12).map(|n| format!(r#""a{n}": {{"type": "server"}}"#)).collect();
    let system = format!(
        r#"{{"n": {{"type": "group", "copies": 2, "of": {{{}}}}},
            "l": {{"type": "limiter", "to": "n", "operations": {{"rate": "9 /s"}}}}}}"#,
        inside.join(",")
    );
    let help = lowered(&system, &[]).unwrap_err()[0].help.clone().unwrap();
    assert!(
        help.starts_with("name a component of it: `n/a0`, ") && help.ends_with("`n/a7`, or one of 4 others"),
        "{help}"
    );
}

#[test]
fn what_a_group_cannot_be_is_said_once_for_all_copies() {
    let refused = |system: &str, ways: &[(&str, &str)]| -> Vec<String> {
        let told = |error: LoweringError| {
            let (field, help) = (error.field.join("."), error.help.unwrap_or_default());
            let known =
                error.unknown.map_or_else(String::new, |(_, known)| format!(" ({})", known.join(", ")));
            format!("{field}: {}{known}; {help}", error.message)
        };
        lowered(system, ways).unwrap_err().into_iter().map(told).collect()
    };
    let node = |volume: &str| {
        format!(
            r#"{{"lan": {{"type": "link", "rate": "1 GB/s"}},
                "node": {{"type": "group", "copies": 20, "of": {{
                "cpu": {{"type": "server"}}, "drive": {{"type": "group", "copies": 2, "of": "nvme"}}, "volume": {volume}}}}}}}"#
        )
    };
    let limiter =
        |to: &str| node(&format!(r#"{{"type": "limiter", "to": "{to}", "operations": {{"rate": "9 /s"}}}}"#));
    assert_eq!(
        refused(&limiter("disk"), &[]),
        ["system.node.of.volume.to: there is no component `disk` in `system` (lan, cpu, drive, volume); "]
    );
    assert_eq!(
        refused(&limiter("drive"), &[]),
        [
            "system.node.of.volume.to: `drive` is 2 components; one belongs here; name one of them, such as `node[0]/drive[0]`"
        ]
    );
    assert_eq!(
        refused(&limiter("cpu"), &[])[0].split("; ").next(),
        Some("system.node.of.volume.to: `cpu` is a `server`, which serves no blocks")
    );
    assert_eq!(
        refused(&limiter("volume"), &[]),
        ["system.node.of.volume.to: circular reference: node[0]/volume → node[0]/volume; \
          a component cannot use itself, directly or through others"]
    );
    let whole = limiter("drive[1]").replace(
        r#""lan": {"#,
        r#""other": {"type": "limiter", "to": "node", "operations": {"rate": "9 /s"}}, "lan": {"#,
    );
    assert_eq!(
        refused(&whole, &[]),
        ["system.other.to: `node` is a group of copies, not a component; \
          name a component of it: `node/cpu`, `node/drive`, `node/volume`"]
    );
    let apart = refused(&limiter("drive[1]"), &[("node/cpu", "node/volume")]);
    assert_eq!(apart.len(), 1, "{apart:?}");
    assert!(
        apart[0].starts_with("workload.users.from: `node[0]/cpu` cannot reach `node[0]/volume`"),
        "{apart:?}"
    );
}

/// Copies of one component are those of a part, or of what is written in place.
#[test]
fn a_group_of_one_component_is_written_in_place_or_by_its_part() {
    let of = |of: &str| {
        lowered(&format!(r#"{{"n": {{"type": "group", "copies": 3, "of": {of}}}}}"#), &[("", "n")])
    };
    let in_place = PARTS.trim_start_matches(r#"{"nvme": "#).strip_suffix('}').unwrap();
    assert_eq!(told(&of(in_place).unwrap()), told(&of(r#""nvme""#).unwrap()));
}

/// What is attached to a server reaches what stands elsewhere from there, over the network; what stands with it, or nowhere, at once. What
/// several servers have attached says nothing of who sends.
#[test]
fn what_is_attached_to_a_server_reaches_others_from_there() {
    let system = |volume: &str, attached: &str| {
        format!(
            r#"{{
            "net": {{"type": "switch", "rate": "1 GB/s", "connects": ["node/host", "target"]}},
            "target": {{"type": "server", "attached": ["drive"]}},
            "drive": {{"type": "group", "copies": 4, "of": "nvme"}},
            "volume": {{"type": "array", "level": "raid0", "of": ["drive"], "stripe_unit": "4 KiB"{volume}}},
            "node": {{"type": "group", "copies": 2, "of": {{
                "host": {{"type": "server", "attached": [{attached}]}},
                "slow": {{"type": "limiter", "to": "volume", "operations": {{"rate": "9 /s"}}}}
            }}}}
        }}"#
        )
    };
    let uses = |volume: &str, attached: &str| -> Vec<String> {
        let graph = lowered(&system(volume, attached), &[]).unwrap();
        let slow = graph.ids().find(|id| graph.view(*id).path() == "node[1]/slow").unwrap();
        graph.view(slow).uses().map(|used| used.path().to_owned()).collect()
    };
    let first = |volume: &str, attached: &str| uses(volume, attached).swap_remove(0);
    assert_eq!(first(r#", "from": "target""#, r#""slow""#), "node[1]/host→volume");
    assert_eq!(first(r#", "from": "target""#, ""), "volume");
    assert_eq!(first("", r#""slow""#), "volume");
    assert_eq!(
        first(r#", "from": "target""#, r#""slow", "slow""#),
        "node[1]/host→volume",
        "it is named twice"
    );
    let both = r#"{
        "a": {"type": "server", "attached": ["slow"]}, "b": {"type": "server", "attached": ["slow"]},
        "net": {"type": "switch", "rate": "1 GB/s", "connects": ["a", "b", "nvme"]},
        "nvme": {"type": "station", "service": "1 ms", "capacity": "1 MB"},
        "slow": {"type": "limiter", "to": "nvme", "operations": {"rate": "9 /s"}}
    }"#;
    let wrong = lowered(both, &[]).unwrap_err();
    assert_eq!(
        wrong[0].message,
        "`slow` is attached to 2 servers, and `nvme` to none of them: nothing says which of them sends the requests"
    );
}
