//! Errors of the sub-agent as a whole.

use std::io;
use std::path::PathBuf;

use crate::model::ModelName;
use crate::store;

/// Why no model can be called.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No model is configured.
    #[error("no model is chosen")]
    NoModels,
    /// A batch was requested of a chain without batch support.
    #[error("no provider of the chosen models takes many questions at once")]
    NoBatches,
    /// The model's price is unknown, so no cap could be enforced.
    #[error("the price of {0} is not known")]
    NoPrice(ModelName),
    /// The provider requires a key, and none is configured.
    #[error("no key for the provider {provider}: none of {} is set", variables.join(", "))]
    NoKey {
        /// The provider's name.
        provider: String,
        /// The environment variables that may hold it.
        variables: Vec<String>,
    },
    /// The lock that shows other processes that this one is alive could not be taken.
    #[error("lock {}", path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The database of paid calls cannot be used. Without it nothing is spent.
    #[error("keep account of what is spent")]
    Store(#[from] store::Error),
}
