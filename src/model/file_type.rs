//! What kind of file a name stands for.

/// What a reader does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileRole {
    /// A program reads it and does what it says.
    Code,
    /// A person reads it.
    Prose,
    /// A program is set up by it: keys and values.
    Config(ConfigSyntax),
    /// A program wrote it, or reads rows from it.
    Data,
}

/// How a configuration file spells its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConfigSyntax {
    /// Nested tables under `[headers]`.
    Toml,
    /// One JSON value.
    Json,
    /// Keys nested by their indent.
    Yaml,
    /// `key = value` under `[sections]`.
    Ini,
    /// `KEY=value`, one a line.
    Env,
}

/// A type of file: a row of the table that `discover` keeps.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct FileType {
    /// Stable name, as in settings, keys and reports: `python`.
    pub id: &'static str,
    /// Name for people: `Python`.
    pub name: &'static str,
    /// Word after the fence of a code block: `python`; empty for plain text.
    pub fence: &'static str,
    /// What a reader does with it.
    pub role: FileRole,
}

/// What the text of a C-like header says about its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HeaderDialect {
    /// Nothing: it would be read alike as C and as C++, or it is no header.
    Neutral,
    /// It holds what only C++ has.
    Cpp,
}
