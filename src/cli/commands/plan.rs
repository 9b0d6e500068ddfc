//! `slop hydrate --plan`: several projects within one budget. Each is opened independently, with its own cache,
//! settings and linked folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::asking::pluralize;
use super::document_query::view_selection;
use super::hydration::{moved_rows, tier_rows};
use crate::api::{
    ApiError, CallOptions, FragmentPlace, HydrateQuery, HydrationResult, QueryJob, SimulateQuery,
    ViewSelection, ask, envelope,
};
use crate::cli::args::GlobalArgs;
use crate::cli::failure::{self, CommandError};
use crate::cli::hydration_args::HydrateArgs;
use crate::cli::location::{ProcessEnvironment, ProjectLocation};
use crate::cli::output::CommandOutput;
use crate::config::{HydrationPlan, LoadedConfig, PlannedProject, read_plan};
use crate::daemon::DaemonOrLocal;
use crate::model::{path_bytes, path_text, printable};
use crate::render::format_grouped;
use crate::service::{BudgetClaim, LocalService, project_name, settings_error, share_budget};
use crate::sys::{Disk, RealDisk};

/// How the plan is carried out.
pub(super) struct PlanRun<'a> {
    pub(super) args: &'a HydrateArgs,
    pub(super) global: &'a GlobalArgs,
    /// The name of the command.
    pub(super) command: &'a str,
    /// Whether placements are saved.
    pub(super) is_kept: bool,
}

/// A project of the plan that could be opened.
struct OpenProject {
    /// The prefix of its paths: `NAME:path`.
    name: String,
    planned: PlannedProject,
    location: ProjectLocation,
    loaded: Arc<LoadedConfig>,
    service: DaemonOrLocal,
}

/// A project of the plan that is left out, and why.
#[derive(Serialize)]
struct LeftOutProject {
    path: String,
    reason: String,
}

#[derive(Serialize)]
struct PlanAnswer {
    name: Option<String>,
    /// 0 for no limit.
    budget_tokens: u64,
    hot_tokens: u64,
    projects: Vec<ProjectAnswer>,
    left_out: Vec<LeftOutProject>,
}

#[derive(Serialize)]
struct ProjectAnswer {
    project: String,
    path: String,
    #[serde(flatten)]
    placed: HydrationResult,
}

pub(super) fn run(
    run: &PlanRun<'_>,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    let plan = read(&run.args.plan, environment)?;
    let (mut left_out, mut is_incomplete) = (Vec::new(), false);
    let mut projects: Vec<OpenProject> = Vec::new();
    for planned in plan.project {
        let path = path_text(path_bytes(&planned.path));
        match open(planned, run, environment) {
            Ok(project) => projects.push(project),
            Err(error) => {
                is_incomplete = true;
                left_out.push(LeftOutProject { path, reason: error.into_api_error().message });
            }
        }
    }
    leave_out_repeated(&mut projects, &mut left_out);
    name_apart(&mut projects);
    let budget = match (run.args.choice.budget.or(plan.plan.budget_tokens), projects.first()) {
        (Some(budget), _) => budget,
        (None, Some(first)) => default_budget(&first.location.root, environment)?,
        (None, None) => 0,
    };
    let budgets = share(budget, &projects, run)?;
    let mut answers = Vec::new();
    for (project, budget) in projects.iter().zip(budgets) {
        let path = path_text(path_bytes(&project.location.root));
        match place(project, budget, run) {
            Ok(placed) => answers.push(ProjectAnswer { project: project.name.clone(), path, placed }),
            Err(error) => {
                is_incomplete = true;
                left_out.push(LeftOutProject { path, reason: error.into_api_error().message });
            }
        }
    }
    let hot_tokens = answers.iter().map(|answer| answer.placed.hot.tokens).sum();
    let answer =
        PlanAnswer { name: plan.plan.name, budget_tokens: budget, hot_tokens, projects: answers, left_out };
    write(&answer, run, output)?;
    Ok(if is_incomplete { failure::INCOMPLETE } else { failure::DONE })
}

/// Reads the plan, or makes one for the named folders.
fn read(words: &[PathBuf], environment: &ProcessEnvironment) -> Result<HydrationPlan, CommandError> {
    let paths: Vec<PathBuf> = words.iter().map(|word| environment.current_folder.join(word)).collect();
    let plan = match paths.as_slice() {
        [file] if !file.is_dir() => {
            let failed = |source| settings_error(&crate::config::Error::Read { path: file.clone(), source });
            let bytes = RealDisk.read(file).map_err(failed)?.ok_or_else(|| {
                let message = format!("there is no plan {}", printable(&file.to_string_lossy()));
                CommandError::usage(message, "name a file with a plan, or folders of projects")
            })?;
            read_plan(file, &bytes).map_err(|error| settings_error(&error))?
        }
        folders => HydrationPlan {
            project: folders.iter().cloned().map(PlannedProject::plain).collect(),
            ..HydrationPlan::default()
        },
    };
    if plan.project.is_empty() {
        let hint = "add a table [[project]] with a path for each";
        return Err(CommandError::usage("the plan names no project", hint));
    }
    Ok(plan)
}

fn open(
    planned: PlannedProject,
    run: &PlanRun<'_>,
    environment: &ProcessEnvironment,
) -> Result<OpenProject, CommandError> {
    let location = ProjectLocation::find(Some(planned.path.as_path()), environment)?;
    let loaded = Arc::new(environment.sources.load(&location.root)?);
    let local = LocalService::for_command_line(location.root.clone(), Arc::clone(&loaded));
    let without_daemon = run.global.no_daemon || environment.without_daemon();
    let service = DaemonOrLocal::new(local, environment.runtime.clone(), without_daemon);
    let name = project_name(&location.root, &loaded.settings.project.name);
    Ok(OpenProject { name, planned, location, loaded, service })
}

/// Leaves out projects whose files belong to another one: the same folder again, a folder within another that is not a
/// checkout of its own, and a folder that is linked to another.
fn leave_out_repeated(projects: &mut Vec<OpenProject>, left_out: &mut Vec<LeftOutProject>) {
    let linked: Vec<(usize, Vec<PathBuf>)> = projects
        .iter()
        .map(|project| project.loaded.links.mounted(&project.location.root))
        .map(|links| links.into_iter().map(|link| link.path).collect())
        .enumerate()
        .collect();
    let roots: Vec<PathBuf> = projects.iter().map(|project| project.location.root.clone()).collect();
    let mut reasons: BTreeMap<usize, String> = BTreeMap::new();
    for (at, root) in roots.iter().enumerate() {
        let shown = |other: usize| printable(&path_text(path_bytes(&roots[other])));
        let same = (0..at).find(|other| roots[*other] == *root);
        let around = (0..roots.len()).find(|other| {
            *root != roots[*other] && root.starts_with(&roots[*other]) && !root.join(".git").exists()
        });
        let by_link = linked.iter().find(|(other, links)| *other != at && links.contains(root));
        // Of two projects that are linked to each other, one is kept.
        let by_link = by_link.filter(|(other, _)| !reasons.contains_key(other)).map(|(other, _)| *other);
        let reason = match (same, around, by_link) {
            (Some(_), _, _) => "it is named twice".to_owned(),
            (None, Some(other), _) => format!("its files are those of {}", shown(other)),
            (None, None, Some(other)) => format!("it is linked to {}", shown(other)),
            (None, None, None) => continue,
        };
        reasons.insert(at, reason);
    }
    let mut at = 0..;
    projects.retain(|project| {
        let reason = at.next().and_then(|at: usize| reasons.remove(&at));
        let is_kept = reason.is_none();
        let path = path_text(path_bytes(&project.location.root));
        left_out.extend(reason.map(|reason| LeftOutProject { path, reason }));
        is_kept
    });
}

/// Gives projects with the same name distinct names.
fn name_apart(projects: &mut [OpenProject]) {
    let mut taken = BTreeSet::new();
    for project in projects {
        let base = project.name.clone();
        let mut names = std::iter::once(base.clone()).chain((2..).map(|number| format!("{base}-{number}")));
        project.name = names.find(|name| !taken.contains(name)).expect("there are more numbers than names");
        taken.insert(project.name.clone());
    }
}

/// Returns the budget of a plan that names none: the user's, because no project can decide for the others.
fn default_budget(root: &Path, environment: &ProcessEnvironment) -> Result<u64, ApiError> {
    Ok(environment.sources.load_without_project(root)?.settings.hydration.hot_tokens)
}

/// Returns the budget of each project.
fn share(budget: u64, projects: &[OpenProject], run: &PlanRun<'_>) -> Result<Vec<u64>, CommandError> {
    let mut claims = Vec::new();
    for project in projects {
        let share = project.planned.share;
        // Simulates each project with the whole budget: the scores of files do not depend on the limit.
        let is_asked = share.is_none() && 0 < budget && 1 < projects.len();
        let fragments = if is_asked { simulated_fragments(project, budget, run)? } else { Vec::new() };
        claims.push(BudgetClaim { share, fragments });
    }
    let shares = share_budget(budget, &claims)?;
    // A limit of 0 would mean no limit, so a project without a share gets the smallest limit.
    Ok(shares.into_iter().map(|tokens| if budget == 0 { 0 } else { tokens.max(1) }).collect())
}

/// Returns where a hydration would place each fragment of a project.
fn simulated_fragments(
    project: &OpenProject,
    budget: u64,
    run: &PlanRun<'_>,
) -> Result<Vec<FragmentPlace>, CommandError> {
    let query = HydrateQuery { fragments: true, ..hydrate_query(project, budget, run)? };
    Ok(ask(&project.service, SimulateQuery(query), &call_options(run))?.payload.fragments)
}

/// Places the files of a project, and keeps their places if the run is to keep them.
fn place(project: &OpenProject, budget: u64, run: &PlanRun<'_>) -> Result<HydrationResult, CommandError> {
    let query = hydrate_query(project, budget, run)?;
    if run.is_kept {
        Ok(ask(&project.service, query, &call_options(run))?.payload)
    } else {
        Ok(ask(&project.service, SimulateQuery(query), &call_options(run))?.payload)
    }
}

fn hydrate_query(
    project: &OpenProject,
    budget: u64,
    run: &PlanRun<'_>,
) -> Result<HydrateQuery, CommandError> {
    let choice = view_selection(&run.args.choice, &project.location)?;
    let focus = [choice.focus, project.planned.focus.clone()].concat();
    let tier = choice.tier.or_else(|| project.planned.tier.filter(|_| choice.persona.is_none()));
    let choice = ViewSelection { focus, tier, budget: Some(budget), ..choice };
    Ok(HydrateQuery { choice, fragments: false })
}

fn call_options(run: &PlanRun<'_>) -> CallOptions {
    let job = Arc::new(QueryJob::default());
    CallOptions { require_fresh: run.global.require_fresh, job, ..CallOptions::default() }
}

fn write(answer: &PlanAnswer, run: &PlanRun<'_>, output: &mut CommandOutput) -> Result<(), CommandError> {
    if output.json {
        output.write_envelope(&envelope(run.command, None, &[], answer))?;
        return Ok(());
    }
    for LeftOutProject { path, reason } in &answer.left_out {
        output.note(&printable(&format!("{path} is left out: {reason}")));
    }
    for ProjectAnswer { project, placed, .. } in &answer.projects {
        output.write_line(&printable(project))?;
        for row in tier_rows(placed) {
            output.write_line(&format!("  {row}"))?;
        }
        for row in moved_rows(placed, &format!("{project}:")) {
            output.write_line(&printable(&row))?;
        }
    }
    let limit = match answer.budget_tokens {
        0 => String::new(),
        limit => format!(" of {}", format_grouped(limit)),
    };
    let hot = format_grouped(answer.hot_tokens);
    let projects = pluralize(answer.projects.len() as u64, "project", "projects");
    output.write_line(&format!("{projects}, {hot}{limit} tokens HOT"))?;
    Ok(())
}
