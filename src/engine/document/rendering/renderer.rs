//! Renders the view of one file.

use std::sync::Arc;

use super::parsed_texts::PartsCache;
use super::view::{
    ViewAnswer, ViewContent, ViewParams, ViewUnavailable, diff_view, health_remark, hidden_reason,
    masked_view, slices_view, symbols_view,
};
use super::view_cache::{CachedView, ViewCache, ViewKey, view_fingerprint};
use crate::aggregate::SummaryLines;
use crate::engine::artifacts::{ArtifactCache, ContentRef, SkeletonPrefetch, checked_skeleton};
use crate::engine::summaries::{ChosenSummary, ModelSummaries};
use crate::engine::workspace::{HiddenSymbols, KnownFile, KnownState};
use crate::model::{
    ContentFacts, ContentHash, DocsDetail, DocumentBlock, FileType, Outline, SkipReason, SummaryDetail,
    SummaryProvenance, Symbol, ViewFault, ViewMode,
};
use crate::{aggregate, discover, summarize, syntax};

/// The terminator of each name in a list that is kept as one text.
const NAME_END: char = '\0';

/// The names of a file, the most important first. Kept as one text, because most of them are never shown.
pub(in crate::engine::document) struct NameList(Arc<CachedView>);

impl NameList {
    pub(in crate::engine::document) fn new(names: &[String]) -> Self {
        let names = names.iter().filter(|name| !name.contains(NAME_END));
        let mut body = String::new();
        for name in names {
            body.push_str(name);
            body.push(NAME_END);
        }
        Self(Arc::new(CachedView { remark: None, body: body.into(), fingerprint: ContentHash::digest(b"") }))
    }

    pub(in crate::engine::document) fn is_empty(&self) -> bool {
        self.0.body.is_empty()
    }

    pub(in crate::engine::document) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.body.split_terminator(NAME_END)
    }
}

/// What was rendered last, in a long-running process.
#[derive(Default)]
pub(in crate::engine::document) struct RenderCaches {
    pub(in crate::engine::document) views: ViewCache,
    pub(in crate::engine::document) parts: PartsCache,
}

/// Renders the files of one document, or of one answer.
pub(in crate::engine::document) struct Renderer<'r, 'w> {
    pub(in crate::engine::document) cache: &'r mut ArtifactCache<'w>,
    /// `None` in a process that ends with its answer.
    pub(in crate::engine::document) caches: Option<&'r RenderCaches>,
    pub(in crate::engine::document) summaries: &'r ModelSummaries,
    /// How much documentation skeletons show.
    pub(in crate::engine::document) docs: DocsDetail,
    pub(in crate::engine::document) prefetch: SkeletonPrefetch,
    /// Replaces that of the caches where there are none, or where the answer must not come from them.
    pub(in crate::engine::document) parts: PartsCache,
}

impl<'r, 'w> Renderer<'r, 'w> {
    /// Returns a renderer that shows these summaries by models, without any prefetch.
    pub(in crate::engine::document) fn new(
        cache: &'r mut ArtifactCache<'w>,
        caches: Option<&'r RenderCaches>,
        summaries: &'r ModelSummaries,
        docs: DocsDetail,
    ) -> Self {
        let (prefetch, parts) = (SkeletonPrefetch::default(), PartsCache::default());
        Self { cache, caches, summaries, docs, prefetch, parts }
    }
}

impl<'r> Renderer<'r, '_> {
    /// Returns the caches that may answer: a paranoid answer should reveal a wrong cache, so it must not come from one.
    pub(in crate::engine::document) fn trusted_caches(&self) -> Option<&'r RenderCaches> {
        self.caches.filter(|_| !self.cache.workspace.paranoid)
    }

    /// Returns the names that were looked up for an earlier document.
    pub(in crate::engine::document) fn cached_names(&self, key: &ViewKey) -> Option<NameList> {
        self.trusted_caches()?.views.get(key).map(NameList)
    }

    /// Keeps names for later documents.
    pub(in crate::engine::document) fn cache_names(&self, key: ViewKey, names: &NameList) {
        if let Some(RenderCaches { views, .. }) = self.caches {
            views.insert(key, Arc::clone(&names.0));
        }
    }

    /// Renders a file. If it cannot be rendered, the result is one line with the error.
    pub(in crate::engine::document) fn render(
        &mut self,
        file: &KnownFile,
        mut rendering: ViewParams<'_>,
        max_bytes: u64,
    ) -> ViewAnswer {
        let wanted = rendering.view;
        let subject = match &file.state {
            KnownState::LeftOut(reason) => {
                return error_view(file, wanted, &ViewUnavailable::LeftOut(*reason));
            }
            KnownState::Content { hash, file_type, facts } => {
                ContentRef { path: &file.path, hash: *hash, file_type, facts }
            }
        };
        let has_structure = syntax::has_structure(subject.file_type.id);
        let (view, mut reason) =
            aggregate::limit_to_size(wanted, subject.facts.size, max_bytes, has_structure);
        rendering.view = view;
        // The type has structure, but this build cannot parse it: a reason that the user can do something about.
        if let Some(feature) =
            syntax::missing_feature(subject.file_type.id).filter(|_| wanted.needs_structure())
        {
            reason = Some(format!("no {wanted} view: this slop was built without {feature}"));
        }
        let mut shown = self.cached_view(&subject, &mut rendering);
        let mut fault = None;
        // Every text has a summary, so no second fallback is needed.
        if let Some(fallback) = shown.as_ref().err().and_then(|unavailable| unavailable.fallback_reason(view))
        {
            reason = Some(fallback);
            // A view without content is not a fault; a file that cannot be parsed is one.
            fault =
                shown.as_ref().err().map(ViewUnavailable::fault).filter(|fault| *fault != ViewFault::NoView);
            rendering.view = ViewMode::Summary;
            shown = self.cached_view(&subject, &mut rendering);
        }
        while let Ok(content) = &shown
            && max_bytes < content.body.len() as u64
            && let Some(smaller) = smaller_view(rendering.view)
        {
            reason = Some(format!("its {} is larger than limits.max_bytes ({max_bytes})", rendering.view));
            rendering.view = smaller;
            shown = self.cached_view(&subject, &mut rendering);
        }
        match shown {
            Ok(ViewContent { content, remark, body, reason: missing }) => {
                let mut view = rendering.view;
                if view == ViewMode::Full
                    && let Some(hidden) = self.hidden(&subject)
                {
                    view = if hidden.hides_nothing() { view } else { ViewMode::Masked };
                    reason = reason.or_else(|| Some(hidden_reason(hidden)));
                }
                if is_whole_text(&subject, &rendering, &body.text()) {
                    view = ViewMode::Full;
                    let hidden = self.hidden(&subject).filter(|_| rendering.view == ViewMode::Masked);
                    let whole = || format!("its {} view is the whole text", rendering.view);
                    reason =
                        reason.or_else(|| Some(hidden.map_or_else(whole, |hidden| hidden_reason(hidden))));
                }
                let block = DocumentBlock {
                    path: file.path.clone(),
                    file_type: subject.file_type,
                    view,
                    content,
                    remarks: encoding_remark(subject.facts).into_iter().chain(remark).collect(),
                    body,
                    summary: (view == ViewMode::Summary).then(|| self.author(&subject, &rendering)),
                };
                ViewAnswer { block, reason: reason.or(missing), fault }
            }
            Err(unavailable) => error_view(file, wanted, &unavailable),
        }
    }

    /// Returns whether the skeleton of a file is cached in its final form.
    pub(in crate::engine::document) fn keeps_skeleton(&self, file: &KnownFile) -> bool {
        let (caches, subject) = (self.trusted_caches(), ContentRef::from_file(file));
        let (Some(RenderCaches { views, .. }), Some(subject)) = (caches, subject) else { return false };
        let (view, detail) = (ViewMode::Skeleton, SummaryDetail::Words);
        let key = ViewKey::new(subject.hash, subject.file_type.id, view, detail, self.docs, None);
        key.is_some_and(|key| views.contains(&key))
    }

    /// Shows a view, from the cache if possible.
    fn cached_view(
        &mut self,
        subject: &ContentRef<'_>,
        rendering: &mut ViewParams<'_>,
    ) -> Result<ViewContent, ViewUnavailable> {
        // A view with secrets must not stay in a cache: the next answer may be for someone else.
        let caches = self.trusted_caches().filter(|_| !self.shows_secrets(subject, rendering));
        let Some(RenderCaches { views, .. }) = caches else { return self.build_view(subject, rendering) };
        let words = self.chosen_summary(subject, rendering).map(|chosen| chosen.summary.hash());
        let (view, detail) = (rendering.view, rendering.detail);
        let key = ViewKey::new(subject.hash, subject.file_type.id, view, detail, self.docs, words);
        let Some(key) = key else { return self.build_view(subject, rendering) };
        let kept = views.get(&key);
        if let Some(kept) = kept {
            let (remark, body) = (kept.remark.clone(), Arc::clone(&kept.body).into());
            return Ok(ViewContent { content: Some(subject.hash), remark, body, reason: None });
        }
        let mut shown = self.build_view(subject, rendering)?;
        // A view with a reason, or one of other bytes than requested, is valid only for this answer.
        if shown.reason.is_none() && shown.content == Some(subject.hash) {
            let (remark, body) = (shown.remark.clone(), Arc::<str>::from(&*shown.body.text()));
            shown.body = Arc::clone(&body).into();
            let fingerprint = view_fingerprint(rendering.view, &body);
            views.insert(key, Arc::new(CachedView { remark, body, fingerprint }));
        }
        Ok(shown)
    }

    fn build_view(
        &mut self,
        subject: &ContentRef<'_>,
        rendering: &mut ViewParams<'_>,
    ) -> Result<ViewContent, ViewUnavailable> {
        // The derived value is missing if the file has changed since it was checked.
        let gone = ViewUnavailable::LeftOut(SkipReason::Unstable);
        let content = Some(subject.hash);
        match rendering.view {
            ViewMode::None => {
                let body = aggregate::EXCLUDED.to_owned();
                Ok(ViewContent { content: None, remark: None, body: body.into(), reason: None })
            }
            // Deltas, excerpts and rows of names are rendered where their content is selected.
            ViewMode::Path | ViewMode::Names | ViewMode::Excerpt | ViewMode::Delta => {
                Ok(ViewContent { content, remark: None, body: String::new().into(), reason: None })
            }
            ViewMode::Masked => masked_view(self.cache, subject, rendering),
            ViewMode::Signatures => {
                symbols_view(self.cache, subject, rendering, aggregate::render_signatures)
            }
            ViewMode::Definitions => {
                symbols_view(self.cache, subject, rendering, aggregate::render_definitions)
            }
            ViewMode::Custom => slices_view(self.cache, subject, rendering),
            ViewMode::Diff => diff_view(self.cache, subject, rendering),
            ViewMode::Full | ViewMode::Window => {
                let text = if self.shows_secrets(subject, rendering) {
                    self.cache.workspace.read_unredacted(subject.path)
                } else {
                    rendering.text.take().map_or_else(|| self.cache.workspace.read_text(subject.path), Ok)
                };
                let (hash, mut body) = text.map_err(ViewUnavailable::LeftOut)?;
                if let Some(hidden) = self.hidden(subject).filter(|_| rendering.view == ViewMode::Full) {
                    body.clone_from(&hidden.shown);
                }
                if rendering.view == ViewMode::Window {
                    body = aggregate::render_window(
                        &body,
                        rendering.lines,
                        self.cache.workspace.options.window_lines,
                    );
                }
                Ok(ViewContent { content: Some(hash), remark: None, body: body.into(), reason: None })
            }
            ViewMode::Skeleton => {
                let skeleton = checked_skeleton(self.cache, &mut self.prefetch, subject).ok_or(gone)?;
                let remark = health_remark(skeleton.health)?;
                let body = syntax::skeleton_text(&skeleton, self.docs).into_owned();
                Ok(ViewContent { content, remark, body: body.into(), reason: None })
            }
            ViewMode::Outline => {
                let outline = self.cache.outline(subject).ok_or(gone)?;
                let remark = health_remark(outline.health)?;
                let body = aggregate::render_outline(&outline).into();
                Ok(ViewContent { content, remark, body, reason: None })
            }
            ViewMode::Summary => self.summary_view(subject, rendering).ok_or(gone),
        }
    }

    fn summary_view(&mut self, subject: &ContentRef<'_>, rendering: &ViewParams<'_>) -> Option<ViewContent> {
        let detail = rendering.detail;
        let written = self.chosen_summary(subject, rendering).map(|chosen| Arc::clone(&chosen.summary));
        let words = if written.is_some() { String::new() } else { self.cache.summary(subject)? };
        let outline = match detail {
            SummaryDetail::Words => None,
            SummaryDetail::TopLevel | SummaryDetail::Signatures => self.cache.outline(subject),
        };
        let is_broken = outline.as_ref().is_some_and(|outline| !outline.health.is_perfect());
        let outline = outline.map(without_secrets);
        let body = match written {
            Some(written) => {
                let mut lines = aggregate::model_summary_lines(&written.text, outline.as_ref(), detail);
                // A model's summary has its own limits.
                let structure =
                    SummaryLines { words: Vec::new(), structure: std::mem::take(&mut lines.structure) };
                lines.text() + &self.fit_summary(&structure, false)
            }
            None => self.fit_summary(&aggregate::summary_lines(&words, outline.as_ref(), detail), false),
        };
        let remark = is_broken.then(|| "understood in part".to_owned());
        Some(ViewContent { content: Some(subject.hash), remark, body: body.into(), reason: None })
    }

    /// Returns as much of a summary as its token limit allows. `is_chosen` says whether its structure was selected by
    /// name.
    pub(in crate::engine::document) fn fit_summary(
        &mut self,
        summary: &SummaryLines,
        is_chosen: bool,
    ) -> String {
        let text = summary.text();
        // No text has more tokens than bytes, so most short ones need not be counted.
        let is_fitting = text.len() as u64 <= aggregate::MAX_SUMMARY_TOKENS
            || self.cache.count_tokens(&[&text])[0] <= aggregate::MAX_SUMMARY_TOKENS;
        if is_fitting {
            return text;
        }
        let lines: Vec<String> =
            summary.words.iter().chain(&summary.structure).map(|line| format!("{line}\n")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        summary.fit(&self.cache.count_tokens(&lines), is_chosen)
    }

    /// Returns the model's summary that is shown for the file.
    fn chosen_summary(&self, subject: &ContentRef<'_>, rendering: &ViewParams<'_>) -> Option<&ChosenSummary> {
        // A model has read the whole file, and may have written about what is hidden.
        let is_asked = rendering.by_model && self.hidden(subject).is_none();
        self.summaries.get(subject.path, &subject.hash).filter(|_| is_asked)
    }

    /// Returns whether a view shows the secrets in a file.
    fn shows_secrets(&self, subject: &ContentRef<'_>, rendering: &ViewParams<'_>) -> bool {
        self.cache.workspace.options.shows_secrets_in_full
            && rendering.view == ViewMode::Full
            && self.hidden(subject).is_none()
    }

    fn hidden(&self, subject: &ContentRef<'_>) -> Option<&Arc<HiddenSymbols>> {
        self.cache.workspace.hidden.of_content(subject.path, &subject.hash)
    }

    fn author(&self, subject: &ContentRef<'_>, rendering: &ViewParams<'_>) -> SummaryProvenance {
        self.chosen_summary(subject, rendering).map_or(SummaryProvenance::Heuristic, ChosenSummary::by)
    }
}

/// Returns the view that replaces one that is too large; `None` where the text itself was requested.
const fn smaller_view(view: ViewMode) -> Option<ViewMode> {
    match view {
        ViewMode::Skeleton | ViewMode::Signatures | ViewMode::Definitions => Some(ViewMode::Outline),
        ViewMode::Outline => Some(ViewMode::Summary),
        ViewMode::Full
        | ViewMode::Summary
        | ViewMode::Window
        | ViewMode::Masked
        | ViewMode::Custom
        | ViewMode::Diff
        | ViewMode::Delta
        | ViewMode::Excerpt
        | ViewMode::Names
        | ViewMode::Path
        | ViewMode::None => None,
    }
}

/// Returns whether a view leaves out nothing of the text.
fn is_whole_text(subject: &ContentRef<'_>, rendering: &ViewParams<'_>, body: &str) -> bool {
    match rendering.view {
        ViewMode::Window => rendering.lines.0.is_empty(),
        // Compared by hash, so that the text need not be read.
        ViewMode::Skeleton | ViewMode::Masked => {
            body.len() as u64 == subject.facts.size && ContentHash::digest(body.as_bytes()) == subject.hash
        }
        _ => false,
    }
}

/// Returns the type of a file, or the unknown type for a file without text.
pub(in crate::engine::document) fn type_or_unknown(file: &KnownFile) -> &'static FileType {
    file.file_type().unwrap_or_else(discover::unknown_type)
}

/// Returns an outline as a summary may show it. A signature contains the default values of parameters, and one may be a
/// password.
fn without_secrets(mut outline: Outline) -> Outline {
    let mut stack: Vec<&mut Symbol> = outline.symbols.iter_mut().collect();
    while let Some(symbol) = stack.pop() {
        symbol.signature = summarize::safe_signature(symbol);
        if symbol.kind.is_namespace() {
            stack.extend(&mut symbol.children);
        }
    }
    outline
}

fn error_view(file: &KnownFile, view: ViewMode, unavailable: &ViewUnavailable) -> ViewAnswer {
    let reason = match unavailable {
        ViewUnavailable::LeftOut(reason) => reason.description(),
        ViewUnavailable::Fallback(fallback) => fallback.description(),
        ViewUnavailable::Words(words) => words,
    };
    let block = DocumentBlock {
        path: file.path.clone(),
        file_type: type_or_unknown(file),
        view,
        content: None,
        remarks: Vec::new(),
        body: aggregate::error_line(&file.path, view, reason).into(),
        summary: None,
    };
    ViewAnswer { block, reason: Some(reason.to_owned()), fault: Some(unavailable.fault()) }
}

pub(in crate::engine::document) fn encoding_remark(facts: &ContentFacts) -> Option<String> {
    let foreign = facts.encoding.as_deref().filter(|encoding| *encoding != "UTF-8");
    foreign.map(|encoding| format!("decoded from {encoding}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ParseHealth, Span, SymbolKind};

    fn symbol(kind: SymbolKind, signature: &str, children: Vec<Symbol>) -> Symbol {
        Symbol {
            kind,
            name: "f".to_owned(),
            qualified_name: "f".to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: 1, end_line: 1 },
            signature: signature.to_owned(),
            doc: None,
            recovered: false,
            children,
        }
    }

    #[test]
    fn a_password_in_a_signature_is_not_shown_in_a_summary() {
        let inner = symbol(SymbolKind::Function, "void f(string password = \"hunter2secret\")", Vec::new());
        let health = ParseHealth { broken_bytes: 0, total_bytes: 1, fallback: None };
        let symbols = vec![symbol(SymbolKind::Namespace, "namespace a", vec![inner])];
        let outline = Outline { health, doc: None, imports: Vec::new(), symbols };
        let outline = without_secrets(outline);
        let view = aggregate::summary_lines("C++ source.", Some(&outline), SummaryDetail::Signatures).text();
        assert!(view.contains("void f(string password") && !view.contains("hunter2"), "{view}");
    }
}
