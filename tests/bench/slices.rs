//! Measures how long it takes to find slices in an edited text of ten thousand lines, without starting a process:
//! `cargo run --release --example slices`. No test depends on the result.

#![expect(clippy::print_stdout, reason = "it prints what it measures")]

use std::fmt::Write;
use std::time::{Duration, Instant};

use slop::internals::slices::{create_slice, locate_slice};

const LINES: u32 = 10_000;

fn main() {
    let (old, new) = (code(0), code(1));
    println!(
        "lines of the slice: median and longest of 100 texts where it stood, then of 100 where it changed"
    );
    for length in [2, 10, 40, 400, 4000] {
        let slices = (0..100)
            .map(|at| create_slice(&old, at * 60 + 1, at * 60 + length).expect("the text is long enough"));
        let slices: Vec<_> = slices.collect();
        for text in [&old, &new] {
            let mut times: Vec<Duration> = slices
                .iter()
                .map(|slice| {
                    let begun = Instant::now();
                    let found = locate_slice(slice, text);
                    assert!(0 < found.end_line);
                    begun.elapsed()
                })
                .collect();
            times.sort();
            println!("{length:5}: {:?} {:?}", times[50], times[99]);
        }
    }
}

/// Returns text that resembles code; with another `edition`, every seventh line differs.
fn code(edition: u32) -> String {
    let mut text = String::new();
    for line in 0..LINES {
        let changed = if line % 7 == 3 { edition } else { 0 };
        let written = match line % 12 {
            0 => writeln!(text, "static int function_{line}(struct context *context)"),
            1 => writeln!(text, "{{"),
            9 => writeln!(text, "    return 0;"),
            10 => writeln!(text, "}}"),
            11 => writeln!(text),
            _ => writeln!(text, "    context->field_{} = value_{} + {changed};", line % 300, line % 70),
        };
        written.expect("a string can be written to");
    }
    text
}
