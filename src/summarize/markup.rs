//! Texts of tags in HTML and XML.

use super::words;

const HEAD_BYTES: usize = 64 * 1024;

/// Returns the text of the first `<title>`.
pub(super) fn title(text: &str) -> Option<String> {
    let head = words::head(text, HEAD_BYTES);
    let start = find_ignoring_case(head, "<title")?;
    let (_, inside) = head[start..].split_once('>')?;
    let title = words::one_line(inside.split('<').next().unwrap_or_default());
    (!title.is_empty()).then_some(title)
}

/// Returns the name of the root element, such as `urlset` of a sitemap.
pub(super) fn root(text: &str) -> Option<String> {
    let name = words::head(text, HEAD_BYTES).split('<').skip(1).find_map(|tag| {
        let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/'))?;
        Some(&tag[..end]).filter(|name| name.starts_with(char::is_alphabetic))
    })?;
    Some(words::clip(&words::one_line(name), 60))
}

fn find_ignoring_case(text: &str, wanted: &str) -> Option<usize> {
    let windows = text.as_bytes().windows(wanted.len());
    windows.into_iter().position(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_and_a_root_are_found() {
        let page =
            "<?xml version=\"1.0\"?><!-- <no> --><svg width='1'><TITLE lang=en> A\nlogo </TITLE></svg>";
        assert_eq!(title(page).as_deref(), Some("A logo"));
        assert_eq!(root("<?xml?>\n<!DOCTYPE x>\n<svg a='b'>").as_deref(), Some("svg"));
    }

    #[test]
    fn what_is_broken_has_none() {
        for text in ["", "<", "<title", "<title>", "<title></title>", "é<é"] {
            assert_eq!(title(text), None, "{text}");
        }
        assert_eq!(root("a < b"), None);
    }
}
