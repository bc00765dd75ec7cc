//! scenario
pub mod catalog;
pub mod document;
pub mod plan;
pub mod run;
pub mod spec;
pub mod theory;
