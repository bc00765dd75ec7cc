//! The way between an array and its disks.

use headrace_work::{Ask, Block, Spent};

use crate::crossing::{Crossing, Phase};
use crate::place::Edge;

/// What the array sends its requests and data by.
#[derive(Clone, Copy)]
pub(super) struct Path<'m> {
    edge: &'m Edge<'m>,
    /// The port of the array's controller; those of its disks follow. None on a link, which carries data alone.
    controller: Option<u32>,
}

impl<'m> Path<'m> {
    /// Connects an array with so many disks to what `edge` leads to.
    pub fn of(edge: &'m Edge<'m>, disks: usize) -> Self {
        Self { edge, controller: edge.attach(1 + disks as u32) }
    }

    /// Whether it works.
    pub fn is_up(self) -> bool {
        self.edge.is_up()
    }

    /// How often it failed.
    pub fn failures(self) -> u32 {
        self.edge.failures()
    }

    /// Carries one phase of what a disk is asked.
    pub async fn cross(self, phase: Phase, disk: usize, ask: &Ask<Block>, spent: &mut Spent) {
        match self.controller {
            Some(controller) => {
                let disk = controller + 1 + disk as u32;
                let crossing = Crossing { request: ask.work, phase, controller, disk };
                self.edge.carry(&ask.with(crossing), spent).await;
            }
            None if phase.has_data(ask.work.op) => self.edge.serve(ask, spent).await,
            None => {}
        }
    }
}
