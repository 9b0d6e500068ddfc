//! Which files are shown smaller, and by how much, when not all fits.
//!
//! The ladder is full → skeleton → outline → summary → path only → not at all. Files step down it one rung at a time,
//! and a rung counts as much as a factor of two in importance: when the most important file takes its first step, those
//! below the middle have taken two, those below the upper quarter three. So a little pressure costs the least important
//! files a little, and under great pressure the few that matter most stay readable while the rest are names. (Rung by
//! rung for all files would leave no file readable; file by file would reduce the unimportant ones to names at once.)

use std::cmp::Ordering;

use crate::model::ViewMode;

/// The most that a document may be. What is `None` is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The most tokens.
    pub tokens: Option<u64>,
    /// The most bytes.
    pub bytes: Option<u64>,
}

impl Limits {
    /// Says whether anything is limited.
    pub const fn is_some(&self) -> bool {
        self.tokens.is_some() || self.bytes.is_some()
    }
}

/// Returns the views that a file steps down through from `wanted`. Below the last of them it is left out.
pub const fn ladder(wanted: ViewMode) -> &'static [ViewMode] {
    match wanted {
        ViewMode::Full | ViewMode::Window | ViewMode::Definitions => {
            &[ViewMode::Skeleton, ViewMode::Outline, ViewMode::Summary, ViewMode::Path]
        }
        ViewMode::Skeleton | ViewMode::Masked | ViewMode::Custom | ViewMode::Diff | ViewMode::Signatures => {
            &[ViewMode::Outline, ViewMode::Summary, ViewMode::Path]
        }
        ViewMode::Outline => &[ViewMode::Summary, ViewMode::Path],
        ViewMode::Summary => &[ViewMode::Path],
        ViewMode::Path | ViewMode::None => &[],
    }
}

/// What happens under pressure, one thing after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The file of this index steps one rung down.
    Down(usize),
    /// The tree of names is left out.
    WithoutTree,
    /// The file of this index, of which the path alone was left, is left out.
    Out(usize),
}

/// Returns what happens under growing pressure. `rungs` holds, for each file, the most important first, how many rungs
/// there are below its view; `None` for a file whose view is insisted on.
pub fn steps(rungs: &[Option<usize>]) -> Vec<Step> {
    // A file's position counts from 1; `2^rung / position` grows with importance and with the rungs taken already.
    let by_pressure = |a: &(usize, usize), b: &(usize, usize)| -> Ordering {
        let left = (1_u128 << a.1) * (b.0 as u128 + 1);
        let right = (1_u128 << b.1) * (a.0 as u128 + 1);
        left.cmp(&right).then(b.0.cmp(&a.0))
    };
    let yielding = || rungs.iter().enumerate().filter_map(|(file, rungs)| Some((file, (*rungs)?)));
    let mut down: Vec<(usize, usize)> =
        yielding().flat_map(|(file, rungs)| (0..rungs).map(move |rung| (file, rung))).collect();
    down.sort_by(by_pressure);
    let mut steps: Vec<Step> = down.into_iter().map(|(file, _)| Step::Down(file)).collect();
    steps.push(Step::WithoutTree);
    steps.extend(yielding().map(|(file, _)| Step::Out(file)).rev());
    steps
}

/// Returns the least number of steps, at most `most`, after which all fits; `None` if nothing helps. `guess` is where
/// the answer is likely to be: what is asked about far from the answer may be costly to find out.
pub fn fewest(most: usize, guess: usize, fits: &mut dyn FnMut(usize) -> bool) -> Option<usize> {
    if fits(0) {
        return Some(0);
    }
    if !fits(most) {
        return None;
    }
    // Zero steps are too few and all of them enough: the borders close in on the answer, at first around the guess.
    let (mut too_few, mut enough) = (0, most);
    let mut stride = 1;
    let mut at = guess.clamp(1, most);
    while too_few + 1 < enough {
        let is_enough = fits(at);
        if is_enough {
            enough = at;
        } else {
            too_few = at;
        }
        stride *= 2;
        let near = if is_enough { enough.saturating_sub(stride) } else { too_few + stride };
        let is_between = too_few < near && near < enough;
        at = if is_between && stride < enough - too_few { near } else { usize::midpoint(too_few, enough) };
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(steps: &[Step]) -> String {
        let shown = steps.iter().map(|step| match step {
            Step::Down(file) => file.to_string(),
            Step::WithoutTree => "tree".to_owned(),
            Step::Out(file) => format!("-{file}"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_least_important_steps_down_first_and_a_rung_counts_as_a_factor_of_two() {
        assert_eq!(shown(&steps(&[Some(1); 4])), "3 2 1 0 tree -3 -2 -1 -0");
        // The second step of the last file comes with the first step of the one in the middle, but after it.
        assert_eq!(shown(&steps(&[Some(2); 4])), "3 2 3 1 2 1 0 0 tree -3 -2 -1 -0");
    }

    #[test]
    fn what_is_insisted_on_never_steps_down() {
        assert_eq!(shown(&steps(&[None, Some(1), Some(0)])), "1 tree -2 -1");
        assert_eq!(shown(&steps(&[])), "tree");
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn the_fewest_steps_are_found_from_any_guess(most in 1_usize..500, at in 0_usize..600, guess in 0_usize..600) {
            let found = fewest(most, guess, &mut |steps| at <= steps);
            prop_assert_eq!(found, (at <= most).then_some(at));
        }

        #[test]
        fn every_rung_of_every_file_is_taken_once(rungs in proptest::collection::vec(proptest::option::of(0_usize..5), 0..40)) {
            let steps = steps(&rungs);
            for (file, rungs) in rungs.iter().enumerate() {
                let down = steps.iter().filter(|step| **step == Step::Down(file)).count();
                let out = steps.iter().filter(|step| **step == Step::Out(file)).count();
                prop_assert_eq!((down, out), rungs.map_or((0, 0), |rungs| (rungs, 1)));
            }
        }
    }
}
