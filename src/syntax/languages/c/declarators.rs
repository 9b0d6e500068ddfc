//! Finds what a declarator such as `*(*name[3])(int)` declares.

use tree_sitter::Node;

use crate::model::{SymbolKind, collapse_whitespace};
use crate::syntax::outline::{GrammarField, OutlineWalk, child_of_kind};

/// A declarator's name, and whether it is a function's.
pub(super) struct DeclaredName<'t> {
    /// The node that spells the name: an identifier, a qualified one, an operator's or a destructor's name.
    pub(super) name: Node<'t>,
    /// Whether a function is declared, and not a pointer to one.
    pub(super) is_function: bool,
}

/// Follows a declarator down to its name.
pub(super) fn resolve_declarator<'t>(
    walk: &OutlineWalk<'t>,
    declarator: Node<'t>,
) -> Option<DeclaredName<'t>> {
    let mut node = declarator;
    let mut is_function = false;
    let mut in_parentheses = false;
    // Each step goes one level down, so the loop ends with the tree.
    loop {
        let was_in_parentheses = std::mem::take(&mut in_parentheses);
        node = match node.kind() {
            "function_declarator" => {
                is_function = true;
                if let Some(name) = lost_name(walk, node) {
                    return Some(DeclaredName { name, is_function });
                }
                walk.field(node, GrammarField::Declarator)?
            }
            // `(*f)(int)` is a pointer: what is nearest to the name decides.
            "pointer_declarator"
            | "reference_declarator"
            | "array_declarator"
            | "pointer_type_declarator" => {
                is_function &= !was_in_parentheses;
                walk.field(node, GrammarField::Declarator).or_else(|| last_named(node))?
            }
            "init_declarator" => walk.field(node, GrammarField::Declarator)?,
            "parenthesized_declarator" | "attributed_declarator" | "variadic_declarator" => {
                in_parentheses = node.kind() == "parenthesized_declarator";
                first_declarator(node)?
            }
            "operator_cast" => {
                return Some(DeclaredName { name: node, is_function: true });
            }
            "qualified_identifier" => {
                let inner = innermost_name(walk, node);
                if inner.kind() == "pointer_type_declarator" {
                    // `int Class::*name`; or `MACRO type *name`, where the grammar takes the type for a scope.
                    in_parentheses = was_in_parentheses;
                    inner
                } else {
                    let is_function = is_function || inner.kind() == "operator_cast";
                    return Some(DeclaredName { name: node, is_function });
                }
            }
            "identifier" | "field_identifier" | "type_identifier" | "primitive_type" | "destructor_name"
            | "operator_name" | "template_function" | "template_method" | "template_type" => {
                return Some(DeclaredName { name: node, is_function });
            }
            _ => return None,
        };
    }
}

/// Returns the name in `MACRO type name(…)`, where the grammar takes the type for the name and drops what follows.
fn lost_name<'t>(walk: &OutlineWalk<'t>, function: Node<'t>) -> Option<Node<'t>> {
    let parameters = walk.field(function, GrammarField::Parameters)?.start_byte();
    let lost = child_of_kind(function, "ERROR").filter(|lost| lost.end_byte() <= parameters)?;
    last_named(lost).filter(|name| name.kind() == "identifier")
}

fn first_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| {
        let kind = child.kind();
        kind.ends_with("declarator") || kind.ends_with("identifier") || kind.ends_with("_name")
    })
}

fn last_named(node: Node<'_>) -> Option<Node<'_>> {
    let count = u32::try_from(node.named_child_count()).ok()?;
    node.named_child(count.checked_sub(1)?)
}

/// Returns the last part of a qualified name.
fn innermost_name<'t>(walk: &OutlineWalk<'t>, name: Node<'t>) -> Node<'t> {
    let mut node = name;
    while node.kind() == "qualified_identifier" {
        match walk.field(node, GrammarField::Name) {
            Some(inner) => node = inner,
            None => break,
        }
    }
    node
}

/// A name as written in the text, split into its qualifier and itself.
pub(super) struct SpelledName {
    /// `a::B` of `a::B::c`; empty where nothing qualifies the name.
    pub(super) scope: String,
    /// `c` of `a::B::c<int>`.
    pub(super) name: String,
}

impl SpelledName {
    /// Returns the name with its qualifier.
    pub(super) fn full(&self) -> String {
        if self.scope.is_empty() { self.name.clone() } else { format!("{}::{}", self.scope, self.name) }
    }
}

/// Returns how the text spells a name.
pub(super) fn spelled_name<'t>(walk: &OutlineWalk<'t>, name: Node<'t>) -> SpelledName {
    let inner = innermost_name(walk, name);
    let (whole, own) = (walk.range(name), walk.range(inner));
    let scope = if inner == name { "" } else { walk.source.text(whole.start..own.start.max(whole.start)) };
    let scope: String = scope.split_whitespace().collect();
    SpelledName { scope: scope.trim_matches(':').to_owned(), name: bare_name(walk, inner) }
}

fn bare_name<'t>(walk: &OutlineWalk<'t>, name: Node<'t>) -> String {
    match name.kind() {
        "template_function" | "template_method" | "template_type" => {
            walk.field(name, GrammarField::Name).map_or(String::new(), |inner| walk.text(inner).to_owned())
        }
        // `operator bool() const`: the name ends where its parameters begin.
        "operator_cast" => {
            let end =
                parameters_of_cast(walk, name).map_or(walk.range(name).end, |node| walk.range(node).start);
            collapse_whitespace(walk.source.text(walk.range(name).start..end))
        }
        "operator_name" => operator_name(walk.text(name)),
        "destructor_name" => walk.text(name).split_whitespace().collect(),
        _ => walk.text(name).to_owned(),
    }
}

/// Returns the node of the parameters in `operator int*() const`, below the signs of the type.
fn parameters_of_cast<'t>(walk: &OutlineWalk<'t>, cast: Node<'t>) -> Option<Node<'t>> {
    let mut node = walk.field(cast, GrammarField::Declarator)?;
    while node.kind() != "abstract_function_declarator" {
        let inner = walk.field(node, GrammarField::Declarator).or_else(|| last_named(node));
        node = inner.filter(|inner| inner.kind().starts_with("abstract_"))?;
    }
    Some(node)
}

/// Returns the name of a conversion function, where words before it (`inline Class::operator Type() {`) make the
/// grammar take `Class::operator` for a type and `Type` for the name.
pub(super) fn lost_conversion<'t>(
    walk: &OutlineWalk<'t>,
    function: Node<'t>,
    declared: Node<'t>,
) -> Option<SpelledName> {
    let class =
        walk.field(function, GrammarField::Type).filter(|class| class.kind() == "qualified_identifier")?;
    let scope = walk.text(class).strip_suffix("operator")?;
    let scope: String = scope.split_whitespace().collect();
    let to = collapse_whitespace(walk.text(declared));
    Some(SpelledName { scope: scope.strip_suffix("::")?.to_owned(), name: format!("operator {to}") })
}

/// Returns `data` of the field `int Class::*data`, where the grammar sees a field of bits with the name `Class`.
pub(super) fn lost_member_pointer<'t>(walk: &OutlineWalk<'t>, field: Node<'t>) -> Option<Node<'t>> {
    let bits = child_of_kind(field, "bitfield_clause")?;
    let lost = child_of_kind(field, "ERROR").filter(|lost| walk.text(*lost) == ":")?;
    let pointer = bits.named_child(0).filter(|_| lost.end_byte() <= bits.start_byte())?;
    let pointer = walk.field(pointer, GrammarField::Left).unwrap_or(pointer);
    last_named(pointer).filter(|name| pointer.kind() == "pointer_expression" && name.kind() == "identifier")
}

/// Returns `operator==` for `operator ==`, and leaves `operator new` its space.
fn operator_name(text: &str) -> String {
    let name = collapse_whitespace(text);
    match name.strip_prefix("operator ") {
        Some(sign) if !sign.starts_with(char::is_alphabetic) => format!("operator{sign}"),
        Some(_) | None => name,
    }
}

/// Returns what kind of function a name is, by the scope around it.
pub(super) fn function_kind(walk: &OutlineWalk<'_>, scope: &str, name: &str) -> SymbolKind {
    let class = if scope.is_empty() {
        let inside = walk.scopes.last().filter(|scope| scope.kind.is_type());
        inside.map(|scope| scope.name.as_str())
    } else {
        Some(scope.rsplit("::").next().unwrap_or(scope))
    };
    let Some(class) = class else { return SymbolKind::Function };
    // `A<int>::A` is a constructor.
    let class = class.split('<').next().unwrap_or(class);
    if name == class {
        SymbolKind::Constructor
    } else if name.starts_with('~') {
        SymbolKind::Destructor
    } else {
        SymbolKind::Method
    }
}

/// Returns whether a name cannot be that of a function, whatever the grammar took it for.
pub(super) fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 36] = [
        "__attribute__", "__typeof__", "alignas", "case", "catch", "class", "const", "decltype", "defined",
        "do", "else", "enum", "export", "extern", "for", "goto", "if", "import", "namespace", "noexcept",
        "private", "protected", "public", "return", "sizeof", "static", "static_assert", "struct", "switch",
        "template", "typedef", "typename", "typeof", "union", "using", "while",
    ];
    // The table has to stay sorted.
    KEYWORDS.binary_search(&name).is_ok()
}
