//! Tables with headers come and go, and the comments around them stay.
//!
//! The library keeps a comment with the table below it, and those at the end of the file by themselves. So a table
//! that comes last takes in what stood at the end, or it would come between a comment and what that is about; and one
//! that goes leaves behind the comments that an empty line sets apart from it.

use toml_edit::DocumentMut;
use toml_edit::Item;
use toml_edit::Table;

/// Returns the position of the last table among this one and those below it.
pub(super) fn last_position(table: &Table) -> isize {
    let mut last = 0;
    visit_headed(table, &mut |table| last = last.max(table.position().unwrap_or(0)));
    last
}

/// Gives a new table its place and the text above it: behind the table at `after`, or at the end.
pub(super) fn place_table(document: &mut DocumentMut, table: &mut Table, after: Option<isize>) {
    let last = last_position(document.as_table());
    table.set_position(Some(after.unwrap_or(last + 1)));
    if after.is_some_and(|after| after < last) {
        table.decor_mut().set_prefix("\n");
        return;
    }
    let mut above = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    if !above.is_empty() && !above.ends_with('\n') {
        above.push('\n');
    }
    let is_first = above.is_empty() && document.is_empty();
    if !is_first && above != "\n" && !above.ends_with("\n\n") {
        above.push('\n');
    }
    table.decor_mut().set_prefix(above);
}

/// Forgets the places of a table and those below it, so that a copy of it follows what it is put in.
pub(super) fn clear_positions(table: &mut Table) {
    visit_headed_mut(table, &mut |table| table.set_position(None));
}

/// Returns the comments that are set apart from a table that goes, and where it stood.
pub(super) fn detached_comments(table: &Table) -> (isize, String) {
    let mut found = Vec::new();
    visit_headed(table, &mut |table| {
        let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        found.push((table.position().unwrap_or(0), detached_part(prefix).to_owned()));
    });
    found.sort();
    let first = found.first().map_or(0, |(position, _)| *position);
    (first, found.into_iter().map(|(_, comments)| comments).collect())
}

/// Puts the comments that a table left at `position` above the table that follows, or at the end.
pub(super) fn insert_comments(document: &mut DocumentMut, position: isize, comments: &str) {
    if comments.is_empty() {
        return;
    }
    let mut next = isize::MAX;
    visit_headed(document.as_table(), &mut |table| {
        if let Some(own) = table.position().filter(|own| position < *own) {
            next = next.min(own);
        }
    });
    let mut is_put = false;
    visit_headed_mut(document.as_table_mut(), &mut |table| {
        if !is_put && table.position() == Some(next) {
            let own = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            let prefix = format!("{comments}{own}");
            table.decor_mut().set_prefix(prefix);
            is_put = true;
        }
    });
    if !is_put {
        let trailing = format!("{comments}{}", document.trailing().as_str().unwrap_or_default());
        document.set_trailing(trailing);
    }
}

/// Returns what stands above the last empty line.
fn detached_part(prefix: &str) -> &str {
    let mut end = 0;
    let mut kept = 0;
    for line in prefix.split_inclusive('\n') {
        if line.trim().is_empty() {
            kept = end;
        }
        end += line.len();
    }
    &prefix[..kept]
}

/// Calls `look` with every table that has a header, in no order.
fn visit_headed(table: &Table, look: &mut impl FnMut(&Table)) {
    if !table.is_dotted() && !table.is_implicit() {
        look(table);
    }
    for (_, item) in table {
        match item {
            Item::Table(below) => visit_headed(below, look),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|below| visit_headed(below, look)),
            Item::None | Item::Value(_) => {}
        }
    }
}

fn visit_headed_mut(table: &mut Table, change: &mut impl FnMut(&mut Table)) {
    if !table.is_dotted() && !table.is_implicit() {
        change(table);
    }
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(below) => visit_headed_mut(below, change),
            Item::ArrayOfTables(tables) => {
                tables.iter_mut().for_each(|below| visit_headed_mut(below, change))
            }
            Item::None | Item::Value(_) => {}
        }
    }
}
