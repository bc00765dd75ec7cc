//! What theory may know of a controller.

use super::ControllerSpec;
use crate::graph::View;
use crate::room::Known;
use headrace_units::Bytes;

/// Its arrays send commands at instants of their own, so no formula applies to what its processors and bus see.
impl Known for ControllerSpec {
    fn memory(&self) -> Option<Bytes> {
        self.memory
    }

    fn addressed(&self, _: View) -> bool {
        false
    }
}
