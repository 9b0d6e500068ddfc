//! One document made for one agent.

use std::collections::HashMap;

use super::error::Error;
use super::project::Project;
use super::reading::ReadText;
use super::rendering::Rendering;
use super::rendering::block;
use super::rendering::type_of;
use super::scan::KnownFile;
use super::scan::KnownState;
use super::scan::Trust;
use super::sections::SectionRequest;
use crate::aggregate;
use crate::aggregate::Candidate;
use crate::aggregate::Focus;
use crate::aggregate::FocusLines;
use crate::aggregate::Plan;
use crate::aggregate::Routed;
use crate::aggregate::Routing;
use crate::aggregate::Sections;
use crate::aggregate::Selector;
use crate::aggregate::Stability;
use crate::aggregate::TierOptions;
use crate::aggregate::Verdict;
use crate::model::ContentHash;
use crate::model::Document;
use crate::model::FileType;
use crate::model::LeftOut;
use crate::model::OmittedFile;
use crate::model::Order;
use crate::model::RelPath;
use crate::model::Strategy;
use crate::model::SummaryDetail;
use crate::model::ViewMode;

/// What is to be aggregated, and how.
#[derive(Debug, Clone)]
pub struct AggregationRequest {
    /// How the agent's tier sees the project, if a tier was asked for.
    pub tier: Option<TierOptions>,
    /// The strategy.
    pub strategy: Strategy,
    /// The view where nothing else decides.
    pub default_mode: ViewMode,
    /// The order of the files.
    pub order: Order,
    /// Words for the files in focus.
    pub focus: Vec<String>,
    /// Words for the files that are wanted; none for all.
    pub files: Vec<String>,
    /// Whether stamps may save a reading.
    pub trust: Trust,
    /// What stands beside the files.
    pub sections: SectionRequest,
}

/// Why a file gets the view that it gets.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The file.
    pub path: RelPath,
    /// Its content and its size in bytes, if it has text.
    pub content: Option<(ContentHash, u64)>,
    /// Its type, if it has text.
    pub file_type: Option<&'static FileType>,
    /// Its text's encoding, and other things that its head would say.
    pub remarks: Vec<String>,
    /// Why it is left out altogether.
    pub left_out: Option<LeftOut>,
    /// What each rule has to say.
    pub verdicts: Vec<Verdict>,
    /// What was decided.
    pub routed: Routed,
    /// What it is shown as in the end.
    pub view: ViewMode,
    /// Why that is not what was decided.
    pub why: Option<String>,
    /// Bytes of the view.
    pub bytes: u64,
    /// Tokens of the view, as [`Explanation::counter`] counts.
    pub tokens: u64,
    /// Name of the way tokens were counted.
    pub counter: &'static str,
}

impl Project<'_> {
    /// Composes the document that was asked for, from the files as they are now.
    pub fn aggregate(&mut self, request: &AggregationRequest) -> Result<Document, Error> {
        // First, for it may be refused, and costs nothing.
        let sections = self.sections(&request.sections)?;
        if !request.sections.part.has_prefix() {
            return Ok(aggregate::compose(plan(request, None, sections), Vec::new(), Vec::new()));
        }
        let focus = Focus::new(&request.focus)?;
        let routing = self.routing(request, &focus);
        let keeps_text = |path: &RelPath| wants_text(path, &routing);
        let selection = self.files_named(&request.files, request.trust, &keeps_text)?;
        let mut texts = selection.texts;
        let ranks = Ranks::new(&request.files)?;
        let tree = request.tier.as_ref().is_some_and(|tier| tier.tree).then(|| tree_of(&selection.files));
        let (mut candidates, mut left_out) = (Vec::new(), Vec::new());
        let mut shown = HashMap::new();
        for file in selection.files {
            if request.sections.is_discussion(&file.path) {
                // It would change the prefix with every word that is said.
                left_out.push(OmittedFile { path: file.path, reason: LeftOut::History });
                continue;
            }
            match &file.state {
                KnownState::LeftOut(reason)
                    if !reason.is_error() && !selection.by_name.contains(&file.path) =>
                {
                    left_out.push(OmittedFile { path: file.path, reason: *reason });
                }
                KnownState::LeftOut(_) | KnownState::Content { .. } => {
                    let text = texts.remove(&file.path);
                    candidates.push(self.candidate(&file, &routing, text, ranks.of(&file.path)));
                    shown.insert(file.path.clone(), file);
                }
            }
        }
        if request.order == Order::Stable {
            self.weigh(&mut candidates, &shown, detail(&routing));
        }
        Ok(aggregate::compose(plan(request, tree, sections), candidates, left_out))
    }

    /// Says why a file would get the view that it would get.
    pub fn explain(&mut self, word: &str, request: &AggregationRequest) -> Result<Vec<Explanation>, Error> {
        let focus = Focus::new(&request.focus)?;
        let routing = self.routing(request, &focus);
        let selection = self.files_named(&[word.to_owned()], request.trust, &|_| false)?;
        let mut explanations = Vec::new();
        for file in selection.files {
            if let (KnownState::LeftOut(reason @ LeftOut::Vanished), true) =
                (&file.state, selection.by_name.contains(&file.path))
            {
                return Err(Error::LeftOut { path: file.path, reason: *reason });
            }
            let candidate = self.candidate(&file, &routing, None, 0);
            explanations.push(explanation(&file, &routing, candidate));
        }
        Ok(explanations)
    }

    fn routing<'a>(&self, request: &'a AggregationRequest, focus: &'a Focus) -> Routing<'a> {
        Routing {
            strategy: request.strategy,
            tier: request.tier.as_ref(),
            focus,
            default_mode: request.default_mode,
            max_bytes: self.options.max_bytes,
        }
    }

    fn candidate(
        &mut self,
        file: &KnownFile,
        routing: &Routing<'_>,
        text: Option<ReadText>,
        given: usize,
    ) -> Candidate {
        let routed = aggregate::route(&file.path, type_of(file), routing);
        let lines = routing.focus.lines(&file.path).unwrap_or(FocusLines(Vec::new()));
        let rendering = Rendering { view: routed.view, detail: detail(routing), lines: &lines, text };
        let mut rendered = self.render(file, rendering, routing.max_bytes);
        let why = rendered.why.take();
        Candidate {
            block: block(file, rendered),
            wanted: routed.view,
            rule: routed.rule,
            why,
            stability: Stability::default(),
            given,
        }
    }
}

fn explanation(file: &KnownFile, routing: &Routing<'_>, candidate: Candidate) -> Explanation {
    let (content, file_type, left_out) = match &file.state {
        KnownState::Content { hash, file_type, facts } => (Some((*hash, facts.size)), Some(*file_type), None),
        KnownState::LeftOut(reason) => (None, None, Some(*reason)),
    };
    let bytes = candidate.block.body.len() as u64;
    Explanation {
        path: file.path.clone(),
        content,
        file_type,
        remarks: candidate.block.remarks,
        left_out,
        verdicts: aggregate::explain(&file.path, type_of(file), routing),
        routed: Routed { view: candidate.wanted, rule: candidate.rule },
        view: candidate.block.view,
        why: candidate.why,
        bytes,
        tokens: aggregate::estimate_tokens(bytes),
        counter: aggregate::ESTIMATE,
    }
}

fn detail(routing: &Routing<'_>) -> SummaryDetail {
    routing.tier.map_or(SummaryDetail::Words, |tier| tier.summary_detail)
}

/// Says whether the text of a file may be wanted; its type is not known yet, so this says yes when in doubt.
fn wants_text(path: &RelPath, routing: &Routing<'_>) -> bool {
    let is_text = |view: ViewMode| matches!(view, ViewMode::Full | ViewMode::Window);
    let tier_wants = routing
        .tier
        .is_some_and(|tier| is_text(tier.view) || tier.language_views.values().copied().any(is_text));
    let default_wants = routing.tier.is_none() && is_text(routing.default_mode);
    match routing.strategy {
        Strategy::Full => true,
        Strategy::Summarize => routing.focus.lines(path).is_some(),
        Strategy::Auto => tier_wants || default_wants || routing.focus.lines(path).is_some(),
    }
}

fn plan(request: &AggregationRequest, tree: Option<String>, sections: Sections) -> Plan {
    Plan {
        tier: request.tier.as_ref().map(|tier| tier.tier),
        strategy: request.strategy,
        order: request.order,
        common_view: common_view(request),
        tree,
        sections,
    }
}

fn common_view(request: &AggregationRequest) -> ViewMode {
    match (request.strategy, &request.tier) {
        (Strategy::Full, _) => ViewMode::Full,
        (Strategy::Summarize, _) => ViewMode::Summary,
        (Strategy::Auto, Some(tier)) => tier.view,
        (Strategy::Auto, None) => request.default_mode,
    }
}

fn tree_of(files: &[KnownFile]) -> String {
    aggregate::tree(files.iter().map(|file| match &file.state {
        KnownState::Content { .. } => (&file.path, None),
        KnownState::LeftOut(reason) => (&file.path, Some(reason.name())),
    }))
}

/// The places at which a request names files.
struct Ranks(Vec<Selector>);

impl Ranks {
    fn new(words: &[String]) -> Result<Self, Error> {
        let selectors = words.iter().map(|word| Selector::new(word));
        Ok(Self(selectors.collect::<Result<_, _>>()?))
    }

    fn of(&self, path: &RelPath) -> usize {
        self.0.iter().position(|selector| selector.selects(path)).unwrap_or(usize::MAX)
    }
}
