//! The part of a round that concerns the team's cache: fetching missing summaries, claiming tasks, storing new
//! summaries.

use std::collections::HashSet;

use super::event::DaemonEvent;
use super::plan::PlanWatch;
use crate::agent::{ShareFailure, TeamSync};
use crate::engine::Project;
use crate::engine::summaries::SummaryTask;
use crate::model::{SummaryKey, error_chain};
use crate::sys::{Clock, WallClock};

/// The number of tasks that run before they are ranked again.
pub(super) const TASKS_PER_ROUND: usize = 64;

/// Fetches missing summaries from the team's cache. If that fails, the round continues without them.
pub(super) fn fetch_missing(project: &mut Project<'_>, team: &TeamSync, watch: &PlanWatch<'_>) {
    let now_ms = WallClock.now_ms();
    if team.is_paused(now_ms) {
        return;
    }
    if let Ok(wanted) = project.wanted_summaries(&watch.options().policy) {
        let pulled = team.pull(wanted, now_ms).map(drop);
        watch.report_team(team, pulled, now_ms);
    }
    project.take_notes();
}

/// The result of claiming the tasks of a round in the team's cache.
pub(super) enum ClaimResult {
    /// These tasks run here, and their claims are released afterwards.
    Own(Vec<SummaryTask>, HashSet<SummaryKey>),
    /// Other members have claimed all.
    Others,
    /// Others have already answered the claimed tasks.
    Settled,
    /// The cache does not support claims, or is paused.
    NoClaims,
}

/// Claims tasks in the team's cache, and fetches the summaries that others have stored by now.
pub(super) fn claim_tasks(
    project: &mut Project<'_>,
    team: &TeamSync,
    ready: &[SummaryTask],
    watch: &PlanWatch<'_>,
) -> ClaimResult {
    let policy = &watch.options().policy;
    let now_ms = WallClock.now_ms();
    let own = match team.claim(ready, watch.options(), now_ms) {
        Ok(Some(own)) => own,
        Ok(None) => return ClaimResult::NoClaims,
        Err(failure) => {
            watch.report_team(team, Err(failure), now_ms);
            return ClaimResult::NoClaims;
        }
    };
    let first = ready.iter().take(TASKS_PER_ROUND).chain(ready.iter().filter(|task| own.contains(&task.id)));
    let subjects: HashSet<_> = first.map(|task| (task.scope, task.subject)).collect();
    let mut wanted = project.wanted_summaries(policy).unwrap_or_default();
    wanted.retain(|wanted| subjects.contains(&(wanted.node.scope, wanted.node.subject)));
    // Fetched after the claim, because members store their summaries before they release a claim.
    let pulled = team.pull_again(&wanted, now_ms).map(|report| report.fetched);
    let fetched = *pulled.as_ref().unwrap_or(&0);
    watch.report_team(team, pulled.map(drop), now_ms);
    let still_ready = match project.summary_tasks(policy) {
        Ok(tasks) if 0 < fetched => tasks.ready,
        _ => ready.to_vec(),
    };
    project.take_notes();
    let batch: Vec<_> = still_ready.into_iter().filter(|task| own.contains(&task.id)).collect();
    if !batch.is_empty() {
        return ClaimResult::Own(batch, own);
    }
    if own.is_empty() && fetched == 0 {
        return ClaimResult::Others;
    }
    store_in_team(team, own, watch);
    ClaimResult::Settled
}

/// Stores the summaries paid for, and releases claims.
pub(super) fn store_in_team(team: &TeamSync, claims: HashSet<SummaryKey>, watch: &PlanWatch<'_>) {
    let now_ms = WallClock.now_ms();
    let stored = team.store(claims, watch.options(), now_ms);
    watch.report_team(team, stored, now_ms);
}

impl PlanWatch<'_> {
    /// Reports that the team's cache cannot be used, once it is paused for that reason.
    fn report_team(&self, team: &TeamSync, result: Result<(), ShareFailure>, now_ms: i64) {
        if let Err(failure) = result
            && team.is_paused(now_ms)
        {
            // The loop ends before this thread does.
            let _ = self.context.events.send(DaemonEvent::TeamCacheFailed(error_chain(&failure)));
        }
    }
}
