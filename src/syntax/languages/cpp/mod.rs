//! C++: what it has beyond C.

mod declarations;
mod table;

pub(super) use table::CPP;
