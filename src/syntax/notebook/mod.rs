//! Jupyter notebooks: their cells of code and of prose, without the output of the code.
//!
//! A notebook is JSON. The lines of its cells are read with their positions, so that the symbols of the code have lines of
//! the file. The skeleton is the notebook as a script in the "percent" format that editors know
//! (<https://jupytext.readthedocs.io/en/latest/formats-scripts.html>): prose in comments, code with its bodies cut.

mod cells;
mod structure;

pub(in crate::syntax) use structure::{ID, READER, derive};
