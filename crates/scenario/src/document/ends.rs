//! Paths that were given by their last names alone: `poisson` for `workload.users.arrivals.poisson`.

use super::path::{Path, PathStep};
use super::problem::Problem;
use super::tree::{Tree, Value, ValueNode};

/// Maximum number of paths that are proposed.
const MOST: usize = 3;

/// Names the whole paths that may have been meant where a field was set at the top that belongs further down.
pub fn complete(tree: &Tree, problems: &mut [Problem]) {
    for problem in problems.iter_mut().filter(|problem| problem.span.is_none()) {
        let [PathStep::Key(name)] = problem.path.0.as_slice() else { continue };
        let mut found = Vec::new();
        below(&tree.root, &Path::default(), &mut |path| {
            if path.0.len() > 1 && path.0.last() == Some(&PathStep::Key(name.clone())) {
                found.push(format!("`{path}`"));
            }
        });
        if !found.is_empty() {
            found.truncate(MOST);
            problem.help = Some(format!("write the whole path: {}", found.join(" or ")));
        }
    }
}

/// Calls `each` with the path of every field of the document that was written in it.
fn below(node: &ValueNode, path: &Path, each: &mut impl FnMut(&Path)) {
    let Value::Map(entries) = &node.value else { return };
    for (key, child) in entries.iter().filter(|(key, _)| key.span.is_some()) {
        let path = path.key(&key.name);
        each(&path);
        below(child, &path, each);
    }
}
