//! Answers the requests of the protocol.

use std::sync::Arc;

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, ContentBlock,
    GetTaskParams, GetTaskResult, Implementation, InitializeRequestParams, InitializeResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    UpdateTaskParams,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::task_manager::TaskManager;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::hydration::HydrationQuery;
use super::kept::KeptAnswers;
use super::questions::{AnswerInfo, CallWork, QueryRunner, report_until};
use super::show::ToolOutput;
use super::show::shorten;
use super::subscriptions::Subscriptions;
use super::tasks::protocol_error;
use super::transport::McpInfo;
use super::{hydration, kept, resources, tasks, tools};
use crate::api::fault::ApiError;
use crate::api::queries::FilesQuery;
use crate::api::query::Query;
use crate::api::wire::FreshnessState;
use crate::model::{path_bytes, path_text, printable, printable_lines};

/// The instructions that clients pass on to agents.
const INSTRUCTIONS: &str = "\
slop shows a project's files at the level of detail that a task needs, always as they are now. Begin with \
slop_aggregate for an overview, or slop_status for the list of files; find code with slop_search, slop_symbol, \
slop_outline and slop_refs; read it with slop_view, preferring skeletons, symbols and lines to whole files. Paths are relative to the project's root. \
The last line of an answer states how fresh it is.";

/// The metadata keys of an answer.
const FRESHNESS_KEY: &str = "slop/freshness";
const ERROR_KEY: &str = "slop/error";
const PROJECT_KEY: &str = "slop/project";

/// How long a client may cache parts of answers and what only changes with the program, in milliseconds: one day.
const STATIC_TTL_MS: u64 = 24 * 60 * 60 * 1000;

/// The state that all clients of a server share.
#[derive(Clone)]
pub(super) struct McpState {
    pub(super) questions: QueryRunner,
    pub(super) kept: Arc<KeptAnswers>,
    pub(super) tasks: TaskManager,
    pub(super) info: Arc<McpInfo>,
}

/// The server of one client.
pub(in crate::api) struct McpServer {
    state: McpState,
    subscriptions: Subscriptions,
}

impl McpState {
    pub(super) fn new(questions: QueryRunner, info: McpInfo) -> Self {
        Self { questions, kept: Arc::default(), tasks: TaskManager::new(), info: Arc::new(info) }
    }

    async fn call_tool(
        self,
        request: CallToolRequestParams,
        work: CallWork,
    ) -> Result<CallToolResult, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        match tools::answer(&request.name, arguments, &self.info.root, &self.questions, &work).await {
            Ok(Some((output, info))) => Ok(tool_result(output, &info, &self.kept)),
            Ok(None) => {
                let message = shorten(format!("no tool named `{}`", request.name));
                Err(ErrorData::invalid_params(message, None))
            }
            // A result with an error flag reaches the model, which can act on the hint; an error of the protocol only
            // reaches the client.
            Err(refusal) => Ok(error_result(&refusal)),
        }
    }
}

impl McpServer {
    pub(super) const fn new(state: McpState, subscriptions: Subscriptions) -> Self {
        Self { state, subscriptions }
    }

    /// Answers a question outside of a tool.
    async fn ask<Q: Query + Send + 'static>(
        &self,
        query: Q,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Q::Answer, AnswerInfo), ApiError> {
        let work = CallWork::new(context.ct.clone());
        report_until(context, work.progress(), self.state.questions.ask(query, &work)).await
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_tasks()
            .build();
        let info = &self.state.info;
        let server = Implementation::new("slop", info.version).with_title("slop");
        let root = path_text(path_bytes(&info.root));
        let reason = info.root_reason;
        // A folder's name is data of the project; a line break in it must not start an instruction.
        let project = format!("The project is {} ({}).", printable(&root), reason.description());
        let instructions = format!("{INSTRUCTIONS} {project}");
        let mut config =
            ServerConfig::new(capabilities).with_server_info(server).with_instructions(instructions);
        config.meta = Some(meta(PROJECT_KEY, json!({"root": root, "root_reason": reason.name()})));
        config
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut info = self.negotiate_initialize(&request)?;
        // Protocol versions with this handshake notify within a session, which not every transport has.
        if !self.subscriptions.has_session()
            && let Some(resources) = &mut info.capabilities.resources
        {
            (resources.subscribe, resources.list_changed) = (None, None);
        }
        Ok(info)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = ListToolsResult::with_all_items(tools::tool_list());
        Ok(tools.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = |work: &CallWork| self.state.clone().call_tool(request, work.clone());
        if context.client_capabilities().is_some_and(|client| client.supports_tasks()) {
            // It may continue after the request was answered.
            let work = CallWork::new(CancellationToken::new());
            let call = call(&work);
            return tasks::finish_or_begin_task(&self.state.tasks, &context, work, call).await;
        }
        let work = CallWork::new(context.ct.clone());
        let result = report_until(&context, work.progress(), call(&work)).await?;
        Ok(result.into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.state.tasks.get_task(&request.task_id).map(GetTaskResult::new)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // The server sends no requests, so responses of a client are ignored.
        self.state.tasks.update_task(&request.task_id, [])
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.state.tasks.cancel_task(&request.task_id)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        // From the version named here on, clients request notifications with `subscriptions/listen`.
        if context.protocol_version().is_some_and(|version| version < ProtocolVersion::V_2026_07_28) {
            self.subscriptions.follow_list(context.peer.clone()).await;
        }
        // Listed again for each page, so that a page is never older than its request, and no state is kept per client.
        let answer = self.ask(FilesQuery {}, &context).await;
        let (states, info) = answer.map_err(|refusal| protocol_error(&refusal))?;
        let mut page = resources::list(states, cursor.as_deref());
        page.meta = Some(meta(FRESHNESS_KEY, json!(info.freshness)));
        Ok(page)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = ListResourceTemplatesResult::with_all_items(resources::templates());
        Ok(templates.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Public))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let address = request.uri;
        let not_found = |reason: &str| resource_not_found(&address, reason);
        if kept::is_part(&address) {
            let part = self.state.kept.read(&address);
            let part = part.ok_or_else(|| not_found("it is no longer kept; call the tool again"))?;
            let contents = ResourceContents::text(part, &address).with_mime_type("text/markdown");
            let read = ReadResourceResult::new(vec![contents]);
            return Ok(read.with_ttl_ms(STATIC_TTL_MS).with_cache_scope(CacheScope::Private).into());
        }
        let refused = |refusal: ApiError| match &*refusal.code {
            // The protocol has one code for resources without content; the message has the reason.
            "not_found" | "outside_project" | "not_shown" | "unreadable" | "secret" | "not_hydrated" => {
                not_found(&refusal.message)
            }
            _ => protocol_error(&refusal),
        };
        let (contents, info) = match hydration::parse_address(&address) {
            Some(HydrationQuery::Document(query)) => {
                let (document, info) = self.ask(*query, &context).await.map_err(refused)?;
                (hydration::document_contents(document, &address), info)
            }
            Some(HydrationQuery::Fragments(query)) => {
                let (places, info) = self.ask(query, &context).await.map_err(refused)?;
                (hydration::fragment_contents(&places, &address), info)
            }
            Some(HydrationQuery::Simulate(query)) => {
                let (placed, info) = self.ask(*query, &context).await.map_err(refused)?;
                (hydration::simulation_contents(placed, &address), info)
            }
            None => {
                let parsed = resources::parse_address(&address);
                let (path, query) = parsed.ok_or_else(|| not_found(ADDRESSES))?;
                let (views, info) = self.ask(query, &context).await.map_err(refused)?;
                let contents = resources::contents(views, &path, &address);
                (contents.ok_or_else(|| not_found("it does not name a single file"))?, info)
            }
        };
        let contents = contents.with_meta(meta(FRESHNESS_KEY, json!(info.freshness)));
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let Some((path, _)) = resources::parse_address(&request.uri) else {
            return Err(resource_not_found(&request.uri, ADDRESSES));
        };
        let added = self.subscriptions.add(request.uri, path, context.peer).await;
        added.map_err(|error| protocol_error(&error))
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscriptions.remove(&request.uri).await;
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let addresses = requested.resource_subscriptions.iter().flatten();
        let accepted = addresses.filter(|address| resources::parse_address(address).is_some());
        let mut filter = SubscriptionFilter::builder();
        if requested.resource_subscriptions.is_some() {
            filter = filter.resource_subscriptions(accepted);
        }
        if requested.resources_list_changed == Some(true) {
            filter = filter.resources_list_changed();
        }
        Some(filter.build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.subscriptions.listen(&context).await.map_err(|error| protocol_error(&error))
    }
}

const ADDRESSES: &str = "addresses are slop://view/{mode}/{path}, slop://hydrated, slop://fragments/{tier} and slop://simulate{?task,focus*,budget,tier}";

fn resource_not_found(address: &str, reason: &str) -> ErrorData {
    let message = shorten(format!("no resource `{address}`: {reason}"));
    ErrorData::resource_not_found(message, Some(json!({"uri": shorten(address.to_owned())})))
}

fn tool_result(output: ToolOutput, info: &AnswerInfo, kept: &KeptAnswers) -> CallToolResult {
    let ToolOutput { mut text, structured, long } = output;
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let (notice, links) = long.map(|long| kept.keep(&long)).unzip();
    text.extend(notice.iter().flat_map(|notice| [notice.as_str(), "\n"]));
    text.push_str(&footer(info));
    let mut content = vec![ContentBlock::text(text)];
    content.extend(links.into_iter().flatten());
    let mut result = CallToolResult::success(content);
    result.structured_content = structured;
    result.meta = Some(meta(FRESHNESS_KEY, json!(info.freshness)));
    result
}

/// Returns the lines after the answer: missing paths, notes, and finally its freshness.
fn footer(info: &AnswerInfo) -> String {
    // Paths and messages come from the project: a line break in one of them could forge the line about freshness.
    let missing = info
        .missing
        .iter()
        .map(|missing| format!("[missing: {}: {}]", printable(&missing.path), printable(&missing.message)));
    let notes = info.notes.iter().map(|note| format!("[note: {}]", printable(note)));
    let reason = info.freshness.reason.as_deref().unwrap_or("the reason is unknown");
    let freshness = match info.freshness.freshness {
        FreshnessState::Fresh => "[fresh: this is how the files were when you asked]".to_owned(),
        FreshnessState::Partial => format!("[partly fresh: {reason}]"),
        FreshnessState::Stale => format!("[may be stale: {reason}]"),
    };
    missing.chain(notes).chain([freshness]).collect::<Vec<_>>().join("\n")
}

fn error_result(error: &ApiError) -> CallToolResult {
    let ApiError { code, message, hint, .. } = error;
    let text = format!("error: {}\ncode: {code}\nhint: {hint}", printable_lines(message));
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    // Outside of the answer, which has to match the tool's output schema.
    result.meta = Some(meta(ERROR_KEY, json!({"code": code, "message": message, "hint": hint})));
    result
}

fn meta(key: &str, value: serde_json::Value) -> MetaObject {
    let mut meta = MetaObject::new();
    meta.0.insert(key.to_owned(), value);
    meta
}
