//! The process's surroundings, read once.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use secrecy::SecretString;

use crate::service::{SettingsSources, base_variables};

/// What the process was started with.
pub(super) struct ProcessEnvironment {
    pub(super) current_folder: PathBuf,
    /// Where settings come from.
    pub(super) sources: SettingsSources,
    /// A folder for what lives no longer than the user's session.
    pub(super) runtime: PathBuf,
    /// This program.
    pub(super) program: Option<PathBuf>,
}

impl ProcessEnvironment {
    /// Returns whether every command is to answer without a daemon.
    pub(super) fn without_daemon(&self) -> bool {
        let mut variables = self.sources.variables.iter();
        variables.any(|(name, value)| name == "SLOP_NO_DAEMON" && !value.is_empty())
    }

    /// Returns the key that the variable `name` holds. Keys are read when they are needed, and only those that are.
    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read")]
    pub(super) fn key(name: &str) -> Option<SecretString> {
        let text = std::env::var_os(name)?.into_string().ok()?;
        let key = text.trim();
        (!key.is_empty()).then(|| SecretString::from(key.to_owned()))
    }

    #[expect(clippy::disallowed_methods, reason = "this is where the environment is read, once")]
    pub(super) fn read() -> std::io::Result<Self> {
        let text =
            |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let bases = base_variables();
        let is_read = |name: &str| name.starts_with("SLOP_") || bases.iter().any(|base| base == name);
        let variables: Vec<_> =
            std::env::vars_os().filter_map(text).filter(|(name, _)| is_read(name)).collect();
        // `/dev/null` is the usual way to say that there is none.
        let is_some = |path: &PathBuf| path != Path::new("/dev/null");
        let user_file = match std::env::var_os("SLOP_CONFIG") {
            Some(path) => Some(PathBuf::from(path)),
            None => user_folder(std::env::var_os("XDG_CONFIG_HOME"), std::env::var_os("HOME")),
        };
        let user_file = user_file.filter(is_some);
        let sources = SettingsSources { user_file, variables };
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
