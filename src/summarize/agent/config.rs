//! Stub.
use super::super::heuristic::Source;
use super::material::Data;

pub(super) fn data(source: &Source<'_>, room: usize) -> Data {
    let end = source.text.floor_char_boundary(room);
    Data { text: source.text[..end].to_owned(), is_cut: end < source.text.len() }
}
