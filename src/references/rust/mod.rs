//! What only Rust has: namespaces and paths (`names`), calls of methods, closures and macros (`calls`), methods that
//! traits add to types of other projects (`extensions`), and how the standard library changes types (`library`).

mod calls;
mod extensions;
mod library;
mod names;
