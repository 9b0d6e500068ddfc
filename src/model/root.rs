//! How a project's folder is chosen.

/// Why a folder is the project's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootReason {
    /// `--project` names it.
    Named,
    SettingsFile,
    GitCheckout,
    CacheFolder,
    /// Nothing at or above it marks a project.
    CurrentFolder,
}

impl RootReason {
    /// Returns the stable name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::SettingsFile => "settings_file",
            Self::GitCheckout => "git_checkout",
            Self::CacheFolder => "cache_folder",
            Self::CurrentFolder => "current_folder",
        }
    }

    /// Describes the reason in words that fit in parentheses after the folder.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Named => "named by --project",
            Self::SettingsFile => "the nearest folder with a slop.toml",
            Self::GitCheckout => "the top level of the git checkout",
            Self::CacheFolder => "the nearest folder with a .slop_cache",
            Self::CurrentFolder => "the current folder",
        }
    }
}
