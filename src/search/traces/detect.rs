//! The table of detectors.

use super::frame::TraceTool;
use super::lines::{LineContext, LineReading};
use super::{diagnostics, native, other_tools, stacks};

/// The order in which a tool writes the frames of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameOrder {
    /// The failing function is first.
    InnermostFirst,
    /// The failing function is last.
    InnermostLast,
}

/// Recognizes the lines of one notation.
type Detector = fn(&LineContext<'_>) -> Option<LineReading>;

/// The detectors, special notations before common ones: the first that recognizes a line decides.
const DETECTORS: &[Detector] = &[
    stacks::python,
    stacks::rust,
    stacks::dot_net,
    stacks::java,
    stacks::surefire,
    stacks::php,
    native::valgrind,
    native::lldb,
    native::numbered,
    native::assertion,
    stacks::ruby,
    stacks::go,
    stacks::pytest,
    diagnostics::arrow,
    diagnostics::eslint,
    diagnostics::phpstan,
    diagnostics::webpack,
    diagnostics::included_from,
    other_tools::terraform,
    other_tools::yaml,
    other_tools::workflow_command,
    other_tools::godot,
    other_tools::tex,
    diagnostics::common,
    stacks::javascript,
];

/// Returns what the first detector that recognizes a line says of it.
pub(super) fn read_line(context: &LineContext<'_>) -> Option<LineReading> {
    DETECTORS.iter().find_map(|detect| detect(context))
}

/// Returns in which order a tool writes frames, and how many lines without one there may be between two of them.
pub(super) fn layout(tool: TraceTool) -> (FrameOrder, usize) {
    match tool {
        TraceTool::Python => (FrameOrder::InnermostLast, 24),
        // The source of a whole function is between two frames.
        TraceTool::Pytest => (FrameOrder::InnermostLast, 400),
        // A panic's message is between its place and the backtrace.
        TraceTool::Rust => (FrameOrder::InnermostFirst, 24),
        // Frames without a file are between those with one.
        TraceTool::JavaScript | TraceTool::Debugger | TraceTool::Sanitizer | TraceTool::Valgrind => {
            (FrameOrder::InnermostFirst, 16)
        }
        _ => (FrameOrder::InnermostFirst, 3),
    }
}
