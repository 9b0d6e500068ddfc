//! A world for tests.
