//! C and C++, which are scanned instead of parsed: the preprocessor hides too much from a grammar.

mod cpp;
mod cpp_body;
mod cpp_functions;
mod cpp_paths;
mod cpp_tokens;
mod cpp_types;
mod heads;
mod macros;
mod reader;
mod tokens;

pub(super) use cpp::source_facts as cpp_facts;
pub(super) use reader::source_facts as c_facts;
