//! Notebooks of Jupyter: their cells of code and of prose, without what the code has put out.
//!
//! A notebook is JSON. Its cells' lines are read out of it, each with the place where it stands, so that the symbols of
//! the code have lines of the file. The skeleton is the notebook as a script in the "percent" format that editors know
//! (<https://jupytext.readthedocs.io/en/latest/formats-scripts.html>): prose in comments, code with bodies taken out.

mod cells;
mod reader;
mod script;
mod symbols;

pub(super) use reader::ID;
pub(super) use reader::READER;
pub(super) use reader::derive;
