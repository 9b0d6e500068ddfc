//! What skeletons show of comments and docstrings.

use crate::model::{DocsDetail, ParseHealth, Skeleton, SkeletonDoc};
use crate::syntax::derive::checked_skeleton;
use crate::syntax::outline::skeleton_text;

#[track_caller]
fn check(language: &str, source: &str, brief: &str, none: &str) {
    let skeleton = checked_skeleton(language, source, &mut || false).unwrap();
    assert_eq!(skeleton_text(&skeleton, DocsDetail::Full), skeleton.text);
    assert_eq!(skeleton_text(&skeleton, DocsDetail::Brief), brief);
    assert_eq!(skeleton_text(&skeleton, DocsDetail::None), none);
}

#[test]
fn a_comment_is_cut_to_its_first_paragraph_and_still_closes() {
    check(
        "c",
        "/**\n * Reads\n * frames.\n *\n * From the wire, slowly.\n */\nint read(int n);\n\n// One.\n//\n// Two, three.\nint one; /* Four. */\n",
        "/**\n * Reads\n * frames. [...] */\nint read(int n);\n\n// One. [...]\nint one; /* Four. */\n",
        "int read(int n);\n\nint one;\n",
    );
}

#[test]
fn brief_docs_leave_out_a_license() {
    check(
        "c",
        "/* Copyright (C) 2020 Somebody.\n   All rights reserved. */\n#include <a.h>\n",
        "#include <a.h>\n",
        "#include <a.h>\n",
    );
}

#[test]
fn a_docstring_is_cut_to_its_first_paragraph_and_still_closes() {
    check(
        "python",
        "\"\"\"Reads frames.\n\nAnd writes them.\n\"\"\"\nfrom __future__ import annotations\n\n\nclass Lost(Exception):\n    \"\"\"Lost.\"\"\"\n\n\ndef read(n):\n    \"\"\"Read one.\n\n    Slowly.\n    \"\"\"\n    a = 1\n    return a + n\n",
        "\"\"\"Reads frames. [...]\"\"\"\nfrom __future__ import annotations\n\n\nclass Lost(Exception):\n    \"\"\"Lost.\"\"\"\n\n\ndef read(n):\n    \"\"\"Read one. [...]\"\"\"\n    ...  # 2 lines\n",
        "from __future__ import annotations\n\n\nclass Lost(Exception):\n    ...\n\n\ndef read(n):\n    ...  # 2 lines\n",
    );
}

#[test]
#[cfg(feature = "lang-rust")]
fn attributes_and_code_around_docs_stay() {
    check(
        "rust",
        "//! Frames.\n//!\n//! More of them.\n\n/// One.\n///\n/// Two.\n#[derive(Debug)]\npub struct Frame {\n    /// A.\n    pub a: u8, // Three.\n}\n",
        "//! Frames. [...]\n\n/// One. [...]\n#[derive(Debug)]\npub struct Frame {\n    /// A.\n    pub a: u8, // Three.\n}\n",
        "\n#[derive(Debug)]\npub struct Frame {\n    pub a: u8,\n}\n",
    );
}

#[test]
fn invalid_ranges_change_nothing() {
    let doc = SkeletonDoc { range: 1..9, rest: 2..9, mark: String::new(), placeholder: String::new() };
    let health = ParseHealth::perfect(2);
    let skeleton = Skeleton { health, text: "ä".to_owned(), docs: vec![doc], is_checked: true };
    for detail in DocsDetail::ALL {
        assert_eq!(skeleton_text(&skeleton, detail), "ä");
    }
}
