//! What was asked in words is answered: the settings are read, what is left open is decided by them, a session answers.
//!
//! Knows: settings, presets, personas, and what an ask means by them. Does not know: who asks, and whether a daemon
//! runs.
