//! Java: types, cached results about them, and rules that depend only on types.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::model::{ExpressionId, NameId};
use crate::references::project::{DefinitionKey, FileId, Site};

/// The maximum depth of one evaluation of types.
const MAX_DEPTH: usize = 48;

/// A type of Java.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::references) enum JavaType<'a> {
    Unknown,
    /// The type of `null`.
    Null,
    /// `int`, or `void`.
    Primitive(&'a str),
    /// A type of the project and its arguments.
    Class(DefinitionKey, Rc<[JavaType<'a>]>),
    /// A type of another project by its plain name.
    Foreign(&'a str, Rc<[JavaType<'a>]>),
    /// A type parameter of the type or method with this body.
    Parameter(Site, NameId),
    Array(Rc<JavaType<'a>>),
    /// A lambda or a method reference, with the number of its parameters and its result, if known.
    Function(Option<usize>, Rc<JavaType<'a>>),
}

impl<'a> JavaType<'a> {
    pub(in crate::references) fn class(key: DefinitionKey) -> Self {
        Self::Class(key, Rc::from([]))
    }

    pub(in crate::references) fn foreign(name: &'a str) -> Self {
        Self::Foreign(name, Rc::from([]))
    }

    /// Returns the argument at a position; an unknown type if there is none.
    pub(in crate::references) fn argument(&self, at: usize) -> Self {
        match self {
            Self::Class(_, arguments) | Self::Foreign(_, arguments) => {
                arguments.get(at).cloned().unwrap_or(Self::Unknown)
            }
            _ => Self::Unknown,
        }
    }
}

/// A type, and whether the names in the expression have no other reading.
pub(in crate::references) type JavaTyped<'a> = (JavaType<'a>, bool);

/// Cached types and calls.
#[derive(Default)]
pub(in crate::references) struct JavaTables<'a> {
    pub(in crate::references) types: FxHashMap<(Site, ExpressionId), JavaTyped<'a>>,
    pub(in crate::references) types_names: FxHashMap<FileId, Option<NameId>>,
    pub(in crate::references) own_types: FxHashMap<DefinitionKey, JavaType<'a>>,
    pub(in crate::references) bases: FxHashMap<DefinitionKey, Rc<[JavaType<'a>]>>,
    pub(in crate::references) signatures: FxHashMap<DefinitionKey, Rc<JavaSignature<'a>>>,
    pub(in crate::references) overloads: FxHashMap<DefinitionKey, FxHashMap<&'a str, Rc<[DefinitionKey]>>>,
    pub(in crate::references) calls: FxHashMap<(Site, ExpressionId), Option<Rc<JavaCall<'a>>>>,
    depth: usize,
}

impl JavaTables<'_> {
    /// Begins one more step, unless the depth is exceeded.
    pub(in crate::references) fn enter(&mut self) -> bool {
        self.depth += 1;
        if MAX_DEPTH < self.depth {
            self.depth -= 1;
            return false;
        }
        true
    }

    pub(in crate::references) fn leave(&mut self) {
        self.depth -= 1;
    }
}

/// The parameters of a method.
#[derive(Debug, Default)]
pub(in crate::references) struct JavaSignature<'a> {
    /// The types; the last one is an array if the method is variadic.
    pub(in crate::references) types: Vec<JavaType<'a>>,
    pub(in crate::references) is_variable: bool,
    /// The simple names of the types, as written.
    pub(in crate::references) names: &'a str,
}

/// The methods that a call may mean, nearest first.
#[derive(Debug)]
pub(in crate::references) struct JavaCall<'a> {
    pub(in crate::references) methods: Vec<DefinitionKey>,
    /// The type of the value or of the class that the method is called on.
    pub(in crate::references) receiver: JavaType<'a>,
    /// Whether the language allows no others.
    pub(in crate::references) is_sure: bool,
}

pub(in crate::references) fn lambda_parameters(name: &str) -> Option<usize> {
    name.strip_prefix("(->")?.strip_suffix(')')?.parse().ok()
}

/// Returns the built-in type that a name in parentheses means.
pub(in crate::references) fn type_of_language(name: &str) -> JavaType<'_> {
    match name {
        "(null)" => JavaType::Null,
        "(String)" => JavaType::foreign("String"),
        "(Class)" => JavaType::foreign("Class"),
        "(+)" | "(*)" | "(::)" => JavaType::Unknown,
        _ if name.starts_with("(->") => {
            JavaType::Function(lambda_parameters(name), Rc::new(JavaType::Unknown))
        }
        _ => JavaType::Primitive(name.trim_start_matches('(').trim_end_matches(')')),
    }
}

pub(in crate::references) fn result_of_operation<'a>(
    is_sum: bool,
    left: &JavaType<'a>,
    right: &JavaType<'a>,
) -> JavaType<'a> {
    let is_text = |side: &JavaType<'_>| matches!(side, JavaType::Foreign("String", _));
    if is_sum && (is_text(left) || is_text(right)) {
        return JavaType::foreign("String");
    }
    match (unboxed(left), unboxed(right)) {
        (JavaType::Primitive(left), JavaType::Primitive(right)) => promoted(left, right),
        _ => JavaType::Unknown,
    }
}

/// Returns the type of an operation with two numbers.
pub(in crate::references) fn promoted<'a>(left: &'a str, right: &'a str) -> JavaType<'a> {
    for name in ["boolean", "double", "float", "long"] {
        if left == name || right == name {
            return JavaType::Primitive(name);
        }
    }
    JavaType::Primitive("int")
}

/// Returns the primitive type of a box; any other type unchanged.
pub(in crate::references) fn unboxed<'a>(of_type: &JavaType<'a>) -> JavaType<'a> {
    let JavaType::Foreign(name, _) = of_type else { return of_type.clone() };
    let found = BOXES.iter().find(|(_, boxed)| boxed == name);
    found.map_or_else(|| of_type.clone(), |(plain, _)| JavaType::Primitive(plain))
}

/// The primitive types with their boxes.
pub(in crate::references) const BOXES: [(&str, &str); 8] = [
    ("boolean", "Boolean"),
    ("byte", "Byte"),
    ("char", "Character"),
    ("short", "Short"),
    ("int", "Integer"),
    ("long", "Long"),
    ("float", "Float"),
    ("double", "Double"),
];

pub(in crate::references) fn has_parameters(of_type: &JavaType<'_>) -> bool {
    match of_type {
        JavaType::Parameter(..) => true,
        JavaType::Class(_, arguments) | JavaType::Foreign(_, arguments) => {
            arguments.iter().any(has_parameters)
        }
        JavaType::Array(item) => has_parameters(item),
        _ => false,
    }
}

/// Replaces type parameters by the result of `replace`.
pub(in crate::references) fn substituted<'a>(
    of_type: &JavaType<'a>,
    replace: &impl Fn(&JavaType<'a>) -> Option<JavaType<'a>>,
) -> JavaType<'a> {
    match of_type {
        JavaType::Parameter(..) => replace(of_type).unwrap_or_else(|| of_type.clone()),
        JavaType::Class(key, arguments) => {
            JavaType::Class(*key, arguments.iter().map(|argument| substituted(argument, replace)).collect())
        }
        JavaType::Foreign(name, arguments) => {
            JavaType::Foreign(name, arguments.iter().map(|argument| substituted(argument, replace)).collect())
        }
        JavaType::Array(item) => JavaType::Array(Rc::new(substituted(item, replace))),
        other => other.clone(),
    }
}

/// Returns whether two types are the same except for their arguments.
pub(in crate::references) fn is_same_erased(a: &JavaType<'_>, b: &JavaType<'_>) -> bool {
    match (a, b) {
        (JavaType::Class(a, _), JavaType::Class(b, _)) => a == b,
        (JavaType::Foreign(a, _), JavaType::Foreign(b, _)) => a == b,
        (JavaType::Array(a), JavaType::Array(b)) => is_same_erased(a, b),
        (JavaType::Unknown, _) => false,
        _ => a == b,
    }
}
