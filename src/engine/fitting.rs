//! A document is made to fit into its limits.

use std::collections::HashMap;

use super::error::Error;
use super::history::History;
use super::importance::Standing;
use super::project::Project;
use super::rendering::block;
use super::scan::KnownFile;
use crate::aggregate;
use crate::aggregate::Candidate;
use crate::aggregate::Importance;
use crate::aggregate::Limits;
use crate::aggregate::Plan;
use crate::aggregate::Remarks;
use crate::aggregate::Routing;
use crate::aggregate::Step;
use crate::model::Block;
use crate::model::Document;
use crate::model::Omission;
use crate::model::OmittedFile;
use crate::model::ViewMode;
use crate::render;

/// No text of a project has so many bytes a token as a whole; what has more bytes than this allows need not be counted.
const MOST_BYTES_A_TOKEN: u64 = 16;
/// A text has about so many bytes a token: good enough for a guess.
const BYTES_A_TOKEN: u64 = 4;
/// Where the sections beside the files meet, and at the end, a line's end more or less may make a token another.
const SLACK_TOKENS: u64 = 2;

/// A file that the document is to show.
pub(super) struct ShownFile {
    pub(super) file: KnownFile,
    pub(super) candidate: Candidate,
    /// What stands for the file where a diff against what was given before is shown in its place.
    pub(super) undiffed: Option<Block>,
    /// Its place among the files by importance, from 1; known where the document is limited.
    pub(super) standing: Option<(usize, Importance)>,
}

impl ShownFile {
    pub(super) const fn new(file: KnownFile, candidate: Candidate) -> Self {
        Self { file, candidate, undiffed: None, standing: None }
    }

    /// Returns what a reader of the document knows of the file, who can carry out a diff.
    pub(super) fn settled(&self) -> &Block {
        let block = &self.candidate.block;
        self.undiffed.as_ref().filter(|_| block.view == ViewMode::Diff).unwrap_or(block)
    }
}

/// All that a document is made of.
pub(super) struct Whole {
    pub(super) plan: Plan,
    pub(super) files: Vec<ShownFile>,
    /// Files that are left out because the reader has them. They refer to others all the same.
    pub(super) unchanged: Vec<KnownFile>,
    /// Files for which there is no room.
    pub(super) crowded_out: Vec<ShownFile>,
    pub(super) remarks: Remarks,
}

/// A file in one of its views, with its sizes.
struct Rung {
    block: Block,
    why: Option<String>,
    bytes: u64,
    /// `None` until somebody needs to know.
    tokens: Option<u64>,
}

/// Where each file stands after some steps.
struct Descent {
    /// For each file, how many rungs it has stepped down; `None` where it is left out.
    rungs: Vec<Option<usize>>,
    with_tree: bool,
}

/// The files on their ladders.
struct Ladders {
    /// By importance.
    files: Vec<ShownFile>,
    views: Vec<Vec<ViewMode>>,
    steps: Vec<Step>,
    rungs: HashMap<(usize, usize), Rung>,
    frame: Frame,
}

/// What the document has beside its files.
struct Frame {
    rest: Sizes,
    cut: Sizes,
    tree: Sizes,
}

/// Sizes of a text.
#[derive(Clone, Copy, Default)]
struct Sizes {
    bytes: u64,
    tokens: u64,
}

impl Project<'_> {
    /// Shows files smaller, the least important first, until the document keeps its limits.
    pub(super) fn fit(
        &mut self,
        mut whole: Whole,
        routing: &Routing<'_>,
        history: Option<&History>,
    ) -> Result<Whole, Error> {
        let limits = whole.remarks.limits;
        if !limits.is_some() {
            return Ok(whole);
        }
        let files = std::mem::take(&mut whole.files);
        let files = self.by_importance(files, &whole.unchanged, routing, history);
        let frame = self.frame(&whole.plan);
        let mut ladders = Ladders::new(files, frame);
        let most = ladders.steps.len();
        let guess = ladders.guess(limits);
        let found = aggregate::fewest(most, guess, &mut |steps| {
            let sizes = self.sizes_after(&mut ladders, steps, routing, limits);
            sizes.is_within(limits)
        });
        let Some(steps) = found else {
            let sizes = self.sizes_after(&mut ladders, most, routing, Limits::default());
            return Err(over(sizes, limits));
        };
        Ok(ladders.taken(steps, whole))
    }

    /// Returns the sizes of the document after some steps down. The tokens are not counted where the bytes tell already
    /// that there are too many; then they are estimated.
    fn sizes_after(
        &mut self,
        ladders: &mut Ladders,
        steps: usize,
        routing: &Routing<'_>,
        limits: Limits,
    ) -> Sizes {
        let descent = ladders.descent(steps);
        let keys: Vec<(usize, usize)> =
            descent.rungs.iter().enumerate().filter_map(|(file, rung)| Some((file, (*rung)?))).collect();
        for &(file, rung) in &keys {
            self.render_rung(ladders, file, rung, routing);
        }
        let mut sizes = ladders.frame.rest;
        if descent.with_tree {
            sizes.add(ladders.frame.tree);
        }
        if keys.len() < descent.rungs.len() {
            sizes.add(ladders.frame.cut);
        }
        sizes.bytes += keys.iter().map(|key| ladders.rungs[key].bytes).sum::<u64>();
        let is_hopeless = limits.tokens.is_some_and(|tokens| tokens * MOST_BYTES_A_TOKEN < sizes.bytes);
        if is_hopeless || limits.bytes.is_some_and(|bytes| bytes < sizes.bytes) {
            sizes.tokens = sizes.bytes / BYTES_A_TOKEN;
            return sizes;
        }
        self.count_rungs(ladders, &keys);
        sizes.tokens += keys.iter().filter_map(|key| ladders.rungs[key].tokens).sum::<u64>();
        sizes
    }

    /// Returns the files, the most important first.
    fn by_importance(
        &mut self,
        files: Vec<ShownFile>,
        beside: &[KnownFile],
        routing: &Routing<'_>,
        history: Option<&History>,
    ) -> Vec<ShownFile> {
        let none = HashMap::new();
        let standing = Standing {
            in_focus: &|path| routing.focus.lines(path).is_some(),
            is_curated: &|path| routing.items.of(path).is_some(),
            changes: history.map_or(&none, |history| &history.scores),
        };
        let known: Vec<&KnownFile> = files.iter().map(|shown| &shown.file).chain(beside).collect();
        let importance = self.importance(&known, &standing);
        let mut ranked: Vec<(Importance, ShownFile)> = importance.into_iter().zip(files).collect();
        ranked
            .sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.file.path.cmp(&second.file.path)));
        let placed = (1..).zip(ranked).map(|(place, (importance, shown))| {
            let standing = Some((place, importance));
            ShownFile { standing, ..shown }
        });
        placed.collect()
    }

    fn render_rung(&mut self, ladders: &mut Ladders, file: usize, rung: usize, routing: &Routing<'_>) {
        if ladders.rungs.contains_key(&(file, rung)) {
            return;
        }
        let view = ladders.views[file][rung - 1];
        let rendered = self.rendered_as(view, &ladders.files[file].file, routing, (None, None));
        let block = block(&ladders.files[file].file, rendered);
        let top = &ladders.rungs[&(file, 0)];
        let bytes = render::block_text(&block).len() as u64;
        // A smaller view of a very small file may be larger than the file.
        let rung_held = if top.bytes <= bytes {
            Rung { block: top.block.clone(), why: top.why.clone(), bytes: top.bytes, tokens: top.tokens }
        } else {
            Rung { block, why: None, bytes, tokens: None }
        };
        ladders.rungs.insert((file, rung), rung_held);
    }

    fn count_rungs(&mut self, ladders: &mut Ladders, keys: &[(usize, usize)]) {
        let unknown: Vec<(usize, usize)> =
            keys.iter().copied().filter(|key| ladders.rungs[key].tokens.is_none()).collect();
        let texts: Vec<String> =
            unknown.iter().map(|key| render::block_text(&ladders.rungs[key].block)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let counts = self.count_tokens(&texts);
        for (key, tokens) in unknown.iter().zip(counts) {
            if let Some(rung) = ladders.rungs.get_mut(key) {
                rung.tokens = Some(tokens);
            }
        }
    }

    /// Returns the sizes of a document that shows no file.
    fn frame(&mut self, plan: &Plan) -> Frame {
        let heading = format!("## {}\n\n", aggregate::heading(plan));
        let tree = plan.tree.as_deref().map(render::tree_section).unwrap_or_default();
        let beside = render::beside_files(&aggregate::without_files(plan));
        let texts = [heading.as_str(), beside.as_str(), render::CUT, tree.as_str()];
        let tokens = self.count_tokens(&texts);
        let sizes = |at: usize| Sizes { bytes: texts[at].len() as u64, tokens: tokens[at] + SLACK_TOKENS };
        let mut frame = Frame { rest: sizes(0), cut: sizes(2), tree: sizes(3) };
        frame.rest.add(sizes(1));
        frame
    }

    /// Writes the sizes of a document and of its files into its receipt; tokens are estimated unless they are to be
    /// `exact`.
    pub(super) fn measure(&mut self, document: &mut Document, exact: bool) {
        let blocks: Vec<String> = document.blocks.iter().map(render::block_text).collect();
        // The heading and the rest are two texts: what stands between them begins and ends as a file does.
        let has_heading = document.part.has_prefix();
        let heading = if has_heading { format!("## {}\n\n", document.files_heading) } else { String::new() };
        let beside = render::beside_files(document);
        let texts: Vec<&str> =
            blocks.iter().map(String::as_str).chain([heading.as_str(), beside.as_str()]).collect();
        let tokens: Vec<u64> = if exact {
            self.count_tokens(&texts)
        } else {
            texts.iter().map(|text| aggregate::estimate_tokens(text.len() as u64)).collect()
        };
        let receipt = &mut document.receipt;
        // The empty line behind the last file is not there.
        receipt.bytes = texts.iter().map(|text| text.len() as u64).sum::<u64>() - u64::from(has_heading);
        receipt.counter = if exact { self.options.counter.name() } else { aggregate::ESTIMATE };
        receipt.tokens = tokens.iter().sum();
        for (entry, (text, tokens)) in receipt.files.iter_mut().zip(texts.iter().zip(&tokens)) {
            entry.bytes = text.len() as u64;
            entry.tokens = *tokens;
        }
    }
}

impl Sizes {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.tokens += other.tokens;
    }

    fn is_within(self, limits: Limits) -> bool {
        limits.bytes.is_none_or(|bytes| self.bytes <= bytes)
            && limits.tokens.is_none_or(|tokens| self.tokens <= tokens)
    }
}

impl Ladders {
    fn new(files: Vec<ShownFile>, frame: Frame) -> Self {
        let mut rungs = HashMap::new();
        let mut views = Vec::new();
        for (at, shown) in files.iter().enumerate() {
            let candidate = &shown.candidate;
            views.push(aggregate::ladder(candidate.block.view).to_vec());
            let bytes = render::block_text(&candidate.block).len() as u64;
            let (block, why) = (candidate.block.clone(), candidate.why.clone());
            rungs.insert((at, 0), Rung { block, why, bytes, tokens: None });
        }
        let heights = files.iter().zip(&views).map(|(shown, views)| {
            let is_fixed = shown.candidate.rule.insists();
            (!is_fixed).then_some(views.len())
        });
        let steps = aggregate::steps(&heights.collect::<Vec<_>>());
        Self { files, views, steps, rungs, frame }
    }

    fn descent(&self, steps: usize) -> Descent {
        let mut descent = Descent { rungs: vec![Some(0); self.files.len()], with_tree: true };
        for step in &self.steps[..steps] {
            match step {
                Step::Down(file) => descent.rungs[*file] = descent.rungs[*file].map(|rung| rung + 1),
                Step::WithoutTree => descent.with_tree = false,
                Step::Out(file) => descent.rungs[*file] = None,
            }
        }
        descent
    }

    /// Guesses after how many steps all fits, from the sizes that views usually have.
    fn guess(&self, limits: Limits) -> usize {
        let room = limits.bytes.unwrap_or(u64::MAX);
        let room = room.min(limits.tokens.map_or(u64::MAX, |tokens| tokens.saturating_mul(BYTES_A_TOKEN)));
        let usual = |file: usize, rung: usize| match rung.checked_sub(1).map(|rung| self.views[file][rung]) {
            None => self.rungs[&(file, 0)].bytes,
            Some(view) => usual_bytes(view).min(self.rungs[&(file, 0)].bytes),
        };
        let mut at = vec![0; self.files.len()];
        let files: u64 = (0..self.files.len()).map(|file| usual(file, 0)).sum();
        let mut bytes = self.frame.rest.bytes + self.frame.tree.bytes + files;
        for (taken, step) in self.steps.iter().enumerate() {
            if bytes <= room {
                return taken;
            }
            match step {
                Step::Down(file) => {
                    bytes = bytes + usual(*file, at[*file] + 1) - usual(*file, at[*file]);
                    at[*file] += 1;
                }
                Step::WithoutTree => bytes -= self.frame.tree.bytes,
                Step::Out(file) => bytes -= usual(*file, at[*file]),
            }
        }
        self.steps.len()
    }

    /// Returns the document's parts after some steps, with what became of each file and why.
    fn taken(mut self, steps: usize, mut whole: Whole) -> Whole {
        let descent = self.descent(steps);
        whole.remarks.without_tree = !descent.with_tree && whole.plan.tree.is_some();
        if !descent.with_tree {
            whole.plan.tree = None;
        }
        for (at, mut shown) in self.files.into_iter().enumerate() {
            let Some(rung) = descent.rungs[at] else {
                let reason = Omission::Budget { wanted: shown.candidate.wanted };
                whole.remarks.left_out.push(OmittedFile { path: shown.file.path.clone(), reason });
                shown.candidate.why = Some(reason.words().to_owned());
                whole.crowded_out.push(shown);
                continue;
            };
            if 0 < rung
                && let Some(held) = self.rungs.remove(&(at, rung))
                && held.block.view != shown.candidate.block.view
            {
                shown.candidate.block = held.block;
                shown.candidate.why = Some("to keep within the budget".to_owned());
            }
            whole.files.push(shown);
        }
        whole.remarks.left_out.sort_by(|a, b| a.path.cmp(&b.path));
        whole
    }
}

/// Returns about how many bytes a file's block has in a view.
const fn usual_bytes(view: ViewMode) -> u64 {
    match view {
        ViewMode::Path | ViewMode::None => 60,
        ViewMode::Summary => 600,
        ViewMode::Outline | ViewMode::Signatures => 1500,
        ViewMode::Skeleton
        | ViewMode::Masked
        | ViewMode::Custom
        | ViewMode::Diff
        | ViewMode::Window
        | ViewMode::Definitions
        | ViewMode::Full => 4000,
    }
}

fn over(sizes: Sizes, limits: Limits) -> Error {
    match limits.tokens {
        Some(budget) if budget < sizes.tokens => Error::OverBudget { tokens: sizes.tokens, budget },
        Some(_) | None => Error::OverSize { bytes: sizes.bytes, limit: limits.bytes.unwrap_or(0) },
    }
}
