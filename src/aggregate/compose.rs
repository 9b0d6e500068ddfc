//! Views become one document with a receipt.

use super::budget::Limits;
use super::order::Stability;
use super::order::arrange;
use super::tree::NameTree;
use crate::model::Beads;
use crate::model::Block;
use crate::model::Document;
use crate::model::MissingFile;
use crate::model::Omission;
use crate::model::OmittedFile;
use crate::model::Order;
use crate::model::Part;
use crate::model::Problem;
use crate::model::Receipt;
use crate::model::ReceiptEntry;
use crate::model::Rule;
use crate::model::Screenshot;
use crate::model::Strategy;
use crate::model::Tier;
use crate::model::Utterance;
use crate::model::ViewMode;

/// What was asked for, as far as the document as a whole depends on it.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The tier, if one was asked for.
    pub tier: Option<Tier>,
    /// The strategy.
    pub strategy: Strategy,
    /// The order of the files.
    pub order: Order,
    /// The view that most files get; it names the section.
    pub common_view: ViewMode,
    /// The tree of names, if it is wanted.
    pub tree: Option<NameTree>,
    /// Whether it shows what has changed since the last document of its name.
    pub since_last: bool,
    /// What stands beside the files.
    pub sections: Sections,
}

/// What stands beside the files.
#[derive(Debug, Clone)]
pub struct Sections {
    /// Which part of the document is wanted.
    pub part: Part,
    /// The screenshots.
    pub screenshots: Vec<Screenshot>,
    /// The tracked work, if the project is in that mode.
    pub beads: Option<Beads>,
    /// What was said so far.
    pub discussion: Vec<Utterance>,
    /// What could not be had.
    pub problems: Vec<Problem>,
}

/// A file with its view, before it has its place.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The file as it is shown.
    pub block: Block,
    /// How it would have been shown, had nothing stood in the way.
    pub wanted: ViewMode,
    /// The rule that wanted it so.
    pub rule: Rule,
    /// Why it is not shown as wanted.
    pub why: Option<String>,
    /// How likely it is to change.
    pub stability: Stability,
    /// At which place the request named it.
    pub given: usize,
}

/// What was said of the document as a whole, and goes into its receipt.
#[derive(Debug, Clone)]
pub struct Remarks {
    /// Name that the document is remembered by, if it is.
    pub name: Option<String>,
    /// Limits that the document was fitted into.
    pub limits: Limits,
    /// Whether the tree was left out for want of room.
    pub without_tree: bool,
    /// Files that are not shown.
    pub left_out: Vec<OmittedFile>,
    /// Words that no file answers to.
    pub missing: Vec<MissingFile>,
}

/// Puts the files in their order, and writes the receipt. Sizes in it are 0 until the document is measured, which only
/// whoever writes it can do.
pub fn compose(plan: Plan, mut files: Vec<Candidate>, remarks: Remarks) -> Document {
    arrange(&mut files, plan.order, |file| &file.block.path, |file| file.stability, |file| file.given);
    let Remarks { name, limits, without_tree, left_out, missing } = remarks;
    let receipt = Receipt {
        tier: plan.tier.map(Tier::number),
        name,
        since_last: plan.since_last,
        strategy: plan.strategy.name(),
        order: plan.order.name(),
        counter: "",
        budget_tokens: limits.tokens,
        max_bytes: limits.bytes,
        bytes: 0,
        tokens: 0,
        without_tree,
        folders_by_model: plan.tree.as_ref().map_or(0, |tree| tree.noted),
        files: files.iter().map(entry).collect(),
        left_out,
        missing,
        problems: plan.sections.problems.clone(),
    };
    let files_heading = heading(&plan);
    let sections = plan.sections;
    let blocks = files.into_iter().map(|file| file.block).collect();
    let is_cut = receipt.left_out.iter().any(|file| matches!(file.reason, Omission::Budget { .. }));
    let Sections { part, screenshots, beads, discussion, .. } = sections;
    let tree = plan.tree.map(|tree| tree.text);
    Document { part, files_heading, blocks, is_cut, tree, screenshots, beads, discussion, receipt }
}

/// Returns the document without its files and its tree, which are what may be made smaller.
pub fn without_files(plan: &Plan) -> Document {
    let remarks = Remarks {
        name: None,
        limits: Limits::default(),
        without_tree: false,
        left_out: Vec::new(),
        missing: Vec::new(),
    };
    let plan = Plan { tree: None, sections: plan.sections.clone(), ..*plan };
    compose(plan, Vec::new(), remarks)
}

fn entry(file: &Candidate) -> ReceiptEntry {
    ReceiptEntry {
        path: file.block.path.clone(),
        content: file.block.content,
        view: file.block.view,
        wanted: file.wanted,
        rule: file.rule,
        why: file.why.clone(),
        summary: file.block.summary.clone(),
        bytes: 0,
        tokens: 0,
    }
}

/// Returns the heading of the section of files. It stands before all of them, so it must not depend on which of them are in focus.
pub fn heading(plan: &Plan) -> &'static str {
    if plan.since_last {
        return "Files (Changed Since the Last Aggregation)";
    }
    match (plan.strategy, plan.tier, plan.common_view) {
        (Strategy::Auto, Some(Tier::Worker), _) => "Files (Tier 3 - Focused)",
        (_, _, ViewMode::Summary) => "Files (Summary)",
        (_, _, _) => "Files",
    }
}
