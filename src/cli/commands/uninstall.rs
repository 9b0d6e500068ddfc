//! `slop uninstall`: removes what `slop install` wrote.

use super::install::{WriteMode, agents_named, apply_changes, with_places};
use crate::cli::failure::{self, CommandError};
use crate::cli::install_args::UninstallArgs;
use crate::cli::location::{ProcessEnvironment, ProjectLocation};
use crate::cli::output::CommandOutput;
use crate::install::{InstallScope, plan_uninstall};
use crate::model::error_chain;

pub(super) fn run(
    args: &UninstallArgs,
    location: &ProjectLocation,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    with_places(location, environment, |places| {
        let agents = agents_named(&args.agents);
        let scope = args.user.then_some(InstallScope::User);
        let (mut changes, mut broken) = (Vec::new(), Vec::new());
        for planned in plan_uninstall(&agents, scope, places)? {
            match planned {
                Ok(change) => changes.push(change),
                Err(error) => broken.push(error),
            }
        }
        if changes.is_empty() {
            if let Some(error) = broken.pop() {
                return Err(error.into());
            }
            output.message("nothing is installed");
        }
        let mode = WriteMode::new("uninstall", args.dry_run, args.yes);
        let code = apply_changes(&changes, mode, places, output)?;
        for error in &broken {
            output.missing_path(&error_chain(error));
        }
        Ok(if broken.is_empty() { code } else { failure::INCOMPLETE })
    })
}
