//! What is shown of one file.

use std::sync::Arc;

use super::agent::Chosen;
use super::artifacts::Subject;
use super::given::fingerprint;
use super::picks::Picks;
use super::project::Project;
use super::reading::ReadText;
use super::scan::KnownFile;
use super::scan::KnownState;
use super::shown::KeptView;
use super::shown::ViewKey;
use crate::aggregate;
use crate::aggregate::FocusLines;
use crate::discover;
use crate::model::Block;
use crate::model::ContentHash;
use crate::model::Facts;
use crate::model::Fallback;
use crate::model::FileItem;
use crate::model::FileType;
use crate::model::Health;
use crate::model::LeftOut;
use crate::model::Outline;
use crate::model::Role;
use crate::model::SummaryBy;
use crate::model::SummaryDetail;
use crate::model::Symbol;
use crate::model::ViewMode;
use crate::summarize;
use crate::summarize::secrets;
use crate::syntax;

/// How a file was rendered.
pub(super) struct Rendered {
    pub(super) view: ViewMode,
    pub(super) content: Option<ContentHash>,
    pub(super) remarks: Vec<String>,
    pub(super) body: String,
    pub(super) why: Option<String>,
    /// Who wrote the words, where the view is a summary.
    pub(super) summary: Option<SummaryBy>,
}

/// What a rendering depends on beside the file.
pub(super) struct Rendering<'a> {
    pub(super) view: ViewMode,
    pub(super) detail: SummaryDetail,
    /// Whether a model's words stand in for the heuristic's, where the answer has some.
    pub(super) by_model: bool,
    pub(super) lines: &'a FocusLines,
    /// What people say of the file.
    pub(super) item: Option<&'a FileItem>,
    /// What was asked for of this file alone; it goes before what people say of the file.
    pub(super) picks: Option<&'a Picks<'a>>,
    /// The text, where it has been read in this run already.
    pub(super) text: Option<ReadText>,
}

/// What a view shows, once it could be had.
pub(super) struct Shown {
    pub(super) content: Option<ContentHash>,
    pub(super) remark: Option<String>,
    pub(super) body: String,
    /// What it does not show although somebody asked for it.
    pub(super) why: Option<String>,
}

/// Why a view cannot be had.
pub(super) enum Hindrance {
    /// The file has nothing to show.
    LeftOut(LeftOut),
    /// Its structure is not known; there are words about it all the same.
    Fallback(Fallback),
    /// There is nothing that such a view could show; there are words about the file all the same.
    Words(String),
}

impl Project<'_> {
    /// Renders a file. What cannot be rendered becomes one line that says so.
    pub(super) fn render(
        &mut self,
        file: &KnownFile,
        mut rendering: Rendering<'_>,
        max_bytes: u64,
    ) -> Rendered {
        let wanted = rendering.view;
        let subject = match (&file.state, Subject::of(file)) {
            (_, Some(subject)) => subject,
            (KnownState::LeftOut(reason), None) => return failed(file, wanted, reason.words()),
            (KnownState::Content { .. }, None) => return failed(file, wanted, LeftOut::Unreadable.words()),
        };
        let has_structure = syntax::has_structure(subject.file_type.id);
        let (view, mut why) = aggregate::fit_to_size(wanted, subject.facts.size, max_bytes, has_structure);
        rendering.view = view;
        if let Some(feature) =
            syntax::missing_feature(subject.file_type.id).filter(|_| wanted.needs_structure())
        {
            why = Some(format!("no {wanted} view: this slop was built without {feature}"));
        }
        let mut shown = self.show(&subject, &mut rendering);
        let fallback = match &shown {
            Err(Hindrance::Fallback(fallback)) => Some(format!("no {view}: {}", fallback.words())),
            Err(Hindrance::Words(words)) => Some(format!("no {view} view: {words}")),
            Ok(_) | Err(Hindrance::LeftOut(_)) => None,
        };
        if fallback.is_some() {
            why = fallback;
            rendering.view = ViewMode::Summary;
            shown = self.show(&subject, &mut rendering);
        }
        match shown {
            Ok(Shown { content, remark, body, why: missing }) => {
                let why = why.or(missing);
                let remarks = encoding_remark(subject.facts).into_iter().chain(remark).collect();
                let summary =
                    (rendering.view == ViewMode::Summary).then(|| self.author(&subject, &rendering));
                Rendered { view: rendering.view, content, remarks, body, why, summary }
            }
            Err(Hindrance::LeftOut(reason)) => failed(file, wanted, reason.words()),
            Err(Hindrance::Fallback(fallback)) => failed(file, wanted, fallback.words()),
            Err(Hindrance::Words(words)) => failed(file, wanted, &words),
        }
    }

    /// Shows a view, as it was shown before where that is kept.
    fn show(&mut self, subject: &Subject<'_>, rendering: &mut Rendering<'_>) -> Result<Shown, Hindrance> {
        let Some(tree) = self.tree.clone().filter(|_| !self.paranoid) else {
            return self.show_anew(subject, rendering);
        };
        let words = self.chosen(subject, rendering).map(|chosen| chosen.written.hash());
        let key = ViewKey::of(subject.hash, subject.file_type.id, rendering.view, rendering.detail, words);
        let Some(key) = key else { return self.show_anew(subject, rendering) };
        let kept = tree.views().find(&key);
        if let Some(kept) = kept {
            let (remark, body) = (kept.remark.clone(), kept.body.clone());
            return Ok(Shown { content: Some(subject.hash), remark, body, why: None });
        }
        let shown = self.show_anew(subject, rendering)?;
        if shown.why.is_none() && shown.content == Some(subject.hash) {
            let (remark, body) = (shown.remark.clone(), shown.body.clone());
            let fingerprint = fingerprint(rendering.view, &body);
            tree.views().keep(key, KeptView { remark, body, fingerprint });
        }
        Ok(shown)
    }

    fn show_anew(
        &mut self,
        subject: &Subject<'_>,
        rendering: &mut Rendering<'_>,
    ) -> Result<Shown, Hindrance> {
        // What was derived is gone if the file is not what it was when it was looked at.
        let gone = Hindrance::LeftOut(LeftOut::Unstable);
        let content = Some(subject.hash);
        match rendering.view {
            ViewMode::None => {
                let body = aggregate::EXCLUDED.to_owned();
                Ok(Shown { content: None, remark: None, body, why: None })
            }
            ViewMode::Path => Ok(Shown { content, remark: None, body: String::new(), why: None }),
            ViewMode::Masked => self.show_masked(subject, rendering),
            ViewMode::Signatures => self.show_symbols(subject, rendering, aggregate::view_signatures),
            ViewMode::Definitions => self.show_symbols(subject, rendering, aggregate::view_definitions),
            ViewMode::Custom => self.show_slices(subject, rendering),
            ViewMode::Diff => self.show_diff(subject, rendering),
            ViewMode::Full | ViewMode::Window => {
                let text = rendering.text.take().map_or_else(|| self.text(subject.path), Ok);
                let (hash, mut body) = text.map_err(Hindrance::LeftOut)?;
                if rendering.view == ViewMode::Window {
                    body = aggregate::view_window(&body, rendering.lines, self.options.window_lines);
                }
                Ok(Shown { content: Some(hash), remark: None, body, why: None })
            }
            ViewMode::Skeleton => {
                let skeleton = self.skeleton(subject).ok_or(gone)?;
                let remark = health_remark(skeleton.health)?;
                let body = match subject.file_type.role {
                    Role::Config(_) => without_secret_values(skeleton.text)?,
                    Role::Code | Role::Prose | Role::Data => skeleton.text,
                };
                Ok(Shown { content, remark, body, why: None })
            }
            ViewMode::Outline => {
                let outline = self.outline(subject).ok_or(gone)?;
                let remark = health_remark(outline.health)?;
                Ok(Shown { content, remark, body: aggregate::view_outline(&outline), why: None })
            }
            ViewMode::Summary => self.show_summary(subject, rendering).ok_or(gone),
        }
    }

    fn show_summary(&mut self, subject: &Subject<'_>, rendering: &Rendering<'_>) -> Option<Shown> {
        let detail = rendering.detail;
        let written = self.chosen(subject, rendering).map(|chosen| Arc::clone(&chosen.written));
        let words = if written.is_some() { String::new() } else { self.summary(subject)? };
        let outline = match detail {
            SummaryDetail::Words => None,
            SummaryDetail::TopLevel | SummaryDetail::Signatures => self.outline(subject),
        };
        let is_broken = outline.as_ref().is_some_and(|outline| !outline.health.is_perfect());
        let outline = outline.map(without_secrets);
        let body = match written {
            Some(written) => aggregate::view_written(&written.text, outline.as_ref(), detail),
            None => aggregate::view_summary(&words, outline.as_ref(), detail),
        };
        let remark = is_broken.then(|| "understood in part".to_owned());
        Some(Shown { content: Some(subject.hash), remark, body, why: None })
    }

    /// Returns the model's words that a summary of the file shows.
    fn chosen(&self, subject: &Subject<'_>, rendering: &Rendering<'_>) -> Option<&Chosen> {
        self.words.of(subject.path, &subject.hash).filter(|_| rendering.by_model)
    }

    fn author(&self, subject: &Subject<'_>, rendering: &Rendering<'_>) -> SummaryBy {
        self.chosen(subject, rendering).map_or(SummaryBy::Heuristic, Chosen::by)
    }
}

/// Returns the block that a rendered file is.
pub(super) fn block(file: &KnownFile, rendered: Rendered) -> Block {
    let Rendered { view, content, remarks, body, summary, .. } = rendered;
    Block { path: file.path.clone(), file_type: type_of(file), view, content, remarks, body, summary }
}

/// Returns the type of a file; what has no text has no type of its own.
pub(super) fn type_of(file: &KnownFile) -> &'static FileType {
    match &file.state {
        KnownState::Content { file_type, .. } => file_type,
        KnownState::LeftOut(_) => discover::unknown_type(),
    }
}

/// Returns an outline as a summary may show it. A signature holds what its parameters are by default, and that may be
/// a password.
fn without_secrets(mut outline: Outline) -> Outline {
    let mut stack: Vec<&mut Symbol> = outline.symbols.iter_mut().collect();
    while let Some(symbol) = stack.pop() {
        symbol.signature = summarize::told_signature(symbol);
        if symbol.kind.is_namespace() {
            stack.extend(&mut symbol.children);
        }
    }
    outline
}

/// Returns the skeleton of settings as a document may show it: few of their values give way to their size, and a password
/// that nobody asked for in full is as well out of sight as it is in a summary.
fn without_secret_values(skeleton: String) -> Result<String, Hindrance> {
    let scan = secrets::scan(&skeleton).map_err(|why| Hindrance::Words(why.to_string()))?;
    Ok(if scan.is_clean() { skeleton } else { secrets::redact(&skeleton, &scan) })
}

fn failed(file: &KnownFile, view: ViewMode, reason: &str) -> Rendered {
    let body = aggregate::error_line(&file.path, view, reason);
    Rendered { view, content: None, remarks: Vec::new(), body, why: Some(reason.to_owned()), summary: None }
}

fn encoding_remark(facts: &Facts) -> Option<String> {
    let foreign = facts.encoding.as_deref().filter(|encoding| *encoding != "UTF-8");
    foreign.map(|encoding| format!("decoded from {encoding}"))
}

/// Returns what to say of a parse that was not perfect; an error where there was none to speak of.
pub(super) fn health_remark(health: Health) -> Result<Option<String>, Hindrance> {
    match health.fallback {
        Some(fallback) => Err(Hindrance::Fallback(fallback)),
        None => Ok((!health.is_perfect()).then(|| format!("parse health {health}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Span;
    use crate::model::SymbolKind;

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
        let health = Health { broken_bytes: 0, total_bytes: 1, fallback: None };
        let symbols = vec![symbol(SymbolKind::Namespace, "namespace a", vec![inner])];
        let outline = Outline { health, doc: None, imports: Vec::new(), symbols };
        let view = aggregate::view_summary(
            "C++ source.",
            Some(&without_secrets(outline)),
            SummaryDetail::Signatures,
        );
        assert!(view.contains("void f(string password") && !view.contains("hunter2"), "{view}");
    }
}
