//! `slop uninstall`: removes what `slop install` wrote.

use super::install::{WriteMode, agents_named, apply_changes, with_places};
use crate::cli::failure::CommandError;
use crate::cli::install_args::UninstallArgs;
use crate::cli::location::{ProcessEnvironment, ProjectLocation};
use crate::cli::output::CommandOutput;
use crate::install::{InstallScope, plan_uninstall};

pub(super) fn run(
    args: &UninstallArgs,
    location: &ProjectLocation,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    with_places(location, environment, |places| {
        let agents = agents_named(&args.agents);
        let scope = args.user.then_some(InstallScope::User);
        let changes = plan_uninstall(&agents, scope, places)?;
        if changes.is_empty() {
            output.message("nothing is installed");
        }
        let mode = WriteMode::new("uninstall", args.dry_run, args.yes);
        apply_changes(&changes, mode, places, output)
    })
}
