//! Turns the vocabulary of `o200k_base` into the table that `src/aggregate/vocabulary.rs` reads, so that no process has
//! to build one before it can count tokens.

use std::path::PathBuf;
use std::{env, fs};

#[path = "src/aggregate/vocabulary_hash.rs"]
mod vocabulary_hash;

use vocabulary_hash::{SLOTS, first_slot};

#[expect(clippy::disallowed_methods, reason = "a build script reads its environment and writes files")]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/aggregate/vocabulary_hash.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    let library = tiktoken_rs::o200k_base().expect("the library's vocabulary is well-formed");
    let (mut bytes, mut ends, mut ranks) = (Vec::new(), Vec::new(), vec![0_u32; SLOTS]);
    // The ranks have no gap before the special tokens, which no text has.
    for token in (0..).map_while(|rank| library.decode_bytes(&[rank]).ok()) {
        bytes.extend_from_slice(&token);
        ends.push(u32::try_from(bytes.len()).expect("all tokens have less than 4 GiB"));
        let mut slot = first_slot(&token);
        while ranks[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        ranks[slot] = u32::try_from(ends.len()).expect("there are less than 2^32 tokens");
    }
    let encode = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    for (name, contents) in [("bytes", bytes), ("ends", encode(&ends)), ("ranks", encode(&ranks))] {
        fs::write(folder.join("vocabulary").with_extension(name), contents).expect("OUT_DIR is writable");
    }
}
