//! The list of all kinds of components, and what is done alike with each.

/// Declares kinds of work and kinds of components. Dispatch is static: a new component is its file and one line of the list, a new
/// kind of work its file and one line. The first token is a `$`, with which a macro is declared that picks by kind of work.
macro_rules! components {
    ($d:tt works { $($work:ident($noun:literal) = $type:ty,)+ } kinds $kinds:tt) => {
        kinds::among_of!($d InOrder $($work)+);
        kinds::declare!($kinds);
        $(kinds::work!($work($noun) = $type, $kinds);)+
    };
}

/// Declares `among!`, which expands to its first group if a kind of work is in a list, and to its second if not.
macro_rules! among_of {
    ($d:tt $($work:ident)+) => {
        macro_rules! among {
            $(($work in [$work $d($d more:ident)*] {$d($d yes:tt)*} $d no:tt) => { $d($d yes)* };)+
            ($d work:ident in [$d other:ident $d($d more:ident)*] $d yes:tt $d no:tt) => {
                among!($d work in [$d($d more)*] $d yes $d no)
            };
            ($d work:ident in [] $d yes:tt {$d($d no:tt)*}) => { $d($d no)* };
        }
    };
}

/// Lets components serve one kind of work: those of the list that name it, and others by [`Work::elsewhere`].
macro_rules! work {
    ($serves:ident($noun:literal) = $type:ty, {$(
        $(#[$wing_doc:meta])* $wing:ident [$($helper:ident),*] {
            $($(#[$doc:meta])* $kind:ident [$($work:ident)*] = $module:ident::{$spec:ident, $plan:ident, $component:ident},)+
            $(; $($(#[$made_doc:meta])* $made:ident [$($made_work:ident)*] = $made_module:ident::{$made_plan:ident, $made_component:ident},)+)?
        }
    )+}) => {
        impl<'m> Listed for $type {
            const TOKEN: &'static str = stringify!($serves);
            const NAME: &'static str = $noun;
        }

        impl<'m> Serve<'m, $type> for AnyComponent<'m> {
            #[inline]
            async fn serve(
                &'m self,
                request: &Request<$type>,
                breakdown: &mut Breakdown,
            ) -> <$type as Work<'m>>::Reply {
                match self {
                    $($(Self::$kind(_component) => among!($serves in [$($work)*]
                        { _component.serve(request, breakdown).await }
                        { <$type>::elsewhere(self, request, breakdown).await }
                    ),)+)+
                    $($($(Self::$made(_component) => among!($serves in [$($made_work)*]
                        { _component.serve(request, breakdown).await }
                        { <$type>::elsewhere(self, request, breakdown).await }
                    ),)+)?)+
                }
            }
        }
    };
}

/// Declares the modules of all components, what a user may write of a component, the plan of any of them, and any of them in a
/// simulation. A module's name is what its kind is called in documents and results. A wing is a folder; in brackets stand its
/// modules that are no component. Behind a kind stand the kinds of work that it serves. Components behind a semicolon no user writes:
/// lowering makes them.
macro_rules! declare {
    ({$(
        $(#[$wing_doc:meta])* $wing:ident [$($helper:ident),*] {
            $($(#[$doc:meta])* $kind:ident [$($work:ident)*] = $module:ident::{$spec:ident, $plan:ident, $component:ident},)+
            $(; $($(#[$made_doc:meta])* $made:ident [$($made_work:ident)*] = $made_module:ident::{$made_plan:ident, $made_component:ident},)+)?
        }
    )+}) => {
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
            /// Returns its name in documents and results.
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

            /// Returns true if such a component serves work of the kind `W`.
            pub(crate) fn serves<W: Listed>(&self) -> bool {
                let works: &[&str] = match self {
                    $($(Self::$kind(_) => &[$(stringify!($work)),*],)+)+
                };
                works.contains(&W::TOKEN)
            }

            /// Returns the kinds that serve work of the kind `W`.
            pub(crate) fn serving<W: Listed>() -> Vec<&'static str> {
                let all: &[(&str, &[&str])] =
                    &[$($((stringify!($module), &[$(stringify!($work)),*]),)+)+];
                let serving = all.iter().filter(|(_, works)| works.contains(&W::TOKEN));
                serving.map(|(kind, _)| *kind).collect()
            }

            pub(crate) fn lower(&self, at: &mut graph::Lowering) -> Option<AnyPlan> {
                match self {
                    $($(Self::$kind(spec) => Some(AnyPlan::$kind(std::sync::Arc::new(spec.lower(at)?))),)+)+
                }
            }
        }

        /// The plan of a component of any kind; copies of one part share it.
        #[derive(Clone, Debug)]
        pub enum AnyPlan {
            $($($(#[$doc])* $kind(std::sync::Arc<crate::$wing::$module::$plan>),)+)+
            $($($($(#[$made_doc])* $made(std::sync::Arc<crate::$wing::$made_module::$made_plan>),)+)?)+
        }

        impl AnyPlan {
            /// Returns its name in documents and results.
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

            /// Returns true if the component serves work of the kind `W`.
            pub(crate) fn serves<W: Listed>(&self) -> bool {
                let works: &[&str] = match self {
                    $($(Self::$kind(_) => &[$(stringify!($work)),*],)+)+
                    $($($(Self::$made(_) => &[$(stringify!($made_work)),*],)+)?)+
                };
                works.contains(&W::TOKEN)
            }

            /// Its formulas and features.
            pub fn theory(&self) -> &dyn Theory {
                match self {
                    $($(Self::$kind(plan) => &**plan,)+)+
                    $($($(Self::$made(plan) => &**plan,)+)?)+
                }
            }

            pub(crate) fn build<'m>(&'m self, context: &'m NodeContext<'m>) -> AnyComponent<'m> {
                match self {
                    $($(Self::$kind(plan) => AnyComponent::$kind(plan.build(context)),)+)+
                    $($($(Self::$made(plan) => AnyComponent::$made(plan.build(context)),)+)?)+
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
        }

        impl<'m> std::ops::Deref for AnyComponent<'m> {
            type Target = dyn Component<'m> + 'm;

            fn deref(&self) -> &Self::Target {
                match self {
                    $($(Self::$kind(component) => component,)+)+
                    $($($(Self::$made(component) => component,)+)?)+
                }
            }
        }

        impl<'m> AnyComponent<'m> {
            /// Serves a request without events. One that comes to a kind which may answer out of order fails.
            #[inline]
            pub(crate) fn pass(&'m self, request: &Request<Block>, breakdown: &mut Breakdown) {
                match self {
                    $($(Self::$kind(_component) => among!(InOrder in [$($work)*] { _component.pass(request, breakdown) } { breakdown.fail() }),)+)+
                    $($($(Self::$made(_component) => among!(InOrder in [$($made_work)*] { _component.pass(request, breakdown) } { breakdown.fail() }),)+)?)+
                }
            }

            /// Serves several requests without events, in the order of time.
            #[inline]
            pub(crate) fn pass_all(&'m self, requests: &mut [(Request<Block>, Breakdown)]) {
                match self {
                    $($(Self::$kind(_component) => among!(InOrder in [$($work)*] { _component.pass_all(requests) } { requests.iter_mut().for_each(|(_, breakdown)| breakdown.fail()) }),)+)+
                    $($($(Self::$made(_component) => among!(InOrder in [$($made_work)*] { _component.pass_all(requests) } { requests.iter_mut().for_each(|(_, breakdown)| breakdown.fail()) }),)+)?)+
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

pub(crate) use {among_of, components, declare, of_kind, work};
