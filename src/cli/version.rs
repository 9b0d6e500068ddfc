//! What `slop --version` prints about the build: the commit, the number of languages, and the target.

use crate::api::{LANGUAGE_COUNT, VERSION};

/// Returns the version, and the properties that distinguish this build.
pub(super) fn build_description() -> String {
    describe(VERSION, env!("COMMIT_OF_SLOP_BUILD"), LANGUAGE_COUNT, env!("TARGET_OF_SLOP_BUILD"))
}

/// Formats the description. `commit` is empty if it is unknown: in debug builds and source archives.
fn describe(version: &str, commit: &str, languages: usize, target: &str) -> String {
    let commit = if commit.is_empty() { String::new() } else { format!("{commit}, ") };
    format!("{version} ({commit}{languages} languages, {target})")
}

#[cfg(test)]
mod tests {
    use super::describe;

    #[test]
    fn a_build_names_its_commit_if_it_is_known() {
        let (commit, target) = ("5ffe273a1b2c 2026-11-22", "x86_64-unknown-linux-musl");
        assert_eq!(
            describe("0.1.0", commit, 29, target),
            "0.1.0 (5ffe273a1b2c 2026-11-22, 29 languages, x86_64-unknown-linux-musl)"
        );
        assert_eq!(describe("0.1.0", "", 3, target), "0.1.0 (3 languages, x86_64-unknown-linux-musl)");
    }
}
