//! Java: the types of its standard library.

use std::rc::Rc;

use crate::model::BindingValue;
use crate::references::evaluation::Evaluator;
use crate::references::lookup::{BOXES, JavaType, unboxed};
use crate::references::project::FileId;

/// Final classes of the library, with their supertypes besides `Object`.
const FINAL_TYPES: [(&str, &[&str]); 19] = [
    ("String", &["CharSequence", "Comparable", "Serializable"]),
    ("StringBuilder", &["CharSequence", "Appendable", "Serializable", "Comparable"]),
    ("StringBuffer", &["CharSequence", "Appendable", "Serializable", "Comparable"]),
    ("Class", &["Type", "AnnotatedElement", "GenericDeclaration", "Serializable"]),
    ("Boolean", &["Comparable", "Serializable"]),
    ("Character", &["Comparable", "Serializable"]),
    ("Byte", &["Number", "Comparable", "Serializable"]),
    ("Short", &["Number", "Comparable", "Serializable"]),
    ("Integer", &["Number", "Comparable", "Serializable"]),
    ("Long", &["Number", "Comparable", "Serializable"]),
    ("Float", &["Number", "Comparable", "Serializable"]),
    ("Double", &["Number", "Comparable", "Serializable"]),
    ("UUID", &["Comparable", "Serializable"]),
    ("URL", &["Serializable"]),
    ("URI", &["Comparable", "Serializable"]),
    ("Locale", &["Cloneable", "Serializable"]),
    ("Pattern", &["Serializable"]),
    ("Optional", &[]),
    ("Method", &["Executable", "Member", "AnnotatedElement", "GenericDeclaration", "AccessibleObject"]),
];

/// Types of the library that others extend, with all their supertypes.
const OPEN_TYPES: [(&str, &[&str]); 55] = [
    ("Object", &[]),
    ("Serializable", &[]),
    ("Cloneable", &[]),
    ("Comparable", &[]),
    ("Iterable", &[]),
    ("AutoCloseable", &[]),
    ("Closeable", &["AutoCloseable"]),
    ("Flushable", &[]),
    ("Appendable", &[]),
    ("CharSequence", &[]),
    ("Number", &["Serializable"]),
    ("BigDecimal", &["Number", "Comparable", "Serializable"]),
    ("BigInteger", &["Number", "Comparable", "Serializable"]),
    ("AtomicInteger", &["Number", "Serializable"]),
    ("AtomicLong", &["Number", "Serializable"]),
    ("File", &["Comparable", "Serializable"]),
    ("Path", &["Comparable", "Iterable", "Watchable"]),
    ("Charset", &["Comparable"]),
    ("Date", &["Comparable", "Cloneable", "Serializable"]),
    ("Reader", &["Readable", "Closeable", "AutoCloseable"]),
    ("StringReader", &["Reader", "Readable", "Closeable", "AutoCloseable"]),
    ("BufferedReader", &["Reader", "Readable", "Closeable", "AutoCloseable"]),
    ("InputStreamReader", &["Reader", "Readable", "Closeable", "AutoCloseable"]),
    ("FileReader", &["InputStreamReader", "Reader", "Readable", "Closeable", "AutoCloseable"]),
    ("CharArrayReader", &["Reader", "Readable", "Closeable", "AutoCloseable"]),
    ("Writer", &["Appendable", "Flushable", "Closeable", "AutoCloseable"]),
    ("StringWriter", &["Writer", "Appendable", "Flushable", "Closeable", "AutoCloseable"]),
    ("BufferedWriter", &["Writer", "Appendable", "Flushable", "Closeable", "AutoCloseable"]),
    ("PrintWriter", &["Writer", "Appendable", "Flushable", "Closeable", "AutoCloseable"]),
    ("OutputStreamWriter", &["Writer", "Appendable", "Flushable", "Closeable", "AutoCloseable"]),
    (
        "FileWriter",
        &["OutputStreamWriter", "Writer", "Appendable", "Flushable", "Closeable", "AutoCloseable"],
    ),
    ("InputStream", &["Closeable", "AutoCloseable"]),
    ("FileInputStream", &["InputStream", "Closeable", "AutoCloseable"]),
    ("ByteArrayInputStream", &["InputStream", "Closeable", "AutoCloseable"]),
    ("BufferedInputStream", &["FilterInputStream", "InputStream", "Closeable", "AutoCloseable"]),
    ("OutputStream", &["Flushable", "Closeable", "AutoCloseable"]),
    ("FileOutputStream", &["OutputStream", "Flushable", "Closeable", "AutoCloseable"]),
    ("ByteArrayOutputStream", &["OutputStream", "Flushable", "Closeable", "AutoCloseable"]),
    (
        "PrintStream",
        &["FilterOutputStream", "OutputStream", "Appendable", "Flushable", "Closeable", "AutoCloseable"],
    ),
    ("ParameterizedType", &["Type"]),
    ("List", &["Collection", "Iterable", "SequencedCollection"]),
    (
        "ArrayList",
        &[
            "AbstractList", "AbstractCollection", "List", "Collection", "Iterable", "RandomAccess",
            "Cloneable", "Serializable",
        ],
    ),
    (
        "LinkedList",
        &[
            "AbstractList", "AbstractCollection", "List", "Deque", "Queue", "Collection", "Iterable",
            "Cloneable", "Serializable",
        ],
    ),
    ("Set", &["Collection", "Iterable"]),
    (
        "HashSet",
        &["AbstractSet", "AbstractCollection", "Set", "Collection", "Iterable", "Cloneable", "Serializable"],
    ),
    (
        "LinkedHashSet",
        &[
            "HashSet", "AbstractSet", "AbstractCollection", "Set", "Collection", "Iterable", "Cloneable",
            "Serializable",
        ],
    ),
    (
        "TreeSet",
        &["AbstractSet", "AbstractCollection", "Set", "SortedSet", "NavigableSet", "Collection", "Iterable"],
    ),
    ("Collection", &["Iterable"]),
    ("Map", &[]),
    ("HashMap", &["AbstractMap", "Map", "Cloneable", "Serializable"]),
    ("LinkedHashMap", &["HashMap", "AbstractMap", "Map", "Cloneable", "Serializable"]),
    ("TreeMap", &["AbstractMap", "Map", "SortedMap", "NavigableMap", "Cloneable", "Serializable"]),
    ("Properties", &["Hashtable", "Dictionary", "Map", "Cloneable", "Serializable"]),
    ("Field", &["AccessibleObject", "Member", "AnnotatedElement"]),
    ("Type", &[]),
];

/// Functional interfaces of the library, with the number of their function's parameters.
const FUNCTIONS: [(&str, usize); 27] = [
    ("Runnable", 0),
    ("Supplier", 0),
    ("BooleanSupplier", 0),
    ("IntSupplier", 0),
    ("Callable", 0),
    ("PrivilegedAction", 0),
    ("Function", 1),
    ("Consumer", 1),
    ("Predicate", 1),
    ("UnaryOperator", 1),
    ("IntFunction", 1),
    ("IntPredicate", 1),
    ("IntConsumer", 1),
    ("IntUnaryOperator", 1),
    ("ToIntFunction", 1),
    ("ToLongFunction", 1),
    ("ToDoubleFunction", 1),
    ("LongFunction", 1),
    ("FileFilter", 1),
    ("ThreadFactory", 1),
    ("ActionListener", 1),
    ("BiFunction", 2),
    ("BiConsumer", 2),
    ("BiPredicate", 2),
    ("BinaryOperator", 2),
    ("Comparator", 2),
    ("FilenameFilter", 2),
];

pub(super) fn is_final(name: &str) -> bool {
    FINAL_TYPES.iter().any(|(known, _)| *known == name)
}

/// Returns whether all supertypes of a library type are known.
pub(in crate::references) fn is_known(name: &str) -> bool {
    OPEN_TYPES.iter().any(|(known, _)| *known == name)
}

pub(super) fn is_library_subtype(own: &str, other: &str) -> bool {
    let found = FINAL_TYPES.iter().chain(&OPEN_TYPES).find(|(known, _)| *known == own);
    found.is_some_and(|(_, supertypes)| supertypes.contains(&other))
}

/// Returns the number of parameters of a functional interface of the library.
pub(super) fn function_parameters(name: &str) -> Option<usize> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, count)| *count)
}

/// Returns the type of a parameter of a lambda that implements a library interface.
pub(super) fn lambda_parameter<'a>(name: &str, target: &JavaType<'a>, at: usize) -> JavaType<'a> {
    match name {
        "Comparator" | "BinaryOperator" => target.argument(0),
        "IntFunction" | "IntPredicate" | "IntConsumer" | "IntUnaryOperator" => JavaType::Primitive("int"),
        _ if function_parameters(name).is_some() => target.argument(at),
        _ => JavaType::Unknown,
    }
}

fn generic<'a>(name: &'static str, arguments: Vec<JavaType<'a>>) -> JavaType<'a> {
    JavaType::Foreign(name, arguments.into())
}

impl<'a> Evaluator<'a> {
    /// Returns the result of a method of a library type.
    pub(super) fn java_library_call(
        &mut self,
        receiver: &JavaType<'a>,
        method: &str,
        arguments: &[JavaType<'a>],
    ) -> JavaType<'a> {
        match method {
            "toString" => return JavaType::foreign("String"),
            "hashCode" => return JavaType::Primitive("int"),
            "equals" => return JavaType::Primitive("boolean"),
            "getClass" => return generic("Class", vec![receiver.clone()]),
            "clone" if matches!(receiver, JavaType::Array(_)) => return receiver.clone(),
            _ => {}
        }
        for found in self.java_supertypes(receiver) {
            let JavaType::Foreign(name, _) = found else { continue };
            let returned = library_result(&found, name, method, arguments);
            if returned != JavaType::Unknown {
                return returned;
            }
        }
        JavaType::Unknown
    }

    /// Returns the result of a library method that a static import names, or may bring.
    pub(super) fn java_imported_call(
        &mut self,
        file: FileId,
        name: &str,
        arguments: &[JavaType<'a>],
    ) -> JavaType<'a> {
        let facts = self.index.facts(file);
        let bound = facts.find_name(&format!("{name}(*)")).map_or(&[][..], |id| facts.bindings_of(0, id));
        let named = bound.iter().filter_map(|binding| match binding.value {
            BindingValue::Import(import) => facts.imports.get(import as usize),
            _ => None,
        });
        let stars = facts.imports.iter().filter(|import| import.is_star && bound.is_empty());
        for import in named.chain(stars) {
            let class = facts.name(import.module).rsplit('.').next().unwrap_or_default();
            if !class.starts_with(char::is_uppercase) {
                continue;
            }
            let returned = library_result(&JavaType::foreign(class), class, name, arguments);
            if returned != JavaType::Unknown {
                return returned;
            }
        }
        JavaType::Unknown
    }

    /// Returns the type that a method of a library type takes, for which a lambda may be passed.
    pub(super) fn java_library_parameter(&mut self, receiver: &JavaType<'a>, method: &str) -> JavaType<'a> {
        for found in self.java_supertypes(receiver) {
            let JavaType::Foreign(name, arguments) = &found else { continue };
            let Some(last) = arguments.last().cloned() else { continue };
            let first = arguments[0].clone();
            let is_map = arguments.len() == 2;
            return match method {
                "computeIfAbsent" => generic("Function", vec![first, last]),
                "forEach" | "replaceAll" | "compute" | "computeIfPresent" if is_map => {
                    generic("BiConsumer", vec![first, last])
                }
                "merge" | "reduce" | "sort" | "sorted" | "min" | "max" => {
                    generic("BinaryOperator", vec![last])
                }
                "thenComparing" | "comparing" => generic("Function", vec![first]),
                "forEach" | "filter" | "map" | "flatMap" | "anyMatch" | "allMatch" | "noneMatch"
                | "removeIf" | "peek" | "mapToInt" | "mapToLong" | "mapToDouble" | "mapToObj"
                | "ifPresent" | "ifPresentOrElse" | "takeWhile" | "dropWhile" | "replaceAll"
                | "forEachOrdered" | "forEachRemaining" | "thenAccept" | "thenApply" | "andThen" | "and"
                | "or"
                    if name != &"Class" =>
                {
                    generic("Function", vec![last])
                }
                _ => continue,
            };
        }
        JavaType::Unknown
    }
}

/// Returns the result of a method of a library type, including results that depend on its arguments.
#[expect(clippy::match_same_arms, reason = "arms are ordered by type")]
fn library_result<'a>(
    receiver: &JavaType<'a>,
    name: &str,
    method: &str,
    arguments: &[JavaType<'a>],
) -> JavaType<'a> {
    let text = JavaType::foreign("String");
    let first = arguments.first().cloned().unwrap_or(JavaType::Unknown);
    match (name, method) {
        (
            "String",
            "length" | "indexOf" | "lastIndexOf" | "compareTo" | "compareToIgnoreCase" | "codePointAt",
        ) => JavaType::Primitive("int"),
        ("String" | "StringBuilder" | "StringBuffer" | "CharSequence", "charAt") => {
            JavaType::Primitive("char")
        }
        (
            "String" | "StringBuilder" | "StringBuffer" | "CharSequence",
            "isEmpty" | "contains" | "startsWith" | "endsWith" | "matches" | "equalsIgnoreCase" | "isBlank"
            | "contentEquals" | "regionMatches",
        ) => JavaType::Primitive("boolean"),
        ("String", "split") => JavaType::Array(Rc::new(text)),
        ("String", "toCharArray") => JavaType::Array(Rc::new(JavaType::Primitive("char"))),
        ("String", "getBytes") => JavaType::Array(Rc::new(JavaType::Primitive("byte"))),
        (
            "String",
            "trim" | "substring" | "toLowerCase" | "toUpperCase" | "replace" | "replaceAll" | "replaceFirst"
            | "concat" | "strip" | "repeat" | "intern" | "format" | "valueOf" | "join" | "formatted"
            | "copyValueOf",
        ) => text,
        ("StringBuilder" | "StringBuffer", "append" | "insert" | "reverse" | "deleteCharAt" | "delete") => {
            receiver.clone()
        }
        ("StringBuilder" | "StringBuffer" | "CharSequence", "length" | "indexOf" | "lastIndexOf") => {
            JavaType::Primitive("int")
        }
        ("StringBuilder" | "StringBuffer", "substring") | ("BufferedReader", "readLine") => text,
        ("Integer", "parseInt" | "compare") | ("Character", "getNumericValue") => JavaType::Primitive("int"),
        ("Long", "parseLong") | ("System", "currentTimeMillis" | "nanoTime") => JavaType::Primitive("long"),
        ("Double", "parseDouble") | ("Math", "sqrt" | "pow" | "random" | "floor" | "ceil") => {
            JavaType::Primitive("double")
        }
        ("Boolean", "parseBoolean") | ("Character" | "Double" | "Float", _) if method.starts_with("is") => {
            JavaType::Primitive("boolean")
        }
        ("Integer" | "Long" | "Double" | "Float" | "Short" | "Byte" | "Boolean" | "Character", "valueOf") => {
            receiver.clone()
        }
        ("AtomicBoolean", _) => JavaType::Primitive("boolean"),
        ("AtomicInteger", _) | (_, "intValue") => JavaType::Primitive("int"),
        ("AtomicLong", _) | (_, "longValue") => JavaType::Primitive("long"),
        (_, "doubleValue") => JavaType::Primitive("double"),
        (_, "floatValue") => JavaType::Primitive("float"),
        (_, "shortValue") => JavaType::Primitive("short"),
        (_, "byteValue") => JavaType::Primitive("byte"),
        (_, "booleanValue" | "charValue") => unboxed(receiver),
        ("System", "getProperty" | "getenv" | "lineSeparator") if arguments.len() < 2 => text,
        ("Class", "getName" | "getSimpleName" | "getCanonicalName") => text,
        ("Class", "getField" | "getDeclaredField") => JavaType::foreign("Field"),
        ("Class", "getMethod" | "getDeclaredMethod") => JavaType::foreign("Method"),
        ("File", "toPath") | ("Paths", "get") => JavaType::foreign("Path"),
        ("Path", "toFile") => JavaType::foreign("File"),
        ("Files", "readAllBytes") => JavaType::Array(Rc::new(JavaType::Primitive("byte"))),
        ("Charset", "forName" | "defaultCharset") => JavaType::foreign("Charset"),
        ("Calendar" | "Locale" | "Thread", "getInstance" | "getDefault" | "currentThread") => {
            receiver.clone()
        }
        ("Class", "cast" | "newInstance" | "getEnumConstants") => receiver.argument(0),
        ("File" | "Path" | "Method" | "Field" | "Thread", "getName" | "getPath" | "getAbsolutePath")
            if name != "Path" =>
        {
            text
        }
        ("Arrays", "asList") | ("List" | "Set" | "Stream", "of") => {
            let element = match (&first, arguments.len()) {
                (JavaType::Array(item), 1) => (**item).clone(),
                _ => boxed(first),
            };
            let known = if name == "Stream" { "Stream" } else { "List" };
            generic(known, vec![element])
        }
        ("Arrays", "copyOf" | "copyOfRange") | ("Objects", "requireNonNull") => first,
        ("Collections", "singletonList" | "singleton" | "singletonMap") => {
            generic("List", vec![boxed(first)])
        }
        (
            "Collections",
            "unmodifiableList" | "unmodifiableSet" | "unmodifiableMap" | "unmodifiableCollection",
        ) => first,
        ("Mockito" | "BDDMockito" | "InOrder" | "Stubber" | "BDDStubber" | "Then", _) => {
            result_of_mockito(receiver, name, method, first)
        }
        ("Optional", "of" | "ofNullable") => generic("Optional", vec![boxed(first)]),
        _ => result_of_container(receiver, name, method, arguments),
    }
}

/// Returns the result of a Mockito method: usually a value of the type that it was passed.
fn result_of_mockito<'a>(
    receiver: &JavaType<'a>,
    name: &str,
    method: &str,
    first: JavaType<'a>,
) -> JavaType<'a> {
    match (name, method) {
        ("Mockito" | "BDDMockito", "spy" | "mock") => match first {
            JavaType::Foreign("Class", _) => first.argument(0),
            _ if method == "spy" => first,
            _ => JavaType::Unknown,
        },
        ("Mockito" | "BDDMockito" | "InOrder", "verify") | ("Stubber" | "BDDStubber", "when" | "given") => {
            first
        }
        ("Mockito" | "BDDMockito", "inOrder") => JavaType::foreign("InOrder"),
        ("Mockito" | "Stubber", "doReturn" | "doThrow" | "doAnswer" | "doNothing" | "doCallRealMethod") => {
            JavaType::foreign("Stubber")
        }
        (
            "BDDMockito" | "BDDStubber",
            "willReturn" | "willThrow" | "willAnswer" | "will" | "willDoNothing" | "willCallRealMethod",
        ) => JavaType::foreign("BDDStubber"),
        ("BDDMockito", "then") => generic("Then", vec![first]),
        ("Then", "should") => receiver.argument(0),
        _ => JavaType::Unknown,
    }
}

fn boxed(of_type: JavaType<'_>) -> JavaType<'_> {
    match of_type {
        JavaType::Primitive(name) => {
            let found = BOXES.iter().find(|(plain, _)| *plain == name);
            found.map_or(JavaType::Unknown, |(_, boxed)| JavaType::foreign(boxed))
        }
        other => other,
    }
}

/// Returns the result of a method of a container, a stream or a function.
fn result_of_container<'a>(
    receiver: &JavaType<'a>,
    name: &str,
    method: &str,
    arguments: &[JavaType<'a>],
) -> JavaType<'a> {
    let JavaType::Foreign(_, own) = receiver else { return JavaType::Unknown };
    let result = match arguments.first() {
        Some(JavaType::Function(_, result)) => boxed((**result).clone()),
        _ => JavaType::Unknown,
    };
    match method {
        "size" | "indexOf" | "lastIndexOf" => return JavaType::Primitive("int"),
        "isEmpty" | "contains" | "containsKey" | "containsValue" | "hasNext" | "isPresent" | "anyMatch"
        | "allMatch" | "noneMatch" | "containsAll" | "removeIf" => return JavaType::Primitive("boolean"),
        "count" if name == "Stream" => return JavaType::Primitive("long"),
        _ => {}
    }
    let (Some(key), Some(last)) = (own.first().cloned(), own.last().cloned()) else {
        return JavaType::Unknown;
    };
    if matches!(name, "Class" | "Comparable" | "Comparator") {
        return JavaType::Unknown;
    }
    match method {
        "getKey" => key,
        "keySet" | "navigableKeySet" => generic("Set", vec![key]),
        "values" => generic("Collection", vec![last]),
        "entrySet" => generic("Set", vec![generic("Entry", vec![key, last])]),
        "peek" if name == "Stream" => receiver.clone(),
        "get" | "getOrDefault" | "next" | "previous" | "poll" | "pollFirst" | "pollLast" | "peek" | "pop"
        | "first" | "last" | "getFirst" | "getLast" | "removeFirst" | "removeLast" | "peekFirst"
        | "peekLast" | "take" | "element" | "orElse" | "orElseThrow" | "orElseGet" | "getValue" | "put"
        | "computeIfAbsent" | "putIfAbsent" | "compute" | "merge" | "call" | "join" | "getAndSet"
        | "apply" | "firstElement" | "lastElement" | "elementAt" | "higher" | "lower" | "floor"
        | "ceiling" => last,
        "remove" | "set"
            if own.len() == 2 || matches!(arguments.first(), Some(JavaType::Primitive("int"))) =>
        {
            last
        }
        "iterator" | "listIterator" | "descendingIterator" => generic("Iterator", vec![last]),
        "stream" | "parallelStream" => generic("Stream", vec![last]),
        "map" | "mapToObj" if name == "Stream" => generic("Stream", vec![result]),
        "map" if name == "Optional" => generic("Optional", vec![result]),
        "flatMap" => match result {
            JavaType::Foreign(inner @ ("Stream" | "Optional"), arguments) => {
                JavaType::Foreign(inner, arguments)
            }
            _ => JavaType::Unknown,
        },
        "filter" | "sorted" | "distinct" | "limit" | "skip" | "takeWhile" | "dropWhile" | "parallel"
        | "sequential" | "subList" | "reversed" | "headSet" | "tailSet" => receiver.clone(),
        "findFirst" | "findAny" | "min" | "max" | "reduce" if name == "Stream" => {
            generic("Optional", vec![last])
        }
        "toList" => generic("List", vec![last]),
        "toArray" => arguments.first().cloned().unwrap_or(JavaType::Unknown),
        _ => JavaType::Unknown,
    }
}
