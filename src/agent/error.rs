//! Why nobody can be asked at all.

use std::io;
use std::path::PathBuf;

use crate::model::ModelName;
use crate::store;

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No model is chosen.
    #[error("no model is chosen")]
    NoModels,
    /// Many questions at once were wanted.
    #[error("no provider of the chosen models takes many questions at once")]
    NoBatches,
    /// Nobody knows what the model costs, so that no cap could hold.
    #[error("the price of {0} is not known")]
    NoPrice(ModelName),
    /// The provider answers only with a key, and there is none.
    #[error("no key for the provider {provider}: none of {} is set", variables.join(", "))]
    NoKey {
        /// Its name.
        provider: String,
        /// The variables that may hold it.
        variables: Vec<String>,
    },
    /// Other processes could not be told that this one works.
    #[error("lock {}", path.display())]
    Lock {
        /// Which file was to be locked.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The database of what was paid for cannot be used. Without it nothing is spent.
    #[error("keep account of what is spent")]
    Store(#[from] store::Error),
}
