//! The settings that a daemon uses: the current ones, or the last valid ones while those are broken.

use std::path::Path;
use std::sync::Mutex;

use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::model::lock;
use crate::service::{SettingsSources, settings_error};

/// The last valid settings, shared by all workers.
pub(super) struct LastSettings(Mutex<SettingsState>);

struct SettingsState {
    good: ConfigInputs,
    /// The inputs of the broken settings, unless the file itself is unreadable, and the error. They are not parsed
    /// again until they change.
    broken: Option<(Option<ConfigInputs>, String)>,
    problems: Vec<String>,
}

/// Settings for an answer.
pub(super) struct CurrentSettings {
    pub(super) inputs: ConfigInputs,
    /// Why they are not the current ones.
    pub(super) fault: Option<String>,
    /// Whether the fault has not been reported yet.
    pub(super) is_new: bool,
}

impl LastSettings {
    /// Creates the state with the settings that the daemon was started with.
    pub(super) const fn new(good: ConfigInputs, problems: Vec<String>) -> Self {
        Self(Mutex::new(SettingsState { good, broken: None, problems }))
    }

    /// Reads the current settings, or returns the last valid ones if that fails.
    pub(super) fn current(&self, sources: &SettingsSources, root: &Path) -> CurrentSettings {
        let read = sources.inputs(root);
        let mut state = lock(&self.0);
        let known = |state: &SettingsState, fault: Option<String>, is_new| CurrentSettings {
            inputs: state.good.clone(),
            fault,
            is_new,
        };
        let (inputs, message) = match read {
            Ok(inputs) if inputs == state.good => {
                state.broken = None;
                return known(&state, None, false);
            }
            Ok(inputs) => {
                if let Some((_, fault)) =
                    state.broken.as_ref().filter(|(broken, _)| broken.as_ref() == Some(&inputs))
                {
                    return known(&state, Some(fault.clone()), false);
                }
                match load(&inputs) {
                    Ok(_) => {
                        (state.good, state.broken) = (inputs, None);
                        return known(&state, None, false);
                    }
                    Err(error) => (Some(inputs), settings_error(&error).message),
                }
            }
            // The content of an unreadable file is unknown, and may differ each time.
            Err(error) => (None, error.message),
        };
        let fault = format!("{message}; until that is fixed, answers use the settings from before");
        let is_new = state.broken.as_ref().is_none_or(|(_, known)| *known != fault);
        state.broken = Some((inputs, fault.clone()));
        known(&state, Some(fault), is_new)
    }

    /// Records the problems of the settings in use.
    pub(super) fn set_problems(&self, loaded: &LoadedConfig) {
        let mut state = lock(&self.0);
        let problems = loaded.settings_problems();
        if state.problems != problems {
            state.problems = problems;
        }
    }

    /// Returns the problems that were found when the settings were last read.
    pub(super) fn problems(&self) -> Vec<String> {
        lock(&self.0).problems.clone()
    }
}
