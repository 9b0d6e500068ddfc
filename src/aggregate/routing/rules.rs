//! Decides the view of each file: the first rule that matches wins.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::focus::Focus;
use super::items::CuratedItems;
use crate::model::{
    AggregationStrategy, Depth, FileItem, FileType, FragmentName, RelPath, RoutingRule, SummaryDetail, Tier,
    ViewMode,
};

/// How a project is shown to a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierOptions {
    pub tier: Tier,
    /// The view of files that no other rule decides.
    pub view: ViewMode,
    pub focus_view: ViewMode,
    /// What is shown below the text of a summary.
    pub summary_detail: SummaryDetail,
    /// Whether a model's summary replaces the heuristic one, if there is one.
    pub by_model: bool,
    pub tree: bool,
    /// The part of a limited document that does not depend on the task, in thousandths.
    pub stable_thousandths: u32,
    /// Views of files by file type id.
    pub language_views: BTreeMap<String, ViewMode>,
}

/// Everything that views depend on.
#[derive(Debug)]
pub struct RoutingContext<'a> {
    pub strategy: AggregationStrategy,
    pub tier: Option<&'a TierOptions>,
    pub focus: &'a Focus,
    /// The curated items.
    pub items: &'a CuratedItems,
    /// The view if nothing else decides.
    pub default_mode: ViewMode,
    /// A larger file is not rendered in full.
    pub max_bytes: u64,
    /// The depths of files in a hydrated document.
    pub depths: Option<&'a HydratedDepths>,
}

impl RoutingContext<'_> {
    /// Returns whether any file may be shown as a diff.
    pub fn may_show_diffs(&self) -> bool {
        let of_tier = |tier: &TierOptions| {
            [tier.view, tier.focus_view].contains(&ViewMode::Diff)
                || tier.language_views.values().any(|view| *view == ViewMode::Diff)
        };
        self.default_mode == ViewMode::Diff
            || self.tier.is_some_and(of_tier)
            || self.items.any(|item| item.view_mode == Some(ViewMode::Diff))
    }
}

/// The slices of a file in a hydrated document, by name, with their depths.
pub type SliceDepths = BTreeMap<String, Depth>;

/// The depths of files and slices in a hydrated document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HydratedDepths {
    pub files: BTreeMap<RelPath, Depth>,
    /// The slices, by file.
    pub slices: BTreeMap<RelPath, SliceDepths>,
}

impl HydratedDepths {
    /// Returns the depths of some fragments.
    pub fn of_fragments<'f>(fragments: impl IntoIterator<Item = (&'f FragmentName, Depth)>) -> Self {
        let mut depths = Self::default();
        for (FragmentName { path, part }, depth) in fragments {
            match part {
                None => {
                    depths.files.insert(path.clone(), depth);
                }
                Some(part) => {
                    depths.slices.entry(path.clone()).or_default().insert(part.clone(), depth);
                }
            }
        }
        depths
    }

    /// Returns the files that are at least partly shown.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        let without_slices = self.files.keys().filter(|path| !self.slices.contains_key(*path));
        self.slices.keys().chain(without_slices)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutedView {
    /// The view; [`ViewMode::None`] also for a file that is left out completely.
    pub view: ViewMode,
    pub rule: RoutingRule,
}

impl RoutedView {
    /// Returns the view of a file in a hydrated document.
    #[must_use]
    pub fn hydrated(self, path: &RelPath, depths: &HydratedDepths) -> Self {
        match depths.files.get(path) {
            Some(depth) => self.at_depth(*depth),
            // The placed slices no longer exist, and the whole file would exceed the limit.
            None if depths.slices.contains_key(path) && self.rule != RoutingRule::Slices => {
                self.at_depth(Depth::SUMMARY)
            }
            None => self,
        }
    }

    /// Returns the view for a depth assigned by hydration. A curated view is kept, unless less fits.
    fn at_depth(self, depth: Depth) -> Self {
        let routed = Depth::of_view(self.view);
        match (self.rule.is_general(), routed.cmp(&depth)) {
            (false, Ordering::Less | Ordering::Equal) => self,
            (true, Ordering::Equal) => Self { rule: RoutingRule::Hydration, ..self },
            (_, _) => Self { view: depth.view(), rule: RoutingRule::Hydration },
        }
    }
}

/// The verdict of one rule about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleVerdict {
    pub rule: RoutingRule,
    pub view: Option<ViewMode>,
}

/// Evaluates all rules in the order of the contract (`docs/documents.md`, "Which view a file gets").
pub fn explain_routing(
    path: &RelPath,
    file_type: &FileType,
    routing: &RoutingContext<'_>,
) -> Vec<RuleVerdict> {
    let item = routing.items.find(path);
    let says = |test: fn(&FileItem) -> bool| item.is_some_and(test);
    let when = |is_so: bool, view: ViewMode| is_so.then_some(view);
    let is_worker = routing.tier.is_some_and(|tier| tier.tier == Tier::Worker);
    let focus_view = routing.tier.map_or(ViewMode::Full, |tier| tier.focus_view);
    let tier_language = routing.tier.and_then(|tier| tier.language_views.get(file_type.id)).copied();
    // In the order of the contract. Rules that leave a file out come first, so that not even focus shows it.
    let rules = [
        (RoutingRule::AutoAggregate, when(says(|item| !item.auto_aggregate), ViewMode::None)),
        (RoutingRule::Excluded, when(says(|item| item.view_mode == Some(ViewMode::None)), ViewMode::None)),
        (RoutingRule::Focus, routing.focus.lines(path).map(|_| focus_view)),
        (RoutingRule::ForceFull, when(says(|item| item.force_full), ViewMode::Full)),
        (
            RoutingRule::ItemTier,
            when(is_worker && says(|item| item.tier == Some(Tier::Worker)), ViewMode::Full),
        ),
        (RoutingRule::Strategy, strategy_view(routing.strategy)),
        (RoutingRule::Slices, when(says(|item| !item.custom_slices.is_empty()), ViewMode::Custom)),
        (RoutingRule::Mask, when(says(|item| !item.ast_mask.is_empty()), ViewMode::Masked)),
        (RoutingRule::ItemView, item.and_then(|item| item.view_mode)),
        (RoutingRule::Ast, item.and_then(ast_view)),
        (RoutingRule::TierLanguage, tier_language),
        (RoutingRule::Tier, routing.tier.map(|tier| tier.view)),
        (RoutingRule::DefaultMode, Some(routing.default_mode)),
    ];
    rules.map(|(rule, view)| RuleVerdict { rule, view }).to_vec()
}

const fn strategy_view(strategy: AggregationStrategy) -> Option<ViewMode> {
    match strategy {
        AggregationStrategy::Full => Some(ViewMode::Full),
        AggregationStrategy::Summarize => Some(ViewMode::Summary),
        AggregationStrategy::Auto => None,
    }
}

/// Definitions include signatures, so they win if an item asks for both.
fn ast_view(item: &FileItem) -> Option<ViewMode> {
    match (item.ast_definitions, item.ast_signatures) {
        (true, _) => Some(ViewMode::Definitions),
        (false, true) => Some(ViewMode::Signatures),
        (false, false) => None,
    }
}

/// Returns the view that an item by itself gives a file, by the rules of [`explain_routing`] about items.
pub fn view_of_item(item: &FileItem) -> Option<ViewMode> {
    let when = |is_so: bool, view: ViewMode| is_so.then_some(view);
    when(item.view_mode == Some(ViewMode::None), ViewMode::None)
        .or(when(item.force_full, ViewMode::Full))
        .or(when(!item.custom_slices.is_empty(), ViewMode::Custom))
        .or(when(!item.ast_mask.is_empty(), ViewMode::Masked))
        .or(item.view_mode)
        .or_else(|| ast_view(item))
}

/// Returns the view of a file, and the rule that decided it.
pub fn route_file(path: &RelPath, file_type: &FileType, routing: &RoutingContext<'_>) -> RoutedView {
    // All rules are evaluated although the first match decides: an explanation by other code could differ.
    let verdicts = explain_routing(path, file_type, routing);
    let first =
        verdicts.into_iter().find_map(|verdict| Some(RoutedView { view: verdict.view?, rule: verdict.rule }));
    first.unwrap_or(RoutedView { view: routing.default_mode, rule: RoutingRule::DefaultMode })
}

/// Returns the view that a file would have without masks.
pub fn view_without_mask(path: &RelPath, file_type: &FileType, routing: &RoutingContext<'_>) -> ViewMode {
    let verdicts = explain_routing(path, file_type, routing).into_iter();
    let mut others = verdicts.filter(|verdict| verdict.rule != RoutingRule::Mask);
    others.find_map(|verdict| verdict.view).unwrap_or(routing.default_mode)
}

/// Returns the view that a file of `size` bytes gets instead of `wanted`, and why, if `wanted` is not possible.
pub fn limit_to_size(
    wanted: ViewMode,
    size: u64,
    max_bytes: u64,
    has_structure: bool,
) -> (ViewMode, Option<String>) {
    if wanted.needs_structure() && !has_structure {
        return (ViewMode::Summary, Some(format!("no {wanted} view for this type of file")));
    }
    if wanted == ViewMode::Full && max_bytes < size {
        let view = if has_structure { ViewMode::Skeleton } else { ViewMode::Summary };
        return (view, Some(format!("larger than limits.max_bytes ({max_bytes})")));
    }
    (wanted, None)
}

#[cfg(test)]
mod routing_tests {
    use super::*;
    use crate::model::{FileRole, MaskMode, Slice, SliceAnchors};

    static PYTHON: FileType =
        FileType { id: "python", name: "Python", fence: "python", role: FileRole::Code };

    fn worker() -> TierOptions {
        TierOptions {
            tier: Tier::Worker,
            view: ViewMode::Skeleton,
            focus_view: ViewMode::Full,
            summary_detail: SummaryDetail::Words,
            by_model: false,
            tree: false,
            stable_thousandths: 0,
            language_views: BTreeMap::from([("markdown".to_owned(), ViewMode::Summary)]),
        }
    }

    /// The inputs of the rules for the file `src/a.py`.
    struct RoutingCase {
        strategy: AggregationStrategy,
        tier: Option<TierOptions>,
        focus: &'static str,
        item: FileItem,
    }

    fn case() -> RoutingCase {
        RoutingCase {
            strategy: AggregationStrategy::Auto,
            tier: None,
            focus: "",
            item: FileItem::plain("src/a.py"),
        }
    }

    #[track_caller]
    fn check(case: &RoutingCase, view: ViewMode, rule: RoutingRule) {
        let words = if case.focus.is_empty() { vec![] } else { vec![case.focus.to_owned()] };
        let (focus, items) = (Focus::new(&words).unwrap(), CuratedItems::new(vec![case.item.clone()]));
        let routing = RoutingContext {
            strategy: case.strategy,
            tier: case.tier.as_ref(),
            focus: &focus,
            items: &items,
            default_mode: ViewMode::Outline,
            max_bytes: 100,
            depths: None,
        };
        let path = RelPath::new(b"src/a.py").unwrap();
        assert_eq!(route_file(&path, &PYTHON, &routing), RoutedView { view, rule });
    }

    /// Starts with a case in which all rules match, and disables one at a time: each row is the first rule that
    /// remains, so the table is the order of the contract.
    #[test]
    fn the_first_rule_that_matches_decides() {
        let slice = Slice {
            start_line: 1,
            end_line: 2,
            tag: String::new(),
            comment: String::new(),
            anchors: SliceAnchors::default(),
        };
        let python = BTreeMap::from([("python".to_owned(), ViewMode::Window)]);
        let mut case = RoutingCase {
            strategy: AggregationStrategy::Summarize,
            tier: Some(TierOptions { language_views: python, ..worker() }),
            focus: "a.py",
            item: FileItem {
                auto_aggregate: false,
                force_full: true,
                view_mode: Some(ViewMode::None),
                ast_signatures: true,
                ast_definitions: true,
                ast_mask: vec![("f".to_owned(), MaskMode::Hide)],
                tier: Some(Tier::Worker),
                custom_slices: vec![slice],
                ..FileItem::plain("src/*.py")
            },
        };
        check(&case, ViewMode::None, RoutingRule::AutoAggregate);
        case.item.auto_aggregate = true;
        check(&case, ViewMode::None, RoutingRule::Excluded);
        case.item.view_mode = Some(ViewMode::Diff);
        check(&case, ViewMode::Full, RoutingRule::Focus);
        case.focus = "";
        check(&case, ViewMode::Full, RoutingRule::ForceFull);
        case.item.force_full = false;
        check(&case, ViewMode::Full, RoutingRule::ItemTier);
        case.item.tier = Some(Tier::Qa);
        check(&case, ViewMode::Summary, RoutingRule::Strategy);
        case.strategy = AggregationStrategy::Full;
        check(&case, ViewMode::Full, RoutingRule::Strategy);
        case.strategy = AggregationStrategy::Auto;
        check(&case, ViewMode::Custom, RoutingRule::Slices);
        case.item.custom_slices.clear();
        check(&case, ViewMode::Masked, RoutingRule::Mask);
        case.item.ast_mask.clear();
        check(&case, ViewMode::Diff, RoutingRule::ItemView);
        case.item.view_mode = None;
        check(&case, ViewMode::Definitions, RoutingRule::Ast);
        case.item.ast_definitions = false;
        check(&case, ViewMode::Signatures, RoutingRule::Ast);
        case.item.ast_signatures = false;
        check(&case, ViewMode::Window, RoutingRule::TierLanguage);
        case.tier = Some(worker());
        check(&case, ViewMode::Skeleton, RoutingRule::Tier);
        case.tier = None;
        check(&case, ViewMode::Outline, RoutingRule::DefaultMode);
    }

    #[test]
    fn an_item_of_the_workers_tier_is_full_for_the_worker_alone() {
        let item = FileItem { tier: Some(Tier::Worker), ..FileItem::plain("src/a.py") };
        let lead = TierOptions { tier: Tier::TechLead, view: ViewMode::Summary, ..worker() };
        check(
            &RoutingCase { tier: Some(worker()), item: item.clone(), ..case() },
            ViewMode::Full,
            RoutingRule::ItemTier,
        );
        check(
            &RoutingCase { tier: Some(lead), item: item.clone(), ..case() },
            ViewMode::Summary,
            RoutingRule::Tier,
        );
        check(&RoutingCase { item, ..case() }, ViewMode::Outline, RoutingRule::DefaultMode);
    }

    #[test]
    fn a_file_in_focus_gets_the_focus_view_of_its_tier() {
        let qa = TierOptions { tier: Tier::Qa, focus_view: ViewMode::Window, ..worker() };
        check(&RoutingCase { tier: Some(qa), focus: "a.py", ..case() }, ViewMode::Window, RoutingRule::Focus);
        check(&RoutingCase { focus: "a.py", ..case() }, ViewMode::Full, RoutingRule::Focus);
    }

    #[test]
    fn an_impossible_view_becomes_a_smaller_one_with_a_reason() {
        let fit = |wanted, size, has_structure| limit_to_size(wanted, size, 100, has_structure).0;
        assert_eq!(fit(ViewMode::Full, 100, true), ViewMode::Full);
        assert_eq!(fit(ViewMode::Full, 101, true), ViewMode::Skeleton);
        assert_eq!(fit(ViewMode::Full, 101, false), ViewMode::Summary);
        assert_eq!(fit(ViewMode::Skeleton, 1, false), ViewMode::Summary);
        assert_eq!(fit(ViewMode::None, 101, false), ViewMode::None);
        assert!(limit_to_size(ViewMode::Outline, 1, 100, false).1.unwrap().contains("outline"));
    }
}

#[cfg(test)]
mod items_tests {
    use super::*;

    #[test]
    fn a_path_wins_over_a_pattern_and_the_last_over_the_first() {
        let item = |path: &str, selected| FileItem { selected, ..FileItem::plain(path) };
        let items = vec![
            item("./src/a.py", true),
            item("src/*.py", false),
            item("docs", false),
            item("docs/*.md", true),
            item("src", false),
        ];
        let items = CuratedItems::new(items);
        let of = |path: &str| {
            items
                .find(&RelPath::new(path.as_bytes()).unwrap())
                .map(|item| (item.path.as_str(), item.selected))
        };
        assert_eq!(of("src/a.py"), Some(("./src/a.py", true)));
        assert_eq!(of("src/b.py"), Some(("src", false)));
        assert_eq!(of("docs/x.md"), Some(("docs/*.md", true)));
        assert_eq!(of("docs/deep/x.md"), Some(("docs", false)));
        assert_eq!(of("README.md"), None);
        let above = vec![FileItem { force_full: true, ..item("docs/x.md", false) }, item("docs/y.md", false)];
        let both = items.overlaid_by(CuratedItems::new(above));
        let said = |path: &str| both.find(&RelPath::new(path.as_bytes()).unwrap()).unwrap().selected;
        assert!(!said("docs/x.md"));
        assert!(said("docs/y.md"), "a plain item hides nothing");
    }

    #[test]
    fn an_invalid_pattern_is_a_path() {
        let items = CuratedItems::new(vec![FileItem::plain("src/[x/b.py")]);
        assert!(items.find(&RelPath::new(b"src/[x/b.py").unwrap()).is_some());
        assert!(items.find(&RelPath::new(b"src/x/b.py").unwrap()).is_none());
    }
}
