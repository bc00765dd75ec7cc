//! The neighbours of a switch, checked where it is lowered.

use super::ways::{Socket, WiresListed};
use crate::ComponentSpec;
use crate::core::graph::Lowering;
use crate::fabric::switch::Connection;

impl Lowering<'_> {
    /// The ports of the switch that is being lowered; none where it is a part, which nobody can connect to.
    pub(crate) fn sockets(&mut self) -> Option<Vec<Socket>> {
        let found = self.fabric().sockets(self.path()).cloned();
        match found {
            Some(sockets) => Some(sockets),
            None => self.refuse("type", "a switch belongs in `system`: a part has no neighbours", None),
        }
    }

    /// Checks that what a switch connects is there, and is something that has a port.
    pub(crate) fn neighbours(&mut self, field: &str, to: &Connection) -> Option<()> {
        let name = to.name();
        if self.named_in_system(name).is_some() {
            let all = self.paths(name);
            return all.iter().map(|path| self.neighbour(field, path)).collect();
        }
        self.no_such_component(field, name)
    }

    fn neighbour(&mut self, field: &str, name: &str) -> Option<()> {
        let (own, spec) = (self.path().to_owned(), self.named_in_system(name)?);
        match spec {
            _ if name == own => self.refuse(field, format!("`{own}` connects to itself"), None),
            ComponentSpec::Link(_)
            | ComponentSpec::FcLoop(_)
            | ComponentSpec::ScsiBus(_)
            | ComponentSpec::Sas(_) => {
                let message = format!("`{name}` is a {}, which a switch cannot connect", spec.kind());
                self.refuse(field, message, Some("a switch connects servers, storage and other switches"))
            }
            ComponentSpec::Switch(_) => {
                let listed = self.once(WiresListed::of);
                let (here, there) = (listed.between(&own, name), listed.between(name, &own));
                let message =
                    format!("`{own}` lists {here} wires to `{name}`, which lists {there} to `{own}`");
                let differs = there > 0 && here != there;
                if differs {
                    self.refuse(field, message, Some("list them at one of the two"))
                } else {
                    Some(())
                }
            }
            _ => Some(()),
        }
    }
}
