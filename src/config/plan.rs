//! A hydration plan: several projects that share a budget.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::{Error, SettingOrigin};
use super::section::line_at;

/// The projects of a plan.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HydrationPlan {
    #[serde(default)]
    pub plan: PlanHead,
    #[serde(default)]
    pub project: Vec<PlannedProject>,
}

/// The head of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanHead {
    pub name: Option<String>,
    /// The most tokens that may be HOT in all of its projects; 0 for no limit.
    pub budget_tokens: Option<u64>,
}

/// A project of a plan.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedProject {
    /// The project's folder, relative to that of the plan.
    pub path: PathBuf,
    /// Its share of the budget, from 0 to 1.
    pub share: Option<f64>,
    #[serde(default)]
    pub focus: Vec<String>,
    pub tier: Option<u8>,
}

impl PlannedProject {
    /// Returns a project with only a folder.
    pub fn plain(path: PathBuf) -> Self {
        Self { path, share: None, focus: Vec::new(), tier: None }
    }
}

/// Reads a plan in JSON or TOML, depending on the file name. The paths of its projects become relative to the same
/// folder as the path of the file.
pub fn read_plan(file: &Path, bytes: &[u8]) -> Result<HydrationPlan, Error> {
    let origin = |line| SettingOrigin::UserFile { path: file.to_owned(), line };
    let text = std::str::from_utf8(bytes)
        .map_err(|source| Error::NotUtf8 { origin: origin(line_at(bytes, source.valid_up_to())), source })?;
    let mut plan: HydrationPlan = if file.extension().is_some_and(|extension| extension == "json") {
        serde_json::from_str(text)
            .map_err(|error| Error::Syntax { origin: origin(error.line()), message: error.to_string() })?
    } else {
        toml::from_str(text).map_err(|error| Error::Syntax {
            origin: origin(line_at(bytes, error.span().map_or(0, |span| span.start))),
            message: error.message().to_owned(),
        })?
    };
    let folder = file.parent().unwrap_or(Path::new(""));
    for project in &mut plan.project {
        project.path = folder.join(&project.path);
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_toml_or_json_and_its_folders_are_relative_to_it() {
        let toml = b"[plan]\nbudget_tokens = 9\n[[project]]\npath = \"api\"\nshare = 0.5\ntier = 3\n";
        let json =
            br#"{"plan": {"budget_tokens": 9}, "project": [{"path": "api", "share": 0.5, "tier": 3}]}"#;
        let plan = read_plan(Path::new("plans/a.toml"), toml).unwrap();
        assert_eq!(plan, read_plan(Path::new("plans/a.json"), json).unwrap());
        let api = PlannedProject {
            share: Some(0.5),
            tier: Some(3),
            ..PlannedProject::plain(PathBuf::from("plans/api"))
        };
        assert_eq!((plan.plan.budget_tokens, plan.project), (Some(9), vec![api]));
        for text in
            ["[[project]]\nshare = 1\n", "[plan]\nother = 1\n", "[[project]]\npath = \"a\"\nlinks = []\n"]
        {
            assert!(
                matches!(read_plan(Path::new("a.toml"), text.as_bytes()), Err(Error::Syntax { .. })),
                "{text}"
            );
        }
    }
}
