//! `slop daemon status`.

use serde::Serialize;

use super::context::CommandContext;
use crate::api::{AgentStatus, ApiError, DaemonMode, DaemonStatus, StepSpan};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::daemon;
use crate::daemon::DaemonPaths;
use crate::render::{format_grouped, format_seconds, format_size};

pub(super) fn show_status(
    paths: &DaemonPaths,
    with_spans: bool,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let report = if with_spans { daemon::performance(paths) } else { None };
    let (spans, status) = match report {
        Some(report) => (report.spans, Some(report.status)),
        // A daemon of an earlier version reports no timings.
        None => (Vec::new(), daemon::status(paths)),
    };
    let Some(status) = status else {
        // A daemon that hangs still holds the lock, so starting another one would fail: the two cases need different
        // advice.
        if let Some(hangs) = daemon::unresponsive(paths) {
            return Err(ApiError::from(hangs).into());
        }
        let message = "no daemon is running for this project";
        return Err(ApiError::user(
            "no_daemon",
            message,
            "`slop daemon start` starts one, `slop watch` in the foreground",
        )
        .into());
    };
    if context.output.json {
        let root_reason = context.location.project.reason.name();
        let spans = with_spans.then_some(spans.as_slice());
        return context.write_data(&WithReason { status: &status, root_reason, spans });
    }
    context.write_line(&format!("{:<10} {}", "project", context.location.project.description()))?;
    for (name, value) in table(&status) {
        context.write_line(&format!("{name:<10} {value}"))?;
    }
    for line in span_lines(&spans) {
        context.write_line(&line)?;
    }
    Ok(failure::DONE)
}

/// A daemon's status, and why the client chose its folder as the project's.
#[derive(Serialize)]
struct WithReason<'a> {
    #[serde(flatten)]
    status: &'a DaemonStatus,
    root_reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    spans: Option<&'a [StepSpan]>,
}

/// Returns a table of the times of steps, in milliseconds.
fn span_lines(spans: &[StepSpan]) -> Vec<String> {
    if spans.is_empty() {
        return Vec::new();
    }
    let milliseconds = |us: u64| format!("{}.{:03}", us / 1_000, us % 1_000);
    let row = |cells: [&str; 6]| {
        let [name, count, p50, p99, max, total] = cells;
        format!("{name:<8} {count:>9} {p50:>10} {p99:>10} {max:>10} {total:>12}")
    };
    let mut lines = vec![String::new(), row(["ms", "count", "p50", "p99", "max", "total"])];
    lines.extend(spans.iter().map(|span| {
        let times = [span.p50_us, span.p99_us, span.max_us, span.total_us].map(milliseconds);
        let [p50, p99, max, total] = &times;
        row([&span.name, &format_grouped(span.count), p50, p99, max, total])
    }));
    lines
}

fn table(status: &DaemonStatus) -> Vec<(&'static str, String)> {
    let mode = match status.mode {
        DaemonMode::Starting => "starting",
        DaemonMode::Events => "events",
        DaemonMode::Verified => "verified",
    };
    let reason = status.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let uptime = format_seconds(std::time::Duration::from_millis(status.uptime_ms));
    let limit = status.watch_limit.map_or(String::new(), |limit| format!(" of {}", format_grouped(limit)));
    let mut rows = vec![
        ("process", format!("{}, slop {}, for {uptime}", status.pid, status.version)),
        ("mode", format!("{mode}{reason}")),
        ("clock", status.clock.clone()),
        ("pending", format_grouped(status.pending)),
        (
            "answers",
            format!("{}, {} waiting", format_grouped(status.answers), format_grouped(status.queue_waiting)),
        ),
        ("watches", format!("{}{limit}", format_grouped(status.watches))),
        (
            "events",
            format!(
                "{}, {} overflows, {} rescans",
                format_grouped(status.events),
                status.overflows,
                status.rescans
            ),
        ),
        ("missed", format_grouped(status.missed)),
        ("lag", format!("{} ms", status.lag_ms)),
        (
            "store",
            format!("{}, log {}", format_size(status.store.bytes), format_size(status.store.wal_bytes)),
        ),
        ("agent", agent_line(&status.agent)),
    ];
    rows.extend(optional_rows(status));
    rows
}

/// Returns the rows that not every status has.
fn optional_rows(status: &DaemonStatus) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if status.paranoid.on {
        let (answers, mistakes) =
            (format_grouped(status.paranoid.answers), format_grouped(status.paranoid.mistakes));
        rows.push(("paranoid", format!("{answers} answers, {mistakes} mistakes")));
    }
    if let Some(audit) = status.last_audit {
        rows.push(("audit", format!("{} differences", format_grouped(audit.differences))));
    }
    let unwatched = status.unwatched_links.iter();
    rows.extend(unwatched.map(|(name, reason)| ("unwatched", format!("@{name}: {reason}"))));
    rows.extend(status.settings_problems.iter().map(|problem| ("settings", problem.clone())));
    rows.extend(status.listen.as_ref().map(|address| ("listening", address.clone())));
    rows.extend(status.rss_bytes.map(|bytes| ("memory", format_size(bytes))));
    rows
}

/// Returns the state of the sub-agent, its tasks, and its costs of the day.
fn agent_line(agent: &AgentStatus) -> String {
    if agent.models.is_empty() {
        let reason = agent.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        return format!("{}{reason}", agent.state);
    }
    let mut line = format!(
        "{}, {} waiting, {} in progress, {} done, {} of {} today",
        agent.state,
        format_grouped(agent.ready),
        agent.in_flight,
        format_grouped(agent.done),
        agent.spent_today_usd,
        agent.cap_day_usd,
    );
    if let Some(reason) = &agent.reason {
        line.push_str(": ");
        line.push_str(reason);
    }
    line
}
