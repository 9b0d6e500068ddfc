//! Edits JSON texts, preserving all other bytes: comments, indentation, line endings.
//!
//! jsonc-parser locates the values, and texts are edited at these positions. Its own editing is not used, because it
//! removes blank lines, and comments before a value that it deletes.

use std::ops::Range;

use jsonc_parser::ast::{Object, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::Value;

use super::error::TextError;

/// The extensions of JSON that agents accept. Some accept no comments, but then their files have none.
const ACCEPTED: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A parsed text.
pub(super) struct JsonText<'t> {
    text: &'t str,
    root: Option<Ast<'t>>,
    tokens: Vec<TokenAndRange<'t>>,
}

/// An object or a list in a text.
struct Container {
    range: Range<usize>,
    children: Vec<Range<usize>>,
}

/// A member to add to a container.
struct NewMember<'m> {
    /// `None` for an element of a list.
    name: Option<&'m str>,
    value: &'m Value,
}

impl<'t> JsonText<'t> {
    pub(super) fn parse(text: &'t str) -> Result<Self, TextError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &ACCEPTED).map_err(|error| TextError::Syntax {
            line: error.line_display(),
            message: format!("not JSON: {}", lowercase_first(&error.kind().to_string())),
        })?;
        Ok(Self { text, root: parsed.value, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Returns the value at a path of keys.
    pub(super) fn get(&self, keys: &[String]) -> Result<Option<Value>, TextError> {
        Ok(self.find(keys)?.map(|found| Value::from(found.clone())))
    }

    /// Returns the whole value; an empty object for a text without a value.
    pub(super) fn value(&self) -> Value {
        self.root.clone().map_or_else(|| Value::Object(serde_json::Map::new()), Value::from)
    }

    /// Returns the text with a new value at a path of keys, or with a new element in the list there. Missing objects on
    /// the path are added.
    pub(super) fn with(&self, keys: &[String], is_element: bool, value: &Value) -> Result<String, TextError> {
        let wrapped = if is_element { Value::Array(vec![value.clone()]) } else { value.clone() };
        if self.root.is_none() {
            let gap = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { self.newline() };
            let whole = nested(keys, wrapped);
            let written = self.write(&whole, Some(""));
            return Ok(format!("{}{gap}{written}{}", self.text, self.newline()));
        }
        // The deepest existing value, and how many keys lead to it.
        let mut depth = keys.len();
        while self.find(&keys[..depth])?.is_none() {
            depth -= 1;
        }
        let found = self.find(&keys[..depth])?.ok_or(TextError::Uneditable)?;
        let Some((name, deeper)) = keys[depth..].split_first() else {
            let Ast::Array(list) = found else { return Err(other_form(keys, "a list")) };
            let children = list.elements.iter().map(byte_range).collect();
            let member = NewMember { name: None, value };
            return Ok(self.with_member(&Container { range: byte_range(list), children }, &member));
        };
        let Ast::Object(object) = found else { return Err(other_form(&keys[..depth], "an object")) };
        let value = nested(deeper, wrapped);
        Ok(self.with_member(&container_of(object), &NewMember { name: Some(name), value: &value }))
    }

    /// Returns the text without the value at a path of keys, which must exist.
    pub(super) fn without(&self, keys: &[String]) -> Result<String, TextError> {
        let (name, above) = keys.split_last().ok_or(TextError::Uneditable)?;
        let Some(Ast::Object(object)) = self.find(above)? else { return Err(TextError::Uneditable) };
        let position = object.properties.iter().position(|property| property.name.as_str() == name);
        let position = position.ok_or(TextError::Uneditable)?;
        Ok(self.without_child(&container_of(object), position))
    }

    /// Returns the text without one element of the list at a path of keys.
    pub(super) fn without_element(&self, keys: &[String], position: usize) -> Result<String, TextError> {
        let Some(Ast::Array(list)) = self.find(keys)? else { return Err(other_form(keys, "a list")) };
        let children: Vec<_> = list.elements.iter().map(byte_range).collect();
        if children.len() <= position {
            return Err(TextError::Uneditable);
        }
        Ok(self.without_child(&Container { range: byte_range(list), children }, position))
    }

    /// Returns the range between the brackets of the empty object or list at a path of keys.
    pub(super) fn empty_inside(&self, keys: &[String]) -> Result<Option<Range<usize>>, TextError> {
        let container = match self.find(keys)? {
            Some(Ast::Object(object)) => container_of(object),
            Some(Ast::Array(list)) => {
                let children = list.elements.iter().map(byte_range).collect();
                Container { range: byte_range(list), children }
            }
            Some(_) | None => return Ok(None),
        };
        let inside = container.range.start + 1..container.range.end - 1;
        let is_blank = self.text[inside.clone()].trim().is_empty();
        Ok((container.children.is_empty() && is_blank).then_some(inside))
    }

    fn find(&self, keys: &[String]) -> Result<Option<&Ast<'t>>, TextError> {
        let Some(mut found) = self.root.as_ref() else { return Ok(None) };
        for (depth, key) in keys.iter().enumerate() {
            let object = match found {
                Ast::Object(object) => object,
                // The key of an element in a list is its index.
                Ast::Array(list) => {
                    let Some(element) = key.parse().ok().and_then(|at: usize| list.elements.get(at)) else {
                        return Err(other_form(&keys[..depth], "an object"));
                    };
                    found = element;
                    continue;
                }
                Ast::StringLit(_) | Ast::NumberLit(_) | Ast::BooleanLit(_) | Ast::NullKeyword(_) => {
                    return Err(other_form(&keys[..depth], "an object"));
                }
            };
            let mut named = object.properties.iter().filter(|property| property.name.as_str() == key);
            let Some(property) = named.next() else { return Ok(None) };
            // Which of the duplicates counts depends on the parser.
            if named.next().is_some() {
                return Err(other_form(&keys[..=depth], "one value"));
            }
            found = &property.value;
        }
        Ok(Some(found))
    }

    fn with_member(&self, container: &Container, member: &NewMember<'_>) -> String {
        let text = self.text;
        let (Some(first), Some(last)) = (container.children.first(), container.children.last()) else {
            return self.with_first_member(container, member);
        };
        let comma = self.comma_after(last.end, container.range.end);
        if !text[container.range.start..first.start].contains('\n') {
            let written = self.write_member(member, None);
            return match comma {
                Some(comma) => spliced(text, &[(comma.end..comma.end, &format!(" {written},"))]),
                None => spliced(text, &[(last.end..last.end, &format!(", {written}"))]),
            };
        }
        let indent = line_indent(text, first.start);
        let written = self.write_member(member, Some(indent));
        let line = format!("{}{indent}{written}", self.newline());
        let from = comma.as_ref().map_or(last.end, |comma| comma.end);
        let place = self.end_of_comments(from);
        match comma {
            Some(_) => spliced(text, &[(place..place, &format!("{line},"))]),
            None => spliced(text, &[(last.end..last.end, ","), (place..place, &line)]),
        }
    }

    fn with_first_member(&self, container: &Container, member: &NewMember<'_>) -> String {
        let inside = container.range.start + 1..container.range.end - 1;
        let own_indent = line_indent(self.text, container.range.start);
        let indent = format!("{own_indent}{}", self.indent_unit());
        let written = self.write_member(member, Some(&indent));
        // After comments, and before the white space in front of the closing bracket.
        let place = inside.start + self.text[inside.clone()].trim_end().len();
        let mut line = format!("{}{indent}{written}", self.newline());
        if !self.text[place..inside.end].contains('\n') {
            line.push_str(self.newline());
            line.push_str(own_indent);
        }
        spliced(self.text, &[(place..place, &line)])
    }

    fn without_child(&self, container: &Container, position: usize) -> String {
        let text = self.text;
        let child = &container.children[position];
        let before = text[..child.start].trim_end_matches([' ', '\t']);
        let line_start = before.strip_suffix('\n').map(|before| before.strip_suffix('\r').unwrap_or(before));
        let start = line_start.unwrap_or(before).len();
        // The bracket itself is never removed.
        let start = start.max(container.range.start + 1);
        if let Some(comma) = self.comma_after(child.end, container.range.end) {
            return spliced(text, &[(start..child.end, ""), (comma.start..comma.end, "")]);
        }
        match self.comma_before(child.start, container.range.start) {
            Some(comma) => {
                spliced(text, &[(comma.start..comma.end, ""), (start.max(comma.end)..child.end, "")])
            }
            None => spliced(text, &[(start..child.end, "")]),
        }
    }

    /// Returns the comma that follows a position, skipping comments.
    fn comma_after(&self, from: usize, end: usize) -> Option<Range<usize>> {
        let following =
            self.tokens.iter().filter(|token| from <= token.range.start && token.range.end <= end);
        let next = following.into_iter().find(|token| !is_comment(token))?;
        (next.token == Token::Comma).then_some(next.range.start..next.range.end)
    }

    fn comma_before(&self, to: usize, start: usize) -> Option<Range<usize>> {
        let preceding = self.tokens.iter().rev();
        let mut preceding = preceding.filter(|token| start <= token.range.start && token.range.end <= to);
        let last = preceding.find(|token| !is_comment(token))?;
        (last.token == Token::Comma).then_some(last.range.start..last.range.end)
    }

    /// Returns the end of the comments that follow a position on its line.
    fn end_of_comments(&self, from: usize) -> usize {
        let mut end = from;
        for token in self.tokens.iter().filter(|token| from <= token.range.start) {
            if !is_comment(token) || self.text[end..token.range.start].contains('\n') {
                break;
            }
            end = token.range.end;
        }
        // A comment to the end of the line ends before it.
        let is_return = self.text[..end].ends_with('\r');
        if is_return { end - 1 } else { end }
    }

    fn newline(&self) -> &'static str {
        newline_of(self.text)
    }

    /// Returns the indentation of one level in the text, taken from the first value of the outermost object.
    fn indent_unit(&self) -> &'t str {
        let Some(Ast::Object(object)) = &self.root else { return "  " };
        let Some(first) = object.properties.first() else { return "  " };
        let first = byte_range(first);
        let indent = line_indent(self.text, first.start);
        let starts_line = self.text[..first.start].ends_with(indent)
            && self.text[..first.start - indent.len()].ends_with('\n');
        if starts_line && !indent.is_empty() { indent } else { "  " }
    }

    fn write_member(&self, member: &NewMember<'_>, indent: Option<&str>) -> String {
        let value = self.write(member.value, indent);
        member.name.map_or(value.clone(), |name| format!("{}: {value}", Value::from(name)))
    }

    /// Formats a value on lines indented from `indent`, or on one line without it.
    fn write(&self, value: &Value, indent: Option<&str>) -> String {
        let is_scalar = |value: &Value| !matches!(value, Value::Object(_) | Value::Array(_));
        let (open, close, parts): (_, _, Vec<(Option<&str>, &Value)>) = match value {
            Value::Object(map) => {
                ("{", "}", map.iter().map(|(name, value)| (Some(name.as_str()), value)).collect())
            }
            Value::Array(list) => ("[", "]", list.iter().map(|value| (None, value)).collect()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return value.to_string(),
        };
        // A list of strings stays on one line.
        let is_line = open == "[" && parts.iter().all(|(_, value)| is_scalar(value));
        let deeper = indent.filter(|_| !is_line && !parts.is_empty());
        let deeper = deeper.map(|indent| format!("{indent}{}", self.indent_unit()));
        let written = parts
            .iter()
            .map(|(name, value)| self.write_member(&NewMember { name: *name, value }, deeper.as_deref()));
        let written: Vec<String> = written.collect();
        match (indent, deeper) {
            (Some(indent), Some(deeper)) => {
                let line = format!("{}{deeper}", self.newline());
                let body = written.join(&format!(",{line}"));
                format!("{open}{line}{body}{}{indent}{close}", self.newline())
            }
            (Some(_) | None, _) => format!("{open}{}{close}", written.join(", ")),
        }
    }
}

/// Returns the line ending of a text.
pub(super) fn newline_of(text: &str) -> &'static str {
    let first = text.find('\n');
    if first.is_some_and(|end| text[..end].ends_with('\r')) { "\r\n" } else { "\n" }
}

/// Returns the line number of a position, counted from 1.
pub(super) fn line_of(text: &[u8], position: usize) -> usize {
    memchr::memchr_iter(b'\n', &text[..position]).count() + 1
}

/// Returns a text with ranges replaced, which must be in order and must not overlap.
pub(super) fn spliced(text: &str, changes: &[(Range<usize>, &str)]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for (range, new) in changes {
        result.push_str(&text[done..range.start]);
        result.push_str(new);
        done = range.end;
    }
    result.push_str(&text[done..]);
    result
}

fn nested(keys: &[String], value: Value) -> Value {
    let wrap = |value, key: &String| Value::Object(serde_json::Map::from_iter([(key.clone(), value)]));
    keys.iter().rev().fold(value, wrap)
}

fn container_of(object: &Object<'_>) -> Container {
    Container { range: byte_range(object), children: object.properties.iter().map(byte_range).collect() }
}

fn byte_range(node: &impl Ranged) -> Range<usize> {
    node.start()..node.end()
}

const fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// Returns the indentation of the line at a position.
fn line_indent(text: &str, position: usize) -> &str {
    let line = &text[text[..position].rfind('\n').map_or(0, |end| end + 1)..];
    let length = line.len() - line.trim_start_matches([' ', '\t']).len();
    &line[..length]
}

fn other_form(keys: &[String], expected: &'static str) -> TextError {
    let key = if keys.is_empty() { "the whole file".to_owned() } else { keys.join(".") };
    TextError::OtherForm { key, expected }
}

fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
