//! No event is lost uncounted: events that came to a component of a data acquisition = gone on + lost there + held there.

use headrace_storage::EventBooks;
use headrace_work::NodeId;

use super::Evidence;

pub fn broken(evidence: &Evidence) -> Vec<String> {
    let nodes = evidence.graph.nodes.iter().enumerate();
    let found = nodes.filter_map(|(at, node)| {
        let books = evidence.arena.component(NodeId(at as u32)).events()?;
        wrong(&books).map(|what| format!("{}: {what}", node.path))
    });
    found.collect()
}

/// What is wrong with the books of a component.
fn wrong(books: &EventBooks) -> Option<String> {
    let EventBooks { came, gone, lost, held } = *books;
    (came != gone + lost + held)
        .then(|| format!("{came} events came; {gone} went on, {lost} were lost and {held} are there"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_vanishes_or_is_held_twice_is_told() {
        let books = EventBooks { came: 10, gone: 7, lost: 1, held: 2 };
        assert_eq!(wrong(&books), None);
        assert!(wrong(&EventBooks { gone: 6, ..books }).unwrap().contains("6 went on"));
        assert!(wrong(&EventBooks { held: 3, ..books }).unwrap().contains("3 are there"));
    }
}
