//! Long calls become tasks for clients that support them, usually for the first index of a large project.
//!
//! A client that has declared the extension gets the task's id instead of the answer, polls its state, and may cancel
//! it. All other clients wait, and receive progress.

use std::time::Duration;

use rmcp::model::{CallToolResponse, CallToolResult, CreateTaskResult};
use rmcp::service::RequestContext;
use rmcp::task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions};
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use tokio::task::JoinHandle;

use super::questions::{CallWork, WorkProgress, joined, report_until};
use crate::api::fault::ApiError;

/// How long a call may take before it becomes a task.
const TASK_AFTER: Duration = Duration::from_secs(1);

/// How long a task may take, and how long its result is kept afterwards, in milliseconds.
const TASK_TTL_MS: u64 = 10 * 60 * 1000;

/// How often a client should poll a task's state, in milliseconds.
const POLL_MS: u64 = 500;

/// The most tasks that may run at once. Further calls do not become tasks.
const MAX_TASKS: usize = 16;

type CallResult = Result<CallToolResult, ErrorData>;

/// Answers with the result of a call if it ends soon, and otherwise with a task for it.
pub(super) async fn finish_or_begin_task(
    tasks: &TaskManager,
    context: &RequestContext<RoleServer>,
    call_work: CallWork,
    call: impl Future<Output = CallResult> + Send + 'static,
) -> Result<CallToolResponse, ErrorData> {
    // Cancelled together with this function when the request is cancelled, unless a task has taken over.
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
    // The end of the task, such as a timeout, also ends its work.
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

/// Returns the protocol error for a question that could not be answered.
pub(super) fn protocol_error(error: &ApiError) -> ErrorData {
    let ApiError { code, message, hint, .. } = error;
    ErrorData::internal_error(message.clone(), Some(json!({"code": code, "hint": hint})))
}
