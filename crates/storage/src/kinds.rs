//! The list of all kinds of components, and what is done alike with each.

/// Declares the modules of all components, what a user may write of a component, the plan of any of them, and any of them in a
/// simulation. A module's name is what its kind is called in documents and results. Dispatch is static: adding a component is its
/// file and one line of the list. A wing is a folder; in brackets stand its modules that are no component. Components behind a
/// semicolon no user writes: lowering makes them.
macro_rules! components {
    ($(
        $(#[$wing_doc:meta])* $wing:ident [$($helper:ident),*] {
            $($(#[$doc:meta])* $kind:ident = $module:ident::{$spec:ident, $plan:ident, $component:ident},)+
            $(; $($(#[$made_doc:meta])* $made:ident = $made_module:ident::{$made_plan:ident, $made_component:ident},)+)?
        }
    )+) => {
        $(
            $(#[$wing_doc])*
            pub mod $wing {
                $(pub mod $helper;)*
                $(pub mod $module;)+
                $($(pub mod $made_module;)+)?
            }
        )+

        /// A component, by its kind.
        #[allow(clippy::large_enum_variant, reason = "there is one for each component that a document writes")]
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum ComponentSpec {
            $($($(#[$doc])* $kind(crate::$wing::$module::$spec),)+)+
        }

        impl ComponentSpec {
            /// What it is called in documents and results.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $($(Self::$kind(_) => stringify!($module),)+)+
                }
            }

            /// Returns what is written of a component, if it is of the kind `S`.
            pub(crate) fn get<S>(&self) -> Option<&S>
            where
                S: Of<Self>,
            {
                S::of(self)
            }

            /// Returns the server in which the component stands; `None` if it stands by itself.
            pub(crate) fn host(&self) -> Option<&str> {
                match self {
                    $($(Self::$kind(spec) => spec.host(),)+)+
                }
            }

            pub(crate) fn lower(&self, at: &mut graph::Lowering) -> Option<Resolved<AnyPlan>> {
                match self {
                    $($(Self::$kind(spec) => {
                        let Resolved { plan, uses, capacity } = spec.lower(at)?;
                        Some(Resolved { plan: AnyPlan::$kind(std::sync::Arc::new(plan)), uses, capacity })
                    })+)+
                }
            }
        }

        /// The plan of a room of any kind; copies of one part share it.
        #[derive(Clone, Debug)]
        pub enum AnyPlan {
            $($($(#[$doc])* $kind(std::sync::Arc<crate::$wing::$module::$plan>),)+)+
            $($($($(#[$made_doc])* $made(std::sync::Arc<crate::$wing::$made_module::$made_plan>),)+)?)+
        }

        impl AnyPlan {
            /// What it is called in documents and results.
            pub const fn kind(&self) -> &'static str {
                match self {
                    $($(Self::$kind(_) => stringify!($module),)+)+
                    $($($(Self::$made(_) => stringify!($made_module),)+)?)+
                }
            }

            /// Returns the plan, if it is of the kind `P`.
            pub(crate) fn get<P>(&self) -> Option<&P>
            where
                P: Of<Self>,
            {
                P::of(self)
            }

            /// What can be known of it before time runs.
            pub fn theory(&self) -> &dyn Theory {
                match self {
                    $($(Self::$kind(plan) => &**plan,)+)+
                    $($($(Self::$made(plan) => &**plan,)+)?)+
                }
            }

            pub(crate) fn build<'m>(&'m self, context: &'m NodeContext<'m>, uses: &'m [Edge<'m>]) -> AnyComponent<'m> {
                match self {
                    $($(Self::$kind(plan) => AnyComponent::$kind(plan.build(context, uses)),)+)+
                    $($($(Self::$made(plan) => AnyComponent::$made(plan.build(context, uses)),)+)?)+
                }
            }
        }

        /// A component of any kind in a simulation.
        pub enum AnyComponent<'m> {
            $($($(#[$doc])* $kind(crate::$wing::$module::$component<'m>),)+)+
            $($($($(#[$made_doc])* $made(crate::$wing::$made_module::$made_component<'m>),)+)?)+
        }

        impl<'m> AnyComponent<'m> {
            /// Returns the component, if it is of the kind `C`.
            #[inline]
            pub(crate) fn get<C>(&'m self) -> Option<&'m C>
            where
                C: Of<Self>,
            {
                C::of(self)
            }

            /// What it records of itself.
            pub fn probe(&self) -> &dyn Probe {
                match self {
                    $($(Self::$kind(component) => component,)+)+
                    $($($(Self::$made(component) => component,)+)?)+
                }
            }

            /// Does what is asked at `context`, where it stands, and charges the time to `breakdown`. It counts as received when
            /// this is called, not when the future first runs: a run that ends in between has lost nothing.
            #[inline]
            pub(crate) fn serve<'s>(
                &'m self,
                context: &'m NodeContext<'m>,
                request: &'s Request<Block>,
                breakdown: &'s mut Breakdown,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                let failures = context.admit(request.work.bytes);
                let before = breakdown.legs().len();
                async move {
                    let Some(failures) = failures else { return breakdown.fail() };
                    match self {
                        $($(Self::$kind(component) => component.serve(request, breakdown).await,)+)+
                        $($($(Self::$made(component) => component.serve(request, breakdown).await,)+)?)+
                    }
                    context.end(failures, request, breakdown, before);
                }
            }

            /// Tells it that the component behind its `edge`-th edge fails, returns or is replaced.
            pub(crate) fn notice(&'m self, edge: usize, change: Change) {
                match self {
                    $($(Self::$kind(component) => component.notice(edge, change),)+)+
                    $($($(Self::$made(component) => component.notice(edge, change),)+)?)+
                }
            }

            /// Tells it that some component works again.
            pub(crate) fn recovered(&'m self) {
                match self {
                    $($(Self::$kind(component) => component.recovered(),)+)+
                    $($($(Self::$made(component) => component.recovered(),)+)?)+
                }
            }

            /// Has one of its pieces fail or return.
            pub(crate) fn change_piece(&'m self, piece: u32, change: Change) {
                match self {
                    $($(Self::$kind(component) => component.change_piece(piece, change),)+)+
                    $($($(Self::$made(component) => component.change_piece(piece, change),)+)?)+
                }
            }

            /// Has it do what it does by itself from the beginning of the run.
            pub(crate) fn begin(&'m self) {
                match self {
                    $($(Self::$kind(component) => component.begin(),)+)+
                    $($($(Self::$made(component) => component.begin(),)+)?)+
                }
            }

            /// Serves a request whose data crosses a way, received when this is called as by `serve`.
            pub(crate) fn serve_over<'s>(
                &'m self,
                context: &'m NodeContext<'m>,
                request: &'s Request<Block>,
                way: crate::block::array::BackendPath<'m>,
                disk: usize,
                breakdown: &'s mut Breakdown,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                let failures = context.admit(request.work.bytes);
                let before = breakdown.legs().len();
                async move {
                    let Some(failures) = failures else { return breakdown.fail() };
                    match self {
                        $($(Self::$kind(component) => component.serve_over(request, way, disk, breakdown).await,)+)+
                        $($($(Self::$made(component) => component.serve_over(request, way, disk, breakdown).await,)+)?)+
                    }
                    context.end(failures, request, breakdown, before);
                }
            }

            pub(crate) fn attach(&self, ports: u32) -> Option<u32> {
                match self {
                    $($(Self::$kind(component) => component.attach(ports),)+)+
                    $($($(Self::$made(component) => component.attach(ports),)+)?)+
                }
            }

            /// Carries one phase of a request, received when this is called as by `serve`.
            pub(crate) fn carry<'s>(
                &'m self,
                context: &'m NodeContext<'m>,
                request: &'s Request<PathTransfer>,
                breakdown: &'s mut Breakdown,
            ) -> impl Future<Output = headrace_units::Nanos> + use<'m, 's> {
                let failures = context.admit(request.work.data().bytes);
                let before = breakdown.legs().len();
                async move {
                    let Some(failures) = failures else {
                        breakdown.fail();
                        return breakdown.until();
                    };
                    let tail = match self {
                        $($(Self::$kind(component) => component.carry(request, breakdown).await,)+)+
                        $($($(Self::$made(component) => component.carry(request, breakdown).await,)+)?)+
                    };
                    context.end(failures, &request.with(request.work.data()), breakdown, before);
                    tail
                }
            }

            /// Does what is asked of a file, received when this is called as by `serve`.
            pub(crate) fn handle<'s>(
                &'m self,
                context: &'m NodeContext<'m>,
                request: &'s Request<FileOp>,
                breakdown: &'s mut Breakdown,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                context.receive(request.work.data().bytes);
                let before = breakdown.legs().len();
                async move {
                    match self {
                        $($(Self::$kind(component) => component.handle(request, breakdown).await,)+)+
                        $($($(Self::$made(component) => component.handle(request, breakdown).await,)+)?)+
                    }
                    if !breakdown.has_failed() {
                        context.answer(&request.with(request.work.data()), breakdown, before);
                    }
                }
            }

            /// Takes an event, received when this is called as by `serve`.
            pub(crate) fn take_event<'s>(
                &'m self,
                context: &'m NodeContext<'m>,
                request: &'s mut Request<DaqEvent>,
                breakdown: &'s mut Breakdown,
            ) -> impl Future<Output = ()> + use<'m, 's> {
                context.receive(request.work.bytes);
                let before = breakdown.legs().len();
                async move {
                    match self {
                        $($(Self::$kind(component) => component.take_event(request, breakdown).await,)+)+
                        $($($(Self::$made(component) => component.take_event(request, breakdown).await,)+)?)+
                    }
                    if !breakdown.has_failed() {
                        context.answer(&request.with(request.work.data()), breakdown, before);
                    }
                }
            }

            pub(crate) fn begin_with(&self, file: &FileOp) {
                match self {
                    $($(Self::$kind(component) => component.begin_with(file),)+)+
                        $($($(Self::$made(component) => component.begin_with(file),)+)?)+
                }
            }

            #[inline]
            pub(crate) fn answer_all_in_order(&'m self, requests: &mut [(Request<Block>, Breakdown)]) {
                match self {
                    $($(Self::$kind(component) => component.pass_all(requests),)+)+
                    $($($(Self::$made(component) => component.pass_all(requests),)+)?)+
                }
            }

            #[inline]
            pub(crate) fn answer_in_order(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
                match self {
                    $($(Self::$kind(component) => component.pass(request, breakdown),)+)+
                    $($($(Self::$made(component) => component.pass(request, breakdown),)+)?)+
                }
            }
        }

        $($(
            impl Of<ComponentSpec> for crate::$wing::$module::$spec {
                fn of(any: &ComponentSpec) -> Option<&Self> {
                    match any {
                        ComponentSpec::$kind(spec) => Some(spec),
                        _ => None,
                    }
                }
            }
            kinds::of_kind!($kind, $wing::$module::{$plan, $component});
        )+)+
        $($($(kinds::of_kind!($made, $wing::$made_module::{$made_plan, $made_component});)+)?)+
    };
}

/// Lets a plan and a component of a kind be found again in those of any kind.
macro_rules! of_kind {
    ($kind:ident, $wing:ident::$module:ident::{$plan:ident, $component:ident}) => {
        impl Of<AnyPlan> for crate::$wing::$module::$plan {
            fn of(any: &AnyPlan) -> Option<&Self> {
                match any {
                    AnyPlan::$kind(plan) => Some(plan),
                    _ => None,
                }
            }
        }

        impl<'m> Of<AnyComponent<'m>> for crate::$wing::$module::$component<'m> {
            #[inline]
            fn of<'a>(any: &'a AnyComponent<'m>) -> Option<&'a Self> {
                match any {
                    AnyComponent::$kind(component) => Some(component),
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use {components, of_kind};
