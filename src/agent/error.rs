//! Errors of the sub-agent as a whole.

use std::io;
use std::path::PathBuf;

use crate::model::ModelName;
use crate::store;

/// Why no model can be called.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No model is configured.
    #[error("no model is configured")]
    NoModels,
    /// A batch was requested of a chain without batch support.
    #[error("no configured model supports batches")]
    NoBatches,
    /// The model's price is unknown, so no cap could be enforced.
    #[error("price of {0} is unknown")]
    NoPrice(ModelName),
    /// The provider requires a key, and none is configured.
    #[error("provider {provider} has no key: none of {} is set", variables.join(", "))]
    NoKey {
        /// The provider's name.
        provider: String,
        /// The environment variables that may hold it.
        variables: Vec<String>,
    },
    /// The lock that shows other processes that this one is alive could not be taken.
    #[error("lock file {} cannot be locked", path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The database of paid calls cannot be used. Without it nothing is spent.
    #[error("spending cannot be recorded")]
    Store(#[from] store::Error),
}
