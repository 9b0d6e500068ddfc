//! What the bytes of Python are, outside of strings.

/// What a byte is, or begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteClass {
    /// A sign that nothing depends on.
    Sign,
    /// White space within a line.
    Space,
    /// Part of a name or a number.
    Word,
    Quote,
    Open,
    Close,
    Comma,
    Colon,
    Hash,
    Backslash,
    Newline,
    /// What no Python has outside of strings.
    Invalid,
}

/// The class of each byte.
pub(super) static CLASSES: [ByteClass; 256] = classes();

/// Whether a byte decides anything in a body that is passed over.
pub(super) static STOPS: [bool; 256] = stops();

const fn classes() -> [ByteClass; 256] {
    let mut classes = [ByteClass::Sign; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | 0x80..=0xff => ByteClass::Word,
            b' ' | b'\t' | b'\r' | 0x0c => ByteClass::Space,
            b'"' | b'\'' => ByteClass::Quote,
            b'(' | b'[' | b'{' => ByteClass::Open,
            b')' | b']' | b'}' => ByteClass::Close,
            b',' => ByteClass::Comma,
            b':' => ByteClass::Colon,
            b'#' => ByteClass::Hash,
            b'\\' => ByteClass::Backslash,
            b'\n' => ByteClass::Newline,
            b'$' | b'?' | b'`' | 0..=8 | 0x0b | 0x0e..=0x1f | 0x7f => ByteClass::Invalid,
            _ => ByteClass::Sign,
        };
        if byte == 0xff {
            return classes;
        }
        byte += 1;
    }
}

const fn stops() -> [bool; 256] {
    let mut stops = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        stops[byte] = matches!(
            CLASSES_OF[byte],
            ByteClass::Quote
                | ByteClass::Open
                | ByteClass::Close
                | ByteClass::Hash
                | ByteClass::Backslash
                | ByteClass::Newline
                | ByteClass::Invalid
        );
        byte += 1;
    }
    stops
}

const CLASSES_OF: [ByteClass; 256] = classes();

/// Returns where the word at `start` ends.
pub(super) fn word_end(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start..];
    start + rest.iter().position(|byte| CLASSES[usize::from(*byte)] != ByteClass::Word).unwrap_or(rest.len())
}

/// Says whether a bracket after that word begins a value of its own, and is not applied to the word.
pub(super) fn is_keyword(word: &[u8]) -> bool {
    const KEYWORDS: [&[u8]; 25] = [
        b"and", b"as", b"assert", b"await", b"case", b"del", b"elif", b"else", b"except", b"for", b"from",
        b"if", b"import", b"in", b"is", b"lambda", b"match", b"not", b"or", b"print", b"raise", b"return",
        b"while", b"with", b"yield",
    ];
    word.len() <= 6 && KEYWORDS.contains(&word)
}
