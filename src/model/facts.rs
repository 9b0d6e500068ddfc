//! What one file says about its names: definitions, scopes, imports, bindings and uses, as flat tables.
//!
//! Everything is an index into another table of the same file, so that a file's facts are a function of its bytes and
//! its language alone. Which definition of which file a use refers to is decided by the room `references`.

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
    /// Every name that another table mentions, ascending and each once.
    pub names: Vec<String>,
    /// The scopes; the first is the file's, and each comes after the scope that contains it.
    pub scopes: Vec<ScopeFact>,
    /// The definitions, in the order of their names in the text.
    pub definitions: Vec<DefinitionFact>,
    /// The imports, in their order.
    pub imports: Vec<ImportFact>,
    /// What names are bound to, ascending by scope and name; several bindings of one name in their order in the text.
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
    /// The definition whose body it is.
    pub definition: Option<DefinitionId>,
}

/// What opens a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeKind {
    /// The file, or a module in it.
    Module,
    /// The body of a type.
    Class,
    /// The parameters and the body of a function.
    Function,
    /// A block with names of its own; in Python also what the parameters of a function are declared by, whose definition
    /// it has.
    Block,
    /// The members that a Rust `impl` or a receiver of Go adds to a type, which `(type)` is bound to in it; `(trait)` is
    /// bound to the trait.
    Implementation,
}

/// A function, a method, a type or a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionFact {
    /// Its name without those of its containers.
    pub name: NameId,
    /// What it is.
    pub kind: DefinitionKind,
    /// The scope that it is defined in.
    pub scope: ScopeId,
    /// The scope of its body, where it has one.
    pub body: Option<ScopeId>,
    /// Its first line with decorators and attributes, counted from 1.
    pub first_line: u32,
    /// The line of its name.
    pub name_line: u32,
    /// Its last line.
    pub last_line: u32,
    /// What changes how it is used.
    pub flags: DefinitionFlags,
    /// The types that it extends or implements, the target of an alias, the type that an implementation belongs to. Of a
    /// function of Python what decorates it, the outermost decorator of those that may return something else.
    pub bases: Vec<ExpressionId>,
    /// The return type, or every expression that is returned where none is declared. Evaluated in the scope `body`, a
    /// declared type of Python in `scope`.
    pub returns: Vec<ExpressionId>,
}

/// What the fixtures of a file of Python are bound to in its scope: this and the name by which tests ask for them.
pub const FIXTURE_PREFIX: &str = "(fixture) ";
/// What the fixtures are bound to that every test has.
pub const AUTOUSE_FIXTURE: &str = "(autouse)";
/// What is bound in the scope of a file or a class whose tests ask for a fixture by a mark: this and the fixture's name.
pub const FIXTURE_MARK_PREFIX: &str = "(usefixtures) ";
/// What is bound in the body of a test, in its class or in its file where a mark gives a parameter its values, which then
/// come from no fixture: this and the parameter's name.
pub const PARAMETRIZED_PREFIX: &str = "(parametrize) ";
/// What the modules are bound to whose fixtures a file lists as those of plugins.
pub const FIXTURE_PLUGINS: &str = "(plugins)";

/// What the bound of a type variable of Python is bound to in the scope of its file: this and the variable's name.
pub const TYPE_VARIABLE_PREFIX: &str = "(type variable) ";

/// What is bound in the scope of a file of Python where an assignment of several lines ends.
pub const END_OF_ASSIGNMENT: &str = "(end)";

/// What the value is bound to in the scope of the exports of a file of JavaScript that is all that the file exports; that
/// scope is one of a type and has no definition.
pub const MODULE_EXPORTS: &str = "module.exports";

/// What the type of a function is in TypeScript: its arguments are what it returns and its parameters.
pub const FUNCTION_TYPE: &str = "=>";
/// What the type of the parameter is that stands for the rest of the arguments.
pub const REST_TYPE: &str = "...";
/// What the type of a value is in TypeScript: its argument is the value.
pub const TYPE_OF_VALUE: &str = "typeof";
/// What the types of the parameters are bound to in the body of a function of TypeScript or of a method of Java.
pub const PARAMETER_TYPES: &str = "(parameters)";
/// What the type is bound to that a type of TypeScript has as a function.
pub const CALL_SIGNATURE: &str = "(call)";
/// What the interfaces are bound to in the body of a class of TypeScript that implements them.
pub const IMPLEMENTED_INTERFACE: &str = "(implements)";
/// What a file of TypeScript binds that has no imports and exports.
pub const GLOBAL_FILE: &str = "(global)";
/// What `declare module` binds in its body: the import of what it adds to. What it declares without a name is global.
pub const AUGMENTED_MODULE: &str = "(module)";

/// What a file of Go binds that is only built if a tag is given.
pub const TAGGED_FILE: &str = "(tagged)";

/// What the type of an integer of Rust is called that may be one of several.
pub const ANY_INTEGER: &str = "{integer}";

/// What stands in Rust before the path of a folder, from that of the crate, each file of which is declared as a module.
pub const FOLDER_OF_MODULES: &str = "(modules of) ";

/// The part of a container that the first variable of a loop over it gets: in C++ an element, which of a map is a pair, in Go
/// the key.
pub const LOOP_ELEMENT: u32 = u32::MAX;

/// What a definition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKind {
    /// A function, or a method where its scope is that of a type.
    Function,
    /// A class, struct, enum or union.
    Class,
    /// An interface, a trait or a protocol.
    Interface,
    /// Another name of a type: the first base is what it means.
    Alias,
    /// A macro, with or without parameters: the first base is what it is replaced by, if that is one name.
    Macro,
    /// A module that is written within the file.
    Module,
}

/// What changes how a definition is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DefinitionFlags(pub u16);

impl DefinitionFlags {
    /// Reading the attribute calls it.
    pub const PROPERTY: u16 = 1;
    /// It has no receiver.
    pub const STATIC: u16 = 2;
    /// The framework of the tests runs it: a function that is marked as a test, or a fixture of pytest.
    pub const TEST_ITEM: u16 = 4;
    /// Its return type is declared.
    pub const DECLARED: u16 = 8;
    /// It declares and does not define: a prototype, a signature of an overload, a method of an interface.
    pub const PROTOTYPE: u16 = 16;
    /// It is visible in its file only: `static` in C, `private` in Java.
    pub const PRIVATE: u16 = 32;
    /// It is decorated by something that may return another type.
    pub const DECORATED: u16 = 64;
    /// Its values have attributes that no class declares, as with `__getattr__`.
    pub const DYNAMIC: u16 = 128;
    /// Another branch of a statement around it defines or imports the same name, as the other branch of an `if` of Python.
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
    /// The name that is imported from it; `None` imports the module itself, or all its names where it is a star.
    pub name: Option<NameId>,
    /// Whether it imports all names.
    pub is_star: bool,
    /// The scope that it is in, which decides what a relative path means where files contain modules.
    pub scope: ScopeId,
    /// Its line.
    pub line: u32,
    /// Of a star import of Python that may not run: the last line of the outermost statement around it, as of an `if` or
    /// a `try`.
    pub branch_end: Option<u32>,
}

/// What a name is bound to in a scope.
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

/// What a name is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingValue {
    /// A definition.
    Definition(DefinitionId),
    /// What an import names.
    Import(ImportId),
    /// The value of an expression.
    Value(ExpressionId),
    /// A parameter with this default; a type parameter with this bound.
    Default(ExpressionId),
    /// A value of this declared type.
    Typed(ExpressionId),
}

/// An expression in the form that decides what a name behind it means. Operands are indexes of earlier expressions.
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
    /// The part at this position of a value that is taken apart; in TypeScript also the parameter of a function.
    Part(ExpressionId, u32),
    /// A value of the type that the operand names.
    Instance(ExpressionId),
    /// A generic type and one more argument of it. In Python, a container and one more value in it, where the type is
    /// [`Self::Literal`]. In Java also a method that is called and one more argument.
    Apply(ExpressionId, ExpressionId),
    /// One of two.
    Either(ExpressionId, ExpressionId),
    /// What a wrapper contains: after `await`, `with`, `?`; in Python only after `with`. In Java the parameters of a method that is called.
    Inner(ExpressionId),
    /// A value of a type of the language itself.
    Literal,
    /// The receiver of the method around it.
    Receiver,
    /// The type around it.
    ReceiverType,
    /// What the type around it inherits.
    Super,
    /// A name in scope that can only be that of a type or a module, where those have names of their own. In Java a type of
    /// the language itself, in parentheses.
    TypeName(NameId),
    /// A field of a value, where a method may have the same name.
    Field(ExpressionId, NameId),
    /// What `await` of Python makes of a value.
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
    /// The name as it is looked up. In Java the call of a method has the number of its arguments, as in `run(2)`; see
    /// [`SourceFacts::plain_name`].
    pub name: NameId,
    /// Its line, counted from 1.
    pub line: u32,
    /// The innermost scope around it.
    pub scope: ScopeId,
    /// What is before the name; `None` for a name that is looked up in the scopes.
    pub receiver: Option<ExpressionId>,
    /// In Java, what is called, applied to its arguments by [`ExpressionFact::Apply`].
    pub applied: Option<ExpressionId>,
    /// Whether it is called.
    pub is_call: bool,
    /// Whether the name can only be that of a type or a module; that of a macro, if it is called.
    pub is_type: bool,
}

impl SourceFacts {
    /// Returns a name of the table, or an empty one where there is none.
    pub fn name(&self, name: NameId) -> &str {
        self.names.get(name as usize).map_or("", String::as_str)
    }

    /// Returns a name of the table without the number of arguments that calls of Java have.
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

    /// Returns the scope, or the file's where there is none of this index.
    pub fn scope(&self, scope: ScopeId) -> ScopeFact {
        let file = ScopeFact { parent: 0, kind: ScopeKind::Module, definition: None };
        self.scopes.get(scope as usize).copied().unwrap_or(file)
    }

    /// Returns an expression.
    pub fn expression(&self, expression: ExpressionId) -> ExpressionFact {
        self.expressions.get(expression as usize).copied().unwrap_or(ExpressionFact::Unknown)
    }

    /// Returns the innermost definition around a scope.
    pub fn enclosing_definition(&self, mut scope: ScopeId) -> Option<DefinitionId> {
        loop {
            let fact = self.scope(scope);
            let definition = fact.definition.filter(|definition| !self.is_type_literal(*definition));
            if definition.is_some() || scope == 0 {
                return definition;
            }
            scope = fact.parent.min(scope - 1);
        }
    }

    /// Returns whether a definition is a type of TypeScript without a name.
    fn is_type_literal(&self, definition: DefinitionId) -> bool {
        let fact = self.definitions.get(definition as usize);
        fact.is_some_and(|fact| fact.kind == DefinitionKind::Interface && self.name(fact.name).is_empty())
    }

    /// Returns the name of a definition after those of its containers, joined by dots.
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
