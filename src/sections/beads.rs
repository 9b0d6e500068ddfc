//! The work that Beads tracks, in all versions of its formats.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::format::{DataSyntax, Error, parse};
use crate::model::{BeadIssue, BeadsList, collapse_whitespace};

/// The keys under which a list of issues may be wrapped.
const LIST_KEYS: [&str; 4] = ["issues", "beads", "data", "items"];

/// Reads issues: lines of JSON, of which invalid ones are counted; or one JSON value that contains them in a list, or
/// by id. Deleted issues and other records are skipped.
pub fn read_beads(bytes: &[u8], syntax: DataSyntax) -> Result<BeadsList, Error> {
    let mut found = BeadsReader::default();
    match syntax {
        DataSyntax::JsonLines => {
            // Each line is independent: a broken byte or merge conflict marks invalidate that line only.
            for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
                match serde_json::from_slice(line) {
                    Ok(value) => found.read_issue(&value, None),
                    Err(_) => found.skipped += 1,
                }
            }
        }
        DataSyntax::Json | DataSyntax::Toml => found.read_all(&parse(bytes, Some(syntax))?)?,
    }
    Ok(found.into_list())
}

#[derive(Default)]
struct BeadsReader {
    /// By id; the last record of an id counts, because line-based files are append-only.
    issues: BTreeMap<String, Option<BeadIssue>>,
    skipped: u64,
}

impl BeadsReader {
    fn read_all(&mut self, value: &Value) -> Result<(), Error> {
        let wrapped = value.as_object().and_then(|table| LIST_KEYS.iter().find_map(|key| table.get(*key)));
        match wrapped.unwrap_or(value) {
            // Some versions print an empty list as `null`.
            Value::Null => {}
            Value::Array(items) => {
                for item in items {
                    self.read_issue(item, None);
                }
            }
            issue @ Value::Object(table) if table.contains_key("id") => self.read_issue(issue, None),
            Value::Object(by_id) => {
                for (id, item) in by_id {
                    self.read_issue(item, Some(id));
                }
            }
            _ => return Err(Error::NoEntries { wanted: "a list of issues" }),
        }
        Ok(())
    }

    fn read_issue(&mut self, value: &Value, key: Option<&str>) {
        let Value::Object(issue) = value else {
            self.skipped += 1;
            return;
        };
        // Newer versions write memories between the issues.
        if issue.get("_type").and_then(Value::as_str).is_some_and(|kind| kind != "issue") {
            return;
        }
        let id = first_field(issue, &["id"]).or_else(|| key.map(collapse_whitespace));
        let title = first_field(issue, &["title", "name"]);
        // An id alone does not make an issue: other kinds of records have one too.
        let (Some(id), true) = (id, title.is_some() || issue.contains_key("status")) else {
            self.skipped += 1;
            return;
        };
        let status = first_field(issue, &["status", "state"]).unwrap_or_else(|| "open".to_owned());
        let status = status.to_lowercase().replace(['-', ' '], "_");
        // Deleted issues are kept to the end, because a deletion has to replace an earlier record with the same id.
        let is_gone = matches!(status.as_str(), "tombstone" | "deleted");
        let description = ["description", "body"].iter().find_map(|key| issue.get(*key)?.as_str());
        let bead = BeadIssue {
            id: id.clone(),
            title: title.unwrap_or_default(),
            status,
            description: description.unwrap_or_default().trim().to_owned(),
        };
        self.issues.insert(id, (!is_gone).then_some(bead));
    }

    fn into_list(self) -> BeadsList {
        let is_done =
            |bead: &BeadIssue| matches!(bead.status.as_str(), "closed" | "done" | "completed" | "resolved");
        let (completed, active) = self.issues.into_values().flatten().partition(is_done);
        BeadsList { completed, active, skipped: self.skipped, failure: None }
    }
}

/// Returns the first of these fields that is not empty, on one line.
fn first_field(issue: &Map<String, Value>, keys: &[&str]) -> Option<String> {
    let texts = keys.iter().filter_map(|key| match issue.get(*key)? {
        Value::String(text) => Some(collapse_whitespace(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    texts.into_iter().find(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ids of completed issues, those of active ones with their status, and how many entries were skipped.
    fn read(text: &str, syntax: DataSyntax) -> (Vec<String>, Vec<String>, u64) {
        let beads = read_beads(text.as_bytes(), syntax).unwrap();
        let active = beads.active.iter().map(|bead| format!("{} {}", bead.id, bead.status)).collect();
        (beads.completed.into_iter().map(|bead| bead.id).collect(), active, beads.skipped)
    }

    #[track_caller]
    fn check(text: &str, syntax: DataSyntax, completed: &[&str], active: &[&str], skipped: u64) {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(read(text, syntax), (owned(completed), owned(active), skipped), "{text}");
    }

    #[test]
    fn lines_of_any_version_are_read_and_sorted_by_id() {
        let lines = concat!(
            r#"{"id":"bd-3","title":"C","status":"in_progress","priority":1,"labels":["x"],"comments":[{}]}"#,
            "\n",
            r#"{"id":"bd-1","title":"A","status":"closed","close_reason":"done","issue_type":"epic"}"#,
            "\n\n",
            r#"{"id":"bd-2","title":"B","status":"tombstone","deleted_by":"a"}"#,
            "\r\n",
            r#"{"_type":"memory","key":"k","value":"v"}"#,
            "\n",
            r#"{"_type":"issue","id":"bd-4","title":"D"}"#,
            "\n",
            r#"{"id":"bd-5","title":"E","status":"In-Progress"}"#,
            "\n",
        );
        check(
            lines,
            DataSyntax::JsonLines,
            &["bd-1"],
            &["bd-3 in_progress", "bd-4 open", "bd-5 in_progress"],
            0,
        );
    }

    #[test]
    fn bad_lines_are_counted_and_cost_nothing_else() {
        let lines = "<<<<<<< HEAD\n{\"id\":\"a\",\"title\":\"A\"}\n{\"id\":\n[]\n{\"title\":\"no id\"}\n{\"id\":\"b\"}\n";
        check(lines, DataSyntax::JsonLines, &[], &["a open"], 5);
        let deep = format!("{}\n{{\"id\":\"a\",\"title\":\"A\"}}", "[".repeat(100_000));
        check(&deep, DataSyntax::JsonLines, &[], &["a open"], 1);
        let broken = read_beads(
            b"{\"id\":\"a\",\"title\":\"\xff\"}\n{\"id\":\"b\",\"title\":\"B\"}",
            DataSyntax::JsonLines,
        );
        assert_eq!(broken.unwrap().skipped, 1);
    }

    #[test]
    fn the_last_record_of_an_issue_counts() {
        let lines = "{\"id\":\"a\",\"title\":\"A\",\"status\":\"open\"}\n{\"id\":\"a\",\"title\":\"A\",\"status\":\"closed\"}\n";
        check(lines, DataSyntax::JsonLines, &["a"], &[], 0);
    }

    #[test]
    fn lists_may_be_bare_wrapped_or_keyed() {
        let issue = r#"{"id": 7, "name": "A\n b", "state": "done"}"#;
        check(&format!("[{issue}]"), DataSyntax::Json, &["7"], &[], 0);
        check(&format!(r#"{{"data": [{issue}], "error": null}}"#), DataSyntax::Json, &["7"], &[], 0);
        check(
            &format!(r#"{{"beads": {{"x": {{"title": "A"}}, "7": {issue}}}}}"#),
            DataSyntax::Json,
            &["7"],
            &["x open"],
            0,
        );
        check(r#"{"x": {"title": "A"}}"#, DataSyntax::Json, &[], &["x open"], 0);
        check(issue, DataSyntax::Json, &["7"], &[], 0);
        check("null", DataSyntax::Json, &[], &[], 0);
        assert!(read_beads(b"3", DataSyntax::Json).is_err());
        assert!(read_beads(b"not json", DataSyntax::Json).is_err());
        assert_eq!(read_beads(issue.as_bytes(), DataSyntax::Json).unwrap().completed[0].title, "A b");
    }
}
