//! Every error message states a condition, complete by itself, so that it reads the same on a terminal, in JSON, over
//! MCP and as the cause of another error: lowercase, no final period, no advice, and no leading verb of what was
//! attempted. Advice belongs in the hint of the error's code.

use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::source::{Sources, attributes, is_of_tests};

/// Functions that make an error of a message, and which of their arguments it is.
const CONSTRUCTORS: &[(&str, usize)] = &[
    ("ApiError::environment", 1),
    ("ApiError::user", 1),
    ("ApiErrorResponse::busy", 0),
    ("ApiErrorResponse::user", 2),
    ("CommandError::usage", 0),
    ("Self::environment", 1),
    ("Self::user", 1),
    ("bad", 0),
    ("bad_query", 0),
    ("forbidden", 0),
];

/// Verbs that open a message with what was attempted instead of with what is the case.
const ATTEMPTS: &[&str] = &[
    "add", "ask", "begin", "bind", "can't", "cannot", "choose", "clear", "close", "compose", "connect",
    "could", "couldn't", "create", "delete", "error", "failed", "find", "get", "give", "go", "keep",
    "listen", "load", "look", "make", "mark", "open", "parse", "print", "read", "remember", "render",
    "replace", "run", "save", "send", "serve", "show", "start", "take", "talk", "unable", "use", "view",
    "wait", "write",
];

/// Words that may be a verb or a noun: as a noun they are followed by a predicate.
const AMBIGUOUS: &[&str] =
    &["answer", "edit", "list", "lock", "query", "request", "stop", "text", "watch", "work"];

/// Words that follow a noun, not a verb.
const PREDICATES: &[&str] = &[
    "cannot", "comes", "did", "does", "failed", "has", "in", "is", "lacks", "body", "needs", "of", "on",
    "was", "would",
];

/// Verbs that open a piece of advice.
const ADVICE: &[&str] = &[
    "check", "choose", "delete", "ensure", "give", "install", "leave", "look", "please", "raise", "remove",
    "restart", "retry", "run", "see", "set", "try", "use", "write",
];

/// Names that keep their capitals at the beginning of a message.
const NAMES: &[&str] = &["HTTP", "JSON", "MCP", "SHA-256", "SQLite", "TLS", "TOML", "URL", "UTF-8"];

#[test]
fn every_error_states_its_condition() {
    let sources = Sources::load(Path::new("src"));
    let (mut count, mut wrong) = (0, Vec::new());
    for file in sources.files.iter().filter(|file| !file.is_test) {
        let mut collector = Collector::default();
        collector.visit_file(&file.syntax);
        for (line, message) in collector.messages {
            count += 1;
            if let Some(why) = defect(&message) {
                wrong.push(format!("{}:{line}: {why}: {message}", file.path.display()));
            }
        }
    }
    assert!(150 < count, "only {count} messages were found: the names of their constructors have changed");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Phrases that are no English in a description: a number has a noun ("the maximum number of files").
const PHRASES: &[&str] = &["so many", "for ever"];

#[test]
fn comments_name_what_a_number_counts() {
    let sources = Sources::load(Path::new("src"));
    let has_phrase = |line: &str| {
        let words: Vec<String> =
            line.split(|c: char| !c.is_alphanumeric()).map(str::to_ascii_lowercase).collect();
        let pairs = words.windows(2).map(|pair| pair.join(" "));
        pairs.into_iter().any(|pair| PHRASES.contains(&pair.as_str()))
    };
    let mut wrong = Vec::new();
    for file in &sources.files {
        let comments = file.text.lines().filter(|line| line.trim_start().starts_with("//"));
        wrong.extend(
            comments.filter(|line| has_phrase(line)).map(|line| format!("{}: {line}", file.path.display())),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rooms whose texts reach clients of the API.
const ROOMS_OF_ANSWERS: &[&str] = &["engine", "agent", "api", "config", "service"];

#[test]
fn what_clients_read_names_no_flags() {
    let sources = Sources::load(Path::new("src"));
    let mut wrong = Vec::new();
    for file in sources.files.iter().filter(|file| !file.is_test) {
        let room = file.path.components().nth(1).and_then(|room| room.as_os_str().to_str());
        if !room.is_some_and(|room| ROOMS_OF_ANSWERS.contains(&room)) {
            continue;
        }
        let mut literals = Literals::default();
        literals.visit_file(&file.syntax);
        let named = literals.texts.iter().filter(|(_, text)| names_flag(text));
        wrong.extend(named.map(|(line, text)| format!("{}:{line}: {text}", file.path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(names_flag("raise it with --budget") && names_flag("leave out `--budget`"));
    assert!(!names_flag("`slop status --all` lists the files") && !names_flag("--budget"));
}

/// Returns whether a text of several words names a flag outside of a command.
fn names_flag(text: &str) -> bool {
    // Of a command that is not quoted, the rest of the text.
    let text = text.split("slop view ").next().unwrap_or_default();
    let is_command = |quoted: &str| quoted.starts_with(char::is_alphabetic);
    let parts = text.split('`').enumerate();
    let outside = parts.filter(|(at, part)| at % 2 == 0 || !is_command(part)).map(|(_, part)| part);
    let mut words = outside.flat_map(|part| part.split([' ', '(', '\n']));
    text.contains(' ') && words.any(|word| word.starts_with("--") && 2 < word.len())
}

/// Collects string literals, also those of macros.
#[derive(Default)]
struct Literals {
    texts: Vec<(usize, String)>,
}

impl Literals {
    fn read_tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.read_tokens(group.stream()),
                TokenTree::Literal(literal) => {
                    if let Ok(literal) = syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into()) {
                        self.visit_lit_str(&literal);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Literals {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_of_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    // What only a developer reads.
    fn visit_attribute(&mut self, _attribute: &'ast syn::Attribute) {}

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.read_tokens(called.tokens.clone());
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        self.texts.push((literal.span().start().line, literal.value()));
    }
}

#[test]
fn the_rule_refuses_what_it_is_there_for() {
    let wrong = [
        "Document needs 23 tokens",
        "document needs 23 tokens.",
        "compose a document of 23 tokens: 20 over the budget of 3",
        "show {path}: file not found",
        "cannot open {path}",
        "answer at a path where nothing is",
        "no key is set: set one in your settings",
        "database is locked; try again",
        "",
    ];
    for message in wrong {
        assert!(defect(message).is_some(), "{message}");
    }
    let right = [
        "document needs {tokens} tokens, budget is {budget}",
        "not a SHA-256: expected 64 hex digits",
        "no such route: {path}",
        "answer is possibly not fresh: {reason}",
        "{path} cannot be written",
        "HTTP {status}",
    ];
    for message in right {
        assert_eq!(defect(message), None, "{message}");
    }
}

/// Returns what is wrong with a message. Nothing is known of what its placeholders are filled with.
fn defect(message: &str) -> Option<&'static str> {
    let first = message.split_whitespace().next().unwrap_or_default();
    let is_name = NAMES.iter().any(|name| first.starts_with(name));
    let next = message.split_whitespace().nth(1).unwrap_or_default();
    let clauses = message.split([':', ';', ',', '(']).map(str::trim_start);
    let mut openings = clauses.filter_map(|clause| clause.split([' ', '.']).next());
    if first.is_empty() {
        Some("says nothing")
    } else if first.starts_with(|c: char| c.is_uppercase()) && !is_name {
        Some("begins with a capital")
    } else if message.ends_with(['.', '!', '?', '\n', ' ', ':']) {
        Some("ends in punctuation")
    } else if ATTEMPTS.contains(&first.trim_end_matches(':'))
        || (AMBIGUOUS.contains(&first.trim_end_matches(':')) && !PREDICATES.contains(&next))
    {
        Some("begins with an attempt")
    } else if openings.any(|word| ADVICE.contains(&word)) {
        Some("gives advice")
    } else {
        None
    }
}

/// Collects the texts of `#[error("…")]`, of bindings and fields named `message`, and of arguments of constructors.
#[derive(Default)]
struct Collector {
    messages: Vec<(usize, String)>,
}

impl Collector {
    /// Adds the first string literal in tokens, which is the format string if there is one.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let literal = tokens.into_iter().find_map(|token| match token {
            TokenTree::Literal(literal) => {
                syn::parse2::<syn::LitStr>(TokenTree::Literal(literal).into()).ok()
            }
            TokenTree::Group(_) | TokenTree::Ident(_) | TokenTree::Punct(_) => None,
        });
        if let Some(literal) = literal {
            self.add(&literal);
        }
    }

    fn add(&mut self, literal: &syn::LitStr) {
        let message = literal.value();
        // A single placeholder passes on another message.
        let is_placeholder = message.starts_with('{') && message.ends_with('}') && !message.contains(' ');
        if !is_placeholder {
            self.messages.push((literal.span().start().line, message));
        }
    }

    /// Adds the texts that an expression may evaluate to.
    fn read(&mut self, expression: &syn::Expr) {
        match expression {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(literal), .. }) => self.add(literal),
            syn::Expr::Macro(made) if made.mac.path.is_ident("format") => {
                self.read_tokens(made.mac.tokens.clone());
            }
            syn::Expr::MethodCall(call) => self.read(&call.receiver),
            syn::Expr::Reference(reference) => self.read(&reference.expr),
            syn::Expr::Paren(inner) => self.read(&inner.expr),
            syn::Expr::Closure(closure) => self.read(&closure.body),
            syn::Expr::Tuple(tuple) => tuple.elems.iter().take(1).for_each(|first| self.read(first)),
            syn::Expr::If(choice) => {
                self.read_block(&choice.then_branch);
                if let Some((_, otherwise)) = &choice.else_branch {
                    self.read(otherwise);
                }
            }
            syn::Expr::Block(block) => self.read_block(&block.block),
            syn::Expr::Match(choice) => choice.arms.iter().for_each(|arm| self.read(&arm.body)),
            _ => {}
        }
    }

    fn read_block(&mut self, block: &syn::Block) {
        if let Some(syn::Stmt::Expr(last, None)) = block.stmts.last() {
            self.read(last);
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_of_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("error")
            && let syn::Meta::List(list) = &attribute.meta
        {
            self.read_tokens(list.tokens.clone());
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        // `let message = …` and `let (message, hint) = …`.
        let first = match &local.pat {
            syn::Pat::Tuple(tuple) => tuple.elems.first(),
            pattern => Some(pattern),
        };
        if let (Some(syn::Pat::Ident(name)), Some(init)) = (first, &local.init)
            && name.ident == "message"
        {
            self.read(&init.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if matches!(&field.member, syn::Member::Named(name) if name == "message") {
            self.read(&field.expr);
        }
        visit::visit_field_value(self, field);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(function) = &*call.func {
            let names: Vec<String> =
                function.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let name = names.join("::");
            let found = CONSTRUCTORS.iter().find(|(constructor, _)| name == *constructor);
            if let Some(message) = found.and_then(|(_, index)| call.args.iter().nth(*index)) {
                self.read(message);
            }
        }
        visit::visit_expr_call(self, call);
    }
}
