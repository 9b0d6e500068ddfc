//! Left running in a project: one instance, one event loop, scheduling, lifecycle.
//!
//! Knows: when to look, whom to ask, when to stop. Does not know: how anything is derived, how a request looks on the
//! wire.
