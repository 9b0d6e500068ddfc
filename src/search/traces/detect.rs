//! The table of detectors.

use super::frame::TraceTool;
use super::lines::{LineContext, LineReading};
use super::{diagnostics, native, other_tools, stacks};

/// The order in which a tool prints the frames of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameOrder {
    /// The failing function is first.
    InnermostFirst,
    /// The failing function is last.
    InnermostLast,
}

/// Recognizes the lines of one format.
type Detector = fn(&LineContext<'_>) -> Option<LineReading>;

/// The detectors, specific formats before general ones: the first that recognizes a line decides.
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
    stacks::dart,
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

/// Returns the result of the first detector that recognizes a line.
pub(super) fn read_line(context: &LineContext<'_>) -> Option<LineReading> {
    DETECTORS.iter().find_map(|detect| detect(context))
}

/// Returns the frame order of a tool, and how many other lines may occur between two of its frames.
pub(super) fn layout(tool: TraceTool) -> (FrameOrder, usize) {
    match tool {
        TraceTool::Python => (FrameOrder::InnermostLast, 24),
        // The source of a whole function may be between two frames.
        TraceTool::Pytest => (FrameOrder::InnermostLast, 400),
        // A panic's message is between its location and the backtrace.
        TraceTool::Rust => (FrameOrder::InnermostFirst, 24),
        // Frames without a file are between those with one.
        TraceTool::JavaScript | TraceTool::Debugger | TraceTool::Sanitizer | TraceTool::Valgrind => {
            (FrameOrder::InnermostFirst, 16)
        }
        _ => (FrameOrder::InnermostFirst, 3),
    }
}
