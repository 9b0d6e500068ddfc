//! Decides whether a path in an installed package means a file of the project.
//!
//! A trace runs through packages and standard libraries, many of whose files have names that the project has too:
//! `index.js`, `src/lib.rs`, `errors.go`. They are other files, unless the project is that package, as in most issues
//! of libraries.

use rustc_hash::{FxHashMap, FxHashSet};

use super::query::{is_file_of_frame, is_same_file, is_tail, without_dots};
use super::ranking::is_common_stem;
use super::task::{IgnoredText, IgnoredTextReason, MentionedPathKind, TaskReading};
use crate::model::RelPath;

/// A path in a folder of installed packages or a standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct InstalledPath<'p> {
    /// The path as written.
    whole: &'p [u8],
    /// The path relative to that folder.
    rest: &'p [u8],
    /// The beginning of `rest` that is the folder of the package. Empty for a standard library.
    package: &'p [u8],
}

/// How packages are named in the folder that they are installed in.
#[derive(Clone, Copy)]
enum Installation {
    /// Packages in folders this deep.
    Packages(usize),
    /// npm packages, which may have a scope: `@babel/core`.
    NodeModules,
    /// Go packages, whose names end with a version: `github.com/gin-gonic/gin@v1.9.1`.
    GoModules,
    /// A language's standard library.
    StandardLibrary,
}

/// The first path components of Go's standard library.
const GO_PACKAGES: &[&str] = &[
    "archive", "bufio", "bytes", "cmd", "compress", "container", "context", "crypto", "database", "debug",
    "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "internal", "io", "iter",
    "log", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp", "runtime", "slices",
    "sort", "strconv", "strings", "sync", "syscall", "testing", "text", "time", "unicode", "vendor",
];
/// The first components of standard packages on the Java virtual machine.
const JVM_PACKAGES: &[&str] = &["java", "javax", "jdk", "kotlin", "scala", "sun"];

impl<'p> InstalledPath<'p> {
    /// Returns where a path is installed; `None` if it is not in such a folder.
    fn from_path(path: &'p str) -> Option<Self> {
        let parts: Vec<&str> = path.split('/').collect();
        let folders = parts.len() - 1;
        // The innermost one, because packages may contain packages.
        let (start, installation) =
            (0..=folders).rev().find_map(|start| Some((start, installation(&parts, start)?)))?;
        let from = |part: usize| parts[..part].iter().map(|part| part.len() + 1).sum::<usize>();
        let depth = match installation {
            Installation::Packages(depth) => depth,
            Installation::NodeModules => 1 + usize::from(parts[start].starts_with('@')),
            Installation::GoModules => {
                parts[start..].iter().position(|part| part.contains('@')).map_or(1, |version| version + 1)
            }
            Installation::StandardLibrary => 0,
        };
        let whole = path.as_bytes();
        let rest = &whole[from(start)..];
        let package_end = from((start + depth).min(folders)).saturating_sub(1);
        let package = whole.get(from(start)..package_end).unwrap_or_default();
        Some(Self { whole, rest, package })
    }

    /// Returns whether a file of the project is certainly meant: it has the whole path, or is in such a folder of the
    /// project.
    fn is(&self, file: &[u8]) -> bool {
        let is_below = is_tail(file, self.rest) && self.rest.contains(&b'/');
        let is_module = file == self.rest && !self.package.is_empty();
        is_below || is_module || self.rest.len() < file.len() && is_same_file(file, without_dots(self.whole))
    }

    /// Returns whether a file of the project is meant, assuming that the project is the package.
    fn may_be(&self, file: &[u8]) -> bool {
        !self.package.is_empty() && is_file_of_frame(file, self.rest)
    }
}

/// Returns what is installed in the folder that a path component is in.
fn installation(parts: &[&str], start: usize) -> Option<Installation> {
    let folder = |back: usize| start.checked_sub(back).map_or("", |at| parts[at]);
    let first = parts[start];
    let (parent, outer) = (folder(1).to_ascii_lowercase(), folder(2).to_ascii_lowercase());
    let is_versioned = |name: &str, version: &str| {
        version.strip_prefix(name).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let is_go = |part: &&str| {
        let rest = part.get(..2).filter(|name| name.eq_ignore_ascii_case("go")).map(|_| &part[2..]);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    };
    match (outer.as_str(), parent.as_str()) {
        (_, "site-packages" | "dist-packages" | "gems") => Some(Installation::Packages(1)),
        (_, "vendor") | ("registry", "src") | ("git", "checkouts") => Some(Installation::Packages(2)),
        (_, "node_modules") => Some(Installation::NodeModules),
        ("pkg", "mod") => Some(Installation::GoModules),
        ("lib", "ruby") | ("usr", "include") => Some(Installation::StandardLibrary),
        ("rustc", hash) if 40 <= hash.len() => Some(Installation::StandardLibrary),
        ("lib" | "lib64", version) if is_versioned("python", version) => Some(Installation::StandardLibrary),
        (version, "lib") if is_versioned("python", version) => Some(Installation::StandardLibrary),
        (_, "src") if GO_PACKAGES.contains(&first) && parts[..start].iter().any(is_go) => {
            Some(Installation::StandardLibrary)
        }
        _ if start == 0 && (JVM_PACKAGES.contains(&first) || first.starts_with("node:")) => {
            Some(Installation::StandardLibrary)
        }
        _ => None,
    }
}

/// A path in a task that may lead to a file: of a frame, or mentioned.
struct Place<'t> {
    path: &'t str,
    installed: Option<InstalledPath<'t>>,
    /// Whether it certainly means a file of the project.
    is_sure: bool,
    /// Whether it means one if the project is the package.
    is_likely: bool,
}

impl TaskReading {
    /// Removes the frames and paths in installed packages and standard libraries that do not mean a file of the
    /// project.
    ///
    /// The project is assumed to be the package with the most matching files in the task, if these outnumber the
    /// project's files elsewhere in the task.
    pub fn ignore_libraries<'p>(&mut self, files: impl Iterator<Item = &'p RelPath>) {
        let is_written = |kind| kind != MentionedPathKind::Module && kind != MentionedPathKind::Link;
        let paths = self.paths.iter().map(|mention| (mention.path.as_str(), is_written(mention.kind)));
        let frames = self.frames.iter().map(|frame| (frame.path.as_str(), true));
        let mut places: Vec<Place<'_>> = frames
            .chain(paths)
            .map(|(path, is_path)| {
                let installed = InstalledPath::from_path(path).filter(|_| is_path);
                Place { path, installed, is_sure: false, is_likely: false }
            })
            .collect();
        if places.iter().all(|place| place.installed.is_none()) {
            return;
        }
        let package = likely_package(&mut places, self.frames.len(), files);
        let is_kept: Vec<bool> = places
            .iter()
            .map(|place| match place.installed {
                Some(installed) => {
                    let is_of_package = package.contains(&installed.package);
                    place.is_sure || place.is_likely && is_of_package
                }
                None => true,
            })
            .collect();
        let (frames_kept, paths_kept) = is_kept.split_at(self.frames.len());
        let (mut frames_kept, mut paths_kept) = (frames_kept.iter(), paths_kept.iter());
        let ranges = self.frames.iter().map(|frame| &frame.range);
        let ranges = ranges.chain(self.paths.iter().map(|mention| &mention.range));
        let removed = ranges.zip(&is_kept).filter(|(_, is_kept)| !**is_kept);
        let reason = IgnoredTextReason::Library;
        self.ignored.extend(removed.map(|(range, _)| IgnoredText { range: range.clone(), reason }));
        self.ignored.sort_by_key(|ignored| ignored.range.start);
        self.frames.retain(|_| frames_kept.next() == Some(&true));
        self.paths.retain(|_| paths_kept.next() == Some(&true));
    }
}

/// Compares paths with the files of the project, and returns the packages that the project may be.
fn likely_package<'t, 'p>(
    places: &mut [Place<'t>],
    frames: usize,
    files: impl Iterator<Item = &'p RelPath>,
) -> Vec<&'t [u8]> {
    let name = |path: &'t str| path.rsplit('/').next().unwrap_or_default().as_bytes();
    let mut by_name: FxHashMap<&[u8], Vec<usize>> = FxHashMap::default();
    for (at, place) in
        places.iter().enumerate().filter(|(at, place)| *at < frames || place.installed.is_some())
    {
        by_name.entry(name(place.path)).or_default().push(at);
    }
    let mut own: FxHashSet<&RelPath> = FxHashSet::default();
    let mut found: FxHashMap<&[u8], FxHashSet<&RelPath>> = FxHashMap::default();
    for file in files {
        for at in by_name.get(file.file_name()).into_iter().flatten() {
            let place = &mut places[*at];
            // Any package may have an `index.js`.
            let is_telling = !is_common_stem(file.stem());
            match place.installed {
                None if is_telling && is_file_of_frame(file.as_bytes(), place.path.as_bytes()) => {
                    own.insert(file);
                }
                Some(installed) if installed.is(file.as_bytes()) => place.is_sure = true,
                Some(installed) if installed.may_be(file.as_bytes()) => {
                    place.is_likely = true;
                    let files = found.entry(installed.package).or_default();
                    if is_telling {
                        files.insert(file);
                    }
                }
                _ => {}
            }
        }
    }
    let most = found.values().map(FxHashSet::len).max().unwrap_or(0);
    let best = found.iter().filter(|(_, files)| files.len() == most && own.len() < most);
    best.map(|(package, _)| *package).collect()
}

#[cfg(test)]
mod tests {
    use super::super::task::read_task;
    use super::super::traces::ProjectNames;
    use super::*;

    #[track_caller]
    fn check_installed(path: &str, expected: Option<(&str, &str)>) {
        let found = InstalledPath::from_path(path).map(|found| (found.rest, found.package));
        assert_eq!(found, expected.map(|(rest, package)| (rest.as_bytes(), package.as_bytes())), "{path}");
    }

    #[test]
    fn folders_of_packages_and_standard_libraries_are_known() {
        for (path, rest, package) in [
            ("/usr/lib/python3/dist-packages/requests/models.py", "requests/models.py", "requests"),
            ("C:/venv/Lib/site-packages/six.py", "six.py", ""),
            ("/app/node_modules/a/node_modules/@b/c/index.js", "@b/c/index.js", "@b/c"),
            (
                "/go/pkg/mod/github.com/a/b@v1.2.0/errors.go",
                "github.com/a/b@v1.2.0/errors.go",
                "github.com/a/b@v1.2.0",
            ),
            (
                "/home/me/.cargo/registry/src/index-1/clap-4.0.0/src/lib.rs",
                "index-1/clap-4.0.0/src/lib.rs",
                "index-1/clap-4.0.0",
            ),
            ("/usr/lib/ruby/gems/3.0.0/gems/rack-2.2.3/lib/rack.rb", "rack-2.2.3/lib/rack.rb", "rack-2.2.3"),
            ("/srv/vendor/slim/slim/Slim/App.php", "slim/slim/Slim/App.php", "slim/slim"),
            ("/home/me/.pyenv/versions/3.11.7/lib/python3.11/json/decoder.py", "json/decoder.py", ""),
            ("C:/Python39/lib/json/decoder.py", "json/decoder.py", ""),
            ("/usr/local/go/src/net/http/server.go", "net/http/server.go", ""),
            ("/opt/hostedtoolcache/go/1.21.0/x64/src/runtime/panic.go", "runtime/panic.go", ""),
            (
                "/rustc/90c541806f23a127002de5b4038be731ba1458ca/library/core/src/result.rs",
                "library/core/src/result.rs",
                "",
            ),
            ("/usr/include/c++/11/bits/stl_vector.h", "c++/11/bits/stl_vector.h", ""),
            ("java/util/Optional.java", "java/util/Optional.java", ""),
        ] {
            check_installed(path, Some((rest, package)));
        }
        for path in [
            "src/lib.rs",
            "/home/go/src/shop/cart.go",
            "/google/src/net/a.go",
            "C:/app/lib/a.py",
            "site-packages",
        ] {
            check_installed(path, None);
        }
    }

    /// Checks which frames and paths of a text are left in a project with these files.
    #[track_caller]
    fn check(text: &str, files: &[&str], expected: &[&str]) {
        let files: Vec<RelPath> = files.iter().map(|path| RelPath::new(path.as_bytes()).unwrap()).collect();
        let mut task = read_task(text, &ProjectNames::new(files.iter())).unwrap();
        task.paths.retain(|mention| mention.kind != MentionedPathKind::Module);
        let all = task.frames.len() + task.paths.len();
        task.ignore_libraries(files.iter());
        let frames = task.frames.iter().map(|frame| frame.path.as_str());
        let left: Vec<&str> = frames.chain(task.paths.iter().map(|mention| mention.path.as_str())).collect();
        assert_eq!(left, expected, "{text}");
        assert_eq!(task.ignored.len(), all - left.len(), "{text}");
    }

    #[test]
    fn a_library_is_not_taken_for_the_project() {
        let go = "goroutine 1 [running]:\nmain.run()\n\t/srv/app/tree.go:3 +0x1\ncontext.Done()\n\t/usr/local/go/src/context/context.go:7\n\
                  x.Check()\n\t/go/pkg/mod/github.com/a/b@v1.2.0/errors.go:7\n";
        check(go, &["tree.go", "context.go", "errors.go"], &["/srv/app/tree.go"]);
        let node = "Error: x\n    at parse (/app/node_modules/qs/lib/utils.js:3:5)\n    at a (/app/node_modules/b/index.js:3:5)\n    \
                    at c (/app/lib/response.js:3:5)\n";
        check(node, &["lib/utils.js", "index.js", "lib/response.js"], &["/app/lib/response.js"]);
        check("at a.B.c(Optional.java:3)", &["a/Optional.java"], &["a/Optional.java"]);
        check("at java.util.Optional.get(Optional.java:3)", &["a/util/Optional.java"], &[]);
        check("see /usr/lib/node_modules/npm/index.js", &["index.js"], &[]);
        check(
            "see /go/pkg/mod/a.b/c@v1.0.0/context.go",
            &["context.go"],
            &["/go/pkg/mod/a.b/c@v1.0.0/context.go"],
        );
    }

    #[test]
    fn the_project_may_be_the_library() {
        let python = "  File \"/home/me/a.py\", line 3, in <module>\n  \
                      File \"/venv/lib/python3.11/site-packages/requests/models.py\", line 3, in get\n";
        check(
            python,
            &["a.py", "src/requests/models.py"],
            &["/venv/lib/python3.11/site-packages/requests/models.py", "/home/me/a.py"],
        );
        let node = "Error: x\n    at a (/app/node_modules/express/lib/router/index.js:3:5)\n    \
                    at b (/app/node_modules/express/lib/router/layer.js:3:5)\n    \
                    at b (/app/node_modules/express/lib/router/route.js:3:5)\n    \
                    at c (/app/node_modules/qs/lib/utils.js:3:5)\n    at d (/app/index.js:3:5)\n";
        let files =
            ["index.js", "lib/router/index.js", "lib/router/layer.js", "lib/router/route.js", "lib/utils.js"];
        let express = ["index.js", "layer.js", "route.js"];
        let express = express.map(|name| format!("/app/node_modules/express/lib/router/{name}"));
        check(node, &files, &[&express[0], &express[1], &express[2], "/app/index.js"]);
        check("vendor/a.c:3:5: error: x", &["vendor/a.c"], &["vendor/a.c"]);
        check("./deps/vendor/b/a.c:3:5: error: x", &["deps/vendor/b/a.c"], &["deps/vendor/b/a.c"]);
    }
}
