//! Where a run of lines stands in others.

/// Returns where `wanted` begins in `lines`, from 0, ascending; places may overlap. In linear time, whatever the lines
/// are (Knuth, Morris, Pratt): a file may be one line ten thousand times.
pub(super) fn find_occurrences<T: PartialEq>(lines: &[T], wanted: &[T]) -> Vec<usize> {
    let mut found = Vec::new();
    if wanted.is_empty() {
        return found;
    }
    let borders = borders(wanted);
    let mut matched = 0;
    for (place, line) in lines.iter().enumerate() {
        while 0 < matched && (matched == wanted.len() || wanted[matched] != *line) {
            matched = borders[matched - 1];
        }
        if wanted[matched] == *line {
            matched += 1;
        }
        if matched == wanted.len() {
            found.push(place + 1 - matched);
        }
    }
    found
}

/// Returns for each beginning of `wanted` how long its longest beginning is that is also its end.
fn borders<T: PartialEq>(wanted: &[T]) -> Vec<usize> {
    let mut borders = vec![0; wanted.len()];
    let mut matched = 0;
    for place in 1..wanted.len() {
        while 0 < matched && wanted[matched] != wanted[place] {
            matched = borders[matched - 1];
        }
        if wanted[matched] == wanted[place] {
            matched += 1;
        }
        borders[place] = matched;
    }
    borders
}

#[cfg(test)]
mod tests {
    use super::find_occurrences;

    #[test]
    fn every_place_is_found_and_places_may_overlap() {
        assert_eq!(find_occurrences(b"abcabcab", b"abcab"), [0, 3]);
        assert_eq!(find_occurrences(b"aaaa", b"aa"), [0, 1, 2]);
        assert_eq!(find_occurrences(b"aabaaab", b"aab"), [0, 4]);
        assert!(
            find_occurrences(b"abc", b"").is_empty()
                && find_occurrences(b"", b"a").is_empty()
                && find_occurrences(b"a", b"aa").is_empty()
        );
    }
}
