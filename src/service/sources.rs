//! The sources of a project's settings, and reading them.

use std::path::{Path, PathBuf};

use crate::api::{ApiError, ApiErrorKind};
use crate::config::{ConfigInputs, Error, LoadedConfig, PrivateFolders, load, revision_of};
use crate::llm::{PriceList, built_in_prices, built_in_providers};
use crate::model::error_chain;
use crate::sys::{Disk, RealDisk, is_private_file};

pub const SETTINGS_FILE: &str = "slop.toml";

/// The file with the takes that are not current.
pub(super) const TAKES_FILE: &str = "slop.takes.toml";

/// The sources of settings other than the project's own file. A process reads them once, when it starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsSources {
    /// The user's own settings file, whether or not it exists.
    pub user_file: Option<PathBuf>,
    /// The user's own file of linked folders, whether or not it exists.
    pub links_file: Option<PathBuf>,
    /// Folders that are never linked.
    pub private: PrivateFolders,
    /// The variables of the environment that begin with `SLOP_`, and those of [`base_variables`].
    pub variables: Vec<(String, String)>,
}

impl SettingsSources {
    /// Reads the settings of the project in the folder `root`, as they are now.
    pub fn load(&self, root: &Path) -> Result<LoadedConfig, ApiError> {
        load(&self.inputs(root)?).map_err(|error| settings_error(&error))
    }

    /// Reads the settings without the project's own file, which cannot be used: only its revision is recorded.
    pub fn load_without_project(&self, root: &Path) -> Result<LoadedConfig, ApiError> {
        let mut inputs = self.inputs(root)?;
        // A file outside of the project is not part of its history.
        if inputs.project_link.is_some() {
            return load(&inputs).map_err(|error| settings_error(&error));
        }
        let project_file = inputs.project_file.take();
        let mut loaded = load(&inputs).map_err(|error| settings_error(&error))?;
        loaded.revision = revision_of(&project_file.map(|(_, bytes)| bytes).unwrap_or_default());
        Ok(loaded)
    }

    /// Reads the inputs of the settings of the project in the folder `root`. The settings only change with them.
    pub fn inputs(&self, root: &Path) -> Result<ConfigInputs, ApiError> {
        let read = |path: PathBuf| match RealDisk.read(&path) {
            // A missing file sets nothing. One that cannot be read may limit what is sent or spent, so it is never
            // skipped.
            Ok(bytes) => Ok(bytes.map(|bytes| (path, bytes))),
            Err(error) => {
                let message = format!("settings file {} cannot be read: {error}", path.display());
                Err(ApiError::user("bad_settings", message, "make the file readable, or move it away"))
            }
        };
        let user_file = self.user_file.clone().map(read).transpose()?.flatten();
        let links_file = self.links_file.clone().map(read).transpose()?.flatten();
        if let Some((path, _)) = links_file.as_ref().filter(|(path, _)| !is_private_file(path)) {
            let message = format!("{} can be written by others, or is not yours", path.display());
            return Err(ApiError::user(
                "bad_settings",
                message,
                "make it a file of your own with the mode 600",
            ));
        }
        let path = root.join(SETTINGS_FILE);
        let project_link = RealDisk.link_outside(&path, root);
        let project_file = read(path)?;
        let environment = self.variables.clone();
        let private = self.private.clone();
        let flags = Vec::new();
        Ok(ConfigInputs { user_file, project_file, project_link, links_file, private, environment, flags })
    }
}

/// Returns the names of the variables that set other addresses for built-in providers.
pub fn base_variables() -> Vec<String> {
    built_in_providers().into_iter().filter_map(|provider| provider.base_variable).collect()
}

/// Returns the built-in prices, overridden by the user's own.
pub fn prices(loaded: &LoadedConfig) -> PriceList {
    let mut prices = built_in_prices();
    for (name, price) in &loaded.user_only.prices {
        prices.insert(name, *price);
    }
    prices
}

/// Returns the name of the project in the folder `root`: as set, else that of the folder.
pub fn project_name(root: &Path, set: &str) -> String {
    let folder = || root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = if set.is_empty() { folder().unwrap_or_default() } else { set.to_owned() };
    // It becomes the beginning of a file name.
    let name: String = name.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect();
    if name.is_empty() { "project".to_owned() } else { name }
}

pub fn settings_error(error: &Error) -> ApiError {
    use ApiErrorKind::{Environment, User};
    let (code, kind, hint) = match error {
        Error::NotUtf8 { .. } | Error::Syntax { .. } | Error::UnknownKey { .. } | Error::BadValue { .. } => (
            "bad_settings",
            User,
            "fix the setting named above; `slop init` in an empty folder writes a file with every setting",
        ),
        Error::OutsideLink { .. } => (
            "bad_settings",
            User,
            "replace it with a copy, or list the project's folder under `trust.projects` in your own settings",
        ),
        Error::Read { .. } => ("bad_settings", User, "make the file readable, or move it away"),
        Error::Thread(_) => ("no_thread", Environment, "try again when the machine has fewer threads to run"),
        Error::Write { .. } => (
            "write_failed",
            Environment,
            "check the permissions of the file and its folder, and the room on the disk",
        ),
        Error::Changed { .. } => ("changed_meanwhile", Environment, "nothing was written; try again"),
        Error::Moved { .. } => (
            "revision_moved",
            User,
            "nothing was written; read the curation again, and send the edits with the new revision",
        ),
        Error::Unwritable { .. } => (
            "unwritable",
            User,
            "nothing was written; give what is to be edited a header of its own, such as [[files]] or [presets.NAME]",
        ),
        Error::NoSuchItem { .. } => {
            ("not_found", User, "`slop item list`, `slop slice list` and `slop mask list` list the entries")
        }
        Error::NoSuchSlice { .. } | Error::NoSliceAt { .. } => {
            ("no_such_slice", User, "`slop slice list` shows the slices of all files")
        }
        Error::NoSuchScreenshot { .. } => ("not_found", User, "`slop curation show` lists the screenshots"),
        Error::SliceExists { .. } => ("slice_exists", User, "remove it first with `slop slice remove`"),
        Error::NoSuchMask { .. } => ("no_such_symbol", User, "`slop mask list` lists the masks"),
        Error::NoSuchPreset { .. } => ("no_such_preset", User, "`slop preset list` lists the presets"),
        Error::PresetExists { .. } => {
            ("name_in_use", User, "choose another name, or overwrite it with `overwrite`")
        }
        Error::NothingToSave { .. } => {
            ("nothing_to_save", User, "name the files to save, or curate some first")
        }
        Error::BadTakes { .. } => ("bad_settings", User, "fix the file, or move it away"),
        Error::BadTakeName { .. } => ("bad_ask", User, "give a line of at most 60 characters without `/`"),
        Error::NoSuchTake { .. } => ("no_such_take", User, "`slop take list` lists the takes"),
        Error::TakeExists { .. } => ("name_in_use", User, "choose another name"),
        Error::TakeIsCurrent { .. } => {
            ("take_is_current", User, "make another take the current one first, with `slop take switch`")
        }
        Error::TakeNotEmpty { .. } => ("would_lose", User, "delete it all the same with `force`"),
        Error::WouldLose { .. } => (
            "would_lose",
            User,
            "save it first with `slop preset save`, or replace it all the same with `force`",
        ),
    };
    ApiError { code: code.into(), message: error_chain(error), hint: hint.into(), kind }
}
