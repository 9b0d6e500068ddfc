//! Secrets that the structure around them reveals: passwords in URLs, Kubernetes secrets and Terraform states.

use std::ops::Range;

use memchr::memmem;

use super::generated::is_camel_case;
use super::scan::SecretMatch;
use super::values::{is_placeholder, is_variable, url_secrets};

const SECRET_KIND: &str = "kind: Secret";

/// Returns the secrets in URLs, in Kubernetes secrets and in Terraform states.
pub(super) fn find_structures(text: &str) -> Vec<SecretMatch> {
    let found = |rule, span| SecretMatch { rule, span, blocks_file: false };
    let mut all: Vec<SecretMatch> =
        in_addresses(text).into_iter().map(|span| found("address-password", span)).collect();
    all.extend(in_cluster_secrets(text).into_iter().map(|span| found("kubernetes-secret", span)));
    let has = |words: &str| memmem::find(text.as_bytes(), words.as_bytes()).is_some();
    if has("\"terraform_version\"") && has("\"lineage\"") {
        // A state contains every attribute of every resource, under any name.
        all.push(SecretMatch { rule: "terraform-state", span: 0..text.len(), blocks_file: true });
    }
    all
}

fn in_addresses(text: &str) -> Vec<Range<usize>> {
    let spans = url_secrets(text).into_iter().filter_map(|span| {
        let user_info = &text[span.clone()];
        let at = user_info.find(':').map_or(0, |colon| colon + 1);
        let password = &user_info[at..];
        let is_one = 4 <= password.len()
            && !is_placeholder(password)
            && !is_variable(password)
            && !password.contains(is_no_part)
            // The name of a kind of credentials: `azureblockblob://DefaultAzureCredential@account`.
            && (0 < at || !is_camel_case(password));
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
    if memmem::find(text.as_bytes(), SECRET_KIND.as_bytes()).is_none() {
        return found;
    }
    let mut manifest = Manifest::default();
    // The delimiter of the literal that contains the manifest, in the text of a program.
    let mut delimiter = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let closing = delimiter.and_then(|delimiter: &str| Some((line.find(delimiter)?, delimiter.len())));
        let (read, rest) = match closing {
            Some((end, length)) => (&line[..end], Some(&line[end + length..])),
            None => (line, delimiter.is_none().then_some(line)),
        };
        manifest.read(start, read);
        let opened = rest.and_then(opened_literal);
        // The program between two literals belongs to no manifest.
        if closing.is_some() || opened.is_some() || line.starts_with("---") {
            found.append(&mut std::mem::take(&mut manifest).secret_values());
        }
        if rest.is_some() {
            delimiter = opened;
        }
    }
    found.append(&mut manifest.secret_values());
    found
}

/// Returns the delimiter of a literal that continues on the next line. In YAML, no value begins with one of them.
fn opened_literal(line: &str) -> Option<&'static str> {
    ["`", "\"\"\"", "'''"].into_iter().find(|delimiter| {
        let before = line.rfind(delimiter).map(|at| &line[..at]);
        let is_start =
            |before: &str| before.is_empty() || before.ends_with(|c: char| !c.is_alphanumeric() && c != '\\');
        before.is_some_and(is_start) && line.matches(delimiter).count() % 2 == 1
    })
}

/// The lines of one YAML document.
#[derive(Default)]
struct Manifest {
    is_secret: bool,
    /// The least indentation of the values.
    depth: Option<usize>,
    values: Vec<Range<usize>>,
}

impl Manifest {
    /// Reads a line that begins at a position of the text.
    fn read(&mut self, start: usize, line: &str) {
        self.is_secret |= line.contains(SECRET_KIND);
        let words = line.trim();
        let indent = line.len() - line.trim_start().len();
        if matches!(words, "data:" | "stringData:") {
            self.depth = Some(indent + 1);
            return;
        }
        if words.is_empty() || words.starts_with('#') {
            return;
        }
        self.depth = self.depth.filter(|depth| *depth <= indent);
        let value = words.split_once(": ").map(|(_, value)| value.trim().trim_matches(['"', '\'']));
        let value = value.filter(|value| 4 <= value.len() && !is_placeholder(value) && *value != "|-");
        if let (Some(_), Some(value)) = (self.depth, value)
            && let Some(offset) = line.rfind(value)
        {
            self.values.push(start + offset..start + offset + value.len());
        }
    }

    fn secret_values(self) -> Vec<Range<usize>> {
        if self.is_secret { self.values } else { Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_structures(text: &str) -> Vec<(&'static str, &str)> {
        find_structures(text).into_iter().map(|found| (found.rule, &text[found.span])).collect()
    }

    #[test]
    fn passwords_in_urls_are_found_except_in_examples() {
        let text = "postgres://me:hunter2@db:5432/x and https://user:pass@h/ and http://{user}:{word}@h and ftp://SHOP_USER:SHOP_PASSWORD@h";
        assert_eq!(found_structures(text), [("address-password", "hunter2")]);
    }

    #[test]
    fn every_value_of_a_kubernetes_secret_is_found() {
        let text = "kind: Secret\nmetadata:\n  name: abcdefgh\ndata:\n  x: aHVudGVyMg==\nstringData:\n  y: 'zzyzx'\ntype: Opaque\n";
        assert_eq!(
            found_structures(text),
            [("kubernetes-secret", "aHVudGVyMg=="), ("kubernetes-secret", "zzyzx")]
        );
        assert_eq!(found_structures(&text.replace("Secret", "ConfigMap")), []);
    }

    #[test]
    fn the_values_of_another_manifest_are_no_secrets() {
        let text = "kind: ConfigMap\ndata:\n  x: plain\n---\ndata:\n  y: zzyzx\nkind: Secret\n---\ndata:\n  z: plain\n";
        assert_eq!(found_structures(text), [("kubernetes-secret", "zzyzx")]);
    }

    #[test]
    fn a_manifest_in_a_program_ends_with_its_literal() {
        for quote in ["`", "\"\"\"", "'''"] {
            let text = format!(
                "f({quote}\nkind: Secret\ndata:\n  x: zzyzx\n  y: 3{quote}, hash, {quote}\nkind: ConfigMap\n{quote})\ndata:\n  z: plain\n"
            );
            assert_eq!(found_structures(&text), [("kubernetes-secret", "zzyzx")], "{quote}");
        }
        let text = "kind: Secret\nstringData:\n  x: zz`yzx\n  y: zzy`zx\n";
        assert_eq!(
            found_structures(text),
            [("kubernetes-secret", "zz`yzx"), ("kubernetes-secret", "zzy`zx")],
            "no literal begins within a word"
        );
    }

    #[test]
    fn a_terraform_state_is_withheld() {
        let text = "{\"version\": 4, \"terraform_version\": \"1.5\", \"lineage\": \"x\"}";
        assert!(find_structures(text)[0].blocks_file);
        assert_eq!(found_structures("\"terraform_version\""), []);
    }
}
