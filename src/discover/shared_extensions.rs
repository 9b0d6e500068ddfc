//! Extensions that several languages share, for which the text of a file decides.

use crate::model::RelPath;

/// The number of lines that are checked.
const MAX_LINES: usize = 200;

/// A language whose files have an extension that the table of file types gives to another one.
struct SharedExtension {
    extensions: &'static [&'static str],
    /// The id of the language.
    id: &'static str,
    /// Whether a file is in that language, by its path and its text.
    is_in: fn(&RelPath, &str) -> bool,
}

const SHARED: [SharedExtension; 7] = [
    SharedExtension { extensions: &["h"], id: "objective-c", is_in: |_, text| is_objective_c(text) },
    SharedExtension { extensions: &["cls"], id: "latex", is_in: |_, text| is_tex(text) },
    SharedExtension { extensions: &["ts"], id: "xml", is_in: |_, text| is_xml(text) },
    SharedExtension { extensions: &["t"], id: "cram", is_in: |_, text| is_cram(text) },
    SharedExtension { extensions: &["m"], id: "matlab", is_in: |_, text| is_matlab(text) },
    SharedExtension { extensions: &["v"], id: "coq", is_in: |_, text| is_coq(text) },
    SharedExtension { extensions: &["yaml", "yml", "txt"], id: "helm", is_in: is_helm },
];

/// Returns the id of the language of a text if it is not the usual one of its extension.
pub(super) fn type_by_text(path: &RelPath, text: &str) -> Option<&'static str> {
    sharing(path).find(|shared| (shared.is_in)(path, text)).map(|shared| shared.id)
}

/// Returns whether a file with this name may be in the language although it is not the usual one of its extension.
pub(super) fn may_be(path: &RelPath, id: &str) -> bool {
    sharing(path).any(|shared| shared.id == id)
}

fn sharing(path: &RelPath) -> impl Iterator<Item = &'static SharedExtension> {
    let extension = path.extension().map(<[u8]>::to_ascii_lowercase).unwrap_or_default();
    let is_shared = move |shared: &&SharedExtension| {
        shared.extensions.iter().any(|other| other.as_bytes() == extension.as_slice())
    };
    SHARED.iter().filter(is_shared)
}

/// Returns whether a text is a LaTeX class instead of an Apex class.
fn is_tex(text: &str) -> bool {
    text.trim_start().starts_with(['\\', '%'])
        || text.lines().take(MAX_LINES).any(|line| {
            let line = line.trim_start();
            line.starts_with("\\ProvidesClass") || line.starts_with("\\NeedsTeXFormat")
        })
}

/// Returns whether a text is a Qt translation instead of TypeScript.
fn is_xml(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with("<?xml") || text.starts_with("<!DOCTYPE TS")
}

/// Returns whether a text is a cram test, which has shell commands with their output, instead of a Perl test.
fn is_cram(text: &str) -> bool {
    const PERL: [&str; 6] = ["use ", "package ", "my ", "our ", "require ", "plan "];
    let is_perl = |line: &str| {
        line.contains(';') && PERL.iter().any(|start| line.starts_with(start))
            || line.starts_with("#!") && line.contains("perl")
    };
    let mut lines = text.lines().take(MAX_LINES);
    !text.lines().take(MAX_LINES).any(is_perl) && lines.any(|line| line.starts_with("  $ "))
}

/// Returns whether a text is MATLAB instead of Objective-C.
fn is_matlab(text: &str) -> bool {
    const STARTS: [&str; 3] = ["%", "function ", "classdef "];
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty()).unwrap_or_default();
    STARTS.iter().any(|start| first.starts_with(start))
}

/// Returns whether a text is a theory of Coq instead of Verilog.
fn is_coq(text: &str) -> bool {
    const STARTS: [&str; 8] =
        ["(*", "Require ", "From ", "Import ", "Export ", "Set Implicit", "Theorem ", "Lemma "];
    // An attribute of Verilog begins in the same way as a comment of Coq.
    let first = text.lines().map(str::trim_start).find(|line| !line.is_empty()).unwrap_or_default();
    STARTS.iter().any(|start| first.starts_with(start)) && !text.contains("endmodule")
}

/// Returns whether a header has declarations that only Objective-C has, and does not support C and C++ as well.
fn is_objective_c(text: &str) -> bool {
    let is_declaration = |line: &str| line.starts_with("@interface ") || line.starts_with("@protocol ");
    text.lines().take(MAX_LINES).any(is_declaration) && !text.contains("__OBJC__")
}

/// Returns whether a text is a Helm template: it has actions of Go templates, in a folder of templates or on lines of
/// their own, where YAML cannot have them.
fn is_helm(path: &RelPath, text: &str) -> bool {
    let is_in_templates = path.parent().split(|byte| *byte == b'/').any(|folder| folder == b"templates");
    let is_yaml = path.extension() != Some(b"txt");
    let is_action = |line: &str| {
        let rest = line.trim_start();
        let is_line = is_yaml && rest.starts_with("{{-") && is_go_action(rest);
        is_line || is_in_templates && line.match_indices("{{").any(|(at, _)| is_go_action(&line[at..]))
    };
    text.lines().take(MAX_LINES).any(is_action)
}

/// Returns whether a text that begins with `{{` begins with an action of Go templates, as opposed to Jinja or
/// Handlebars.
fn is_go_action(text: &str) -> bool {
    const ACTIONS: [&str; 7] = ["if ", "range ", "with ", "define \"", "include \"", "template \"", "/*"];
    let inside = text.trim_start_matches('{');
    let inside = inside.strip_prefix('-').unwrap_or(inside).trim_start();
    let is_field = |sign| inside.strip_prefix(sign).is_some_and(|name| name.starts_with(char::is_alphabetic));
    is_field('.') || is_field('$') || ACTIONS.iter().any(|action| inside.starts_with(action))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expected: Option<&str>) {
        let path = RelPath::new(path.as_bytes()).unwrap();
        assert_eq!(type_by_text(&path, text), expected, "{path}: {text}");
    }

    #[test]
    fn the_text_decides_between_the_languages_of_an_extension() {
        check("a.cls", "% A class.\n\\ProvidesClass{a}\n", Some("latex"));
        check("a.cls", "/* x */\n\\NeedsTeXFormat{LaTeX2e}\n", Some("latex"));
        check("a.cls", "/** x */\npublic with sharing class A {}\n", None);
        check("translations/a_de.ts", "<?xml version=\"1.0\"?>\n<TS/>\n", Some("xml"));
        check("a_de.ts", "<!DOCTYPE TS>\n<TS/>\n", Some("xml"));
        check("a.ts", "#!/usr/bin/env deno\nconst a = <T>b;\n", None);
        check("run.t", "Builds it:\n\n  $ dune build\n  ok\n", Some("cram"));
        check("run.t", "use strict;\n  $ dune build\n", None);
        check("run.t", "ok(1);\n", None);
        check("a.h", "// A.\n#import <A/A.h>\n@interface A : NSObject\n@end\n", Some("objective-c"));
        check("a.h", "#ifdef __OBJC__\n@interface A : NSObject\n@end\n#else\nclass A;\n#endif\n", None);
        check("a.h", "#import <A/A.h>\nextern NSString *const a;\n", None);
        check("a.m", "% Solves it.\nfunction x = f(y)\n", Some("matlab"));
        check("a.m", "#import \"A.h\"\n@implementation A\n", None);
        check("a.v", "(** A. *)\nRequire Import B.\n", Some("coq"));
        check("a.v", "// A.\nmodule a;\nendmodule\n", None);
        check("a.v", "(* top *) module a;\nendmodule\n", None);
        check("a.rs", "% x", None);
    }

    #[test]
    fn a_helm_template_is_recognized_by_actions_of_go() {
        check("c/templates/a.yaml", "kind: A\nname: {{ .Values.name }}\n", Some("helm"));
        check("c/templates/NOTES.txt", "{{- range .Values.hosts }}\n", Some("helm"));
        check("c/templates/a.yaml", "kind: A\n", None);
        check("roles/x/templates/a.yml", "name: {{ name }}\n{{ end_date }}\n", None);
        check("c/files/a.yaml", "{{- if $.Values.a }}\nkind: A\n{{- end }}\n", Some("helm"));
        check("Taskfile.yml", "  cmd: echo {{.NAME}}\n", None);
        check("app/templates/mail.html", "{{ .Values.name }}", None);
    }
}
