//! Prints metrics of the sources, to compare revisions.
//!
//! `cargo run --example metrics`, in the root of the repository.

#![expect(clippy::disallowed_methods, reason = "sources are real files")]
#![expect(clippy::print_stdout, reason = "it prints figures")]
#![expect(dead_code, reason = "tests/architecture.rs uses the rest of what it shares")]

#[path = "../architecture/graph.rs"]
mod graph;
#[path = "../architecture/source.rs"]
mod source;

use std::collections::BTreeMap;
use std::path::Path;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::source::{Sources, attributes, is_of_tests};

/// Functions with more lines should be reviewed.
const LONG_FUNCTION: usize = 40;

fn main() {
    let sources = Sources::load(Path::new("src"));
    let mut lines = 0;
    let mut files = 0;
    let mut production = Figures::default();
    let mut everything = Figures::default();
    for file in &sources.files {
        everything.with_tests = true;
        everything.visit_file(&file.syntax);
        if !file.is_test {
            files += 1;
            production.test_lines = 0;
            production.visit_file(&file.syntax);
            lines += file.text.lines().count() - production.test_lines;
        }
    }
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for name in &everything.types {
        *names.entry(name).or_default() += 1;
    }
    let types = everything.types.len();
    let one_word =
        everything.types.iter().filter(|name| name.chars().filter(|c| c.is_uppercase()).count() == 1);
    let (one_word, shared) = (one_word.count(), names.values().filter(|count| 1 < **count).sum::<usize>());
    let percent = |part: usize| part * 100 / types.max(1);
    println!("lines of production code   {lines}");
    println!("files under src            {} ({files} of production code)", sources.files.len() + 1);
    println!("types                      {types}");
    println!("one-word type names        {one_word} ({} %)", percent(one_word));
    println!("types sharing a name       {shared} ({} %)", percent(shared));
    println!("functions over {LONG_FUNCTION} lines    {}", production.long.len());
    let rooms = graph::rooms(&sources);
    let tangled = rooms.values().map(|room| room.components().iter().filter(|c| 2 < c.len()).count());
    println!("components over two files  {}", tangled.sum::<usize>());
    println!(
        "largest component          {}",
        rooms.values().map(graph::RoomGraph::largest_component).max().unwrap_or(0)
    );
    println!(
        "cycles of folders          {}",
        rooms.values().map(|room| room.folder_cycles().len()).sum::<usize>()
    );
    production.long.sort_by_key(|(_, lines)| std::cmp::Reverse(*lines));
    for (name, lines) in production.long.iter().take(20) {
        println!("  {lines:>4}  {name}");
    }
}

/// The counts over all files.
#[derive(Default)]
struct Figures {
    with_tests: bool,
    test_lines: usize,
    types: Vec<String>,
    long: Vec<(String, usize)>,
}

impl Figures {
    /// Counts a function from its name to its last brace, without its documentation.
    fn measure(&mut self, name: &syn::Ident, body: &syn::Block) {
        let lines = body.span().end().line - name.span().start().line + 1;
        if LONG_FUNCTION < lines {
            self.long.push((name.to_string(), lines));
        }
    }
}

impl<'ast> Visit<'ast> for Figures {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !self.with_tests && is_of_tests(attributes(item)) {
            self.test_lines += count_lines(item.span());
            return;
        }
        match item {
            syn::Item::Struct(item) => self.types.push(item.ident.to_string()),
            syn::Item::Enum(item) => self.types.push(item.ident.to_string()),
            syn::Item::Trait(item) => self.types.push(item.ident.to_string()),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.measure(&item.sig.ident, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.measure(&item.sig.ident, &item.block);
        visit::visit_impl_item_fn(self, item);
    }
}

fn count_lines(span: Span) -> usize {
    span.end().line - span.start().line + 1
}
