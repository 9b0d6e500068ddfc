//! The lines of a source text that carry information: no comments, and in languages without a grammar no boilerplate at
//! the beginning of a file.

use super::page::LanguageStyle;
use crate::model::is_component_type;

/// Returns the lines of a text that are not blank and do not begin with a comment. In languages without a grammar, and
/// in PHP, imports and other file headers are left out too.
pub fn code_lines<'t>(text: &'t str, language: &str) -> impl Iterator<Item = &'t str> {
    let mut reader = CodeLineReader::new(language);
    text.lines().filter(move |line| reader.is_code(line))
}

/// Returns the number of lines before the first line of code; `None` if there is no code.
pub fn lines_before_code(text: &str, language: &str) -> Option<usize> {
    let mut reader = CodeLineReader::new(language);
    text.lines().position(|line| reader.is_code(line))
}

/// The start and end marks of a block comment.
type CommentMarks = (&'static str, &'static str);

struct CodeLineReader {
    line_marks: Vec<&'static str>,
    block_marks: Vec<CommentMarks>,
    prelude: &'static [&'static str],
    /// Whether indented lines belong to the import above them.
    has_indented_imports: bool,
    /// The end mark of the comment that the last line is in.
    comment_end: Option<&'static str>,
    is_in_prelude: bool,
    /// The number of open brackets in a prelude.
    open_brackets: usize,
}

impl CodeLineReader {
    fn new(language: &str) -> Self {
        let style = LanguageStyle::for_language(language);
        let mut line_marks = further_line_marks(language).to_vec();
        line_marks.extend(style.line_comment);
        let mut block_marks = further_block_marks(language).to_vec();
        block_marks.extend(style.block_comment);
        Self {
            line_marks,
            block_marks,
            prelude: prelude(language),
            has_indented_imports: ["haskell", "purescript", "elm"].contains(&language),
            comment_end: None,
            is_in_prelude: false,
            open_brackets: 0,
        }
    }

    fn is_code(&mut self, line: &str) -> bool {
        let own = line.trim();
        if let Some(end) = self.comment_end {
            self.comment_end = Some(end).filter(|end| !own.contains(end));
            return false;
        }
        // Checked before line comments, whose marks may be a prefix of these.
        let block = self.block_marks.iter().find_map(|(begin, end)| Some((own.strip_prefix(begin)?, *end)));
        if let Some((inside, end)) = block {
            self.comment_end = Some(end).filter(|end| !inside.contains(end));
            return false;
        }
        if own.is_empty() || self.line_marks.iter().any(|mark| own.starts_with(mark)) {
            return false;
        }
        self.is_in_prelude = self.prelude.iter().any(|start| own.starts_with(start))
            || self.is_in_prelude
                && (0 < self.open_brackets || self.has_indented_imports && line.starts_with([' ', '\t']));
        if self.is_in_prelude {
            let count = |brackets: [char; 3]| own.matches(brackets).count();
            let opened = self.open_brackets + count(['(', '{', '[']);
            self.open_brackets = opened.saturating_sub(count([')', '}', ']']));
        } else {
            self.open_brackets = 0;
        }
        !self.is_in_prelude
    }
}

/// Returns additional line comment marks.
fn further_line_marks(language: &str) -> &'static [&'static str] {
    match language {
        "lisp" | "scheme" | "racket" | "clojure" | "emacs-lisp" => &[";"],
        "terraform" | "dafny" => &["//"],
        _ if is_component_type(language) => &["//"],
        "batch" => &["::", "rem ", "@rem ", "@echo off"],
        "abap" | "sas" | "stata" => &["*"],
        "fortran" => &["c ", "C "],
        _ => &[],
    }
}

/// Returns additional marks of block comments or documentation.
fn further_block_marks(language: &str) -> &'static [CommentMarks] {
    match language {
        "julia" | "cython" | "mojo" | "snakemake" | "starlark" | "vyper" => {
            &[("\"\"\"", "\"\"\""), ("@doc raw\"\"\"", "\"\"\"")]
        }
        "elixir" => {
            &[("@moduledoc \"\"\"", "\"\"\""), ("@doc \"\"\"", "\"\"\""), ("@moduledoc ~S\"\"\"", "\"\"\"")]
        }
        "perl" | "raku" => &[("=pod", "=cut"), ("=head", "=cut"), ("=encoding", "=cut"), ("=begin", "=end")],
        "coffeescript" => &[("###", "###")],
        "d" => &[("/+", "+/")],
        _ if is_component_type(language) => &[("/*", "*/")],
        _ => &[],
    }
}

/// Returns the beginnings of lines that carry no information about a file: imports and package declarations.
fn prelude(language: &str) -> &'static [&'static str] {
    match language {
        "php" => &["<?php", "declare(", "namespace ", "use "],
        "haskell" | "purescript" | "elm" => &["module ", "port module ", "import ", "#if", "#endif"],
        "ocaml" | "fsharp" => &["open ", "open! ", "#load ", "#r "],
        "standard-ml" | "lean" | "agda" | "idris" => &["open ", "import ", "open import "],
        "coq" => &["Require ", "From ", "Import ", "Open Scope"],
        "r" => &["library(", "require(", "suppressPackageStartupMessages(", "source("],
        "julia" => &["using ", "import ", "include("],
        "elixir" | "gleam" => &["use ", "import ", "alias ", "require "],
        "erlang" => &["-module(", "-include", "-export(", "-compile(", "-behaviour(", "-behavior("],
        "perl" | "raku" => &["package ", "use ", "no ", "require ", "unit module "],
        "powershell" => &["using ", "Import-Module"],
        "dart" => &["import ", "export ", "part ", "library "],
        "groovy" | "nextflow" | "haxe" | "vala" | "d" | "processing" | "actionscript" => {
            &["package ", "module ", "import ", "using "]
        }
        "crystal" => &["require "],
        "nim" | "cython" | "mojo" | "snakemake" | "vyper" => &["import ", "from ", "cimport ", "include "],
        "objective-c" | "objective-cpp" => &["#import", "#include", "@import ", "@class "],
        "cuda" | "opencl" | "metal" | "hlsl" | "glsl" => &["#include", "#version", "#pragma once", "using "],
        "lisp" | "emacs-lisp" => &["(in-package", "(require", "(eval-when"],
        "scheme" | "racket" => &["#lang", "(require", "(import", "(use-modules"],
        "clojure" => &["(:require", "(:import", "(:use", "(:gen-class", "(:refer-clojure"],
        "fortran" => &["use ", "implicit none"],
        "visual-basic" => &["Imports ", "Option "],
        "ada" => &["with ", "use ", "pragma "],
        "solidity" | "move" | "cairo" => &["pragma ", "import ", "use "],
        "scss" | "sass" | "less" | "stylus" => &["@import", "@use ", "@forward "],
        "qml" | "coffeescript" => &["import ", "pragma "],
        "prolog" => &[":- module", ":- use_module"],
        "tcl" => &["package "],
        _ if is_component_type(language) => &["<script", "---", "import "],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(language: &str, text: &str, expected: &[&str]) {
        assert_eq!(code_lines(text, language).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn lines_of_code_are_not_those_that_begin_every_file() {
        check(
            "php",
            "<?php\n\ndeclare(strict_types=1);\n\nnamespace A;\n/* x\n */\nuse B\\C;\n\nreturn [\n// y\n];\n",
            &["return [", "];"],
        );
        check("rust", "// y\nuse b::c;\n", &["use b::c;"]);
        check(
            "haskell",
            "{-# LANGUAGE X #-}\n{-\n  License\n-}\nmodule A\n  ( a\n  , b ) where\n\nimport Data.Map\n  (Map)\nimport B\n\n-- x\na :: Int\na =\n  1\n",
            &["a :: Int", "a =", "  1"],
        );
        check("ocaml", "(* License\n   of it *)\nopen Core\nlet x = 1\n", &["let x = 1"]);
        check("julia", "#= License\n=#\nusing A\n\"\"\"\nDocs.\n\"\"\"\nf(x) = x\n", &["f(x) = x"]);
        check("powershell", "<#\n.SYNOPSIS\n#>\nfunction A {}\n", &["function A {}"]);
        check("emacs-lisp", "; x\n(require 'a)\n(defun b ())\n", &["(defun b ())"]);
        check("vue", "<script setup>\nimport {\n  a\n} from 'a'\nconst b = a\n", &["const b = a"]);
        check("dart", "library a;\nimport 'b.dart';\nclass A {}\n", &["class A {}"]);
        check("r", "#' Adds.\nlibrary(a)\nadd <- function() 1\n", &["add <- function() 1"]);
    }

    #[test]
    fn a_text_of_comments_has_no_line_of_code() {
        assert_eq!(lines_before_code("-- a\n-- b\n", "haskell"), None);
        assert_eq!(lines_before_code("-- a\n\nimport B\nb = 1\n", "haskell"), Some(3));
    }
}
