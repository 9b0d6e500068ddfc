//! The settings that a daemon answers by: those that are written down, or the last good ones while they are broken.

use std::path::Path;
use std::sync::Mutex;

use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::model::lock;
use crate::service::{SettingsSources, settings_error};

/// The settings that could be read last, shared by all workers.
pub(super) struct LastSettings(Mutex<SettingsState>);

struct SettingsState {
    good: ConfigInputs,
    /// What was written last and could not be read, if the file itself could be, and why; it is not read again until it
    /// changes.
    broken: Option<(Option<ConfigInputs>, String)>,
    problems: Vec<String>,
}

/// Settings to answer by.
pub(super) struct CurrentSettings {
    pub(super) inputs: ConfigInputs,
    /// Why they are not the ones that are written down now.
    pub(super) fault: Option<String>,
    /// Whether nobody has been told of the fault.
    pub(super) is_new: bool,
}

impl LastSettings {
    /// Takes the settings that the daemon was started with.
    pub(super) const fn new(good: ConfigInputs, problems: Vec<String>) -> Self {
        Self(Mutex::new(SettingsState { good, broken: None, problems }))
    }

    /// Reads the settings as they are now; the last good ones if they cannot be read.
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
            // What a file that cannot be read holds is not known, and may be another thing each time.
            Err(error) => (None, error.message),
        };
        let fault = format!("{message}; until that is fixed, answers use the settings from before");
        let is_new = state.broken.as_ref().is_none_or(|(_, known)| *known != fault);
        state.broken = Some((inputs, fault.clone()));
        known(&state, Some(fault), is_new)
    }

    /// Remembers what is wrong in the settings that answers use.
    pub(super) fn set_problems(&self, loaded: &LoadedConfig) {
        let mut state = lock(&self.0);
        let problems = loaded.settings_problems();
        if state.problems != problems {
            state.problems = problems;
        }
    }

    /// Returns what is wrong in the settings, as it was found when they were read last.
    pub(super) fn problems(&self) -> Vec<String> {
        lock(&self.0).problems.clone()
    }
}
