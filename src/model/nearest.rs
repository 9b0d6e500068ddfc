//! Finds the known name most similar to a misspelled one.

/// Only this much of a name is compared: a longer name is not a typo, and a hostile key may be a megabyte long.
const MAX_COMPARED_CHARS: usize = 64;

/// The cost of two keys with similar last parts being in different sections.
const OTHER_SECTION_COST: usize = 2;

/// Returns the candidate most similar to `word`, the first among equals; `None` if there are none.
///
/// Dotted keys are compared as a whole and by their last parts, so that a key in the wrong section is found too.
pub fn nearest_name<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates.min_by_key(|candidate| name_distance(word, candidate))
}

/// Returns the nearest candidate if `word` is likely a typo of it: at most a third of its characters differ.
pub fn near_name<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = nearest_name(word, candidates)?;
    (name_distance(word, nearest) * 3 <= word.chars().count()).then_some(nearest)
}

fn name_distance(word: &str, candidate: &str) -> usize {
    let whole = edit_distance(word, candidate);
    let (section, last) = split_last_part(word);
    let (candidate_section, candidate_last) = split_last_part(candidate);
    // A key in the wrong section is a more likely mistake than one with entirely different characters.
    let moved = if section == candidate_section { 0 } else { OTHER_SECTION_COST };
    whole.min(edit_distance(last, candidate_last) + moved)
}

fn split_last_part(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// Returns how many characters must be inserted, deleted or replaced to turn `a` into `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    strsim::levenshtein(compared_part(a), compared_part(b))
}

fn compared_part(name: &str) -> &str {
    name.char_indices().nth(MAX_COMPARED_CHARS).map_or(name, |(end, _)| &name[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        let cases = [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("view", "view", 0),
            ("veiw", "view", 2),
            ("kitten", "sitting", 3),
            ("über", "uber", 1),
        ];
        for (a, b, edits) in cases {
            assert_eq!(edit_distance(a, b), edits, "{a} {b}");
        }
    }

    #[test]
    fn an_unknown_word_has_no_near_name() {
        let known = ["anthropic", "openai", "ollama"];
        let find = |word| near_name(word, known.into_iter());
        assert_eq!((find("antropic"), find("olama")), (Some("anthropic"), Some("ollama")));
        assert_eq!((find("mycompany"), find("ai"), find("")), (None, None, None));
    }

    #[test]
    fn a_key_in_the_wrong_section_is_found() {
        let known = ["project.name", "limits.max_bytes", "limits.structure_max_bytes"];
        let find = |word| nearest_name(word, known.into_iter());
        assert_eq!(find("files.max_bytes"), Some("limits.max_bytes"));
        assert_eq!(find("name"), Some("project.name"));
        assert_eq!(find("projekt.nmae"), Some("project.name"));
        assert_eq!(nearest_name("x", [].into_iter()), None);
    }
}
