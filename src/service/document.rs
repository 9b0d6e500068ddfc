//! Resolves a question for a document: tier, persona, preset and settings become the engine's request.

use std::path::PathBuf;

use super::profile::{DocumentProfile, curation_hash, default_name, has_persona_views, with_defaults};
use super::resolved::{AnswerWithMissing, QueryOrigin, QuerySettings, ResolvedQuery, complete_local};
use super::sources::{prices, project_name};
use crate::api::{
    AggregateQuery, AnswerShape, ApiError, AttachmentOptions, ComposeQuery, ComposedDocument,
    DocumentReceipt, DocumentRequest, ExplainQuery, FormatName, HistorySource, PartName, Payload,
    ReceiptScope, ViewSelection, compose_document, compose_unformatted,
};
use crate::config::{ExecutionMode, LoadedConfig, Settings};
use crate::engine::{
    AggregationRequest, BeadsRequest, DiscussionSource, DiscussionText, DocumentHistory, DocumentLimits,
    HydratedPlaces, ImageFile, Project, SectionRequest, Trust,
};
use crate::model::{AggregationStrategy, BodyOptions, Persona, PreferredModel, PromptCaching, Receipt, Tier};

/// The default file of a discussion, in the project's folder.
const HISTORY_FILE: &str = "history.toml";

/// The note of a limited document about a persona's views.
const UNUSED_VIEWS: &str = "the persona's `view` and `languages` decide only in a document without a limit; within a limit, \
    what is shown of each file is selected, except where an entry has a `view_mode`";

/// Adds a note if a persona's views have no effect because the document is limited.
fn note_unused_views(project: &mut Project<'_>, has_views: bool, receipt: &Receipt) {
    if has_views && (receipt.budget_tokens.is_some() || receipt.max_bytes.is_some()) {
        project.add_note(UNUSED_VIEWS.to_owned());
    }
}

/// Resolves a question for a document that is not written in its format.
pub(super) fn resolve_compose(
    query: AggregateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let has_views = has_persona_views(&query.choice, &settings.loaded.curation);
    let request = resolve_aggregate(query, settings)?;
    Ok(complete_local::<ComposeQuery>(move |project| {
        let document = compose_unformatted(project, &request)?;
        note_unused_views(project, has_views, &document.receipt);
        Ok(document)
    }))
}

/// Resolves a question for a document.
pub fn resolve_aggregate(
    mut query: AggregateQuery,
    settings: QuerySettings<'_>,
) -> Result<DocumentRequest, ApiError> {
    check_combinations(&query)?;
    let QuerySettings { loaded, root, .. } = settings;
    // A prompt that only the project's file names is not sent on the user's behalf.
    let speaks = query.choice.persona.is_some() || loaded.settings.trusts(root);
    let selects_files = query.hydrated || !query.files.is_empty();
    query.choice = with_defaults(query.choice, selects_files, &loaded.curation.document);
    let profile = DocumentProfile::resolve(&query.choice, &loaded.curation)?;
    let mut body = body_options(&query.attachments, query.format, profile.persona.as_ref(), loaded)?;
    body.system = body.system.filter(|_| speaks);
    let name = query.name.unwrap_or_else(|| default_name(&profile));
    let curation = curation_hash(&query.choice);
    let is_open = query.choice.max_bytes.is_none() && profile.budget(&query.choice).is_none();
    // The name and the body are determined above, because this consumes the choice.
    let mut request = aggregation(query.choice, &profile, loaded)?;
    if query.hydrated {
        // The hydration has already applied its limit.
        request.hydrated = Some(HydratedPlaces::default());
    } else if is_open && !request.limits.is_some() {
        request.limits = default_limits(request.strategy, profile.tier, loaded);
    }
    request.files = query.files;
    request.include = query.include;
    request.exclude = query.exclude;
    request.order = query.order.map_or(request.order, Into::into);
    request.trust = if query.verify { Trust::Nothing } else { Trust::Stamps };
    // A plan and JSON show the counts; the receipt of another document is seldom read, and exact counts take time.
    request.exact_tokens = query.exact_tokens || query.dry_run || query.format == FormatName::Json;
    request.sections = section_request(&query.attachments, &profile, settings);
    request.history = Some(DocumentHistory { name, curation, since_last: query.since_last });
    request.counts_symbols = query.receipt != ReceiptScope::None;
    Ok(DocumentRequest {
        shape: AnswerShape { scope: query.receipt, in_parts: query.parts },
        request,
        format: query.format,
        body,
        project_name: project_name(root, &loaded.settings.project.name),
        is_preview: query.dry_run,
    })
}

/// Resolves a question for explanations.
pub fn resolve_explain(
    query: &ExplainQuery,
    settings: QuerySettings<'_>,
) -> Result<AggregationRequest, ApiError> {
    let QuerySettings { loaded, .. } = settings;
    let choice = with_defaults(query.choice.clone(), false, &loaded.curation.document);
    let profile = DocumentProfile::resolve(&choice, &loaded.curation)?;
    let mut request = aggregation(choice, &profile, loaded)?;
    // Attachments take room from the files, and so decide which of them the limits leave out.
    request.sections = section_request(&AttachmentOptions::default(), &profile, settings);
    Ok(request)
}

/// Resolves a question for a document. The answer is the cached document, encoded if it was sent before.
pub(super) fn resolve_document(
    query: AggregateQuery,
    settings: QuerySettings<'_>,
) -> Result<ResolvedQuery, ApiError> {
    let has_views = has_persona_views(&query.choice, &settings.loaded.curation);
    let request = resolve_aggregate(query, settings)?;
    Ok(ResolvedQuery::new(move |project| {
        let document = compose_document(project, &request)?;
        note_unused_views(project, has_views, &document.receipt);
        if !request.is_preview {
            if request.request.hydrated.is_some() {
                project.count_uses()?;
            }
            return Ok(AnswerWithMissing::all(Payload::Document(document, request.shape)));
        }
        // A dry run delivers nothing, so the next `--since-last` must still include what it planned.
        project.discard_delivery();
        let receipt = DocumentReceipt::new(&document.receipt, request.shape.scope);
        Ok(AnswerWithMissing::all(Payload::value(ComposedDocument { text: None, parts: None, receipt })))
    }))
}

/// Returns an error for values that contradict each other.
fn check_combinations(query: &AggregateQuery) -> Result<(), ApiError> {
    let bad = |message: &str, hint| Err(ApiError::user("bad_ask", message.to_owned(), hint));
    if query.attachments.take.is_some() && query.attachments.part == PartName::Prefix {
        return bad(
            "a take is named, but the discussion is left out",
            "leave out the take, or ask for the whole document",
        );
    }
    if query.parts && query.format != FormatName::Markdown {
        return bad(
            "parts of a document are requested in another format than Markdown",
            "leave out the format, or the parts: a request body has its own cache marks",
        );
    }
    let is_inline = query.attachments.history.as_ref().is_some_and(|history| history.file().is_none());
    if query.attachments.take.is_some() && is_inline {
        return bad(
            "a take is named, but the discussion is not a file",
            "leave out the take, or name a file",
        );
    }
    let has_files = !query.files.is_empty() || query.choice.preset.is_some();
    if query.hydrated && (has_files || query.attachments.part == PartName::Suffix) {
        return bad(
            "both the hydrated files and others are requested",
            "leave out files and preset, or aggregate without `hydrated`",
        );
    }
    if query.name.as_ref().is_some_and(String::is_empty) {
        return bad("document name is empty", "give a name, or none");
    }
    Ok(())
}

/// Returns the engine's request, with the settings for what the question leaves open.
fn aggregation(
    choice: ViewSelection,
    profile: &DocumentProfile,
    loaded: &LoadedConfig,
) -> Result<AggregationRequest, ApiError> {
    let settings = &loaded.settings;
    let limits = limits(&choice, profile, loaded)?;
    let persona_strategy = profile.persona.as_ref().and_then(|persona| persona.aggregation_strategy);
    let strategy = choice.strategy.map(Into::into).or(persona_strategy);
    let strategy = strategy.unwrap_or(settings.project.aggregation_strategy);
    // A worker's document consists of skeletons and of files in focus, whatever the strategy of other documents.
    let strategy = if profile.tier == Some(Tier::Worker) { AggregationStrategy::Auto } else { strategy };
    let persona = profile.persona.as_ref();
    let focus_of_persona = || persona.map_or(Vec::new(), |persona| persona.focus.clone());
    Ok(AggregationRequest {
        tier: profile.tier.map(|tier| settings.tier_options(tier, persona.map(|persona| &persona.views))),
        strategy,
        // Without a tier, this is the default of last resort.
        default_mode: persona
            .and_then(|persona| persona.views.view)
            .unwrap_or(settings.aggregation.default_mode),
        overview: settings.aggregation.overview,
        docs: choice.docs.map_or(settings.aggregation.docs, Into::into),
        order: settings.aggregation.order,
        focus: if choice.focus.is_empty() { focus_of_persona() } else { choice.focus },
        task: choice.task,
        files: Vec::new(),
        include: Vec::new(),
        exclude: Vec::new(),
        base: choice.base,
        items: loaded.curation.files.clone(),
        preset: profile.preset.as_ref().map(|preset| preset.files.clone()),
        overrides: choice.items.into_iter().map(Into::into).collect(),
        hydrated: None,
        limits,
        exact_tokens: true,
        counts_symbols: false,
        trust: Trust::Stamps,
        sections: SectionRequest::nothing(),
        history: None,
    })
}

/// The default budget of a document for a task, in tokens.
const TASK_BUDGET: u64 = 20_000;

fn limits(
    choice: &ViewSelection,
    profile: &DocumentProfile,
    loaded: &LoadedConfig,
) -> Result<DocumentLimits, ApiError> {
    if choice.max_bytes == Some(0) {
        let message = "limit is 0 bytes".to_owned();
        return Err(ApiError::user("bad_ask", message, "omit the limit if there is none"));
    }
    // 0 means no limit, in the settings as in a request.
    let of_settings = profile.tier.filter(|tier| !has_default_budget(*tier, loaded));
    let of_settings = of_settings.map(|tier| loaded.settings.tier(tier).budget_tokens);
    let asked = profile.budget(choice).or(of_settings);
    // A task asks for a selection, and without a limit there is nothing to select.
    let of_task = choice.task.as_ref().filter(|_| choice.max_bytes.is_none()).map(|_| TASK_BUDGET);
    Ok(DocumentLimits {
        // The tier's setting takes precedence over a client's default, such as the limit that MCP applies if the
        // project has none.
        tokens: asked.or(choice.default_budget).or(of_task).filter(|tokens| 0 < *tokens),
        bytes: choice.max_bytes,
        is_default: asked.is_none() && choice.max_bytes.is_none(),
        is_ceiling: false,
    })
}

/// Returns the default limit of a document: that of its tier, which does not affect documents that are small enough.
/// Without a tier it is that of tier 2, except for a document that shows everything in full, which has none.
fn default_limits(
    strategy: AggregationStrategy,
    tier: Option<Tier>,
    loaded: &LoadedConfig,
) -> DocumentLimits {
    let general = (strategy != AggregationStrategy::Full).then_some(Tier::TechLead);
    let tier = tier.or(general).filter(|tier| has_default_budget(*tier, loaded));
    DocumentLimits {
        tokens: tier.map(|tier| loaded.settings.tier(tier).budget_tokens),
        bytes: None,
        is_default: true,
        is_ceiling: true,
    }
}

/// Returns whether no layer of the settings limits documents for the tier.
fn has_default_budget(tier: Tier, loaded: &LoadedConfig) -> bool {
    loaded.is_built_in(&format!("tiers.{}.budget_tokens", tier.number()))
}

/// Returns the attachments. A user of the command line may name any file of the machine; a remote question and the
/// project's settings may only name files of the project.
fn section_request(
    ask: &AttachmentOptions,
    profile: &DocumentProfile,
    sources: QuerySettings<'_>,
) -> SectionRequest {
    let QuerySettings { loaded, root, origin } = sources;
    let settings = &loaded.settings;
    // A path in a preset came with the project, perhaps from a stranger, so it is confined to the project for every
    // client.
    let named = ask.screenshots.iter().map(|path| match origin {
        QueryOrigin::CommandLine => ImageFile::Asked(PathBuf::from(path)),
        QueryOrigin::Remote => ImageFile::OfProject(path.clone()),
    });
    let preset = profile.preset.iter().flat_map(|preset| &preset.screenshots);
    let is_users = |key: &str| settings.trusts(root) || loaded.is_set_by_user(key);
    let of_project = loaded.curation.screenshots.iter().chain(preset);
    SectionRequest {
        part: ask.part.into(),
        screenshots: of_project.cloned().map(ImageFile::OfProject).chain(named).collect(),
        inline: ask.screenshots_inline,
        images_apart: false,
        refused_images: &[],
        beads: match settings.project.execution_mode {
            ExecutionMode::Beads if is_users("project.execution_mode") => BeadsRequest::Included,
            ExecutionMode::Beads => BeadsRequest::Withheld,
            ExecutionMode::Native => BeadsRequest::None,
        },
        discussion: discussion(ask, profile.tier, settings, origin, &is_users),
    }
}

/// Returns the discussion. The tier's setting concerns the project's own file; a requested discussion must exist.
fn discussion(
    ask: &AttachmentOptions,
    tier: Option<Tier>,
    settings: &Settings,
    origin: QueryOrigin,
    is_users: &dyn Fn(&str) -> bool,
) -> Option<DiscussionSource> {
    let is_asked_for = ask.history.is_some() || ask.take.is_some() || ask.part == PartName::Suffix;
    let has_default = tier.is_some_and(|tier| settings.tier(tier).history);
    if !is_asked_for && !has_default {
        return None;
    }
    let history = ask.history.as_ref();
    let text = if let Some(messages) = history.and_then(HistorySource::messages) {
        // It replaces the project's own file.
        DiscussionText::Request { messages, instead_of: has_default.then(|| PathBuf::from(HISTORY_FILE)) }
    } else {
        let file = history.and_then(HistorySource::file);
        DiscussionText::File {
            path: PathBuf::from(file.unwrap_or(HISTORY_FILE)),
            is_named: file.is_some() && origin == QueryOrigin::CommandLine,
        }
    };
    // A file that only the tier's setting asks for may be missing or unreadable: it came with the project, and must
    // not stop a document.
    let is_vouched_for =
        is_asked_for || tier.is_some_and(|tier| is_users(&format!("tiers.{}.history", tier.number())));
    Some(DiscussionSource { text, take: ask.take.clone(), is_optional: !is_asked_for, is_vouched_for })
}

fn body_options(
    ask: &AttachmentOptions,
    format: FormatName,
    persona: Option<&Persona>,
    loaded: &LoadedConfig,
) -> Result<BodyOptions, ApiError> {
    let formats = &loaded.settings.formats;
    let provider = vendor(format).unwrap_or_default();
    let model = match format {
        FormatName::Anthropic => formats.anthropic_model.as_str(),
        FormatName::Openai => formats.openai_model.as_str(),
        FormatName::Gemini => formats.gemini_model.as_str(),
        // These formats have no model; ignoring it would hide that `--format` was forgotten.
        FormatName::Markdown | FormatName::Json => {
            check_no_body_option(ask)?;
            ""
        }
    };
    let preferred = persona.and_then(|persona| preferred_model(persona, provider));
    // The persona's parameters apply to its own model only, because another model may reject them.
    let preferred =
        preferred.filter(|preferred| ask.model.as_ref().is_none_or(|model| *model == preferred.model));
    // A blank prompt is not sent, because providers reject an empty text.
    let system =
        persona.map(|persona| persona.system_prompt.clone()).filter(|system| !system.trim().is_empty());
    let model = preferred.map_or(model, |preferred| preferred.model.as_str());
    let most = preferred.and_then(|preferred| preferred.max_output_tokens);
    let model = ask.model.as_deref().unwrap_or(model);
    Ok(BodyOptions {
        caching: prompt_caching(ask, provider, model, loaded)?,
        model: model.to_owned(),
        system,
        temperature: preferred.and_then(|preferred| preferred.temperature),
        top_p: preferred.and_then(|preferred| preferred.top_p),
        max_output_tokens: most.unwrap_or(formats.max_output_tokens),
    })
}

/// Returns the vendor of the request bodies that a format writes.
pub(super) const fn vendor(format: FormatName) -> Option<&'static str> {
    match format {
        FormatName::Anthropic => Some("anthropic"),
        FormatName::Openai => Some("openai"),
        FormatName::Gemini => Some("gemini"),
        FormatName::Markdown | FormatName::Json => None,
    }
}

/// Rejects options of request bodies if the format is not one.
fn check_no_body_option(ask: &AttachmentOptions) -> Result<(), ApiError> {
    let message = if let Some(model) = &ask.model {
        format!("model `{model}` is named, but the format is not a request")
    } else if ask.cache_marks.is_some() || ask.cache_ttl.is_some() {
        "prompt caching is configured, but the format is not a request".to_owned()
    } else {
        return Ok(());
    };
    Err(ApiError::user("bad_ask", message, "set `format` to anthropic, openai or gemini"))
}

fn prompt_caching(
    ask: &AttachmentOptions,
    provider: &str,
    model: &str,
    loaded: &LoadedConfig,
) -> Result<PromptCaching, ApiError> {
    let formats = &loaded.settings.formats;
    let marks = ask.cache_marks.unwrap_or(formats.cache_marks);
    let most = PromptCaching::MAX_MARKS;
    if most < marks {
        let message = format!("{marks} cache marks are more than {most}");
        return Err(ApiError::user(
            "bad_ask",
            message,
            "providers take four; one is left to the caller's own prompt",
        ));
    }
    // A format's provider has a built-in price list even if the user has renamed or removed the provider itself.
    let min_tokens = prices(loaded).listed(provider, model).and_then(|(_, least)| least).unwrap_or(0);
    Ok(PromptCaching {
        marks,
        lifetime: ask.cache_ttl.map_or(formats.cache_lifetime, Into::into),
        min_tokens,
    })
}

/// Returns the first preferred model of a persona for a provider.
fn preferred_model<'p>(persona: &'p Persona, provider: &str) -> Option<&'p PreferredModel> {
    let is_meant = |model: &&PreferredModel| match model.provider.to_ascii_lowercase().as_str() {
        // People name this provider by its vendor; slop's own name is the product's, as in `formats.gemini_model`.
        "google" => provider == "gemini",
        name => name == provider,
    };
    persona.preferred_models.iter().find(is_meant)
}
