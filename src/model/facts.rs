//! The facts of one file about its names: definitions, scopes, imports, bindings and uses, as flat tables.
//!
//! Everything is an index into another table of the same file, so that a file's facts depend only on its bytes and its
//! language. Which definition in which file a use refers to is resolved by the room `references`.

/// Index of a string in [`SourceFacts::names`].
pub type NameId = u32;
/// Index into [`SourceFacts::scopes`]; scope 0 is the file's.
pub type ScopeId = u32;
/// Index into [`SourceFacts::definitions`].
pub type DefinitionId = u32;
/// Index into [`SourceFacts::expressions`]; expression 0 is [`ExpressionFact::Unknown`].
pub type ExpressionId = u32;
/// Index into [`SourceFacts::imports`].
pub type ImportId = u32;

/// The facts of one file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceFacts {
    /// Every name that another table mentions, sorted and without duplicates.
    pub names: Vec<String>,
    /// The scopes; the first is the file's, and each comes after the scope that contains it.
    pub scopes: Vec<ScopeFact>,
    /// The definitions, in the order of their names in the text.
    pub definitions: Vec<DefinitionFact>,
    /// The imports, in their order.
    pub imports: Vec<ImportFact>,
    /// What names are bound to, sorted by scope and name; bindings of the same name in text order.
    pub bindings: Vec<BindingFact>,
    /// Expressions in a reduced form; an expression comes after its operands.
    pub expressions: Vec<ExpressionFact>,
    /// The uses of names, in their order in the text.
    pub uses: Vec<UseFact>,
}

/// A scope of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopeFact {
    /// The scope that contains it; the file's scope is its own parent.
    pub parent: ScopeId,
    /// What opens it.
    pub kind: ScopeKind,
    /// The definition whose body it is. That of a file's scope is the component that the file is.
    pub definition: Option<DefinitionId>,
}

/// What opens a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// The file, or a module within it.
    Module,
    /// The body of a type.
    Class,
    /// The parameters and the body of a function.
    Function,
    /// A block with names of its own. In Python also the declarations of a function's parameters; its definition is
    /// that of the function.
    Block,
    /// The members that a Rust `impl` or a Go receiver adds to a type. `(type)` is bound to the type, and `(trait)` to
    /// the trait.
    Implementation,
}

/// A function, a method, a type or a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionFact {
    /// Its unqualified name.
    pub name: NameId,
    /// What it is.
    pub kind: DefinitionKind,
    /// The scope that it is defined in.
    pub scope: ScopeId,
    /// The scope of its body, if it has one.
    pub body: Option<ScopeId>,
    /// Its first line with decorators and attributes, counted from 1.
    pub first_line: u32,
    /// The line of its name.
    pub name_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// Properties that affect how it is used.
    pub flags: DefinitionFlags,
    /// The types that it extends or implements, the target of an alias, the type that an implementation belongs to. For
    /// a Python function, the outermost decorator that may return something else.
    pub bases: Vec<ExpressionId>,
    /// The return type, or if none is declared every returned expression. Evaluated in the scope `body`; a declared
    /// type in Python in `scope`.
    pub returns: Vec<ExpressionId>,
}

/// Prefix of the names that Python fixtures are bound to in their file's scope, followed by the name that tests
/// request.
pub const FIXTURE_PREFIX: &str = "(fixture) ";
/// The name that fixtures with `autouse` are bound to.
pub const AUTOUSE_FIXTURE: &str = "(autouse)";
/// Prefix of a name bound in the scope of a file or a class whose tests request a fixture by `usefixtures`, followed by
/// the fixture's name.
pub const FIXTURE_MARK_PREFIX: &str = "(usefixtures) ";
/// Prefix of a name bound in the body of a test, its class or its file if `parametrize` provides the values of a
/// parameter, so that no fixture does; followed by the parameter's name.
pub const PARAMETRIZED_PREFIX: &str = "(parametrize) ";
/// The name that modules are bound to whose fixtures a file lists as plugins.
pub const FIXTURE_PLUGINS: &str = "(plugins)";

/// Prefix of the name that the bound of a Python type variable has in its file's scope, followed by the variable's
/// name.
pub const TYPE_VARIABLE_PREFIX: &str = "(type variable) ";

/// The name bound in a Python file's scope where an assignment of several lines ends.
pub const END_OF_ASSIGNMENT: &str = "(end)";

/// The name of the value that is all that a JavaScript file exports, in the scope of its exports; that scope is one of
/// a type and has no definition.
pub const MODULE_EXPORTS: &str = "module.exports";

/// The name that the type of an `impl` is bound to in its scope, and in Go that of a method's receiver. The parentheses
/// keep it apart from real names.
pub const IMPLEMENTED_TYPE: &str = "(type)";
/// The name that the trait of an `impl` is bound to in its scope.
pub const IMPLEMENTED_TRAIT: &str = "(trait)";
/// The name that the type parameters of a type or a method are bound to in its scope, in order.
pub const TYPE_PARAMETERS: &str = "(types)";
/// The name of function types in TypeScript; its arguments are the return type and the parameters.
pub const FUNCTION_TYPE: &str = "=>";
/// The name of the type of a rest parameter.
pub const REST_TYPE: &str = "...";
/// The name of the TypeScript type of a value; its argument is the value.
pub const TYPE_OF_VALUE: &str = "typeof";
/// The name that parameter types are bound to in the body of a TypeScript function or a Java method.
pub const PARAMETER_TYPES: &str = "(parameters)";
/// The name that the type of a TypeScript type's call signature is bound to.
pub const CALL_SIGNATURE: &str = "(call)";
/// The name that interfaces are bound to in the body of a TypeScript class that implements them.
pub const IMPLEMENTED_INTERFACE: &str = "(implements)";
/// The name that a TypeScript file without imports and exports binds.
pub const GLOBAL_FILE: &str = "(global)";
/// The name that `declare module` binds in its body to the import of the module that it augments; `declare global` has
/// none.
pub const AUGMENTED_MODULE: &str = "(module)";

/// The name that a Go file binds if it is only built with a tag.
pub const TAGGED_FILE: &str = "(tagged)";

/// The name of the type of a Rust integer literal that may have several types.
pub const ANY_INTEGER: &str = "{integer}";

/// Prefix of the path of a Rust folder, relative to that of the crate, each file of which is declared as a module.
pub const FOLDER_OF_MODULES: &str = "(modules of) ";

/// The part of a container that the first variable of a loop over it gets: in C++ an element (a pair for maps), in Go
/// the key.
pub const LOOP_ELEMENT: u32 = u32::MAX;

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A function, or a method if its scope is that of a type.
    Function,
    /// A class, struct, enum or union.
    Class,
    /// An interface, a trait or a protocol.
    Interface,
    /// Another name of a type, which is the first base.
    Alias,
    /// A macro, with or without parameters; the first base is its replacement, if that is a single name.
    Macro,
    /// An inline module.
    Module,
}

/// Properties that affect how a definition is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DefinitionFlags(pub u16);

impl DefinitionFlags {
    /// Reading the attribute calls it.
    pub const PROPERTY: u16 = 1;
    /// It has no receiver.
    pub const STATIC: u16 = 2;
    /// The test framework runs it: a function marked as a test, or a pytest fixture.
    pub const TEST_ITEM: u16 = 4;
    /// Its return type is declared.
    pub const DECLARED: u16 = 8;
    /// It is only a declaration: a prototype, an overload signature, an interface method.
    pub const PROTOTYPE: u16 = 16;
    /// It is visible only in its file: `static` in C, `private` in Java, not exported by a JavaScript module.
    pub const PRIVATE: u16 = 32;
    /// It is decorated by something that may return another type.
    pub const DECORATED: u16 = 64;
    /// Its values have undeclared attributes, as with `__getattr__`.
    pub const DYNAMIC: u16 = 128;
    /// Another branch of an enclosing statement, such as a Python `if`, defines or imports the same name.
    pub const ALTERNATIVE: u16 = 256;

    /// Returns whether one of these flags is set.
    pub const fn has(self, flags: u16) -> bool {
        self.0 & flags != 0
    }
}

/// One imported name, module or file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportFact {
    /// The module as written: `a.b`, `..a`, `./a`, `a::b`, `dir/a.h`.
    pub module: NameId,
    /// The name that is imported from it; `None` imports the module itself, or all of its names for a star import.
    pub name: Option<NameId>,
    /// Whether it imports all names.
    pub is_star: bool,
    /// The scope that it is in, which decides what a relative path means in nested modules.
    pub scope: ScopeId,
    /// Its line.
    pub line: u32,
    /// For a conditional star import in Python, the last line of the outermost enclosing statement, such as an `if` or
    /// a `try`.
    pub branch_end: Option<u32>,
}

/// The binding of a name in a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindingFact {
    /// The scope that the name is bound in. Attributes of `self` are bound in the scope of the class.
    pub scope: ScopeId,
    /// The name.
    pub name: NameId,
    /// What it is bound to.
    pub value: BindingValue,
    /// The scope in which the expression of `value` is evaluated.
    pub at: ScopeId,
    /// The line of the binding.
    pub line: u32,
}

/// The value of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingValue {
    /// A definition.
    Definition(DefinitionId),
    /// The target of an import.
    Import(ImportId),
    /// The value of an expression.
    Value(ExpressionId),
    /// A parameter with this default; a type parameter with this bound.
    Default(ExpressionId),
    /// A value of this declared type.
    Typed(ExpressionId),
}

/// An expression, reduced to what determines the meaning of a name after it. Operands are indexes of earlier
/// expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExpressionFact {
    /// Anything else.
    Unknown,
    /// A name in scope.
    Name(NameId),
    /// An attribute of a value, a member of a module or of a type.
    Member(ExpressionId, NameId),
    /// A call.
    Call(ExpressionId),
    /// An element of a value: of a container that is indexed or iterated.
    Item(ExpressionId),
    /// The part at this position of a destructured value; in TypeScript also a function's parameter.
    Part(ExpressionId, u32),
    /// A value of the type that the operand names.
    Instance(ExpressionId),
    /// A generic type and one more argument of it. In Python, with [`Self::Literal`], a container and one more value in
    /// it. In Java also a called method and one more argument.
    Apply(ExpressionId, ExpressionId),
    /// One of two.
    Either(ExpressionId, ExpressionId),
    /// The content of a wrapper: after `await`, `with`, `?`; in Python only after `with`. In Java the parameters of a
    /// called method.
    Inner(ExpressionId),
    /// A value of a built-in type.
    Literal,
    /// The receiver of the enclosing method.
    Receiver,
    /// The enclosing type.
    ReceiverType,
    /// The superclass of the enclosing type.
    Super,
    /// A name in scope that can only be a type or a module, in languages with separate namespaces. In Java, in
    /// parentheses, a built-in type.
    TypeName(NameId),
    /// A field of a value, in languages where a method may have the same name.
    Field(ExpressionId, NameId),
    /// The result of Python's `await` on a value.
    Awaited(ExpressionId),
}

impl ExpressionFact {
    /// Returns the name that it mentions itself.
    pub const fn name(self) -> Option<NameId> {
        match self {
            Self::Name(name) | Self::TypeName(name) | Self::Member(_, name) | Self::Field(_, name) => {
                Some(name)
            }
            _ => None,
        }
    }

    /// Returns its operands, in their order.
    pub fn operands(self) -> impl Iterator<Item = ExpressionId> {
        let operands = match self {
            Self::Unknown
            | Self::Literal
            | Self::Receiver
            | Self::ReceiverType
            | Self::Super
            | Self::Name(_)
            | Self::TypeName(_) => [None, None],
            Self::Member(operand, _)
            | Self::Field(operand, _)
            | Self::Call(operand)
            | Self::Item(operand)
            | Self::Part(operand, _)
            | Self::Instance(operand)
            | Self::Inner(operand)
            | Self::Awaited(operand) => [Some(operand), None],
            Self::Apply(first, second) | Self::Either(first, second) => [Some(first), Some(second)],
        };
        operands.into_iter().flatten()
    }
}

/// A use of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UseFact {
    /// The name that is looked up. In Java, a method call includes the number of arguments, as in `run(2)`; see
    /// [`SourceFacts::plain_name`].
    pub name: NameId,
    /// Its line, counted from 1.
    pub line: u32,
    /// The innermost enclosing scope.
    pub scope: ScopeId,
    /// The expression before the name; `None` for a name that is looked up in the scopes.
    pub receiver: Option<ExpressionId>,
    /// In Java, what is called, applied to its arguments by [`ExpressionFact::Apply`].
    pub applied: Option<ExpressionId>,
    /// Whether it is called.
    pub is_call: bool,
    /// Whether the name can only be that of a type or a module, or of a macro if it is called.
    pub is_type: bool,
    /// Whether the line does not contain the name: `super(1)` calls a constructor of the base class.
    pub is_implied: bool,
}

impl UseFact {
    /// Returns the use of a name that is looked up in the scopes, and not called.
    pub const fn new(name: NameId, line: u32, scope: ScopeId) -> Self {
        Self {
            name,
            line,
            scope,
            receiver: None,
            applied: None,
            is_call: false,
            is_type: false,
            is_implied: false,
        }
    }
}

impl SourceFacts {
    /// Returns a name of the table, or an empty one if the index is invalid.
    pub fn name(&self, name: NameId) -> &str {
        self.names.get(name as usize).map_or("", String::as_str)
    }

    /// Returns a name of the table without the number of arguments of a Java call.
    pub fn plain_name(&self, name: NameId) -> &str {
        let name = self.name(name);
        name.split('(').next().unwrap_or(name)
    }

    /// Returns the index of a name in the table.
    pub fn find_name(&self, name: &str) -> Option<NameId> {
        let at = self.names.binary_search_by(|known| known.as_str().cmp(name)).ok()?;
        u32::try_from(at).ok()
    }

    /// Returns the bindings of a name in a scope.
    pub fn bindings_of(&self, scope: ScopeId, name: NameId) -> &[BindingFact] {
        let key = |binding: &BindingFact| (binding.scope, binding.name);
        let first = self.bindings.partition_point(|binding| key(binding) < (scope, name));
        let count = self.bindings[first..].partition_point(|binding| key(binding) == (scope, name));
        &self.bindings[first..first + count]
    }

    /// Returns the scope, or the file's if the index is invalid.
    pub fn scope(&self, scope: ScopeId) -> ScopeFact {
        let file = ScopeFact { parent: 0, kind: ScopeKind::Module, definition: None };
        self.scopes.get(scope as usize).copied().unwrap_or(file)
    }

    /// Returns an expression.
    pub fn expression(&self, expression: ExpressionId) -> ExpressionFact {
        self.expressions.get(expression as usize).copied().unwrap_or(ExpressionFact::Unknown)
    }

    /// Returns the innermost definition that encloses a scope.
    pub fn enclosing_definition(&self, mut scope: ScopeId) -> Option<DefinitionId> {
        loop {
            if scope == 0 {
                return None;
            }
            let fact = self.scope(scope);
            let definition = fact.definition.filter(|definition| !self.is_type_literal(*definition));
            if definition.is_some() {
                return definition;
            }
            scope = fact.parent.min(scope - 1);
        }
    }

    /// Returns the definition that uses what is used in a scope: the innermost one around it, or the component that
    /// the file is.
    pub fn using_definition(&self, scope: ScopeId) -> Option<DefinitionId> {
        self.enclosing_definition(scope).or_else(|| self.scope(0).definition)
    }

    /// Returns whether a definition is an anonymous TypeScript type.
    fn is_type_literal(&self, definition: DefinitionId) -> bool {
        let fact = self.definitions.get(definition as usize);
        fact.is_some_and(|fact| fact.kind == DefinitionKind::Interface && self.name(fact.name).is_empty())
    }

    /// Returns the qualified name of a definition, joined by dots.
    pub fn qualified_name(&self, definition: DefinitionId) -> String {
        let mut names = Vec::new();
        let mut next = Some(definition);
        while let Some(fact) = next.and_then(|at| self.definitions.get(at as usize)) {
            // Anonymous classes have none.
            names.extend(Some(self.name(fact.name)).filter(|name| !name.is_empty()));
            next = self.enclosing_definition(fact.scope);
            if 64 < names.len() {
                break;
            }
        }
        names.reverse();
        names.join(".")
    }
}
