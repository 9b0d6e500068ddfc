//! Names that Windows reserves or changes.

use std::borrow::Cow;

/// Devices, which exist in each folder and with any extension.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
/// Devices that are numbered.
const NUMBERED: [&str; 2] = ["COM", "LPT"];

/// Returns a path with `/` between its parts instead of `\`.
pub(super) fn with_slashes(path: &[u8]) -> Cow<'_, [u8]> {
    if !path.contains(&b'\\') {
        return Cow::Borrowed(path);
    }
    path.iter().map(|byte| if *byte == b'\\' { b'/' } else { *byte }).collect()
}

/// Returns an absolute path as in a URL: `/C:/a` for `C:\a`, and `/a` for a path without a drive.
pub(super) fn to_address(path: &[u8]) -> Cow<'_, [u8]> {
    let path = with_slashes(path);
    if path.starts_with(b"/") { path } else { [b"/", &*path].concat().into() }
}

/// Returns the path of a URL: `C:/a` for `/C:/a`.
pub(super) fn from_address(address: &[u8]) -> &[u8] {
    match address {
        [b'/', rest @ ..] if matches!(rest, [drive, b':', ..] if drive.is_ascii_alphabetic()) => rest,
        _ => address,
    }
}

/// Returns whether each component of a path with `/` as separator is a valid file name: not a device, not a stream or
/// drive (`a:b`), and without trailing characters that the system drops. `.` and `..` are valid here.
pub(super) fn is_usable(path: &[u8]) -> bool {
    let is_name = |part: &[u8]| {
        let is_cut = matches!(part.last(), Some(b'.' | b' ')) && part != b"." && part != b"..";
        !part.contains(&b':') && !is_cut && !is_device(part)
    };
    std::str::from_utf8(path).is_ok() && path.split(|byte| *byte == b'/').all(is_name)
}

fn is_device(name: &[u8]) -> bool {
    let stem = name.split(|byte| *byte == b'.').next().unwrap_or(name);
    let stem = String::from_utf8_lossy(stem).trim_end_matches(' ').to_uppercase();
    let is_number = |rest: &str| {
        let mut digits = rest.chars();
        matches!((digits.next(), digits.next()), (Some('0'..='9' | '¹' | '²' | '³'), None))
    };
    DEVICES.contains(&&*stem) || NUMBERED.iter().any(|name| stem.strip_prefix(name).is_some_and(is_number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backslash_separates_parts() {
        assert_eq!(&*with_slashes(br"src\lib.rs"), b"src/lib.rs");
        assert!(matches!(with_slashes(b"src/lib.rs"), Cow::Borrowed(_)));
    }

    #[test]
    fn the_address_of_a_path_with_a_drive_begins_with_a_slash() {
        assert_eq!(&*to_address(br"C:\a\b c.rs"), b"/C:/a/b c.rs");
        assert_eq!(from_address(b"/C:/a/b c.rs"), b"C:/a/b c.rs");
        assert_eq!(from_address(b"/home/a"), b"/home/a");
    }

    #[test]
    fn devices_streams_and_names_with_dropped_endings_are_refused() {
        for path in [
            "CON", "nul", "a/Aux.txt", "com1.tar.gz", "lpt9", "COM¹", "conin$", "nul .txt", "a:b", "C:",
            "C:/a", "a./b", "a ", "a..",
        ] {
            assert!(!is_usable(path.as_bytes()), "{path}");
        }
        for path in
            ["console", "a/nul_", "com", "com10", "lpt", ".a", "a.b", "a b", "../a", "./a", "com/a", ""]
        {
            assert!(is_usable(path.as_bytes()), "{path}");
        }
        assert!(!is_usable(b"\xff"));
    }
}
