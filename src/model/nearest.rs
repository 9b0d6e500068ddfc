//! Finds the known name that a misspelled one probably means.

use super::printable;

/// The maximum number of bytes of a name that are compared: a longer name is not a typo, and a hostile key may be a
/// megabyte long.
const MAX_COMPARED_BYTES: usize = 64;

/// The cost of two keys with similar last parts being in different sections.
const OTHER_SECTION_COST: usize = 2;

/// The most names, and the most characters of names, that a message lists completely.
const MAX_LISTED: usize = 5;
const MAX_LISTED_CHARS: usize = 100;

/// Returns the end of a message about an unknown name: the known name that it probably means, or else all known names
/// of its section if they are few; otherwise it is empty.
pub fn suggest_known_name<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    if let Some(near) = near_name(word, known.iter().copied()) {
        return format!(", the nearest known is `{}`", printable(near));
    }
    let section = split_last_part(word).0;
    let known: Vec<&str> = known.into_iter().filter(|name| split_last_part(name).0 == section).collect();
    let is_short = known.iter().map(|name| name.chars().count()).sum::<usize>() <= MAX_LISTED_CHARS;
    if known.is_empty() || MAX_LISTED < known.len() || !is_short {
        return String::new();
    }
    let quoted: Vec<String> = known.iter().map(|name| format!("`{}`", printable(name))).collect();
    format!("; known: {}", quoted.join(", "))
}

/// Returns the candidate that `word` is likely a typo of, the first among equals.
///
/// Dotted keys are compared as a whole and by their last parts, so that a key in the wrong section is found too.
pub fn near_name<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = candidates.filter_map(|candidate| Some((key_distance(word, candidate)?, candidate)));
    near.min_by_key(|(distance, _)| *distance).map(|(_, candidate)| candidate)
}

/// Returns the edit distance of two names in characters; `None` if it is too large for a typo.
pub fn typo_distance(word: &str, name: &str) -> Option<usize> {
    if word.is_empty() || name.is_empty() || MAX_COMPARED_BYTES < word.len().max(name.len()) {
        return None;
    }
    // A quarter of the characters, so that short names do not resemble all others.
    let most = word.chars().count().div_ceil(4);
    if most < word.len().abs_diff(name.len()) {
        return None;
    }
    let edits = if word.eq_ignore_ascii_case(name) { 0 } else { strsim::osa_distance(word, name) };
    (edits <= most && edits < word.chars().count()).then_some(edits)
}

fn key_distance(word: &str, candidate: &str) -> Option<usize> {
    let (section, last) = split_last_part(word);
    let (candidate_section, candidate_last) = split_last_part(candidate);
    let by_last_part = typo_distance(last, candidate_last);
    if section == candidate_section {
        // In a long section, any two keys would be near as a whole.
        return by_last_part;
    }
    // A key in the wrong section is a more likely mistake than one with entirely different characters.
    let by_last_part = by_last_part.map(|edits| edits + OTHER_SECTION_COST);
    typo_distance(word, candidate).into_iter().chain(by_last_part).min()
}

fn split_last_part(key: &str) -> (&str, &str) {
    key.rsplit_once('.').unwrap_or(("", key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_have_a_distance_and_other_names_have_none() {
        let cases = [
            ("", "", None),
            ("", "abc", None),
            ("abc", "", None),
            ("view", "VIEW", Some(0)),
            ("veiw", "view", Some(1)),
            ("kitten", "sitting", None),
            ("über", "uber", Some(1)),
            ("x", "y", None),
        ];
        for (word, name, edits) in cases {
            assert_eq!(typo_distance(word, name), edits, "{word} {name}");
        }
        let long = "x".repeat(MAX_COMPARED_BYTES + 1);
        assert_eq!(typo_distance(&long, &long), None);
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
        let find = |word| near_name(word, known.into_iter());
        assert_eq!(find("files.max_bytes"), Some("limits.max_bytes"));
        assert_eq!(find("name"), Some("project.name"));
        assert_eq!(find("projekt.nmae"), Some("project.name"));
        assert_eq!((find("server.port"), find("limits.tokens")), (None, None));
    }

    #[test]
    fn without_a_near_name_a_message_lists_the_known_ones_if_they_are_few() {
        let suggest = |word: &str, known: &[&str]| suggest_known_name(word, known.iter().copied());
        assert_eq!(suggest("cor", &["api", "core"]), ", the nearest known is `core`");
        assert_eq!(suggest("x", &["api", "core"]), "; known: `api`, `core`");
        assert_eq!(suggest("x", &["a\nb"]), "; known: `a\\u{a}b`");
        assert_eq!(suggest("p.x", &["p.api", "q.core"]), "; known: `p.api`");
        assert_eq!(suggest("x", &[]), "");
        assert_eq!(suggest("x", &["aa", "bb", "cc", "dd", "ee", "ff"]), "");
        assert_eq!(suggest("x", &["y".repeat(200).as_str()]), "");
    }
}
