//! Classifies lines outside of functions: lists of imports contain the names of a task, and the rest of a class after
//! its last function contains the name of the class, but a task is about neither.

/// The beginnings of import statements.
const IMPORTS: &[&str] = &[
    "import ", "import\t", "from ", "use ", "pub use ", "using ", "require", "package ", "library(", "open ",
    "export * from ", "extern crate ", "mod ", "pub mod ", "#include", "#import", "#pragma once", "@import ",
    "@use ",
];
/// Lines that end a block, or set the visibility of what follows.
const FRAMES: &[&str] = &[
    "end", "private", "protected", "public", "private:", "protected:", "public:", "signals:", "pass", "else",
    "#endif", "endif",
];

/// The content of a run of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::search) enum RunContent {
    /// Only ends of blocks.
    Frames,
    /// A list of imports.
    Imports,
    /// Anything else.
    Code,
}

impl RunContent {
    /// Returns the factor for the score of such a run.
    pub(super) const fn factor(self) -> f64 {
        match self {
            Self::Frames => 0.0,
            Self::Imports => 0.3,
            Self::Code => 1.0,
        }
    }
}

/// Returns the content of a run of lines.
pub(in crate::search) fn run_content(text: &str) -> RunContent {
    let (mut found, mut open) = (RunContent::Frames, 0_i64);
    for line in text.lines().map(str::trim) {
        let is_import = 0 < open || IMPORTS.iter().any(|word| line.starts_with(word));
        if !is_import && is_frame(line) {
            continue;
        }
        if !is_import {
            return RunContent::Code;
        }
        found = RunContent::Imports;
        let count = |brackets: &[char]| i64::try_from(line.matches(brackets).count()).unwrap_or(0);
        open += count(&['(', '{', '[']) - count(&[')', '}', ']']);
    }
    found
}

/// Returns whether a trimmed line is only a frame for others: brackets, the end of a block, an editor mark.
fn is_frame(line: &str) -> bool {
    let is_mark = line.starts_with("// MARK:") || line.starts_with("# region") || line.starts_with("#region");
    is_mark || FRAMES.contains(&line) || !line.contains(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_count_little_and_ends_of_blocks_nothing() {
        let imports = [
            "import os\nfrom a import (\n    b,\n    c,\n)\n",
            "use App\\Models\\User;\n\nuse App\\Models\\Group;\n",
            "import {\n  a,\n} from './a'\n",
            "#include <a.h>\n#include \"b.h\"\n#endif\n",
        ];
        assert_eq!(imports.map(run_content), [RunContent::Imports; 4]);
        assert_eq!(
            ["end\n", "  }\n};\n", "\n  private\n", "  // MARK: - Hashable\n"].map(run_content),
            [RunContent::Frames; 4]
        );
        let code = ["import os\nRATE = 3\n", "from here on\nthis counts", "// use a\n", "mod a {\n}\nY = 2;"];
        assert_eq!(code.map(run_content), [RunContent::Code; 4]);
    }
}
