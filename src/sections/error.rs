//! Why a discussion or a list of issues cannot be read.

/// Why a file of discussion or of issues cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is not text.
    #[error("read line {line} as UTF-8")]
    NotUtf8 {
        /// The line, from 1, with the first byte that is wrong.
        line: usize,
    },
    /// It does not keep its syntax.
    #[error("read it as {syntax}: {why}")]
    Syntax {
        /// The syntax.
        syntax: &'static str,
        /// What its parser says, on one line.
        why: String,
    },
    /// It keeps none of the syntaxes that are known.
    #[error("read it as JSON, JSONL or TOML")]
    NoSyntax,
    /// There is no list of entries where one is looked for.
    #[error("find the entries: {wanted}")]
    NoEntries {
        /// Where they are looked for.
        wanted: &'static str,
    },
    /// An entry is not what an entry can be.
    #[error("read entry {entry}: {why}")]
    BadEntry {
        /// The entry, from 1; a line in JSONL.
        entry: usize,
        /// What is wrong with it.
        why: &'static str,
    },
    /// There is no take of that name.
    #[error("find the take `{name}` among {}", quoted_list(existing))]
    NoTake {
        /// The name.
        name: String,
        /// The names of those that there are.
        existing: Vec<String>,
    },
    /// There are several takes, and nothing says which is meant.
    #[error("choose one of the takes {}", quoted_list(existing))]
    ManyTakes {
        /// Their names.
        existing: Vec<String>,
    },
}

fn quoted_list(names: &[String]) -> String {
    /// A list that is longer helps nobody.
    const MOST: usize = 20;
    if names.is_empty() {
        return "none at all".to_owned();
    }
    let mut words: Vec<String> =
        names.iter().take(MOST).map(|name| format!("`{}`", name.escape_debug())).collect();
    if MOST < names.len() {
        words.push(format!("{} more", names.len() - MOST));
    }
    words.join(", ")
}
