//! Renders the blocks of a limited document: whole texts, excerpts, and summaries with signatures.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::pack::PackContext;
use crate::aggregate::SummaryLines;
use crate::engine::document::draft::ShownFile;
use crate::engine::document::gather::{WantedView, render_as};
use crate::engine::document::rendering::{
    CachedView, PartsCache, Renderer, ViewCache, ViewKey, encoding_remark, parsed_parts,
};
use crate::engine::fingerprint::Fingerprint;
use crate::engine::ranking::{ProjectRanking, SourceText, SymbolSignature};
use crate::engine::workspace::{KnownState, Workspace};
use crate::model::{
    CompactText, ContentHash, DocumentBlock, FileRole, FileType, RelPath, RoutingRule, SummaryDetail,
    SummaryProvenance, Symbol, SymbolKind, ViewMode, on_all_cores,
};
use crate::{aggregate, summarize, syntax};

/// The maximum length of a model's summary in a limited document, in bytes: about 150 tokens.
const MAX_SUMMARY_BYTES: usize = 600;

/// A gap of at least this many lines says how to read it; for fewer, that would cost more than it helps.
const MIN_POINTED_LINES: u32 = 60;
/// If the task points to a line, an excerpt may be up to twice the lines that were selected and this many bytes.
const POINTED_EXCESS: usize = 1_000;

/// The selected parts of one file. Symbols are positions in the ranking.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct BlockSelection {
    /// The position of the file in the draft.
    pub(in crate::engine::document) file: usize,
    pub(in crate::engine::document) bodies: Vec<usize>,
    pub(in crate::engine::document) signatures: Vec<usize>,
    /// Whether nothing is left out.
    pub(in crate::engine::document) is_whole: bool,
}

/// The blocks that were rendered for each selection; `None` for those that could not be.
pub(super) type BlockMemo = HashMap<BlockSelection, Option<DocumentBlock>>;

/// Renders the blocks of some files. Those that can no longer be shown are missing in the result.
pub(super) fn render_blocks(
    renderer: &mut Renderer<'_, '_>,
    files: &[ShownFile],
    selections: &[BlockSelection],
    context: &PackContext<'_>,
    has_summaries: bool,
    memo: &mut BlockMemo,
) -> HashMap<usize, DocumentBlock> {
    let new: Vec<&BlockSelection> =
        selections.iter().filter(|selection| !memo.contains_key(*selection)).collect();
    let is_summary = |selection: &BlockSelection| has_summaries && selection.bodies.is_empty();
    let (summaries, excerpts): (Vec<_>, Vec<_>) = new.into_iter().partition(|of| is_summary(of));
    for selection in summaries {
        let block = summary_block(renderer, &files[selection.file], selection, context);
        memo.insert(selection.clone(), block);
    }
    let workspace = &renderer.cache.workspace;
    let caches = renderer.trusted_caches();
    let renderer = ExcerptRenderer {
        workspace,
        views: caches.map(|caches| &caches.views),
        parts: caches.map_or(&renderer.parts, |caches| &caches.parts),
    };
    let max_bytes = context.routing.max_bytes;
    let blocks = on_all_cores(&excerpts, |selection| {
        excerpt_block(renderer, &files[selection.file], selection, context.ranking, max_bytes)
    });
    memo.extend(excerpts.into_iter().cloned().zip(blocks));
    let shown =
        selections.iter().filter_map(|selection| Some((selection.file, memo.get(selection)?.clone()?)));
    shown.collect()
}

/// Shows a file as its summary, with the signatures of some of its symbols.
pub(super) fn summary_block(
    renderer: &mut Renderer<'_, '_>,
    shown: &ShownFile,
    selection: &BlockSelection,
    context: &PackContext<'_>,
) -> Option<DocumentBlock> {
    let wanted = WantedView::new(ViewMode::Summary, SummaryDetail::Words);
    let mut block = render_as(renderer, &shown.file, context.routing, wanted).block;
    block.content?;
    let is_by_model = matches!(block.summary, Some(SummaryProvenance::Model { .. }));
    if is_by_model {
        let mut words = block.body.text().into_owned();
        shorten(&mut words);
        block.body = words.into();
    }
    let Some(source) = context.ranking.sources.get(&selection.file) else { return Some(block) };
    let mut heads: Vec<&SymbolSignature> = selection
        .signatures
        .iter()
        .filter_map(|symbol| context.ranking.symbols[*symbol].signature.as_ref())
        .collect();
    heads.sort_by_key(|head| *head.lines.start());
    let mut summary = aggregate::summary_lines(&block.body.text(), None, SummaryDetail::Words);
    let mut within = String::new();
    // First lines represent a file only if its summary describes nothing but its imports.
    let is_described = summary.words.iter().skip(1).any(|line| !line.starts_with("Imports: "));
    for head in heads.into_iter().filter(|head| !head.is_verbatim || !is_described) {
        let declared = if head.is_verbatim { None } else { declared_signature(source, head) };
        add_signature(
            &mut summary,
            &mut within,
            &declared.unwrap_or_else(|| DeclaredSignature::from_text(&head.text)),
        );
    }
    // A model's summary has its own limits.
    let body = if is_by_model { summary.text() } else { renderer.fit_summary(&summary, true) };
    block.body = body.into();
    Some(block)
}

/// Adds a signature to a summary; `within` is the container of the previous signature.
fn add_signature(summary: &mut SummaryLines, within: &mut String, declared: &DeclaredSignature) {
    let text = declared.text.trim_end();
    // The summary names the most important symbols already, and a namespace says nothing about its content.
    if declared.is_namespace || summary.words.iter().any(|line| is_line_of(line, text)) {
        return;
    }
    // If a signature did not fit, the summary may have its beginning, followed by the members.
    let cut = summary.words.iter().position(|line| members_after_cut(line, text).is_some());
    let cut = cut.map(|at| summary.words.remove(at));
    let members = cut.as_deref().and_then(|line| members_after_cut(line, text)).unwrap_or_default();
    let DeclaredSignature { name, container, .. } = declared;
    // Further declarations of the same type follow below the first.
    let lead = match container {
        Some(container) if container == within => "  ".to_owned(),
        Some(container) => format!("{container}: "),
        None => String::new(),
    };
    summary.structure.extend(format!("{text}{members}").lines().map(|line| format!("{lead}{line}")));
    within.clone_from(container.as_ref().unwrap_or(name));
}

/// Returns whether a line of a summary contains the full signature.
fn is_line_of(line: &str, signature: &str) -> bool {
    let rest = line.strip_prefix(signature.trim_end_matches([' ', ':', '{', ';', '=']));
    rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// Returns what follows the beginning of a signature in a line of a summary that has no room for all of it.
fn members_after_cut<'l>(line: &'l str, signature: &str) -> Option<&'l str> {
    let (start, members) = line.split_once('…')?;
    let start = start.trim_end();
    (!start.is_empty() && signature.starts_with(start)).then_some(members)
}

/// A signature as a summary shows it.
struct DeclaredSignature {
    /// The qualified name of the symbol.
    name: String,
    /// The qualified name of its container.
    container: Option<String>,
    is_namespace: bool,
    /// The signature without possible passwords.
    text: String,
}

impl DeclaredSignature {
    fn from_text(text: &str) -> Self {
        Self { name: String::new(), container: None, is_namespace: false, text: text.to_owned() }
    }
}

/// Looks a signature up in the outline of its file.
fn declared_signature(source: &SourceText, head: &SymbolSignature) -> Option<DeclaredSignature> {
    let mut around: Vec<&Symbol> = Vec::new();
    let mut declared = None;
    source.outline.as_ref()?.walk(|symbol, depth| {
        around.truncate(depth);
        let lines = symbol.span.start_line..=symbol.span.end_line;
        let container = around.last().filter(|container| !container.kind.is_namespace());
        if symbol.signature == head.text && lines.contains(head.lines.start()) {
            declared = Some(DeclaredSignature {
                name: symbol.qualified_name.clone(),
                container: container.map(|container| container.qualified_name.clone()),
                is_namespace: symbol.kind == SymbolKind::Namespace,
                text: summarize::safe_signature(symbol),
            });
        }
        around.push(symbol);
    });
    declared
}

/// Cuts a summary at the end of a line or sentence.
fn shorten(words: &mut String) {
    if words.len() <= MAX_SUMMARY_BYTES {
        return;
    }
    let end = words.floor_char_boundary(MAX_SUMMARY_BYTES);
    let line = words[..end].rfind('\n').map(|at| at + 1);
    let sentence = words[..end].rfind(". ").map(|at| at + 1);
    let end = line.max(sentence).filter(|at| MAX_SUMMARY_BYTES / 4 < *at).unwrap_or(end);
    words.truncate(end);
    let kept = words.trim_end().len();
    words.truncate(kept);
    words.push('\n');
}

/// What excerpts are rendered with, on all cores.
#[derive(Clone, Copy)]
struct ExcerptRenderer<'r> {
    workspace: &'r Workspace<'r>,
    views: Option<&'r ViewCache>,
    parts: &'r PartsCache,
}

/// Shows the text of a file, or an excerpt of it.
fn excerpt_block(
    renderer: ExcerptRenderer<'_>,
    shown: &ShownFile,
    selection: &BlockSelection,
    ranking: &ProjectRanking,
    max_bytes: u64,
) -> Option<DocumentBlock> {
    let KnownState::Content { hash, file_type, facts } = &shown.file.state else { return None };
    let source = ranking.sources.get(&selection.file)?;
    let is_config = matches!(file_type.role, FileRole::Config(_));
    let is_curated = shown.candidate.rule == RoutingRule::ItemView;
    // Configuration may hold passwords, so its full text is shown only on request.
    let may_be_whole = facts.size <= max_bytes && (is_curated || !is_config);
    let is_whole = selection.is_whole && may_be_whole && !file_type.is_notebook();
    // Without what a mask hides, even the whole text is only an excerpt.
    let is_cut = renderer.workspace.hidden.get(&shown.file.path).is_some();
    let body: CompactText = if is_whole {
        source.text.clone().into()
    } else {
        let lines = excerpt_lines(selection, ranking);
        let subject = ExcerptSource { path: &shown.file.path, file_type, source };
        cached_excerpt(renderer, &subject, &lines)
    };
    Some(DocumentBlock {
        path: shown.file.path.clone(),
        file_type,
        view: if !is_cut && (is_whole || body.text() == source.text) {
            ViewMode::Full
        } else {
            ViewMode::Excerpt
        },
        content: Some(*hash),
        remarks: encoding_remark(facts).into_iter().collect(),
        body,
        summary: None,
    })
}

/// The lines that an excerpt shows.
struct ExcerptLines {
    bodies: Vec<RangeInclusive<u32>>,
    signatures: Vec<RangeInclusive<u32>>,
    /// Whether the task points to any of them.
    is_pointed_to: bool,
}

fn excerpt_lines(selection: &BlockSelection, ranking: &ProjectRanking) -> ExcerptLines {
    let signature_of = |symbol: &usize| ranking.symbols[*symbol].signature.as_ref();
    let lines_of = |is_verbatim: bool| {
        let heads = selection.signatures.iter().filter_map(signature_of);
        heads.filter(move |head| head.is_verbatim == is_verbatim).map(|head| head.lines.clone())
    };
    let is_pointed_to = selection.bodies.iter().any(|symbol| 0.0 < ranking.symbols[*symbol].parts.frame);
    let bodies = selection.bodies.iter().map(|symbol| ranking.symbols[*symbol].lines.clone());
    let mut bodies: Vec<RangeInclusive<u32>> = bodies.chain(lines_of(true)).collect();
    let mut signatures: Vec<RangeInclusive<u32>> = lines_of(false).collect();
    bodies.sort_by_key(|lines| *lines.start());
    signatures.sort_by_key(|lines| *lines.start());
    ExcerptLines { bodies, signatures, is_pointed_to }
}

/// The text that an excerpt is made of.
struct ExcerptSource<'s> {
    path: &'s RelPath,
    file_type: &'static FileType,
    source: &'s SourceText,
}

/// Returns an excerpt, from the cache if possible: checking that an excerpt can be parsed is a large part of the time
/// that a limited document takes, and most files show the same lines as in the previous document.
fn cached_excerpt(
    renderer: ExcerptRenderer<'_>,
    subject: &ExcerptSource<'_>,
    lines: &ExcerptLines,
) -> CompactText {
    let Some(views) = renderer.views else { return excerpt_text(renderer, subject, lines).0.into() };
    let mut selected = Fingerprint::default();
    // The excerpt names the path where much is left out.
    selected.bytes(subject.path.as_bytes());
    for ranges in [&lines.bodies, &lines.signatures] {
        selected.number(ranges.len() as u64);
        for range in ranges {
            selected.number((*range.start()).into()).number((*range.end()).into());
        }
    }
    selected.number(lines.is_pointed_to.into());
    let words = Some(selected.finish());
    let (content, file_type, view) = (subject.source.content, subject.file_type.id, ViewMode::Excerpt);
    let key = ViewKey { content, file_type, view, detail: None, docs: None, words };
    if let Some(kept) = views.get(&key) {
        return Arc::clone(&kept.body).into();
    }
    let (text, is_final) = excerpt_text(renderer, subject, lines);
    let body: Arc<str> = text.into();
    if is_final {
        // The fingerprints of excerpts are never looked up.
        let (body, fingerprint) = (Arc::clone(&body), ContentHash::digest(b""));
        views.insert(key, Arc::new(CachedView { remark: None, body, fingerprint }));
    }
    body.into()
}

/// Returns an excerpt, and whether it would be the same another time: not if parsing it took too long.
fn excerpt_text(
    ExcerptRenderer { workspace, parts: kept, .. }: ExcerptRenderer<'_>,
    ExcerptSource { path, file_type, source }: &ExcerptSource<'_>,
    ExcerptLines { bodies, signatures, is_pointed_to }: &ExcerptLines,
) -> (String, bool) {
    let timeout = workspace.options.parse_timeout;
    // This thread's time: others parse other files meanwhile.
    let began = workspace.world.clock.thread_time();
    let mut give_up = || timeout < workspace.world.clock.thread_time().saturating_sub(began);
    let SourceText { text, errors, is_too_slow, .. } = source;
    let all = || [bodies.as_slice(), signatures].concat();
    if file_type.is_notebook()
        && let Some(script) = syntax::notebook_excerpt(text, &all())
    {
        return (script, true);
    }
    let starts = line_starts(text);
    let pointer = |gap: &RangeInclusive<u32>| pointer(path, text, &starts, gap);
    let request = syntax::ExcerptRequest { bodies, signatures: Some(signatures), pointer: &pointer, errors };
    let was_too_slow = is_too_slow.load(Ordering::Relaxed);
    let parts = if was_too_slow { None } else { parsed_parts(kept, source, file_type, &mut give_up) };
    let excerpt = parts.and_then(|parts| syntax::excerpt(file_type.id, text, &parts, &request, &mut give_up));
    let is_final = !was_too_slow && !give_up();
    is_too_slow.store(!is_final, Ordering::Relaxed);
    // Without a grammar, the lines are shown with a comment for each gap.
    let lines = || chosen_lines(text, file_type.id, &all());
    let text = match excerpt {
        // Some languages have no comments, and from some files nothing can be left out without an error.
        Some(excerpt) if *is_pointed_to => {
            let lines = lines();
            let is_close = excerpt.len() <= lines.len() * 2 + POINTED_EXCESS;
            if is_close { excerpt } else { lines }
        }
        Some(excerpt) => excerpt,
        None => lines(),
    };
    (text, is_final)
}

/// Returns where each line of a text begins, and its end.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).chain([text.len()]).collect()
}

/// Returns how to read the lines of a large gap, and about how many tokens they are.
fn pointer(path: &RelPath, text: &str, starts: &[usize], gap: &RangeInclusive<u32>) -> Option<String> {
    let (first, last) = (*gap.start(), *gap.end());
    let left_out = text.get(*starts.get(first as usize - 1)?..*starts.get(last as usize)?)?;
    let is_large = MIN_POINTED_LINES <= last - first;
    // Exact counts are not worth their time: a document may have hundreds of gaps.
    let tokens = aggregate::rough_tokens(left_out);
    is_large.then(|| format!("+{tokens} tokens: slop view {} --lines {first}-{last}", path.to_argument()))
}

/// Returns some lines of a text, with a comment in place of each gap; blank lines are shown.
fn chosen_lines(text: &str, language: &str, chosen: &[RangeInclusive<u32>]) -> String {
    let is_chosen = |number: u32| chosen.iter().any(|lines| lines.contains(&number));
    let lines = (1..).zip(text.split_inclusive('\n')).map(|(number, line)| (is_chosen(number), line));
    let lines: Vec<(bool, &str)> = lines.collect();
    let mut out = String::new();
    for run in lines.chunk_by(|a, b| a.0 == b.0) {
        let is_shown = run[0].0 || run.iter().all(|(_, line)| line.trim().is_empty());
        if is_shown {
            out.extend(run.iter().map(|(_, line)| *line));
        } else {
            out.push_str(&aggregate::skipped_lines_mark(language, run.len()));
            out.push('\n');
        }
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::engine::options::Options;
    use crate::engine::project::Project;
    use crate::engine::testing::{TestProject, options};

    const TEXT: &str = "def one():\n    return 1\n\n\ndef two():\n    return 2\n";

    #[test]
    fn without_a_grammar_gaps_are_marked_by_comments_and_blank_lines_are_shown() {
        let text = "a\n\nb\nc\nd\n\ne\nf\n";
        assert_eq!(chosen_lines(text, "elixir", &[1..=1, 3..=3, 7..=8]), "a\n\nb\n# … 3 lines\ne\nf\n");
        assert_eq!(chosen_lines(text, "haskell", &[3..=4]), "-- … 2 lines\nb\nc\n-- … 4 lines\n");
        assert_eq!(chosen_lines("a\nb", "json", &[2..=2]), "… 1 line\nb\n");
    }

    #[test]
    fn a_text_that_takes_too_long_to_parse_is_not_parsed_for_another_excerpt() {
        let scene = TestProject::new(&[("a.py", TEXT)]);
        let patient = scene.open(options());
        let hurried = scene.open(Options { parse_timeout: Duration::ZERO, ..options() });
        let path = RelPath::new(b"a.py").unwrap();
        let file_type = crate::discover::file_type_by_id("python").unwrap();
        let lines = ExcerptLines { bodies: vec![1..=2], signatures: Vec::new(), is_pointed_to: false };
        let excerpt = |project: &Project<'_>, source: &SourceText| {
            let parts = PartsCache::default();
            let renderer =
                ExcerptRenderer { workspace: &project.cache.workspace, views: None, parts: &parts };
            excerpt_text(renderer, &ExcerptSource { path: &path, file_type, source }, &lines)
        };
        let (parsed, is_final) =
            excerpt(&patient, &SourceText::new(TEXT.to_owned(), ContentHash::digest(b""), None));
        assert!(is_final);
        let source = SourceText::new(TEXT.to_owned(), ContentHash::digest(b""), None);
        let chosen = excerpt(&hurried, &source);
        assert_eq!(chosen, ("def one():\n    return 1\n# … 4 lines\n".to_owned(), false));
        assert_eq!(excerpt(&patient, &source), chosen);
        assert_ne!(parsed, chosen.0);
    }

    #[test]
    fn a_signature_takes_the_place_of_its_beginning_in_the_words_of_a_summary() {
        let words =
            ["C++ source.", "class Long : A…: run, …", "class Small: go", "int add(int a,…", "int f(x)"];
        let mut summary = aggregate::summary_lines(&words.join("\n"), None, SummaryDetail::Words);
        let mut within = String::new();
        for text in ["class Long : A, B", "class Small:", "int add(int a, int b)", "int f(x) {", "int f"] {
            add_signature(&mut summary, &mut within, &DeclaredSignature::from_text(text));
        }
        assert_eq!(summary.words, ["C++ source.", "class Small: go", "int f(x)"]);
        assert_eq!(summary.structure, ["class Long : A, B: run, …", "int add(int a, int b)"]);
    }
}
