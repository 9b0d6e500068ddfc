//! The settings that a daemon uses: the current ones, or the last valid ones while those are broken.

use std::path::Path;
use std::sync::Mutex;

use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::model::lock;
use crate::service::{SettingsSources, settings_error};

/// The last valid settings, shared by all workers.
pub(super) struct LastSettings {
    state: Mutex<SettingsState>,
    /// Not part of the state, which is locked while settings are parsed: the event loop reads them, and must not block.
    problems: Mutex<Vec<String>>,
}

struct SettingsState {
    good: ConfigInputs,
    /// The inputs of the broken settings, unless the file itself is unreadable, and the error. They are not parsed
    /// again until they change.
    broken: Option<(Option<ConfigInputs>, String)>,
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
        Self { state: Mutex::new(SettingsState { good, broken: None }), problems: Mutex::new(problems) }
    }

    /// Reads the current settings, or returns the last valid ones if that fails.
    pub(super) fn current(&self, sources: &SettingsSources, root: &Path) -> CurrentSettings {
        let read = sources.inputs(root);
        let mut state = lock(&self.state);
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
        *lock(&self.problems) = loaded.settings_problems();
    }

    /// Returns the problems that were found when the settings were last read.
    pub(super) fn problems(&self) -> Vec<String> {
        lock(&self.problems).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_are_read_while_settings_are_parsed() {
        let settings = LastSettings::new(ConfigInputs::default(), vec!["problem".to_owned()]);
        let _parsing = lock(&settings.state);
        assert_eq!(settings.problems(), ["problem"]);
    }
}
