//! The events at which agents run slop.

/// An event in an agent's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookEvent {
    /// A session begins.
    SessionStart,
    /// A file is about to be read or edited.
    Read,
    /// The conversation so far was replaced by a summary.
    Compacted,
}

impl HookEvent {
    pub const ALL: [Self; 3] = [Self::SessionStart, Self::Read, Self::Compacted];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::Read => "read",
            Self::Compacted => "compacted",
        }
    }
}
