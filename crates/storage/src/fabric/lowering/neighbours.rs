//! The neighbours of a switch, checked where it is lowered.

use super::ways::{Socket, lists};
use crate::ComponentSpec;
use crate::core::graph::Lowering;
use crate::fabric::switch::{Connection, SwitchSpec};

impl Lowering<'_> {
    /// The ports of the switch that is being lowered; none where it is a part, which nobody can connect to.
    pub(crate) fn sockets(&mut self) -> Option<Vec<Socket>> {
        let found = self.fabric().sockets(self.path()).cloned();
        match found {
            Some(sockets) => Some(sockets),
            None => self.refuse("type", "a switch belongs in `system`: a part has no neighbours", None),
        }
    }

    /// Checks that a neighbour of a switch is there, and is something that has a port.
    pub(crate) fn neighbour(&mut self, field: &str, to: &Connection) -> Option<()> {
        let (name, own) = (to.name(), self.path().to_owned());
        let Some(spec) = self.named_in_system(name) else {
            if self.is_part(name) {
                let message = format!("`{name}` is a part, which exists only as a copy in an array");
                return self.refuse(field, message, Some("write it under `system:`"));
            }
            let known = self.names().filter(|other| **other != own).cloned().collect();
            return self.unknown(field, format!("there is no component `{name}` in `system`"), name, known);
        };
        match spec {
            _ if name == own => self.refuse(field, format!("`{own}` connects to itself"), None),
            ComponentSpec::Link(_)
            | ComponentSpec::FcLoop(_)
            | ComponentSpec::ScsiBus(_)
            | ComponentSpec::Sas(_) => {
                let message = format!("`{name}` is a {}, which a switch cannot connect", spec.kind());
                self.refuse(field, message, Some("a switch connects servers, storage and other switches"))
            }
            ComponentSpec::Switch(other) => {
                let (here, there) = (self.listed(&own, name), lists(other, &own));
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

    fn listed(&self, switch: &str, name: &str) -> u32 {
        let found = self.named_in_system(switch).and_then(|spec| spec.get::<SwitchSpec>());
        found.map_or(0, |switch| lists(switch, name))
    }
}
