//! The program `slop`: it only calls the library.

fn main() {}
