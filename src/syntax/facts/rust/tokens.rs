//! Rust: the uses and bindings in the tokens between the brackets of a macro.
//!
//! The grammar only gives tokens there, because it cannot know what a macro accepts. Whatever looks like a path, a
//! call, a `let` or a closure parameter is read as one; nothing else is read.

use tree_sitter::Node;

use super::types::{
    awaited_value, constructs_inner, is_constant_name, literal, literal_type, macro_name, macro_value,
};
use crate::model::{BindingValue, ExpressionFact, ExpressionId, ScopeKind};
use crate::syntax::facts::builder::FactsBuilder;
use crate::syntax::outline::{children, named_children};

/// Reads the call of a macro.
pub(super) fn macro_use<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if let Some(name) = macro_name(node) {
        facts.use_macro(name);
    }
    for tree in named_children(node).into_iter().filter(|child| child.kind() == "token_tree") {
        facts.deeper(tree, |facts, tree| token_tree(facts, tree));
    }
}

/// The meaning of the tokens before the current one.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags are independent")]
struct TokenReader<'t> {
    /// The value, path or type so far.
    value: Option<ExpressionId>,
    /// The token that joins the next name to it.
    joint: Option<TokenJoint>,
    /// The name that a `let` or a closure binds, until its value has been read.
    target: Option<Node<'t>>,
    /// The type that was declared for it.
    declared: Option<ExpressionId>,
    /// Whether the next name is such a name.
    expects_target: bool,
    /// Whether its type is being read.
    in_type: bool,
    /// Whether the arguments of a type are being read, which are not part of the value.
    in_arguments: bool,
    in_parameters: bool,
    /// Whether the next name is that of an item.
    skips_name: bool,
    /// Whether names are ignored up to the next semicolon.
    in_import: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenJoint {
    Dot,
    Path,
}

/// Reads the tokens within one pair of brackets.
fn token_tree<'t>(facts: &mut FactsBuilder<'t>, tree: Node<'t>) {
    let outer = facts.open_scope(ScopeKind::Block, None);
    let mut reader = TokenReader::default();
    reader.read(facts, &children(tree));
    facts.scope = outer;
}

/// Returns the number of tokens in the `::<…>` of a call or a type that begins here; 0 if none does.
fn arguments_length(tokens: &[Node<'_>]) -> usize {
    let is = |at: usize, sign: &str| tokens.get(at).is_some_and(|token| token.kind() == sign);
    if !is(0, "::") || !is(1, "<") {
        return 0;
    }
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        depth = match token.kind() {
            "<" => depth + 1,
            ">" => depth.saturating_sub(1),
            ">>" => depth.saturating_sub(2),
            ";" => return 0,
            _ => depth,
        };
        if depth == 0 {
            return at + 1;
        }
    }
    0
}

/// Returns whether the tokens after a name make it a macro call.
fn is_macro_call(next: &[Node<'_>]) -> bool {
    matches!(next, [sign, brackets, ..] if sign.kind() == "!" && brackets.kind() == "token_tree")
}

impl<'t> TokenReader<'t> {
    fn read(&mut self, facts: &mut FactsBuilder<'t>, tokens: &[Node<'t>]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at).copied() {
            let arguments = arguments_length(&tokens[at..]);
            if 0 < arguments && !self.in_import {
                let mut inner = TokenReader { in_type: true, ..TokenReader::default() };
                inner.read(facts, &tokens[at + 2..at + arguments - 1]);
                at += arguments;
                continue;
            }
            at += 1;
            match token.kind() {
                "identifier" if !self.in_import && is_macro_call(&tokens[at..]) => {
                    facts.use_macro(token);
                    facts.deeper(tokens[at + 1], token_tree);
                    (self.joint, self.value) = (None, Some(macro_value(facts, token)));
                    at += 2;
                }
                "identifier" if !self.in_import => {
                    let next = tokens.get(at + arguments_length(&tokens[at..]));
                    self.name(facts, token, next.copied());
                }
                "self" => self.value = Some(facts.expression(ExpressionFact::Receiver)),
                "crate" | "super" => {
                    let name = facts.name_of(token);
                    // `super::super`
                    let before = self.value.filter(|_| self.joint.take() == Some(TokenJoint::Path));
                    let module = before.map_or(ExpressionFact::TypeName(name), |before| {
                        ExpressionFact::Member(before, name)
                    });
                    self.value = Some(facts.expression(module));
                }
                "token_tree" => {
                    facts.deeper(token, token_tree);
                    self.brackets(facts, token);
                }
                "await" if self.joint == Some(TokenJoint::Dot) => {
                    self.joint = None;
                    self.value = self.value.map(|value| awaited_value(facts, value));
                }
                kind if kind.ends_with("_literal") => {
                    let name = literal_type(kind, facts.text_of(token));
                    self.value = name.map(|name| literal(facts, name));
                }
                sign => self.sign(facts, sign),
            }
        }
        self.end(facts);
    }

    fn name(&mut self, facts: &mut FactsBuilder<'t>, token: Node<'t>, next: Option<Node<'t>>) {
        let next_kind = next.map_or("", |next| next.kind());
        if std::mem::take(&mut self.skips_name) {
            return;
        }
        if next_kind == "!" {
            return facts.use_macro(token);
        }
        let is_call =
            next.is_some_and(|next| next_kind == "token_tree" && facts.text_of(next).starts_with('('));
        let text = facts.text_of(token);
        if self.joint.is_none() && std::mem::take(&mut self.expects_target) && !is_constant_name(text) {
            self.target = Some(token);
            return;
        }
        let value = match self.joint.take() {
            Some(joint) => self.member(facts, token, joint, is_call),
            None => first_name(facts, token, self.in_type || next_kind == "::", is_call),
        };
        if !self.in_arguments {
            self.value = Some(value);
        }
    }

    /// Reads a name after a dot or a path.
    fn member(
        &self,
        facts: &mut FactsBuilder<'t>,
        token: Node<'t>,
        joint: TokenJoint,
        is_call: bool,
    ) -> ExpressionId {
        let object = self.value.unwrap_or(0);
        let name = facts.name_of(token);
        if joint == TokenJoint::Dot && !is_call {
            return facts.expression(ExpressionFact::Field(object, name));
        }
        facts.use_name(token, Some(object), is_call);
        facts.expression(ExpressionFact::Member(object, name))
    }

    /// Reads a bracketed group after the value so far.
    fn brackets(&mut self, facts: &mut FactsBuilder<'t>, tree: Node<'t>) {
        let Some(value) = self.value else { return };
        let bracket = facts.text_of(tree).as_bytes().first().copied();
        let is_type = matches!(facts.facts.expression(value), ExpressionFact::Name(name)
            if is_constant_name(&facts.facts.names[name as usize]));
        self.value = match (bracket, facts.facts.expression(value)) {
            (Some(b'('), ExpressionFact::Name(name))
                if constructs_inner(&facts.facts.names[name as usize]) =>
            {
                None
            }
            (Some(b'('), _) => Some(facts.expression(ExpressionFact::Call(value))),
            (Some(b'['), _) => Some(facts.expression(ExpressionFact::Item(value))),
            (_, ExpressionFact::Name(name)) if is_type => {
                let declared = facts.expression(ExpressionFact::TypeName(name));
                Some(facts.expression(ExpressionFact::Instance(declared)))
            }
            _ => None,
        };
    }

    fn sign(&mut self, facts: &mut FactsBuilder<'t>, sign: &str) {
        self.joint = None;
        match sign {
            "." => self.joint = Some(TokenJoint::Dot),
            "::" => self.joint = Some(TokenJoint::Path),
            "?" => self.value = self.value.map(|value| facts.expression(ExpressionFact::Inner(value))),
            "&" | "mut" | "mutable_specifier" | "line_comment" | "block_comment" => {}
            "let" => {
                self.end(facts);
                self.expects_target = true;
            }
            "|" if self.in_parameters => {
                self.end(facts);
                self.in_parameters = false;
            }
            "|" if self.value.is_none() => {
                self.in_parameters = true;
                self.expects_target = true;
            }
            "," if self.in_parameters => {
                self.end(facts);
                self.expects_target = true;
            }
            ":" if self.target.is_some() => {
                self.in_type = true;
                self.value = None;
            }
            "=" if self.in_type => {
                self.declared = self.value.take();
                self.in_type = false;
                self.in_arguments = false;
            }
            "<" if self.in_type => self.in_arguments = true,
            ">" if self.in_arguments => {}
            ";" => {
                self.end(facts);
                self.in_import = false;
            }
            "fn" | "struct" | "enum" | "trait" | "mod" | "type" | "const" | "static" | "union" => {
                self.skips_name = true;
            }
            "use" => self.in_import = true,
            _ => self.value = None,
        }
    }

    /// Binds the pending name to its value.
    fn end(&mut self, facts: &mut FactsBuilder<'t>) {
        let value = self.value.take();
        if let Some(target) = self.target.take() {
            let bound = match (self.declared.take(), value) {
                (Some(declared), _) => BindingValue::Typed(declared),
                (None, Some(declared)) if self.in_type => BindingValue::Typed(declared),
                (None, value) => BindingValue::Value(value.unwrap_or(0)),
            };
            let name = facts.name_of(target);
            let evaluated_in = facts.scope;
            let mut scope = evaluated_in;
            if facts.is_seen_here(name) && facts.can_hide() {
                facts.open_scope(ScopeKind::Block, None);
                scope = std::mem::replace(&mut facts.scope, evaluated_in);
            }
            facts.bind_local(scope, target, bound);
            facts.scope = scope;
        }
        (self.in_type, self.in_arguments, self.expects_target) = (false, false, false);
        self.joint = None;
    }
}

/// Reads a name without anything before it.
fn first_name<'t>(
    facts: &mut FactsBuilder<'t>,
    token: Node<'t>,
    is_type: bool,
    is_call: bool,
) -> ExpressionId {
    if facts.text_of(token) == "Self" {
        return facts.expression(ExpressionFact::ReceiverType);
    }
    let name = facts.name_of(token);
    if is_type {
        facts.use_type(token, None);
        return facts.expression(ExpressionFact::TypeName(name));
    }
    facts.use_name(token, None, is_call);
    facts.expression(ExpressionFact::Name(name))
}
