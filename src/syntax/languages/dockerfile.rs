//! Dockerfiles: stages, and what each of them declares. A stage is not a node, so the whole file is read at once.

use tree_sitter::Node;

use super::lines::{cut_after_first_line, document_last_symbol, hash_comment_above};
use crate::model::{Symbol, SymbolKind};
use crate::syntax::outline::{
    ElisionMarks, Language, NamedScope, OutlineWalk, SymbolBody, SymbolDefinition, child_of_kind, children,
    find, find_all,
};
use crate::syntax::text::{documentation, format_line_count, is_license_text};

pub(super) static DOCKERFILE: Language = Language {
    marks: ElisionMarks::HASH,
    read_root: Some(file),
    ..Language::new("dockerfile", tree_sitter_containerfile::LANGUAGE, "tree-sitter-containerfile 0.9.2", &[])
};

/// An instruction of more lines than this is shown by its first line and its size.
const LONG_INSTRUCTION: usize = 3;

fn file<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    walk.doc = head_doc(walk);
    let mut stages: Vec<Symbol> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    let mut before = Vec::new();
    for node in instructions(root) {
        if node.kind() != "from_instruction" {
            instruction(walk, node);
            if let Some(stage) = stages.last_mut().filter(|_| node.kind().ends_with("_instruction")) {
                let range = walk.range(node);
                let end = range.start + walk.source.text(range.clone()).trim_end().len();
                stage.span = walk.source.span(stage.span.start_byte..end.max(stage.span.end_byte));
            }
            continue;
        }
        close_stage(walk, &mut stages, &mut before);
        let Some(name) = stage(walk, node, &names) else { continue };
        names.push(name.clone());
        // The stage was added last; what follows up to the next one are its members.
        stages.extend(walk.symbols.pop());
        walk.scopes.push(NamedScope { name, kind: SymbolKind::Stage });
    }
    close_stage(walk, &mut stages, &mut before);
    before.append(&mut stages);
    walk.symbols = before;
}

/// Returns the instructions, including those inside of error nodes.
fn instructions(root: Node<'_>) -> Vec<Node<'_>> {
    let nodes = children(root).into_iter();
    nodes.flat_map(|node| if node.is_error() { children(node) } else { vec![node] }).collect()
}

/// Ends a stage, which contains the symbols found since it began.
fn close_stage(walk: &mut OutlineWalk<'_>, stages: &mut [Symbol], before: &mut Vec<Symbol>) {
    walk.scopes.clear();
    let found = std::mem::take(&mut walk.symbols);
    match stages.last_mut() {
        Some(stage) => stage.children = found,
        None => *before = found,
    }
}

/// Reads `FROM image AS name`; an image that is not a stage of this file is an import.
fn stage<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, names: &[String]) -> Option<String> {
    let image = walk.text(child_of_kind(node, "image_spec")?).to_owned();
    // `scratch` stands for no image.
    if !names.contains(&image) && image != "scratch" {
        walk.add_import(&image);
    }
    let bare = find(node, ".image_spec/name").map_or("", |name| walk.text(name));
    let name = find(node, "as").map_or(bare, |name| walk.text(name)).to_owned();
    define(walk, node, SymbolKind::Stage, name.clone());
    Some(name)
}

fn instruction<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    match node.kind() {
        "arg_instruction" => define_variables(walk, node, ".arg_pair"),
        "env_instruction" => define_variables(walk, node, ".env_pair"),
        "label_instruction" | "run_instruction" | "copy_instruction" | "add_instruction" => {}
        "expose_instruction"
        | "entrypoint_instruction"
        | "cmd_instruction"
        | "healthcheck_instruction"
        | "user_instruction"
        | "volume_instruction"
        | "workdir_instruction"
        | "stopsignal_instruction" => {
            let name = walk.text(node).split_whitespace().next().unwrap_or_default().to_uppercase();
            define(walk, node, SymbolKind::Property, name);
        }
        _ => return,
    }
    cut_instruction(walk, node);
}

/// Reads the variables of `ARG` and `ENV`.
fn define_variables<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, pairs: &'static str) {
    for pair in find_all(node, pairs) {
        let Some(name) = walk.name_at(pair, "name") else { continue };
        define(walk, pair, SymbolKind::Variable, name);
    }
}

fn define<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind, name: String) {
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Nothing));
    document_last_symbol(walk, |walk| {
        // A comment at the head of the file is about the file.
        let doc = hash_comment_above(walk, walk.range(node).start);
        doc.filter(|doc| walk.doc.as_ref().is_none_or(|head| !doc.ends_with(head)))
    });
}

/// Cuts the later lines of a long instruction.
fn cut_instruction<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    if walk.source.text(range.clone()).trim_end().lines().count() <= LONG_INSTRUCTION || node.has_error() {
        return;
    }
    let documents = find_all(node, ".heredoc_block/.heredoc_content");
    for document in &documents {
        let document = walk.range(*document);
        let text = walk.source.text(document.clone()).trim_end();
        let size = format_line_count(text.lines().count());
        walk.cut(document.start..document.start + text.len(), format!("# {size}"));
    }
    let command = child_of_kind(node, "shell_command").filter(|_| node.kind() == "run_instruction");
    if let Some(command) = command.filter(|_| documents.is_empty()) {
        cut_command(walk, command);
    }
}

/// Cuts the later lines of a shell command, or all of them where the first would be incomplete without them.
fn cut_command<'t>(walk: &mut OutlineWalk<'t>, command: Node<'t>) {
    let range = walk.range(command);
    let text = walk.source.text(range.clone()).trim_end();
    let first = text.lines().next().unwrap_or_default();
    // A quote that is open at the end of the first line would swallow the mark.
    let is_open = ['\'', '"', '`'].iter().any(|quote| !first.matches(*quote).count().is_multiple_of(2));
    if is_open || first.trim_matches(['\\', ' ']).is_empty() {
        let size = format_line_count(text.lines().count());
        // `:` is a command without effect, because the instruction needs one.
        walk.cut(range.start..range.start + text.len(), format!(":  # {size}"));
    } else if 1 < text.lines().count() {
        cut_after_first_line(walk, range);
    }
}

/// Returns the doc in the comments at the head, without the directives for the parser.
fn head_doc(walk: &OutlineWalk<'_>) -> Option<String> {
    let lines = walk.source.original_text().lines().map(str::trim);
    let comments = lines.take_while(|line| line.starts_with('#') || line.is_empty());
    let is_directive = |line: &&str| {
        let content = line.trim_start_matches(['#', ' ']);
        ["syntax", "escape", "check"]
            .iter()
            .any(|name| content.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('=')))
    };
    let text: Vec<_> = comments.filter(|line| !is_directive(line)).collect();
    let mut paragraphs = text.split(|line| line.is_empty());
    paragraphs.find_map(|lines| documentation(&lines.join("\n")).filter(|doc| !is_license_text(doc)))
}
