//! Calls that take long become tasks for clients that can wait for them: the first index of a large project, as a rule.
//!
//! A client that has declared the extension gets the task's id in place of the answer, asks for its state when it likes,
//! and may cancel it. All other clients wait, and are told of the progress.

use std::time::Duration;

use rmcp::model::{CallToolResponse, CallToolResult, CreateTaskResult};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use tokio::task::JoinHandle;

use super::questions::{CallWork, WorkProgress, joined, report_until};
use crate::api::fault::ApiError;

/// How long a call is waited for before it becomes a task.
const TASK_AFTER: Duration = Duration::from_secs(1);

/// How long a task may take, and then its result is kept, in milliseconds.
const TASK_TTL_MS: u64 = 10 * 60 * 1000;

/// How often a client should ask for a task's state, in milliseconds.
const POLL_MS: u64 = 500;

/// The most tasks that may run at once. Further calls are waited for.
const MAX_TASKS: usize = 16;

type CallResult = Result<CallToolResult, ErrorData>;

/// Answers with the result of a call if it ends soon, and else with a task that waits for it.
pub(super) async fn finish_or_begin_task(
    tasks: &TaskManager,
    context: &RequestContext<RoleServer>,
    call_work: CallWork,
    call: impl Future<Output = CallResult> + Send + 'static,
) -> Result<CallToolResponse, ErrorData> {
    // Cancelled when this function is, which it is if the request is cancelled, but not when a task has taken it over.
    let guard = call_work.cancelled.clone().drop_guard();
    let mut call = tokio::spawn(call);
    let waiting = report_until(context, call_work.progress(), async {
        tokio::select! {
            result = &mut call => Some(flattened(result)),
            () = context.ct.cancelled() => {
                call_work.cancelled.cancel();
                Some(flattened((&mut call).await))
            }
            () = tokio::time::sleep(TASK_AFTER), if tasks.running_task_count() < MAX_TASKS => None,
        }
    });
    if let Some(result) = waiting.await {
        return result.map(CallToolResponse::from);
    }
    guard.disarm();
    let options = TaskOptions::new().with_ttl_ms(TASK_TTL_MS).with_poll_interval_ms(POLL_MS);
    let task = tasks.spawn(options, |context| Box::pin(run_task(context, call_work, call)));
    Ok(CreateTaskResult::new(task).into())
}

async fn run_task(
    context: TaskContext,
    call_work: CallWork,
    mut call: JoinHandle<CallResult>,
) -> Result<CallToolResult, TaskExit> {
    // Whatever ends the task ends its work: it may also run out of time.
    let _guard = call_work.cancelled.clone().drop_guard();
    let mut progress = call_work.progress();
    progress.mark_changed();
    loop {
        tokio::select! {
            result = &mut call => return flattened(result).map_err(TaskExit::Error),
            () = context.cancelled() => return Err(TaskExit::Cancelled),
            Ok(()) = progress.changed() => {
                let WorkProgress { done, total } = *progress.borrow_and_update();
                context.set_status_message(format!("{done} of {total} files are read"));
            }
        }
    }
}

fn flattened(result: Result<CallResult, tokio::task::JoinError>) -> CallResult {
    joined(result).map_err(|error| protocol_error(&error))?
}

/// Returns the error of the protocol for a question that could not be answered.
pub(super) fn protocol_error(error: &ApiError) -> ErrorData {
    let ApiError { code, message, hint, .. } = error;
    ErrorData::internal_error(message.clone(), Some(json!({"code": code, "hint": hint})))
}
