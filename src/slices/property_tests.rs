//! Whatever is edited, no slice is said to be where its text is not.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::create_slice;
use super::lines::split_lines;
use super::locate_slice;
use crate::model::SliceStatus;

/// Lines of which many are the same, as in code.
fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("}".to_owned()),
        Just("\treturn x;\r".to_owned()),
        "[a-d]{1,2}",
        "[a-z]{6}"
    ]
}

/// A text, and the lines that are marked in it.
fn marked() -> impl Strategy<Value = (Vec<String>, usize, usize)> {
    prop::collection::vec(line(), 1..60).prop_flat_map(|lines| {
        let count = lines.len();
        (Just(lines), 0..count)
            .prop_flat_map(move |(lines, start)| (Just(lines), Just(start), start + 1..=count))
    })
}

proptest! {
    // The same cases each time: a test that fails must fail again.
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn what_is_called_the_same_is_the_same_and_all_lines_are_in_the_text(
        (old, start, end) in marked(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, prop::collection::vec(line(), 0..4)), 0..6),
    ) {
        let mut new = old.clone();
        for (at, removed, added) in edits {
            let at = at.index(new.len() + 1);
            let end = new.len().min(at + removed);
            new.splice(at..end, added);
        }
        let (text, edited) = (old.join("\n") + "\n", new.join("\n") + "\n");
        let slice = create_slice(&text, u32::try_from(start + 1).unwrap(), u32::try_from(end).unwrap()).unwrap();
        let found = locate_slice(&slice, &edited);
        let lines = split_lines(&edited);
        let here = usize::try_from(found.start_line).unwrap() - 1..usize::try_from(found.end_line).unwrap();
        prop_assert!(here.start < here.end);
        let is_same = lines.get(here.clone()) == Some(&split_lines(&text)[start..end]);
        match found.status {
            SliceStatus::Exact => prop_assert!(is_same && here.start == start),
            SliceStatus::Moved => prop_assert!(is_same && here.start != start),
            SliceStatus::Changed => prop_assert!(here.end <= lines.len()),
            SliceStatus::Stale => {}
        }
        if edited == text {
            prop_assert_eq!(found.status, SliceStatus::Exact, "{:?}", found);
        }
    }

    #[test]
    fn a_text_that_stands_once_is_found_wherever_it_is_moved(
        (old, start, end) in marked(),
        to in any::<prop::sample::Index>(),
    ) {
        let mut lines = old;
        lines[start] = "the only one".to_owned();
        let text = lines.join("\n") + "\n";
        let moved: Vec<String> = lines.splice(start..end, []).collect();
        let to = to.index(lines.len() + 1);
        lines.splice(to..to, moved);
        let slice = create_slice(&text, u32::try_from(start + 1).unwrap(), u32::try_from(end).unwrap()).unwrap();
        let found = locate_slice(&slice, &(lines.join("\n") + "\n"));
        let status = if to == start { SliceStatus::Exact } else { SliceStatus::Moved };
        prop_assert_eq!((found.status, usize::try_from(found.start_line).unwrap()), (status, to + 1));
    }
}
