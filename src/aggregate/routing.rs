//! Which view a file gets: the first rule that matches decides.

use std::collections::BTreeMap;

use super::focus::Focus;
use crate::model::FileType;
use crate::model::RelPath;
use crate::model::Rule;
use crate::model::Strategy;
use crate::model::SummaryDetail;
use crate::model::Tier;
use crate::model::ViewMode;

/// How a tier sees a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TierOptions {
    /// The tier.
    pub tier: Tier,
    /// View of files that nothing else decides.
    pub view: ViewMode,
    /// View of files in focus.
    pub focus_view: ViewMode,
    /// What stands below the words of a summary.
    pub summary_detail: SummaryDetail,
    /// Whether the tree of names is included.
    pub tree: bool,
    /// Views of files by the id of their type.
    pub language_views: BTreeMap<String, ViewMode>,
}

/// All that decides about views.
#[derive(Debug)]
pub struct Routing<'a> {
    /// The strategy.
    pub strategy: Strategy,
    /// The tier, if one was asked for.
    pub tier: Option<&'a TierOptions>,
    /// The files in focus.
    pub focus: &'a Focus,
    /// View where nothing else decides.
    pub default_mode: ViewMode,
    /// A file of more bytes is not rendered in full.
    pub max_bytes: u64,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Routed {
    /// The view.
    pub view: ViewMode,
    /// The rule that decided.
    pub rule: Rule,
}

/// What one rule had to say of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The rule.
    pub rule: Rule,
    /// The view that it gives, if it matches.
    pub view: Option<ViewMode>,
}

/// Asks every rule, in the order in which they are asked.
pub fn explain(path: &RelPath, file_type: &FileType, routing: &Routing<'_>) -> Vec<Verdict> {
    let focus_view = routing.tier.map_or(ViewMode::Full, |tier| tier.focus_view);
    let strategy_view = match routing.strategy {
        Strategy::Full => Some(ViewMode::Full),
        Strategy::Summarize => Some(ViewMode::Summary),
        Strategy::Auto => None,
    };
    let tier_language = routing.tier.and_then(|tier| tier.language_views.get(file_type.id)).copied();
    vec![
        Verdict { rule: Rule::Focus, view: routing.focus.lines(path).map(|_| focus_view) },
        Verdict { rule: Rule::Strategy, view: strategy_view },
        Verdict { rule: Rule::TierLanguage, view: tier_language },
        Verdict { rule: Rule::Tier, view: routing.tier.map(|tier| tier.view) },
        Verdict { rule: Rule::DefaultMode, view: Some(routing.default_mode) },
    ]
}

/// Returns the view of a file, and the rule that gave it.
pub fn route(path: &RelPath, file_type: &FileType, routing: &Routing<'_>) -> Routed {
    let verdicts = explain(path, file_type, routing);
    let first =
        verdicts.into_iter().find_map(|verdict| Some(Routed { view: verdict.view?, rule: verdict.rule }));
    first.unwrap_or(Routed { view: routing.default_mode, rule: Rule::DefaultMode })
}

/// Returns the view that a file of `size` bytes gets instead of `wanted`, and why, if it cannot be had.
pub fn fit_to_size(
    wanted: ViewMode,
    size: u64,
    max_bytes: u64,
    has_structure: bool,
) -> (ViewMode, Option<String>) {
    let needs_structure = matches!(wanted, ViewMode::Skeleton | ViewMode::Outline);
    if needs_structure && !has_structure {
        return (ViewMode::Summary, Some(format!("no {wanted} for this type of file")));
    }
    if wanted == ViewMode::Full && max_bytes < size {
        let view = if has_structure { ViewMode::Skeleton } else { ViewMode::Summary };
        return (view, Some(format!("larger than limits.max_bytes ({max_bytes})")));
    }
    (wanted, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Role;

    static PYTHON: FileType = FileType { id: "python", name: "Python", fence: "python", role: Role::Code };

    fn worker() -> TierOptions {
        TierOptions {
            tier: Tier::Worker,
            view: ViewMode::Skeleton,
            focus_view: ViewMode::Full,
            summary_detail: SummaryDetail::Words,
            tree: false,
            language_views: BTreeMap::from([("markdown".to_owned(), ViewMode::Summary)]),
        }
    }

    #[track_caller]
    fn check(strategy: Strategy, tier: Option<&TierOptions>, focus: &str, view: ViewMode, rule: Rule) {
        let words = if focus.is_empty() { vec![] } else { vec![focus.to_owned()] };
        let focus = Focus::new(&words).unwrap();
        let routing =
            Routing { strategy, tier, focus: &focus, default_mode: ViewMode::Outline, max_bytes: 100 };
        let path = RelPath::new(b"src/a.py").unwrap();
        assert_eq!(route(&path, &PYTHON, &routing), Routed { view, rule });
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let worker = worker();
        let python = TierOptions {
            language_views: BTreeMap::from([("python".to_owned(), ViewMode::None)]),
            ..worker.clone()
        };
        check(Strategy::Full, Some(&worker), "a.py", ViewMode::Full, Rule::Focus);
        check(Strategy::Summarize, Some(&worker), "a.py", ViewMode::Full, Rule::Focus);
        check(Strategy::Full, Some(&worker), "b.py", ViewMode::Full, Rule::Strategy);
        check(Strategy::Summarize, Some(&worker), "", ViewMode::Summary, Rule::Strategy);
        check(Strategy::Auto, Some(&python), "", ViewMode::None, Rule::TierLanguage);
        check(Strategy::Auto, Some(&worker), "", ViewMode::Skeleton, Rule::Tier);
        check(Strategy::Auto, None, "", ViewMode::Outline, Rule::DefaultMode);
    }

    #[test]
    fn a_view_that_cannot_be_had_becomes_a_smaller_one_and_says_why() {
        let fit = |wanted, size, has_structure| fit_to_size(wanted, size, 100, has_structure).0;
        assert_eq!(fit(ViewMode::Full, 100, true), ViewMode::Full);
        assert_eq!(fit(ViewMode::Full, 101, true), ViewMode::Skeleton);
        assert_eq!(fit(ViewMode::Full, 101, false), ViewMode::Summary);
        assert_eq!(fit(ViewMode::Skeleton, 1, false), ViewMode::Summary);
        assert_eq!(fit(ViewMode::None, 101, false), ViewMode::None);
        assert!(fit_to_size(ViewMode::Outline, 1, 100, false).1.unwrap().contains("outline"));
    }
}
