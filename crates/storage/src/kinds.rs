//! The list of all kinds of rooms, and what is done alike with each.

/// Declares the modules of all rooms, what a user may write of a component, the plan of any of them, and any of them in a
/// simulation. A module's name is what its kind is called in documents and results. Dispatch is static: adding a room is its
/// file and one line of the list. Rooms behind the semicolon no user writes: lowering makes them.
macro_rules! rooms {
    (
        $($(#[$doc:meta])* $kind:ident = $module:ident::{$spec:ident, $plan:ident, $room:ident},)+
        ;
        $($(#[$made_doc:meta])* $made:ident = $made_module:ident::{$made_plan:ident, $made_room:ident},)+
    ) => {
        $(pub mod $module;)+
        $(pub mod $made_module;)+

        /// A component, by its kind.
        #[allow(clippy::large_enum_variant, reason = "there is one for each component that a document writes")]
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum ComponentSpec {
            $($(#[$doc])* $kind($module::$spec),)+
        }

        impl ComponentSpec {
            /// What it is called in documents and results.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($module),)+
                }
            }

            pub(crate) fn lower(&self, at: &mut graph::Lowering) -> Option<Lowered<AnyPlan>> {
                match self {
                    $(Self::$kind(spec) => {
                        let Lowered { plan, uses, capacity } = spec.lower(at)?;
                        Some(Lowered { plan: AnyPlan::$kind(std::sync::Arc::new(plan)), uses, capacity })
                    })+
                }
            }
        }

        /// The plan of a room of any kind; copies of one part share it.
        #[derive(Clone, Debug)]
        pub enum AnyPlan {
            $($(#[$doc])* $kind(std::sync::Arc<$module::$plan>),)+
            $($(#[$made_doc])* $made(std::sync::Arc<$made_module::$made_plan>),)+
        }

        impl AnyPlan {
            /// What it is called in documents and results.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => stringify!($module),)+
                    $(Self::$made(_) => stringify!($made_module),)+
                }
            }

            /// What can be known of it before time runs.
            pub fn known(&self) -> &dyn Known {
                match self {
                    $(Self::$kind(plan) => &**plan,)+
                    $(Self::$made(plan) => &**plan,)+
                }
            }

            pub(crate) fn build<'m>(&'m self, place: &'m Place<'m>, uses: &'m [Edge<'m>]) -> Component<'m> {
                match self {
                    $(Self::$kind(plan) => Component::$kind(plan.build(place, uses)),)+
                    $(Self::$made(plan) => Component::$made(plan.build(place, uses)),)+
                }
            }
        }

        /// A room of any kind in a simulation.
        pub enum Component<'m> {
            $($(#[$doc])* $kind($module::$room<'m>),)+
            $($(#[$made_doc])* $made($made_module::$made_room<'m>),)+
        }

        impl<'m> Component<'m> {
            /// What it records of itself.
            pub fn metered(&self) -> &dyn Metered {
                match self {
                    $(Self::$kind(room) => room,)+
                    $(Self::$made(room) => room,)+
                }
            }

            /// Does what is asked at `place`, where it stands, and charges the time to `spent`. It counts as received when
            /// this is called, not when the future first runs: a run that ends in between has lost nothing.
            #[inline]
            pub(crate) fn serve<'s>(
                &'m self,
                place: &'m Place<'m>,
                ask: &'s Ask<Block>,
                spent: &'s mut Spent,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                let failures = place.admit(ask.work.bytes);
                let before = spent.legs().len();
                async move {
                    let Some(failures) = failures else { return spent.fail() };
                    match self {
                        $(Self::$kind(room) => room.serve(ask, spent).await,)+
                        $(Self::$made(room) => room.serve(ask, spent).await,)+
                    }
                    place.end(failures, ask, spent, before);
                }
            }

            /// Tells it that the component behind its `edge`-th edge fails, returns or is replaced.
            pub(crate) fn notice(&'m self, edge: usize, change: Change) {
                match self {
                    $(Self::$kind(room) => room.notice(edge, change),)+
                    $(Self::$made(room) => room.notice(edge, change),)+
                }
            }

            /// Tells it that some component works again.
            pub(crate) fn recovered(&self) {
                match self {
                    $(Self::$kind(room) => room.recovered(),)+
                    $(Self::$made(room) => room.recovered(),)+
                }
            }

            /// Has one of its pieces fail or return.
            pub(crate) fn change_piece(&'m self, piece: u32, change: Change) {
                match self {
                    $(Self::$kind(room) => room.change_piece(piece, change),)+
                    $(Self::$made(room) => room.change_piece(piece, change),)+
                }
            }

            /// Has it do what it does by itself from the beginning of the run.
            pub(crate) fn begin(&'m self) {
                match self {
                    $(Self::$kind(room) => room.begin(),)+
                    $(Self::$made(room) => room.begin(),)+
                }
            }

            /// Serves a request whose data crosses a way, received when this is called as by `serve`.
            pub(crate) fn serve_over<'s>(
                &'m self,
                place: &'m Place<'m>,
                ask: &'s Ask<Block>,
                way: array::Way<'m>,
                disk: usize,
                spent: &'s mut Spent,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                let failures = place.admit(ask.work.bytes);
                let before = spent.legs().len();
                async move {
                    let Some(failures) = failures else { return spent.fail() };
                    match self {
                        $(Self::$kind(room) => room.serve_over(ask, way, disk, spent).await,)+
                        $(Self::$made(room) => room.serve_over(ask, way, disk, spent).await,)+
                    }
                    place.end(failures, ask, spent, before);
                }
            }

            pub(crate) fn attach(&self, ports: u32) -> Option<u32> {
                match self {
                    $(Self::$kind(room) => room.attach(ports),)+
                    $(Self::$made(room) => room.attach(ports),)+
                }
            }

            /// Carries one phase of a request, received when this is called as by `serve`.
            pub(crate) fn carry<'s>(
                &'m self,
                place: &'m Place<'m>,
                ask: &'s Ask<Crossing>,
                spent: &'s mut Spent,
            ) -> impl Future<Output = headrace_units::Nanos> + use<'m, 's> {
                let failures = place.admit(ask.work.data().bytes);
                let before = spent.legs().len();
                async move {
                    let Some(failures) = failures else {
                        spent.fail();
                        return spent.until();
                    };
                    let tail = match self {
                        $(Self::$kind(room) => room.carry(ask, spent).await,)+
                        $(Self::$made(room) => room.carry(ask, spent).await,)+
                    };
                    place.end(failures, &ask.with(ask.work.data()), spent, before);
                    tail
                }
            }

            /// Does what is asked of a file, received when this is called as by `serve`.
            pub(crate) fn handle<'s>(
                &'m self,
                place: &'m Place<'m>,
                ask: &'s Ask<FileOp>,
                spent: &'s mut Spent,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                place.receive(ask.work.data().bytes);
                let before = spent.legs().len();
                async move {
                    match self {
                        $(Self::$kind(room) => room.handle(ask, spent).await,)+
                        $(Self::$made(room) => room.handle(ask, spent).await,)+
                    }
                    if !spent.has_failed() {
                        place.answer(&ask.with(ask.work.data()), spent, before);
                    }
                }
            }

            /// Takes an event, received when this is called as by `serve`.
            pub(crate) fn take_event<'s>(
                &'m self,
                place: &'m Place<'m>,
                ask: &'s mut Ask<DaqEvent>,
                spent: &'s mut Spent,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                place.receive(ask.work.bytes);
                let before = spent.legs().len();
                async move {
                    match self {
                        $(Self::$kind(room) => room.take_event(ask, spent).await,)+
                        $(Self::$made(room) => room.take_event(ask, spent).await,)+
                    }
                    if !spent.has_failed() {
                        place.answer(&ask.with(ask.work.data()), spent, before);
                    }
                }
            }

            pub(crate) fn begin_with(&self, file: &FileOp) {
                match self {
                    $(Self::$kind(room) => room.begin_with(file),)+
                        $(Self::$made(room) => room.begin_with(file),)+
                }
            }

            #[inline]
            pub(crate) fn answer_all_in_order(&'m self, requests: &mut [(Ask<Block>, Spent)]) {
                match self {
                    $(Self::$kind(room) => room.pass_all(requests),)+
                    $(Self::$made(room) => room.pass_all(requests),)+
                }
            }

            #[inline]
            pub(crate) fn answer_in_order(&'m self, ask: &Ask<Block>, spent: &mut Spent) {
                match self {
                    $(Self::$kind(room) => room.pass(ask, spent),)+
                    $(Self::$made(room) => room.pass(ask, spent),)+
                }
            }
        }
    };
}

pub(crate) use rooms;
