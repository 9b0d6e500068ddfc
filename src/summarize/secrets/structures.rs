//! Secrets that are recognized by the surrounding lines, or by the grammar of URLs.

use std::ops::Range;

use crate::summarize::redact::url_secrets;
use crate::summarize::secrets::scan::SecretMatch;
use crate::summarize::secrets::values::is_placeholder;

/// Returns the secrets in URLs, in Kubernetes secrets and in Terraform states.
pub(super) fn find_structures(text: &str) -> Vec<SecretMatch> {
    let found = |rule, span| SecretMatch { rule, span, blocks_file: false };
    let mut all: Vec<SecretMatch> =
        in_addresses(text).into_iter().map(|span| found("address-password", span)).collect();
    all.extend(in_cluster_secrets(text).into_iter().map(|span| found("kubernetes-secret", span)));
    if let Some(at) = text.find("\"terraform_version\"").filter(|_| text.contains("\"lineage\"")) {
        // A state contains every attribute of every resource, under any name.
        all.push(SecretMatch { rule: "terraform-state", span: at..at + 1, blocks_file: true });
    }
    all
}

fn in_addresses(text: &str) -> Vec<Range<usize>> {
    let spans = url_secrets(text).into_iter().filter_map(|span| {
        let user_info = &text[span.clone()];
        let at = user_info.find(':').map_or(0, |colon| colon + 1);
        let password = &user_info[at..];
        let is_one = 4 <= password.len() && !is_placeholder(password) && !password.contains(is_no_part);
        is_one.then_some(span.start + at..span.end)
    });
    spans.collect()
}

/// Returns whether a character shows that a URL is a pattern or part of a sentence.
fn is_no_part(c: char) -> bool {
    matches!(c, '{' | '}' | '(' | ')' | '[' | ']' | '\\' | '|' | ',' | '<' | '>')
}

/// Returns the values under `data` and `stringData` of Kubernetes secrets.
fn in_cluster_secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !text.contains("kind: Secret") {
        return found;
    }
    // The least indentation of the values.
    let mut depth = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        if matches!(words, "data:" | "stringData:") {
            depth = Some(indent + 1);
            continue;
        }
        if words.is_empty() || words.starts_with('#') {
            continue;
        }
        depth = depth.filter(|depth| *depth <= indent);
        let value = words.split_once(": ").map(|(_, value)| value.trim().trim_matches(['"', '\'']));
        let value = value.filter(|value| 4 <= value.len() && !is_placeholder(value) && *value != "|-");
        if let (Some(_), Some(value)) = (depth, value)
            && let Some(offset) = line.rfind(value)
        {
            found.push(start + offset..start + offset + value.len());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&'static str, &str)> {
        find_structures(text).into_iter().map(|found| (found.rule, &text[found.span])).collect()
    }

    #[test]
    fn passwords_in_addresses_are_found_and_those_of_examples_are_not() {
        let text = "postgres://me:hunter2@db:5432/x and https://user:pass@h/ and http://{user}:{word}@h";
        assert_eq!(found(text), [("address-password", "hunter2")]);
    }

    #[test]
    fn every_value_of_a_cluster_s_secret_is_one() {
        let text = "kind: Secret\nmetadata:\n  name: abcdefgh\ndata:\n  x: aHVudGVyMg==\nstringData:\n  y: 'zzyzx'\ntype: Opaque\n";
        assert_eq!(found(text), [("kubernetes-secret", "aHVudGVyMg=="), ("kubernetes-secret", "zzyzx")]);
        assert_eq!(found(&text.replace("Secret", "ConfigMap")), []);
    }

    #[test]
    fn a_state_of_terraform_is_withheld() {
        let text = "{\"version\": 4, \"terraform_version\": \"1.5\", \"lineage\": \"x\"}";
        assert!(find_structures(text)[0].blocks_file);
        assert_eq!(found("\"terraform_version\""), []);
    }
}
