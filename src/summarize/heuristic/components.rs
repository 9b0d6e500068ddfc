//! The script of a single-file component: its properties, its events and its functions.

use std::ops::Range;

use super::templates::Names;

/// The maximum length of a list of properties.
const LIST_BYTES: usize = 4000;
/// The maximum number of levels of brackets that are followed.
const MOST_DEPTH: usize = 64;

/// The parts of a component's script.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ComponentParts {
    /// The properties that its users pass.
    pub(super) props: Names,
    /// The events that it emits.
    pub(super) emits: Names,
    /// Its top-level functions.
    pub(super) functions: Names,
    /// The modules that it imports, without other components, which its template names.
    pub(super) imports: Names,
}

/// Returns the bytes of a component's script; of several, of the longest.
pub(crate) fn script_of(text: &str, language: &str) -> Option<Range<usize>> {
    if language == "astro" {
        let inside = text.strip_prefix("---\n")?;
        return Some(4..4 + inside.find("\n---")?);
    }
    let starts = text.match_indices("<script").take(4).filter_map(|(at, _)| {
        let start = at + text[at..].find('>')? + 1;
        let end = start + text[start..].find("</script")?;
        Some(start..end)
    });
    starts.max_by_key(ExactSizeIterator::len)
}

impl ComponentParts {
    /// Returns the parts of a script.
    pub(crate) fn of(script: &str) -> Self {
        let mut parts = Self::default();
        let first = script.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let indent = &first[..first.len() - first.trim_start().len()];
        for line in script.lines() {
            if let Some(line) = line.strip_prefix(indent).filter(|line| !line.starts_with([' ', '\t'])) {
                parts.read_line(line.trim_end());
            }
        }
        for call in ["defineProps", "props:"] {
            for list in lists_after(script, call) {
                for name in names_in(list, script) {
                    parts.props.push(&name);
                }
            }
        }
        for call in ["defineEmits", "emits:"] {
            for list in lists_after(script, call) {
                parts.push_events(list);
            }
        }
        for (at, _) in script.match_indices("dispatch(") {
            parts.emits.push(quoted(&script[at + "dispatch(".len()..]).unwrap_or_default());
        }
        parts
    }

    /// Reads a top-level line of the script.
    fn read_line(&mut self, line: &str) {
        if let Some(imported) = line.strip_prefix("import ") {
            let module = imported.rsplit_once("from ").map_or(imported, |(_, module)| module);
            let module = quoted(module).unwrap_or_default();
            let is_component = [".vue", ".svelte", ".astro"].iter().any(|end| module.ends_with(end));
            self.imports.push(if is_component { "" } else { module });
            return;
        }
        // Svelte properties.
        if let Some(name) = line.strip_prefix("export let ") {
            self.props.push(identifier(name));
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let pattern = line.strip_prefix("let ").or_else(|| line.strip_prefix("const "));
        if let Some(pattern) = pattern.filter(|pattern| pattern.starts_with('{') && line.contains("$props()"))
        {
            for name in keys_of(pattern) {
                self.props.push(&name);
            }
        }
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("function ");
        let arrow = line.strip_prefix("const ").and_then(|rest| rest.split_once('=')).filter(|(_, value)| {
            let value = value.trim_start();
            let is_opened = value.starts_with('(') || value.starts_with("async");
            value.starts_with("function") || is_opened && (value.contains("=>") || value.ends_with('('))
        });
        let name = function.or(arrow.map(|(name, _)| name)).unwrap_or_default();
        self.functions.push(identifier(name.trim_start_matches(['*', ' '])));
    }

    /// Reads `(e: 'close'): void`, `['close']` or `{ close: [] }`.
    fn push_events(&mut self, list: &str) {
        let mut push_quoted = |pieces: &mut dyn Iterator<Item = &str>| {
            pieces.filter_map(quoted).for_each(|name| self.emits.push(name));
        };
        let is_call = |mark: &&&str| list.contains(**mark);
        if let Some(inside) = list.strip_prefix('[') {
            push_quoted(&mut inside.split(']').next().unwrap_or_default().split(','));
        } else if let Some(mark) = ["(e: ", "(event: "].iter().find(is_call) {
            let end = list.find(">()").unwrap_or(list.len());
            push_quoted(&mut list[..end].split(*mark).skip(1));
        } else {
            for name in keys_of(list) {
                self.emits.push(&name);
            }
        }
    }
}

/// Returns the name at the start of a text.
fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$')).unwrap_or(text.len());
    &text[..end]
}

/// Returns the quoted text at the start of a text.
fn quoted(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    text[1..].split_once(quote).map(|(inside, _)| inside)
}

/// Returns the lists that follow a word: what is in its first brackets, of types or of arguments.
fn lists_after<'t>(script: &'t str, word: &'t str) -> impl Iterator<Item = &'t str> {
    let after = script.match_indices(word).map(move |(at, _)| script[at + word.len()..].trim_start());
    after.take(2).filter_map(|after| {
        let after = &after[..after.floor_char_boundary(LIST_BYTES)];
        let inside = after.trim_start_matches(['<', '(', ' ', '\n']);
        (after.starts_with(['<', '(', '{', '['])).then_some(inside)
    })
}

/// Returns the keys of an object or of its type, or the quoted names of a list; `script` may define the type.
fn names_in(list: &str, script: &str) -> Vec<String> {
    if let Some(inside) = list.strip_prefix('[') {
        let inside = inside.split(']').next().unwrap_or_default();
        return inside.split(',').filter_map(quoted).map(str::to_owned).collect();
    }
    if list.starts_with('{') {
        return keys_of(list);
    }
    let name = identifier(list);
    let definition = ["interface ", "type "].iter().find_map(|word| {
        let at = script.find(&format!("{word}{name}"))?;
        let rest = &script[at..];
        let rest = &rest[..rest.floor_char_boundary(LIST_BYTES)];
        rest.find('{').map(|open| &rest[open..])
    });
    definition.filter(|_| !name.is_empty()).map(keys_of).unwrap_or_default()
}

/// Returns the keys of an object, of a type or of a pattern, which begins with its brace.
fn keys_of(text: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut depth = 0_usize;
    let mut is_key_next = false;
    let mut before = ' ';
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let mut length = c.len_utf8();
        match c {
            '/' if rest.starts_with("//") => length = rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => length = rest.find("*/").map_or(rest.len(), |end| end + 2),
            '{' | '(' | '[' | '<' => {
                depth += 1;
                is_key_next = depth == 1;
            }
            '>' if before == '=' => {}
            '}' | ')' | ']' | '>' => depth = depth.saturating_sub(1),
            ',' | ';' | '\n' if depth == 1 => is_key_next = true,
            '\'' | '"' | '`' => {
                let inside = &rest[1..];
                let end = inside.find(c).filter(|end| !inside[..*end].contains('\n'));
                if is_key_next && depth == 1 {
                    keys.extend(end.map(|end| inside[..end].to_owned()));
                    is_key_next = false;
                }
                length = end.map_or(1, |end| end + 2);
            }
            c if is_key_next && depth == 1 && (c.is_alphabetic() || c == '_' || c == '$') => {
                let name = identifier(rest);
                length = name.len().max(1);
                // A modifier precedes the name.
                if name != "readonly" {
                    keys.push(name.to_owned());
                    is_key_next = false;
                }
            }
            c if c.is_whitespace() => {}
            // `...rest`, and what continues a value on the next line.
            _ if depth == 1 => is_key_next = false,
            _ => {}
        }
        if depth == 0 || MOST_DEPTH < depth {
            break;
        }
        before = c;
        at += length;
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_objects_types_and_patterns() {
        let keys = |text: &str| keys_of(text).join(" ");
        assert_eq!(keys("{ a: 1, b, 'c-d': { e: 2 }, f = (x) => x, ...rest }"), "a b c-d f");
        assert_eq!(
            keys("{\n  a?: Array<{ x: 1 }>\n  readonly b: 'p' | 'q'\n  | 'r'\n // c: 1\n}\n d: 2"),
            "a b"
        );
        assert_eq!(keys("none"), "");
    }

    #[test]
    fn properties_may_have_a_type_or_be_options() {
        let parts = |script: &str| ComponentParts::of(script);
        let typed =
            parts("interface Props {\n  a: string\n  b?: number\n}\nconst p = defineProps<Props>()\n");
        assert_eq!(typed.props.0, ["a", "b"]);
        let options = parts("export default {\n  props: ['a', \"b\"],\n  emits: { c: null },\n}\n");
        assert_eq!(
            (options.props.0, options.emits.0),
            (vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()])
        );
        let events = parts("const emit = defineEmits(['a', 'b'])\n");
        assert_eq!(events.emits.0, ["a", "b"]);
    }
}
