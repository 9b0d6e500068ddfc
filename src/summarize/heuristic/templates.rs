//! Summaries of templates and pages: what they extend, include, define and send, in the notations of template engines.
//!
//! Nothing is parsed: the marks of all engines (`{% … %}`, `{{ … }}`, `<% … %>`, `@word(…)`, attributes and tags) are
//! looked for in one pass, because a page of HTML may have those of any engine.

use super::components::{self, ComponentParts};
use super::page::{SummaryInput, SummaryPage};
use crate::model::is_component_type;
use crate::summarize::words;

/// Bytes that are read.
const HEAD_BYTES: usize = 256 * 1024;
/// The maximum length of a directive or a tag.
const MARK_BYTES: usize = 600;
/// The maximum number of names listed of each kind.
const MOST: usize = 40;
/// Bytes of one line of names.
const LINE_BYTES: usize = 160;
/// A name longer than this is an expression.
const NAME_BYTES: usize = 60;

/// Types of files with marks of a template engine.
const TEMPLATES: &[&str] = &[
    "html", "erb", "eex", "jinja", "twig", "liquid", "handlebars", "go-template", "blade", "razor", "helm",
    "jsp", "ejs", "asp", "aspx", "mako", "latte", "volt", "freemarker", "velocity",
];

/// Returns whether a type of file is a template, a component or a page.
pub(crate) fn is_template(id: &str) -> bool {
    TEMPLATES.contains(&id) || is_component_type(id)
}

/// The parts of a template, in the order of the text, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TemplateParts {
    /// The kinds and names of the resources of Kubernetes.
    manifests: Names,
    extends: Names,
    blocks: Names,
    includes: Names,
    components: Names,
    slots: Names,
    forms: Names,
    scripts: Names,
    script: ComponentParts,
}

/// Names without repetitions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Names(pub(super) Vec<String>);

impl Names {
    pub(super) fn push(&mut self, name: &str) {
        if name.is_empty() || NAME_BYTES < name.len() || MOST <= self.0.len() {
            return;
        }
        let name = words::one_line(name);
        if !name.is_empty() && !self.0.contains(&name) {
            self.0.push(name);
        }
    }
}

impl TemplateParts {
    /// Returns the parts of a template.
    pub(crate) fn of(source: &SummaryInput<'_>) -> Self {
        let text = words::head(source.text, HEAD_BYTES);
        let mut parts = Self::default();
        // In these files, tags with capital letters are components.
        let has_components = is_component_type(source.file_type.id);
        let script = if has_components { components::script_of(text, source.file_type.id) } else { None };
        if let Some(script) = &script {
            parts.script = ComponentParts::of(&text[script.clone()]);
        }
        // An outline names these.
        if source.outline.is_some() {
            parts.script.functions = Names::default();
            parts.script.imports = Names::default();
        }
        if source.file_type.id == "helm" {
            parts.read_manifests(text);
        }
        if let Some(layout) = front_matter_layout(text) {
            parts.extends.push(layout);
        }
        let mut at = 0;
        while let Some(found) = memchr::memchr3(b'<', b'{', b'@', &text.as_bytes()[at..]) {
            let start = at + found;
            at = start + 1;
            // Comparisons and objects in a script are neither tags nor directives.
            if let Some(script) = script.as_ref().filter(|script| script.contains(&start)) {
                at = script.end;
                continue;
            }
            let rest = &text[start..];
            let rest = &rest[..rest.floor_char_boundary(MARK_BYTES)];
            parts.read_mark(rest, has_components);
        }
        parts
    }

    /// Reads `kind: Service` and the name in its metadata, unless that is an expression.
    fn read_manifests(&mut self, text: &str) {
        let mut found: Vec<(&str, Option<&str>)> = Vec::new();
        for line in text.lines() {
            if let Some(kind) = line.strip_prefix("kind:") {
                found.push((kind.trim(), None));
            } else if let Some((name, (_, known @ None))) = line.strip_prefix("  name:").zip(found.last_mut())
            {
                *known = Some(name.trim());
            }
        }
        for (kind, name) in found.into_iter().filter(|(kind, _)| !kind.contains("{{")) {
            match name.filter(|name| !name.contains("{{")) {
                Some(name) => self.manifests.push(&format!("{kind}/{name}")),
                None => self.manifests.push(kind),
            }
        }
    }

    fn read_mark(&mut self, rest: &str, has_components: bool) {
        if let Some(inside) = between(rest, "{%", "%}") {
            self.read_directive(inside);
        } else if let Some(inside) = between(rest, "{{", "}}") {
            self.read_directive(inside);
        } else if let Some(inside) = between(rest, "<%", "%>") {
            self.read_embedded(inside);
        } else if let Some(word) = rest.strip_prefix('@') {
            self.read_blade(word);
        } else if let Some(tag) = rest.strip_prefix('<') {
            self.read_tag(tag, has_components);
        }
    }

    /// Reads `{% include "a.html" %}` and `{{ template "a" . }}`.
    fn read_directive(&mut self, inside: &str) {
        let inside = inside.trim_start_matches(['-', '~']).trim_start();
        // A partial of Handlebars.
        if let Some(name) = inside.strip_prefix('>').or_else(|| inside.strip_prefix("#>")) {
            self.includes.push(first_word(name));
            return;
        }
        let (word, rest) = inside.split_at(inside.find(|c: char| !is_word(c)).unwrap_or(inside.len()));
        let name = || quoted(rest).unwrap_or_else(|| first_word(rest));
        match word {
            "extends" | "layout" => self.extends.push(name()),
            "include" | "include_relative" | "render" | "embed" | "import" | "from" | "partial"
            | "template"
                if rest.starts_with([' ', '(']) =>
            {
                self.includes.push(name());
            }
            "block" | "macro" | "define" if rest.starts_with(' ') => self.blocks.push(name()),
            "form" if rest.starts_with(' ') => self.forms.push(name()),
            _ => {}
        }
    }

    /// Reads embedded Ruby, Elixir or JavaScript: `<%= render "form", post: @post %>`.
    fn read_embedded(&mut self, inside: &str) {
        // A comment, whether of the template or of Ruby.
        if inside.starts_with('#') {
            return;
        }
        let code: Vec<&str> = inside.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
        let code = code.join("\n");
        let argument_of = |call: &str| {
            let (before, after) = code.split_once(call)?;
            let is_key = before.ends_with(':') || after.trim_start().starts_with("=>");
            let is_call = !before.ends_with(is_word) && after.starts_with([' ', '(', '\n']);
            (is_call && !is_key).then_some(after)
        };
        for call in ["render", "include", "partial"] {
            if let Some(after) = argument_of(call) {
                self.includes.push(quoted_near(after).unwrap_or_default());
            }
        }
        for call in ["content_for", "provide", "yield"] {
            if let Some(after) = argument_of(call) {
                self.blocks.push(symbol_or_quoted(after));
            }
        }
        for call in ["form_with", "form_for", "simple_form_for", "form_tag"] {
            if let Some(after) = argument_of(call) {
                let named = ["model:", "url:"].iter().find_map(|key| after.split_once(key));
                self.forms.push(first_word(named.map_or(after, |(_, target)| target)));
            }
        }
    }

    /// Reads a directive of Blade: `@include('a.b')`.
    fn read_blade(&mut self, rest: &str) {
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let Some(name) = rest[end..].strip_prefix('(').and_then(quoted_first) else { return };
        match &rest[..end] {
            "extends" => self.extends.push(name),
            "section" | "yield" | "push" | "stack" => self.blocks.push(name),
            "include" | "includeIf" | "includeWhen" | "includeUnless" | "each" | "component" | "livewire" => {
                self.includes.push(name);
            }
            _ => {}
        }
    }

    fn read_tag(&mut self, tag: &str, has_components: bool) {
        let end = tag.find(|c: char| !(is_word(c) || matches!(c, '-' | '.' | ':'))).unwrap_or(tag.len());
        let (name, rest) = tag.split_at(end);
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return;
        }
        let attributes = &rest[..rest.find('>').unwrap_or(rest.len())];
        let attribute = |name: &str| attribute(attributes, name);
        match name {
            "slot" => self.slots.push(attribute("name").unwrap_or("default")),
            "form" => {
                let names =
                    ["action", "th:action", ":action", "th:object", "@submit.prevent", "@submit", "method"];
                self.forms.push(names.into_iter().find_map(attribute).unwrap_or("form"));
            }
            "script" => self.scripts.push(attribute("src").unwrap_or_default()),
            _ if has_components && name.starts_with(|c: char| c.is_ascii_uppercase()) => {
                self.components.push(name);
            }
            _ if name.contains('-') => self.components.push(name),
            _ => {}
        }
        // Thymeleaf.
        if attributes.contains("th:") {
            for name in ["th:replace", "th:insert", "th:include"] {
                self.includes.push(attribute(name).unwrap_or_default());
            }
            self.blocks.push(attribute("th:fragment").unwrap_or_default());
        }
    }

    /// Adds a line for each kind of part.
    pub(crate) fn push_to(&self, page: &mut SummaryPage) {
        let script = &self.script;
        let lines: [(&str, &Names); 12] = [
            ("Resources", &self.manifests),
            ("Extends", &self.extends),
            ("Props", &script.props),
            ("Emits", &script.emits),
            ("Slots", &self.slots),
            ("Blocks", &self.blocks),
            ("Functions", &script.functions),
            ("Components", &self.components),
            ("Includes", &self.includes),
            ("Forms", &self.forms),
            ("Scripts", &self.scripts),
            ("Imports", &script.imports),
        ];
        for (label, Names(names)) in lines.into_iter().filter(|(_, names)| !names.0.is_empty()) {
            let room = LINE_BYTES - label.len();
            page.push_clipped(&format!("{label}: {}", words::join_within(names, ", ", room)), LINE_BYTES);
        }
    }

    /// Returns the names for the template's row, the most important first.
    pub(crate) fn into_names(self) -> Vec<String> {
        let ComponentParts { props, emits, functions, .. } = self.script;
        let kinds = [
            self.manifests, functions, self.blocks, props, emits, self.slots, self.includes, self.components,
        ];
        let mut names = Names::default();
        kinds.iter().flat_map(|kind| &kind.0).for_each(|name| names.push(name));
        names.0
    }
}

/// Returns the text between two marks, the first of which begins the text.
fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    text.strip_prefix(start)?.split_once(end).map(|(inside, _)| inside)
}

/// Returns the `layout` of a Jekyll page.
fn front_matter_layout(text: &str) -> Option<&str> {
    let (matter, _) = text.strip_prefix("---\n")?.split_once("\n---")?;
    matter.lines().find_map(|line| line.strip_prefix("layout:")).map(str::trim)
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start_matches(['(', ' ', '\n']);
    text.split([' ', '\n', ',', '(', ')']).next().unwrap_or_default()
}

/// Returns the first quoted text.
fn quoted(text: &str) -> Option<&str> {
    let start = text.find(['"', '\''])?;
    quoted_first(&text[start..])
}

/// Returns the quoted text at the start of a text.
fn quoted_first(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    text[1..].split_once(quote).map(|(inside, _)| inside)
}

/// Returns the first argument of a call, or that of `partial:`.
fn quoted_near(arguments: &str) -> Option<&str> {
    const KEYS: [&str; 6] =
        ["partial:", "template:", ":partial =>", ":template =>", "file=", "\"partial\" =>"];
    let arguments = arguments.trim_start_matches(['(', ' ', '\n']);
    let arguments = KEYS.iter().find_map(|key| arguments.strip_prefix(key)).unwrap_or(arguments);
    // An unquoted key is an option, so no template is named.
    let word = Some(first_word(arguments)).filter(|word| !word.starts_with(':') && !word.ends_with(':'));
    quoted_first(arguments).or(word)
}

/// Returns the first argument of a call, which is `:a` or `"a"`.
fn symbol_or_quoted(arguments: &str) -> &str {
    let word = first_word(arguments);
    quoted_first(word).unwrap_or_else(|| word.strip_prefix(':').unwrap_or_default())
}

/// Returns the value of an attribute of a tag.
fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    attributes.match_indices(name).find_map(|(at, _)| {
        let is_start = attributes[..at].ends_with(char::is_whitespace);
        quoted_first(attributes[at + name.len()..].strip_prefix('=')?).filter(|_| is_start)
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::check;

    #[test]
    fn a_vue_component_shows_its_properties_events_and_components() {
        check(
            "vue",
            "<template>\n  <Modal v-if=\"a < b\">\n    <slot name=\"body\" />\n    <RouterLink to=\"/\" />\n    <form @submit.prevent=\"save\"><input></form>\n  </Modal>\n</template>\n\n<script lang=\"ts\" setup>\nimport { ref } from 'vue'\nimport { songs } from '@/stores/songs'\nimport Modal from './Modal.vue'\n\nconst props = withDefaults(defineProps<{\n  song: Song // Don't split.\n  onSave?: (value: number) => void\n}>(), {})\nconst emit = defineEmits<{ (e: 'close'): void; (e: 'update:song', song: Song): void }>()\nconst isOpen = a < b && c > d\nconst save = async () => {\n  const inner = () => 1\n}\nfunction reset(x: number) {}\n</script>\n",
            expect![[r"
                Vue source, about 20 lines.
                Props: song, onSave
                Emits: close, update:song
                Slots: body
                Functions: save, reset
                Components: Modal, RouterLink
                Forms: save
                Imports: vue, @/stores/songs"]],
        );
    }

    #[test]
    fn a_svelte_component_shows_its_properties() {
        check(
            "svelte",
            "<script>\n  import { createEventDispatcher } from 'svelte';\n  export let name = 'x';\n  let { size, ...rest } = $props();\n  function toggle() { dispatch('toggled') }\n</script>\n\n<Button on:click={toggle} />\n",
            expect![[r"
                Svelte source, a few lines.
                Props: name, size
                Emits: toggled
                Functions: toggle
                Components: Button
                Imports: svelte"]],
        );
    }

    #[test]
    fn a_template_shows_its_base_its_blocks_and_its_includes() {
        check(
            "jinja",
            "{% extends \"base.html\" %}\n{%- block title -%}x{% endblock %}\n{% from 'forms.html' import field %}\n{% if include %}{{ include }}{% endif %}\n{% macro row(item) %}{% endmacro %}\n",
            expect![[r"
                Jinja source, a few lines.
                Extends: base.html
                Blocks: title, row
                Includes: forms.html"]],
        );
        check(
            "erb",
            "<% content_for :title, \"Posts\" %>\n<%# render inputs: no %>\n<%\n  # partial inputs:\n  # @no\n%>\n<%= render partial: \"form\", locals: {} %>\n<%= render :partial => \"parts/list\" %>\n<%= render json: @no %>\n<%= form_with model: @post do |f| %>\n<% end %>\n<%= yield %>\n<%= rendered %>\n",
            expect![[r"
                ERB source, about 10 lines.
                Blocks: title
                Includes: form, parts/list
                Forms: @post"]],
        );
        check(
            "blade",
            "@extends('base')\n\n@section('title', name('x'))\n@if (a())\n@include('parts.nav')\n@endif\nme@extends.example\n<x-alert type=\"error\" />\n",
            expect![[r"
                Blade source, a few lines.
                Extends: base
                Blocks: title
                Components: x-alert
                Includes: parts.nav"]],
        );
        check(
            "go-template",
            "{{ define \"main\" }}\n{{- partial \"nav.html\" . -}}\n{{ .Title }}{{ template }}\n{{ end }}\n",
            expect![[r"
                Go template source, a few lines.
                Blocks: main
                Includes: nav.html"]],
        );
    }

    #[test]
    fn a_helm_template_shows_its_resources() {
        check(
            "helm",
            "{{- if .Values.on }}\napiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  name: no\n---\nkind: Route\nmetadata:\n  name: {{ include \"app.name\" . }}\n{{- end }}\n{{- define \"app.web\" -}}\n",
            expect![[r"
                Helm template source, about 10 lines.
                Resources: Service/web, Route
                Blocks: app.web
                Includes: app.name"]],
        );
    }

    #[test]
    fn a_page_shows_fragments_forms_and_scripts() {
        check(
            "html",
            "---\nlayout: default\n---\n<div th:fragment=\"menu (link)\" th:replace=\"~{layout :: nav}\"></div>\n<form th:object=\"${owner}\" method=\"post\"></form>\n<script src=\"a.js\"></script>\n{% include nav.html -%}\n",
            expect![[r"
                HTML page, a few lines.
                Extends: default
                Blocks: menu (link)
                Includes: ~{layout :: nav}, nav.html
                Forms: ${owner}
                Scripts: a.js"]],
        );
    }
}
