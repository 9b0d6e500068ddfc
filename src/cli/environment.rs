//! The process's surroundings, read once.

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

use crate::service::Sources;

/// What the process was started with.
pub(super) struct Environment {
    pub(super) current_folder: PathBuf,
    /// Where settings come from.
    pub(super) sources: Sources,
    /// A folder for what lives no longer than the user's session.
    pub(super) runtime: PathBuf,
    /// This program.
    pub(super) program: Option<PathBuf>,
}

impl Environment {
    /// Says whether every command is to answer without a daemon.
    pub(super) fn without_daemon(&self) -> bool {
        let mut variables = self.sources.variables.iter();
        variables.any(|(name, value)| name == "SLOP_NO_DAEMON" && !value.is_empty())
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read, once")]
    pub(super) fn read() -> std::io::Result<Self> {
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let variables: Vec<_> =
            std::env::vars_os().filter_map(text).filter(|(name, _)| name.starts_with("SLOP_")).collect();
        // `/dev/null` is the usual way to say that there is none.
        let is_some = |path: &PathBuf| path != Path::new("/dev/null");
        let user_file = match std::env::var_os("SLOP_CONFIG") {
            Some(path) => Some(PathBuf::from(path)),
            None => user_folder(std::env::var_os("XDG_CONFIG_HOME"), std::env::var_os("HOME")),
        };
        let user_file = user_file.filter(is_some);
        let sources = Sources { user_file, variables };
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let runtime = runtime.filter(|folder| folder.is_absolute()).unwrap_or_else(std::env::temp_dir);
        let program = std::env::current_exe().ok();
        Ok(Self { current_folder: std::env::current_dir()?, sources, runtime, program })
    }
}

/// Where the XDG base directory specification puts it; a relative `XDG_CONFIG_HOME` is to be ignored.
fn user_folder(config_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let folder = config_home.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| home.map(|home| Path::new(&home).join(".config")));
    folder.map(|folder| folder.join("slop").join("config.toml"))
}
