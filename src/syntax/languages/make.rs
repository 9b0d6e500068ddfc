//! Makefiles: targets, variables, and included files.
//!
//! The parser is given the lines that declare something, without values and recipes. The grammar supports neither
//! computed names (`obj-$(CONFIG_X) += a.o`) nor much of what a value may contain, so it fails on most makefiles like
//! those of the Linux kernel; it understands what is left of them here.

use std::ops::Range;

use tree_sitter::Node;

use super::lines::{cut_after_first_line, document_last_symbol, is_defined_nearby};
use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, find,
    find_all, named_children,
};
use crate::syntax::text::{PreprocessedText, TextRewriter, documentation, format_line_count, one_line};

/// Makefiles, as GNU's make reads them.
pub(super) static MAKE: Language = Language {
    marks: ElisionMarks::HASH,
    preprocess: Some(preprocess_makefile),
    ..Language::new("make", tree_sitter_make::LANGUAGE, "tree-sitter-make 1.1.1", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("include_directive", Visit::Preamble(include)),
    ("variable_assignment shell_assignment", Visit::Read(assignment)),
    ("define_directive", Visit::Read(definition)),
    ("rule", Visit::Read(rule)),
    ("conditional else_directive elsif_directive", Visit::Enter),
    ("export_directive override_directive private_directive", Visit::Wrapper),
];

/// A value of more lines than this is shown by its first line and its size.
const LONG_VALUE: usize = 4;

/// Targets of one rule beyond this number are not shown: each would repeat the whole signature.
const MAX_TARGETS: usize = 100;

/// Reads `include a.mk b.mk`.
fn include<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(files) = find(node, "filenames") else { return };
    for file in named_children(files) {
        walk.add_import(walk.text(file));
    }
}

/// Reads `NAME := value`; of a variable that is set repeatedly the first assignment is shown.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    if find(node, "target_or_pattern").is_some() {
        return;
    }
    if !is_defined_nearby(walk, SymbolKind::Variable, &name) {
        walk.define(node, SymbolDefinition::new(SymbolKind::Variable, name, SymbolBody::Nothing));
    }
    let value = walk.range(node);
    if LONG_VALUE < walk.source.text(value.clone()).trim_end().lines().count() && !node.has_error() {
        cut_after_first_line(walk, value);
    }
}

/// Reads `define NAME … endef`.
fn definition<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let value = find(node, "value");
    walk.define(node, SymbolDefinition::new(SymbolKind::Macro, name, SymbolBody::members(value)));
    if let Some(value) = value.filter(|value| !value.has_error()) {
        cut_lines(walk, value);
    }
}

/// Reads a rule: each of its targets, except for special ones such as `.PHONY`.
fn rule<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let recipe = child_of_kind(node, "recipe");
    let targets = child_of_kind(node, "targets").or_else(|| find(node, "target"));
    // If it spans several lines, the grammar failed before this.
    let targets =
        targets.filter(|targets| !walk.text(*targets).contains('\n') || walk.text(*targets).contains("\\\n"));
    for target in targets.map_or_else(Vec::new, named_children).into_iter().take(MAX_TARGETS) {
        let name = walk.text(target);
        let is_special = name.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_uppercase));
        if is_special {
            continue;
        }
        let inside = SymbolBody::members(recipe);
        walk.define(node, SymbolDefinition::new(SymbolKind::Target, one_line(name), inside));
        document_last_symbol(walk, |walk| inline_target_doc(walk.source.line_suffix(walk.range(node).start)));
    }
    if let Some(recipe) =
        recipe.filter(|recipe| !recipe.has_error() && !find_all(*recipe, ".recipe_line").is_empty())
    {
        cut_lines(walk, recipe);
    }
}

/// Returns the doc in `target: … ## Words.`, as many makefiles document their targets.
fn inline_target_doc(line: &str) -> Option<String> {
    let (_, doc) = line.split_once("## ")?;
    documentation(doc)
}

/// Cuts lines that begin on a line of their own.
fn cut_lines<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    let text = walk.source.text(range.clone());
    let lines = text.trim().lines().count();
    let start = range.start + (text.len() - text.trim_start().len());
    let is_own_line = walk.source.line_prefix(start).trim().is_empty();
    if 1 < lines && is_own_line {
        walk.cut(start..range.start + text.trim_end().len(), format!("# {}", format_line_count(lines)));
    }
}

/// Lines that begin with such a word stay as they are.
const DIRECTIVES: [&str; 9] =
    ["ifeq", "ifneq", "ifdef", "ifndef", "else", "endif", "include", "-include", "sinclude"];

/// Returns the text without values and recipes. Every line of a makefile is supported.
#[expect(clippy::unnecessary_wraps, reason = "scanners may give up on a text, but this one never does")]
fn preprocess_makefile(text: &str) -> Option<PreprocessedText> {
    let mut scan = MakefileScanner { text, follows_rule: false, rewriter: TextRewriter::new(text) };
    let mut at = 0;
    while at < text.len() {
        at = scan.scan_line(at);
    }
    Some(scan.rewriter.finish())
}

struct MakefileScanner<'t> {
    text: &'t str,
    /// Whether a line that begins with a tab is one of a recipe.
    follows_rule: bool,
    rewriter: TextRewriter<'t>,
}

impl MakefileScanner<'_> {
    /// Scans the line at `at`, with its continuation lines, and returns where the next one begins.
    fn scan_line(&mut self, at: usize) -> usize {
        if self.follows_rule && self.text[at..].starts_with('\t') {
            let end = self.recipe_end(at);
            // A colon is a command without effect, so that the rule keeps a recipe.
            self.rewriter.replace(at + 1..self.text[..end].trim_end().len(), ":");
            return end;
        }
        let end = line_end(self.text, at);
        let line = self.text[at..end].trim_end();
        let trimmed = line.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return end;
        }
        let start = at + (line.len() - trimmed.len());
        let marked = substitution_length(trimmed);
        if 0 < marked {
            return self.substitution(at..end, start, trimmed, marked);
        }
        let mut words =
            trimmed.split_whitespace().skip_while(|word| matches!(*word, "override" | "export" | "private"));
        let word = words.next().unwrap_or_default();
        if word == "define" {
            self.follows_rule = false;
            return self.definition(end);
        }
        if word == "if" {
            // Automake's.
            self.rewriter.repair(start..start + 2, "ifdef");
            return end;
        }
        if trimmed.starts_with("export ") && operator(trimmed).is_none() {
            // A name without a value is not a symbol.
            self.rewriter.repair(start..start, "x=");
            self.rewriter.done = start + trimmed.len();
            return end;
        }
        if self.follows_rule && word.starts_with("if") && !self.continues_in_recipe(end) {
            // Otherwise the grammar takes the conditional for a part of the recipe.
            self.rewriter.replace(at..at, "x=\n");
            self.follows_rule = false;
        }
        if DIRECTIVES.contains(&word) {
            return end;
        }
        self.statement(start, trimmed);
        end
    }

    /// Reads a line that begins with a placeholder of `configure`: `@SET_MAKE@` alone, or `@IS_ON_TRUE@a = 1`, which
    /// becomes nothing or a comment mark.
    fn substitution(&mut self, whole: Range<usize>, start: usize, trimmed: &str, marked: usize) -> usize {
        let rest = &trimmed[marked..];
        let is_recipe = self.follows_rule && rest.starts_with('\t');
        let declares = !is_recipe && !rest.starts_with('#') && operator(rest).is_some();
        if declares {
            let blank = rest.len() - rest.trim_start().len();
            self.rewriter.repair(start..start + marked + blank, "");
            self.statement(self.rewriter.done, rest.trim_start());
        } else {
            self.rewriter.repair(whole.clone(), "");
        }
        whole.end
    }

    /// Returns whether the first line of a conditional belongs to a recipe.
    fn continues_in_recipe(&self, from: usize) -> bool {
        let lines = self.text[from..].lines().take(20);
        let mut trimmed = lines.filter(|line| {
            let word = line.split_whitespace().next().unwrap_or_default();
            !line.trim().is_empty() && !word.starts_with('#') && !DIRECTIVES.contains(&word)
        });
        trimmed.next().is_some_and(|line| line.starts_with('\t'))
    }

    /// Returns the end of the lines that begin with tabs, with their continuation lines.
    fn recipe_end(&self, at: usize) -> usize {
        let mut end = at;
        while self.text[end..].starts_with('\t') {
            end = line_end(self.text, end);
        }
        end
    }

    /// Elides what precedes the `endef`, and returns where the line after it begins.
    fn definition(&mut self, from: usize) -> usize {
        let mut at = from;
        // Definitions may be nested.
        let mut depth = 1;
        while at < self.text.len() {
            let end = line_end(self.text, at);
            match self.text[at..end].split_whitespace().next() {
                Some("define") => depth += 1,
                Some("endef") => depth -= 1,
                Some(_) | None => {}
            }
            if depth == 0 {
                if from < at {
                    self.rewriter.replace(from..at, "x\n");
                }
                return end;
            }
            at = end;
        }
        at
    }

    /// Reads an assignment, whose value is elided, or a rule.
    fn statement(&mut self, start: usize, trimmed: &str) {
        let Some((at, sign)) = operator(trimmed) else {
            // A call alone on its line, which may expand to anything.
            self.follows_rule = self.follows_rule && trimmed.starts_with('$');
            return;
        };
        let (before, after) = (&trimmed[..at], &trimmed[at + sign.len()..]);
        self.names(start, before);
        if sign.ends_with('=') {
            self.follows_rule = false;
            self.value(start + at + sign.len(), after);
            return;
        }
        self.follows_rule = true;
        // A variable that is set for one target is not a rule.
        if let Some((at, sign)) = operator(after).filter(|(_, sign)| sign.ends_with('=')) {
            let from = start + trimmed.len() - after.len();
            self.names(from, &after[..at]);
            self.value(from + at + sign.len(), &after[at + sign.len()..]);
        } else {
            self.prerequisites(start + trimmed.len() - after.len(), after);
        }
    }

    /// Elides a value, and comments after it.
    fn value(&mut self, start: usize, value: &str) {
        let trimmed = value.trim();
        if !trimmed.is_empty() {
            let from = start + (value.len() - value.trim_start().len());
            self.rewriter.replace(from..from + trimmed.len(), "x");
        }
    }

    /// Elides the prerequisites of a target, up to a recipe or a comment on the same line.
    fn prerequisites(&mut self, start: usize, needs: &str) {
        let end = needs.find([';', '#']).unwrap_or(needs.len());
        let is_plain = needs[..end].split_whitespace().all(|word| word == "|" || word.bytes().all(is_plain));
        if !is_plain || needs[..end].contains('\\') {
            self.value(start, &needs[..end]);
        }
        if needs[end..].starts_with(';') {
            self.value(start + end + 1, &needs[end + 1..]);
        }
    }

    /// Replaces the references in names with plain letters.
    fn names(&mut self, start: usize, names: &str) {
        let mut at = 0;
        while let Some(dollar) = names[at..].find('$').map(|found| at + found) {
            let end = reference_end(names, dollar);
            self.rewriter.repair(start + dollar..start + end, "x");
            at = end;
        }
    }
}

/// Returns how many bytes at the start of a line are names between `@`.
fn substitution_length(line: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = line[at..].strip_prefix('@') {
        let name = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if name == 0 || !rest[name..].starts_with('@') {
            break;
        }
        at += name + 2;
    }
    at
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'/' | b'%')
}

/// Returns where the next line begins that does not continue the one at `at`.
fn line_end(text: &str, mut at: usize) -> usize {
    loop {
        let Some(end) = text[at..].find('\n').map(|found| at + found) else { return text.len() };
        let line = text[at..end].trim_end_matches('\r');
        at = end + 1;
        let slashes = line.len() - line.trim_end_matches('\\').len();
        // An even number of backslashes are backslashes themselves, and continue nothing.
        if slashes.is_multiple_of(2) {
            return at;
        }
    }
}

/// Returns the first operator that makes a line an assignment or a rule, outside of references.
fn operator(line: &str) -> Option<(usize, &'static str)> {
    // The longer ones first, because most of them contain a shorter one.
    const SIGNS: [&str; 11] = [":::=", "::=", ":=", "+=", "?=", "!=", "&::", "&:", "::", ":", "="];
    let mut at = 0;
    loop {
        let found = at + line[at..].find(['$', ':', '=', '+', '?', '!', '&', '#'])?;
        match line.as_bytes()[found] {
            b'#' => return None,
            b'$' => at = reference_end(line, found),
            _ => match SIGNS.iter().find(|sign| line[found..].starts_with(**sign)) {
                Some(sign) => return Some((found, sign)),
                None => at = found + 1,
            },
        }
    }
}

/// Returns where a reference ends that begins with the `$` at `at`.
fn reference_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let (open, close) = match bytes.get(at + 1) {
        Some(b'(') => (b'(', b')'),
        Some(b'{') => (b'{', b'}'),
        Some(_) => {
            return text[at + 1..].chars().next().map_or(text.len(), |letter| at + 1 + letter.len_utf8());
        }
        None => return text.len(),
    };
    let mut depth = 0_usize;
    for (offset, byte) in bytes[at + 1..].iter().enumerate() {
        if *byte == open {
            depth += 1;
        } else if *byte == close {
            depth -= 1;
            if depth == 0 {
                return at + 1 + offset + 1;
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(preprocess_makefile(text).unwrap().text, expected);
    }

    #[test]
    fn values_and_recipes_are_elided() {
        check(
            "A := $(shell ls) \\\n  b\nall: a b\n\techo $@ \\\n\tx\n\techo\nB = 1\n",
            "A := x\nall: a b\n\t:\nB = x\n",
        );
        check("define X\na\nb\nendef\nY=\n", "define X\nx\nendef\nY=\n");
    }

    #[test]
    fn computed_names_are_replaced_by_plain_ones() {
        check("obj-$(CONFIG_${X}) += a.o\n", "obj-x += x\n");
        check("$(OUT)/%.o: %.c $(DEPS) | dir ; cc $<\n", "x/%.o: x ; x\n");
        check("$$x: a=b\n", "xx: a=x\n");
    }

    #[test]
    fn placeholders_of_configure_are_elided() {
        check("@SET_MAKE@\nVPATH = @srcdir@\n", "VPATH = x\n");
        check("@A_TRUE@@B_FALSE@am__1 = a \\\n@A_TRUE@ b\nC = 1\n", "am__1 = x\nC = x\n");
        check("a: b\n\tcc\n@A_TRUE@\tx\n@A_TRUE@d: e\n", "a: b\n\t:\nd: e\n");
        check("@: b\n", "@: b\n");
    }

    #[test]
    fn lines_that_declare_nothing_are_kept() {
        check(
            "ifeq ($(A),b)\nA = 1 # x\nendif\ninclude $(X)\n",
            "ifeq ($(A),b)\nA = x\nendif\ninclude $(X)\n",
        );
        check("$(eval $(call X))\n# a: b\n", "$(eval $(call X))\n# a: b\n");
    }
}
