//! The table of file types, with the names and first lines by which they are recognized.
//!
//! A new type is a new row. Only the lookup itself refers to types by name.

use crate::model::{ConfigSyntax, FileRole, FileType};

/// A file type, and how it is recognized. Each list consists of words separated by blanks.
#[derive(Debug)]
pub(super) struct FileTypeRow {
    pub(super) file_type: FileType,
    /// Extensions in lowercase.
    pub(super) extensions: &'static str,
    pub(super) names: &'static str,
    /// Ends of names that take precedence over the extension, in lowercase.
    pub(super) endings: &'static str,
    /// First words of names with an unknown extension, in lowercase.
    pub(super) beginnings: &'static str,
    /// Programs in the `#!` of a first line, without their versions.
    pub(super) interpreters: &'static str,
}

impl FileTypeRow {
    const fn names(mut self, names: &'static str) -> Self {
        self.names = names;
        self
    }

    const fn endings(mut self, endings: &'static str) -> Self {
        self.endings = endings;
        self
    }

    const fn beginnings(mut self, beginnings: &'static str) -> Self {
        self.beginnings = beginnings;
        self
    }

    const fn run_by(mut self, interpreters: &'static str) -> Self {
        self.interpreters = interpreters;
        self
    }
}

const fn row(
    id: &'static str,
    name: &'static str,
    fence: &'static str,
    role: FileRole,
    extensions: &'static str,
) -> FileTypeRow {
    let file_type = FileType { id, name, fence, role };
    FileTypeRow { file_type, extensions, names: "", endings: "", beginnings: "", interpreters: "" }
}

const CODE: FileRole = FileRole::Code;
const PROSE: FileRole = FileRole::Prose;
const DATA: FileRole = FileRole::Data;
const TOML: FileRole = FileRole::Config(ConfigSyntax::Toml);
const JSON: FileRole = FileRole::Config(ConfigSyntax::Json);
const YAML: FileRole = FileRole::Config(ConfigSyntax::Yaml);
const INI: FileRole = FileRole::Config(ConfigSyntax::Ini);
const ENV: FileRole = FileRole::Config(ConfigSyntax::Env);

/// The type of headers unless their text or their neighbors indicate C++.
pub(super) const C: &str = "c";

/// The type of pointers of Git LFS, whatever the name of the file.
pub(super) const LFS_POINTER: &str = "lfs-pointer";

/// The type of C++ headers and of `.C`.
pub(super) const CPP: &str = "cpp";

/// The type of unknown files.
pub(super) static UNKNOWN: FileType =
    FileType { id: "unknown", name: "Text", fence: "", role: FileRole::Data };

/// All types except [`UNKNOWN`]. No word occurs twice in the same column.
// One row per line, whatever its length, so that the columns are readable.
#[rustfmt::skip]
pub(super) static FILE_TYPES: &[FileTypeRow] = &[
    // Code.
    row("python", "Python", "python", CODE, "py pyi pyw").names("SConstruct SConscript wscript").run_by("python pythonw pypy uv"),
    row(C, "C", "c", CODE, "c"),
    row(CPP, "C++", "cpp", CODE, "cc cpp cxx c++ cp hpp hh hxx h++ inl ipp tpp tcc txx ixx cppm ino"),
    row("rust", "Rust", "rust", CODE, "rs").run_by("rust-script"),
    row("javascript", "JavaScript", "javascript", CODE, "js mjs cjs jsx es6").run_by("node nodejs bun"),
    row("typescript", "TypeScript", "typescript", CODE, "ts mts cts").run_by("deno ts-node tsx"),
    row("tsx", "TSX", "tsx", CODE, "tsx"),
    row("go", "Go", "go", CODE, "go"),
    row("java", "Java", "java", CODE, "java"),
    row("csharp", "C#", "csharp", CODE, "cs csx").run_by("dotnet-script"),
    row("fsharp", "F#", "fsharp", CODE, "fs fsi fsx"),
    row("visual-basic", "Visual Basic", "vbnet", CODE, "vb vbs bas"),
    row("ruby", "Ruby", "ruby", CODE, "rb rake gemspec ru rbi podspec jbuilder thor").names("Appraisals Berksfile Dangerfile Thorfile Gemfile Rakefile Vagrantfile Podfile Fastfile Guardfile Brewfile Capfile").run_by("ruby jruby rake"),
    row("php", "PHP", "php", CODE, "php phtml php5 php7 ctp").run_by("php"),
    row("kotlin", "Kotlin", "kotlin", CODE, "kt kts").run_by("kotlin"),
    row("swift", "Swift", "swift", CODE, "swift").run_by("swift"),
    row("scala", "Scala", "scala", CODE, "scala sc sbt").run_by("scala scala-cli amm"),
    row("shell", "Shell", "bash", CODE, "sh bash zsh zsh-theme ksh dash ash bats command ebuild").names("PKGBUILD APKBUILD .bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv .zprofile .kshrc gradlew").run_by("sh bash zsh ksh mksh dash ash bats"),
    row("csh", "C shell", "csh", CODE, "csh tcsh").names(".cshrc .tcshrc").run_by("csh tcsh"),
    row("fish", "Fish", "fish", CODE, "fish").run_by("fish"),
    row("nushell", "Nushell", "nu", CODE, "nu").run_by("nu"),
    row("powershell", "PowerShell", "powershell", CODE, "ps1 psm1 psd1").run_by("pwsh powershell"),
    row("batch", "Batch", "bat", CODE, "bat cmd"),
    row("lua", "Lua", "lua", CODE, "lua luau rockspec").run_by("lua luajit"),
    row("sql", "SQL", "sql", CODE, "sql ddl dml psql plsql pgsql"),
    row("perl", "Perl", "perl", CODE, "pl pm t pod perl psgi").names("cpanfile").run_by("perl"),
    row("raku", "Raku", "raku", CODE, "raku rakumod p6 pm6").run_by("raku perl6"),
    row("r", "R", "r", CODE, "r").names(".Rprofile").run_by("Rscript r"),
    row("julia", "Julia", "julia", CODE, "jl").run_by("julia"),
    row("haskell", "Haskell", "haskell", CODE, "hs lhs hsc").run_by("runghc runhaskell stack"),
    row("cabal", "Cabal", "cabal", CODE, "cabal"),
    row("ocaml", "OCaml", "ocaml", CODE, "ml mli mll mly").run_by("ocaml"),
    row("elixir", "Elixir", "elixir", CODE, "ex exs").run_by("elixir"),
    row("eex", "Embedded Elixir", "eex", CODE, "eex leex heex"),
    row("erlang", "Erlang", "erlang", CODE, "erl hrl escript").names("rebar.config").run_by("escript"),
    row("clojure", "Clojure", "clojure", CODE, "clj cljs cljc edn bb").run_by("bb clojure"),
    row("dart", "Dart", "dart", CODE, "dart").run_by("dart"),
    row("zig", "Zig", "zig", CODE, "zig zon"),
    row("nim", "Nim", "nim", CODE, "nim nims nimble").run_by("nim"),
    row("crystal", "Crystal", "crystal", CODE, "cr").run_by("crystal"),
    row("d", "D", "d", CODE, "d di").run_by("rdmd"),
    row("vala", "Vala", "vala", CODE, "vala vapi"),
    row("gleam", "Gleam", "gleam", CODE, "gleam"),
    row("elm", "Elm", "elm", CODE, "elm"),
    row("purescript", "PureScript", "purescript", CODE, "purs"),
    row("solidity", "Solidity", "solidity", CODE, "sol"),
    row("move", "Move", "move", CODE, "move"),
    row("objective-c", "Objective-C", "objectivec", CODE, "m"),
    row("objective-cpp", "Objective-C++", "objectivec", CODE, "mm"),
    row("cuda", "CUDA", "cuda", CODE, "cu cuh"),
    row("opencl", "OpenCL", "opencl", CODE, "cl"),
    row("glsl", "GLSL", "glsl", CODE, "glsl vert frag geom tesc tese comp"),
    row("hlsl", "HLSL", "hlsl", CODE, "hlsl fx fxh compute cginc usf ush"),
    row("wgsl", "WGSL", "wgsl", CODE, "wgsl"),
    row("metal", "Metal", "metal", CODE, "metal"),
    row("fortran", "Fortran", "fortran", CODE, "f for ftn f77 f90 f95 f03 f08 fpp"),
    row("ada", "Ada", "ada", CODE, "adb ads ada gpr"),
    row("pascal", "Pascal", "pascal", CODE, "pas pp dpr lpr"),
    row("cobol", "COBOL", "cobol", CODE, "cob cbl cpy"),
    row("assembly", "Assembly", "asm", CODE, "s asm nasm"),
    row("llvm", "LLVM IR", "llvm", CODE, "ll"),
    row("webassembly", "WebAssembly text", "wasm", CODE, "wat wast"),
    row("vhdl", "VHDL", "vhdl", CODE, "vhd vhdl"),
    row("verilog", "Verilog", "verilog", CODE, "v vh sv svh"),
    row("tcl", "Tcl", "tcl", CODE, "tcl tk exp itcl").run_by("tclsh wish expect"),
    row("groovy", "Groovy", "groovy", CODE, "groovy gradle gvy").names("Jenkinsfile").beginnings("jenkinsfile").run_by("groovy"),
    row("vim", "Vim script", "vim", CODE, "vim").names(".vimrc _vimrc .gvimrc .exrc vimrc"),
    row("emacs-lisp", "Emacs Lisp", "elisp", CODE, "el").names(".emacs").run_by("emacs"),
    row("lisp", "Common Lisp", "lisp", CODE, "lisp lsp asd").run_by("sbcl clisp ecl"),
    row("scheme", "Scheme", "scheme", CODE, "scm ss sld sls").run_by("guile chibi-scheme csi"),
    row("racket", "Racket", "racket", CODE, "rkt rktl").run_by("racket"),
    row("prolog", "Prolog", "prolog", CODE, "prolog plt").run_by("swipl gprolog"),
    row("matlab", "MATLAB", "matlab", CODE, "mlx matlab").run_by("octave"),
    row("mathematica", "Wolfram", "mathematica", CODE, "wl wls").run_by("wolframscript"),
    row("cython", "Cython", "cython", CODE, "pyx pxd pxi"),
    row("coq", "Coq", "coq", CODE, "coq"),
    row("lean", "Lean", "lean", CODE, "lean"),
    row("agda", "Agda", "agda", CODE, "agda lagda"),
    row("awk", "AWK", "awk", CODE, "awk gawk").run_by("awk gawk mawk nawk"),
    row("sed", "sed", "sed", CODE, "sed").run_by("sed gsed"),
    row("m4", "M4", "m4", CODE, "m4 ac").names("configure.in"),
    row("yacc", "Yacc", "yacc", CODE, "y yy ypp"),
    row("lex", "Lex", "lex", CODE, "l lpp lex"),
    row("antlr", "ANTLR", "antlr", CODE, "g4"),
    row("jq", "jq", "jq", CODE, "jq").run_by("jq"),
    row("gdscript", "GDScript", "gdscript", CODE, "gd"),
    row("applescript", "AppleScript", "applescript", CODE, "applescript scpt").run_by("osascript"),
    row("autohotkey", "AutoHotkey", "autohotkey", CODE, "ahk"),
    row("gnuplot", "gnuplot", "gnuplot", CODE, "gp gnuplot plot").run_by("gnuplot"),
    row("linker-script", "Linker script", "ld", CODE, "ld lds"),
    row("protobuf", "Protocol Buffers", "protobuf", CODE, "proto"),
    row("thrift", "Thrift", "thrift", CODE, "thrift"),
    row("capnp", "Cap'n Proto", "capnp", CODE, "capnp"),
    row("flatbuffers", "FlatBuffers", "fbs", CODE, "fbs"),
    row("idl", "Interface definition", "idl", CODE, "idl webidl aidl"),
    row("asn1", "ASN.1", "asn1", CODE, "asn asn1"),
    row("graphql", "GraphQL", "graphql", CODE, "graphql gql graphqls"),
    row("prisma", "Prisma", "prisma", CODE, "prisma"),
    row("html", "HTML", "html", CODE, "html htm xhtml shtml"),
    row("css", "CSS", "css", CODE, "css"),
    row("scss", "SCSS", "scss", CODE, "scss"),
    row("sass", "Sass", "sass", CODE, "sass"),
    row("less", "Less", "less", CODE, "less"),
    row("stylus", "Stylus", "stylus", CODE, "styl"),
    row("vue", "Vue", "vue", CODE, "vue"),
    row("svelte", "Svelte", "svelte", CODE, "svelte"),
    row("astro", "Astro", "astro", CODE, "astro"),
    row("qml", "QML", "qml", CODE, "qml"),
    row("coffeescript", "CoffeeScript", "coffeescript", CODE, "coffee").run_by("coffee"),
    row("jinja", "Jinja", "jinja", CODE, "j2 jinja jinja2 njk"),
    row("handlebars", "Handlebars", "handlebars", CODE, "hbs handlebars mustache"),
    row("erb", "ERB", "erb", CODE, "erb"),
    row("pug", "Pug", "pug", CODE, "pug jade"),
    row("haml", "Haml", "haml", CODE, "haml slim"),
    row("liquid", "Liquid", "liquid", CODE, "liquid"),
    row("twig", "Twig", "twig", CODE, "twig"),
    row("blade", "Blade", "blade", CODE, "").endings(".blade.php"),
    row("razor", "Razor", "razor", CODE, "cshtml razor"),
    row("go-template", "Go template", "gotmpl", CODE, "tmpl gotmpl gohtml tpl"),
    row("make", "Make", "makefile", CODE, "mk mak make am").names("makefile Kbuild").endings("makefile.in").beginnings("makefile gnumakefile").run_by("make gmake"),
    row("cmake", "CMake", "cmake", CODE, "cmake").names("CMakeLists.txt").endings(".cmake.in"),
    row("meson", "Meson", "meson", CODE, "").names("meson.build meson_options.txt meson.options"),
    row("starlark", "Starlark", "python", CODE, "bzl bazel star sky").names("BUILD WORKSPACE BUCK Tiltfile"),
    row("ninja", "Ninja", "ninja", CODE, "ninja"),
    row("qmake", "qmake", "qmake", CODE, "pro pri"),
    row("gn", "GN", "gn", CODE, "gn gni"),
    row("just", "Just", "just", CODE, "just").names("justfile Justfile .justfile").run_by("just"),
    row("kconfig", "Kconfig", "kconfig", CODE, "").beginnings("kconfig"),
    row("dockerfile", "Dockerfile", "dockerfile", CODE, "dockerfile containerfile").beginnings("dockerfile containerfile"),
    row("nix", "Nix", "nix", CODE, "nix"),
    row("terraform", "Terraform", "hcl", CODE, "tf tfvars hcl").names("Vaultfile"),
    row("bicep", "Bicep", "bicep", CODE, "bicep"),
    row("puppet", "Puppet", "puppet", CODE, "epp"),
    row("rego", "Rego", "rego", CODE, "rego"),
    row("cue", "CUE", "cue", CODE, "cue"),
    row("jsonnet", "Jsonnet", "jsonnet", CODE, "jsonnet libsonnet"),
    row("dhall", "Dhall", "dhall", CODE, "dhall"),
    row("mermaid", "Mermaid", "mermaid", CODE, "mmd mermaid"),
    row("graphviz", "Graphviz", "dot", CODE, "dot gv"),
    row("plantuml", "PlantUML", "plantuml", CODE, "puml plantuml"),
    row("rpm-spec", "RPM spec", "spec", CODE, "spec"),
    row("device-tree", "Device tree", "dts", CODE, "dts dtsi"),
    row("apex", "Apex", "apex", CODE, "cls trigger"),
    row("soql", "SOQL", "sql", CODE, "soql"),
    row("abap", "ABAP", "abap", CODE, "abap"),
    row("rpg", "RPG", "rpg", CODE, "rpgle sqlrpgle"),
    row("processing", "Processing", "java", CODE, "pde"),
    row("actionscript", "ActionScript", "actionscript", CODE, "as"),
    row("mxml", "MXML", "xml", CODE, "mxml"),
    row("haxe", "Haxe", "haxe", CODE, "hx"),
    row("reason", "Reason", "reason", CODE, "re rei"),
    row("rescript", "ReScript", "rescript", CODE, "res resi"),
    row("standard-ml", "Standard ML", "sml", CODE, "sml"),
    row("odin", "Odin", "odin", CODE, "odin"),
    row("mojo", "Mojo", "mojo", CODE, "mojo"),
    row("roc", "Roc", "roc", CODE, "roc"),
    row("idris", "Idris", "idris", CODE, "idr lidr"),
    row("fstar", "F*", "fstar", CODE, "fst fsti"),
    row("dafny", "Dafny", "dafny", CODE, "dfy"),
    row("isabelle", "Isabelle", "isabelle", CODE, "thy"),
    row("tla", "TLA+", "tla", CODE, "tla"),
    row("cairo", "Cairo", "cairo", CODE, "cairo"),
    row("vyper", "Vyper", "vyper", CODE, "vy"),
    row("nextflow", "Nextflow", "groovy", CODE, "nf").names("nextflow.config"),
    row("snakemake", "Snakemake", "python", CODE, "smk").names("Snakefile"),
    row("wdl", "WDL", "wdl", CODE, "wdl"),
    row("stan", "Stan", "stan", CODE, "stan"),
    row("sas", "SAS", "sas", CODE, "sas"),
    row("stata", "Stata", "stata", CODE, "do ado mata"),
    row("shaderlab", "ShaderLab", "shaderlab", CODE, "shader"),
    row("godot-shader", "GDShader", "glsl", CODE, "gdshader gdshaderinc"),
    row("gherkin", "Gherkin", "gherkin", CODE, "feature"),
    row("robot", "Robot Framework", "robotframework", CODE, "robot resource"),
    row("cram", "Cram test", "console", CODE, ""),
    row("jsp", "Java Server Pages", "jsp", CODE, "jsp jspx jspf"),
    row("ejs", "EJS", "ejs", CODE, "ejs"),
    row("freemarker", "FreeMarker", "ftl", CODE, "ftl ftlh"),
    row("velocity", "Velocity", "velocity", CODE, "vm vtl"),
    row("coldfusion", "ColdFusion", "cfm", CODE, "cfm cfml"),
    row("coldfusion-cfc", "ColdFusion CFC", "cfc", CODE, "cfc"),
    row("asp", "Classic ASP", "asp", CODE, "asp"),
    row("aspx", "ASP.NET", "aspx-cs", CODE, "aspx ascx asax"),
    row("mako", "Mako", "mako", CODE, "mako"),
    row("latte", "Latte", "latte", CODE, "latte"),
    row("volt", "Volt", "volt", CODE, "volt"),
    row("templ", "templ", "templ", CODE, "templ"),
    row("helm", "Helm template", "yaml", CODE, ""),
    // Prose.
    row("markdown", "Markdown", "markdown", PROSE, "md markdown mdown mkd mkdn mdx qmd rmd"),
    row("rst", "reStructuredText", "rst", PROSE, "rst rest"),
    row("asciidoc", "AsciiDoc", "asciidoc", PROSE, "adoc asciidoc asc"),
    row("org", "Org", "org", PROSE, "org"),
    row("latex", "LaTeX", "latex", PROSE, "tex ltx latex sty dtx"),
    row("bibtex", "BibTeX", "bibtex", DATA, "bib"),
    row("typst", "Typst", "typst", PROSE, "typ"),
    row("text", "Plain text", "", PROSE, "txt text").beginnings("readme license licence licenses unlicense copying copyright copyrights notice authors contributors contributing maintainers credits thanks changelog changes history news todo install faq patents version"),
    row("man", "Manual page", "roff", PROSE, "man roff 1 2 3 4 5 6 7 8 9 mdoc"),
    row("texinfo", "Texinfo", "texinfo", PROSE, "texi texinfo txi"),
    row("wiki", "Wiki", "", PROSE, "wiki mediawiki"),
    // Configuration.
    row("toml", "TOML", "toml", TOML, "toml").names("Pipfile"),
    row("json", "JSON", "json", JSON, "json jsonc json5 webmanifest geojson avsc code-workspace jsonld").names(".babelrc .eslintrc .jshintrc .jscsrc .swcrc .prettierrc .stylelintrc .watchmanconfig .arcconfig"),
    row("yaml", "YAML", "yaml", YAML, "yaml yml").names(".clang-format .clang-tidy .clangd .yamllint"),
    row("ini", "INI", "ini", INI, "ini cfg conf cnf properties desktop service socket timer mount target inf reg prefs url editorconfig").names(".editorconfig .gitconfig .gitmodules .npmrc .pypirc .pylintrc .flake8 .coveragerc .hgrc pylintrc"),
    row("env", "Environment", "dotenv", ENV, "env").names(".envrc").beginnings(".env"),
    row("ignore", "Ignore rules", "gitignore", DATA, "gitignore dockerignore").names(".gitignore .ignore .slopignore .dockerignore .npmignore .eslintignore .prettierignore .hgignore .helmignore .gcloudignore .gitattributes .mailmap CODEOWNERS"),
    // Data.
    row("csv", "CSV", "csv", DATA, "csv"),
    row("tsv", "TSV", "tsv", DATA, "tsv tab"),
    row("jsonl", "JSON lines", "json", DATA, "jsonl ndjson"),
    row("notebook", "Jupyter notebook", "json", DATA, "ipynb"),
    row("lock", "Lock file", "", DATA, "lock lockb lockfile").names("package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum go.work.sum packages.lock.json Package.resolved .terraform.lock.hcl pylock.toml"),
    row("minified-javascript", "Minified JavaScript", "javascript", DATA, "").endings(".min.js .min.mjs .min.cjs .bundle.js"),
    row("minified-css", "Minified CSS", "css", DATA, "").endings(".min.css"),
    row("source-map", "Source map", "json", DATA, "map").endings(".js.map .css.map"),
    row("xml", "XML", "xml", DATA, "xml xsd xsl xslt rng dtd wsdl plist csproj vbproj fsproj vcxproj props targets nuspec resx xaml ui qrc storyboard xib kml gpx rss atom"),
    row("svg", "SVG", "xml", DATA, "svg"),
    row("gettext", "Translations", "po", DATA, "po pot"),
    row("strings", "Translations of Apple's kind", "", DATA, "strings xliff xlf"),
    row("diff", "Diff", "diff", DATA, "diff patch rej"),
    row("log", "Log", "", DATA, "log"),
    row("pem", "Keys and certificates", "", DATA, "pem crt cer csr key pub"),
    row("subtitle", "Subtitles", "", DATA, "srt vtt sub ass ssa"),
    row("snapshot", "Snapshot", "", DATA, "snap"),
    row("mesh", "Geometry", "", DATA, "obj stl ply mtl gltf"),
    row("postscript", "PostScript", "postscript", DATA, "ps eps"),
    row("rtf", "Rich text", "", DATA, "rtf"),
    // Recognized only by its first line: a file that Git LFS has not fetched.
    row(LFS_POINTER, "Git LFS pointer", "", DATA, ""),
    row("checksum", "Checksums", "", DATA, "md5 sha1 sha256 sha512").names("SHA256SUMS SHA512SUMS MD5SUMS"),
    row("go-mod", "Go module", "go-mod", DATA, "").names("go.mod go.work"),
];
