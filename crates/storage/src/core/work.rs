//! Work: what a component can be asked to do.

use headrace_work::{Block, Breakdown, Request};

use crate::AnyComponent;

/// A kind of work, as the list of kinds names it.
pub trait Listed {
    /// Its name in the list.
    const TOKEN: &'static str;
    /// Its name in messages, in the plural.
    const NAME: &'static str;
}

/// A kind of work.
pub trait Work<'m>: Listed + Sized {
    /// Value returned besides the breakdown.
    type Reply;

    /// Returns the data that goes along: it is counted on its way.
    fn data(&self) -> Block;

    /// Returns the data that is counted when the work is done; by default that which came.
    #[inline]
    fn done(&self, reply: &Self::Reply) -> Block {
        _ = reply;
        self.data()
    }

    /// Returns the reply of a component that is down: its breakdown has failed.
    fn failed(breakdown: &Breakdown) -> Self::Reply;

    /// Does the work at a component whose line in the list does not have it. By default it fails there, as at a component that is down;
    /// lowering refuses such a system before.
    fn elsewhere(
        component: &'m AnyComponent<'m>,
        request: &Request<Self>,
        breakdown: &mut Breakdown,
    ) -> impl Future<Output = Self::Reply> {
        _ = (component, request);
        breakdown.fail();
        std::future::ready(Self::failed(breakdown))
    }
}

/// A component that does work of one kind.
pub trait Serve<'m, W: Work<'m>> {
    /// Does the work, in virtual time, and charges all of it to `breakdown`.
    fn serve(&'m self, request: &Request<W>, breakdown: &mut Breakdown) -> impl Future<Output = W::Reply>;
}

impl Work<'_> for Block {
    type Reply = ();

    #[inline]
    fn data(&self) -> Block {
        *self
    }

    fn failed(_: &Breakdown) {}
}
