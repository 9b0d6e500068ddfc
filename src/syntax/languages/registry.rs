//! The languages that have structure.

use super::c::C;
use super::cpp::CPP;
use super::python::PYTHON;
use crate::syntax::language::Language;

/// Every language that has structure.
pub(in crate::syntax) const LANGUAGES: [&Language; 3] = [&PYTHON, &C, &CPP];
