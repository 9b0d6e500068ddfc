//! `slop` keeps, for every file of a project, what a language model needs to know of it.
//!
//! ARCHITECTURE.md draws the floor plan; each room's `mod.rs` says what the room is for.

pub mod agent;
pub mod aggregate;
pub mod api;
pub mod cli;
pub mod config;
pub mod daemon;
pub mod discover;
pub mod engine;
pub mod llm;
pub mod model;
pub mod render;
pub mod sections;
pub mod service;
pub mod slices;
pub mod store;
pub mod summarize;
pub mod syntax;
pub mod sys;
pub mod watch;
