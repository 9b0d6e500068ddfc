//! Which files are shown smaller, and by how much, when not all fits.
//!
//! The ladder is full → skeleton → outline → summary in words → path only → not at all. Files step down it one rung at a
//! time, and a rung counts as much as a factor of two in importance. So where the first `n` files are shown in full,
//! those up to place `2n` are skeletons, up to `4n` outlines, up to `8n` summaries, up to `64n` paths, and the rest is
//! left out: a little pressure costs the least important files a little, and under great pressure the few that matter
//! most stay readable. (Rung by rung for all files would leave no file readable; file by file would reduce the
//! unimportant ones to names at once; and to keep every name, which was tried, spent 20,000 tokens on the names of a
//! third of `CPython` and on nothing else.)
//!
//! Two exceptions serve the same end. A file that would take more than an eighth of the room that is left by what is
//! binding gets a place as many times later as it is larger than that, so that no header of 10,000 lines takes
//! the room of all others. And a tree of names of more than a quarter of the room goes first; a smaller one last, for
//! it names what is left out.

use crate::model::ViewMode;

/// A file is large that takes more than one part in so many of the room.
const LARGE_FILE_SHARE: u64 = 8;
/// A tree of names is large that takes more than one part in so many of the room.
const LARGE_TREE_SHARE: u64 = 4;
/// A path costs so little that a file keeps it for three rungs: the paths then take about an eighth of the room.
const RUNGS_ABOVE_NOTHING: u32 = 6;

/// The most that a document may be. What is `None` is not limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentLimits {
    /// The most tokens.
    pub tokens: Option<u64>,
    /// The most bytes.
    pub bytes: Option<u64>,
}

impl DocumentLimits {
    /// Returns whether anything is limited.
    pub const fn is_some(&self) -> bool {
        self.tokens.is_some() || self.bytes.is_some()
    }
}

/// Returns the views that a file steps down through from `wanted`. Below the last of them it is left out. A summary on a
/// ladder is one as text alone: `has_detail` says that the wanted one has more than that.
pub const fn view_ladder(wanted: ViewMode, has_detail: bool) -> &'static [ViewMode] {
    match wanted {
        ViewMode::Full | ViewMode::Window | ViewMode::Definitions => {
            &[ViewMode::Skeleton, ViewMode::Outline, ViewMode::Summary, ViewMode::Path]
        }
        ViewMode::Skeleton | ViewMode::Masked | ViewMode::Custom | ViewMode::Diff | ViewMode::Signatures => {
            &[ViewMode::Outline, ViewMode::Summary, ViewMode::Path]
        }
        ViewMode::Outline => &[ViewMode::Summary, ViewMode::Path],
        ViewMode::Summary if has_detail => &[ViewMode::Summary, ViewMode::Path],
        ViewMode::Summary => &[ViewMode::Path],
        ViewMode::Path | ViewMode::None => &[],
    }
}

/// A file that may be shown smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShrinkableFile {
    /// The views that it steps down through, from [`view_ladder`].
    pub views: &'static [ViewMode],
    /// Bytes of the view that it steps down from.
    pub bytes: u64,
}

/// What happens under pressure, one thing after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetStep {
    /// The file of this index steps one rung down.
    StepDown(usize),
    /// The tree of names is left out.
    DropTree,
    /// The file of this index, which is at the end of its ladder, is left out.
    Omit(usize),
}

/// A step of a file, and what it comes after.
struct ScheduledStep {
    /// Its place among the files, from 1, further back where it is large.
    place: u128,
    /// How many factors of two in importance it holds out.
    rungs: u32,
    file: usize,
    step: BudgetStep,
}

/// Returns what happens under growing pressure. The files are the most important first, `None` if a view is insisted
/// on; `tree` and `room`, which the files share, are bytes.
pub fn reduction_steps(files: &[Option<ShrinkableFile>], tree: u64, room: u64) -> Vec<BudgetStep> {
    let mut due: Vec<ScheduledStep> = Vec::new();
    for (file, yielding) in files.iter().enumerate() {
        let Some(ShrinkableFile { views, bytes }) = *yielding else { continue };
        // 128 bits, because an oversize factor may take up to 64 by itself, and the place is multiplied and then
        // shifted.
        let place = |at: usize| (file as u128 + 1) * u128::from(oversize_factor(views, at, bytes, room));
        due.extend(views.iter().enumerate().map(|(at, view)| ScheduledStep {
            place: place(at),
            rungs: rungs_above(*view),
            file,
            step: BudgetStep::StepDown(file),
        }));
        due.push(ScheduledStep {
            place: place(views.len()),
            rungs: RUNGS_ABOVE_NOTHING,
            file,
            step: BudgetStep::Omit(file),
        });
    }
    // The greater `2^rungs / place` is, the longer a step waits.
    due.sort_by(|a, b| ((b.place << a.rungs).cmp(&(a.place << b.rungs))).then(b.file.cmp(&a.file)));
    let mut steps: Vec<BudgetStep> = due.into_iter().map(|due| due.step).collect();
    let tree_at = if room / LARGE_TREE_SHARE < tree { 0 } else { steps.len() };
    // A small tree goes last, because it names what is left out; a large one first, because its room shows many files.
    steps.insert(tree_at, BudgetStep::DropTree);
    steps
}

/// Returns how many times as large as a large file the view is from which a step leads down, at least once. Each rung is
/// taken to halve the bytes of the wanted view, which is the only one that is known; words and paths are short always.
fn oversize_factor(views: &[ViewMode], step: usize, bytes: u64, room: u64) -> u64 {
    // Each rung is taken to halve the bytes, because only the wanted view has been rendered; summaries and paths are
    // short, however large the file is.
    let is_short = views[..step].iter().any(|view| matches!(view, ViewMode::Summary | ViewMode::Path));
    let bytes = if is_short { 0 } else { bytes >> step };
    // The inner `max` keeps a tiny room from dividing by zero; the outer one keeps small files in their places.
    (bytes / (room / LARGE_FILE_SHARE).max(1)).max(1)
}

/// Returns how many rungs of the whole ladder are above a view.
const fn rungs_above(view: ViewMode) -> u32 {
    // Only skeletons, outlines, summaries and paths are stepped down to. The others are listed so that a new view has
    // to be given its place.
    match view {
        ViewMode::Full | ViewMode::Window | ViewMode::Definitions | ViewMode::Skeleton => 0,
        ViewMode::Masked | ViewMode::Custom | ViewMode::Diff | ViewMode::Signatures | ViewMode::Outline => 1,
        ViewMode::Summary => 2,
        ViewMode::Path | ViewMode::None => 3,
    }
}

/// Returns the least number of steps, at most `most`, after which all fits; `None` if nothing helps. `guess` is where
/// the answer is likely to be: what is asked about far from the answer may be costly to find out.
pub fn fewest_steps(most: usize, guess: usize, fits: &mut dyn FnMut(usize) -> bool) -> Option<usize> {
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
        // Doubling strides find an answer near the guess after a few probes, about twice as many as bisecting that
        // distance. Probes far from it are the expensive ones: they render and count views that are not needed
        // otherwise.
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

    fn shown(steps: &[BudgetStep]) -> String {
        let shown = steps.iter().map(|step| match step {
            BudgetStep::StepDown(file) => file.to_string(),
            BudgetStep::DropTree => "tree".to_owned(),
            BudgetStep::Omit(file) => format!("-{file}"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn yielding(wanted: ViewMode, bytes: u64) -> ShrinkableFile {
        ShrinkableFile { views: view_ladder(wanted, false), bytes }
    }

    fn of(files: &[ShrinkableFile], tree: u64, room: u64) -> String {
        shown(&reduction_steps(&files.iter().copied().map(Some).collect::<Vec<_>>(), tree, room))
    }

    #[test]
    fn the_least_important_steps_down_first_and_a_rung_counts_as_a_factor_of_two() {
        let all = |wanted| vec![yielding(wanted, 1); 4];
        assert_eq!(of(&all(ViewMode::None), 0, 100), "-3 -2 -1 -0 tree");
        assert_eq!(of(&all(ViewMode::Summary), 0, 100), "3 2 1 0 -3 -2 -1 -0 tree");
        // The second step of the last file comes with the first step of the one in the middle, but before it.
        assert_eq!(of(&all(ViewMode::Outline), 0, 100), "3 2 3 1 2 1 0 0 -3 -2 -1 -0 tree");
    }

    #[test]
    fn files_that_want_different_views_stand_on_the_same_ladder() {
        let files = [yielding(ViewMode::Summary, 1), yielding(ViewMode::Skeleton, 1)];
        // Only when the second is a path, three steps later, does the first become one.
        assert_eq!(of(&files, 0, 100), "1 1 1 0 -1 -0 tree");
    }

    #[test]
    fn a_file_is_left_out_when_the_eighth_part_as_many_are_more_than_a_path() {
        let files = vec![Some(yielding(ViewMode::Summary, 1)); 64];
        let steps = reduction_steps(&files, 0, 1000);
        let first_out = steps.iter().position(|step| matches!(step, BudgetStep::Omit(_))).unwrap();
        // All but the eight at the top have become paths by then.
        assert_eq!(first_out, 64 - 8);
    }

    #[test]
    fn a_file_that_would_take_much_of_the_room_steps_down_early() {
        let files = [yielding(ViewMode::Skeleton, 999), yielding(ViewMode::Outline, 1)];
        assert_eq!(of(&files, 0, 1000), "0 0 1 1 0 -1 -0 tree");
        assert_eq!(of(&files, 0, 10_000), "1 0 1 0 0 -1 -0 tree");
    }

    #[test]
    fn a_large_tree_goes_first_and_a_small_one_last() {
        let files = [yielding(ViewMode::None, 1)];
        assert_eq!(of(&files, 251, 1000), "tree -0");
        assert_eq!(of(&files, 250, 1000), "-0 tree");
    }

    #[test]
    fn what_is_insisted_on_never_steps_down() {
        let files = [None, Some(yielding(ViewMode::Summary, 1)), Some(yielding(ViewMode::None, 1))];
        assert_eq!(shown(&reduction_steps(&files, 0, 9)), "1 -2 -1 tree");
        assert_eq!(shown(&reduction_steps(&[], 0, 9)), "tree");
    }

    proptest! {
        #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(7), ..ProptestConfig::default() })]

        #[test]
        fn the_fewest_steps_are_found_from_any_guess(most in 1_usize..500, at in 0_usize..600, guess in 0_usize..600) {
            let found = fewest_steps(most, guess, &mut |steps| at <= steps);
            prop_assert_eq!(found, (at <= most).then_some(at));
        }

        #[test]
        fn every_file_takes_every_step_once_and_is_left_out_after_them(
            files in proptest::collection::vec(
                proptest::option::of((0..ViewMode::ALL.len(), any::<bool>(), any::<u64>())), 0..40,
            ),
            tree in any::<u64>(),
            room in any::<u64>(),
        ) {
            let files: Vec<_> = files
                .into_iter()
                .map(|file| file.map(|(view, has_detail, bytes)| {
                    ShrinkableFile { views: view_ladder(ViewMode::ALL[view], has_detail), bytes }
                }))
                .collect();
            let steps = reduction_steps(&files, tree, room);
            prop_assert_eq!(steps.iter().filter(|step| **step == BudgetStep::DropTree).count(), 1);
            for (file, yielding) in files.iter().enumerate() {
                let own: Vec<_> =
                    steps.iter().filter(|step| matches!(step, BudgetStep::StepDown(at) | BudgetStep::Omit(at) if *at == file)).collect();
                let downs = own.iter().take_while(|step| matches!(step, BudgetStep::StepDown(_))).count();
                let expected = yielding.map_or((0, 0), |yielding| (yielding.views.len(), yielding.views.len() + 1));
                prop_assert_eq!((downs, own.len()), expected);
            }
        }
    }
}
