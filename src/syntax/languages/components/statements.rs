//! The expressions of a template as statements of a script, in the lines where they are.

use std::ops::Range;

use memchr::memmem;

use super::sections::{Dialect, SectionKind, name_length, sections};

/// Words after `$` that are runes of Svelte and not subscriptions to stores.
const RUNES: [&str; 7] = ["state", "derived", "effect", "props", "bindable", "inspect", "host"];
/// Blocks and tags of Svelte of which an expression follows.
const SVELTE_WORDS: [&str; 9] =
    ["#if ", ":else if ", "#key ", "@html ", "@render ", "@const ", "@attach ", "@debug ", "..."];
/// Directives of Svelte whose names are those of functions.
const SVELTE_FUNCTIONS: [&str; 5] = ["use:", "transition:", "in:", "out:", "animate:"];

/// What is open for longer is no expression, and is passed over, so that no end is searched for again and again.
const MAX_EXPRESSION: usize = 32 << 10;

/// Returns the scripts of a component with the expressions of its template, in a text with as many bytes and the same
/// lines, where everything else is blank. `None` if the text is not a component of that language.
pub(super) fn component_script(text: &str, dialect: Dialect) -> Option<String> {
    // A script on its own has neither.
    if !text.trim_start().starts_with(['<', '{', '-']) && !text.contains("\n<script") {
        return None;
    }
    let blank = |byte| if matches!(byte, b'\n' | b'\r') { byte } else { b' ' };
    let mut script = ComponentScript { text, dialect, script: text.bytes().map(blank).collect() };
    for section in sections(text, dialect) {
        match section.kind {
            SectionKind::Script => script.copy(section.content),
            SectionKind::Template if dialect == Dialect::Vue => script.add_template(section.content),
            SectionKind::Template => script.add_template(section.range),
            SectionKind::Other => {}
        }
    }
    if dialect == Dialect::Svelte {
        script.name_stores();
    }
    String::from_utf8(script.script).ok()
}

struct ComponentScript<'t> {
    text: &'t str,
    dialect: Dialect,
    /// What is made of the text.
    script: Vec<u8>,
}

impl ComponentScript<'_> {
    fn copy(&mut self, range: Range<usize>) {
        self.script[range.clone()].copy_from_slice(&self.text.as_bytes()[range]);
    }

    /// Adds the expressions in a range, and the names of the components that it shows.
    fn add_template(&mut self, range: Range<usize>) {
        let bytes = self.text.as_bytes();
        let mut at = range.start;
        while let Some(next) = memchr::memchr2(b'<', b'{', &bytes[at..range.end]) {
            at += next;
            let rest = &self.text[at..range.end];
            if rest.starts_with("<!--") {
                at += memmem::find(rest.as_bytes(), b"-->").unwrap_or(rest.len());
            } else if rest.starts_with('<') {
                at = self.add_tag(at, range.end);
            } else if self.dialect != Dialect::Vue {
                at = self.add_braces(at, range.end);
            } else if rest.starts_with("{{") {
                let inside = beginning(rest);
                let end = inside.find("}}");
                if let Some(end) = end {
                    self.add_statement(at + 2..at + end);
                }
                at += end.unwrap_or(inside.len());
            } else {
                at += 1;
            }
        }
    }

    /// Reads the tag that begins at `at`, and returns where to go on.
    fn add_tag(&mut self, at: usize, end: usize) -> usize {
        let name = at + 1..at + 1 + name_length(&self.text[at + 1..end]);
        if name.is_empty() {
            return at + 1;
        }
        self.add_component(name.clone());
        let mut at = name.end;
        while at < end {
            match self.text.as_bytes()[at] {
                b'>' => return at + 1,
                b'{' if self.dialect != Dialect::Vue => at = self.add_braces(at, end),
                byte if byte.is_ascii_whitespace() || matches!(byte, b'/' | b'=' | b'{' | b'}') => at += 1,
                _ => at = self.add_attribute(at, end),
            }
        }
        end
    }

    /// Adds the name of a component: `SongRow`, `song-row` for the same, `icons.Song`.
    fn add_component(&mut self, name: Range<usize>) {
        let written = &self.text[name.clone()];
        let is_joined = written.contains(if self.dialect == Dialect::Vue { '-' } else { '.' });
        if !is_joined && !written.starts_with(|c: char| c.is_ascii_uppercase()) {
            return;
        }
        self.script[name.start - 1] = b';';
        if self.dialect != Dialect::Vue {
            self.copy(name);
            return;
        }
        let mut at = name.start;
        for word in written.split('-').filter(|word| !word.is_empty()) {
            self.script[at..at + word.len()].copy_from_slice(word.as_bytes());
            self.script[at].make_ascii_uppercase();
            at += word.len();
        }
    }

    /// Reads an attribute or a value that begins at `at`, and returns where it ends.
    fn add_attribute(&mut self, at: usize, end: usize) -> usize {
        let rest = &self.text[at..end];
        let ends_name = |c: char| c.is_whitespace() || matches!(c, '=' | '>' | '{' | '"' | '\'');
        let name = &rest[..rest.find(ends_name).unwrap_or(rest.len())];
        let value = at + name.len();
        if self.dialect == Dialect::Svelte
            && let Some(prefix) = SVELTE_FUNCTIONS.iter().find(|prefix| name.starts_with(**prefix))
        {
            let function = at + prefix.len();
            self.add_statement(function..function + name_length(&self.text[function..value]));
        }
        let assigned = self.text[value..end].strip_prefix('=').unwrap_or(&self.text[value..end]);
        let Some(quote) = assigned.bytes().next().filter(|byte| matches!(byte, b'"' | b'\'')) else {
            return value.max(at + 1);
        };
        let start = end - assigned.len() + 1;
        let Some(length) = memchr::memchr(quote, &self.text.as_bytes()[start..end]) else { return end };
        match self.dialect {
            Dialect::Vue => self.add_directive(name, start..start + length),
            Dialect::Svelte => self.add_template(start..start + length),
            Dialect::Astro => {}
        }
        start + length + 1
    }

    /// Adds the value of a directive of Vue.
    fn add_directive(&mut self, name: &str, value: Range<usize>) {
        // The value of a slot names its properties.
        let has_expression = name.starts_with([':', '@', '.']) || name.starts_with("v-");
        if !has_expression || name.starts_with("v-slot") {
            return;
        }
        let text = &self.text[value.clone()];
        let list = [" in ", " of "].iter().filter_map(|word| Some(text.find(word)? + word.len())).min();
        match list.filter(|_| name == "v-for") {
            Some(list) => self.add_statement(value.start + list..value.end),
            None => self.add_statement(value),
        }
    }

    /// Reads what is in braces at `at`, and returns where it ends.
    fn add_braces(&mut self, at: usize, end: usize) -> usize {
        let text = &self.text[at..end];
        let Some(length) = braces_length(text) else { return at + beginning(text).len() };
        let mut inside = at + 1..at + length - 1;
        if self.dialect == Dialect::Svelte {
            let Some(expression) = svelte_expression(&self.text[inside.clone()]) else { return at + length };
            inside = inside.start + expression.start..inside.start + expression.end;
        } else if self.text[inside.clone()].trim_start().starts_with("/*") {
            return at + length;
        }
        self.add_statement(inside);
        at + length
    }

    /// Copies an expression as a statement. What is before and after it is not part of the script.
    fn add_statement(&mut self, range: Range<usize>) {
        let text = &self.text[range.clone()];
        if text.trim().is_empty() {
            return;
        }
        // Braces would be those of a block.
        let is_object = text.trim_start().starts_with('{');
        let (before, after) = if is_object { (b'(', b')') } else { (b';', b';') };
        self.copy(range.clone());
        if let Some(byte) = self.script.get_mut(range.start.wrapping_sub(1)).filter(|byte| **byte == b' ') {
            *byte = before;
        }
        if let Some(byte) = self.script.get_mut(range.start.wrapping_sub(2)).filter(|byte| **byte == b' ') {
            *byte = b';';
        }
        if let Some(byte) = self.script.get_mut(range.end).filter(|byte| **byte == b' ') {
            *byte = after;
        }
    }

    /// Replaces `$name`, the value of a store, by the name.
    fn name_stores(&mut self) {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.');
        for at in memchr::memchr_iter(b'$', self.text.as_bytes()) {
            let rest = &self.text[at + 1..];
            let name = &rest[..name_length(rest)];
            let is_store = !name.is_empty() && !RUNES.contains(&name.split('.').next().unwrap_or_default());
            let follows_name = at.checked_sub(1).is_some_and(|before| is_part(self.text.as_bytes()[before]));
            if self.script[at] == b'$' && is_store && !follows_name {
                self.script[at] = b' ';
            }
        }
    }
}

/// Returns as much of a text as an expression may have.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_EXPRESSION)]
}

/// Returns the length of what is in braces at the beginning of a text; braces in strings and comments do not count.
fn braces_length(text: &str) -> Option<usize> {
    let bytes = beginning(text).as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        let rest = &bytes[at..];
        at += match rest[0] {
            quote @ (b'"' | b'\'' | b'`') => string_length(rest, quote)?,
            b'/' if rest.starts_with(b"//") => memchr::memchr(b'\n', rest)?,
            b'/' if rest.starts_with(b"/*") => memmem::find(rest, b"*/")? + 2,
            b'}' if depth == 1 => return Some(at + 1),
            b'}' => {
                depth -= 1;
                1
            }
            byte => {
                depth += usize::from(byte == b'{');
                1
            }
        };
    }
    None
}

/// Returns the length of a string at the beginning of a text, with its quotes.
fn string_length(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(quote, b'\\', &text[at..])?;
        if text[at] == quote {
            return Some(at + 1);
        }
        at = (at + 2).min(text.len());
    }
}

/// Returns where the expression is in what Svelte has in braces: `a` of `#each a as b`.
fn svelte_expression(text: &str) -> Option<Range<usize>> {
    let mut expression = text.trim_start();
    let start = |expression: &str| text.len() - expression.len();
    for (word, end) in [("#each ", " as "), ("#await ", " then ")] {
        if let Some(rest) = expression.strip_prefix(word) {
            return Some(start(rest)..start(rest) + rest.rfind(end).unwrap_or(rest.len()));
        }
    }
    match SVELTE_WORDS.iter().find_map(|word| expression.strip_prefix(word)) {
        Some(rest) => expression = rest,
        // The ends of blocks, and those that name new variables.
        None if expression.starts_with(['#', ':', '/', '@']) => return None,
        None => {}
    }
    Some(start(expression)..text.len())
}
