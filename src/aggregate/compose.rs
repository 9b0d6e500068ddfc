//! Views become one document with a receipt.

use super::budget::DocumentLimits;
use super::order::FileStability;
use super::order::sort_files;
use super::tree::NameTree;
use crate::model::AggregationStrategy;
use crate::model::BeadsList;
use crate::model::DiscussionEntry;
use crate::model::Document;
use crate::model::DocumentBlock;
use crate::model::DocumentPart;
use crate::model::FileOrder;
use crate::model::MissingFile;
use crate::model::Omission;
use crate::model::OmittedFile;
use crate::model::Receipt;
use crate::model::ReceiptEntry;
use crate::model::RoutingRule;
use crate::model::Screenshot;
use crate::model::SectionProblem;
use crate::model::Tier;
use crate::model::ViewMode;

/// What was asked for, as far as the document as a whole depends on it.
#[derive(Debug, Clone)]
pub struct DocumentPlan {
    /// The tier, if one was asked for.
    pub tier: Option<Tier>,
    /// The strategy.
    pub strategy: AggregationStrategy,
    /// The order of the files.
    pub order: FileOrder,
    /// The view that most files get; it names the section.
    pub common_view: ViewMode,
    /// The tree of names, if it is wanted.
    pub tree: Option<NameTree>,
    /// Whether it shows what has changed since the last document of its name.
    pub since_last: bool,
    /// What stands beside the files.
    pub sections: DocumentSections,
}

/// What stands beside the files.
#[derive(Debug, Clone)]
pub struct DocumentSections {
    /// Which part of the document is wanted.
    pub part: DocumentPart,
    /// The screenshots.
    pub screenshots: Vec<Screenshot>,
    /// The tracked work, if the project is in that mode.
    pub beads: Option<BeadsList>,
    /// What was said so far.
    pub discussion: Vec<DiscussionEntry>,
    /// What could not be had.
    pub problems: Vec<SectionProblem>,
}

/// A file with its view, before it has its place.
#[derive(Debug, Clone)]
pub struct CandidateFile {
    /// The file as it is shown.
    pub block: DocumentBlock,
    /// How it would have been shown, had nothing stood in the way.
    pub wanted: ViewMode,
    /// The rule that wanted it so.
    pub rule: RoutingRule,
    /// Why it is not shown as wanted.
    pub reason: Option<String>,
    /// How likely it is to change.
    pub stability: FileStability,
    /// At which place the request named it.
    pub request_position: usize,
}

/// What was said of the document as a whole, and goes into its receipt.
#[derive(Debug, Clone)]
pub struct ReceiptNotes {
    /// Name that the document is remembered by, if it is.
    pub name: Option<String>,
    /// Limits that the document was fitted into.
    pub limits: DocumentLimits,
    /// Whether the tree was left out for want of room.
    pub tree_omitted: bool,
    /// Files that are not shown.
    pub omitted: Vec<OmittedFile>,
    /// Words that no file answers to.
    pub missing: Vec<MissingFile>,
}

/// Puts the files in their order, and writes the receipt. Sizes in it are 0 until the document is measured, which only
/// whoever writes it can do.
pub fn compose(plan: DocumentPlan, mut files: Vec<CandidateFile>, remarks: ReceiptNotes) -> Document {
    sort_files(
        &mut files,
        plan.order,
        |file| &file.block.path,
        |file| file.stability,
        |file| file.request_position,
    );
    let ReceiptNotes { name, limits, tree_omitted: without_tree, omitted: left_out, missing } = remarks;
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
        tree_omitted: without_tree,
        folders_by_model: plan.tree.as_ref().map_or(0, |tree| tree.annotated_folders),
        files: files.iter().map(receipt_entry).collect(),
        omitted: left_out,
        missing,
        problems: plan.sections.problems.clone(),
    };
    let files_heading = section_heading(&plan);
    let sections = plan.sections;
    let blocks = files.into_iter().map(|file| file.block).collect();
    let is_cut = receipt.omitted.iter().any(|file| matches!(file.reason, Omission::Budget { .. }));
    let DocumentSections { part, screenshots, beads, discussion, .. } = sections;
    let tree = plan.tree.map(|tree| tree.text);
    Document { part, files_heading, blocks, is_cut, tree, screenshots, beads, discussion, receipt }
}

/// Returns the document without its files and its tree, which are what may be made smaller.
pub fn compose_without_files(plan: &DocumentPlan) -> Document {
    let remarks = ReceiptNotes {
        name: None,
        limits: DocumentLimits::default(),
        tree_omitted: false,
        omitted: Vec::new(),
        missing: Vec::new(),
    };
    let plan = DocumentPlan { tree: None, sections: plan.sections.clone(), ..*plan };
    compose(plan, Vec::new(), remarks)
}

fn receipt_entry(file: &CandidateFile) -> ReceiptEntry {
    ReceiptEntry {
        path: file.block.path.clone(),
        content: file.block.content,
        view: file.block.view,
        wanted: file.wanted,
        rule: file.rule,
        reason: file.reason.clone(),
        summary: file.block.summary.clone(),
        bytes: 0,
        tokens: 0,
    }
}

/// Returns the heading of the section of files. It stands before all of them, so it must not depend on which of them are in focus.
pub fn section_heading(plan: &DocumentPlan) -> &'static str {
    if plan.since_last {
        return "Files (Changed Since the Last Aggregation)";
    }
    match (plan.strategy, plan.tier, plan.common_view) {
        (AggregationStrategy::Auto, Some(Tier::Worker), _) => "Files (Tier 3 - Focused)",
        (_, _, ViewMode::Summary) => "Files (Summary)",
        (_, _, _) => "Files",
    }
}
