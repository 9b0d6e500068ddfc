//! What only Java has: bare names (`names`), types of expressions (`types`), overloads (`calls`, by what `fits` says of
//! their parameters), and results of the standard library (`library`).

mod calls;
mod fits;
mod library;
mod names;
mod types;
