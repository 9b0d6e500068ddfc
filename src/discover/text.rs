//! Decodes bytes to text, and determines basic facts about a text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

use super::dialect::detect_dialect;
use super::file_type::{file_type_by_id, file_type_for_interpreter, is_header};
use super::file_types::LFS_POINTER;
use super::shared_extensions::type_by_text;
use crate::model::{ContentFacts, FileType, HeaderDialect, RelPath, SkipReason};

/// A NUL within this many bytes shows that a file is not text; git uses a similar limit.
const NUL_WINDOW: usize = 8 << 10;

/// The minimum number of bytes of a text for each of its control characters.
const BYTES_PER_CONTROL: usize = 10;

/// A declaration of the encoding is in the first two lines, and within this many bytes.
const MARK_WINDOW: usize = 1 << 10;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedText<'a> {
    /// The text, without a byte order mark.
    pub text: Cow<'a, str>,
    /// The name of the encoding, as in browsers: Latin-1 is `windows-1252`.
    pub encoding: &'static str,
}

/// Decodes bytes as text, or returns why they are not text: `SkipReason::Binary` or `SkipReason::Undecodable`.
///
/// The encoding is that of a byte order mark; else UTF-8 if valid; else that of a declaration such as `coding: latin-1`
/// in the first two lines; else windows-1252, in which every byte is valid.
pub fn read_as_text(bytes: &[u8]) -> Result<DecodedText<'_>, SkipReason> {
    if let Some((encoding, mark_length)) = Encoding::for_bom(bytes) {
        return read_marked(&bytes[mark_length..], encoding);
    }
    // Only without a byte order mark: UTF-16 is full of NULs.
    refuse_binary(bytes)?;
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(DecodedText { text: Cow::Borrowed(text), encoding: UTF_8.name() });
    }
    let named = encoding_mark(bytes).and_then(|encoding| Some((decode(bytes, encoding)?, encoding)));
    // This cannot fail. The bytes are not binary, and a wrong letter in a comment is better than leaving out the file.
    let (text, encoding) = named.unwrap_or_else(|| {
        let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
        (text, WINDOWS_1252)
    });
    Ok(DecodedText { text, encoding: encoding.name() })
}

/// Returns the facts about a content and its `text`, if it has one. The `path` of a file determines the possible
/// languages.
pub fn content_facts(bytes: &[u8], text: Option<&DecodedText<'_>>, path: &RelPath) -> ContentFacts {
    let claimed = text.and_then(|text| claimed_type(path, &text.text));
    ContentFacts {
        size: bytes.len() as u64,
        encoding: text.map(|text| text.encoding.into()),
        lines: text.map_or(0, |text| count_lines(&text.text)),
        dialect: match text {
            Some(text) if is_header(path) => detect_dialect(&text.text),
            Some(_) | None => HeaderDialect::Neutral,
        },
        claimed_type: claimed.map(|file_type| file_type.id.to_owned()),
    }
}

/// Returns the type that a text declares, mostly in its first line.
fn claimed_type(path: &RelPath, text: &str) -> Option<&'static FileType> {
    if is_lfs_pointer(text) {
        return file_type_by_id(LFS_POINTER);
    }
    if let Some(id) = type_by_text(path, text) {
        return file_type_by_id(id);
    }
    if text.starts_with("<?xml ") {
        return file_type_by_id("xml");
    }
    // Drupal modules have extensions of their own.
    if text.starts_with("<?php") {
        return file_type_by_id("php");
    }
    file_type_for_interpreter(interpreter(text)?)
}

/// Returns whether a text is a Git LFS pointer: <https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>.
fn is_lfs_pointer(text: &str) -> bool {
    const MAX_POINTER_BYTES: usize = 1024;
    text.len() < MAX_POINTER_BYTES
        && text.starts_with("version https://git-lfs.github.com/spec/")
        && text.contains("\noid ")
        && text.contains("\nsize ")
}

/// Decodes a text with a byte order mark.
fn read_marked<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Result<DecodedText<'a>, SkipReason> {
    // Most letters in UTF-16 contain a NUL, so the text can be checked only after decoding.
    if encoding == UTF_8 {
        refuse_binary(bytes)?;
    }
    let text = decode(bytes, encoding).ok_or(SkipReason::Undecodable)?;
    // UTF-32 begins like UTF-16, and then has a NUL for every letter.
    if is_mostly_control(text.as_bytes()) {
        return Err(SkipReason::Binary);
    }
    Ok(DecodedText { text, encoding: encoding.name() })
}

fn decode<'a>(bytes: &'a [u8], encoding: &'static Encoding) -> Option<Cow<'a, str>> {
    encoding.decode_without_bom_handling_and_without_replacement(bytes)
}

fn refuse_binary(bytes: &[u8]) -> Result<(), SkipReason> {
    let head = &bytes[..bytes.len().min(NUL_WINDOW)];
    if head.contains(&0) || is_mostly_control(bytes) {
        return Err(SkipReason::Binary);
    }
    Ok(())
}

fn is_mostly_control(bytes: &[u8]) -> bool {
    bytes.len() / BYTES_PER_CONTROL < bytes.iter().filter(|&&byte| is_control(byte)).count()
}

/// Tabs, line breaks, form feeds and the escapes of colored logs are text.
const fn is_control(byte: u8) -> bool {
    // In this form, the compiler vectorizes the loop, which is three times as fast.
    (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | 0x1b)) || byte == 0x7f
}

fn count_lines(text: &str) -> u32 {
    let ends = text.bytes().filter(|&byte| byte == b'\n').count();
    let last_without_end = !text.is_empty() && !text.ends_with('\n');
    u32::try_from(ends + usize::from(last_without_end)).unwrap_or(u32::MAX)
}

/// Finds `coding: NAME` or `coding=NAME` in the first two lines, as in Python, Emacs, Vim and XML.
fn encoding_mark(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(MARK_WINDOW)];
    head.split(|&byte| byte == b'\n').take(2).find_map(|line| {
        // The word may occur in prose before the declaration.
        let mut rest = line;
        while let Some(at) = find(rest, b"coding") {
            rest = &rest[at + b"coding".len()..];
            if let Some(encoding) = named_encoding(rest) {
                return Some(encoding);
            }
        }
        None
    })
}

fn named_encoding(behind_coding: &[u8]) -> Option<&'static Encoding> {
    let name = behind_coding.strip_prefix(b":").or_else(|| behind_coding.strip_prefix(b"="))?;
    let name = name.trim_ascii_start();
    let name = name.strip_prefix(b"\"").or_else(|| name.strip_prefix(b"'")).unwrap_or(name);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let end = name.iter().position(|byte| !is_name(byte)).unwrap_or(name.len());
    encoding_of_label(std::str::from_utf8(&name[..end]).ok()?)
}

/// Returns the encoding with this name in browsers, Python or Emacs; `None` for UTF-8, which was already ruled out.
fn encoding_of_label(label: &str) -> Option<&'static Encoding> {
    let label = label.to_ascii_lowercase().replace('_', "-");
    // Emacs appends the kind of line ending.
    let label =
        ["-unix", "-dos", "-mac"].iter().find_map(|ending| label.strip_suffix(ending)).unwrap_or(&label);
    let latin = label.strip_prefix("iso-").unwrap_or(label).strip_prefix("latin-");
    let known = match (label, latin) {
        ("latin9", _) | (_, Some("9")) => "iso-8859-15".to_owned(),
        ("cp932", _) => "shift-jis".to_owned(),
        ("cp936", _) => "gbk".to_owned(),
        ("cp949", _) => "euc-kr".to_owned(),
        ("cp950", _) => "big5".to_owned(),
        ("mac-roman", _) => "macintosh".to_owned(),
        (_, Some(number)) => format!("latin{number}"),
        (_, None) => label.to_owned(),
    };
    let encoding = Encoding::for_label_no_replacement(known.as_bytes())?;
    // An encoding that is not a superset of ASCII contradicts the declaration, which was read as ASCII.
    (encoding != UTF_8 && encoding.is_ascii_compatible()).then_some(encoding)
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// A longer first line is not a shebang; systems read far less of it.
const LINE_MAX_BYTES: usize = 512;

/// Returns the name of the program in a `#!` line, without folder and version: `python` for `#!/usr/bin/env -S
/// python3.12 -u`.
pub(super) fn interpreter(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?;
    let line = line.split(['\n', '\r']).next()?;
    if LINE_MAX_BYTES < line.len() {
        return None;
    }
    // Some systems allow blanks between `#!` and the program.
    let mut words = line.split_ascii_whitespace();
    let program = base_name(words.next()?);
    let program = match program {
        "env" => base_name(program_after_env(words)?),
        _ => program,
    };
    Some(without_version(program))
}

/// Returns the program that `env` starts, after its options and assignments.
fn program_after_env<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    loop {
        let word = words.next()?;
        match word {
            // These options take the next word as their value.
            "-u" | "-C" | "--unset" | "--chdir" => {
                words.next()?;
            }
            _ if word.starts_with("--split-string=") => return Some(&word["--split-string=".len()..]),
            // `-Sprogram`; a separate `-S` is an option like any other.
            _ if word.starts_with("-S") && 2 < word.len() => return Some(&word[2..]),
            _ if word.starts_with('-') || word.contains('=') => {}
            _ => return Some(word),
        }
    }
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

fn without_version(program: &str) -> &str {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let name = name.strip_suffix('-').unwrap_or(name);
    // `python-3` and `python3` are the same program. A name that consists only of a version is kept.
    if name.is_empty() { program } else { name }
}

#[cfg(test)]
mod text_tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str, encoding: &str) {
        let read = read_as_text(bytes).unwrap();
        assert_eq!((read.text.as_ref(), read.encoding), (text, encoding));
    }

    fn facts_of(path: &str, bytes: &[u8]) -> ContentFacts {
        content_facts(bytes, read_as_text(bytes).ok().as_ref(), &RelPath::new(path.as_bytes()).unwrap())
    }

    #[track_caller]
    fn refuse(bytes: &[u8], reason: SkipReason) {
        assert_eq!(read_as_text(bytes), Err(reason));
    }

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(to_bytes).collect()
    }

    #[test]
    fn an_empty_file_is_text() {
        check(b"", "", "UTF-8");
        assert_eq!(count_lines(""), 0);
    }

    #[test]
    fn utf_8_is_borrowed_without_its_byte_order_mark() {
        check("grüße".as_bytes(), "grüße", "UTF-8");
        check(b"\xef\xbb\xbfx = 1\n", "x = 1\n", "UTF-8");
        check(b"\xef\xbb\xbf", "", "UTF-8");
        assert!(matches!(read_as_text(b"abc").unwrap().text, Cow::Borrowed(_)));
    }

    #[test]
    fn utf_16_is_recognized_by_its_byte_order_mark() {
        check(&utf_16("a ü 😀\n", u16::to_le_bytes), "a ü 😀\n", "UTF-16LE");
        check(&utf_16("a ü 😀\n", u16::to_be_bytes), "a ü 😀\n", "UTF-16BE");
        check(b"\xff\xfe", "", "UTF-16LE");
    }

    #[test]
    fn text_that_contradicts_its_byte_order_mark_is_undecodable() {
        refuse(b"\xff\xfea\0b", SkipReason::Undecodable);
        refuse(b"\xff\xfe\x00\xd8a\0", SkipReason::Undecodable);
        refuse(b"\xef\xbb\xbfab\xffcd", SkipReason::Undecodable);
    }

    #[test]
    fn utf_32_is_not_mistaken_for_utf_16() {
        refuse(b"\xff\xfe\0\0a\0\0\0b\0\0\0", SkipReason::Binary);
        refuse(b"\0\0\xfe\xff\0\0\0a", SkipReason::Binary);
    }

    #[test]
    fn only_a_nul_near_the_beginning_is_binary() {
        refuse(b"a\0b", SkipReason::Binary);
        refuse(b"\xef\xbb\xbfa\0b", SkipReason::Binary);
        let mut far = vec![b'a'; NUL_WINDOW];
        far.push(0);
        assert!(read_as_text(&far).is_ok());
        far[NUL_WINDOW - 1] = 0;
        refuse(&far, SkipReason::Binary);
    }

    #[test]
    fn many_control_characters_are_binary_and_a_few_are_not() {
        refuse(b"\x01\x02\x03abc", SkipReason::Binary);
        refuse(b"\x01", SkipReason::Binary);
        check(b"abcdefghi\x01", "abcdefghi\x01", "UTF-8");
        check(b"\x1b[31m\x1b[0m\t\r\n\x0c", "\x1b[31m\x1b[0m\t\r\n\x0c", "UTF-8");
    }

    #[test]
    fn a_declaration_sets_the_encoding_of_text_that_is_not_utf_8() {
        check(b"# -*- coding: latin-1 -*-\n\xe9", "# -*- coding: latin-1 -*-\né", "windows-1252");
        check(b"#!x\n# coding=iso8859-15\n\xa4", "#!x\n# coding=iso8859-15\n€", "ISO-8859-15");
        check(b"# coding: euc_jp\n\xa4\xa2", "# coding: euc_jp\nあ", "EUC-JP");
        check(
            b"# vim: set fileencoding=cp1251 :\n\xff",
            "# vim: set fileencoding=cp1251 :\nя",
            "windows-1251",
        );
        check(b"; -*- coding: koi8-r-unix -*-\n\xc1", "; -*- coding: koi8-r-unix -*-\nа", "KOI8-R");
        check(b"<?xml encoding='iso-8859-2'?>\n\xb1", "<?xml encoding='iso-8859-2'?>\ną", "ISO-8859-2");
    }

    #[test]
    fn a_wrong_declaration_is_ignored() {
        check(b"# coding: utf8\n\xe9", "# coding: utf8\né", "windows-1252");
        check(b"# coding: euc-jp\n\xa4", "# coding: euc-jp\n¤", "windows-1252");
        check(b"# coding: cp437\n\xe9", "# coding: cp437\né", "windows-1252");
        check(b"# coding: utf-16\n\xe9", "# coding: utf-16\né", "windows-1252");
        check(b"# coding:\n\xe9", "# coding:\né", "windows-1252");
        check(b"\n\n# coding: euc-jp\n\xa4\xa2", "\n\n# coding: euc-jp\n¤¢", "windows-1252");
    }

    #[test]
    fn the_first_valid_declaration_in_a_line_counts() {
        check(b"# coding of coding: euc-jp\n\xa4\xa2", "# coding of coding: euc-jp\nあ", "EUC-JP");
    }

    #[test]
    fn names_of_encodings_in_python_and_emacs_are_recognized() {
        let name = |label| encoding_of_label(label).map(Encoding::name);
        assert_eq!(name("Latin_1"), Some("windows-1252"));
        assert_eq!(name("iso-latin-2"), Some("ISO-8859-2"));
        assert_eq!(name("latin-9"), Some("ISO-8859-15"));
        assert_eq!(name("CP932"), Some("Shift_JIS"));
        assert_eq!(name("shift_jis"), Some("Shift_JIS"));
        assert_eq!(name("mac_roman"), Some("macintosh"));
        assert_eq!(name("utf_8"), None);
        assert_eq!(name("iso-2022-kr"), None);
        assert_eq!(name(""), None);
    }

    #[test]
    fn the_last_line_counts_even_without_a_line_break() {
        assert_eq!(count_lines("a"), 1);
        assert_eq!(count_lines("a\n"), 1);
        assert_eq!(count_lines("a\r\nb"), 2);
        assert_eq!(count_lines("\n\n"), 2);
        assert_eq!(count_lines("a\rb"), 1);
    }

    #[test]
    fn a_text_may_declare_to_be_xml_or_php() {
        let claims = |bytes: &[u8]| facts_of("a", bytes).claimed_type;
        assert_eq!(claims(b"<?xml version=\"1.0\"?>\n<a/>").as_deref(), Some("xml"));
        assert_eq!(claims(b"<?php\nfunction f() {}\n").as_deref(), Some("php"));
        assert_eq!(claims(b"<a/>"), None);
    }

    #[test]
    fn a_git_lfs_pointer_is_recognized_by_its_lines() {
        let claims = |bytes: &[u8]| facts_of("a", bytes).claimed_type;
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 48123\n";
        assert_eq!(claims(pointer.as_bytes()).as_deref(), Some(LFS_POINTER));
        assert_eq!(claims(b"version https://git-lfs.github.com/spec/v1 is its first line\n"), None);
    }

    #[test]
    fn facts_include_size_encoding_lines_and_the_declared_type() {
        let bytes = b"\xef\xbb\xbf#!/usr/bin/env -S python3 -u\nx\n";
        let known = facts_of("a", bytes);
        assert_eq!(
            known,
            ContentFacts {
                size: bytes.len() as u64,
                encoding: Some("UTF-8".into()),
                lines: 2,
                dialect: HeaderDialect::Neutral,
                claimed_type: Some("python".to_owned()),
            }
        );
    }

    #[test]
    fn the_dialect_is_only_detected_in_headers() {
        let bytes = b"namespace a { }\n";
        assert_eq!(facts_of("a.h", bytes).dialect, HeaderDialect::Cpp);
        assert_eq!(facts_of("a.cc", bytes).dialect, HeaderDialect::Neutral);
    }

    #[test]
    fn only_the_size_of_binary_data_is_known() {
        let known = facts_of("a.h", b"\0\0");
        assert_eq!((known.size, known.encoding, known.lines, known.claimed_type), (2, None, 0, None));
    }
}

#[cfg(test)]
mod shebang_tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, wanted: Option<&str>) {
        assert_eq!(interpreter(text), wanted, "{text:?}");
    }

    #[test]
    fn the_interpreter_is_the_last_component_of_its_path() {
        check("#!/bin/sh\n", Some("sh"));
        check("#! /bin/sh -e", Some("sh"));
        check("#!/usr/local/bin/python3.12\r\n", Some("python"));
        check("#!perl", Some("perl"));
        check("#!/usr/bin/lua-5.4", Some("lua"));
    }

    #[test]
    fn the_interpreter_follows_the_options_of_env() {
        check("#!/usr/bin/env python3", Some("python"));
        check("#!/usr/bin/env -S python -u", Some("python"));
        check("#!/usr/bin/env -Spython3 -u", Some("python"));
        check("#!/usr/bin/env -i -u HOME LANG=C ruby", Some("ruby"));
        check("#!/usr/bin/env --split-string=/opt/node x", Some("node"));
    }

    #[test]
    fn a_line_without_a_program_is_not_a_shebang() {
        check("", None);
        check("#!", None);
        check("#! \n/bin/sh", None);
        check("#!/usr/bin/env", None);
        check("#!/usr/bin/env -u", None);
        check(" #!/bin/sh", None);
        check(&format!("#!/bin/sh {}", "x".repeat(600)), None);
    }

    #[test]
    fn a_program_of_digits_keeps_its_name() {
        check("#!/bin/7", Some("7"));
    }
}
