//! What an image is, by its first bytes: a name proves nothing, and a provider refuses what is not what it says.

/// Returns the media type of an image that providers take, though Gemini takes no GIF; `None` for all else.
pub fn image_media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::image_media_type;

    #[test]
    fn an_image_is_known_by_its_first_bytes() {
        assert_eq!(image_media_type(b"\x89PNG\r\n\x1a\n\0\0"), Some("image/png"));
        assert_eq!(image_media_type(b"\xff\xd8\xff\xe0\0\x10JFIF"), Some("image/jpeg"));
        assert_eq!(image_media_type(b"GIF89a\x01\0"), Some("image/gif"));
        assert_eq!(image_media_type(b"RIFF\x24\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(image_media_type(b"RIFF\x24\0\0\0WAVEfmt "), None);
        assert_eq!(image_media_type(b"<svg xmlns=''/>"), None);
        assert_eq!(image_media_type(b"\x89PNG"), None);
        assert_eq!(image_media_type(b""), None);
    }
}
