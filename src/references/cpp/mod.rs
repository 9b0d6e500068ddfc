//! What only C++ has: namespaces and bare names (`names`), and elements of containers (`containers`).

mod containers;
mod names;
