//! Which known name a misspelled one is most like.

/// Only so much of a name is compared: more is no typing error, and a hostile key may be a megabyte long.
const MAX_COMPARED_CHARS: usize = 64;

/// The cost of two keys with similar last parts being in different sections.
const OTHER_SECTION_COST: usize = 2;

/// Returns the candidate that is most like `word`, the first among equals; `None` where there are none.
///
/// Dotted keys are compared as a whole and by their last parts, so that a key in the wrong section is found too.
pub fn nearest_name<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates.min_by_key(|candidate| name_distance(word, candidate))
}

/// Returns the nearest candidate where it is so near that the word may well be a slip: a third of its letters at most.
pub fn near_name<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let nearest = nearest_name(word, candidates)?;
    (name_distance(word, nearest) * 3 <= word.chars().count()).then_some(nearest)
}

fn name_distance(word: &str, candidate: &str) -> usize {
    let whole = edit_distance(word, candidate);
    let (section, last) = split_last_part(word);
    let (candidate_section, candidate_last) = split_last_part(candidate);
    // A key in the wrong section is a likelier mistake than one whose letters are all different.
    let moved = if section == candidate_section { 0 } else { OTHER_SECTION_COST };
    whole.min(edit_distance(last, candidate_last) + moved)
}

fn split_last_part(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

/// Returns how many letters must be put in, taken out or replaced to make `b` of `a`.
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
    fn a_word_that_is_like_none_has_no_near_one() {
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
