//! The program `slop`: it only calls the library.

fn main() -> std::process::ExitCode {
    slop::cli::main()
}
