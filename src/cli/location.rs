//! The process's environment, read once; the location of the project; and the files that arguments refer to.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

use secrecy::SecretString;

use super::failure::CommandError;
use crate::api::ApiError;
use crate::config::PrivateFolders;
use crate::model::{
    bytes_as_path, normalized_path, path_text, slashed_bytes, split_resource, unescaped_path,
};
use crate::service::{ProjectRoot, SettingsSources, base_variables};
use crate::sys::{host_name, program_in};

pub(super) struct ProcessEnvironment {
    pub(super) current_folder: PathBuf,
    /// The user's home folder, without links.
    pub(super) home: Option<PathBuf>,
    pub(super) sources: SettingsSources,
    /// A folder for files that last only for the user's session.
    pub(super) runtime: PathBuf,
    pub(super) program: Option<PathBuf>,
}

/// The capabilities of the user's desktop session.
pub(super) struct Desktop {
    /// The commands that the user chose for opening addresses, the preferred one first; `%s` is the address.
    pub(super) browsers: Vec<String>,
    /// Whether there is a display.
    pub(super) has_display: bool,
    /// Whether the session is remote.
    pub(super) is_remote: bool,
    /// The name of this machine.
    pub(super) host: Option<String>,
}

impl Desktop {
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub(super) fn read() -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let browsers = std::env::var("BROWSER").unwrap_or_default();
        let is_remote = ["SSH_CONNECTION", "SSH_TTY"].into_iter().any(is_set);
        // Under WSL, which WSL_DISTRO_NAME indicates, Windows' own display needs no variable.
        let has_screen = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].into_iter().any(is_set);
        let host = host_name();
        Self {
            // A browser that the user configured counts, even without a display.
            has_display: has_screen && !is_remote || !browsers.is_empty(),
            browsers: browsers.split(':').filter(|command| !command.is_empty()).map(str::to_owned).collect(),
            is_remote: is_remote || !has_screen,
            host: (!host.is_empty()).then_some(host),
        }
    }
}

impl ProcessEnvironment {
    /// Returns whether daemons are disabled for all commands.
    pub(super) fn without_daemon(&self) -> bool {
        let mut variables = self.sources.variables.iter();
        variables.any(|(name, value)| name == "SLOP_NO_DAEMON" && !value.is_empty())
    }

    /// Returns the key that the variable `name` holds. Only the keys that are needed are read, when they are needed.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub(super) fn key(name: &str) -> Option<SecretString> {
        let text = std::env::var_os(name)?.into_string().ok()?;
        let key = text.trim();
        (!key.is_empty()).then(|| SecretString::from(key.to_owned()))
    }

    /// Returns the folder that the variable `name` holds. Relative paths are ignored, as the XDG specification
    /// requires.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub(super) fn folder(name: &str) -> Option<PathBuf> {
        std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute())
    }

    /// Returns the folder for slop's state of the user, apart from settings.
    pub(super) fn state_folder(&self) -> Option<PathBuf> {
        let state = Self::folder("XDG_STATE_HOME");
        state.or_else(|| Some(self.home.as_ref()?.join(".local/state"))).map(|folder| folder.join("slop"))
    }

    /// Returns whether a program can be started by this name or path.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub(super) fn has_program(program: &str) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if program.contains(std::path::is_separator) {
            program_in(Path::new(""), program).is_some()
        } else {
            let mut folders = std::env::split_paths(&path);
            folders.any(|folder| folder.is_absolute() && program_in(&folder, program).is_some())
        }
    }

    /// Returns a path of this program that survives updates: the one on the search path if it leads to this program,
    /// because the target of a link there may contain the version.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub(super) fn stable_program(&self) -> Option<PathBuf> {
        let program = self.program.as_ref()?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut found = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
        let found = found.find_map(|folder| {
            let named = program_in(&folder, "slop")?;
            (dunce::canonicalize(&named).ok()? == dunce::canonicalize(program).ok()?).then_some(named)
        });
        Some(found.unwrap_or_else(|| program.clone()))
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read, once")]
    pub(super) fn read() -> Result<Self, CommandError> {
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let bases = base_variables();
        let is_read = |name: &str| name.starts_with("SLOP_") || bases.iter().any(|base| base == name);
        let variables: Vec<_> =
            std::env::vars_os().filter_map(text).filter(|(name, _)| is_read(name)).collect();
        // `/dev/null` is the usual way to disable the file.
        let is_some = |path: &PathBuf| path != Path::new("/dev/null");
        let user_file = match std::env::var_os("SLOP_CONFIG") {
            Some(path) => Some(PathBuf::from(path)),
            None => user_folder(std::env::var_os("XDG_CONFIG_HOME"), home_variable()),
        };
        let user_file = user_file.filter(is_some);
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        // Relative paths in these variables are ignored, as the XDG specification requires.
        let runtime = runtime.filter(|folder| folder.is_absolute()).unwrap_or_else(std::env::temp_dir);
        let program = std::env::current_exe().ok();
        // It may not exist; then no folder equals it.
        let home = std::env::home_dir().and_then(|home| dunce::canonicalize(home).ok());
        let config = user_folder(std::env::var_os("XDG_CONFIG_HOME"), home_variable())
            .and_then(|file| file.parent().map(Path::to_owned));
        let links_file = match std::env::var_os("SLOP_LINKS") {
            Some(path) => Some(PathBuf::from(path)).filter(is_some),
            None => config.as_ref().map(|folder| folder.join("links.toml")),
        };
        let private = PrivateFolders { home: home.clone(), config };
        let sources = SettingsSources { user_file, links_file, private, variables };
        let current_folder = std::env::current_dir().map_err(|error| {
            let message = format!("current folder cannot be opened: {error}");
            ApiError::environment("no_current_folder", message, "change to an existing folder")
        })?;
        Ok(Self { current_folder, home, sources, runtime, program })
    }
}

/// Returns the user's home folder from the environment. Windows has a different variable, which shells such as git's
/// set in addition to the usual one.
#[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
fn home_variable() -> Option<OsString> {
    std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE"))
}

/// Returns the path of the user's settings file by the XDG base directory specification.
fn user_folder(config_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    // Relative paths are ignored, as the specification requires.
    let folder = config_home.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| home.map(|home| Path::new(&home).join(".config")));
    folder.map(|folder| folder.join("slop").join("config.toml"))
}

/// The project's folder, and the path from it to the current folder.
pub(super) struct ProjectLocation {
    pub(super) root: PathBuf,
    /// The same folder, and how it was chosen.
    pub(super) project: ProjectRoot,
    below: PathBuf,
}

impl ProjectLocation {
    /// Finds the project: the named folder, or else the result of [`ProjectRoot::find`].
    pub(super) fn find(named: Option<&Path>, environment: &ProcessEnvironment) -> Result<Self, CommandError> {
        let current = &environment.current_folder;
        if let Some(named) = named {
            // The appended dot makes a path that is not a folder an error, too.
            let root = dunce::canonicalize(current.join(named).join(".")).map_err(|error| {
                let message = format!("project folder `{}` cannot be opened: {error}", named.display());
                CommandError::usage(message, "give the path of an existing folder with --project")
            })?;
            let project = ProjectRoot::named(root.clone());
            return Ok(Self { root, project, below: PathBuf::new() });
        }
        Ok(Self::around(current, environment))
    }

    /// Finds the project around a folder, an absolute path without links.
    pub(super) fn around(current: &Path, environment: &ProcessEnvironment) -> Self {
        let project = ProjectRoot::find(current, environment.home.as_deref());
        let below = current.strip_prefix(&project.folder).unwrap_or(Path::new("")).to_owned();
        Self { root: project.folder.clone(), project, below }
    }

    /// Returns file arguments relative to the root. They are given relative to the current folder,
    /// as for any other program.
    pub(super) fn resolve_paths(&self, words: &[String]) -> Vec<String> {
        words.iter().map(|word| self.resolve_path(word)).collect()
    }

    /// Returns the path of one file, relative to the root if it is below it. The argument is a path, never a pattern.
    pub(super) fn resolve_file(&self, path: &Path) -> String {
        match text(path) {
            word if word.is_empty() => text(&self.below),
            word => self.resolve_path(&word),
        }
    }

    /// Returns a file argument relative to the root, as [`Self::resolve_paths`] does for several.
    pub(super) fn resolve_path(&self, word: &str) -> String {
        let path = Path::new(word);
        if path.is_absolute() {
            // `..` after a link leads elsewhere than its text suggests, so such a path is left to the file system.
            let is_plain = !path.components().any(|part| part == Component::ParentDir);
            // The folders above the project may have names that are not UTF-8, which are written with escapes, as they
            // are printed.
            let meant = unescaped_path(word.as_bytes()).map(|bytes| bytes_as_path(&bytes).to_owned());
            let inside = [Some(path), meant.as_deref()].into_iter().flatten().find_map(|path| {
                let inside = path.strip_prefix(&self.root).ok().filter(|_| is_plain).map(Path::to_owned);
                inside.or_else(|| self.resolve_links(path))
            });
            return match inside.as_deref().map(text) {
                Some(inside) if inside.is_empty() => ".".to_owned(),
                Some(inside) => inside,
                None => word.to_owned(),
            };
        }
        if word.is_empty() {
            // An empty argument stays empty; joined to the folder, it would select everything in it.
            return String::new();
        }
        // In a linked folder, wherever the current folder is.
        if split_resource(word.as_bytes()).is_some() && !self.root.join(&self.below).join(word).exists() {
            return normalized_path(word);
        }
        let mut parts: Vec<Component<'_>> = self.below.components().collect();
        for part in path.components() {
            match part {
                // A `..` that leads out of the root is kept, so that the engine's error names the path as given.
                Component::ParentDir if parts.last().is_some_and(|last| *last != Component::ParentDir) => {
                    parts.pop();
                }
                Component::CurDir => {}
                other => parts.push(other),
            }
        }
        // It may lead above the root and down again.
        let ups = parts.iter().take_while(|part| **part == Component::ParentDir).count();
        let above = self.root.ancestors().nth(ups).filter(|_| 0 < ups);
        let whole = above.map(|above| above.join(parts[ups..].iter().collect::<PathBuf>()));
        let inside = whole.as_ref().and_then(|whole| whole.strip_prefix(&self.root).ok().map(Path::to_owned));
        let joined: PathBuf = inside.unwrap_or_else(|| parts.into_iter().collect());
        match text(&joined) {
            joined if joined.is_empty() => ".".to_owned(),
            joined => joined,
        }
    }

    /// Returns the path from the root to a file whose folder is reached through a link outside of the project.
    fn resolve_links(&self, path: &Path) -> Option<PathBuf> {
        let folder = dunce::canonicalize(path.parent()?).ok()?;
        Some(folder.strip_prefix(&self.root).ok()?.join(path.file_name()?))
    }

    /// Returns focus arguments: an existing path relative to the root, a name unchanged.
    pub(super) fn resolve_focus(&self, words: &[String]) -> Vec<String> {
        words
            .iter()
            .map(|word| {
                let path = word.rsplit_once(':').filter(|(_, line)| line.parse::<u32>().is_ok());
                let (path, line) = path.map_or((word.as_str(), None), |(path, line)| (path, Some(line)));
                let from_root = self.resolve_path(path);
                // Focus also accepts names and parts of paths, which are not relative to the current folder.
                let found = if self.root.join(&from_root).exists()
                    || split_resource(from_root.as_bytes()).is_some()
                {
                    from_root
                } else {
                    path.to_owned()
                };
                line.map_or(found.clone(), |line| format!("{found}:{line}"))
            })
            .collect()
    }
}

fn text(path: &Path) -> String {
    path_text(&slashed_bytes(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(root: PathBuf, below: PathBuf) -> ProjectLocation {
        ProjectLocation { project: ProjectRoot::named(root.clone()), root, below }
    }

    #[track_caller]
    fn check(below: &str, word: &str, expected: &str) {
        let place = location(PathBuf::from("/project"), PathBuf::from(below));
        assert_eq!(place.resolve_paths(&[word.to_owned()]), [expected]);
    }

    #[test]
    fn paths_are_relative_to_the_current_folder() {
        check("", "src/a.py", "src/a.py");
        check("", "./src//a.py", "src/a.py");
        check("src", "a.py", "src/a.py");
        check("src", "../a.py", "a.py");
        check("src", "..", ".");
        check("src", "*.py", "src/*.py");
        check("src", "/project/b.py", "b.py");
        check("src", "/project", ".");
        check("src", "", "");
        check("", "../outside.py", "../outside.py");
        check("src", "../../outside.py", "../outside.py");
        check("src", "../../project/a.py", "a.py");
        check("src", "/etc/passwd", "/etc/passwd");
    }

    #[test]
    fn folders_may_have_names_that_are_not_utf_8() {
        let name = |bytes: &[u8]| bytes_as_path(bytes).to_owned();
        let place = location(name(b"/a\xff"), name(b"b\xfe"));
        assert_eq!(place.resolve_path("c.py"), "b\\xfe/c.py");
        assert_eq!(place.resolve_path("../c\\xfd.py"), "c\\xfd.py");
        assert_eq!(place.resolve_path("/a\\xff/b\\xfe/c.py"), "b\\xfe/c.py");
        assert_eq!(place.resolve_file(&name(b"x\xfc.png")), "b\\xfe/x\\xfc.png");
    }

    #[test]
    fn redundant_parts_of_a_path_are_removed() {
        check("", "src//a.py", "src/a.py");
        check("", "src/./a.py", "src/a.py");
        check("", "./src/", "src");
        check("", ".", ".");
        check("", "", "");
        check("", "..a/b..c", "..a/b..c");
    }

    #[test]
    fn an_absolute_path_may_lead_to_the_project_by_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::os::unix::fs::symlink(&root, folder.path().join("link")).unwrap();
        let word = folder.path().join("link/src/a.py");
        let place = location(root, PathBuf::new());
        let roundabout = place.root.join("../link/src/a.py");
        for word in [word, roundabout] {
            assert_eq!(place.resolve_paths(&[word.to_str().unwrap().to_owned()]), ["src/a.py"]);
        }
    }
}
