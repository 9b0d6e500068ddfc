//! Recognizes files that were generated from other files of the project, such as the single header of a library or a
//! bundle, by the functions that they share with those.
//!
//! Edits belong in the parts. But an amalgamation matches each task at least as well as its parts, and would fill a
//! document.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::search::chunks::{Chunk, ChunkKind, FileChunks};

/// The minimum number of parts of an amalgamation. If only two files share their functions, either may be the copy.
const MIN_PARTS: usize = 2;
/// A shorter function may be the same in two files by chance.
const MIN_BYTES: usize = 40;
/// The minimum percentage of a part's functions that are in the other file, by bytes.
const PERCENT_OF_PART: usize = 80;
/// The minimum percentage of an amalgamation that its parts cover, by the bytes of functions. Not all parts need to be
/// among the compared files.
const PERCENT_OF_WHOLE: usize = 20;

/// The functions of a file: the hash of each text, with its size in bytes.
pub type FunctionSizes = FxHashMap<u64, usize>;

/// Returns the positions of the files that are composed of others in the list.
pub fn find_amalgamations(functions: &[&FunctionSizes]) -> Vec<usize> {
    let sizes: Vec<usize> = functions.iter().map(|of| of.values().sum()).collect();
    let mut holders: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
    for (at, of_file) in functions.iter().enumerate() {
        for function in of_file.keys() {
            holders.entry(*function).or_default().push(at);
        }
    }
    let mut by_size: Vec<usize> = (0..functions.len()).collect();
    by_size.sort_by_key(|at| sizes[*at]);
    let mut parts: FxHashMap<usize, Vec<&FunctionSizes>> = FxHashMap::default();
    for part in by_size {
        let mut shared: FxHashMap<usize, usize> = FxHashMap::default();
        for (function, bytes) in functions[part] {
            let larger = holders[function].iter().filter(|other| sizes[part] < sizes[**other]);
            for other in larger {
                *shared.entry(*other).or_default() += bytes;
            }
        }
        shared.retain(|_, bytes| sizes[part] * PERCENT_OF_PART <= *bytes * 100);
        for whole in shared.into_keys() {
            parts.entry(whole).or_default().push(functions[part]);
        }
    }
    let is_whole = |(at, parts): &(usize, Vec<&FunctionSizes>)| is_put_together(functions[*at], parts);
    let mut found: Vec<usize> = parts.into_iter().filter(is_whole).map(|(at, _)| at).collect();
    found.sort_unstable();
    found
}

/// Returns whether several files make up enough of another. A part that adds hardly anything to the smaller parts
/// before it is a copy of them.
fn is_put_together(whole: &FunctionSizes, parts: &[&FunctionSizes]) -> bool {
    let mut covered: FxHashSet<u64> = FxHashSet::default();
    let (mut distinct, mut sum) = (0, 0);
    for part in parts {
        let added =
            part.iter().filter(|(function, _)| whole.contains_key(function) && covered.insert(**function));
        let added: usize = added.map(|(_, bytes)| bytes).sum();
        distinct += usize::from(part.values().sum::<usize>() <= added * 2);
        sum += added;
    }
    MIN_PARTS <= distinct && whole.values().sum::<usize>() * PERCENT_OF_WHOLE <= sum * 100
}

/// Returns the functions of a text by its chunks.
pub fn hash_functions(text: &str, chunks: &FileChunks<'_>) -> FunctionSizes {
    let functions = chunks.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Function);
    let mut code = Vec::new();
    functions.filter_map(|chunk| function_hash(text, chunk, &mut code)).collect()
}

/// Returns the hash and size of a function without its white space, which a generator may change, its leading comment
/// and its export marker.
fn function_hash(text: &str, chunk: &Chunk<'_>, code: &mut Vec<u8>) -> Option<(u64, usize)> {
    let before = chunk.head_line.saturating_sub(chunk.start_line) as usize;
    let text = text.get(chunk.bytes.clone())?;
    let start = text.split_inclusive('\n').take(before).map(str::len).sum::<usize>();
    let words =
        text[start..].split_ascii_whitespace().skip_while(|word| ["export", "default"].contains(word));
    code.clear();
    words.for_each(|word| code.extend_from_slice(word.as_bytes()));
    let mut hasher = FxHasher::default();
    hasher.write(code);
    (MIN_BYTES <= code.len()).then(|| (hasher.finish(), code.len()))
}

#[cfg(test)]
mod tests {
    use super::super::symbols::tests::outline;
    use super::*;
    use crate::search::chunks::chunk_file;

    fn found(texts: &[&str]) -> Vec<usize> {
        let functions_of = |text: &&str| hash_functions(text, &chunk_file(text, Some(&outline(text))));
        let functions: Vec<FunctionSizes> = texts.iter().map(functions_of).collect();
        find_amalgamations(&functions.iter().collect::<Vec<_>>())
    }

    const OPEN: &str = "def open(path):\n    return a handle of what is at that path";
    const CLOSE: &str = "def close(handle):\n    write what is left and forget it all";
    const READ: &str = "def read(handle):\n    return whatever the file has from here on";
    const EMPTY: &str = "def new(self):\n    pass";

    fn text(functions: &[&str]) -> String {
        functions.join("\n\n")
    }

    #[test]
    fn a_file_of_the_functions_of_several_others_is_an_amalgamation_in_any_indentation() {
        let (first, second) = (text(&[OPEN, CLOSE]), text(&[READ, EMPTY]));
        let whole = text(&[OPEN, CLOSE, READ, EMPTY]).replace("    ", "\t\t");
        assert_eq!(found(&[&first, &whole, &second]), [1]);
        let of_more = text(&[&whole, &OPEN.replace("handle", "list of the names")]);
        assert_eq!(found(&[&first, &of_more, &second]), [1]);
    }

    #[test]
    fn copies_of_one_file_and_files_that_share_some_functions_are_not_amalgamations() {
        let (first, second) = (text(&[OPEN, CLOSE]), text(&[READ, EMPTY]));
        let longer = text(&[OPEN, CLOSE, READ]);
        assert_eq!(found(&[&first, &first, &longer]), [0_usize; 0]);
        let other = "def seek(handle):\n    move to where it should go on from then";
        let (sharing, large) = (text(&[OPEN, READ, other]), text(&[OPEN, READ, CLOSE]));
        assert_eq!(found(&[&sharing, &large]), [0_usize; 0]);
        let small = [text(&[EMPTY]), text(&[EMPTY, EMPTY])];
        assert_eq!(found(&[&small[0], &small[1], &text(&[EMPTY, OPEN]), &second]), [0_usize; 0]);
    }
}
