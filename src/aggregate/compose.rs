//! Views become one document with a receipt.

use super::order::Stability;
use super::order::arrange;
use super::tokens::ESTIMATE;
use super::tokens::estimate_tokens;
use crate::model::Beads;
use crate::model::Block;
use crate::model::Document;
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
#[derive(Debug)]
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
    pub tree: Option<String>,
    /// What stands beside the files.
    pub sections: Sections,
}

/// What stands beside the files.
#[derive(Debug)]
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
#[derive(Debug)]
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

/// Puts the files in their order, and writes the receipt.
pub fn compose(plan: Plan, mut files: Vec<Candidate>, left_out: Vec<OmittedFile>) -> Document {
    arrange(&mut files, plan.order, |file| &file.block.path, |file| file.stability, |file| file.given);
    let receipt = Receipt {
        tier: plan.tier.map(Tier::number),
        strategy: plan.strategy.name(),
        order: plan.order.name(),
        counter: ESTIMATE,
        files: files.iter().map(entry).collect(),
        left_out,
        problems: plan.sections.problems.clone(),
    };
    let files_heading = heading(&plan);
    let sections = plan.sections;
    let blocks = files.into_iter().map(|file| file.block).collect();
    let Sections { part, screenshots, beads, discussion, .. } = sections;
    Document { part, files_heading, blocks, tree: plan.tree, screenshots, beads, discussion, receipt }
}

fn entry(file: &Candidate) -> ReceiptEntry {
    let bytes = file.block.body.len() as u64;
    ReceiptEntry {
        path: file.block.path.clone(),
        content: file.block.content,
        view: file.block.view,
        wanted: file.wanted,
        rule: file.rule,
        why: file.why.clone(),
        bytes,
        tokens: estimate_tokens(bytes),
    }
}

/// The heading stands before all files, so it must not depend on which of them are in focus.
fn heading(plan: &Plan) -> &'static str {
    match (plan.strategy, plan.tier, plan.common_view) {
        (Strategy::Auto, Some(Tier::Worker), _) => "Files (Tier 3 - Focused)",
        (_, _, ViewMode::Summary) => "Files (Summary)",
        (_, _, _) => "Files",
    }
}
