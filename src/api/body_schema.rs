//! Looks up keys of a question in its schema, to parse query parameters and to make suggestions in errors.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::api::located_json::{PathSegment, parse_located};
use crate::model::near_name;

/// The objects in questions whose keys may be at the top level as well.
pub(super) const KEY_GROUPS: &[&str] = &["choice", "attachments"];

/// The most characters of an example.
const MAX_EXAMPLE: usize = 240;

/// The maximum depth of an example: required values nested deeper are left out.
const MAX_DEPTH: usize = 8;

/// The schema of a question.
pub(super) struct BodySchema {
    root: Value,
    definitions: Map<String, Value>,
}

/// Parses JSON from a file. The message of an error begins with the location of the invalid value, and describes what
/// is expected according to the schema.
pub fn read_json_input<T: DeserializeOwned + JsonSchema>(text: &[u8]) -> Result<T, String> {
    parse_located(text).map_err(|error| {
        let schema = BodySchema::new(SchemaGenerator::subschema_for::<T>);
        let (_, wanted, _) = schema.expectation(&error.path);
        let reason = error.to_string();
        let reason =
            if error.error.is_data() { without_internal_types(&reason, &wanted) } else { reason.into() };
        let meant = schema.meant_key(&error.path).map(|key| format!("; did you mean `{key}`?"));
        reason.into_owned() + &meant.unwrap_or_default()
    })
}

/// Returns the settings for schemas in the OpenAPI document.
pub(super) fn schema_settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        // A component must not have a `$schema`: the dialect is the document's.
        settings.meta_schema = None;
    })
}

impl BodySchema {
    pub(super) fn new(body_schema: fn(&mut SchemaGenerator) -> Schema) -> Self {
        let mut generator = schema_settings().for_deserialize().into_generator();
        let root = body_schema(&mut generator).to_value();
        let definitions = generator.take_definitions(true);
        let root = with_grouped_keys(resolve(&root, &definitions), &definitions);
        Self { root, definitions }
    }

    /// Returns the schemas of the values along a path, beginning with that of the whole question, as far as they are
    /// known.
    fn along(&self, path: &[PathSegment]) -> Vec<&Value> {
        let mut schemas = vec![self.resolved(&self.root)];
        let mut next = schemas[0];
        for segment in path {
            let Some(found) = self.variants(next).find_map(|schema| step(schema, segment)) else { break };
            next = self.resolved(found);
            schemas.push(next);
        }
        schemas
    }

    /// Returns a schema, and those of its alternatives.
    fn variants<'s>(&'s self, schema: &'s Value) -> impl Iterator<Item = &'s Value> {
        let others = alternatives(schema).into_iter().flatten().map(|schema| self.resolved(schema));
        std::iter::once(schema).chain(others)
    }

    /// Returns the schema of the only alternative that is an object with keys.
    fn object_of<'s>(&'s self, schema: &'s Value) -> Option<&'s Value> {
        let mut objects = self.variants(schema).filter(|schema| has_keys(schema));
        objects.next().filter(|_| objects.next().is_none())
    }

    /// Returns an example of an object around a key, without the key itself.
    fn example_around(&self, schema: &Value, segment: &PathSegment) -> Map<String, Value> {
        let owner = self.variants(schema).find(|schema| step(schema, segment).is_some());
        let Some((owner, Value::Object(mut keys))) = owner.map(|owner| (owner, self.example(owner, 0)))
        else {
            return Map::new();
        };
        if let PathSegment::Key(key) = segment {
            let others = owner.pointer(&format!("/dependentRequired/{key}")).and_then(Value::as_array);
            for other in others.into_iter().flatten().filter_map(Value::as_str) {
                let value = owner.get("properties").and_then(|keys| keys.get(other));
                keys.extend(value.map(|value| (other.to_owned(), self.example(value, 0))));
            }
        }
        keys
    }

    fn resolved<'s>(&'s self, schema: &'s Value) -> &'s Value {
        resolve(schema, &self.definitions)
    }

    /// Returns every key that a query parameter can set, with its schema, including the keys of groups.
    pub(super) fn parameters(&self) -> impl Iterator<Item = (&String, &Value)> {
        keys_of(&self.root).filter(|(key, _)| !KEY_GROUPS.contains(&key.as_str()))
    }

    /// Converts the text of a query parameter to a value, and returns whether it is an item of a list. An invalid text
    /// is left unchanged, and rejected when the question is parsed. `None` if there is no such parameter.
    pub(super) fn parameter_value(&self, path: &[PathSegment], text: &str) -> Option<(Value, bool)> {
        let schemas = self.along(path);
        let schema = schemas.last().filter(|_| !path.is_empty() && path.len() < schemas.len())?;
        let is_list = has_type(schema, "array");
        let schema = if is_list { self.resolved(schema.get("items").unwrap_or(schema)) } else { schema };
        let is_read = self
            .variants(schema)
            .any(|schema| ["integer", "number", "boolean"].iter().any(|kind| has_type(schema, kind)));
        // Lists of objects and possible objects are written as JSON.
        let is_json = text.starts_with(['{', '[']) && !has_type(schema, "string");
        let value = (is_read || is_json).then(|| serde_json::from_str(text).ok()).flatten();
        let value = value.unwrap_or_else(|| Value::from(text));
        // A whole list may be written as JSON as well.
        let is_item = is_list && !value.is_array();
        Some((value, is_item))
    }

    /// Returns the valid part of a path, a description of the expected value there, and an example of a question with
    /// such a value.
    pub(super) fn expectation<'p>(&self, path: &'p [PathSegment]) -> (&'p [PathSegment], String, Value) {
        let schemas = self.along(path);
        let (known, schema) = (&path[..schemas.len() - 1], schemas[schemas.len() - 1]);
        // For a name or an object, an unknown key concerns the object. A schema with a title has other alternatives as
        // well.
        let object = match path.get(known.len()) {
            Some(PathSegment::Key(_)) if schema.get("title").is_none() => self.object_of(schema),
            Some(_) | None => None,
        };
        let steps = known.iter().zip(&schemas).rev();
        let example =
            steps.fold(self.example(object.unwrap_or(schema), 0), |value, (segment, around)| match segment {
                PathSegment::Key(key) => {
                    let mut object = self.example_around(around, segment);
                    object.insert(key.clone(), value);
                    object.into()
                }
                PathSegment::Index(_) => json!([value]),
            });
        let words = match object {
            Some(object) => {
                let keys: Vec<&str> = keys_of(object).map(|(key, _)| key.as_str()).collect();
                format!("an object with some of {}", keys.join(", "))
            }
            None => self.words(schema),
        };
        let example = if MAX_EXAMPLE < example.to_string().len() { json!({}) } else { example };
        (known, words, example)
    }

    /// Returns the key that was probably meant, if a path leads to an unknown one.
    pub(super) fn meant_key(&self, path: &[PathSegment]) -> Option<&str> {
        let schemas = self.along(path);
        let object = self.object_of(schemas[schemas.len() - 1])?;
        match path.get(schemas.len() - 1) {
            Some(PathSegment::Key(key)) => near_name(key, keys_of(object).map(|(key, _)| key.as_str())),
            Some(PathSegment::Index(_)) | None => None,
        }
    }

    fn words(&self, schema: &Value) -> String {
        let schema = self.resolved(schema);
        let names = constants(schema);
        if let [only] = names.as_slice() {
            return (*only).to_string();
        }
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            return format!("one of {}", names.join(", "));
        }
        if let Some(title) = schema.get("title").and_then(Value::as_str) {
            return title.to_owned();
        }
        if let Some(alternatives) = alternatives(schema) {
            let alternatives: Vec<&Value> = alternatives.map(|schema| self.resolved(schema)).collect();
            if let Some(keys) = alternatives.iter().map(|schema| only_key(schema)).collect::<Option<Vec<_>>>()
            {
                return format!("an object with one of {}", keys.join(", "));
            }
            let mut words: Vec<String> = alternatives.iter().map(|schema| self.words(schema)).collect();
            words.dedup();
            return words.join(" or ");
        }
        let bound = |name: &str| schema.get(name).filter(|bound| bound.is_number());
        if has_type(schema, "integer") {
            return match (bound("minimum"), bound("maximum")) {
                (Some(least), Some(most)) => format!("an integer from {least} to {most}"),
                (Some(least), None) => format!("an integer of at least {least}"),
                (None, Some(most)) => format!("an integer of at most {most}"),
                (None, None) => "an integer".to_owned(),
            };
        }
        let required = required_keys(schema);
        if !required.is_empty() {
            return format!("an object with {}", required.join(", "));
        }
        let kinds = [
            ("boolean", "true or false"),
            ("array", "a list"),
            ("object", "an object"),
            ("number", "a number"),
            ("string", "a string"),
        ];
        let found = kinds.iter().find(|(kind, _)| has_type(schema, kind));
        found.map_or("another value", |(_, words)| words).to_owned()
    }

    fn example(&self, schema: &Value, depth: usize) -> Value {
        let schema = self.resolved(schema);
        if let Some(example) = schema.get("examples").and_then(|examples| examples.get(0)) {
            return example.clone();
        }
        if let Some(name) = constants(schema).first() {
            return (*name).clone();
        }
        if let Some(first) = alternatives(schema).and_then(|mut alternatives| alternatives.next()) {
            return self.example(first, depth);
        }
        if has_type(schema, "integer") || has_type(schema, "number") {
            return schema.get("minimum").cloned().filter(|least| *least != 0).unwrap_or_else(|| 1.into());
        }
        if has_type(schema, "boolean") {
            return true.into();
        }
        // The examples of an object include those of its parts, but not of objects in it.
        match (schema.get("items"), schema.get("required").and_then(Value::as_array)) {
            (Some(items), _) if depth < MAX_DEPTH => json!([self.example(items, depth + 1)]),
            (None, Some(required)) if depth < MAX_DEPTH => {
                let keys = required.iter().filter_map(|key| {
                    let key = key.as_str()?;
                    Some((key.to_owned(), self.example(schema.get("properties")?.get(key)?, depth + 1)))
                });
                keys.collect::<Map<_, _>>().into()
            }
            (Some(_), _) => json!([]),
            (None, _) if has_type(schema, "object") => json!({}),
            (None, _) => "text".into(),
        }
    }
}

/// Returns the reason for an error, with the internal type that serde names replaced by the expectation.
pub(super) fn without_internal_types<'e>(reason: &'e str, wanted: &str) -> Cow<'e, str> {
    const INTERNAL: [&str; 9] =
        ["u8", "u16", "u32", "u64", "usize", "f64", "a sequence", "a map", "string or map"];
    let internal = reason.split_once(", expected ").filter(|(_, expected)| {
        let expected = expected.split_once(" at line ").map_or(*expected, |(expected, _)| expected);
        INTERNAL.contains(&expected) || expected.starts_with("a nonzero ") || expected.starts_with("struct ")
    });
    internal.map_or(Cow::Borrowed(reason), |(found, _)| Cow::Owned(format!("{found}, expected {wanted}")))
}

/// Returns the schema of the value at a path segment.
fn step<'s>(schema: &'s Value, segment: &PathSegment) -> Option<&'s Value> {
    match segment {
        PathSegment::Key(key) => {
            let named = schema.get("properties").and_then(|keys| keys.get(key));
            // A map has a schema for its values instead of keys.
            named.or_else(|| schema.get("additionalProperties").filter(|values| values.is_object()))
        }
        PathSegment::Index(_) => schema.get("items"),
    }
}

fn has_keys(schema: &Value) -> bool {
    keys_of(schema).next().is_some()
}

fn keys_of(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// Resolves references, and alternatives of which only one is not null.
fn resolve<'s>(mut schema: &'s Value, definitions: &'s Map<String, Value>) -> &'s Value {
    loop {
        let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
        let next = match name {
            Some(name) => definitions.get(name),
            None => only_alternative(schema),
        };
        let Some(next) = next else { return schema };
        schema = next;
    }
}

/// Returns the schema of a question with the keys that may be at its top level as well as in their group.
pub(super) fn with_grouped_keys(question: &Value, definitions: &Map<String, Value>) -> Value {
    let mut all = question.clone();
    let groups = keys_of(question).filter(|(key, _)| KEY_GROUPS.contains(&key.as_str()));
    for (key, schema) in groups.flat_map(|(_, group)| keys_of(resolve(group, definitions))) {
        all["properties"].as_object_mut().into_iter().for_each(|keys| {
            keys.entry(key).or_insert_with(|| schema.clone());
        });
    }
    all
}

/// Returns the alternatives of a schema, without null.
fn alternatives(schema: &Value) -> Option<impl Iterator<Item = &Value>> {
    let list = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array)?;
    Some(list.iter().filter(|schema| schema.get("type").is_none_or(|kind| kind != "null")))
}

/// Returns the only key that an object must have.
fn only_key(schema: &Value) -> Option<&str> {
    match required_keys(schema).as_slice() {
        [key] => Some(key),
        _ => None,
    }
}

/// Returns the keys that an object must have.
fn required_keys(schema: &Value) -> Vec<&str> {
    let keys = schema.get("required").and_then(Value::as_array).filter(|_| has_type(schema, "object"));
    keys.into_iter().flatten().filter_map(Value::as_str).collect()
}

fn only_alternative(schema: &Value) -> Option<&Value> {
    let mut found = alternatives(schema)?;
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Returns the values of a schema that allows only some.
fn constants(schema: &Value) -> Vec<&Value> {
    let listed = schema.get("enum").and_then(Value::as_array);
    let single = schema.get("const");
    // If another alternative allows other values, the list is not complete.
    let variants: Option<Vec<&Value>> = alternatives(schema)
        .and_then(|alternatives| alternatives.map(|schema| schema.get("const")).collect());
    let variants = variants.into_iter().flatten();
    listed.into_iter().flatten().filter(|value| !value.is_null()).chain(single).chain(variants).collect()
}

/// Returns whether a schema allows values of a type.
pub(super) fn has_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|kind| kind == name),
        Some(kind) => kind == name,
        None => false,
    }
}
