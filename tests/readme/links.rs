//! Finds the links of a Markdown page to other files and headings, and the identifiers of its headings.

/// Returns the targets of all links that do not lead to the web, outside of code.
pub(crate) fn internal(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in lines_of_text(page) {
        // The odd parts are code.
        let text: String = line.split('`').step_by(2).collect::<Vec<_>>().join("`");
        for rest in text.split("](").skip(1) {
            let target = rest.split(')').next().unwrap_or_default();
            if !target.contains("://") {
                found.push(target.to_owned());
            }
        }
    }
    found
}

/// Returns the identifiers that GitHub gives to the headings of a page.
pub(crate) fn heading_ids(page: &str) -> Vec<String> {
    let headings = lines_of_text(page).filter(|line| line.starts_with('#'));
    let id = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
    };
    headings.map(id).collect()
}

/// Returns the lines outside of fenced code.
fn lines_of_text(page: &str) -> impl Iterator<Item = &str> {
    let mut fence: Option<&str> = None;
    page.lines().filter(move |line| {
        let ticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            None if 3 <= ticks => fence = Some(&line[..ticks]),
            None => return true,
            Some(end) if *line == end => fence = None,
            Some(_) => {}
        }
        false
    })
}
