//! Turns the vocabulary of `o200k_base` into the table that `src/aggregate/vocabulary.rs` reads, so that no process has
//! to build one before it can count tokens; and names the commit and the target for `slop --version`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Names the commit for those who build without git: Nix, a source archive. Written as in `slop --version`.
const COMMIT_VARIABLE: &str = "COMMIT_OF_SLOP";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={COMMIT_VARIABLE}");
    write_vocabulary();
    println!("cargo::rustc-env=TARGET_OF_SLOP_BUILD={}", variable("TARGET").expect("Cargo sets TARGET"));
    println!("cargo::rustc-env=COMMIT_OF_SLOP_BUILD={}", commit().unwrap_or_default());
}

#[expect(clippy::disallowed_methods, reason = "a build script reads its environment")]
fn variable(name: &str) -> Option<String> {
    env::var(name).ok()
}

/// Returns the abbreviated commit and its date, or only the commit where the date is not known.
fn commit() -> Option<String> {
    if let Some(named) = variable(COMMIT_VARIABLE) {
        return Some(named);
    }
    let package = PathBuf::from(variable("CARGO_MANIFEST_DIR")?);
    if package.join(".git").exists() { commit_of_checkout(&package) } else { commit_of_package(&package) }
}

/// Reads the commit from git, only for optimized programs: a debug build would be compiled again at each commit.
fn commit_of_checkout(package: &Path) -> Option<String> {
    if variable("PROFILE")? != "release" {
        return None;
    }
    let log = git(package, &["rev-parse", "--git-path", "logs/HEAD"])?;
    // Sources, because a change of them makes the checkout differ from its commit. Cargo would run this script each
    // time for a file that does not exist.
    for path in [log.as_str(), "src", "config", "migrations", "systemd", "Cargo.toml", "Cargo.lock"] {
        if package.join(path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(package, &["describe", "--always", "--dirty=-modified", "--abbrev=12", "--exclude=*"])?;
    let date = git(package, &["log", "-1", "--format=%cd", "--date=format-local:%Y-%m-%d"])?;
    Some(format!("{commit} {date}"))
}

/// Reads the commit that `cargo package` has recorded.
#[expect(clippy::disallowed_methods, reason = "a build script reads files")]
fn commit_of_package(package: &Path) -> Option<String> {
    let recorded = fs::read_to_string(package.join(".cargo_vcs_info.json")).ok()?;
    let (_, rest) = recorded.split_once("\"sha1\": \"")?;
    rest.get(..12).map(str::to_owned)
}

#[expect(clippy::disallowed_methods, reason = "a build script runs git")]
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(folder).env("TZ", "UTC").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    (output.status.success() && !text.trim().is_empty()).then(|| text.trim().to_owned())
}

/// Tokens that begin with the same two bytes: what follows, and their ranks.
type TokensByLength = BTreeMap<u8, Vec<(Vec<u8>, u32)>>;

#[expect(clippy::disallowed_methods, reason = "a build script reads its environment and writes files")]
fn write_vocabulary() {
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let library = tiktoken_rs::o200k_base().expect("the library's vocabulary is well-formed");
    let mut lists: BTreeMap<[u8; 2], TokensByLength> = BTreeMap::new();
    // The ranks have no gap before the special tokens, which no text has.
    for (rank, token) in (0_u32..).map_while(|rank| Some((rank, library.decode_bytes(&[rank]).ok()?))) {
        let length = u8::try_from(token.len()).expect("no token has more than 255 bytes");
        let beginning = [token[0], token.get(1).copied().unwrap_or(0)];
        let end = token.get(2..).unwrap_or_default().to_vec();
        lists.entry(beginning).or_default().entry(length).or_default().push((end, rank));
    }
    let (mut tokens, mut starts) = (Vec::new(), vec![0; 4]);
    for beginning in 0..=u16::MAX {
        for (length, mut list) in lists.remove(&beginning.to_be_bytes()).unwrap_or_default() {
            list.sort();
            tokens.push(length);
            tokens.extend(u16::try_from(list.len()).expect("there are fewer of one length").to_le_bytes());
            tokens.extend(list.iter().flat_map(|(end, _)| end));
            tokens.extend((0..3).flat_map(|byte| list.iter().map(move |(_, rank)| rank.to_le_bytes()[byte])));
        }
        starts.extend(u32::try_from(tokens.len()).expect("the tokens have 2 MB").to_le_bytes());
    }
    for (name, contents) in [("tokens", tokens), ("starts", starts)] {
        fs::write(folder.join("vocabulary").with_extension(name), contents).expect("OUT_DIR is writable");
    }
}
