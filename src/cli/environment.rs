//! The process's surroundings, read once.

use std::ffi::OsString;
use std::path::Path;
use std::path::PathBuf;

/// What the process was started with.
pub(super) struct Environment {
    pub(super) current_folder: PathBuf,
    /// The variables that begin with `SLOP_`.
    pub(super) variables: Vec<(String, String)>,
    /// The user's own settings file, whether it is there or not.
    pub(super) user_file: Option<PathBuf>,
}

impl Environment {
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
        Ok(Self { current_folder: std::env::current_dir()?, variables, user_file })
    }
}

/// Where the XDG base directory specification puts it; a relative `XDG_CONFIG_HOME` is to be ignored.
fn user_folder(config_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let folder = config_home.map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = folder.or_else(|| home.map(|home| Path::new(&home).join(".config")));
    folder.map(|folder| folder.join("slop").join("config.toml"))
}
