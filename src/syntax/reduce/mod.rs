//! Scanners: what makes of a text one that is quicker to parse, and that its grammar understands.
//!
//! A scanner reads a text once, from its beginning to its end, and puts together a `Reduced`: what an outline does
//! not need is taken out, what the scanner has read for certain is supplied, what the grammar would stumble over is
//! repaired, and the rest is copied. At the first oddity (a bracket that nothing closes) it gives up, and the text is
//! parsed as it is: no guess of a scanner may cost a symbol.
//!
//! Knows: the bytes of a language. Does not know: trees, symbols' qualified names, docs.

mod c;
mod python;

pub(super) use c::preprocess_c;
pub(super) use c::preprocess_cpp;
pub(super) use python::preprocess_python;
