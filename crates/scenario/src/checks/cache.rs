//! What was written to a cache is on the disks or still there, and all of a cache's room is either taken or free.

use headrace_storage::Balance;
use headrace_work::NodeId;

use super::Evidence;

pub fn broken(evidence: &Evidence) -> Vec<String> {
    let nodes = evidence.graph.nodes.iter().enumerate();
    let found = nodes.filter_map(|(at, node)| {
        let balance = evidence.arena.component(NodeId(at as u32)).balance()?;
        wrong(&balance).map(|what| format!("{}: {what}", node.path))
    });
    found.collect()
}

/// What is wrong with a balance.
fn wrong(balance: &Balance) -> Option<String> {
    let Balance { taken_in, destaged, dirty, used, free, size } = *balance;
    if taken_in != destaged + dirty {
        return Some(format!(
            "{taken_in} B were written to its cache; {destaged} B left it and {dirty} B are there"
        ));
    }
    (used + free != size).then(|| format!("{used} B of its cache are taken and {free} B free, of {size} B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_is_lost_or_held_twice_is_told() {
        let balance = Balance { taken_in: 10, destaged: 7, dirty: 3, used: 5, free: 95, size: 100 };
        assert_eq!(wrong(&balance), None);
        assert!(
            wrong(&Balance { destaged: 6, ..balance }).unwrap().contains("6 B left it and 3 B are there")
        );
        assert!(wrong(&Balance { used: 6, ..balance }).unwrap().contains("6 B of its cache are taken"));
    }
}
