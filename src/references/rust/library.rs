//! Rust: the effect of the standard library's macros, wrappers and methods on the types of a project.

use crate::model::{DefinitionKind, ExpressionFact, ExpressionId};
use crate::references::evaluation::Evaluator;
use crate::references::project::{DefinitionKey, FileId, NameRules, Site};
use crate::references::values::{Value, ValueSet};

impl Evaluator<'_> {
    /// Returns the macros of that name that a file may use: those of its crate, or else those of all crates.
    pub(in crate::references) fn macros_by_name(&self, file: FileId, name: &str) -> Vec<DefinitionKey> {
        if STANDARD_MACROS.contains(&name) {
            return Vec::new();
        }
        let all = self.index.by_name.get(name).map_or(&[][..], Vec::as_slice);
        let is_macro = |key: &DefinitionKey| {
            self.index.rules(key.file) == NameRules::Rust
                && self.index.definition(*key).kind == DefinitionKind::Macro
        };
        let all: Vec<DefinitionKey> = all.iter().copied().filter(is_macro).take(9).collect();
        let root = self.modules.rust.root(file);
        let own: Vec<DefinitionKey> =
            all.iter().copied().filter(|key| self.modules.rust.root(key.file) == root).collect();
        if own.is_empty() { all } else { own }
    }

    /// Returns the result of a method of a value.
    pub(super) fn rust_method(&mut self, object: Value, method: &str) -> ValueSet {
        if self.is_plain_of_rust(object) {
            return ValueSet::UNKNOWN;
        }
        if let Value::Generic { .. } = object {
            return self.method_of_wrapper(object, method);
        }
        if method == "await" {
            return self.awaited(object);
        }
        let callee = self.attribute(object, method);
        if !callee.values.is_empty() {
            return callee.flat_map(|callee| self.call(callee));
        }
        match object {
            Value::Instance(_) if is_identity(method) => {
                ValueSet { values: vec![object], is_complete: false }
            }
            Value::Definition(key) if method == "default" => ValueSet::one(Value::Instance(key)),
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns the result of a method or a function of another project's type: a value of the same type, unless it
    /// converts, or the type is a container.
    pub(super) fn foreign_method(
        &self,
        file: FileId,
        function: ExpressionId,
        object: &ValueSet,
        method: &str,
    ) -> ValueSet {
        let facts = self.index.facts(file);
        let ExpressionFact::Member(owner, _) = facts.expression(function) else { return ValueSet::UNKNOWN };
        let is_foreign = match facts.expression(owner) {
            ExpressionFact::TypeName(name) | ExpressionFact::Member(_, name) => {
                let name = facts.name(name);
                name.starts_with(char::is_uppercase) && !CONTAINERS.contains(&name)
            }
            _ => !CONVERSIONS.contains(&method),
        };
        if is_foreign && object.is_complete { ValueSet::FOREIGN } else { ValueSet::UNKNOWN }
    }

    fn method_of_wrapper(&mut self, object: Value, method: &str) -> ValueSet {
        let Value::Generic { site, expression } = object else { return ValueSet::UNKNOWN };
        let (name, arguments, _) = self.generic_parts(site.file, expression);
        let is_map = name.ends_with("Map") && 1 < arguments.len();
        let mut found = match method {
            "get" | "get_mut" | "remove" | "insert" | "or_insert_with" | "or_insert" | "or_default"
                if is_map =>
            {
                self.part(object, 1)
            }
            "entry" if is_map => ValueSet::one(object),
            "unwrap" | "expect" | "unwrap_or" | "unwrap_or_else" | "unwrap_or_default"
            | "get_or_insert_with" | "get_or_init" | "swap_remove" => self.item(object),
            "unwrap_err" | "expect_err" | "err" => self.part(object, 1),
            "await" if name.ends_with("Future") => self.item(object),
            "borrow" | "borrow_mut" if name == "RefCell" => self.item(object),
            "remove" if name == "Vec" => self.item(object),
            "enumerate" => ValueSet::one(object),
            _ if is_identity(method) || keeps_items(method) => ValueSet::one(object),
            _ => ValueSet::UNKNOWN,
        };
        found.is_complete = false;
        found
    }

    /// Returns an element of a value that is indexed or iterated.
    pub(in crate::references) fn rust_item(&mut self, whole: Value) -> ValueSet {
        match whole {
            Value::Generic { site, expression } => {
                let (name, arguments, _) = self.generic_parts(site.file, expression);
                if name.ends_with("Map") && 1 < arguments.len() {
                    // Its keys and values, as a pair.
                    return ValueSet::one(whole);
                }
                arguments.first().map_or(ValueSet::UNKNOWN, |first| self.instance(site, *first))
            }
            Value::Instance(_) => {
                let declared = self.member(whole, "Item");
                let mut found = declared.flat_map(|declared| self.instance_of_value(declared));
                found.is_complete = false;
                found
            }
            _ => ValueSet::UNKNOWN,
        }
    }

    /// Returns a value of a generic type of another project, or the content of its wrapper.
    pub(in crate::references) fn rust_generic(&mut self, site: Site, declared: ExpressionId) -> ValueSet {
        let (name, arguments, generic) = self.generic_parts(site.file, declared);
        let last = arguments.last().copied().unwrap_or(0);
        let whole = ValueSet::one(Value::Generic { site, expression: declared });
        let found = self.value(site, generic);
        let is_alias = |value: &Value| matches!(value, Value::Definition(key) if self.index.definition(*key).kind == DefinitionKind::Alias);
        if found.values.is_empty() {
            return match name {
                "Box" | "Rc" | "Arc" | "Cow" | "Pin" | "Ref" | "RefMut" | "MutexGuard" | "ManuallyDrop" => {
                    self.instance(site, last)
                }
                _ => whole,
            };
        }
        // `type Result<T> = std::result::Result<T, Error>` has the argument of this use.
        if found.values.iter().all(is_alias)
            && (matches!(name, "Result" | "Option")
                || found.values.iter().all(|alias| self.is_result_alias(*alias)))
        {
            return whole;
        }
        found.flat_map(|named| self.instance_of_value(named))
    }
}

/// Macros of the standard library, which are meant unless a scope says otherwise.
const STANDARD_MACROS: [&str; 35] = [
    "assert", "assert_eq", "assert_ne", "cfg", "column", "compile_error", "concat", "dbg", "debug_assert",
    "debug_assert_eq", "debug_assert_ne", "env", "eprint", "eprintln", "file", "format", "format_args",
    "include", "include_bytes", "include_str", "line", "matches", "module_path", "option_env", "panic",
    "print", "println", "stringify", "thread_local", "todo", "unimplemented", "unreachable", "vec", "write",
    "writeln",
];

/// Types of other projects whose functions return what they are passed.
const CONTAINERS: [&str; 32] = [
    "Vec", "Option", "Result", "Box", "Rc", "Arc", "Weak", "Mutex", "RwLock", "RefCell", "Cell", "Cow",
    "Pin", "OnceCell", "OnceLock", "LazyLock", "Lazy", "HashMap", "HashSet", "BTreeMap", "BTreeSet",
    "VecDeque", "BinaryHeap", "ManuallyDrop", "MaybeUninit", "NonNull", "Default", "From", "Iterator",
    "Some", "Ok", "Clone",
];

/// Methods whose receiver does not determine the type of the result.
const CONVERSIONS: [&str; 22] = [
    "parse", "into", "try_into", "collect", "map", "map_or", "map_or_else", "and_then", "then", "filter_map",
    "flat_map", "find_map", "fold", "try_fold", "sum", "scan", "downcast_ref", "downcast", "downcast_mut",
    "deserialize", "with", "read",
];

/// Returns whether a method of the standard library returns the value itself, or a reference to it.
fn is_identity(method: &str) -> bool {
    matches!(
        method,
        "clone"
            | "to_owned"
            | "as_ref"
            | "as_mut"
            | "borrow"
            | "borrow_mut"
            | "unwrap"
            | "expect"
            | "into"
            | "unwrap_or"
            | "unwrap_or_else"
            | "unwrap_or_default"
            | "cloned"
            | "copied"
            | "as_deref"
            | "as_deref_mut"
            | "by_ref"
            | "ok_or"
            | "ok_or_else"
            | "map_err"
            | "deref"
            | "deref_mut"
            | "context"
            | "with_context"
            | "or_else"
            | "ok"
            | "take"
            | "iter"
            | "into_inner"
            | "get_mut"
    )
}

/// Returns whether a method returns the same items in the same or another wrapper.
fn keeps_items(method: &str) -> bool {
    matches!(
        method,
        "iter_mut"
            | "into_iter"
            | "filter"
            | "rev"
            | "skip"
            | "take_while"
            | "skip_while"
            | "step_by"
            | "chain"
            | "peekable"
            | "fuse"
            | "get"
            | "first"
            | "last"
            | "next"
            | "next_back"
            | "pop"
            | "peek"
            | "nth"
            | "min_by"
            | "max_by"
            | "min_by_key"
            | "max_by_key"
            | "min"
            | "max"
            | "find"
            | "drain"
            | "to_vec"
            | "or"
            | "collect"
            | "lock"
            | "read"
            | "write"
            | "try_lock"
            | "last_mut"
            | "first_mut"
            | "as_slice"
            | "as_mut_slice"
            | "pop_front"
            | "pop_back"
            | "front"
            | "back"
            | "inspect"
            | "replace"
            | "await"
            | "recv"
            | "join"
            | "get_ref"
    )
}
