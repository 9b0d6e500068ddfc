//! The tables of Vue, Svelte and Astro, and what a parser is given of a component.

use std::ops::Range;

use super::sections::{Dialect, Section, SectionKind, sections};
use super::statements::component_script;
use crate::model::SymbolKind;
use crate::syntax::languages::lines::format_data_size;
use crate::syntax::languages::typescript::{TSX, TYPESCRIPT, copy_repaired};
use crate::syntax::outline::{Language, OutlineWalk};
use crate::syntax::text::{
    PreprocessedText, SynthesizedItem, SynthesizedSymbol, TextRewriter, format_line_count,
};

/// Sections of as many lines or fewer are not cut.
const SHORT_SECTION: usize = 3;

pub(in crate::syntax::languages) static VUE: Language = Language {
    id: "vue",
    preprocess: Some(|text| Some(scripts_alone(text, Dialect::Vue))),
    respell: Some(|text| component_script(text, Dialect::Vue)),
    cut_synthesized: Some(cut_section),
    ..TYPESCRIPT
};

pub(in crate::syntax::languages) static SVELTE: Language = Language {
    id: "svelte",
    preprocess: Some(|text| Some(scripts_alone(text, Dialect::Svelte))),
    respell: Some(|text| component_script(text, Dialect::Svelte)),
    ..VUE
};

pub(in crate::syntax::languages) static ASTRO: Language = Language {
    id: "astro",
    preprocess: Some(|text| Some(scripts_alone(text, Dialect::Astro))),
    respell: Some(|text| component_script(text, Dialect::Astro)),
    cut_synthesized: Some(cut_section),
    ..TSX
};

/// Returns the scripts of a component, with empty lines in place of all else.
fn scripts_alone(text: &str, dialect: Dialect) -> PreprocessedText {
    let mut rewriter = TextRewriter::new(text);
    let mut items = Vec::new();
    for section in sections(text, dialect) {
        if section.kind != SectionKind::Script {
            items.push(SynthesizedItem::Symbol(section_symbol(&section)));
            // Each line on its own, so that an excerpt may show some of them.
            items.extend(lines_of(text, &section.content).map(SynthesizedItem::Ignored));
            continue;
        }
        if let Some(source) = section.source {
            items.push(SynthesizedItem::Import(section.range.start..section.content.start, source));
        }
        replace_by_lines(&mut rewriter, section.content.start);
        copy_repaired(&mut rewriter, section.content.end, dialect == Dialect::Astro);
    }
    replace_by_lines(&mut rewriter, text.len());
    let mut scripts = rewriter.finish();
    scripts.synthesized = items;
    scripts
}

/// Replaces what was not copied yet up to `end` by as many empty lines as it has.
fn replace_by_lines(rewriter: &mut TextRewriter<'_>, end: usize) {
    let range = rewriter.done..end;
    let lines = rewriter.text[range.clone()].matches('\n').count();
    rewriter.replace(range, &"\n".repeat(lines));
}

fn section_symbol(section: &Section<'_>) -> SynthesizedSymbol {
    SynthesizedSymbol {
        kind: SymbolKind::Element,
        name: section.name.to_owned(),
        scope: String::new(),
        range: section.range.clone(),
        signature: section.head.clone(),
        cut: Some(section.content.clone()),
        has_type: false,
    }
}

/// Returns the lines of a range that are not blank.
fn lines_of(text: &str, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = range.start;
    let lines = text[range.clone()].split_inclusive('\n').map(move |line| {
        start += line.len();
        let from = start - line.trim_start().len();
        from..from + line.trim().len()
    });
    lines.filter(|line| !line.is_empty())
}

/// Cuts the lines of a long section.
fn cut_section(walk: &mut OutlineWalk<'_>, item: &SynthesizedItem) {
    let SynthesizedItem::Symbol(SynthesizedSymbol { name, cut: Some(cut), .. }) = item else { return };
    let content = walk.source.text(cut.clone());
    let start = cut.start + (content.len() - content.trim_start().len());
    let content = content.trim();
    let lines = content.lines().count();
    if lines <= SHORT_SECTION {
        return;
    }
    let mark = match name.as_str() {
        "style" => format!("/* {} */", format_data_size(content)),
        _ => format!("<!-- {} -->", format_line_count(lines)),
    };
    walk.cut(start..start + content.len(), mark);
}
