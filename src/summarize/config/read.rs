//! Selects the reader for a format, and reports files that cannot be read.

use crate::model::ConfigSyntax;

use super::super::data;
use super::super::heuristic::SummaryInput;
use super::super::opening;
use super::super::page::BUDGET;
use super::super::page::SummaryPage;
use super::super::redact;
use super::super::words;
use super::ConfigValue;
use super::json;
use super::lines;
use super::listing;
use super::listing::KeyListing;
use super::relaxed;
use super::toml;
use super::yaml;

/// Files up to this size are parsed as a whole; larger ones are data, whatever their name.
const PARSED_BYTES: usize = 1024 * 1024;

/// Bytes at the top that are read line by line.
const HEAD_BYTES: usize = 64 * 1024;

/// Describes a configuration file by its keys.
pub(in super::super) fn describe(source: &SummaryInput<'_>, syntax: ConfigSyntax) -> String {
    keys(source, syntax, BUDGET).text
}

/// Returns what a configuration file is, and its keys with redacted values, in about `budget` bytes.
pub(in super::super) fn keys(source: &SummaryInput<'_>, syntax: ConfigSyntax, budget: usize) -> KeyListing {
    let opening = opening::opening(source);
    let only = |text: String| KeyListing { text, is_cut: false };
    match syntax {
        ConfigSyntax::Toml | ConfigSyntax::Json if PARSED_BYTES < source.text.len() => {
            only(format!("{opening}, {}.", words::size(source.text.len())))
        }
        ConfigSyntax::Toml => match toml::read(source.text) {
            Some(value) => listing::render(&opening, &value, budget),
            None => listing::render(&unparsed(&opening), &by_lines(source, ConfigSyntax::Ini), budget),
        },
        ConfigSyntax::Json => match json::read(&relaxed::without_comments(source.text)) {
            Some(value) => listing::render(&opening, &value, budget),
            None => only(broken_json(&opening, source)),
        },
        ConfigSyntax::Yaml => {
            let yaml = yaml::read(&redact::without_pem(words::head(source.text, HEAD_BYTES)));
            if yaml.documents < 2 {
                return listing::render(&opening, &yaml.first, budget);
            }
            let documents = words::count(yaml.documents, "document", "documents");
            listing::render(&format!("{opening}, {documents}; the first"), &yaml.first, budget)
        }
        ConfigSyntax::Ini | ConfigSyntax::Env => match by_lines(source, syntax) {
            ConfigValue::Table(entries) if entries.is_empty() => only(data::beginning(source)),
            value => listing::render(&opening, &value, budget),
        },
    }
}

fn unparsed(opening: &str) -> String {
    format!("{opening}, which does not parse")
}

/// Lists the keys of malformed JSON, whose values cannot be told apart.
fn broken_json(opening: &str, source: &SummaryInput<'_>) -> String {
    let keys = relaxed::keys(words::head(source.text, HEAD_BYTES));
    let mut page = SummaryPage::new(&format!("{}.", unparsed(opening)));
    if !keys.is_empty() {
        page.push_clipped(&format!("Keys: {}", words::join_within(&keys, ", ", 300)), 320);
    }
    page.into_text()
}

fn by_lines(source: &SummaryInput<'_>, syntax: ConfigSyntax) -> ConfigValue {
    let head = redact::without_pem(words::head(source.text, HEAD_BYTES));
    match syntax {
        ConfigSyntax::Env => lines::environment(&head),
        ConfigSyntax::Ini | ConfigSyntax::Toml | ConfigSyntax::Json | ConfigSyntax::Yaml => {
            lines::sections(&head)
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::super::heuristic::tests::check;
    use super::super::super::heuristic::tests::summary;

    #[test]
    fn a_manifest_shows_its_keys() {
        check(
            "toml",
            "[package]\nname = \"slop\"\nversion = \"0.1.0\"\nauthors = [\"A <a@b.c>\"]\npublish = false\n\n[dependencies]\nclap = { version = \"4\", features = [\"derive\"] }\nserde = \"1\"\n\n[[bin]]\nname = \"x\"\n\n[profile.release]\nlto = \"thin\"\n[a.b.c.d]\ne = 1979-05-27\n[lints.clippy.pedantic]\nlevel = \"warn\"\n",
            expect![[r#"
                TOML, about 20 lines:
                package.name = "slop"
                package.version = "0.1.0"
                package.authors = [1 item]
                package.publish = false
                dependencies.clap.version = "4"
                dependencies.clap.features = [1 item]
                dependencies.serde = "1"
                bin = [1 item]
                profile.release.lto = "thin"
                a.b.c = {1 key}
                lints.clippy.pedantic = {1 key}"#]],
        );
    }

    #[test]
    fn what_does_not_parse_is_told_by_its_lines() {
        check(
            "toml",
            "[a]\nname = \"x\"\nbroken\npassword = \"hunter2\n",
            expect![[r#"
                TOML, a few lines, which does not parse:
                a.name = "x"
                a.password = [redacted]"#]],
        );
        check(
            "json",
            "{\n  \"a\": {\n    \"b\": 1\n  },\n  \"c\": \n",
            expect![[r"
                JSON, a few lines, which does not parse.
                Keys: a, c"]],
        );
        check("json", "[1, 2", expect!["JSON, 1 line, which does not parse."]);
    }

    #[test]
    fn json_with_comments_and_trailing_commas_is_read() {
        check(
            "json",
            "// settings\n{\n  /* strict */ \"strict\": true, // yes\n  \"url\": \"http://x//y\",\n  \"paths\": [\"a\", \"b\",],\n  \"a\": {\"b\": {\"c\": {\"d\": {\"e\": 1}}}},\n  \"n\": null, \"f\": 1.0, \"empty\": {},\n}\n",
            expect![[r#"
                JSON, a few lines:
                strict = true
                url = "http://x//y"
                paths = [2 items]
                a.b.c = {1 key}
                n = null
                f = 1.0
                empty = {}"#]],
        );
        check(
            "json",
            "[{\"id\": 1, \"token\": \"abc\"}, {\"id\": 2}]",
            expect![[r"
                JSON, 1 line: a list of 2 items; the first:
                id = 1
                token = [redacted]"]],
        );
        check("json", "\"text\"", expect!["JSON, 1 line: one value."]);
    }

    #[test]
    fn a_large_file_is_only_named() {
        let text = format!("[{}1]", "1,\n".repeat(600_000));
        assert_eq!(summary("json", &text, None), "JSON, about 500000 lines, about 1 MiB.");
    }

    #[test]
    fn a_deep_nest_does_not_parse_and_does_no_harm() {
        for open in ["[", "{\"a\":"] {
            let text = open.repeat(100_000);
            assert!(summary("json", &text, None).contains("does not parse"));
        }
        summary("toml", &format!("a = {}", "[".repeat(100_000)), None);
        summary("toml", &format!("a{} = 1", ".a".repeat(100_000)), None);
    }

    #[test]
    fn secrets_are_redacted_in_every_syntax() {
        check(
            "toml",
            "[db]\npassword = \"hunter2\"\npin = 1\nurl = \"postgres://u:p@h/d\"\n[auth]\nenabled = true\n",
            expect![[r#"
                TOML, a few lines:
                db.password = [redacted]
                db.pin = 1
                db.url = "postgres://[redacted]@h/d"
                auth.enabled = true"#]],
        );
        check(
            "json",
            "{\"apiKey\": \"abc\", \"secrets\": {\"a\": {\"b\": \"c\", \"n\": 4}}, \"max_tokens\": 100}",
            expect![[r"
                JSON, 1 line:
                apiKey = [redacted]
                secrets.a.b = [redacted]
                secrets.a.n = [redacted]
                max_tokens = 100"]],
        );
        check(
            "yaml",
            "password: hunter2\nauthor: me\ntoken: {{ .Values.token }}\nsecret: |\n  line\n  line\n",
            expect![[r#"
                YAML, a few lines:
                password = [redacted]
                author = "me"
                token = "{{ .Values.token }}"
                secret = [redacted]"#]],
        );
        check(
            "ini",
            "[db]\npasswd = hunter2\n; comment\nport = 5432\n",
            expect![[r"
                INI, a few lines:
                db.passwd = [redacted]
                db.port = 5432"]],
        );
        check(
            "env",
            "export DB_PASSWORD='hunter2'\nPORT=80\nKEY=\"-----BEGIN X-----\nabc=\n-----END X-----\"\n",
            expect![[r#"
                Environment, a few lines:
                DB_PASSWORD = [redacted]
                PORT = 80
                KEY = "[redacted]""#]],
        );
    }

    #[test]
    fn a_cluster_secret_hides_all_its_data() {
        check(
            "yaml",
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: YWRtaW4=\n  host: aG9zdA==\n---\nkind: ConfigMap\n",
            expect![[r#"
                YAML, a few lines, 2 documents; the first:
                apiVersion = "v1"
                kind = "Secret"
                metadata.name = "db"
                data.user = [redacted]
                data.host = [redacted]"#]],
        );
    }
}
