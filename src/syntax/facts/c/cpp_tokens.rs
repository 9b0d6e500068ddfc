//! C++: tokens with their matching brackets; if the branches of a conditional differ in brackets, only one branch is
//! kept.

use super::tokens::{SourceToken, SourceTokenKind as Kind, tokens};

/// Conditionals nested deeper than this are read as if all their branches were compiled.
const MAX_CONDITIONALS: usize = 64;

/// The maximum number of unclosed brackets that are considered, from the innermost.
const MAX_UNCLOSED: usize = 64;

/// The tokens of a text, without conditionals.
pub(super) struct CppTokens {
    pub(super) tokens: Vec<SourceToken>,
    /// For each opening bracket the index of its closing one; 0 elsewhere, and for a bracket that is never closed.
    pub(super) pairs: Vec<u32>,
}

/// One open `#if`.
struct OpenConditional {
    /// The number of tokens that were kept when the current branch began.
    branch_start: usize,
    /// Whether an earlier branch has opened or closed brackets, so that no other branch may.
    is_decided: bool,
    /// Whether the current branch is not compiled.
    is_dropped: bool,
}

/// Returns the tokens of a text.
pub(super) fn cpp_tokens(text: &str) -> CppTokens {
    let tokens = balanced(text, &tokens(text));
    let pairs = pairs(&tokens);
    CppTokens { tokens, pairs }
}

/// Keeps all balanced branches of a conditional, and the first of the others.
fn balanced(text: &str, all: &[SourceToken]) -> Vec<SourceToken> {
    let mut kept: Vec<SourceToken> = Vec::with_capacity(all.len());
    let mut open: Vec<OpenConditional> = Vec::new();
    for token in all {
        match token.kind {
            Kind::If if open.len() < MAX_CONDITIONALS => {
                let condition = text.get(token.start as usize..).unwrap_or_default();
                let is_dropped = condition.starts_with("0\n") || condition.starts_with("0 ");
                open.push(OpenConditional { branch_start: kept.len(), is_decided: false, is_dropped });
            }
            Kind::Else | Kind::EndIf => {
                let Some(last) = open.last_mut() else { continue };
                let is_unbalanced = !is_balanced(&kept[last.branch_start..]);
                if last.is_dropped || is_unbalanced && last.is_decided {
                    kept.truncate(last.branch_start);
                } else {
                    last.is_decided |= is_unbalanced;
                }
                last.is_dropped = false;
                last.branch_start = kept.len();
                if token.kind == Kind::EndIf {
                    open.pop();
                }
            }
            Kind::If => {}
            _ => kept.push(*token),
        }
    }
    kept
}

fn is_balanced(branch: &[SourceToken]) -> bool {
    let mut depth = 0_i64;
    for token in branch {
        match token.kind {
            Kind::Sign(b'{' | b'(') => depth += 1,
            Kind::Sign(b'}' | b')') => depth -= 1,
            _ => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// Returns the closing bracket of each opening one. A closing bracket also closes the brackets that are still open
/// within its own.
fn pairs(tokens: &[SourceToken]) -> Vec<u32> {
    let mut pairs = vec![0; tokens.len()];
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.kind {
            Kind::Sign(sign @ (b'(' | b'[' | b'{')) => open.push((sign, at)),
            Kind::Sign(close @ (b')' | b']' | b'}')) => {
                let sign = if close == b')' { b'(' } else { close - 2 };
                let first = open.len().saturating_sub(MAX_UNCLOSED);
                for found in (first..open.len()).rev() {
                    let (known, at_open) = open[found];
                    if known == sign {
                        pairs[at_open] = crate::syntax::facts::builder::index(at);
                        open.truncate(found);
                        break;
                    }
                    // Parentheses never reach beyond the braces around them.
                    if known == b'{' {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    pairs
}
